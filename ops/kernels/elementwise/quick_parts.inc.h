// SPDX-License-Identifier: Apache-2.0
// Parts of quick loops, in vectors of doubles: exponentials, reciprocals, and the test that a
// double surely rounds to the right float.
//
// The coefficients interpolate the function at Chebyshev nodes, as in
// runtime/numerics/elementary64.h.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_PARTS_INC_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_PARTS_INC_H

#include "ops/kernels/elementwise/quick_two.inc.h"
#include "runtime/numerics/elementary64.h"

#if defined(QDQ_QUICK_VECTORS)

// c[0] + c[1] * x + ... + c[n - 1] * x^(n - 1)
static inline quick_doubles quick_polynomial(quick_doubles x, const double *c, size_t n) {
    quick_doubles y = quick_all(c[n - 1]);
    for (size_t i = n - 1; i-- > 0;) y = quick_fma(x, y, quick_all(c[i]));
    return y;
}

// 1 / d, off by 2^-44, for 2^-126 <= d < 2^126. From an estimate y, off by 2^-11: with
// e = 1 - d * y, y * (1 + e) * (1 + e^2).
static inline quick_doubles quick_inverse(quick_doubles d) {
    quick_doubles y = quick_estimate(d), e = quick_fnma(d, y, quick_all(1.0));
    y = quick_fma(y, e, y);
    return quick_fma(y, quick_multiply(e, e), y);
}

// x = exponent * ln 2 + rest, where the low bits of `exponent` hold the exponent and the rest is at
// most ln(2) / 2; e^rest - 1 is rest * quotient.
typedef struct quick_exp_parts {
    quick_doubles exponent, rest, quotient;
} quick_exp_parts;

// Splits factor * x, which is at most 700. The factor is a power of 2. The rest is divided by it,
// and the polynomial c of this rest has the factor in its coefficients.
static inline quick_exp_parts quick_exp_split_by(quick_doubles x, double factor, const double *c,
                                                 size_t n) {
    quick_doubles to_whole = quick_all(QDQ_TO_WHOLE);
    quick_doubles t = quick_fma(x, quick_all(0x1.71547652b82fep+0 * factor), to_whole);
    quick_doubles whole = quick_subtract(t, to_whole);
    quick_doubles r = quick_fnma(whole, quick_all(0x1.62e42fefa39efp-1 / factor), x);
    return (quick_exp_parts){t, r, quick_polynomial(r, c, n)};
}

// The quotient is off by 2^-37.5.
static inline quick_exp_parts quick_exp_split(quick_doubles x) {
    static const double c[] = {0x1.fffffffff61fdp-1,  0x1.fffffffffe069p-2, 0x1.5555557e71355p-3,
                               0x1.55555565c5602p-5,  0x1.1110a62213e0dp-7, 0x1.6c166be7451fep-10,
                               0x1.a17df318bb0c4p-13, 0x1.a136b08f4d167p-16};
    return quick_exp_split_by(x, 1.0, c, sizeof c / sizeof *c);
}

static inline quick_doubles quick_exp_join(quick_exp_parts e) {
    return quick_scaled(quick_fma(e.rest, e.quotient, quick_all(1.0)), e.exponent);
}

// e^x, off by 2^-38.7.
static inline quick_doubles quick_exp(quick_doubles x) {
    return quick_exp_join(quick_exp_split(x));
}

// 1 / d, off by 2^-44. An estimate of the float near it is improved in floats first.
static inline quick_doubles quick_inverse_near(quick_doubles d, quick_two near) {
    quick_two y = two_estimate(near);
    y = two_fused(y, two_less(near, y, two_same(1.0f)), y);
    quick_doubles u = quick_widen(y);
    return quick_fma(u, quick_fnma(d, u, quick_all(1.0)), u);
}

// e^(-x / 2), off by 2^-38.7: the coefficients above, times powers of -1/2.
static inline quick_doubles quick_exp_of_half(quick_doubles x) {
    static const double c[] = {-0x1.fffffffff61fdp-2,  0x1.fffffffffe069p-4,
                               -0x1.5555557e71355p-6,  0x1.55555565c5602p-9,
                               -0x1.1110a62213e0dp-12, 0x1.6c166be7451fep-16,
                               -0x1.a17df318bb0c4p-20, 0x1.a136b08f4d167p-24};
    return quick_exp_join(quick_exp_split_by(x, -0.5, c, sizeof c / sizeof *c));
}

// e^x, off by 2^-44.
static inline quick_doubles quick_close_exp(quick_doubles x) {
    static const double c[] = {0x1.0000000000000p+0,  0x1.fffffffff71cfp-2,  0x1.5555555553b7dp-3,
                               0x1.5555557428e4ap-5,  0x1.1111111c45d9fp-7,  0x1.6c164df426e43p-10,
                               0x1.a019adabe6699p-13, 0x1.a15a4fc103094p-16, 0x1.72c720d005e4bp-19};
    return quick_exp_join(quick_exp_split_by(x, 1.0, c, sizeof c / sizeof *c));
}

// True if a point halfway between two floats lies within 2^window units in the last place of y: the
// low 29 bits of the double are then 2^28, plus or minus 2^window.
static inline quick_mask quick_doubtful(quick_wide y, int window) {
    const int32_t half = 1 << 28, size = 1 << window;
    return wide_low_zeros(y, half + size, 2 * half - 2 * size);
}

#endif

#endif
