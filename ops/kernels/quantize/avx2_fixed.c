// SPDX-License-Identifier: Apache-2.0
// AVX2: int32 by multiplier and shift to bytes. avx512_fixed.c explains the arithmetic and why it
// is exact.
#include "ops/kernels/kernel.h"
#include "ops/kernels/quantize/avx2_codes.inc.h"

enum { NEAR_SUM = QDQ_FIXED_NEAR_SUM, VECTORS = GROUP / REALS };

// The parameters of 8 elements.
typedef struct lanes {
    __m256 unit, start, down;      // of the sum: m / 2^s, and its constant for x >= 0 and x < 0
    __m256i multiplier, shift, z;  // unit is the scale itself if rounding is float32
} lanes;

// All bits of the first `count` elements.
static inline __m256i mask_of(size_t count) {
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(count < REALS ? count : REALS)), numbers);
}

static inline __m256i view_at(qdq_view view, size_t at, __m256i mask) {
    if (!view.step) return _mm256_set1_epi32((int)view.data[0]);
    return _mm256_maskload_epi32((const int *)(const void *)view.data + at, mask);
}

// 2^exponent; exponents that float32 has.
static inline __m256 power(__m256i exponent) {
    __m256i bits = _mm256_slli_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(127)), 23);
    return _mm256_castsi256_ps(bits);
}

static inline lanes lanes_at(qdq_fixed_rounding rounding, const qdq_view *views, size_t at,
                             __m256i mask) {
    lanes l = {.multiplier = view_at(views[0], at, mask),
               .shift = view_at(views[2], at, mask),
               .z = view_at(views[3], at, mask)};
    if (rounding == QDQ_FIXED_FLOAT32) {
        l.unit = _mm256_castsi256_ps(l.multiplier);
        return l;
    }
    __m256i half = _mm256_set1_epi32((1 << 15) + NEAR_SUM);
    __m256i twice = _mm256_cmpgt_epi32(l.shift, _mm256_set1_epi32(31));
    __m256 o = power(_mm256_sub_epi32(_mm256_set1_epi32(46), l.shift));
    o = _mm256_and_ps(o, _mm256_castsi256_ps(twice));
    l.unit = _mm256_mul_ps(_mm256_cvtepi32_ps(l.multiplier),
                           power(_mm256_sub_epi32(_mm256_set1_epi32(16), l.shift)));
    l.start = _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_slli_epi32(l.z, 16), half));
    l.down = _mm256_sub_ps(l.start, o);
    if (rounding != QDQ_FIXED_SINGLE) l.start = _mm256_add_ps(l.start, o);
    return l;
}

static inline lanes lanes_of(qdq_fixed_rounding rounding, const qdq_view *views) {
    return lanes_at(rounding, views, 0, mask_of(1));
}

static inline __m256i sum_of(qdq_fixed_rounding rounding, const lanes *l, __m256i x) {
    __m256 start = l->start;
    if (rounding == QDQ_FIXED_DOUBLE)
        start = _mm256_blendv_ps(start, l->down, _mm256_castsi256_ps(x));
    return _mm256_cvtps_epi32(_mm256_fmadd_ps(_mm256_cvtepi32_ps(x), l->unit, start));
}

// Rounds the products of four elements, at most 2^14 in size; m and s are in the lower halves.
static inline __m256i whole(qdq_fixed_rounding rounding, __m256i x, __m256i m, __m256i s) {
    const __m256i one = _mm256_set1_epi64x(1), far = _mm256_set1_epi64x(1 << 14);
    const __m256i least = _mm256_set1_epi64x(-(1 << 14)), sign = _mm256_set1_epi64x(INT64_MIN);
    s = _mm256_and_si256(s, _mm256_set1_epi64x(0x3F));
    __m256i v = _mm256_mul_epi32(x, m);
    __m256i y = _mm256_add_epi64(v, _mm256_sllv_epi64(one, _mm256_sub_epi64(s, one)));
    if (rounding != QDQ_FIXED_SINGLE) {
        __m256i twice = _mm256_cmpgt_epi64(s, _mm256_set1_epi64x(31));
        __m256i o = _mm256_and_si256(twice, _mm256_set1_epi64x(1 << 30));
        __m256i down = _mm256_cmpgt_epi64(_mm256_setzero_si256(), v);
        if (rounding == QDQ_FIXED_DOUBLE)
            o = _mm256_sub_epi64(_mm256_xor_si256(o, down), down);  // -o where v < 0
        y = _mm256_add_epi64(y, o);
    }
    // The arithmetic shift is that of the unsigned number y + 2^63.
    y = _mm256_sub_epi64(_mm256_srlv_epi64(_mm256_xor_si256(y, sign), s),
                         _mm256_srlv_epi64(sign, s));
    y = _mm256_blendv_epi8(y, far, _mm256_cmpgt_epi64(y, far));
    return _mm256_blendv_epi8(y, least, _mm256_cmpgt_epi64(least, y));
}

