// SPDX-License-Identifier: Apache-2.0
// Matrix products with vectors over columns: included after body.h by the file of an instruction
// set. Written over four operations that each of them has; compilers do not keep a tile in
// registers by themselves.
#include "ops/kernels/gemm.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_DEPTH };

qdq_gemm_tile_fn QDQ_BODY(gemm_tile);
qdq_gemm_lanes_fn QDQ_BODY(gemm_lanes);
qdq_gemm_widen_fn QDQ_BODY(gemm_widen);
qdq_gemm_narrow_fn QDQ_BODY(gemm_narrow);
qdq_gemm_integer_fn QDQ_BODY(gemm_integer);
qdq_gemm_integer_lanes_fn QDQ_BODY(gemm_integer_lanes);

//---- What the instruction set has --------------------------------------------

#if defined(__AVX512F__)
enum { LANES = 16, TILE_ROWS = 12, TILE_COLUMNS = 32 };
typedef __m512 gemm_vec;
typedef __m512i gemm_ints;
static inline gemm_vec gemm_load(const float *x) { return _mm512_loadu_ps(x); }
static inline void gemm_store(float *y, gemm_vec v) { _mm512_storeu_ps(y, v); }
static inline gemm_vec gemm_all(float x) { return _mm512_set1_ps(x); }
static inline gemm_vec gemm_fma(gemm_vec a, gemm_vec b, gemm_vec c) {
    return _mm512_fmadd_ps(a, b, c);
}
static inline gemm_ints gemm_load_ints(const void *x) { return _mm512_loadu_si512(x); }
static inline void gemm_store_ints(int32_t *y, gemm_ints v) { _mm512_storeu_si512(y, v); }
static inline gemm_ints gemm_pairs(gemm_ints a, gemm_ints b, gemm_ints c) {
    return _mm512_dpwssd_epi32(c, a, b);
}
static inline gemm_ints gemm_all_pairs(int32_t pair) { return _mm512_set1_epi32(pair); }
#elif defined(__AVX2__)
enum { LANES = 8, TILE_ROWS = 6, TILE_COLUMNS = 16 };
typedef __m256 gemm_vec;
typedef __m256i gemm_ints;
static inline gemm_vec gemm_load(const float *x) { return _mm256_loadu_ps(x); }
static inline void gemm_store(float *y, gemm_vec v) { _mm256_storeu_ps(y, v); }
static inline gemm_vec gemm_all(float x) { return _mm256_set1_ps(x); }
static inline gemm_vec gemm_fma(gemm_vec a, gemm_vec b, gemm_vec c) {
    return _mm256_fmadd_ps(a, b, c);
}
static inline gemm_ints gemm_load_ints(const void *x) { return _mm256_loadu_si256(x); }
static inline void gemm_store_ints(int32_t *y, gemm_ints v) {
    _mm256_storeu_si256((__m256i *)(void *)y, v);
}
static inline gemm_ints gemm_pairs(gemm_ints a, gemm_ints b, gemm_ints c) {
    return _mm256_add_epi32(c, _mm256_madd_epi16(a, b));
}
static inline gemm_ints gemm_all_pairs(int32_t pair) { return _mm256_set1_epi32(pair); }
#elif defined(__aarch64__)
enum { LANES = 4, TILE_ROWS = 6, TILE_COLUMNS = 16 };
typedef float32x4_t gemm_vec;
static inline gemm_vec gemm_load(const float *x) { return vld1q_f32(x); }
static inline void gemm_store(float *y, gemm_vec v) { vst1q_f32(y, v); }
static inline gemm_vec gemm_all(float x) { return vdupq_n_f32(x); }
static inline gemm_vec gemm_fma(gemm_vec a, gemm_vec b, gemm_vec c) { return vfmaq_f32(c, a, b); }
#endif

#define UNROLLED _Pragma("GCC unroll 16")

//---- Floats -----------------------------------------------------------------

