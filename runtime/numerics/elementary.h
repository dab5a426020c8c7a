// SPDX-License-Identifier: Apache-2.0
// Elementary functions of float32: exp, log, tanh, erf and others, computed in double
// (elementary64.h) and rounded once, with the same bits on every instruction set and compiler, and
// without branches.
//
// At most 0.500001 ulp off. Over all 2^32 floats the results are correctly rounded, except 5 of
// log, 9 of log1p, 66 of sigmoid and 1 of softplus, whose exact values lie that close to halfway
// between two floats. The reference was long double of glibc (64 bits of mantissa), and mpmath if
// long double is too close to halfway to tell.
//
// A NaN becomes 0x7FC00000, whatever its sign and payload. Denormal results are rounded like
// others; results beyond the range become infinities. Odd functions keep the sign of zero. A square
// root is sqrtf: IEEE defines its bits.
#ifndef QDQ_RUNTIME_NUMERICS_ELEMENTARY_H
#define QDQ_RUNTIME_NUMERICS_ELEMENTARY_H

#include "runtime/numerics/elementary64.h"

static inline float qdq_pick(bool condition, float yes, float no) {
    uint32_t mask = 0 - (uint32_t)condition;
    return qdq_float_from_bits((qdq_float_bits(yes) & mask) | (qdq_float_bits(no) & ~mask));
}

static inline float qdq_nan_if(bool condition, float no) {
    return qdq_pick(condition, qdq_float_from_bits(0x7FC00000u), no);
}

// Clamps before widening: gcc with SSE2 has masks for conditions on float only. NaN stays NaN.
static inline double qdq_clamp32(float v, float low, float high) {
    v = qdq_pick(v < low, low, v);
    return (double)qdq_pick(v > high, high, v);
}

// y with the sign of x. y must be positive or +0, or already have this sign.
static inline float qdq_with_sign_of(float x, float y) {
    return qdq_float_from_bits(qdq_float_bits(y) | (qdq_float_bits(x) & 0x80000000u));
}

static inline float qdq_expf(float x) {
    return qdq_nan_if(x != x, (float)qdq_exp_near64(qdq_clamp32(x, -104.0f, 89.0f)));
}

static inline float qdq_expm1f(float x) {
    float y = (float)qdq_expm1_near64(qdq_clamp32(x, -104.0f, 89.0f));
    return qdq_nan_if(x != x, qdq_with_sign_of(x, y));
}

static inline float qdq_logf(float x) {
    float y = (float)qdq_log_near64((double)x, (double)x - 1.0);
    y = qdq_pick(x == 0.0f, -INFINITY, y);
    y = qdq_pick(x > FLT_MAX, x, y);
    return qdq_nan_if(!(x >= 0.0f), y);
}

static inline float qdq_log1pf(float x) {
    float y = qdq_with_sign_of(x, (float)qdq_log1p_near64((double)x));
    y = qdq_pick(x == -1.0f, -INFINITY, y);
    y = qdq_pick(x > FLT_MAX, x, y);
    return qdq_nan_if(!(x >= -1.0f), y);
}

// With t = e^(2|x|) - 1: t / (t + 2).
static inline float qdq_tanhf(float x) {
    double t = qdq_expm1_near64(2.0 * qdq_clamp32(fabsf(x), 0.0f, 20.0f));
    return qdq_nan_if(x != x, qdq_with_sign_of(x, (float)(t / (t + 2.0))));
}

// x times a quotient of polynomials in x^2 for |x| <= 4, off by 6.5e-17; from 4 on erf rounds to 1.
// All coefficients are positive, so nothing cancels.
static inline float qdq_erff(float x) {
    double a = qdq_clamp32(fabsf(x), 0.0f, 4.0f);
    double z = a * a;
    double p = 0x1.1603b87b38b62p-40 + z * 0x1.a2eb9f1ae5ed5p-50;
    p = 0x1.84fcaa6abadb7p-34 + z * p;
    p = 0x1.24f69a1c89a6ap-28 + z * p;
    p = 0x1.0cb1245436cd7p-23 + z * p;
    p = 0x1.a7af14ead0b9cp-19 + z * p;
    p = 0x1.9e97005d69106p-15 + z * p;
    p = 0x1.9ab5194ec41d8p-11 + z * p;
    p = 0x1.a99607eba8f55p-8 + z * p;
    p = 0x1.080beeee21ff6p-4 + z * p;
    p = 0x1.ba8b6a2beba54p-3 + z * p;
    p = 0x1.20dd750429b6dp+0 + z * p;
    double q = 0x1.78c0cd500d82ap-37 + z * 0x1.fd62ca5c9be2fp-45;
    q = 0x1.63b5c6436bc44p-31 + z * q;
    q = 0x1.a01218ae78418p-26 + z * q;
    q = 0x1.5b79ba0626067p-21 + z * q;
    q = 0x1.b59b196b15d0fp-17 + z * q;
    q = 0x1.a7335286f8de1p-13 + z * q;
    q = 0x1.3912960ed3d4bp-9 + z * q;
    q = 0x1.59cdb6f5b8b7fp-6 + z * q;
    q = 0x1.0e7d641a03d50p-3 + z * q;
    q = 0x1.0cb72467a2a20p-1 + z * q;
    q = 1.0 + z * q;
    return qdq_nan_if(x != x, qdq_with_sign_of(x, (float)(a * (p / q))));
}

// 1 / (1 + e^-x)
static inline float qdq_sigmoidf(float x) {
    double e = qdq_exp_near64(-qdq_clamp32(x, -104.0f, 104.0f));
    return qdq_nan_if(x != x, (float)(1.0 / (1.0 + e)));
}

// x / (1 + e^-x). From -109 on down the result rounds to -0.
static inline float qdq_siluf(float x) {
    double e = qdq_exp_near64(-qdq_clamp32(x, -120.0f, 120.0f));
    float y = (float)((double)x / (1.0 + e));
    return qdq_nan_if(x != x, qdq_pick(x < -120.0f, -0.0f, y));
}

// Always correctly rounded: no result is within an ulp of a double of halfway between two floats.
static inline float qdq_rsqrtf(float x) {
    return qdq_nan_if(!(x >= 0.0f), (float)(1.0 / sqrt((double)x)));
}

// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
static inline float qdq_softplusf(float x) {
    double e = qdq_exp_near64(-qdq_clamp32(fabsf(x), 0.0f, 104.0f));
    double positive = (double)qdq_pick(x > 0.0f, x, 0.0f);
    return qdq_nan_if(x != x, (float)(positive + qdq_log1p_near64(e)));
}

#endif
