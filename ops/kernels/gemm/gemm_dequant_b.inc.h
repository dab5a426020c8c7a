// SPDX-License-Identifier: Apache-2.0
// Decodes weight codes of B to floats, and multiplies a row of A by them. It is written with
// vector operations, because compilers would vectorize over rows.
#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/gemm/gemm_vectors.inc.h"

qdq_gemm_decode_fn QDQ_ISA_NAME(gemm_decode), QDQ_ISA_NAME(gemm_multiply_codes);

//---- Vectors of the instruction set ------------------------------------------

// `raw_bytes`, `raw_low` and `raw_high` read a byte for each lane and return whole bytes, low
// halves or high halves as floats. Rounding to bfloat16 needs no test for NaN: the only NaN of a
// scale is 0x7FC00000, products keep it, and adding to its bits does not reach the upper half.
#if defined(__AVX512F__)
static inline __m512i raw_words(const uint8_t *x) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
static inline gemm_floats raw_bytes(const uint8_t *x) { return floats_of(raw_words(x)); }
static inline gemm_floats raw_low(const uint8_t *x) {
    return floats_of(_mm512_and_si512(raw_words(x), _mm512_set1_epi32(15)));
}
static inline gemm_floats raw_high(const uint8_t *x) {
    return floats_of(_mm512_srli_epi32(raw_words(x), 4));
}
static inline gemm_floats code_as_bfloat16(gemm_floats v) {
    __m512i bits = _mm512_castps_si512(v);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    bits = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
    return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32((int)0xFFFF0000)));
}
static inline gemm_floats code_as_float16(gemm_floats v) {
    return _mm512_cvtph_ps(_mm512_cvtps_ph(v, 0));
}
#elif defined(__AVX2__)
static inline __m256i raw_words(const uint8_t *x) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}
static inline gemm_floats raw_bytes(const uint8_t *x) { return floats_of(raw_words(x)); }
static inline gemm_floats raw_low(const uint8_t *x) {
    return floats_of(_mm256_and_si256(raw_words(x), _mm256_set1_epi32(15)));
}
static inline gemm_floats raw_high(const uint8_t *x) {
    return floats_of(_mm256_srli_epi32(raw_words(x), 4));
}
static inline gemm_floats code_as_bfloat16(gemm_floats v) {
    __m256i bits = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    return _mm256_castsi256_ps(_mm256_and_si256(bits, _mm256_set1_epi32((int)0xFFFF0000)));
}
static inline gemm_floats code_as_float16(gemm_floats v) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(v, 0));
}
#elif defined(__aarch64__)
static inline uint8x8_t raw_4(const uint8_t *x) {
    uint32_t four;
    memcpy(&four, x, sizeof four);
    return vreinterpret_u8_u32(vdup_n_u32(four));
}
static inline gemm_floats code_widen(uint8x8_t x) {
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(x))));
}
static inline gemm_floats raw_bytes(const uint8_t *x) { return code_widen(raw_4(x)); }
static inline gemm_floats raw_low(const uint8_t *x) {
    return code_widen(vand_u8(raw_4(x), vdup_n_u8(15)));
}
static inline gemm_floats raw_high(const uint8_t *x) { return code_widen(vshr_n_u8(raw_4(x), 4)); }
static inline gemm_floats code_as_bfloat16(gemm_floats v) {
    uint32x4_t bits = vreinterpretq_u32_f32(v);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    bits = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
    return vreinterpretq_f32_u32(vandq_u32(bits, vdupq_n_u32(0xFFFF0000)));
}
static inline gemm_floats code_as_float16(gemm_floats v) { return vcvt_f32_f16(vcvt_f16_f32(v)); }
#endif
static inline gemm_floats code_as_float32(gemm_floats v) { return v; }
static inline gemm_floats code_all(float x) {
    int32_t word;
    memcpy(&word, &x, sizeof word);
    return floats_all(word);
}
static inline gemm_floats code_real(gemm_floats q, gemm_floats zero, gemm_floats scale) {
    return floats_mul(floats_sub(q, zero), scale);
}

//---- Parts ------------------------------------------------------------------

enum {
    CODE_COLUMNS = QDQ_GEMM_COLUMNS,
    CODE_HALF = CODE_COLUMNS / 2,  // columns that share bytes with the others
    CODE_VECS = CODE_HALF / LANES,
    CODE_ALL_VECS = 2 * CODE_VECS,
};
#define CODE_EACH_OF_ALL _Pragma("GCC unroll 8") for (size_t v = 0; v < CODE_ALL_VECS; v++)
#define CODE_INLINE static inline __attribute__((always_inline))

// Returns vector v of a row of codes: half bytes hold the first half of the columns, then the
// second.
CODE_INLINE gemm_floats code_vec(const uint8_t *codes, size_t v, bool halves) {
    if (!halves) return raw_bytes(codes + v * LANES);
    return v < CODE_VECS ? raw_low(codes + v * LANES) : raw_high(codes + (v - CODE_VECS) * LANES);
}

