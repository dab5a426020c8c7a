// SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions of float32, their inverses, and powers, computed in double and rounded once,
// with the same bits on every instruction set and compiler, and without branches, as in
// elementary.h. At most 0.500001 ulp off; powers 0.50001.
#ifndef QDQ_RUNTIME_NUMERICS_HYPERBOLIC_H
#define QDQ_RUNTIME_NUMERICS_HYPERBOLIC_H

#include "runtime/numerics/elementary.h"

// With t = e^|x| - 1: (t + t / (t + 1)) / 2.
static inline float qdq_sinhf(float x) {
    double t = qdq_expm1_near64(qdq_clamp32(fabsf(x), 0.0f, 90.0f));
    return qdq_nan_if(x != x, qdq_with_sign_of(x, (float)(0.5 * (t + t / (t + 1.0)))));
}

static inline float qdq_coshf(float x) {
    double e = qdq_exp_near64(qdq_clamp32(fabsf(x), 0.0f, 90.0f));
    return qdq_nan_if(x != x, (float)(0.5 * (e + 1.0 / e)));
}

// ln(|x| + sqrt(x^2 + 1)) = ln(1 + |x| + x^2 / (1 + sqrt(x^2 + 1)))
static inline float qdq_asinhf(float x) {
    double a = (double)fabsf(x), square = a * a;
    float y = (float)qdq_log1p_near64(a + square / (1.0 + sqrt(square + 1.0)));
    y = qdq_pick(fabsf(x) > FLT_MAX, INFINITY, y);
    return qdq_nan_if(x != x, qdq_with_sign_of(x, y));
}

// With t = x - 1: ln(1 + t + sqrt(t * (t + 2))).
static inline float qdq_acoshf(float x) {
    double t = (double)x - 1.0;
    float y = (float)qdq_log1p_near64(t + sqrt(t * (t + 2.0)));
    y = qdq_pick(x > FLT_MAX, INFINITY, y);
    return qdq_nan_if(!(x >= 1.0f), y);
}

// ln(1 + 2|x| / (1 - |x|)) / 2
static inline float qdq_atanhf(float x) {
    double a = (double)fabsf(x);
    float y = (float)(0.5 * qdq_log1p_near64(2.0 * a / (1.0 - a)));
    y = qdq_pick(fabsf(x) == 1.0f, INFINITY, y);
    return qdq_nan_if(!(fabsf(x) <= 1.0f), qdq_with_sign_of(x, y));
}

// |x|^y = e^(y * ln |x|), with the sign of x for an odd y. x^2 and x^3 are products, which are
// exact where they are halfway between two floats. Limits are as in C's pow: x^0 and 1^y are 1 even
// for NaN, and so is (-1)^(±infinity); a negative x to a y that is not whole is NaN.
static inline float qdq_powf(float x, float y) {
    double a = (double)fabsf(x);
    double log = qdq_log_near64(a, a - 1.0);
    log = qdq_pick64(x == 0.0f, -(double)INFINITY, log);
    log = qdq_pick64(a > (double)FLT_MAX, (double)INFINITY, log);
    float z = (float)qdq_exp_near64(qdq_clamp64((double)y * log, -110.0, 90.0));
    z = qdq_pick(fabsf(x) == 1.0f, 1.0f, z);
    bool is_whole = y == floorf(y), is_odd = is_whole && y * 0.5f != floorf(y * 0.5f);
    z = qdq_pick(signbit(x) && is_odd, -z, z);
    z = qdq_nan_if(x < 0.0f && x >= -FLT_MAX && !is_whole, z);
    z = qdq_nan_if(x != x || y != y, z);
    double square = (double)x * (double)x;
    z = qdq_pick(y == 2.0f && x == x, (float)square, z);
    z = qdq_pick(y == 3.0f && x == x, (float)(square * (double)x), z);
    return qdq_pick(y == 0.0f || x == 1.0f, 1.0f, z);
}

#endif
