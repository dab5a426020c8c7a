// SPDX-License-Identifier: Apache-2.0
// The functions of map.h, included by one file per instruction set, which defines QDQ_BODY(name)
// and is compiled for it. Each is one expression of IEEE operations without branches, so that
// compilers turn its loop into vectors and all of them give the same bits.
#include <math.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/numerics/elementary.h"

#define ELEMENTWISE_DECLARE(name) qdq_elementwise_fn QDQ_BODY(elementwise_##name);
QDQ_ELEMENTWISE_LIST(ELEMENTWISE_DECLARE)

#define ELEMENTWISE_ONE(name) \
    static inline float one_##name(const qdq_elementwise_numbers *p, float a, float b)

// Terms that a function does not look at.
#define ELEMENTWISE_USES_A (void)p, (void)b
#define ELEMENTWISE_USES_NUMBERS (void)b
#define ELEMENTWISE_USES_B (void)p

ELEMENTWISE_ONE(abs) {
    ELEMENTWISE_USES_A;
    return fabsf(a);
}
ELEMENTWISE_ONE(exp) {
    ELEMENTWISE_USES_A;
    return qdq_expf(a);
}
ELEMENTWISE_ONE(log) {
    ELEMENTWISE_USES_A;
    return qdq_logf(a);
}
ELEMENTWISE_ONE(sqrt) {
    ELEMENTWISE_USES_A;
    return sqrtf(a);
}
ELEMENTWISE_ONE(square) {
    ELEMENTWISE_USES_A;
    return a * a;
}
ELEMENTWISE_ONE(tanh) {
    ELEMENTWISE_USES_A;
    return qdq_tanhf(a);
}
ELEMENTWISE_ONE(sigmoid) {
    ELEMENTWISE_USES_A;
    return qdq_sigmoidf(a);
}
// -0 becomes +0.
ELEMENTWISE_ONE(relu) {
    ELEMENTWISE_USES_A;
    return a <= 0.0f ? 0.0f : a;
}
ELEMENTWISE_ONE(reciprocal) {
    ELEMENTWISE_USES_A;
    return 1.0f / a;
}
// Adding and taking away 2^23 rounds half to even what is smaller; the rest is whole.
ELEMENTWISE_ONE(round) {
    ELEMENTWISE_USES_A;
    float magnitude = fabsf(a), whole = (magnitude + 0x1p23f) - 0x1p23f;
    whole = magnitude < 0x1p23f ? whole : magnitude;
    return copysignf(whole, a);
}
// In double: the product has no rounding but the last.
ELEMENTWISE_ONE(hard_swish) {
    ELEMENTWISE_USES_A;
    double part = (double)a / 6.0 + 0.5;
    part = qdq_clamp64(part, 0.0, 1.0);
    return (float)((double)a * part);
}
// With u = 1 + e^a: tanh(ln u) = (u^2 - 1) / (u^2 + 1), where u^2 - 1 = e^a * (e^a + 2).
ELEMENTWISE_ONE(mish) {
    ELEMENTWISE_USES_A;
    double e = qdq_exp_near64(qdq_clamp64((double)a, -120.0, 40.0));
    double t = e * (e + 2.0);
    return (float)qdq_pick64(a < -120.0f, -0.0, (double)a * (t / (t + 2.0)));
}
ELEMENTWISE_ONE(leaky_relu) {
    ELEMENTWISE_USES_NUMBERS;
    return a > 0.0f ? a : p->alpha * a;
}
ELEMENTWISE_ONE(elu) {
    ELEMENTWISE_USES_NUMBERS;
    double below = (double)p->alpha * qdq_expm1_near64(qdq_clamp64((double)a, -104.0, 0.0));
    return a > 0.0f ? a : (float)(a == 0.0f ? (double)p->alpha * (double)a : below);
}
ELEMENTWISE_ONE(hard_sigmoid) {
    ELEMENTWISE_USES_NUMBERS;
    return (float)qdq_clamp64((double)p->alpha * (double)a + (double)p->beta, 0.0, 1.0);
}
ELEMENTWISE_ONE(clamp) {
    ELEMENTWISE_USES_NUMBERS;
    float v = a < p->alpha ? p->alpha : a;
    return v > p->beta ? p->beta : v;
}
// a / 2 * (1 + erf(a / sqrt 2)), which is a / 2 * erfc(-a / sqrt 2).
ELEMENTWISE_ONE(gelu_erf) {
    ELEMENTWISE_USES_A;
    double x = qdq_clamp64((double)a, -30.0, 30.0);
    double y = 0.5 * (double)a * qdq_erfc_near64(x * -0x1.6a09e667f3bcdp-1);
    return (float)qdq_pick64(a < -30.0f, -0.0, y);
}
// a / 2 * (1 + tanh u) = a / (1 + e^(-2u)).
ELEMENTWISE_ONE(gelu_tanh) {
    ELEMENTWISE_USES_A;
    double x = qdq_clamp64((double)a, -30.0, 30.0);
    double u = 0.7978845608 * (x + 0.044715 * (x * x * x));
    double y = (double)a / (1.0 + qdq_exp_near64(qdq_clamp64(-2.0 * u, -300.0, 300.0)));
    return (float)qdq_pick64(a < -30.0f, -0.0, y);
}
ELEMENTWISE_ONE(add) {
    ELEMENTWISE_USES_B;
    return a + b;
}
ELEMENTWISE_ONE(subtract) {
    ELEMENTWISE_USES_B;
    return a - b;
}
ELEMENTWISE_ONE(multiply) {
    ELEMENTWISE_USES_B;
    return a * b;
}
ELEMENTWISE_ONE(divide) {
    ELEMENTWISE_USES_B;
    return a / b;
}
// Of +0 and -0 the lesser is -0. A NaN wins: a sum with one is NaN.
ELEMENTWISE_ONE(minimum) {
    ELEMENTWISE_USES_B;
    float zero = qdq_float_from_bits(qdq_float_bits(a) | qdq_float_bits(b));
    float v = a < b ? a : b < a ? b : a == b ? zero : a + b;
    return v;
}
ELEMENTWISE_ONE(maximum) {
    ELEMENTWISE_USES_B;
    float zero = qdq_float_from_bits(qdq_float_bits(a) & qdq_float_bits(b));
    float v = a > b ? a : b > a ? b : a == b ? zero : a + b;
    return v;
}
ELEMENTWISE_ONE(greater_equal) {
    ELEMENTWISE_USES_B;
    return a >= b ? 1.0f : 0.0f;
}
ELEMENTWISE_ONE(prelu) {
    ELEMENTWISE_USES_B;
    return a > 0.0f ? a : b * a;
}

