// SPDX-License-Identifier: Apache-2.0
// The vector operations that products in a Tenstorrent chip's arithmetic are written with, on lanes
// of 16 and of 32 bits.
#include <immintrin.h>

#if defined(__AVX512BW__)
enum { FPU_LANES = 32 };  // of 16 bits
typedef __m512i fpu_vec;
#define FPU_OP(name) _mm512_##name
#define FPU_SI(name) _mm512_##name##_si512
typedef __m256i fpu_half;
typedef unsigned fpu_count;
static inline fpu_half fpu_half_load(const int16_t *x) {
    return _mm256_loadu_si256((const void *)x);
}
// 2^13 >> by.
static inline fpu_vec fpu_power(fpu_vec by) {
    return _mm512_srlv_epi16(_mm512_set1_epi16(1 << 13), by);
}
// v where a > b, else 0.
static inline fpu_vec fpu_keep_greater(fpu_vec v, fpu_vec a, fpu_vec b) {
    return _mm512_maskz_mov_epi32(_mm512_cmpgt_epi32_mask(a, b), v);
}
// v where a = b, else 0.
static inline fpu_vec fpu_keep_equal(fpu_vec v, fpu_vec a, fpu_vec b) {
    return _mm512_maskz_mov_epi32(_mm512_cmpeq_epi32_mask(a, b), v);
}
static inline fpu_vec fpu_float_bits(fpu_vec v) {
    return _mm512_castps_si512(_mm512_cvtepi32_ps(v));
}
#else
enum { FPU_LANES = 16 };
typedef __m256i fpu_vec;
#define FPU_OP(name) _mm256_##name
#define FPU_SI(name) _mm256_##name##_si256
typedef __m128i fpu_half;
typedef int fpu_count;
static inline fpu_half fpu_half_load(const int16_t *x) { return _mm_loadu_si128((const void *)x); }
// 2^13 >> by, for by up to 13; 1 above. A shuffle finds each byte in a table of powers: the lower
// one at by - 6, the upper one at by + 2; a negative place gives 0.
static inline fpu_vec fpu_power(fpu_vec by) {
    const fpu_vec powers = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(-128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    by = _mm256_min_epi16(by, _mm256_set1_epi16(13));
    by = _mm256_or_si256(by, _mm256_slli_epi16(by, 8));
    return _mm256_shuffle_epi8(powers, _mm256_add_epi8(by, _mm256_set1_epi16(0x02FA)));
}
static inline fpu_vec fpu_keep_greater(fpu_vec v, fpu_vec a, fpu_vec b) {
    return _mm256_and_si256(_mm256_cmpgt_epi32(a, b), v);
}
static inline fpu_vec fpu_keep_equal(fpu_vec v, fpu_vec a, fpu_vec b) {
    return _mm256_and_si256(_mm256_cmpeq_epi32(a, b), v);
}
static inline fpu_vec fpu_float_bits(fpu_vec v) {
    return _mm256_castps_si256(_mm256_cvtepi32_ps(v));
}
#endif

static inline fpu_vec fpu_load(const void *x) { return FPU_SI(loadu)(x); }
static inline void fpu_store(void *y, fpu_vec v) { FPU_SI(storeu)(y, v); }
static inline fpu_vec fpu_all(int32_t word) { return FPU_OP(set1_epi32)(word); }
static inline fpu_vec fpu_xor(fpu_vec a, fpu_vec b) { return FPU_SI(xor)(a, b); }
static inline fpu_vec fpu_or(fpu_vec a, fpu_vec b) { return FPU_SI(or)(a, b); }
static inline fpu_vec fpu_and(fpu_vec a, int32_t word) { return FPU_SI(and)(a, fpu_all(word)); }

// Lanes of 16 bits.
static inline fpu_vec fpu_add16(fpu_vec a, fpu_vec b) { return FPU_OP(add_epi16)(a, b); }
static inline fpu_vec fpu_sub16(fpu_vec a, fpu_vec b) { return FPU_OP(sub_epi16)(a, b); }
static inline fpu_vec fpu_max16(fpu_vec a, fpu_vec b) { return FPU_OP(max_epi16)(a, b); }
static inline fpu_vec fpu_mul16(fpu_vec a, fpu_vec b) { return FPU_OP(mullo_epi16)(a, b); }
// (a * b + 2^14) >> 15.
static inline fpu_vec fpu_scale16(fpu_vec a, fpu_vec b) { return FPU_OP(mulhrs_epi16)(a, b); }

// Lanes of 32 bits.
static inline fpu_vec fpu_widen(const int16_t *x) {
    return FPU_OP(cvtepi16_epi32)(fpu_half_load(x));
}
static inline fpu_vec fpu_add(fpu_vec a, fpu_vec b) { return FPU_OP(add_epi32)(a, b); }
static inline fpu_vec fpu_add_word(fpu_vec a, int32_t word) { return fpu_add(a, fpu_all(word)); }
static inline fpu_vec fpu_sub(fpu_vec a, fpu_vec b) { return FPU_OP(sub_epi32)(a, b); }
static inline fpu_vec fpu_max(fpu_vec a, fpu_vec b) { return FPU_OP(max_epi32)(a, b); }
static inline fpu_vec fpu_min(fpu_vec a, fpu_vec b) { return FPU_OP(min_epi32)(a, b); }
static inline fpu_vec fpu_abs(fpu_vec v) { return FPU_OP(abs_epi32)(v); }
static inline fpu_vec fpu_left(fpu_vec v, fpu_count by) { return FPU_OP(slli_epi32)(v, by); }
static inline fpu_vec fpu_right(fpu_vec v, fpu_count by) { return FPU_OP(srai_epi32)(v, by); }
static inline fpu_vec fpu_right_by(fpu_vec v, fpu_vec by) { return FPU_OP(srav_epi32)(v, by); }
