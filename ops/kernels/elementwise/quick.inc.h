// SPDX-License-Identifier: Apache-2.0
// Quick loops for elementary functions, with the bits of the bodies in elementwise.inc.h.
//
// near_<name> computes a function in double with fused multiply-adds, shorter polynomials and
// reciprocals that begin with an estimate. It differs from the body by less than 2^window units in
// the last place of a double. Both round to the same float unless a point halfway between two
// floats lies within the window (Ziv's test). If an element of a vector is that close, the body
// computes the vector: about one in 200. So it does if a result is denormal, where the halfway
// points are others, if it is NaN, or if an operand is hard_<name>. suspect_<name> is a cheaper
// test, true for these and for a few others. end_<name> mends the float result.
//
// The coefficients interpolate the function at Chebyshev nodes, as in
// runtime/numerics/elementary64.h. All 2^32 floats were compared with the body, by AVX2 and by
// AVX-512 kernels: no result differs.
#include <float.h>

#include "ops/kernels/elementwise/quick_parts.inc.h"

#if defined(QDQ_QUICK_VECTORS)

//---- Functions --------------------------------------------------------------

#define QUICK_WINDOW_exp 15
static inline quick_doubles near_exp(quick_floats a) {
    return quick_exp(quick_widen(quick_clamp(a, -104.0f, 89.0f)));
}
static inline quick_floats end_exp(quick_floats a, quick_floats y) { return (void)a, y; }
static inline quick_mask suspect_exp(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(y, FLT_MIN);
}
static inline quick_mask hard_exp(quick_floats a) { return (void)a, mask_none(); }

#define QUICK_WINDOW_sigmoid 16
static inline quick_doubles near_sigmoid(quick_floats a) {
    quick_doubles x = quick_widen(-quick_clamp(a, -87.0f, 104.0f));
    return quick_inverse(quick_add(quick_all(1.0), quick_exp(x)));
}
static inline quick_floats end_sigmoid(quick_floats a, quick_floats y) {
    return quick_if_less(a, -104.0f, 0.0f, y);
}
static inline quick_mask suspect_sigmoid(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(a, -87.0f);
}
static inline quick_mask hard_sigmoid(quick_floats a) {
    return (void)a, quick_between(a, -104.0f, -87.0f);
}

// t / (t + 2) with t = e^(2x) - 1
#define QUICK_WINDOW_tanh 16
static inline quick_doubles near_tanh(quick_floats a) {
    quick_doubles x = quick_widen(quick_clamp(a, -10.0f, 10.0f));
    quick_exp_parts e = quick_exp_split(quick_add(x, x));
    quick_doubles one = quick_all(1.0), power = quick_scaled(one, e.exponent);
    quick_doubles t =
        quick_fma(power, quick_multiply(e.rest, e.quotient), quick_subtract(power, one));
    return quick_multiply(t, quick_inverse(quick_add(t, quick_all(2.0))));
}
static inline quick_floats end_tanh(quick_floats a, quick_floats y) { return quick_sign_of(a, y); }
static inline quick_mask suspect_tanh(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(quick_size(y), 0.0f);
}
static inline quick_mask hard_tanh(quick_floats a) { return (void)a, mask_none(); }

// a times a quotient of polynomials in a^2, off by 2^-40.7; all coefficients are positive.
#define QUICK_WINDOW_erf 14
static inline quick_doubles near_erf(quick_floats a) {
    static const double above[] = {
        0x1.20dd7504290bdp+0,  0x1.cb4d988eb6140p-3,  0x1.083a0c27f1bfep-4,  0x1.b373c8dc39b41p-8,
        0x1.8403b6261221ep-11, 0x1.7c0b6824cf85cp-15, 0x1.44689184fd943p-19, 0x1.52b1a3666666dp-24,
        0x1.6f87e443dee27p-30, 0x1.7bc1a3e69dc84p-39};
    static const double below[] = {
        0x1.0000000000000p+0,  0x1.106da92550a96p-1,  0x1.13852ed63926dp-3,  0x1.5d85c3265dabep-6,
        0x1.346613ee91c6ap-9,  0x1.8b409cf0f50fbp-13, 0x1.725ba9ac99b80p-17, 0x1.ea089a6138186p-22,
        0x1.9acaa9c3d1673p-27, 0x1.8d72e2172b44cp-34};
    quick_doubles x = quick_widen(quick_clamp(a, -4.0f, 4.0f)), z = quick_multiply(x, x);
    quick_doubles q = quick_inverse(quick_polynomial(z, below, sizeof below / sizeof *below));
    return quick_multiply(quick_multiply(x, q),
                          quick_polynomial(z, above, sizeof above / sizeof *above));
}
static inline quick_floats end_erf(quick_floats a, quick_floats y) { return quick_sign_of(a, y); }
static inline quick_mask suspect_erf(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(quick_size(y), FLT_MIN);
}
static inline quick_mask hard_erf(quick_floats a) { return (void)a, mask_none(); }

