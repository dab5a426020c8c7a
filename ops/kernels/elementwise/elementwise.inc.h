// SPDX-License-Identifier: Apache-2.0
// The bodies of the elementwise functions and the loops around them. Each instruction set has a
// file that defines QDQ_ISA_NAME(name) and includes this one. A body is one expression of IEEE
// operations without branches, so that compilers turn its loop into vectors and every instruction
// set gives the same bits.
#include <math.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/numerics/elementary.h"

//---- Bodies -----------------------------------------------------------------

static inline float one_abs(float a) { return fabsf(a); }
static inline float one_exp(float a) { return qdq_expf(a); }
static inline float one_log(float a) { return qdq_logf(a); }
static inline float one_sqrt(float a) { return sqrtf(a); }
static inline float one_square(float a) { return a * a; }
static inline float one_tanh(float a) { return qdq_tanhf(a); }
static inline float one_sigmoid(float a) { return qdq_sigmoidf(a); }
// -0 becomes +0.
static inline float one_relu(float a) { return a <= 0.0f ? 0.0f : a; }
static inline float one_reciprocal(float a) { return 1.0f / a; }
// Adding and subtracting 2^23 rounds a smaller magnitude half to even; larger ones are integers.
static inline float one_round(float a) {
    float magnitude = fabsf(a), whole = (magnitude + 0x1p23f) - 0x1p23f;
    whole = magnitude < 0x1p23f ? whole : magnitude;
    return copysignf(whole, a);
}
// In double, so that the conversion to float is the only rounding of the product.
static inline float one_hard_swish(float a) {
    double part = (double)a / 6.0 + 0.5;
    part = qdq_clamp64(part, 0.0, 1.0);
    return (float)((double)a * part);
}
// With u = 1 + e^a: tanh(ln u) = (u^2 - 1) / (u^2 + 1), where u^2 - 1 = e^a * (e^a + 2).
static inline float one_mish(float a) {
    double e = qdq_exp_near64(qdq_clamp64((double)a, -120.0, 40.0));
    double t = e * (e + 2.0);
    return (float)qdq_pick64(a < -120.0f, -0.0, (double)a * (t / (t + 2.0)));
}
static inline float one_leaky_relu(float a, const qdq_elementwise_numbers *p) {
    return a > 0.0f ? a : p->alpha * a;
}
static inline float one_elu(float a, const qdq_elementwise_numbers *p) {
    double below = (double)p->alpha * qdq_expm1_near64(qdq_clamp64((double)a, -104.0, 0.0));
    return a > 0.0f ? a : (float)(a == 0.0f ? (double)p->alpha * (double)a : below);
}
static inline float one_hard_sigmoid(float a, const qdq_elementwise_numbers *p) {
    return (float)qdq_clamp64((double)p->alpha * (double)a + (double)p->beta, 0.0, 1.0);
}
static inline float one_clamp(float a, const qdq_elementwise_numbers *p) {
    float v = a < p->alpha ? p->alpha : a;
    return v > p->beta ? p->beta : v;
}
// a / 2 * (1 + erf(a / sqrt 2)), which is a / 2 * erfc(-a / sqrt 2).
static inline float one_gelu_erf(float a) {
    double x = qdq_clamp64((double)a, -30.0, 30.0);
    double y = 0.5 * (double)a * qdq_erfc_near64(x * -0x1.6a09e667f3bcdp-1);
    return (float)qdq_pick64(a < -30.0f, -0.0, y);
}
// a / 2 * (1 + tanh u) = a / (1 + e^(-2u)).
static inline float one_gelu_tanh(float a) {
    double x = qdq_clamp64((double)a, -30.0, 30.0);
    double u = 0.7978845608 * (x + 0.044715 * (x * x * x));
    double y = (double)a / (1.0 + qdq_exp_near64(qdq_clamp64(-2.0 * u, -300.0, 300.0)));
    return (float)qdq_pick64(a < -30.0f, -0.0, y);
}
static inline float one_add(float a, float b) { return a + b; }
static inline float one_subtract(float a, float b) { return a - b; }
static inline float one_multiply(float a, float b) { return a * b; }
static inline float one_divide(float a, float b) { return a / b; }
// -0 is less than +0. If either operand is NaN, so is a + b.
static inline float one_minimum(float a, float b) {
    float zero = qdq_float_from_bits(qdq_float_bits(a) | qdq_float_bits(b));
    return a < b ? a : b < a ? b : a == b ? zero : a + b;
}
static inline float one_maximum(float a, float b) {
    float zero = qdq_float_from_bits(qdq_float_bits(a) & qdq_float_bits(b));
    return a > b ? a : b > a ? b : a == b ? zero : a + b;
}
static inline float one_greater_equal(float a, float b) { return a >= b ? 1.0f : 0.0f; }
static inline float one_prelu(float a, float b) { return a > 0.0f ? a : b * a; }

static inline float one_select(float a, float b, uint32_t c) {
    uint32_t mask = c ? UINT32_MAX : 0;
    return qdq_float_from_bits((qdq_float_bits(a) & mask) | (qdq_float_bits(b) & ~mask));
}

//---- Loops ------------------------------------------------------------------

static inline float quiet(float v) { return qdq_nan_if(v != v, v); }
static inline float unchanged(float v) { return v; }

#define LOOP_a(name) LOOP_WITH(name, quiet, a[i])
#define LOOP_a_numbers(name) LOOP_WITH(name, quiet, a[i], numbers)
#define LOOP_a_b(name) LOOP_WITH(name, quiet, a[i], b[i])
#define LOOP_a_b_c(name) LOOP_WITH(name, unchanged, a[i], b[i], c[i])
#define LOOP_WITH(name, result, ...)                                                      \
    static void QDQ_ISA_NAME(elementwise_##name)(const qdq_elementwise_numbers *numbers,  \
                                                 const float *a, const float *b,          \
                                                 const uint32_t *c, float *y, size_t n) { \
        (void)numbers, (void)b, (void)c;                                                  \
        for (size_t i = 0; i < n; i++) y[i] = result(one_##name(__VA_ARGS__));            \
    }
#define LOOP(name, operands) LOOP_##operands(name)
QDQ_ELEMENTWISE_LIST(LOOP)

#define NAME(name, operands) QDQ_ISA_NAME(elementwise_##name),
qdq_elementwise_fn *const QDQ_ISA_NAME(elementwise)[] = {QDQ_ELEMENTWISE_LIST(NAME)};
