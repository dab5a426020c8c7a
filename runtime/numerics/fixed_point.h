// SPDX-License-Identifier: Apache-2.0
// Fixed point as TensorFlow Lite, TFLM, CMSIS-NN and TOSA have it: a real scale is multiplier *
// 2^-shift. One definition for each rounding of a Requantize by multiplier and shift. Sources: the
// specification of TOSA 1.0 (apply_scale_32), gemmlowp's fixedpoint.h and TensorFlow Lite's
// quantization_util.cc; docs/numerics.md has the formulas.
//
// Right shifts of negative integers round down, as on every compiler that builds the library.
#ifndef QDQ_RUNTIME_NUMERICS_FIXED_POINT_H
#define QDQ_RUNTIME_NUMERICS_FIXED_POINT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "include/qdq/ops/quantize.h"

enum { QDQ_FIXED_MOST_SHIFT = 62 };  // of the roundings in integers

typedef struct qdq_fixed_scale {
    int32_t multiplier, shift;
} qdq_fixed_scale;

// Returns a scale with a multiplier of 31 bits: m = the fraction of the scale in [1/2, 1) times
// 2^31, half away from zero. Scales below 2^-32 or so, and NaN, become 0. Scales of 2^most or more
// become the greatest that has an exponent of `most`, at most 31.
static inline qdq_fixed_scale qdq_quantize_multiplier(double scale, int most) {
    int exponent = 0;
    if (!(fabs(scale) > 0)) return (qdq_fixed_scale){0, 31};
    double fraction = isinf(scale) ? scale : frexp(scale, &exponent);
    int64_t m = isinf(scale) ? 0 : (int64_t)round(fraction * 0x1p31);
    if (m == INT64_C(1) << 31 || m == -(INT64_C(1) << 31)) m /= 2, exponent++;
    if (exponent < -31) return (qdq_fixed_scale){0, 31};
    if (isinf(scale) || exponent > most)
        return (qdq_fixed_scale){scale > 0 ? INT32_MAX : -INT32_MAX, 31 - most};
    return (qdq_fixed_scale){(int32_t)m, 31 - exponent};
}

//---- Products ---------------------------------------------------------------

// The high half of twice a product, half up ("SRDHM"). Saturates for the one product that needs
// it.
static inline int32_t qdq_high_product(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

// x / 2^bits, half away from zero ("RDPOT"); bits: 0 to 31.
static inline int32_t qdq_shifted_away(int32_t x, int bits) {
    int32_t mask = (int32_t)((INT64_C(1) << bits) - 1);
    return (x >> bits) + ((x & mask) > (mask >> 1) + (x < 0));
}

// x / 2^bits, half up ("RSHL"); bits: 0 to 31.
static inline int32_t qdq_shifted_up(int32_t x, int bits) {
    return bits ? (int32_t)((x + (INT64_C(1) << (bits - 1))) >> bits) : x;
}

// x * 2^bits modulo 2^32; bits: 0 to 31.
static inline int32_t qdq_wrapping_shift(int32_t x, int bits) {
    return (int32_t)((uint32_t)x << bits);
}

// Rounds twice: the high product of x * 2^left, then a shift to the right.
static inline int32_t qdq_fixed_twice(int32_t x, int32_t m, int32_t shift, bool up) {
    int left = shift < 31 ? 31 - shift : 0, right = shift > 31 ? shift - 31 : 0;
    int32_t high = qdq_high_product(qdq_wrapping_shift(x, left), m);
    return up ? qdq_shifted_up(high, right) : qdq_shifted_away(high, right);
}

// Rounds once: (x * m + 2^(shift - 1)) >> shift in exact integers. |x| is at most 2^62; a result
// beyond 2^61 in size is only that large.
static inline int64_t qdq_fixed_once(int64_t x, int32_t m, int32_t shift) {
    int64_t half = shift ? INT64_C(1) << (shift - 1) : 0;
    if (x >= INT32_MIN && x <= INT32_MAX) return (x * m + half) >> shift;
    // x * m = high * 2^32 + low, with low in [0, 2^32).
    const int64_t mask = INT64_C(0xFFFFFFFF);
    int64_t below = (x & mask) * m, low = below & mask, high = (x >> 32) * m + (below >> 32);
    if (shift > 32) return (high + (half >> 32)) >> (shift - 32);
    int64_t most = INT64_C(1) << (29 + shift);
    low += half, high += low >> 32;
    high = high < -most ? -most : high > most ? most : high;
    return high * (INT64_C(1) << (32 - shift)) + ((low & mask) >> shift);
}

//---- One element ------------------------------------------------------------

// The parameters of an element. Roundings in integers have the multiplier and the shift, the others
// the scale multiplier * 2^-shift.
typedef struct qdq_fixed_params {
    qdq_fixed_rounding rounding;
    qdq_fixed_scale scale;
    double real;
    int32_t in_zero_point, out_zero_point;
} qdq_fixed_params;

// Returns a rounded float as an integer, at most 2^40 in size, which is beyond every result.
static inline int64_t qdq_fixed_whole(double whole) {
    return (int64_t)(whole < -0x1p40 ? -0x1p40 : whole > 0x1p40 ? 0x1p40 : whole);
}

// Scales one element, before it is clamped. An int64 beyond 2^61 counts as 2^61. Rounding twice
// takes the low 32 bits of x less its zero point.
static inline int64_t qdq_fixed_one(const qdq_fixed_params *p, int64_t x) {
    const int64_t most = INT64_C(1) << 61;
    x = (x < -most ? -most : x > most ? most : x) - p->in_zero_point;
    int64_t y = 0;
    switch (p->rounding) {
    case QDQ_FIXED_INEXACT:
    case QDQ_FIXED_SINGLE: y = qdq_fixed_once(x, p->scale.multiplier, p->scale.shift); break;
    case QDQ_FIXED_DOUBLE:
    case QDQ_FIXED_UP:
        y = qdq_fixed_twice((int32_t)(uint32_t)(uint64_t)x, p->scale.multiplier, p->scale.shift,
                            p->rounding == QDQ_FIXED_UP);
        break;
    case QDQ_FIXED_FLOAT32: y = qdq_fixed_whole(rint((double)((float)x * (float)p->real))); break;
    case QDQ_FIXED_FLOAT64: y = qdq_fixed_whole(round((double)x * p->real)); break;
    }
    return y + p->out_zero_point;
}

#endif
