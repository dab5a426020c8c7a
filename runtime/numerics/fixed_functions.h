// SPDX-License-Identifier: Apache-2.0
// Functions in fixed point as gemmlowp has them, for the kernels of TensorFlow Lite that have no
// floats. Results are in steps of 2^-31. Source: fixedpoint.h.
#ifndef QDQ_RUNTIME_NUMERICS_FIXED_FUNCTIONS_H
#define QDQ_RUNTIME_NUMERICS_FIXED_FUNCTIONS_H

#include "runtime/numerics/fixed_point.h"

static inline int32_t qdq_fixed_saturate(int64_t v) {
    return (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
}

// e^a; a is 0 or less, in steps of 2^(whole - 31), with 4 or 5 whole bits.
static inline int32_t qdq_fixed_exp(int32_t a, int whole) {
    // e^-(2^k) in steps of 2^-31, for k from -2 on.
    static const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308,
                                      39332535,   720401,     242};
    const int32_t e_eighth = 1895147668;  // e^-1/8
    const int quarter_bit = 29 - whole;
    if (a == 0) return INT32_MAX;
    int32_t quarter = 1 << quarter_bit,
            fraction = (int32_t)((uint32_t)a & (uint32_t)(quarter - 1)) - quarter;
    int32_t x = fraction * (1 << whole) + (1 << 28), x2 = qdq_high_product(x, x);
    int32_t x3 = qdq_high_product(x2, x), x4 = qdq_high_product(x2, x2);
    int32_t p = qdq_high_product(qdq_shifted_away(x4, 2) + x3, 715827883) + x2;
    int32_t y = e_eighth + qdq_high_product(e_eighth, x + qdq_shifted_away(p, 1));
    uint32_t rest = (uint32_t)fraction - (uint32_t)a;
    for (int i = 0; i < whole + 2; i++)
        if (rest >> (quarter_bit + i) & 1) y = qdq_high_product(y, factors[i]);
    return y;
}

// 2 / (1 + a) in steps of 2^-29, by three of Newton's steps; a is 0 to 1.
static inline int32_t qdq_fixed_twice_reciprocal(int32_t a) {
    int64_t sum = (int64_t)a + INT32_MAX;
    int32_t half = (int32_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
    int32_t y = 1515870810 + qdq_high_product(half, -1010580540);
    for (int i = 0; i < 3; i++) {
        int32_t error = (1 << 29) - qdq_high_product(half, y);
        y += qdq_fixed_saturate((int64_t)qdq_high_product(y, error) * 4);
    }
    return y;
}

// 1 / (1 + a); a is 0 to 1.
static inline int32_t qdq_fixed_reciprocal(int32_t a) {
    return qdq_fixed_saturate((int64_t)qdq_fixed_twice_reciprocal(a) * 2);
}

// The logistic function of a, in steps of 2^-27.
static inline int32_t qdq_fixed_logistic(int32_t a) {
    if (a == 0) return 1 << 30;
    int32_t y = qdq_fixed_reciprocal(qdq_fixed_exp(a > 0 ? -a : a, 4));
    return a > 0 ? y : INT32_MAX - y;
}

// The hyperbolic tangent of a, in steps of 2^-27: of |a| it is 2 / (1 + e^(-2 |a|)) - 1.
static inline int32_t qdq_fixed_tanh(int32_t a) {
    if (a == 0) return 0;
    int32_t twice = qdq_fixed_twice_reciprocal(qdq_fixed_exp(a > 0 ? -a : a, 5));
    int32_t y = qdq_fixed_saturate(((int64_t)twice - (1 << 29)) * 4);
    return a > 0 ? y : -y;
}

#endif