// R rows of TILE_COLUMNS columns. Products that are left out are jumped over.
#define FLOAT_TILE(R)                                                                        \
    static inline void float_tile_##R(const float *restrict a, const float *restrict b,      \
                                      float *restrict c, size_t depth,                       \
                                      const uint16_t *restrict keep, size_t row) {           \
        enum { VECS = TILE_COLUMNS / LANES };                                                \
        gemm_vec sum[R][VECS], of_b[VECS];                                                   \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) \
            sum[r][v] = gemm_load(c + r * COLUMNS + v * LANES);                              \
        if (!keep) {                                                                         \
            for (size_t k = 0; k < depth; k++) {                                             \
                UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =                         \
                    gemm_load(b + k * COLUMNS + v * LANES);                                  \
                UNROLLED for (size_t r = 0; r < (R); r++) {                                  \
                    gemm_vec x = gemm_all(a[r * DEPTH + k]);                                 \
                    UNROLLED for (size_t v = 0; v < VECS; v++) sum[r][v] =                   \
                        gemm_fma(x, of_b[v], sum[r][v]);                                     \
                }                                                                            \
            }                                                                                \
        } else {                                                                             \
            for (size_t k = 0; k < depth; k++) {                                             \
                unsigned rows = (unsigned)keep[k] >> row;                                    \
                UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =                         \
                    gemm_load(b + k * COLUMNS + v * LANES);                                  \
                UNROLLED for (size_t r = 0; r < (R); r++) {                                  \
                    if (!(rows >> r & 1)) continue;                                          \
                    gemm_vec x = gemm_all(a[r * DEPTH + k]);                                 \
                    UNROLLED for (size_t v = 0; v < VECS; v++) sum[r][v] =                   \
                        gemm_fma(x, of_b[v], sum[r][v]);                                     \
                }                                                                            \
            }                                                                                \
        }                                                                                    \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) \
            gemm_store(c + r * COLUMNS + v * LANES, sum[r][v]);                              \
    }

FLOAT_TILE(1)
FLOAT_TILE(2)
FLOAT_TILE(4)
FLOAT_TILE(6)
#if defined(__AVX512F__)
FLOAT_TILE(12)
#endif

void QDQ_BODY(gemm_tile)(const float *a, const float *b, float *c, size_t rows, size_t depth,
                         const uint16_t *keep) {
#define ROWS_OF(R)                                         \
    for (; row + (R) <= rows; row += (R))                  \
        for (size_t j = 0; j < COLUMNS; j += TILE_COLUMNS) \
            float_tile_##R(a + row * DEPTH, b + j, c + row * COLUMNS + j, depth, keep, row);
    size_t row = 0;
#if defined(__AVX512F__)
    ROWS_OF(12)
#endif
    ROWS_OF(6)
    ROWS_OF(4)
    ROWS_OF(2)
    ROWS_OF(1)
#undef ROWS_OF
}

void QDQ_BODY(gemm_lanes)(const float *restrict a, const float *restrict b, float *restrict c,
                          size_t depth) {
    gemm_vec sum[COLUMNS / LANES];
    UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) sum[v] = gemm_load(c + v * LANES);
    for (size_t k = 0; k < depth; k++)
        UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) sum[v] = gemm_fma(
            gemm_load(a + k * COLUMNS + v * LANES), gemm_load(b + k * COLUMNS + v * LANES), sum[v]);
    UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) gemm_store(c + v * LANES, sum[v]);
}

void QDQ_BODY(gemm_widen)(qdq_dtype dtype, const void *x, float *out, size_t n) {
    if (dtype == QDQ_BFLOAT16)
        for (size_t i = 0; i < n; i++) out[i] = load_bfloat16(x, i);
    else if (dtype == QDQ_FLOAT16)
        body_from_halves(x, n, out);
    else
        memcpy(out, x, n * sizeof *out);
}

// Adding to the bits of the quiet NaN without a sign does not reach its upper half.
void QDQ_BODY(gemm_narrow)(qdq_dtype dtype, const float *x, void *out, size_t n) {
    if (dtype == QDQ_BFLOAT16)
        for (size_t i = 0; i < n; i++) finite_bfloat16(out, i, x[i]);
    else if (dtype == QDQ_FLOAT16)
        body_to_halves(x, n, out);
    else
        memcpy(out, x, n * sizeof *x);
}

//---- Integers ---------------------------------------------------------------

#if defined(__aarch64__)

void QDQ_BODY(gemm_integer)(const int16_t *a, const int16_t *b, int32_t *c, size_t rows,
                            size_t depth) {
    for (size_t r = 0; r < rows; r++) {
        int32x4_t sum[COLUMNS / LANES];
        UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) sum[v] =
            vld1q_s32(c + r * COLUMNS + v * LANES);
        for (size_t k = 0; k < depth; k += 2) {
            int16x4_t x0 = vdup_n_s16(a[r * DEPTH + k]), x1 = vdup_n_s16(a[r * DEPTH + k + 1]);
            UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) {
                int16x4x2_t pairs = vld2_s16(b + k * COLUMNS + v * LANES * 2);
                sum[v] = vmlal_s16(vmlal_s16(sum[v], pairs.val[0], x0), pairs.val[1], x1);
            }
        }
        UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++)
            vst1q_s32(c + r * COLUMNS + v * LANES, sum[v]);
    }
}

