// SPDX-License-Identifier: Apache-2.0
// The functions of map.h, included by one file per instruction set, which defines QDQ_BODY(name)
// and is compiled for it. Each is one expression of IEEE operations without branches, so that
// compilers turn its loop into vectors and all of them give the same bits.
#include <math.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/numerics/elementary.h"

#define MAP_DECLARE(name) qdq_map_fn QDQ_BODY(map_##name);
QDQ_MAPS(MAP_DECLARE)

#define MAP_ONE(name) static inline float one_##name(const qdq_map_numbers *p, float a, float b)

// Terms that a function does not look at.
#define MAP_USES_A (void)p, (void)b
#define MAP_USES_NUMBERS (void)b
#define MAP_USES_B (void)p

MAP_ONE(abs) {
    MAP_USES_A;
    return fabsf(a);
}
MAP_ONE(exp) {
    MAP_USES_A;
    return qdq_expf(a);
}
MAP_ONE(log) {
    MAP_USES_A;
    return qdq_logf(a);
}
MAP_ONE(sqrt) {
    MAP_USES_A;
    return sqrtf(a);
}
MAP_ONE(square) {
    MAP_USES_A;
    return a * a;
}
MAP_ONE(tanh) {
    MAP_USES_A;
    return qdq_tanhf(a);
}
MAP_ONE(sigmoid) {
    MAP_USES_A;
    return qdq_sigmoidf(a);
}
// -0 becomes +0.
MAP_ONE(relu) {
    MAP_USES_A;
    return a <= 0.0f ? 0.0f : a;
}
MAP_ONE(reciprocal) {
    MAP_USES_A;
    return 1.0f / a;
}
// Adding and taking away 2^23 rounds half to even what is smaller; the rest is whole.
MAP_ONE(round) {
    MAP_USES_A;
    float magnitude = fabsf(a), whole = (magnitude + 0x1p23f) - 0x1p23f;
    whole = magnitude < 0x1p23f ? whole : magnitude;
    return copysignf(whole, a);
}
// In double: the product has no rounding but the last.
MAP_ONE(hard_swish) {
    MAP_USES_A;
    double part = (double)a / 6.0 + 0.5;
    part = qdq_clamp64(part, 0.0, 1.0);
    return (float)((double)a * part);
}
// With u = 1 + e^a: tanh(ln u) = (u^2 - 1) / (u^2 + 1), where u^2 - 1 = e^a * (e^a + 2).
MAP_ONE(mish) {
    MAP_USES_A;
    double e = qdq_exp_near64(qdq_clamp64((double)a, -120.0, 40.0));
    double t = e * (e + 2.0);
    return (float)qdq_pick64(a < -120.0f, -0.0, (double)a * (t / (t + 2.0)));
}
MAP_ONE(leaky_relu) {
    MAP_USES_NUMBERS;
    return a > 0.0f ? a : p->alpha * a;
}
MAP_ONE(elu) {
    MAP_USES_NUMBERS;
    double below = (double)p->alpha * qdq_expm1_near64(qdq_clamp64((double)a, -104.0, 0.0));
    return a > 0.0f ? a : (float)(a == 0.0f ? (double)p->alpha * (double)a : below);
}
MAP_ONE(hard_sigmoid) {
    MAP_USES_NUMBERS;
    return (float)qdq_clamp64((double)p->alpha * (double)a + (double)p->beta, 0.0, 1.0);
}
MAP_ONE(clamp) {
    MAP_USES_NUMBERS;
    float v = a < p->alpha ? p->alpha : a;
    return v > p->beta ? p->beta : v;
}
// a / 2 * (1 + erf(a / sqrt 2)), which is a / 2 * erfc(-a / sqrt 2).
MAP_ONE(gelu_erf) {
    MAP_USES_A;
    double x = qdq_clamp64((double)a, -30.0, 30.0);
    double y = 0.5 * (double)a * qdq_erfc_near64(x * -0x1.6a09e667f3bcdp-1);
    return (float)qdq_pick64(a < -30.0f, -0.0, y);
}
// a / 2 * (1 + tanh u) = a / (1 + e^(-2u)).
MAP_ONE(gelu_tanh) {
    MAP_USES_A;
    double x = qdq_clamp64((double)a, -30.0, 30.0);
    double u = 0.7978845608 * (x + 0.044715 * (x * x * x));
    double y = (double)a / (1.0 + qdq_exp_near64(qdq_clamp64(-2.0 * u, -300.0, 300.0)));
    return (float)qdq_pick64(a < -30.0f, -0.0, y);
}
MAP_ONE(add) {
    MAP_USES_B;
    return a + b;
}
MAP_ONE(subtract) {
    MAP_USES_B;
    return a - b;
}
MAP_ONE(multiply) {
    MAP_USES_B;
    return a * b;
}
MAP_ONE(divide) {
    MAP_USES_B;
    return a / b;
}
// Of +0 and -0 the lesser is -0. A NaN wins: a sum with one is NaN.
MAP_ONE(minimum) {
    MAP_USES_B;
    float zero = qdq_float_from_bits(qdq_float_bits(a) | qdq_float_bits(b));
    float v = a < b ? a : b < a ? b : a == b ? zero : a + b;
    return v;
}
MAP_ONE(maximum) {
    MAP_USES_B;
    float zero = qdq_float_from_bits(qdq_float_bits(a) & qdq_float_bits(b));
    float v = a > b ? a : b > a ? b : a == b ? zero : a + b;
    return v;
}
MAP_ONE(greater_equal) {
    MAP_USES_B;
    return a >= b ? 1.0f : 0.0f;
}
MAP_ONE(prelu) {
    MAP_USES_B;
    return a > 0.0f ? a : b * a;
}

