// SPDX-License-Identifier: Apache-2.0
// Turns reals into bytes with AVX2 for the core's numerics and one scale and zero point.
// avx512_codes.inc.h explains the arithmetic and why it is exact.
#include <immintrin.h>
#include <string.h>

#include "ops/kernels/quantize/kernel_list.h"

enum { REALS = 8, GROUP = 32, NEAR = QDQ_NEAR_TIE };

typedef struct factors {
    __m256 scale, inverse;         // s, fl(1/s)
    __m256 unit, start;            // fl(1/s) and z + 1/2 in parts of 2^-16
    __m256 coarse, fine;           // 1/s as a sum
    __m256 least, most;            // for x beyond them y is a bound
    __m256i z, z_words;            // as int32, as int16
    __m256i quant_min, quant_max;  // bytes
} factors;

static inline __m256 all(float v) { return _mm256_set1_ps(v); }

static inline factors factors_of(const qdq_quant_params *p, float s, int32_t z) {
    float inverse = 1.0f / s;
    float coarse = qdq_float_from_bits(qdq_float_bits(inverse) & 0xFFFFFF00);
    return (factors){
        .scale = all(s),
        .inverse = all(inverse),
        .unit = all(inverse * 0x1p16f),
        .start = all((float)z * 0x1p16f + 0x1p15f + NEAR),
        .coarse = all(coarse),
        .fine = all(__builtin_fmaf(-coarse, s, 1.0f) / s),
        .least = all(-0x1p14f * s),
        .most = all(0x1p14f * s),
        .z = _mm256_set1_epi32(z),
        .z_words = _mm256_set1_epi16((short)z),
        .quant_min = _mm256_set1_epi8((char)p->range.quant_min),
        .quant_max = _mm256_set1_epi8((char)p->range.quant_max),
    };
}

// Returns n + z in the upper half, unless the lower half is less than 2 * NEAR.
static inline __m256i approximate(const factors *f, __m256 x) {
    return _mm256_cvtps_epi32(_mm256_fmadd_ps(x, f->unit, f->start));
}

static inline bool any_near(const __m256i sums[4]) {
    __m256i least =
        _mm256_min_epu16(_mm256_min_epu16(sums[0], sums[1]), _mm256_min_epu16(sums[2], sums[3]));
    __m256i below = _mm256_subs_epu16(_mm256_set1_epi16(2 * NEAR), least);
    return !_mm256_testz_si256(below, _mm256_set1_epi32(0xFFFF));
}

static inline __m256i exact(const factors *f, __m256 x) {
    x = _mm256_min_ps(_mm256_max_ps(x, f->least), f->most);
    __m256 q = _mm256_mul_ps(x, f->inverse);
    q = _mm256_fmadd_ps(_mm256_fnmadd_ps(q, f->scale, x), f->inverse, q);
    return _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(q), f->z), 16);
}

// Stores the upper halves of four vectors as words.
static inline void words_of_sums(const __m256i sums[4], __m256i words[2]) {
    for (size_t i = 0; i < 2; i++)
        words[i] = _mm256_packs_epi32(_mm256_srai_epi32(sums[2 * i], 16),
                                      _mm256_srai_epi32(sums[2 * i + 1], 16));
}

static inline void words_of_vectors(const factors *f, const __m256 x[4], __m256i words[2]) {
    __m256i sums[4];
    for (size_t i = 0; i < 4; i++) sums[i] = approximate(f, x[i]);
    if (__builtin_expect(any_near(sums), 0))
        for (size_t i = 0; i < 4; i++) sums[i] = exact(f, x[i]);
    words_of_sums(sums, words);
}

// Brings packed bytes into the order of their elements. Packing leaves groups of four, from one
// vector (float32) or from even or odd elements (bfloat16).
static inline __m256i order_of_float32(__m256i bytes) {
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
static inline __m256i to_int8(const factors *f, const __m256i words[2]) {
    __m256i y = _mm256_packs_epi16(words[0], words[1]);
    return _mm256_min_epi8(_mm256_max_epi8(y, f->quant_min), f->quant_max);
}
static inline __m256i to_uint8(const factors *f, const __m256i words[2]) {
    __m256i y = _mm256_packus_epi16(words[0], words[1]);
    return _mm256_min_epu8(_mm256_max_epu8(y, f->quant_min), f->quant_max);
}

// Stores the codes of a group of reals.
static inline void store_codes(const factors *f, const __m256 x[4], bool is_signed, uint8_t *y) {
    __m256i words[2];
    words_of_vectors(f, x, words);
    _mm256_storeu_si256((__m256i *)(void *)y,
                        order_of_float32(is_signed ? to_int8(f, words) : to_uint8(f, words)));
}

// Copies less than GROUP bytes, in pieces of known size.
static inline void copy_some(char *to, const char *from, size_t n) {
    size_t at = 0;
    if (n & 16) memcpy(to, from, 16), at = 16;
    if (n & 8) memcpy(to + at, from + at, 8), at += 8;
    if (n & 4) memcpy(to + at, from + at, 4), at += 4;
    for (; at < n; at++) to[at] = from[at];
}
