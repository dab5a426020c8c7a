// SPDX-License-Identifier: Apache-2.0
// Turns reals into bytes with AVX-512 for the core's numerics and one scale and zero point.
//
// Below, q is the quotient x / s rounded to float32, n is q rounded half to even, and z is the zero
// point. The sum n + z steps where q is a tie, k + 1/2. Only ties of magnitude up to 255.5 matter,
// because z and the result are bytes of y.
#include <immintrin.h>

#include "ops/kernels/quantize/kernel_list.h"

enum { REALS = 16, GROUP = 64 };

typedef struct factors {
    __m512 scale, inverse;         // s, fl(1/s)
    __m512 unit, start;            // fl(1/s) and z + 1/2 in parts of 2^-16
    __m512 coarse, fine;           // 1/s as a sum
    __m512 least, most;            // for x beyond them y is a bound
    __m512 in;                     // scale of x
    __m512i z, z_words;            // as int32, as int16
    __m512i quant_min, quant_max;  // bytes
    bool clamps;                   // the range is less than all bytes
} factors;

static inline __m512 all(float v) { return _mm512_set1_ps(v); }

enum { NEAR = QDQ_NEAR_TIE };

static inline factors factors_of(const qdq_quant_params *p, float in, float s, int32_t z) {
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
        .in = all(in),
        .z = _mm512_set1_epi32(z),
        .z_words = _mm512_set1_epi16((short)z),
        .quant_min = _mm512_set1_epi8((char)p->range.quant_min),
        .quant_max = _mm512_set1_epi8((char)p->range.quant_max),
        .clamps = p->range.quant_max - p->range.quant_min < UINT8_MAX,
    };
}

//---- One multiply-add -------------------------------------------------------

// x / s + z + 1/2 in parts of 2^-16, plus NEAR. The upper half is n + z unless the lower half is
// less than 2 * NEAR: at the ties that matter, fl(1/s) and q are each off by at most one part
// (2^-24 of 255.5), and rounding the sum by 3/4, together less than NEAR. Larger quotients are on
// the same side of all these ties. NaN and numbers beyond int32 become 0x80000000, whose lower half
// is 0.
static inline __m512i approximate(const factors *f, __m512 x) {
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(x, f->unit, f->start));
}

static inline bool any_near(__m512i a, __m512i b, __m512i c, __m512i d) {
    const __mmask32 lower = 0x55555555;
    __m512i least = _mm512_min_epu16(_mm512_min_epu16(a, b), _mm512_min_epu16(c, d));
    return _mm512_mask_cmplt_epu16_mask(lower, least, _mm512_set1_epi16(2 * NEAR)) != 0;
}

// n + z in the upper half. NaN becomes `least`, because max returns its second operand then. One
// Newton step rounds correctly unless x / s is within 2^-22 of an ulp of the middle of two floats.
// All pairs of x and s for which this happens next to a tie up to 2047.5 were tried, and give q.
static inline __m512i exact(const factors *f, __m512 x) {
    x = _mm512_min_ps(_mm512_max_ps(x, f->least), f->most);
    __m512 q = _mm512_mul_ps(x, f->inverse);
    q = _mm512_fmadd_ps(_mm512_fnmadd_ps(q, f->scale, x), f->inverse, q);
    return _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(q), f->z), 16);
}

// Stores the upper halves of four vectors of 16 numbers as words, alternately from the two vectors
// of each pair.
static inline void upper_halves(const __m512i sums[4], __m512i words[2]) {
    const __m512i down = _mm512_set4_epi32(0x0F0E0F0E, 0x0B0A0B0A, 0x07060706, 0x03020302);
    for (int i = 0; i < 2; i++)
        words[i] = _mm512_mask_shuffle_epi8(sums[2 * i + 1], 0x3333333333333333, sums[2 * i], down);
}

static inline void quantize_vectors(const factors *f, const __m512 x[4], __m512i words[2]) {
    __m512i sums[4];
    for (size_t i = 0; i < 4; i++) sums[i] = approximate(f, x[i]);
    if (__builtin_expect(any_near(sums[0], sums[1], sums[2], sums[3]), 0))
        for (size_t i = 0; i < 4; i++) sums[i] = exact(f, x[i]);
    upper_halves(sums, words);
}

//---- To bytes ---------------------------------------------------------------

// The places of consecutive elements among the packed bytes.
#define BY_TWO(i) (i), (i) + 2, (i) + 4, (i) + 6
#define VECTOR(i) BY_TWO(i), BY_TWO((i) + 16), BY_TWO((i) + 32), BY_TWO((i) + 48)
static const uint8_t order_of_words[GROUP] = {VECTOR(0), VECTOR(1), VECTOR(8), VECTOR(9)};

static inline __m512i to_int8(const factors *f, const __m512i words[2], __m512i order) {
    __m512i y = _mm512_permutexvar_epi8(order, _mm512_packs_epi16(words[0], words[1]));
    return f->clamps ? _mm512_min_epi8(_mm512_max_epi8(y, f->quant_min), f->quant_max) : y;
}
static inline __m512i to_uint8(const factors *f, const __m512i words[2], __m512i order) {
    __m512i y = _mm512_permutexvar_epi8(order, _mm512_packus_epi16(words[0], words[1]));
    return f->clamps ? _mm512_min_epu8(_mm512_max_epu8(y, f->quant_min), f->quant_max) : y;
}

// Stores the codes of a group of reals.
static inline void store_codes(const factors *f, const __m512 x[4], bool is_signed, uint8_t *y) {
    __m512i words[2], order = _mm512_loadu_si512(order_of_words);
    quantize_vectors(f, x, words);
    _mm512_storeu_si512(y, is_signed ? to_int8(f, words, order) : to_uint8(f, words, order));
}