CODE_INLINE gemm_floats code_as(qdq_dtype dtype, gemm_floats v) {
    if (dtype == QDQ_BFLOAT16) return code_as_bfloat16(v);
    return dtype == QDQ_FLOAT16 ? code_as_float16(v) : v;
}

// Compiled for each form of codes and parameters, and each dtype.
CODE_INLINE void code_decode(const qdq_gemm_weight_part *p, bool halves, bool by_row,
                             qdq_dtype dtype) {
    const uint8_t *codes = p->codes;
    float *b = p->b;
    gemm_floats scale[CODE_ALL_VECS], zero[CODE_ALL_VECS], q[CODE_ALL_VECS];
    CODE_EACH_OF_ALL scale[v] = by_row ? code_all(0) : floats_load(p->scale + v * LANES);
    CODE_EACH_OF_ALL zero[v] = by_row ? code_all(0) : floats_load(p->zero + v * LANES);
    for (size_t r = 0; r < p->rows; r++, codes += halves ? CODE_HALF : CODE_COLUMNS) {
        if (by_row) CODE_EACH_OF_ALL scale[v] = code_all(p->scale[r]);
        if (by_row) CODE_EACH_OF_ALL zero[v] = code_all(p->zero[r]);
        CODE_EACH_OF_ALL q[v] = code_vec(codes, v, halves);
        CODE_EACH_OF_ALL floats_store(b + v * LANES,
                                      code_as(dtype, code_real(q[v], zero[v], scale[v])));
        b += CODE_COLUMNS;
    }
}

#define DECODE_AS(dtype)                    \
    if (p->halves && p->by_row)             \
        code_decode(p, true, true, dtype);  \
    else if (p->halves)                     \
        code_decode(p, true, false, dtype); \
    else if (p->by_row)                     \
        code_decode(p, false, true, dtype); \
    else                                    \
        code_decode(p, false, false, dtype);

void QDQ_ISA_NAME(gemm_decode)(const qdq_gemm_weight_part *p) {
    if (p->dtype == QDQ_BFLOAT16) {
        DECODE_AS(QDQ_BFLOAT16)
    } else if (p->dtype == QDQ_FLOAT16) {
        DECODE_AS(QDQ_FLOAT16)
    } else {
        DECODE_AS(QDQ_FLOAT32)
    }
}

//---- A row of A -------------------------------------------------------------

// All columns at a time if their sums, scales and zero points fit into registers.
enum { CODE_AT_ONCE = LANES == 16 ? CODE_ALL_VECS : CODE_VECS };
#define CODE_EACH_AT_ONCE _Pragma("GCC unroll 4") for (size_t v = 0; v < CODE_AT_ONCE; v++)

// The functions below are compiled for each form.
typedef struct code_form {
    bool halves, by_row;
    bool table;  // half bytes whose columns share a zero point
    qdq_gemm_code_order order;
    size_t first;  // vector of columns
} code_form;

typedef struct code_row {
    gemm_floats v[CODE_AT_ONCE];
} code_row;

// A table has the 16 floats of half bytes less their zero point.
#if defined(__AVX512F__)
typedef gemm_floats code_table;
CODE_INLINE bool code_has_table(const qdq_gemm_weight_part *p) {
    bool alike = p->halves && !p->by_row;
    for (size_t j = 0; alike && j < CODE_COLUMNS; j += LANES)
        alike = !_mm512_cmpneq_ps_mask(floats_load(p->zero + j), code_all(p->zero[0]));
    return alike;
}
CODE_INLINE code_table code_table_of(float zero) {
    const __m512i codes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return floats_sub(floats_of(codes), code_all(zero));
}
CODE_INLINE code_row code_chosen(const uint8_t *codes, code_table table) {
    __m512i both = raw_words(codes);
    return (code_row){{_mm512_permutexvar_ps(both, table),
                       _mm512_permutexvar_ps(_mm512_srli_epi32(both, 4), table)}};
}
#else
typedef float code_table;
CODE_INLINE bool code_has_table(const qdq_gemm_weight_part *p) { return (void)p, false; }
CODE_INLINE code_table code_table_of(float zero) { return zero; }
CODE_INLINE code_row code_chosen(const uint8_t *codes, code_table table) {
    (void)codes, (void)table;
    return (code_row){0};
}
#endif

// Parameters of the columns of a part; all rows share them.
typedef struct code_columns {
    code_row scale, zero;
    code_table table;
} code_columns;

CODE_INLINE code_columns code_columns_of(const qdq_gemm_weight_part *p, code_form form) {
    code_columns of;
    CODE_EACH_AT_ONCE of.scale.v[v] = of.zero.v[v] = floats_all(0);
    of.table = code_table_of(p->zero[0]);
    if (form.by_row) return of;
    CODE_EACH_AT_ONCE of.scale.v[v] = floats_load(p->scale + (form.first + v) * LANES);
    CODE_EACH_AT_ONCE of.zero.v[v] = floats_load(p->zero + (form.first + v) * LANES);
    return of;
}

