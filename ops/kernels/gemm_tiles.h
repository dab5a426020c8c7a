// SPDX-License-Identifier: Apache-2.0
// What products of matrices are written over: a few operations that each instruction set has, and
// tiles of sums, which compilers do not keep in registers by themselves. Vectors run over columns.
#ifndef QDQ_OPS_KERNELS_GEMM_TILES_H
#define QDQ_OPS_KERNELS_GEMM_TILES_H

#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "ops/kernels/gemm.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, ROW_WORDS = QDQ_GEMM_ROW_BYTES / QDQ_GEMM_STEP_BYTES };

//---- What the instruction set has --------------------------------------------

// KIND_madd(sum, x, b) adds to each lane of a sum the products of a step.
#if defined(__AVX512F__)
enum { LANES = 16, TILE_ROWS = 12, TILE_COLUMNS = 32 };
typedef __m512 gemm_floats;
typedef __m512i gemm_ints;
static inline gemm_floats floats_load(const void *x) { return _mm512_loadu_ps(x); }
static inline void floats_store(void *y, gemm_floats v) { _mm512_storeu_ps(y, v); }
static inline gemm_floats floats_all(int32_t word) {
    return _mm512_castsi512_ps(_mm512_set1_epi32(word));
}
static inline gemm_floats floats_madd(gemm_floats sum, gemm_floats x, gemm_floats b) {
    return _mm512_fmadd_ps(x, b, sum);
}
static inline gemm_floats floats_of(gemm_ints x) { return _mm512_cvtepi32_ps(x); }
static inline gemm_floats floats_mul(gemm_floats x, gemm_floats y) { return _mm512_mul_ps(x, y); }
static inline gemm_floats floats_add(gemm_floats x, gemm_floats y) { return _mm512_add_ps(x, y); }
static inline gemm_floats floats_quiet(gemm_floats x) {
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), floats_all(0x7FC00000));
}
static inline gemm_ints ints_load(const void *x) { return _mm512_loadu_si512(x); }
static inline void ints_store(void *y, gemm_ints v) { _mm512_storeu_si512(y, v); }
static inline gemm_ints ints_all(int32_t word) { return _mm512_set1_epi32(word); }
static inline gemm_ints ints_add(gemm_ints x, gemm_ints y) { return _mm512_add_epi32(x, y); }
static inline gemm_ints pairs_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm512_dpwssd_epi32(sum, x, b);
}
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm512_dpbusd_epi32(sum, x, b);
}
#elif defined(__AVX2__)
enum { LANES = 8, TILE_ROWS = 6, TILE_COLUMNS = 16 };
typedef __m256 gemm_floats;
typedef __m256i gemm_ints;
static inline gemm_floats floats_load(const void *x) { return _mm256_loadu_ps(x); }
static inline void floats_store(void *y, gemm_floats v) { _mm256_storeu_ps(y, v); }
static inline gemm_floats floats_all(int32_t word) {
    return _mm256_castsi256_ps(_mm256_set1_epi32(word));
}
static inline gemm_floats floats_madd(gemm_floats sum, gemm_floats x, gemm_floats b) {
    return _mm256_fmadd_ps(x, b, sum);
}
static inline gemm_floats floats_of(gemm_ints x) { return _mm256_cvtepi32_ps(x); }
static inline gemm_floats floats_mul(gemm_floats x, gemm_floats y) { return _mm256_mul_ps(x, y); }
static inline gemm_floats floats_add(gemm_floats x, gemm_floats y) { return _mm256_add_ps(x, y); }
static inline gemm_floats floats_quiet(gemm_floats x) {
    return _mm256_blendv_ps(x, floats_all(0x7FC00000), _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
static inline gemm_ints ints_load(const void *x) { return _mm256_loadu_si256(x); }
static inline void ints_store(void *y, gemm_ints v) { _mm256_storeu_si256(y, v); }
static inline gemm_ints ints_all(int32_t word) { return _mm256_set1_epi32(word); }
static inline gemm_ints ints_add(gemm_ints x, gemm_ints y) { return _mm256_add_epi32(x, y); }
#if defined(__AVXVNNI__)
static inline gemm_ints pairs_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm256_dpwssd_avx_epi32(sum, x, b);
}
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm256_dpbusd_avx_epi32(sum, x, b);
}
#else
static inline gemm_ints pairs_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, b));
}
// As pairs of the first and third and of the second and fourth: products of bytes added in 16 bits
// would saturate.
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    gemm_ints b_even = _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8);
    sum = pairs_madd(sum, _mm256_and_si256(x, ints_all(0x00FF00FF)), b_even);
    return pairs_madd(sum, _mm256_srli_epi16(x, 8), _mm256_srai_epi16(b, 8));
}
#endif
#elif defined(__aarch64__)
enum { LANES = 4, TILE_ROWS = 6, TILE_COLUMNS = 16 };
typedef float32x4_t gemm_floats;
typedef int32x4_t gemm_ints;
static inline gemm_floats floats_load(const void *x) { return vld1q_f32(x); }
static inline void floats_store(void *y, gemm_floats v) { vst1q_f32(y, v); }
static inline gemm_floats floats_all(int32_t word) {
    return vreinterpretq_f32_s32(vdupq_n_s32(word));
}
static inline gemm_floats floats_madd(gemm_floats sum, gemm_floats x, gemm_floats b) {
    return vfmaq_f32(sum, x, b);
}
static inline gemm_floats floats_of(gemm_ints x) { return vcvtq_f32_s32(x); }
static inline gemm_floats floats_mul(gemm_floats x, gemm_floats y) { return vmulq_f32(x, y); }
static inline gemm_floats floats_add(gemm_floats x, gemm_floats y) { return vaddq_f32(x, y); }
static inline gemm_floats floats_quiet(gemm_floats x) {
    return vbslq_f32(vceqq_f32(x, x), x, floats_all(0x7FC00000));
}
static inline gemm_ints ints_load(const void *x) { return vld1q_s32(x); }
static inline void ints_store(void *y, gemm_ints v) { vst1q_s32(y, v); }
static inline gemm_ints ints_all(int32_t word) { return vdupq_n_s32(word); }
static inline gemm_ints ints_add(gemm_ints x, gemm_ints y) { return vaddq_s32(x, y); }
static inline gemm_ints pairs_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    int16x8_t x16 = vreinterpretq_s16_s32(x), b16 = vreinterpretq_s16_s32(b);
    int32x4_t low = vmull_s16(vget_low_s16(x16), vget_low_s16(b16));
    return vaddq_s32(sum, vpaddq_s32(low, vmull_high_s16(x16, b16)));
}
#if defined(__ARM_FEATURE_DOTPROD)
// Of x less 128: SDOT has no bytes without a sign.
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    int8x16_t x8 = vreinterpretq_s8_s32(veorq_s32(x, ints_all((int32_t)0x80808080)));
    return vdotq_s32(sum, x8, vreinterpretq_s8_s32(b));
}
#else
// A product of two bytes fits in 16 bits. All fours of x are the same.
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    int16x8_t x16 = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(vreinterpretq_u8_s32(x))));
    int8x16_t b8 = vreinterpretq_s8_s32(b);
    int32x4_t low = vpaddlq_s16(vmulq_s16(x16, vmovl_s8(vget_low_s8(b8))));
    return vaddq_s32(sum, vpaddq_s32(low, vpaddlq_s16(vmulq_s16(x16, vmovl_high_s8(b8)))));
}
#endif
#endif

