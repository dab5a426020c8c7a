// SPDX-License-Identifier: Apache-2.0
// Elementary functions in double, computed with IEEE + - * / and integer operations only, so that
// they have the same bits on every instruction set and compiler. elementary.h rounds their results
// to float32; softmax and others call qdq_exp64 and qdq_log64 directly.
//
// No branches and no tables: a condition is a mask, so that compilers vectorize a loop over any of
// these functions. (They compile ?: as a jump if one of its sides may raise a flag.) Integers are
// converted to double by adding 1.5 * 2^52 or a similar constant, since AVX2 and SSE2 have no
// 64-bit conversion. gcc turns conditions into 64-bit masks only with AVX2, so elementary.h does
// without them.
//
// The coefficients interpolate the function at Chebyshev nodes; they were solved for with 70 digits
// (mpmath) and rounded to double. An error given with them is the largest relative error of the
// approximation with the rounded coefficients, computed exactly.
//
// Needs the default floating-point environment and -ffp-contract=off, as quantize_one.h does.
#ifndef QDQ_RUNTIME_NUMERICS_ELEMENTARY64_H
#define QDQ_RUNTIME_NUMERICS_ELEMENTARY64_H

#include <float.h>
#include <math.h>

#include "runtime/numerics/dtype.h"

_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,
               "float and double are computed wider: on 32-bit x86 add -msse2 -mfpmath=sse");

#define QDQ_LN2_HIGH 0x1.62e42fefa3800p-1  // 42 bits: the product with an exponent is exact
#define QDQ_LN2_LOW 0x1.ef35793c76730p-45
#define QDQ_TO_WHOLE 0x1.8p52  // v + this, |v| < 2^51, has v rounded in its low bits

static inline uint64_t qdq_double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double qdq_double_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double qdq_pick64(bool condition, double yes, double no) {
    uint64_t mask = 0 - (uint64_t)condition;
    return qdq_double_from_bits((qdq_double_bits(yes) & mask) | (qdq_double_bits(no) & ~mask));
}

// NaN stays NaN.
static inline double qdq_clamp64(double v, double low, double high) {
    v = qdq_pick64(v < low, low, v);
    return qdq_pick64(v > high, high, v);
}

static inline double qdq_whole64(double v) { return (v + QDQ_TO_WHOLE) - QDQ_TO_WHOLE; }

// 2^k for a whole number k from -1022 to 1023.
static inline double qdq_power_of_two64(double k) {
    return qdq_double_from_bits((qdq_double_bits(k + QDQ_TO_WHOLE) << 52) + ((uint64_t)1023 << 52));
}

// x = exponent * ln 2 + a rest of at most ln(2) / 2; `minus_one` is e^rest - 1.
typedef struct qdq_exp_parts {
    double exponent, minus_one;
} qdq_exp_parts;

// For |x| < 2^10. The polynomial is (e^r - 1 - r) / r^2 for |r| <= 0.3466: with it e^r is off by
// 1.7e-17 and e^r - 1 by 4.1e-17.
static inline qdq_exp_parts qdq_exp_split64(double x) {
    double k = qdq_whole64(x * 0x1.71547652b82fep+0);  // 1 / ln 2
    double r = (x - k * QDQ_LN2_HIGH) - k * QDQ_LN2_LOW;
    double q = 0x1.289185613a3d6p-22 + r * 0x1.af38a9b0ec855p-26;
    q = 0x1.71de0dae63bb3p-19 + r * q;
    q = 0x1.a019b90d2ae7ap-16 + r * q;
    q = 0x1.a01a01a7c41d5p-13 + r * q;
    q = 0x1.6c16c1788bd90p-10 + r * q;
    q = 0x1.11111111109b3p-7 + r * q;
    q = 0x1.5555555553d63p-5 + r * q;
    q = 0x1.5555555555556p-3 + r * q;
    q = 0x1.0000000000001p-1 + r * q;
    return (qdq_exp_parts){k, r + (r * r) * q};
}

// e^x and e^x - 1 for |x| <= 700.
static inline double qdq_exp_near64(double x) {
    qdq_exp_parts e = qdq_exp_split64(x);
    return (1.0 + e.minus_one) * qdq_power_of_two64(e.exponent);
}

static inline double qdq_expm1_near64(double x) {
    qdq_exp_parts e = qdq_exp_split64(x);
    double power = qdq_power_of_two64(e.exponent);
    return power * e.minus_one + (power - 1.0);
}