#define MAP_LOOP(name)                                                                        \
    void QDQ_BODY(map_##name)(const qdq_map_numbers *numbers, const float *a, const float *b, \
                              const uint32_t *c, float *y, size_t n) {                        \
        (void)b, (void)c;                                                                     \
        for (size_t i = 0; i < n; i++) {                                                      \
            float v = one_##name(numbers, a[i], MAP_B(b, i));                                 \
            y[i] = qdq_nan_if(v != v, v);                                                     \
        }                                                                                     \
    }

#define MAP_B(b, i) 0.0f
MAP_LOOP(abs)
MAP_LOOP(exp)
MAP_LOOP(log)
MAP_LOOP(sqrt)
MAP_LOOP(square)
MAP_LOOP(tanh)
MAP_LOOP(sigmoid)
MAP_LOOP(relu)
MAP_LOOP(reciprocal)
MAP_LOOP(round)
MAP_LOOP(hard_swish)
MAP_LOOP(mish)
MAP_LOOP(leaky_relu)
MAP_LOOP(elu)
MAP_LOOP(hard_sigmoid)
MAP_LOOP(clamp)
MAP_LOOP(gelu_erf)
MAP_LOOP(gelu_tanh)
#undef MAP_B
#define MAP_B(b, i) (b)[i]
MAP_LOOP(add)
MAP_LOOP(subtract)
MAP_LOOP(multiply)
MAP_LOOP(divide)
MAP_LOOP(minimum)
MAP_LOOP(maximum)
MAP_LOOP(greater_equal)
MAP_LOOP(prelu)

void QDQ_BODY(map_select)(const qdq_map_numbers *numbers, const float *a, const float *b,
                          const uint32_t *c, float *y, size_t n) {
    (void)numbers;
    for (size_t i = 0; i < n; i++) {
        uint32_t mask = c[i] ? UINT32_MAX : 0;
        y[i] = qdq_float_from_bits((qdq_float_bits(a[i]) & mask) | (qdq_float_bits(b[i]) & ~mask));
    }
}