#define ELEMENTWISE_LOOP(name)                                                                 \
    void QDQ_BODY(elementwise_##name)(const qdq_elementwise_numbers *numbers, const float *a,  \
                                      const float *b, const uint32_t *c, float *y, size_t n) { \
        (void)b, (void)c;                                                                      \
        for (size_t i = 0; i < n; i++) {                                                       \
            float v = one_##name(numbers, a[i], ELEMENTWISE_B(b, i));                          \
            y[i] = qdq_nan_if(v != v, v);                                                      \
        }                                                                                      \
    }

#define ELEMENTWISE_B(b, i) 0.0f
ELEMENTWISE_LOOP(abs)
ELEMENTWISE_LOOP(exp)
ELEMENTWISE_LOOP(log)
ELEMENTWISE_LOOP(sqrt)
ELEMENTWISE_LOOP(square)
ELEMENTWISE_LOOP(tanh)
ELEMENTWISE_LOOP(sigmoid)
ELEMENTWISE_LOOP(relu)
ELEMENTWISE_LOOP(reciprocal)
ELEMENTWISE_LOOP(round)
ELEMENTWISE_LOOP(hard_swish)
ELEMENTWISE_LOOP(mish)
ELEMENTWISE_LOOP(leaky_relu)
ELEMENTWISE_LOOP(elu)
ELEMENTWISE_LOOP(hard_sigmoid)
ELEMENTWISE_LOOP(clamp)
ELEMENTWISE_LOOP(gelu_erf)
ELEMENTWISE_LOOP(gelu_tanh)
#undef ELEMENTWISE_B
#define ELEMENTWISE_B(b, i) (b)[i]
ELEMENTWISE_LOOP(add)
ELEMENTWISE_LOOP(subtract)
ELEMENTWISE_LOOP(multiply)
ELEMENTWISE_LOOP(divide)
ELEMENTWISE_LOOP(minimum)
ELEMENTWISE_LOOP(maximum)
ELEMENTWISE_LOOP(greater_equal)
ELEMENTWISE_LOOP(prelu)

void QDQ_BODY(elementwise_select)(const qdq_elementwise_numbers *numbers, const float *a,
                                  const float *b, const uint32_t *c, float *y, size_t n) {
    (void)numbers;
    for (size_t i = 0; i < n; i++) {
        uint32_t mask = c[i] ? UINT32_MAX : 0;
        y[i] = qdq_float_from_bits((qdq_float_bits(a[i]) & mask) | (qdq_float_bits(b[i]) & ~mask));
    }
}