#define UNROLLED _Pragma("GCC unroll 16")

// A step of a row of A, of any kind.
static inline int32_t word_of(const int32_t *a, size_t at) {
    int32_t word;
    memcpy(&word, a + at, sizeof word);
    return word;
}

//---- Tiles --------------------------------------------------------------------

// R rows of TILE_COLUMNS columns. KIND names the multiply-add, TYPE the vectors. So few chains as
// small tiles have would wait for each other: integers, whose order is free, go to SETS of sums.
#define TILE(KIND, TYPE, R, SETS)                                                                \
    static void KIND##_tile_##R(const int32_t *restrict a, const int32_t *restrict b,            \
                                const int32_t *start, size_t start_stride, int32_t *c,           \
                                size_t c_stride, size_t steps) {                                 \
        enum { VECS = TILE_COLUMNS / LANES };                                                    \
        gemm_##TYPE sum[SETS][R][VECS], of_b[VECS];                                              \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) {   \
            sum[0][r][v] = TYPE##_load(start + r * start_stride + v * LANES);                    \
            UNROLLED for (size_t s = 1; s < (SETS); s++) sum[s][r][v] = TYPE##_all(0);           \
        }                                                                                        \
        size_t k = 0;                                                                            \
        for (; k + (SETS) <= steps; k += (SETS)) UNROLLED for (size_t s = 0; s < (SETS); s++) {  \
                UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =                             \
                    TYPE##_load(b + (k + s) * COLUMNS + v * LANES);                              \
                UNROLLED for (size_t r = 0; r < (R); r++) {                                      \
                    gemm_##TYPE x = TYPE##_all(word_of(a, r * ROW_WORDS + k + s));               \
                    UNROLLED for (size_t v = 0; v < VECS; v++) sum[s][r][v] =                    \
                        KIND##_madd(sum[s][r][v], x, of_b[v]);                                   \
                }                                                                                \
            }                                                                                    \
        for (; (SETS) > 1 && k < steps; k++)                                                     \
            UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) \
                sum[0][r][v] =                                                                   \
                    KIND##_madd(sum[0][r][v], TYPE##_all(word_of(a, r * ROW_WORDS + k)),         \
                                TYPE##_load(b + k * COLUMNS + v * LANES));                       \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) {   \
            UNROLLED for (size_t s = 1; s < (SETS); s++) sum[0][r][v] =                          \
                TYPE##_add(sum[0][r][v], sum[s][r][v]);                                          \
            TYPE##_store(c + r * c_stride + v * LANES, sum[0][r][v]);                            \
        }                                                                                        \
    }

