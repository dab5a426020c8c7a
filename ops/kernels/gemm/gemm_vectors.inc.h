// SPDX-License-Identifier: Apache-2.0
// The vector operations that matrix products are written with, for each instruction set.
#ifndef QDQ_OPS_KERNELS_GEMM_GEMM_VECTORS_INC_H
#define QDQ_OPS_KERNELS_GEMM_GEMM_VECTORS_INC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// floats_at_least is x < least ? least : x, and floats_nans has the lanes in which x or y is NaN.
// KIND_madd(sum, x, b) adds to each lane of a sum the products of a step. codes_madd, whose x is
// signed, exists where one instruction does it. saturated_codes_madd has a signed x, too.
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
static inline gemm_floats floats_sub(gemm_floats x, gemm_floats y) { return _mm512_sub_ps(x, y); }
static inline gemm_floats floats_quiet(gemm_floats x) {
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), floats_all(0x7FC00000));
}
typedef __mmask16 gemm_nans;
static inline gemm_nans floats_nans(gemm_floats x, gemm_floats y) {
    return _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q);
}
static inline gemm_nans nans_or(gemm_nans x, gemm_nans y) { return _mm512_kor(x, y); }
static inline bool nans_any(gemm_nans x) { return x != 0; }
static inline gemm_floats floats_at_least(gemm_floats x, gemm_floats least) {
    return _mm512_max_ps(least, x);
}
static inline gemm_floats floats_at_most(gemm_floats x, gemm_floats most) {
    return _mm512_min_ps(most, x);
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
#define CODES_MADD
static inline gemm_ints codes_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm512_dpbusd_epi32(sum, b, x);
}
static inline gemm_ints saturated_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return pairs_madd(sum, _mm512_maddubs_epi16(x, b), ints_all(0x00010001));
}
static inline gemm_ints saturated_codes_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return saturated_madd(sum, b, x);
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
static inline gemm_floats floats_sub(gemm_floats x, gemm_floats y) { return _mm256_sub_ps(x, y); }
static inline gemm_floats floats_quiet(gemm_floats x) {
    return _mm256_blendv_ps(x, floats_all(0x7FC00000), _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
typedef __m256 gemm_nans;
static inline gemm_nans floats_nans(gemm_floats x, gemm_floats y) {
    return _mm256_cmp_ps(x, y, _CMP_UNORD_Q);
}
static inline gemm_nans nans_or(gemm_nans x, gemm_nans y) { return _mm256_or_ps(x, y); }
static inline bool nans_any(gemm_nans x) { return _mm256_movemask_ps(x) != 0; }
static inline gemm_floats floats_at_least(gemm_floats x, gemm_floats least) {
    return _mm256_max_ps(least, x);
}
static inline gemm_floats floats_at_most(gemm_floats x, gemm_floats most) {
    return _mm256_min_ps(most, x);
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
#define CODES_MADD
static inline gemm_ints codes_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm256_dpbusd_avx_epi32(sum, b, x);
}
#else
static inline gemm_ints pairs_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, b));
}
// Multiplies the first and third bytes as pairs of int16, then the second and fourth: products of
// bytes added in 16 bits would saturate.
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    gemm_ints b_even = _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8);
    sum = pairs_madd(sum, _mm256_and_si256(x, ints_all(0x00FF00FF)), b_even);
    return pairs_madd(sum, _mm256_srli_epi16(x, 8), _mm256_srai_epi16(b, 8));
}
#endif
static inline gemm_ints saturated_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return pairs_madd(sum, _mm256_maddubs_epi16(x, b), ints_all(0x00010001));
}
static inline gemm_ints saturated_codes_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return saturated_madd(sum, b, x);
}
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
static inline gemm_floats floats_sub(gemm_floats x, gemm_floats y) { return vsubq_f32(x, y); }
static inline gemm_floats floats_quiet(gemm_floats x) {
    return vbslq_f32(vceqq_f32(x, x), x, floats_all(0x7FC00000));
}
typedef uint32x4_t gemm_nans;
static inline gemm_nans floats_nans(gemm_floats x, gemm_floats y) {
    return vmvnq_u32(vandq_u32(vceqq_f32(x, x), vceqq_f32(y, y)));
}
static inline gemm_nans nans_or(gemm_nans x, gemm_nans y) { return vorrq_u32(x, y); }
static inline bool nans_any(gemm_nans x) { return vmaxvq_u32(x) != 0; }
static inline gemm_floats floats_at_least(gemm_floats x, gemm_floats least) {
    return vbslq_f32(vcltq_f32(x, least), least, x);
}
static inline gemm_floats floats_at_most(gemm_floats x, gemm_floats most) {
    return vbslq_f32(vcgtq_f32(x, most), most, x);
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
// Multiplies x - 128, because SDOT takes signed bytes only. gemm_integers.inc.h adds the missing
// part.
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    int8x16_t x8 = vreinterpretq_s8_s32(veorq_s32(x, ints_all((int32_t)0x80808080)));
    return vdotq_s32(sum, x8, vreinterpretq_s8_s32(b));
}
#define CODES_MADD
static inline gemm_ints codes_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    return vdotq_s32(sum, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(b));
}
#else
// A product of two bytes fits in 16 bits. All groups of four bytes in x are the same.
static inline gemm_ints fours_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    int16x8_t x16 = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(vreinterpretq_u8_s32(x))));
    int8x16_t b8 = vreinterpretq_s8_s32(b);
    int32x4_t low = vpaddlq_s16(vmulq_s16(x16, vmovl_s8(vget_low_s8(b8))));
    return vaddq_s32(sum, vpaddq_s32(low, vpaddlq_s16(vmulq_s16(x16, vmovl_high_s8(b8)))));
}
#endif
// Products of the first and of the second columns; each pair of them saturates.
static inline gemm_ints pairs_sum(gemm_ints sum, int16x8_t low, int16x8_t high) {
    return vpadalq_s16(sum, vqaddq_s16(vuzp1q_s16(low, high), vuzp2q_s16(low, high)));
}
static inline gemm_ints saturated_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    int16x8_t x16 = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(vreinterpretq_u8_s32(x))));
    int8x16_t b8 = vreinterpretq_s8_s32(b);
    return pairs_sum(sum, vmulq_s16(x16, vmovl_s8(vget_low_s8(b8))),
                     vmulq_s16(x16, vmovl_high_s8(b8)));
}
static inline gemm_ints saturated_codes_madd(gemm_ints sum, gemm_ints x, gemm_ints b) {
    int16x8_t x16 = vmovl_s8(vget_low_s8(vreinterpretq_s8_s32(x)));
    uint8x16_t b8 = vreinterpretq_u8_s32(b);
    return pairs_sum(sum, vmulq_s16(x16, vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(b8)))),
                     vmulq_s16(x16, vreinterpretq_s16_u16(vmovl_high_u8(b8))));
}
#endif

