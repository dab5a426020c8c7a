// SPDX-License-Identifier: Apache-2.0
// The vectors that pooling joins, for each instruction set and each packed form. POOL_VECTOR gives
// a form its type, a load, a store, and the operation that joins two vectors; pool_evens and
// pool_odds give the elements of two vectors with an even or odd number, and pool_mean_vector
// divides, NaN as 0x7FC00000.
#ifndef QDQ_OPS_KERNELS_POOL_POOL_VECTORS_INC_H
#define QDQ_OPS_KERNELS_POOL_POOL_VECTORS_INC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// NOLINTBEGIN(bugprone-macro-parentheses): some arguments are types
#define POOL_VECTOR(form, type, element, access, load, store, with)                           \
    typedef type pool_vector_##form;                                                          \
    enum { POOL_LANES_##form = sizeof(type) / sizeof(element) };                              \
    static inline type pool_zero_##form(void) {                                               \
        type zero;                                                                            \
        memset(&zero, 0, sizeof zero);                                                        \
        return zero;                                                                          \
    }                                                                                         \
    static inline type pool_load_##form(const element *x) { return load((const access *)x); } \
    static inline void pool_store_##form(element *y, type v) { store((access *)y, v); }       \
    static inline type pool_with_##form(type a, type b) { return with(a, b); }
// NOLINTEND(bugprone-macro-parentheses)

// POOL_VECTORS: how many are joined at a time, to hide the latency of an addition.
#if defined(__AVX512F__)
#define POOL_HAS_VECTORS 1
enum { POOL_VECTORS = 2 };
POOL_VECTOR(keys, __m512i, uint32_t, void, _mm512_loadu_si512, _mm512_storeu_si512,
            _mm512_max_epu32)
POOL_VECTOR(bytes, __m512i, uint8_t, void, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_max_epu8)
POOL_VECTOR(floats, __m512, float, float, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps)
POOL_VECTOR(doubles, __m512d, double, double, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd)
static inline __m512 pool_mean_vector(__m512 sums, const float *divisors) {
    __m512 v = _mm512_div_ps(sums, _mm512_loadu_ps(divisors));
    __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000));
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
}
static inline __m512i pool_evens_keys(__m512i a, __m512i b) {
    __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_epi32(a, even, b);
}
static inline __m512i pool_odds_keys(__m512i a, __m512i b) {
    __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_epi32(a, odd, b);
}
static inline __m512i pool_evens_bytes(__m512i a, __m512i b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)),
                              _mm512_cvtepi16_epi8(b), 1);
}
static inline __m512i pool_odds_bytes(__m512i a, __m512i b) {
    return pool_evens_bytes(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8));
}
#elif defined(__AVX2__)
#define POOL_HAS_VECTORS 1
enum { POOL_VECTORS = 4 };
POOL_VECTOR(keys, __m256i, uint32_t, __m256i, _mm256_loadu_si256, _mm256_storeu_si256,
            _mm256_max_epu32)
POOL_VECTOR(bytes, __m256i, uint8_t, __m256i, _mm256_loadu_si256, _mm256_storeu_si256,
            _mm256_max_epu8)
POOL_VECTOR(floats, __m256, float, float, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps)
POOL_VECTOR(doubles, __m256d, double, double, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd)
static inline __m256 pool_mean_vector(__m256 sums, const float *divisors) {
    __m256 v = _mm256_div_ps(sums, _mm256_loadu_ps(divisors));
    __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
    return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}
static inline __m256i pool_evens_keys(__m256i a, __m256i b) {
    __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xD8);
}
static inline __m256i pool_odds_keys(__m256i a, __m256i b) {
    __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xDD);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xD8);
}
static inline __m256i pool_evens_bytes(__m256i a, __m256i b) {
    __m256i low = _mm256_set1_epi16(0xFF);
    a = _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
    return _mm256_permute4x64_epi64(a, 0xD8);
}
static inline __m256i pool_odds_bytes(__m256i a, __m256i b) {
    a = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
    return _mm256_permute4x64_epi64(a, 0xD8);
}
#elif defined(__aarch64__)
#define POOL_HAS_VECTORS 1
enum { POOL_VECTORS = 8 };
POOL_VECTOR(keys, uint32x4_t, uint32_t, uint32_t, vld1q_u32, vst1q_u32, vmaxq_u32)
POOL_VECTOR(bytes, uint8x16_t, uint8_t, uint8_t, vld1q_u8, vst1q_u8, vmaxq_u8)
POOL_VECTOR(floats, float32x4_t, float, float, vld1q_f32, vst1q_f32, vaddq_f32)
POOL_VECTOR(doubles, float64x2_t, double, double, vld1q_f64, vst1q_f64, vaddq_f64)
static inline float32x4_t pool_mean_vector(float32x4_t sums, const float *divisors) {
    float32x4_t v = vdivq_f32(sums, vld1q_f32(divisors));
    return vbslq_f32(vceqq_f32(v, v), v, vreinterpretq_f32_u32(vdupq_n_u32(0x7FC00000)));
}
#define pool_evens_keys vuzp1q_u32
#define pool_odds_keys vuzp2q_u32
#define pool_evens_bytes vuzp1q_u8
#define pool_odds_bytes vuzp2q_u8
#else
#define POOL_HAS_VECTORS 0
enum { POOL_VECTORS = 8 };
#define POOL_GET(x) (*(x))
#define POOL_SET(y, v) (*(y) = (v))
#define POOL_MOST(a, b) ((a) > (b) ? (a) : (b))
#define POOL_SUM(a, b) ((a) + (b))
// NOLINTBEGIN(bugprone-sizeof-expression): a vector is one element
POOL_VECTOR(keys, uint32_t, uint32_t, uint32_t, POOL_GET, POOL_SET, POOL_MOST)
POOL_VECTOR(bytes, uint8_t, uint8_t, uint8_t, POOL_GET, POOL_SET, POOL_MOST)
POOL_VECTOR(floats, float, float, float, POOL_GET, POOL_SET, POOL_SUM)
POOL_VECTOR(doubles, double, double, double, POOL_GET, POOL_SET, POOL_SUM)
// NOLINTEND(bugprone-sizeof-expression)
static inline uint32_t pool_evens_keys(uint32_t a, uint32_t b) { return (void)b, a; }
static inline uint32_t pool_odds_keys(uint32_t a, uint32_t b) { return (void)a, b; }
static inline uint8_t pool_evens_bytes(uint8_t a, uint8_t b) { return (void)b, a; }
static inline uint8_t pool_odds_bytes(uint8_t a, uint8_t b) { return (void)a, b; }
#endif

#endif
