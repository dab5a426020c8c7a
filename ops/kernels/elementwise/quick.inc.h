// SPDX-License-Identifier: Apache-2.0
// Quick loops for elementary functions, with the bits of the bodies in elementwise.inc.h.
//
// near_<name> computes a function in double with fused multiply-adds, shorter polynomials and
// reciprocals that begin with an estimate. It differs from the body by less than 2^window units in
// the last place of a double. Both round to the same float unless a point halfway between two
// floats lies within the window (Ziv's test). If an element of a vector is that close, the body
// computes the vector: about one in 200. The body also computes the vector if a result is denormal,
// where floats have other halfway points, if it is NaN, or if an operand is hard_<name>.
// suspect_<name> is a cheaper test, true for these elements and a few others. end_<name> mends the
// float result.
//
// A function has two halves, in separate loops over a block: begin_<name> stores the operands of
// near_<name>. The chain of operations of a whole function is longer than the processor's window
// for reordering.
//
// The coefficients interpolate the function at Chebyshev nodes, as in
// runtime/numerics/elementary64.h. All 2^32 floats were compared with the body, by AVX2 and by
// AVX-512 kernels: no result differs.
#include <float.h>
#include <string.h>

#include "ops/kernels/elementwise/quick_parts.inc.h"

#if defined(QDQ_QUICK_VECTORS)

//---- Functions --------------------------------------------------------------

#define QUICK_WINDOW_exp 15
static inline void begin_exp(quick_two a, double *middle) {
    quick_store_doubles(middle, quick_exp(quick_widen(two_clamp(a, -104.0f, 89.0f))));
}
static inline quick_doubles near_exp(quick_two a, const double *middle) {
    return (void)a, quick_load_doubles(middle);
}
static inline quick_floats end_exp(quick_floats a, quick_floats y) { return (void)a, y; }
static inline quick_mask suspect_exp(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(y, FLT_MIN);
}
static inline quick_mask hard_exp(quick_floats a) { return (void)a, mask_none(); }

