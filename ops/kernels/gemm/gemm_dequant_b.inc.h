// SPDX-License-Identifier: Apache-2.0
// Decodes weight codes of B to floats. The file of an instruction set includes this one after
// quantize.inc.h. It is written with vector operations, because compilers would vectorize over
// rows.
#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/gemm/gemm_vectors.inc.h"

qdq_gemm_decode_fn QDQ_ISA_NAME(gemm_decode);

//---- What the instruction set has --------------------------------------------

// `raw_bytes`, `raw_low` and `raw_high` read as many bytes as there are lanes and return whole
// bytes, low halves or high halves as floats. Rounding to bfloat16 needs no test for NaN: the only
// NaN of a scale is 0x7FC00000, products keep it, and adding to its bits does not reach the upper
// half.
#if defined(__AVX512F__)
static inline __m128i raw_16(const uint8_t *x) {
    return _mm_loadu_si128((const __m128i *)(const void *)x);
}
static inline gemm_floats code_widen(__m128i x) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(x));
}
static inline gemm_floats raw_bytes(const uint8_t *x) { return code_widen(raw_16(x)); }
static inline gemm_floats raw_low(const uint8_t *x) {
    return code_widen(_mm_and_si128(raw_16(x), _mm_set1_epi8(15)));
}
static inline gemm_floats raw_high(const uint8_t *x) {
    return code_widen(_mm_and_si128(_mm_srli_epi16(raw_16(x), 4), _mm_set1_epi8(15)));
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
static inline __m128i raw_8(const uint8_t *x) {
    return _mm_loadl_epi64((const __m128i *)(const void *)x);
}
static inline gemm_floats code_widen(__m128i x) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x));
}
static inline gemm_floats raw_bytes(const uint8_t *x) { return code_widen(raw_8(x)); }
static inline gemm_floats raw_low(const uint8_t *x) {
    return code_widen(_mm_and_si128(raw_8(x), _mm_set1_epi8(15)));
}
static inline gemm_floats raw_high(const uint8_t *x) {
    return code_widen(_mm_and_si128(_mm_srli_epi16(raw_8(x), 4), _mm_set1_epi8(15)));
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
    CODE_HALF = CODE_COLUMNS / 2,  // columns at a time, whose parameters stay in registers
    CODE_VECS = CODE_HALF / LANES,
};
#define CODE_EACH _Pragma("GCC unroll 4") for (size_t v = 0; v < CODE_VECS; v++)

#define DECODE(dtype, form)                                                                    \
    static void decode_##dtype##_##form(const qdq_gemm_weight_part *p, size_t stride,          \
                                        size_t first, size_t column) {                         \
        const uint8_t *codes = p->codes + first;                                               \
        float *b = p->b + column;                                                              \
        gemm_floats scale[CODE_VECS], zero[CODE_VECS];                                         \
        CODE_EACH scale[v] = floats_load(p->scale + column + v * LANES);                       \
        CODE_EACH zero[v] = floats_load(p->zero + column + v * LANES);                         \
        for (size_t r = 0; r < p->rows; r++, codes += stride, b += CODE_COLUMNS)               \
            CODE_EACH floats_store(                                                            \
                b + v * LANES,                                                                 \
                code_as_##dtype(code_real(raw_##form(codes + v * LANES), zero[v], scale[v]))); \
    }                                                                                          \
    static void decode_rows_##dtype##_##form(const qdq_gemm_weight_part *p, size_t stride,     \
                                             size_t first, size_t column) {                    \
        const uint8_t *codes = p->codes + first;                                               \
        float *b = p->b + column;                                                              \
        for (size_t r = 0; r < p->rows; r++, codes += stride, b += CODE_COLUMNS) {             \
            gemm_floats scale = code_all(p->scale[r]), zero = code_all(p->zero[r]);            \
            CODE_EACH floats_store(                                                            \
                b + v * LANES,                                                                 \
                code_as_##dtype(code_real(raw_##form(codes + v * LANES), zero, scale)));       \
        }                                                                                      \
    }

#define DECODE_TO(dtype) \
    DECODE(dtype, bytes) \
    DECODE(dtype, low)   \
    DECODE(dtype, high)

DECODE_TO(float32)
DECODE_TO(bfloat16)
DECODE_TO(float16)

// Both halves of the columns: the two halves of each byte, or bytes of their own.
#define DECODE_BY(fn, dtype)                                      \
    if (p->halves) {                                              \
        fn##dtype##_low(p, CODE_HALF, 0, 0);                      \
        fn##dtype##_high(p, CODE_HALF, 0, CODE_HALF);             \
    } else {                                                      \
        fn##dtype##_bytes(p, CODE_COLUMNS, 0, 0);                 \
        fn##dtype##_bytes(p, CODE_COLUMNS, CODE_HALF, CODE_HALF); \
    }
#define DECODE_AS(dtype)               \
    if (p->by_row) {                   \
        DECODE_BY(decode_rows_, dtype) \
    } else {                           \
        DECODE_BY(decode_, dtype)      \
    }

void QDQ_ISA_NAME(gemm_decode)(const qdq_gemm_weight_part *p) {
    if (p->dtype == QDQ_BFLOAT16) {
        DECODE_AS(bfloat16)
    } else if (p->dtype == QDQ_FLOAT16) {
        DECODE_AS(float16)
    } else {
        DECODE_AS(float32)
    }
}