// Tiles of all counts of rows, and what cuts a part into tiles of nearly the same count.
typedef void tile_fn(const int32_t *a, const int32_t *b, const int32_t *start, size_t start_stride,
                     int32_t *c, size_t c_stride, size_t steps);

#define FEW_ROWS(KIND, TYPE, SETS_1, SETS_2, SETS_4) \
    TILE(KIND, TYPE, 1, SETS_1)                      \
    TILE(KIND, TYPE, 2, SETS_2)                      \
    TILE(KIND, TYPE, 3, SETS_4)                      \
    TILE(KIND, TYPE, 4, SETS_4)                      \
    TILE(KIND, TYPE, 5, SETS_4)                      \
    TILE(KIND, TYPE, 6, 1)
#define FEW_NAMES(KIND) \
    NULL, KIND##_tile_1, KIND##_tile_2, KIND##_tile_3, KIND##_tile_4, KIND##_tile_5, KIND##_tile_6
#if defined(__AVX512F__)
#define MORE_ROWS(KIND, TYPE) \
    TILE(KIND, TYPE, 7, 1)    \
    TILE(KIND, TYPE, 8, 1)    \
    TILE(KIND, TYPE, 9, 1)    \
    TILE(KIND, TYPE, 10, 1)   \
    TILE(KIND, TYPE, 11, 1)   \
    TILE(KIND, TYPE, 12, 1)
#define MORE_NAMES(KIND) \
    , KIND##_tile_7, KIND##_tile_8, KIND##_tile_9, KIND##_tile_10, KIND##_tile_11, KIND##_tile_12
#else
#define MORE_ROWS(KIND, TYPE)
#define MORE_NAMES(KIND)
#endif

static inline void run_tiles(tile_fn *const *tiles, const qdq_gemm_part *p) {
    size_t left = (p->rows + TILE_ROWS - 1) / TILE_ROWS;
    for (size_t row = 0, rows; row < p->rows; row += rows, left--) {
        rows = (p->rows - row + left - 1) / left;
        const int32_t *a = (const int32_t *)p->a + row * ROW_WORDS;
        for (size_t j = 0; j < COLUMNS; j += TILE_COLUMNS) {
            int32_t *c = (int32_t *)p->c + row * p->c_stride + j;
            const int32_t *start = p->start ? (const int32_t *)p->start + j : c;
            tiles[rows](a, (const int32_t *)p->b + j, start, p->start ? 0 : p->c_stride, c,
                        p->c_stride, p->steps);
        }
    }
}

#endif
