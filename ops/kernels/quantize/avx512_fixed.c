// SPDX-License-Identifier: Apache-2.0
// AVX-512: int32 by multiplier and shift to bytes (runtime/numerics/fixed_point.h).
//
// Each rounding in integers is one floor. With t = x * m / 2^s as a real number and o = 2^(30 - s),
// `single` is floor(t + 1/2). `up` is floor(h / 2^(s - 31) + 1/2) with h = floor(t * 2^(s - 31) +
// 1/2), and so floor(t + 1/2 + o): a whole number over a power of two commutes with the outer
// floor. `double` is the same for x >= 0; halves of a negative h go down, and it is floor(t + 1/2 -
// o). s = 31 does not round twice: o is 0. Below 31, x << (31 - s) may wrap around.
//
// The sum of x * (m / 2^s), z, 1/2 and o as a float32 in parts of 2^-16 is off by less than
// NEAR_SUM parts where the result is a byte: x and the scale by one part each (2^-24 of 255.5), o
// by 1/2, and the sum, as a float and as an int32, by 3/4. If the lower half of a sum is less than
// 2 * NEAR_SUM, as it is for numbers beyond int32, its group is computed anew in integers of 64
// bits.
#include "ops/kernels/kernel.h"
#include "ops/kernels/quantize/avx512_codes.inc.h"

enum { NEAR_SUM = QDQ_FIXED_NEAR_SUM, VECTORS = GROUP / REALS };

// The parameters of 16 elements.
typedef struct lanes {
    __m512 unit, start, down;      // of the sum: m / 2^s, and its constant for x >= 0 and x < 0
    __m512i multiplier, shift, z;  // unit is the scale itself if rounding is float32
} lanes;

static inline __m512i view_at(qdq_view view, size_t at, __mmask16 mask) {
    if (!view.step) return _mm512_set1_epi32((int)view.data[0]);
    return _mm512_maskz_loadu_epi32(mask, view.data + at);
}

// 2^exponent; exponents that float32 has.
static inline __m512 power(__m512i exponent) {
    __m512i bits = _mm512_slli_epi32(_mm512_add_epi32(exponent, _mm512_set1_epi32(127)), 23);
    return _mm512_castsi512_ps(bits);
}

static inline lanes lanes_at(qdq_fixed_rounding rounding, const qdq_view *views, size_t at,
                             __mmask16 mask) {
    lanes l = {.multiplier = view_at(views[0], at, mask),
               .shift = view_at(views[2], at, mask),
               .z = view_at(views[3], at, mask)};
    if (rounding == QDQ_FIXED_FLOAT32) {
        l.unit = _mm512_castsi512_ps(l.multiplier);
        return l;
    }
    __m512i half = _mm512_set1_epi32((1 << 15) + NEAR_SUM);
    __mmask16 twice = _mm512_cmpgt_epi32_mask(l.shift, _mm512_set1_epi32(31));
    __m512 o = _mm512_maskz_mov_ps(twice, power(_mm512_sub_epi32(_mm512_set1_epi32(46), l.shift)));
    l.unit = _mm512_mul_ps(_mm512_cvtepi32_ps(l.multiplier),
                           power(_mm512_sub_epi32(_mm512_set1_epi32(16), l.shift)));
    l.start = _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32(l.z, 16), half));
    l.down = _mm512_sub_ps(l.start, o);
    if (rounding != QDQ_FIXED_SINGLE) l.start = _mm512_add_ps(l.start, o);
    return l;
}

static inline lanes lanes_of(qdq_fixed_rounding rounding, const qdq_view *views) {
    return lanes_at(rounding, views, 0, 1);
}

static inline __m512i sum_of(qdq_fixed_rounding rounding, const lanes *l, __m512i x) {
    __m512 start = l->start;
    if (rounding == QDQ_FIXED_DOUBLE)
        start = _mm512_mask_blend_ps(_mm512_movepi32_mask(x), start, l->down);
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_cvtepi32_ps(x), l->unit, start));
}

// Rounds the products of eight elements, at most 2^14 in size; m and s are in the lower halves.
static inline __m512i whole(qdq_fixed_rounding rounding, __m512i x, __m512i m, __m512i s) {
    const __m512i one = _mm512_set1_epi64(1), far = _mm512_set1_epi64(1 << 14);
    s = _mm512_and_si512(s, _mm512_set1_epi64(0x3F));
    __m512i v = _mm512_mul_epi32(x, m);
    __m512i y = _mm512_add_epi64(v, _mm512_sllv_epi64(one, _mm512_sub_epi64(s, one)));
    if (rounding != QDQ_FIXED_SINGLE) {
        __m512i o = _mm512_set1_epi64(1 << 30);
        __mmask8 twice = _mm512_cmpgt_epi64_mask(s, _mm512_set1_epi64(31));
        __mmask8 down = rounding == QDQ_FIXED_DOUBLE ? _mm512_movepi64_mask(v) : 0;
        y = _mm512_mask_add_epi64(y, twice & (__mmask8)~down, y, o);
        y = _mm512_mask_sub_epi64(y, twice & down, y, o);
    }
    y = _mm512_srav_epi64(y, s);
    return _mm512_min_epi64(_mm512_max_epi64(y, _mm512_set1_epi64(-(1 << 14))), far);
}

