// SPDX-License-Identifier: Apache-2.0
// The vector operations that direct convolution is written with, for each instruction set.
#ifndef QDQ_OPS_KERNELS_DIRECT_VECTORS_H
#define QDQ_OPS_KERNELS_DIRECT_VECTORS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define DIRECT_UNROLLED _Pragma("GCC unroll 16")

// direct_zeros: nonzero if a lane is 0. direct_spread: stores lanes to y[0], y[2], y[4], ..., and
// may write y[2 * DIRECT_LANES - 1] and the elements between as they were.
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
static inline direct_floats direct_quiet(direct_floats x) {
    return vbslq_f32(vceqq_f32(x, x), x, vreinterpretq_f32_u32(vdupq_n_u32(0x7FC00000)));
}
static inline unsigned direct_zeros(direct_floats x) { return vmaxvq_u32(vceqzq_f32(x)); }
static inline void direct_spread(float *y, direct_floats v) {
    float32x4x2_t both = vld2q_f32(y);
    both.val[0] = v;
    vst2q_f32(y, both);
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
    return fmaf(x, w, sum);
}
static inline direct_floats direct_mul(direct_floats x, direct_floats y) { return x * y; }
static inline direct_floats direct_add(direct_floats x, direct_floats y) { return x + y; }
static inline direct_floats direct_quiet(direct_floats x) { return isnan(x) ? NAN : x; }
static inline unsigned direct_zeros(direct_floats x) { return x == 0; }
static inline void direct_spread(float *y, direct_floats v) { *y = v; }
#endif

#endif
