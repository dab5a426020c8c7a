// SPDX-License-Identifier: Apache-2.0
// The vector operations that direct convolution is written with, for each instruction set.
#ifndef QDQ_OPS_KERNELS_DIRECT_DIRECT_VECTORS_INC_H
#define QDQ_OPS_KERNELS_DIRECT_DIRECT_VECTORS_INC_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "runtime/numerics/fma.h"

#define DIRECT_UNROLLED _Pragma("GCC unroll 16")

// direct_zeros: nonzero if a lane is 0. direct_spread: stores lanes to y[0], y[2], y[4], ..., and
// may write y[2 * DIRECT_LANES - 1] and the elements between as they were. direct_lanes_of: the
// lanes begin..end, which may lie beyond a vector. direct_load_some: zeros in other lanes, whose
// memory is not read. direct_even, direct_odd: elements 0, 2, 4, ... and 1, 3, 5, ... of two
// vectors; direct_zip: two vectors with these elements. direct_even_mixed, direct_odd_mixed: the
// same in another order of lanes that costs less, which direct_in_order mends (on x86 only).
// direct_store_some: the first n lanes, not all.
#if defined(__AVX512F__)
enum { DIRECT_LANES = 16 };
#define DIRECT_MOST_OUTPUTS 8
typedef __m512 direct_floats;
static inline direct_floats direct_zero(void) { return _mm512_setzero_ps(); }
static inline direct_floats direct_load(const float *x) { return _mm512_loadu_ps(x); }
static inline void direct_store(float *y, direct_floats v) { _mm512_storeu_ps(y, v); }
static inline direct_floats direct_all(const float *x) { return _mm512_set1_ps(*x); }
static inline direct_floats direct_madd(direct_floats sum, direct_floats x, direct_floats w) {
    return _mm512_fmadd_ps(x, w, sum);
}
static inline direct_floats direct_mul(direct_floats x, direct_floats y) {
    return _mm512_mul_ps(x, y);
}
static inline direct_floats direct_add(direct_floats x, direct_floats y) {
    return _mm512_add_ps(x, y);
}
static inline direct_floats direct_sub(direct_floats x, direct_floats y) {
    return _mm512_sub_ps(x, y);
}
static inline direct_floats direct_quiet(direct_floats x) {
    __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000));
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}
static inline unsigned direct_zeros(direct_floats x) {
    return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ);
}
static inline void direct_spread(float *y, direct_floats v) {
    __m512i low = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    _mm512_mask_storeu_ps(y, 0x5555, _mm512_permutexvar_ps(low, v));
    _mm512_mask_storeu_ps(y + DIRECT_LANES, 0x5555, _mm512_permutexvar_ps(high, v));
}
typedef __mmask16 direct_mask;
static inline direct_mask direct_lanes_of(ptrdiff_t begin, ptrdiff_t end) {
    uint32_t low = begin <= 0 ? 0 : begin < DIRECT_LANES ? (1u << begin) - 1 : 0xFFFF;
    uint32_t high = end <= 0 ? 0 : end < DIRECT_LANES ? (1u << end) - 1 : 0xFFFF;
    return (direct_mask)(high & ~low);
}
static inline direct_floats direct_load_some(const float *x, direct_mask mask) {
    return _mm512_maskz_loadu_ps(mask, x);
}
static inline void direct_store_some(float *y, direct_floats v, size_t n) {
    _mm512_mask_storeu_ps(y, (__mmask16)((1u << n) - 1), v);
}
static inline direct_floats direct_even(direct_floats low, direct_floats high) {
    __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(low, even, high);
}
static inline direct_floats direct_odd(direct_floats low, direct_floats high) {
    __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(low, odd, high);
}
static inline direct_floats direct_even_mixed(direct_floats low, direct_floats high) {
    return direct_even(low, high);
}
static inline direct_floats direct_odd_mixed(direct_floats low, direct_floats high) {
    return direct_odd(low, high);
}
static inline direct_floats direct_in_order(direct_floats x) { return x; }
static inline void direct_zip(direct_floats even, direct_floats odd, direct_floats *low,
                              direct_floats *high) {
    __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    *low = _mm512_permutex2var_ps(even, first, odd);
    *high = _mm512_permutex2var_ps(even, _mm512_add_epi32(first, _mm512_set1_epi32(8)), odd);
}
#elif defined(__AVX2__)
enum { DIRECT_LANES = 8 };
#define DIRECT_MOST_OUTPUTS 4
typedef __m256 direct_floats;
static inline direct_floats direct_zero(void) { return _mm256_setzero_ps(); }
static inline direct_floats direct_load(const float *x) { return _mm256_loadu_ps(x); }
static inline void direct_store(float *y, direct_floats v) { _mm256_storeu_ps(y, v); }
static inline direct_floats direct_all(const float *x) { return _mm256_broadcast_ss(x); }
static inline direct_floats direct_madd(direct_floats sum, direct_floats x, direct_floats w) {
    return _mm256_fmadd_ps(x, w, sum);
}
static inline direct_floats direct_mul(direct_floats x, direct_floats y) {
    return _mm256_mul_ps(x, y);
}
static inline direct_floats direct_add(direct_floats x, direct_floats y) {
    return _mm256_add_ps(x, y);
}
static inline direct_floats direct_sub(direct_floats x, direct_floats y) {
    return _mm256_sub_ps(x, y);
}
static inline direct_floats direct_quiet(direct_floats x) {
    __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
    return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
static inline unsigned direct_zeros(direct_floats x) {
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ));
}
static inline void direct_spread(float *y, direct_floats v) {
    __m256 low = _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
    __m256 high = _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7));
    direct_store(y, _mm256_blend_ps(direct_load(y), low, 0x55));
    y += DIRECT_LANES;
    direct_store(y, _mm256_blend_ps(direct_load(y), high, 0x55));
}
typedef __m256i direct_mask;
static inline direct_mask direct_lanes_of(ptrdiff_t begin, ptrdiff_t end) {
    __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int low = begin < 0 ? 0 : begin < DIRECT_LANES ? (int)begin : DIRECT_LANES;
    int high = end < 0 ? 0 : end < DIRECT_LANES ? (int)end : DIRECT_LANES;
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), lanes),
                               _mm256_cmpgt_epi32(_mm256_set1_epi32(high), lanes));
}
static inline direct_floats direct_load_some(const float *x, direct_mask mask) {
    return _mm256_maskload_ps(x, mask);
}
// Stores n elements with two stores that may overlap, because masked stores are slow on some CPUs.
static inline void direct_store_some(float *y, direct_floats v, size_t n) {
    __m128 low = _mm256_castps256_ps128(v);
    if (n >= 4) {
        __m256i from = _mm256_add_epi32(_mm256_set1_epi32((int)n - 4),
                                        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        _mm_storeu_ps(y, low);
        _mm_storeu_ps(y + n - 4, _mm256_castps256_ps128(_mm256_permutevar8x32_ps(v, from)));
        return;
    }
    if (n >= 2) _mm_storel_pi((__m64 *)(void *)y, low);
    if (n == 3) _mm_store_ss(y + 2, _mm_movehl_ps(low, low));
    if (n == 1) _mm_store_ss(y, low);
}
static inline direct_floats direct_even_mixed(direct_floats low, direct_floats high) {
    return _mm256_shuffle_ps(low, high, 0x88);
}
static inline direct_floats direct_odd_mixed(direct_floats low, direct_floats high) {
    return _mm256_shuffle_ps(low, high, 0xDD);
}
static inline direct_floats direct_in_order(direct_floats x) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xD8));
}
static inline direct_floats direct_even(direct_floats low, direct_floats high) {
    return direct_in_order(direct_even_mixed(low, high));
}
static inline direct_floats direct_odd(direct_floats low, direct_floats high) {
    return direct_in_order(direct_odd_mixed(low, high));
}
static inline void direct_zip(direct_floats even, direct_floats odd, direct_floats *low,
                              direct_floats *high) {
    __m256 first = _mm256_unpacklo_ps(even, odd), second = _mm256_unpackhi_ps(even, odd);
    *low = _mm256_permute2f128_ps(first, second, 0x20);
    *high = _mm256_permute2f128_ps(first, second, 0x31);
}
#elif defined(__aarch64__)
enum { DIRECT_LANES = 4 };
#define DIRECT_MOST_OUTPUTS 4
typedef float32x4_t direct_floats;
static inline direct_floats direct_zero(void) { return vdupq_n_f32(0); }
static inline direct_floats direct_load(const float *x) { return vld1q_f32(x); }
static inline void direct_store(float *y, direct_floats v) { vst1q_f32(y, v); }
static inline direct_floats direct_all(const float *x) { return vld1q_dup_f32(x); }
static inline direct_floats direct_madd(direct_floats sum, direct_floats x, direct_floats w) {
    return vfmaq_f32(sum, x, w);
}
static inline direct_floats direct_mul(direct_floats x, direct_floats y) { return vmulq_f32(x, y); }
static inline direct_floats direct_add(direct_floats x, direct_floats y) { return vaddq_f32(x, y); }
static inline direct_floats direct_sub(direct_floats x, direct_floats y) { return vsubq_f32(x, y); }
static inline direct_floats direct_quiet(direct_floats x) {
    return vbslq_f32(vceqq_f32(x, x), x, vreinterpretq_f32_u32(vdupq_n_u32(0x7FC00000)));
}
static inline unsigned direct_zeros(direct_floats x) { return vmaxvq_u32(vceqzq_f32(x)); }
static inline void direct_spread(float *y, direct_floats v) {
    float32x4x2_t both = vld2q_f32(y);
    both.val[0] = v;
    vst2q_f32(y, both);
}
typedef struct direct_mask {
    ptrdiff_t begin, end;
} direct_mask;
static inline direct_mask direct_lanes_of(ptrdiff_t begin, ptrdiff_t end) {
    return (direct_mask){begin < 0 ? 0 : begin, end < DIRECT_LANES ? end : DIRECT_LANES};
}
static inline direct_floats direct_load_some(const float *x, direct_mask mask) {
    float some[DIRECT_LANES] = {0};
    if (mask.begin == 0 && mask.end == DIRECT_LANES) return vld1q_f32(x);
    for (ptrdiff_t i = mask.begin; i < mask.end; i++) some[i] = x[i];
    return vld1q_f32(some);
}
static inline void direct_store_some(float *y, direct_floats v, size_t n) {
    float all[DIRECT_LANES];
    vst1q_f32(all, v);
    for (size_t i = 0; i < n; i++) y[i] = all[i];
}
static inline direct_floats direct_even(direct_floats low, direct_floats high) {
    return vuzp1q_f32(low, high);
}
static inline direct_floats direct_odd(direct_floats low, direct_floats high) {
    return vuzp2q_f32(low, high);
}
static inline void direct_zip(direct_floats even, direct_floats odd, direct_floats *low,
                              direct_floats *high) {
    *low = vzip1q_f32(even, odd), *high = vzip2q_f32(even, odd);
}
#else
enum { DIRECT_LANES = 1 };
#define DIRECT_MOST_OUTPUTS 4
typedef float direct_floats;
static inline direct_floats direct_zero(void) { return 0; }
static inline direct_floats direct_load(const float *x) { return *x; }
static inline void direct_store(float *y, direct_floats v) { *y = v; }
static inline direct_floats direct_all(const float *x) { return *x; }
static inline direct_floats direct_madd(direct_floats sum, direct_floats x, direct_floats w) {
    return qdq_fmaf(x, w, sum);
}
static inline direct_floats direct_mul(direct_floats x, direct_floats y) { return x * y; }
static inline direct_floats direct_add(direct_floats x, direct_floats y) { return x + y; }
static inline direct_floats direct_sub(direct_floats x, direct_floats y) { return x - y; }
static inline direct_floats direct_quiet(direct_floats x) { return isnan(x) ? NAN : x; }
static inline unsigned direct_zeros(direct_floats x) { return x == 0; }
static inline void direct_spread(float *y, direct_floats v) { *y = v; }
typedef bool direct_mask;
static inline direct_mask direct_lanes_of(ptrdiff_t begin, ptrdiff_t end) {
    return begin <= 0 && end > 0;
}
static inline direct_floats direct_load_some(const float *x, direct_mask mask) {
    return mask ? *x : 0;
}
static inline void direct_store_some(float *y, direct_floats v, size_t n) {
    if (n) *y = v;
}
static inline direct_floats direct_even(direct_floats low, direct_floats high) {
    (void)high;
    return low;
}
static inline direct_floats direct_odd(direct_floats low, direct_floats high) {
    (void)low;
    return high;
}
static inline void direct_zip(direct_floats even, direct_floats odd, direct_floats *low,
                              direct_floats *high) {
    *low = even, *high = odd;
}
#endif

#endif