static inline __m512i exact_sum(qdq_fixed_rounding rounding, const lanes *l, __m512i x) {
    __m512i even = whole(rounding, x, l->multiplier, l->shift);
    __m512i odd = whole(rounding, _mm512_srli_epi64(x, 32), _mm512_srli_epi64(l->multiplier, 32),
                        _mm512_srli_epi64(l->shift, 32));
    __m512i y = _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, _MM_PERM_CCAA);
    return _mm512_slli_epi32(_mm512_add_epi32(y, l->z), 16);
}

static inline bool any_near_sum(const __m512i s[VECTORS]) {
    const __mmask32 lower = 0x55555555;
    __m512i least = _mm512_min_epu16(_mm512_min_epu16(s[0], s[1]), _mm512_min_epu16(s[2], s[3]));
    return _mm512_mask_cmplt_epu16_mask(lower, least, _mm512_set1_epi16(2 * NEAR_SUM)) != 0;
}

static inline __attribute__((always_inline)) void words_of(qdq_fixed_rounding rounding,
                                                           const lanes l[VECTORS], size_t step,
                                                           const __m512i x[VECTORS],
                                                           __m512i words[2]) {
    __m512i sums[VECTORS];
    for (size_t i = 0; i < VECTORS; i++) sums[i] = sum_of(rounding, &l[i * step], x[i]);
    if (__builtin_expect(any_near_sum(sums), 0))
        for (size_t i = 0; i < VECTORS; i++) sums[i] = exact_sum(rounding, &l[i * step], x[i]);
    upper_halves(sums, words);
}

// As words_of if rounding is float32, in the order of order_of_packs. The conversion turns numbers
// below int32, and also numbers above, into the least of int32.
static inline __attribute__((always_inline)) void
words_of_products(const lanes l[VECTORS], size_t step, const __m512i x[VECTORS], __m512i words[2]) {
    __m512i n[VECTORS];
    for (size_t i = 0; i < VECTORS; i++) {
        __m512 y = _mm512_mul_ps(_mm512_cvtepi32_ps(x[i]), l[i * step].unit);
        n[i] = _mm512_cvtps_epi32(_mm512_min_ps(y, all(0x1p30f)));
    }
    for (size_t i = 0; i < 2; i++) {
        __m512i z = _mm512_packs_epi32(l[2 * i * step].z, l[(2 * i + 1) * step].z);
        words[i] = _mm512_adds_epi16(_mm512_packs_epi32(n[2 * i], n[2 * i + 1]), z);
    }
}

// The places of consecutive elements among bytes packed twice.
#define FOUR(i) (i), (i) + 1, (i) + 2, (i) + 3
#define PACKED(i) FOUR(i), FOUR((i) + 16), FOUR((i) + 32), FOUR((i) + 48)
static const uint8_t order_of_packs[GROUP] = {PACKED(0), PACKED(4), PACKED(8), PACKED(12)};

// Computes elements from number `at` on, at most a group; with `whole_group` all of it.
static inline __attribute__((always_inline)) void
group_at(qdq_fixed_rounding rounding, const factors *f, bool is_signed, const qdq_view *views,
         const lanes *alike, const int32_t *x, uint8_t *y, size_t at, size_t n, bool whole_group) {
    __mmask64 mask = whole_group ? ~UINT64_C(0) : (UINT64_C(1) << (n - at)) - 1;
    __m512i v[VECTORS], words[2];
    lanes l[VECTORS];
    for (size_t i = 0; i < VECTORS; i++) {
        __mmask16 own = (__mmask16)(mask >> i * REALS);
        v[i] = _mm512_maskz_loadu_epi32(own, x + at + i * REALS);
        if (!alike) l[i] = lanes_at(rounding, views, at + i * REALS, own);
    }
    const lanes *parameters = alike ? alike : l;
    const uint8_t *places = order_of_words;
    if (rounding == QDQ_FIXED_FLOAT32)
        words_of_products(parameters, alike ? 0 : 1, v, words), places = order_of_packs;
    else
        words_of(rounding, parameters, alike ? 0 : 1, v, words);
    __m512i order = _mm512_loadu_si512(places);
    __m512i bytes = is_signed ? to_int8(f, words, order) : to_uint8(f, words, order);
    _mm512_mask_storeu_epi8(y + at, mask, bytes);
}

static inline factors codes_of(const qdq_quant_params *p) { return factors_of(p, 1.0f, 1.0f, 0); }

static qdq_tile_fn *const leave = qdq_fixed_tile_general_avx512;

#include "ops/kernels/quantize/fixed_tiles.inc.h"

FIXED_TILES(avx512)