// ln u for a finite normal u > 0. `minus_one` is u - 1, which the caller may know more exactly than
// u; it is used if u lies between sqrt(1/2) and sqrt(2).
//
// With f = m - 1 and s = f / (2 + f), ln m = 2 atanh(s) = f - (f^2 / 2 - s * (f^2 / 2 + R)), where
// R = 2 atanh(s) / s - 2. The polynomial is R / s^2 in s^2 for |s| <= 0.1716: with it atanh is off
// by 4.6e-18.
static inline double qdq_log_near64(double u, double minus_one) {
    uint64_t half = 0x3FE6A09E667F3BCDu;  // sqrt(1/2)
    uint64_t bits = qdq_double_bits(u) + (((uint64_t)1023 << 52) - half);
    double k = qdq_double_from_bits((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    double m = qdq_double_from_bits((bits & 0x000FFFFFFFFFFFFFu) + half);
    uint64_t whole = 0 - (((bits >> 52 ^ 1023) - 1) >> 63);  // all ones where k is 0
    double f = qdq_double_from_bits((qdq_double_bits(minus_one) & whole) |
                                    (qdq_double_bits(m - 1.0) & ~whole));
    double s = f / (2.0 + f);
    double z = s * s;
    double t = 0x1.39fe51a7c18f9p-3 + z * 0x1.2b5900de53b32p-3;
    t = 0x1.7462b51cb66b1p-3 + z * t;
    t = 0x1.c71c62e3f11e6p-3 + z * t;
    t = 0x1.2492492df281ap-2 + z * t;
    t = 0x1.99999999952d7p-2 + z * t;
    t = 0x1.5555555555558p-1 + z * t;
    double half_square = 0.5 * f * f;
    double tail = s * (half_square + z * t) + k * QDQ_LN2_LOW;
    return k * QDQ_LN2_HIGH - ((half_square - tail) - f);
}

// ln(1 + x) for -1 < x < 2^1000. 1 + x must fit in 53 significant bits, or the bits that it loses
// must be within half an ulp of the result. This holds for every float32, and for x in [0, 1].
static inline double qdq_log1p_near64(double x) { return qdq_log_near64(1.0 + x, x); }

// 1 - erf(x) for |x| <= 26, off by 2e-13 at most. For x >= 0 it is e^(-x^2) * q(t) / (1 + 2x) with
// t = (x - 3.75) / (x + 3.75), where the polynomial q is off by 4.8e-16; x^2 is rounded, and the
// exponential magnifies this error. For x < 0 it is 2 - erfc(-x).
static inline double qdq_erfc_near64(double x) {
    double a = fabs(x);
    double t = (a - 3.75) / (a + 3.75);
    double q = 0x1.2b042dbc64a8ap-26;
    q = 0x1.5d3d8992b2fe3p-28 + t * q;
    q = -0x1.d952037d6afb6p-23 + t * q;
    q = -0x1.660a404be9cb8p-26 + t * q;
    q = 0x1.cc314006a76bcp-20 + t * q;
    q = -0x1.0f9ffa0fa08e1p-20 + t * q;
    q = -0x1.7f450356e63a3p-17 + t * q;
    q = 0x1.77f1c62393916p-16 + t * q;
    q = 0x1.b1324f5fd27aep-15 + t * q;
    q = -0x1.3042165ee1efap-12 + t * q;
    q = 0x1.33fbac34d528ap-12 + t * q;
    q = 0x1.cc3a33783da57p-10 + t * q;
    q = -0x1.3f603cd715949p-7 + t * q;
    q = 0x1.d0b00329be0cap-6 + t * q;
    q = -0x1.e0d0fa6a3dba5p-5 + t * q;
    q = 0x1.7a14188c37b6cp-4 + t * q;
    q = -0x1.bda9309a41092p-4 + t * q;
    q = 0x1.510169d087f17p-4 + t * q;
    q = 0x1.d5f294816acd7p-9 + t * q;
    q = -0x1.1f367683f8873p-3 + t * q;
    q = 0x1.3ccda0b5d5dc2p+0 + t * q;
    double y = qdq_exp_near64(-(a * a)) * (q / (1.0 + 2.0 * a));
    return qdq_pick64(x < 0.0, 2.0 - y, y);
}

// e^x, at most 1.1 ulp off, also if the result is denormal. NaN gives the NaN without sign and
// payload.
static inline double qdq_exp64(double x) {
    qdq_exp_parts e = qdq_exp_split64(qdq_clamp64(x, -746.0, 710.0));
    double part = qdq_whole64(0.5 * e.exponent);  // 2^exponent may not fit, its factors do
    double y = (1.0 + e.minus_one) * qdq_power_of_two64(part);
    y *= qdq_power_of_two64(e.exponent - part);
    return qdq_pick64(x != x, qdq_double_from_bits(0x7FF8000000000000u), y);
}

// ln x, at most 1 ulp off. 0 gives -inf; negative numbers and NaN give NaN without sign and
// payload.
static inline double qdq_log64(double x) {
    bool small = x < 0x1p-1022;
    double u = qdq_pick64(small, x * 0x1p54, x);
    double y = qdq_log_near64(u, u - 1.0) - qdq_pick64(small, 54 * 0x1.62e42fefa39efp-1, 0.0);
    y = qdq_pick64(x == 0.0, -(double)INFINITY, y);
    y = qdq_pick64(x > DBL_MAX, x, y);
    return qdq_pick64(!(x >= 0.0), qdq_double_from_bits(0x7FF8000000000000u), y);
}

#endif
