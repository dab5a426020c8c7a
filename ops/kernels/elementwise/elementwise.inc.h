// SPDX-License-Identifier: Apache-2.0
// The bodies of the elementwise functions and the loops around them. A body is one expression of
// IEEE operations without branches, so that compilers turn its loop into vectors and every
// instruction set gives the same bits.
#include <float.h>
#include <math.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "ops/kernels/elementwise/quick.inc.h"
#include "ops/kernels/elementwise/quick_pairs.inc.h"
#include "ops/kernels/elementwise/runtime_vectors.inc.h"
#include "ops/kernels/elementwise/typed.inc.h"
#include "runtime/numerics/elementary.h"
#include "runtime/numerics/hyperbolic.h"
#include "runtime/numerics/onnx_runtime.h"
#include "runtime/numerics/trigonometric.h"

//---- Bodies -----------------------------------------------------------------

static inline float one_abs(float a) { return fabsf(a); }
static inline float one_neg(float a) { return -a; }
static inline float one_exp(float a) { return qdq_expf(a); }
static inline float one_log(float a) { return qdq_logf(a); }
static inline float one_log_ort(float a) { return qdq_ort_log(a); }
static inline float one_log_libm(float a) { return qdq_libm_log(a); }
static inline float one_log1p(float a) { return qdq_log1pf(a); }
static inline float one_sqrt(float a) { return sqrtf(a); }
static inline float one_rsqrt(float a) { return qdq_rsqrtf(a); }
static inline float one_square(float a) { return a * a; }
static inline float one_tanh(float a) { return qdq_tanhf(a); }
static inline float one_sigmoid(float a) { return qdq_sigmoidf(a); }
static inline float one_silu(float a) { return qdq_siluf(a); }
// -0 becomes +0.
static inline float one_relu(float a) { return a <= 0.0f ? 0.0f : a; }
static inline float one_relu6(float a) { return a <= 0.0f ? 0.0f : a > 6.0f ? 6.0f : a; }
static inline float one_reciprocal(float a) { return 1.0f / a; }
// Adding and subtracting 2^23 rounds a smaller magnitude half to even; larger magnitudes are
// integers.
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
// The functions that end in _ort round every operation to float, as ONNX Runtime does.
static inline float one_hard_swish_ort(float a) {
    return a * qdq_ort_clamp(a * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f);
}
// -0 stays.
static inline float one_relu_ort(float a) { return a < 0.0f ? 0.0f : a; }
// The functions that end in _dnn are MAXPS and MINPS, which give the second operand if it is NaN, if
// the first is, or if both are zeros.
static inline float one_relu_dnn(float a) { return a > 0.0f ? a : 0.0f; }
static inline float one_sigmoid_ort(float a) { return qdq_ort_sigmoid(a); }
static inline float one_tanh_ort(float a) { return qdq_ort_tanh(a); }
static inline float one_tanh_recurrent(float a) { return qdq_ort_tanh_recurrent(a); }
static inline float one_exp_ort(float a) { return qdq_ort_exp(a); }
static inline float one_erf_ort(float a) { return qdq_ort_erf(a); }
static inline float one_gelu_erf_ort(float a) {
    return a * 0.5f * (qdq_ort_erf(a * 0x1.6a09e6p-1f) + 1.0f);
}
// sqrt(2 / pi) * (a + 0.044715 * a^3) is a * (0.0356... * a^2 + 0.797...).
static inline float one_gelu_tanh_ort(float a) {
    float u = a * (0.035677408136300125f * a * a + 0.7978845608028654f);
    return a * 0.5f * (qdq_ort_tanh(u) + 1.0f);
}
// With u = 1 + e^a: tanh(ln u) = (u^2 - 1) / (u^2 + 1), where u^2 - 1 = e^a * (e^a + 2).
static inline float one_mish(float a) {
    double e = qdq_exp_near64(qdq_clamp64((double)a, -120.0, 40.0));
    double t = e * (e + 2.0);
    return (float)qdq_pick64(a < -120.0f, -0.0, (double)a * (t / (t + 2.0)));
}
// 0 keeps its sign.
static inline float one_sign(float a) { return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a; }
// (0 < a) - (a < 0), so -0 becomes +0.
static inline float one_sign_ort(float a) { return a == 0.0f ? 0.0f : one_sign(a); }
static inline float one_floor(float a) { return floorf(a); }
static inline float one_ceil(float a) { return ceilf(a); }
static inline float one_trunc(float a) { return truncf(a); }
static inline float one_erf(float a) { return qdq_erff(a); }
static inline float one_softplus(float a) { return qdq_softplusf(a); }
static inline float one_sin(float a) { return qdq_sinf(a); }
static inline float one_cos(float a) { return qdq_cosf(a); }
static inline float one_tan(float a) { return qdq_tanf(a); }
static inline float one_asin(float a) { return qdq_asinf(a); }
static inline float one_acos(float a) { return qdq_acosf(a); }
static inline float one_atan(float a) { return qdq_atanf(a); }
static inline float one_sinh(float a) { return qdq_sinhf(a); }
static inline float one_cosh(float a) { return qdq_coshf(a); }
static inline float one_asinh(float a) { return qdq_asinhf(a); }
static inline float one_acosh(float a) { return qdq_acoshf(a); }
static inline float one_atanh(float a) { return qdq_atanhf(a); }
static inline float one_leaky_relu(float a, const qdq_elementwise_numbers *p) {
    return a > 0.0f ? a : p->alpha * a;
}
static inline float one_leaky_relu_ort(float a, const qdq_elementwise_numbers *p) {
    return a >= 0.0f ? a : p->alpha * a;
}
static inline float one_elu(float a, const qdq_elementwise_numbers *p) {
    double below = (double)p->alpha * qdq_expm1_near64(qdq_clamp64((double)a, -104.0, 0.0));
    return a > 0.0f ? a : (float)(a == 0.0f ? (double)p->alpha * (double)a : below);
}
static inline float one_hard_sigmoid(float a, const qdq_elementwise_numbers *p) {
    return (float)qdq_clamp64((double)p->alpha * (double)a + (double)p->beta, 0.0, 1.0);
}
static inline float one_hard_sigmoid_ort(float a, const qdq_elementwise_numbers *p) {
    return qdq_ort_clamp(p->alpha * a + p->beta, 0.0f, 1.0f);
}
static inline float one_clamp(float a, const qdq_elementwise_numbers *p) {
    float v = a < p->alpha ? p->alpha : a;
    return v > p->beta ? p->beta : v;
}
// NaN gives beta.
static inline float one_clamp_recurrent(float a, const qdq_elementwise_numbers *p) {
    float v = a < p->beta ? a : p->beta;
    return p->alpha < v ? v : p->alpha;
}
static inline float one_clamp_dnn(float a, const qdq_elementwise_numbers *p) {
    float v = a > p->alpha ? a : p->alpha;
    return v < p->beta ? v : p->beta;
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
static inline float one_minimum_dnn(float a, float b) { return a < b ? a : b; }
static inline float one_maximum_dnn(float a, float b) { return a > b ? a : b; }
static inline float one_equal(float a, float b) { return a == b ? 1.0f : 0.0f; }
static inline float one_greater(float a, float b) { return a > b ? 1.0f : 0.0f; }
static inline float one_less(float a, float b) { return a < b ? 1.0f : 0.0f; }
static inline float one_greater_equal(float a, float b) { return a >= b ? 1.0f : 0.0f; }
static inline float one_less_or_equal(float a, float b) { return a <= b ? 1.0f : 0.0f; }
static inline float one_is_nan(float a) { return a != a ? 1.0f : 0.0f; }
// alpha and beta are 1 if +Infinity and -Infinity count, else 0.
static inline float one_is_inf(float a, const qdq_elementwise_numbers *p) {
    return (a > FLT_MAX ? p->alpha : 0.0f) + (a < -FLT_MAX ? p->beta : 0.0f);
}
static inline float one_pow(float a, float b) { return qdq_powf(a, b); }
static inline float one_pow_ort(float a, float b) { return b == 3.0f ? a * a * a : one_pow(a, b); }
// fmodf is exact, so every C library has its bits.
static inline float one_fmod(float a, float b) { return fmodf(a, b); }
static inline float one_mod(float a, float b) {
    float rest = fmodf(a, b);
    return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}
static inline float one_prelu(float a, float b) { return a > 0.0f ? a : b * a; }
// Zeros stay, also with an infinite or NaN slope.
static inline float one_prelu_ort(float a, float b) { return a >= 0.0f ? a : b * a; }

static inline float one_select(float a, float b, uint32_t c) {
    uint32_t mask = c ? UINT32_MAX : 0;
    return qdq_float_from_bits((qdq_float_bits(a) & mask) | (qdq_float_bits(b) & ~mask));
}

//---- Loops ------------------------------------------------------------------

static inline float quiet(float v) { return qdq_nan_if(v != v, v); }

// LOOP_<operands>(R, type, prefix, name): a loop over registers of a type.
#define LOOP_a(R, type, prefix, name) LOOP_WITH(R, type, name, prefix##quiet(prefix##name(a[i])))
#define LOOP_a_numbers(R, type, prefix, name) \
    LOOP_WITH(R, type, name, prefix##quiet(prefix##name(a[i], numbers)))
#define LOOP_a_b(R, type, prefix, name) \
    LOOP_WITH(R, type, name, prefix##quiet(prefix##name(a[i], b[i])))
#define LOOP_a_b_c(R, type, prefix, name) LOOP_WITH(R, type, name, prefix##name(a[i], b[i], c[i]))
// NOLINTBEGIN(bugprone-macro-parentheses): `type` is a type
#define LOOP_WITH(R, type, name, result)                                                        \
    static void QDQ_ISA_NAME(elementwise_##name##_##R)(const qdq_elementwise_numbers *numbers,  \
                                                       const void *from_a, const void *from_b,  \
                                                       const uint32_t *c, void *to, size_t n) { \
        const type *a = from_a, *b = from_b;                                                    \
        type *y = to;                                                                           \
        (void)numbers, (void)b, (void)c;                                                        \
        for (size_t i = 0; i < n; i++) y[i] = result;                                           \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define one_quiet(v) quiet(v)

#define LOOPS_floats(name, operands) LOOP_##operands(F32, float, one_, name)
#if defined(QDQ_QUICK_VECTORS)
#define LOOPS_quick(name, operands) \
    LOOPS_floats(name, operands) QUICK_LOOP(name, QDQ_ISA_NAME(elementwise_##name##_F32))
#define ENTRIES_quick(name) [QDQ_REGISTERS_F32] = QDQ_ISA_NAME(quick_##name)
#define LOOPS_pairs(name, operands) \
    LOOPS_quick(name, operands) PAIR_LOOP(name, QDQ_ISA_NAME(quick_##name))
#define ENTRIES_pairs(name) [QDQ_REGISTERS_F32] = QDQ_ISA_NAME(pair_##name)
#define LOOPS_vectors(name, operands) \
    LOOPS_floats(name, operands) RUNTIME_LOOP(name, QDQ_ISA_NAME(elementwise_##name##_F32))
#define ENTRIES_vectors(name) [QDQ_REGISTERS_F32] = QDQ_ISA_NAME(vectors_##name)
#else
#define LOOPS_vectors LOOPS_floats
#define ENTRIES_vectors ENTRIES_floats
#define LOOPS_pairs LOOPS_floats
#define ENTRIES_pairs ENTRIES_floats
#define LOOPS_quick LOOPS_floats
#define ENTRIES_quick ENTRIES_floats
#endif
#define LOOPS_reals(name, operands) \
    LOOPS_floats(name, operands) LOOP_##operands(F64, double, f64_, name)
#define LOOPS_integers(name, operands)                                                  \
    LOOP_##operands(I32, int32_t, i32_, name) LOOP_##operands(I64, int64_t, i64_, name) \
        LOOP_##operands(U64, uint64_t, u64_, name)
#define LOOPS_not_double(name, operands) LOOPS_floats(name, operands) LOOPS_integers(name, operands)
#define LOOPS_numbers(name, operands) LOOPS_reals(name, operands) LOOPS_integers(name, operands)
#define LOOPS(name, operands, registers) LOOPS_##registers(name, operands)
QDQ_ELEMENTWISE_LIST(LOOPS)

#define ENTRY(name, R) [QDQ_REGISTERS_##R] = QDQ_ISA_NAME(elementwise_##name##_##R)
#define ENTRIES_floats(name) ENTRY(name, F32)
#define ENTRIES_reals(name) ENTRY(name, F32), ENTRY(name, F64)
#define ENTRIES_integers(name) ENTRY(name, I32), ENTRY(name, I64), ENTRY(name, U64)
#define ENTRIES_not_double(name) ENTRIES_floats(name), ENTRIES_integers(name)
#define ENTRIES_numbers(name) ENTRIES_reals(name), ENTRIES_integers(name)
#define ENTRIES(name, operands, registers) {ENTRIES_##registers(name)},
qdq_elementwise_fns QDQ_ISA_NAME(elementwise) = {QDQ_ELEMENTWISE_LIST(ENTRIES)};

// Loops for a single operand read it once instead of a filled buffer.
#define SINGLE_LOOPS(name)                                                              \
    static void QDQ_ISA_NAME(single_a_##name)(const float *a, const float *b, float *y, \
                                              size_t n) {                               \
        const float one = *a;                                                           \
        for (size_t i = 0; i < n; i++) y[i] = quiet(one_##name(one, b[i]));             \
    }                                                                                   \
    static void QDQ_ISA_NAME(single_b_##name)(const float *a, const float *b, float *y, \
                                              size_t n) {                               \
        const float one = *b;                                                           \
        for (size_t i = 0; i < n; i++) y[i] = quiet(one_##name(a[i], one));             \
    }
QDQ_ELEMENTWISE_SINGLES(SINGLE_LOOPS)

#define SINGLES(name) \
    [QDQ_ELEMENTWISE_##name] = {QDQ_ISA_NAME(single_a_##name), QDQ_ISA_NAME(single_b_##name)},
qdq_elementwise_singles QDQ_ISA_NAME(elementwise_singles) = {QDQ_ELEMENTWISE_SINGLES(SINGLES)};
