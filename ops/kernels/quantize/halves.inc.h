// SPDX-License-Identifier: Apache-2.0
// Conversions of float16 with the instructions of the set that the file is compiled for.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_HALVES_INC_H
#define QDQ_OPS_KERNELS_QUANTIZE_HALVES_INC_H

#include <stddef.h>
#include <stdint.h>
#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define QDQ_ISA_HALVES 1  // body_from_halves and body_to_halves are there

#if defined(__F16C__)
static inline void body_from_halves(const uint16_t *x, size_t n, float *y) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i,
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
    for (; i < n; i++) y[i] = _cvtsh_ss(x[i]);
}
static inline void body_to_halves(const float *x, size_t n, uint16_t *y) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
    for (; i < n; i++) y[i] = _cvtss_sh(x[i], 0);
}
#elif defined(__aarch64__)
static inline float32x4_t body_of_half(uint16x4_t x) {
    return vcvt_f32_f16(vreinterpret_f16_u16(x));
}
static inline uint16x4_t body_half(float32x4_t x) { return vreinterpret_u16_f16(vcvt_f16_f32(x)); }
static inline void body_from_halves(const uint16_t *x, size_t n, float *y) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) vst1q_f32(y + i, body_of_half(vld1_u16(x + i)));
    for (; i < n; i++) y[i] = vgetq_lane_f32(body_of_half(vdup_n_u16(x[i])), 0);
}
static inline void body_to_halves(const float *x, size_t n, uint16_t *y) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) vst1_u16(y + i, body_half(vld1q_f32(x + i)));
    for (; i < n; i++) y[i] = vget_lane_u16(body_half(vdupq_n_f32(x[i])), 0);
}
#endif

#endif