static inline gemm_floats floats_from(const float *x) {
    int32_t word;
    memcpy(&word, x, sizeof word);
    return floats_all(word);
}

#if defined(__AVX512F__)
// The same for half of the lanes.
typedef __m256 gemm_eights;
static inline gemm_eights eights_load(const void *x) { return _mm256_loadu_ps(x); }
static inline void eights_store(void *y, gemm_eights v) { _mm256_storeu_ps(y, v); }
static inline gemm_eights eights_all(int32_t word) {
    return _mm256_castsi256_ps(_mm256_set1_epi32(word));
}
static inline gemm_eights eights_from(const float *x) { return _mm256_broadcast_ss(x); }
static inline gemm_eights eights_madd(gemm_eights sum, gemm_eights x, gemm_eights b) {
    return _mm256_fmadd_ps(x, b, sum);
}
static inline gemm_eights eights_add(gemm_eights x, gemm_eights y) { return _mm256_add_ps(x, y); }
static inline gemm_eights eights_quiet(gemm_eights x) {
    return _mm256_mask_mov_ps(x, _mm256_cmp_ps_mask(x, x, _CMP_UNORD_Q), eights_all(0x7FC00000));
}
static inline gemm_nans eights_nans(gemm_eights x, gemm_eights y) {
    return _mm256_cmp_ps_mask(x, y, _CMP_UNORD_Q);
}
static inline gemm_eights eights_at_least(gemm_eights x, gemm_eights least) {
    return _mm256_max_ps(least, x);
}
static inline gemm_eights eights_at_most(gemm_eights x, gemm_eights most) {
    return _mm256_min_ps(most, x);
}
#endif

#endif