#define QUICK_WINDOW_sigmoid 16
static inline void begin_sigmoid(quick_two a, double *middle) {
    quick_two x = two_clamp((quick_two){-a.a, -a.b}, -104.0f, 87.0f);
    quick_store_doubles(middle, quick_exp(quick_widen(x)));
}
static inline quick_doubles near_sigmoid(quick_two a, const double *middle) {
    return (void)a, quick_inverse(quick_add(quick_all(1.0), quick_load_doubles(middle)));
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

// a / (1 + e^-a). Below -87 1 + e^-a comes near the end of the range of the reciprocal.
#define QUICK_WINDOW_silu 16
static inline void begin_silu(quick_two a, double *middle) { begin_sigmoid(a, middle); }
static inline quick_doubles near_silu(quick_two a, const double *middle) {
    return quick_multiply(quick_widen(a), near_sigmoid(a, middle));
}
static inline quick_floats end_silu(quick_floats a, quick_floats y) {
    return quick_if_less(a, -120.0f, -0.0f, y);
}
static inline quick_mask suspect_silu(quick_floats a, quick_floats y) {
    return mask_or(quick_below(a, -87.0f), quick_below(quick_size(y), FLT_MIN));
}
static inline quick_mask hard_silu(quick_floats a) { return quick_between(a, -120.0f, -87.0f); }

// t / (t + 2) with t = e^(2x) - 1
#define QUICK_WINDOW_tanh 16
static inline void begin_tanh(quick_two a, double *middle) {
    quick_doubles x = quick_widen(two_clamp(a, -10.0f, 10.0f)), one = quick_all(1.0);
    quick_exp_parts e = quick_exp_split(quick_add(x, x));
    quick_doubles power = quick_scaled(one, e.exponent), part = quick_multiply(e.rest, e.quotient);
    quick_store_doubles(middle, quick_fma(power, part, quick_subtract(power, one)));
}
static inline quick_doubles near_tanh(quick_two a, const double *middle) {
    quick_doubles t = quick_load_doubles(middle);
    return (void)a, quick_multiply(t, quick_inverse(quick_add(t, quick_all(2.0))));
}
static inline quick_floats end_tanh(quick_floats a, quick_floats y) { return quick_sign_of(a, y); }
static inline quick_mask suspect_tanh(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(quick_size(y), 0.0f);
}
static inline quick_mask hard_tanh(quick_floats a) { return (void)a, mask_none(); }

// a times a quotient of polynomials in a^2, off by 2^-40.7; all coefficients are positive.
#define QUICK_WINDOW_erf 14
static inline void begin_erf(quick_two a, double *middle) {
    static const double above[] = {
        0x1.20dd7504290bdp+0,  0x1.cb4d988eb6140p-3,  0x1.083a0c27f1bfep-4,  0x1.b373c8dc39b41p-8,
        0x1.8403b6261221ep-11, 0x1.7c0b6824cf85cp-15, 0x1.44689184fd943p-19, 0x1.52b1a3666666dp-24,
        0x1.6f87e443dee27p-30, 0x1.7bc1a3e69dc84p-39};
    static const double below[] = {
        0x1.0000000000000p+0,  0x1.106da92550a96p-1,  0x1.13852ed63926dp-3,  0x1.5d85c3265dabep-6,
        0x1.346613ee91c6ap-9,  0x1.8b409cf0f50fbp-13, 0x1.725ba9ac99b80p-17, 0x1.ea089a6138186p-22,
        0x1.9acaa9c3d1673p-27, 0x1.8d72e2172b44cp-34};
    quick_doubles x = quick_widen(two_clamp(a, -4.0f, 4.0f)), z = quick_multiply(x, x);
    quick_doubles p = quick_polynomial(z, above, sizeof above / sizeof *above);
    quick_store_doubles(middle, quick_multiply(x, p));
    p = quick_polynomial(z, below, sizeof below / sizeof *below);
    quick_store_doubles(middle + QUICK_TWO, p);
}
static inline quick_doubles near_erf(quick_two a, const double *middle) {
    quick_doubles q = quick_inverse(quick_load_doubles(middle + QUICK_TWO));
    return (void)a, quick_multiply(quick_load_doubles(middle), q);
}
static inline quick_floats end_erf(quick_floats a, quick_floats y) { return quick_sign_of(a, y); }
static inline quick_mask suspect_erf(quick_floats a, quick_floats y) {
    return (void)a, (void)y, quick_below(quick_size(y), FLT_MIN);
}
static inline quick_mask hard_erf(quick_floats a) { return (void)a, mask_none(); }

// max(a, 0) - x * tail with x = |a| and the tail erfc(x / sqrt 2) / 2 = e^(-x^2 / 2) * u * p(u),
// where u = 1 / (x + 5.25). The polynomial p is off by 2^-37.6 for x up to 8. From there on the
// tail does not change the result.
#define QUICK_WINDOW_gelu_erf 16
static inline void begin_gelu_erf(quick_two a, double *middle) {
    quick_two size = two_lesser(two_same(8.0f), two_size(a));
    quick_two near = two_add(size, two_same(5.25f));
    quick_doubles x = quick_widen(size);
    quick_doubles u = quick_inverse_near(quick_add(x, quick_all(5.25)), near);
    quick_doubles e = quick_exp_of_half(quick_multiply(x, x));
    quick_store_doubles(middle, u);
    quick_store_doubles(middle + QUICK_TWO, quick_multiply(quick_multiply(x, u), e));
}
static inline quick_doubles near_gelu_erf(quick_two a, const double *middle) {
    static const double c[] = {
        0x1.982e21dd6210fp-2,   0x1.108568e95484cp+1,   0x1.1e1d50a92a953p+3,
        0x1.8bd1460e2b524p+6,   -0x1.4fa5a11650e3bp+9,  0x1.9e4dba4b7bee5p+13,
        -0x1.b9e5490a1988dp+16, 0x1.92c0a1d12d44ep+19,  -0x1.d55bccb596309p+21,
        0x1.8120ca6630ef0p+23,  -0x1.5ad28e9905d85p+24, 0x1.f76738a779ce5p+23};
    quick_doubles u = quick_load_doubles(middle), factor = quick_load_doubles(middle + QUICK_TWO);
    quick_doubles p = quick_polynomial(u, c, sizeof c / sizeof *c);
    return quick_fnma(factor, p, quick_widen(two_greater(two_same(0.0f), a)));
}
static inline quick_floats end_gelu_erf(quick_floats a, quick_floats y) {
    return quick_if_less(a, -14.5f, -0.0f, quick_sign_of(a, y));
}
static inline quick_mask suspect_gelu_erf(quick_floats a, quick_floats y) {
    return mask_or(quick_below(a, -8.0f), quick_below(quick_size(y), FLT_MIN));
}
static inline quick_mask hard_gelu_erf(quick_floats a) { return quick_between(a, -14.5f, -8.0f); }

// a / (1 + e^(-2u)), where -2u = x * (c + d * x^2)
#define QUICK_WINDOW_gelu_tanh 16
static inline void begin_gelu_tanh(quick_two a, double *middle) {
    const double c = -2.0 * 0.7978845608, d = c * 0.044715;
    quick_doubles x = quick_widen(two_clamp(a, -9.875f, 12.0f));
    quick_doubles u = quick_fma(quick_multiply(x, x), quick_all(d), quick_all(c));
    quick_store_doubles(middle, quick_exp(quick_multiply(x, u)));
}
static inline quick_doubles near_gelu_tanh(quick_two a, const double *middle) {
    quick_doubles below = quick_add(quick_all(1.0), quick_load_doubles(middle));
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

// A loop over floats; `body` is the loop with the body. The first half of a function stores one or
// two doubles for each element of a block.
enum { QUICK_BLOCK = 128 };
#define QUICK_LOOP(name, body)                                                                     \
    static inline void QDQ_ISA_NAME(quick_end_##name)(quick_floats a, quick_wide near, float *y) { \
        quick_floats v = wide_narrow(near);                                                        \
        quick_mask doubtful = quick_doubtful(near, QUICK_WINDOW_##name);                           \
        quick_store(y, end_##name(a, v));                                                          \
        if (!mask_any(mask_or(doubtful, suspect_##name(a, v)))) return;                            \
        if (!mask_any(mask_or(doubtful, mask_or(hard_##name(a), quick_odd(v))))) return;           \
        quick_store(y, a);                                                                         \
        body(NULL, y, NULL, NULL, y, QUICK_LANES);                                                 \
    }                                                                                              \
    static void QDQ_ISA_NAME(quick_block_##name)(const float *x, float *y, size_t n) {             \
        _Alignas(64) double middle[2 * QUICK_BLOCK];                                               \
        for (size_t i = 0; i < n; i += QUICK_TWO) begin_##name(two_load(x + i), middle + 2 * i);   \
        for (size_t i = 0; i < n; i += QUICK_TWO) {                                                \
            quick_two a = two_load(x + i);                                                         \
            quick_doubles near = near_##name(a, middle + 2 * i);                                   \
            QDQ_ISA_NAME(quick_end_##name)(a.a, near.a, y + i);                                    \
            QDQ_ISA_NAME(quick_end_##name)(a.b, near.b, y + i + QUICK_LANES);                      \
        }                                                                                          \
    }                                                                                              \
    static void QDQ_ISA_NAME(quick_##name)(const qdq_elementwise_numbers *numbers,                 \
                                           const void *from, const void *b, const uint32_t *c,     \
                                           void *to, size_t n) {                                   \
        const float *x = from;                                                                     \
        float *y = to, last[QUICK_TWO] = {0};                                                      \
        const size_t rest = n % QUICK_TWO;                                                         \
        (void)numbers, (void)b, (void)c;                                                           \
        for (n -= rest; n > 0;) {                                                                  \
            const size_t part = n < QUICK_BLOCK ? n : QUICK_BLOCK;                                 \
            QDQ_ISA_NAME(quick_block_##name)(x, y, part);                                          \
            n -= part, x += part, y += part;                                                       \
        }                                                                                          \
        if (!rest) return;                                                                         \
        memcpy(last, x, rest * sizeof *x);                                                         \
        QDQ_ISA_NAME(quick_block_##name)(last, last, QUICK_TWO);                                   \
        memcpy(y, last, rest * sizeof *y);                                                         \
    }

#endif
