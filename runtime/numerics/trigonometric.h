// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions of float32 and their inverses, computed in double and rounded once, with
// the same bits on every instruction set and compiler, and without branches, as in elementary.h. At
// most 0.500001 ulp off.
//
// The coefficients interpolate the function at Chebyshev nodes; they were solved for with 70 digits
// (mpmath) and rounded to double. An error given with them is the largest relative error of the
// approximation with the rounded coefficients.
#ifndef QDQ_RUNTIME_NUMERICS_TRIGONOMETRIC_H
#define QDQ_RUNTIME_NUMERICS_TRIGONOMETRIC_H

#include "runtime/numerics/elementary.h"

#define QDQ_HALF_PI 0x1.921fb54442d18p+0

//---- Sine, cosine, tangent --------------------------------------------------

// The bits of 2 / pi after 26 zeros; the bit at place 26 has the weight 1/2.
static const uint32_t qdq_two_over_pi[8] = {0x00000028, 0xBE60DB93, 0x91054A7F, 0x09D5F47D,
                                            0x4D377036, 0xD8A5664F, 0x10E4107F, 0x9458EAF7};

// |x| = turns * pi / 2 + rest, |rest| <= pi / 4; turns modulo 4.
typedef struct qdq_quarter_turns {
    uint32_t turns;
    double rest;
} qdq_quarter_turns;

// A float of at least 0.75 is m * 2^e with 24 bits of m. Multiples of 4 do not count in m * 2^e *
// 2 / pi, so 96 bits of 2 / pi are enough, from the weight 2^(1 - e) on: the product modulo 4 has
// 94 bits after the point. No float is closer than 2^-31 to a multiple of pi / 2. Infinity and NaN
// give any finite rest.
static inline qdq_quarter_turns qdq_reduce_by_half_pi(float x) {
    uint32_t own = qdq_float_bits(x) & 0x7FFFFFFF, least = 0x3F400000;  // 0.75
    bool small = own < least;
    uint32_t bits = small ? least : own;
    uint64_t m = (bits & 0x007FFFFF) | 0x00800000;
    uint32_t place = (bits >> 23) - 126, shift = place % 32;
    const uint32_t *w = qdq_two_over_pi + place / 32;
    uint64_t high = (((uint64_t)w[0] << 32 | w[1]) << shift) >> 32;
    uint64_t middle = (((uint64_t)w[1] << 32 | w[2]) << shift) >> 32;
    uint64_t low = m * ((((uint64_t)w[2] << 32 | w[3]) << shift) >> 32);
    uint64_t product = (m * high << 32) + m * middle + (low >> 32);  // modulo 4, times 2^62
    uint64_t turns = (product + ((uint64_t)1 << 61)) >> 62;
    int64_t part = (int64_t)(product - (turns << 62));
    double rest = (double)part + (double)(uint32_t)low * 0x1p-32;
    rest *= QDQ_HALF_PI * 0x1p-62;
    return (qdq_quarter_turns){small ? 0 : (uint32_t)turns,
                               qdq_pick64(small, (double)fabsf(x), rest)};
}

// sin r for |r| <= pi / 4, off by 6.4e-18.
static inline double qdq_sin_near64(double r) {
    double z = r * r;
    double p = 0x1.61217ec01840fp-33 + z * -0x1.ab17a792c9454p-41;
    p = -0x1.ae6454126638cp-26 + z * p;
    p = 0x1.71de3a54605eep-19 + z * p;
    p = -0x1.a01a01a019936p-13 + z * p;
    p = 0x1.1111111111110p-7 + z * p;
    p = -0x1.5555555555555p-3 + z * p;
    return r + r * (z * p);
}

// cos r for |r| <= pi / 4, off by 1.3e-18.
static inline double qdq_cos_near64(double r) {
    double z = r * r;
    double p = 0x1.1eeb68b109cf5p-29 + z * -0x1.907d7aec5a8a3p-37;
    p = -0x1.27e4fa17a41bfp-22 + z * p;
    p = 0x1.a01a019f4e867p-16 + z * p;
    p = -0x1.6c16c16c16966p-10 + z * p;
    p = 0x1.5555555555555p-5 + z * p;
    return (1.0 - 0.5 * z) + (z * z) * p;
}