#else

#define INTEGER_TILE(R)                                                                       \
    static inline void integer_tile_##R(const int16_t *restrict a, const int16_t *restrict b, \
                                        int32_t *restrict c, size_t depth) {                  \
        enum { VECS = TILE_COLUMNS / LANES };                                                 \
        gemm_ints sum[R][VECS], of_b[VECS];                                                   \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++)  \
            sum[r][v] = gemm_load_ints(c + r * COLUMNS + v * LANES);                          \
        for (size_t k = 0; k < depth; k += 2) {                                               \
            UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =                              \
                gemm_load_ints(b + k * COLUMNS + v * LANES * 2);                              \
            UNROLLED for (size_t r = 0; r < (R); r++) {                                       \
                int32_t pair;                                                                 \
                memcpy(&pair, a + r * DEPTH + k, sizeof pair);                                \
                gemm_ints x = gemm_all_pairs(pair);                                           \
                UNROLLED for (size_t v = 0; v < VECS; v++) sum[r][v] =                        \
                    gemm_pairs(x, of_b[v], sum[r][v]);                                        \
            }                                                                                 \
        }                                                                                     \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++)  \
            gemm_store_ints(c + r * COLUMNS + v * LANES, sum[r][v]);                          \
    }

INTEGER_TILE(1)
INTEGER_TILE(2)
INTEGER_TILE(4)
#if defined(__AVX512F__)
INTEGER_TILE(12)
#endif

void QDQ_BODY(gemm_integer)(const int16_t *a, const int16_t *b, int32_t *c, size_t rows,
                            size_t depth) {
#define ROWS_OF(R)                                         \
    for (; row + (R) <= rows; row += (R))                  \
        for (size_t j = 0; j < COLUMNS; j += TILE_COLUMNS) \
            integer_tile_##R(a + row * DEPTH, b + j * 2, c + row * COLUMNS + j, depth);
    size_t row = 0;
#if defined(__AVX512F__)
    ROWS_OF(12)
#endif
    ROWS_OF(4)
    ROWS_OF(2)
    ROWS_OF(1)
#undef ROWS_OF
}

#endif

#if defined(__AVX512VNNI__)

#define BYTE_TILE(R)                                                                         \
    static inline void byte_tile_##R(const uint8_t *restrict a, const int8_t *restrict b,    \
                                     int32_t *restrict c, size_t depth) {                    \
        enum { VECS = TILE_COLUMNS / LANES };                                                \
        gemm_ints sum[R][VECS], of_b[VECS];                                                  \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) \
            sum[r][v] = gemm_load_ints(c + r * COLUMNS + v * LANES);                         \
        for (size_t k = 0; k < depth; k += 4) {                                              \
            UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =                             \
                gemm_load_ints(b + k * COLUMNS + v * LANES * 4);                             \
            UNROLLED for (size_t r = 0; r < (R); r++) {                                      \
                int32_t four;                                                                \
                memcpy(&four, a + r * DEPTH + k, sizeof four);                               \
                gemm_ints x = _mm512_set1_epi32(four);                                       \
                UNROLLED for (size_t v = 0; v < VECS; v++) sum[r][v] =                       \
                    _mm512_dpbusd_epi32(sum[r][v], x, of_b[v]);                              \
            }                                                                                \
        }                                                                                    \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) \
            gemm_store_ints(c + r * COLUMNS + v * LANES, sum[r][v]);                         \
    }

BYTE_TILE(1)
BYTE_TILE(2)
BYTE_TILE(4)
BYTE_TILE(12)

void QDQ_BODY(gemm_bytes)(const uint8_t *a, const int8_t *b, int32_t *c, size_t rows,
                          size_t depth) {
    size_t row = 0;
#define ROWS_OF(R)                        \
    for (; row + (R) <= rows; row += (R)) \
        byte_tile_##R(a + row * DEPTH, b, c + row * COLUMNS, depth);
    ROWS_OF(12)
    ROWS_OF(4)
    ROWS_OF(2)
    ROWS_OF(1)
#undef ROWS_OF
}

#endif

void QDQ_BODY(gemm_integer_lanes)(const int16_t *restrict a, const int16_t *restrict b,
                                  int32_t *restrict c, size_t depth) {
    uint32_t sum[COLUMNS];
    for (size_t j = 0; j < COLUMNS; j++) sum[j] = (uint32_t)c[j];
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < COLUMNS; j++)
            sum[j] += (uint32_t)(a[k * COLUMNS + j] * b[k * COLUMNS + j]);
    for (size_t j = 0; j < COLUMNS; j++) c[j] = (int32_t)sum[j];
}