// The tail erfc(x / sqrt 2) / 2 = e^(-x^2 / 2) * u * p(t) with u = 1 / (x + 5), t = 1 - 10 * u. The
// polynomial p is off by 2^-39.6. `a` is x in floats, which the estimate of u is made of.
static inline quick_doubles quick_tail(quick_floats a, quick_doubles x) {
    static const double c[] = {
        0x1.89d3abe1f9692p-1,  -0x1.54ad03f264808p-1,  0x1.fb316537c854ep-2,
        -0x1.410ed604b171ep-2, 0x1.51f632e60b811p-3,   -0x1.1b1c216ad784dp-4,
        0x1.54b4b4077736ap-6,  -0x1.885deb63de3a0p-9,  -0x1.a2391e91522bbp-11,
        0x1.1e1b7e600ebebp-11, -0x1.f412c0b38df1ep-15, -0x1.b5370de61e386p-15,
        0x1.072e00d9161bdp-16, 0x1.bf562e89ed1b3p-18};
    quick_doubles near = quick_widen(quick_estimate_floats(a + quick_same(5.0f)));
    quick_doubles u = quick_inverse_from(quick_add(x, quick_all(5.0)), near);
    quick_doubles t = quick_fma(u, quick_all(-10.0), quick_all(1.0));
    quick_doubles e = quick_exp_of_half(quick_multiply(x, x));
    return quick_multiply(e, quick_multiply(u, quick_polynomial(t, c, sizeof c / sizeof *c)));
}

// max(a, 0) - |a| * tail
#define QUICK_WINDOW_gelu_erf 16
static inline quick_doubles near_gelu_erf(quick_floats a) {
    quick_floats size = quick_lesser(quick_same(15.0f), quick_size(a));
    quick_doubles x = quick_widen(size);
    return quick_fnma(x, quick_tail(size, x), quick_widen(quick_greater(quick_same(0.0f), a)));
}
static inline quick_floats end_gelu_erf(quick_floats a, quick_floats y) {
    return quick_sign_of(a, y);
}
static inline quick_mask suspect_gelu_erf(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(quick_size(y), FLT_MIN);
}
static inline quick_mask hard_gelu_erf(quick_floats a) { return (void)a, mask_none(); }

// a / (1 + e^(-2u)), where -2u = x * (c + d * x^2)
#define QUICK_WINDOW_gelu_tanh 16
static inline quick_doubles near_gelu_tanh(quick_floats a) {
    const double c = -2.0 * 0.7978845608, d = c * 0.044715;
    quick_doubles x = quick_widen(quick_clamp(a, -9.875f, 12.0f));
    quick_doubles u = quick_fma(quick_multiply(x, x), quick_all(d), quick_all(c));
    quick_doubles below = quick_add(quick_all(1.0), quick_exp(quick_multiply(x, u)));
    return quick_multiply(quick_widen(a), quick_inverse(below));
}
// GELU of a tiny a is a / 2. Pairs would lose their lower floats, which are denormal.
static inline quick_floats end_gelu_tanh(quick_floats a, quick_floats y) {
    y = quick_pick_less(quick_size(a), 0x1p-60f, a * quick_same(0.5f), y);
    return quick_if_less(a, -11.5f, -0.0f, y);
}
static inline quick_mask suspect_gelu_tanh(quick_floats a, quick_floats y) {
    return (void)a, (void)y, mask_or(quick_below(a, -9.875f), quick_below(quick_size(y), FLT_MIN));
}
static inline quick_mask hard_gelu_tanh(quick_floats a) {
    return (void)a, quick_between(a, -11.5f, -9.875f);
}

//---- Loops ------------------------------------------------------------------

// A loop over floats; `body` is the loop with the body.
#define QUICK_LOOP(name, body)                                                                 \
    static void QDQ_ISA_NAME(quick_##name)(const qdq_elementwise_numbers *numbers,             \
                                           const void *from, const void *b, const uint32_t *c, \
                                           void *to, size_t n) {                               \
        const float *x = from;                                                                 \
        float *y = to;                                                                         \
        for (; n >= QUICK_LANES; n -= QUICK_LANES, x += QUICK_LANES, y += QUICK_LANES) {       \
            quick_floats a = quick_load(x);                                                    \
            quick_doubles near = near_##name(a);                                               \
            quick_floats v = quick_narrow(near);                                               \
            quick_mask doubtful = quick_doubtful(near, QUICK_WINDOW_##name);                   \
            if (mask_any(mask_or(doubtful, suspect_##name(a, v))) &&                           \
                mask_any(mask_or(doubtful, mask_or(hard_##name(a), quick_odd(v)))))            \
                body(numbers, x, b, c, y, QUICK_LANES);                                        \
            else                                                                               \
                quick_store(y, end_##name(a, v));                                              \
        }                                                                                      \
        body(numbers, x, b, c, y, n);                                                          \
    }

#endif