// sin(|x| + quarters * pi / 2)
static inline double qdq_sin_after(float x, uint32_t quarters) {
    qdq_quarter_turns t = qdq_reduce_by_half_pi(x);
    uint32_t turns = t.turns + quarters;
    double y = qdq_pick64(turns & 1, qdq_cos_near64(t.rest), qdq_sin_near64(t.rest));
    return qdq_pick64(turns & 2, -y, y);
}

static inline float qdq_sinf(float x) {
    float y = (float)qdq_sin_after(x, 0);
    y = qdq_pick(signbit(x), -y, y);
    return qdq_nan_if(!(fabsf(x) <= FLT_MAX), y);
}

static inline float qdq_cosf(float x) {
    return qdq_nan_if(!(fabsf(x) <= FLT_MAX), (float)qdq_sin_after(x, 1));
}

static inline float qdq_tanf(float x) {
    qdq_quarter_turns t = qdq_reduce_by_half_pi(x);
    double s = qdq_sin_near64(t.rest), c = qdq_cos_near64(t.rest);
    bool odd = t.turns & 1;
    float y = (float)(qdq_pick64(odd, -c, s) / qdq_pick64(odd, s, c));
    y = qdq_pick(signbit(x), -y, y);
    return qdq_nan_if(!(fabsf(x) <= FLT_MAX), y);
}

//---- The inverse functions --------------------------------------------------

// Returns the arc tangent of u >= 0, infinity too. atan u = pi / 2 - atan(1 / u) and
// atan u = pi / 4 + atan((u - 1) / (u + 1)) lead to |w| <= tan(pi / 8), for which the polynomial is
// off by 3.3e-18.
static inline double qdq_atan_near64(double u) {
    bool inverse = u > 1.0;
    u = qdq_pick64(inverse, 1.0 / u, u);
    bool middle = u > 0x1.a827999fcef32p-2;  // tan(pi / 8)
    double w = qdq_pick64(middle, (u - 1.0) / (u + 1.0), u);
    double z = w * w;
    double p = -0x1.1b2e7e44a9f31p-5 + z * 0x1.0ac7d30246b42p-6;
    p = 0x1.74dbcb62cba4bp-5 + z * p;
    p = -0x1.ac7a2164fffd8p-5 + z * p;
    p = 0x1.e19a0439e6834p-5 + z * p;
    p = -0x1.110e875de7b46p-4 + z * p;
    p = 0x1.3b1392d04b914p-4 + z * p;
    p = -0x1.745d165d9ee29p-4 + z * p;
    p = 0x1.c71c71c30300bp-4 + z * p;
    p = -0x1.249249248d7cap-3 + z * p;
    p = 0x1.9999999999953p-3 + z * p;
    p = -0x1.5555555555555p-2 + z * p;
    double y = w + w * (z * p);
    y = qdq_pick64(middle, 0.5 * QDQ_HALF_PI + y, y);
    return qdq_pick64(inverse, QDQ_HALF_PI - y, y);
}

static inline float qdq_atanf(float x) {
    return qdq_nan_if(x != x, qdq_with_sign_of(x, (float)qdq_atan_near64((double)fabsf(x))));
}

// atan(x / sqrt((1 - x) * (1 + x)))
static inline float qdq_asinf(float x) {
    double a = (double)fabsf(x);
    float y = (float)qdq_atan_near64(a / sqrt((1.0 - a) * (1.0 + a)));
    return qdq_nan_if(!(fabsf(x) <= 1.0f), qdq_with_sign_of(x, y));
}

// 2 atan(sqrt((1 - x) / (1 + x)))
static inline float qdq_acosf(float x) {
    double a = (double)x;
    float y = (float)(2.0 * qdq_atan_near64(sqrt((1.0 - a) / (1.0 + a))));
    return qdq_nan_if(!(fabsf(x) <= 1.0f), y);
}

#endif