// Returns the codes of row r less their zero points.
CODE_INLINE code_row code_less_zero(const qdq_gemm_weight_part *p, size_t r,
                                    const code_columns *columns, code_form form) {
    const uint8_t *codes = p->codes + r * (form.halves ? CODE_HALF : CODE_COLUMNS);
    if (form.table) return code_chosen(codes, columns->table);
    code_row out, zero = columns->zero;
    if (form.by_row) CODE_EACH_AT_ONCE zero.v[v] = code_all(p->zero[r]);
    CODE_EACH_AT_ONCE out.v[v] =
        floats_sub(code_vec(codes, form.first + v, form.halves), zero.v[v]);
    return out;
}

CODE_INLINE code_row code_reals(const qdq_gemm_weight_part *p, size_t r,
                                const code_columns *columns, code_form form) {
    code_row out = code_less_zero(p, r, columns, form), scale = columns->scale;
    if (form.by_row) CODE_EACH_AT_ONCE scale.v[v] = code_all(p->scale[r]);
    CODE_EACH_AT_ONCE out.v[v] = floats_mul(out.v[v], scale.v[v]);
    return out;
}

CODE_INLINE code_row code_products(const qdq_gemm_weight_part *p, size_t r,
                                   const code_columns *columns, code_form form) {
    code_row out = code_reals(p, r, columns, form);
    CODE_EACH_AT_ONCE out.v[v] = floats_mul(code_all(p->a[r]), out.v[v]);
    return out;
}

CODE_INLINE void code_add(code_row *sums, code_row more) {
    CODE_EACH_AT_ONCE sums->v[v] = floats_add(more.v[v], sums->v[v]);
}

CODE_INLINE void code_madd(code_row *sums, float x, code_row reals) {
    CODE_EACH_AT_ONCE sums->v[v] = floats_madd(sums->v[v], code_all(x), reals.v[v]);
}

CODE_INLINE void code_add_fours(const qdq_gemm_weight_part *p, const code_columns *columns,
                                code_form form, code_row *sums) {
    size_t r = 0;
    for (; r + 4 <= p->rows; r += 4) {
        code_row four = code_products(p, r, columns, form);
        for (size_t i = 1; i < 4; i++) {
            code_row next = code_products(p, r + i, columns, form);
            CODE_EACH_AT_ONCE four.v[v] = floats_add(four.v[v], next.v[v]);
        }
        code_add(sums, four);
    }
    if (r + 2 <= p->rows) {
        code_row two = code_products(p, r, columns, form);
        code_add(&two, code_products(p, r + 1, columns, form));
        code_add(sums, two);
        r += 2;
    }
    if (r < p->rows) code_add(sums, code_products(p, r, columns, form));
}

CODE_INLINE void code_multiply(const qdq_gemm_weight_part *p, code_form form) {
    code_columns columns = code_columns_of(p, form);
    code_row sums;
    CODE_EACH_AT_ONCE sums.v[v] = floats_load(p->sums + (form.first + v) * LANES);
    if (form.order == QDQ_CODES_FOURS)
        code_add_fours(p, &columns, form, &sums);
    else
        for (size_t r = 0; r < p->rows; r++)
            code_madd(&sums, p->a[r], code_reals(p, r, &columns, form));
    CODE_EACH_AT_ONCE floats_store(p->sums + (form.first + v) * LANES, sums.v[v]);
}

CODE_INLINE void code_multiply_all(const qdq_gemm_weight_part *p, code_form form) {
    code_multiply(p, form);
    form.first = CODE_AT_ONCE;
    if ((int)CODE_AT_ONCE < (int)CODE_ALL_VECS) code_multiply(p, form);
}

// Compiles a function for each order.
#define MULTIPLY_AS(halves, by_row, table)                                            \
    if (p->order == QDQ_CODES_FOURS)                                                  \
        code_multiply_all(p, (code_form){halves, by_row, table, QDQ_CODES_FOURS, 0}); \
    else                                                                              \
        code_multiply_all(p, (code_form){halves, by_row, table, QDQ_CODES_CHAIN, 0});

void QDQ_ISA_NAME(gemm_multiply_codes)(const qdq_gemm_weight_part *p) {
    if (code_has_table(p)) {
        MULTIPLY_AS(true, false, true)
    } else if (p->halves && p->by_row) {
        MULTIPLY_AS(true, true, false)
    } else if (p->halves) {
        MULTIPLY_AS(true, false, false)
    } else if (p->by_row) {
        MULTIPLY_AS(false, true, false)
    } else {
        MULTIPLY_AS(false, false, false)
    }
}