static inline __m256i exact_sum(qdq_fixed_rounding rounding, const lanes *l, __m256i x) {
    __m256i even = whole(rounding, x, l->multiplier, l->shift);
    __m256i odd = whole(rounding, _mm256_srli_epi64(x, 32), _mm256_srli_epi64(l->multiplier, 32),
                        _mm256_srli_epi64(l->shift, 32));
    __m256i y = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
    return _mm256_slli_epi32(_mm256_add_epi32(y, l->z), 16);
}

static inline bool any_near_sum(const __m256i s[VECTORS]) {
    __m256i least = _mm256_min_epu16(_mm256_min_epu16(s[0], s[1]), _mm256_min_epu16(s[2], s[3]));
    __m256i below = _mm256_subs_epu16(_mm256_set1_epi16(2 * NEAR_SUM), least);
    return !_mm256_testz_si256(below, _mm256_set1_epi32(0xFFFF));
}

static inline __attribute__((always_inline)) void words_of(qdq_fixed_rounding rounding,
                                                           const lanes l[VECTORS], size_t step,
                                                           const __m256i x[VECTORS],
                                                           __m256i words[2]) {
    __m256i sums[VECTORS];
    for (size_t i = 0; i < VECTORS; i++) sums[i] = sum_of(rounding, &l[i * step], x[i]);
    if (__builtin_expect(any_near_sum(sums), 0))
        for (size_t i = 0; i < VECTORS; i++) sums[i] = exact_sum(rounding, &l[i * step], x[i]);
    words_of_sums(sums, words);
}

// As words_of if rounding is float32. The conversion turns numbers below int32, and also numbers
// above, into the least of int32.
static inline __attribute__((always_inline)) void
words_of_products(const lanes l[VECTORS], size_t step, const __m256i x[VECTORS], __m256i words[2]) {
    __m256i n[VECTORS];
    for (size_t i = 0; i < VECTORS; i++) {
        __m256 y = _mm256_mul_ps(_mm256_cvtepi32_ps(x[i]), l[i * step].unit);
        n[i] = _mm256_cvtps_epi32(_mm256_min_ps(y, all(0x1p30f)));
    }
    for (size_t i = 0; i < 2; i++) {
        __m256i z = _mm256_packs_epi32(l[2 * i * step].z, l[(2 * i + 1) * step].z);
        words[i] = _mm256_adds_epi16(_mm256_packs_epi32(n[2 * i], n[2 * i + 1]), z);
    }
}

// Computes elements from number `at` on, at most a group; with `whole_group` all of it.
static inline __attribute__((always_inline)) void
group_at(qdq_fixed_rounding rounding, const factors *f, bool is_signed, const qdq_view *views,
         const lanes *alike, const int32_t *x, uint8_t *y, size_t at, size_t n, bool whole_group) {
    __m256i v[VECTORS], words[2];
    lanes l[VECTORS];
    for (size_t i = 0; i < VECTORS; i++) {
        size_t from = at + i * REALS;
        __m256i mask = mask_of(whole_group ? REALS : from < n ? n - from : 0);
        v[i] = whole_group ? _mm256_loadu_si256((const void *)(x + from))
                           : _mm256_maskload_epi32(x + from, mask);
        if (!alike) l[i] = lanes_at(rounding, views, from, mask);
    }
    if (rounding == QDQ_FIXED_FLOAT32)
        words_of_products(alike ? alike : l, alike ? 0 : 1, v, words);
    else
        words_of(rounding, alike ? alike : l, alike ? 0 : 1, v, words);
    __m256i bytes = order_of_float32(is_signed ? to_int8(f, words) : to_uint8(f, words));
    if (whole_group) {
        _mm256_storeu_si256((void *)(y + at), bytes);
        return;
    }
    char rest[GROUP];
    _mm256_storeu_si256((void *)rest, bytes);
    copy_some((char *)y + at, rest, n - at);
}

static inline factors codes_of(const qdq_quant_params *p) { return factors_of(p, 1.0f, 0); }

static qdq_tile_fn *const leave = qdq_fixed_tile_general_avx2;

#include "ops/kernels/quantize/fixed_tiles.inc.h"

FIXED_TILES(avx2)
