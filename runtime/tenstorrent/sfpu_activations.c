// SPDX-License-Identifier: Apache-2.0
// Activations on top of exp: sigmoid, SiLU, tanh, ELU, softplus and mish
// (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"

//---- Sigmoid ----------------------------------------------------------------

static uint32_t logistic(qdq_multiply_add chip, uint32_t x) {
    uint32_t sum = qdq_sfpadd(chip, qdq_sfp_exp(chip, qdq_sfp_negate(x)), ONE);
    return qdq_sfp_reciprocal_newton(chip, sum, 1);
}

uint32_t qdq_sfpu_sigmoid(const qdq_sfpu_program *program, uint32_t x) {
    return logistic(program->chip, x);
}

uint32_t qdq_sfpu_silu(const qdq_sfpu_program *program, uint32_t x) {
    return qdq_sfpmul(program->chip, x, logistic(program->chip, x));
}

static uint32_t logistic_float32(qdq_multiply_add chip, uint32_t x) {
    uint32_t sum = qdq_sfpadd(chip, qdq_sfp_exp_float32(chip, qdq_sfp_negate(x)), ONE);
    return qdq_sfp_reciprocal_newton(chip, sum, 2);
}

uint32_t qdq_sfpu_sigmoid_float32(const qdq_sfpu_program *program, uint32_t x) {
    return logistic_float32(program->chip, x);
}

uint32_t qdq_sfpu_silu_float32(const qdq_sfpu_program *program, uint32_t x) {
    return qdq_sfpmul(program->chip, x, logistic_float32(program->chip, x));
}

//---- ELU and tanh of two branches -------------------------------------------

uint32_t qdq_sfpu_elu(const qdq_sfpu_program *program, uint32_t x) {
    if (!qdq_sfp_negative(x)) return x;
    uint32_t y = qdq_sfp_expm1(program->chip, x, false);
    return qdq_sfpmul(program->chip, qdq_float_bits(program->a), y);
}

// exp - 1: far off near 0.
uint32_t qdq_sfpu_elu_from_exp(const qdq_sfpu_program *program, uint32_t x) {
    if (!qdq_sfp_negative(x)) return x;
    uint32_t y = qdq_sfpadd(program->chip, qdq_sfp_exp(program->chip, x), MINUS_ONE);
    return qdq_sfpmul(program->chip, qdq_float_bits(program->a), y);
}

uint32_t qdq_sfpu_elu_float32(const qdq_sfpu_program *program, uint32_t x) {
    if (!qdq_sfp_negative(x)) return x;
    uint32_t y = qdq_sfp_expm1(program->chip, x, true);
    return qdq_sfpmul(program->chip, qdq_float_bits(program->a), y);
}

uint32_t qdq_sfpu_tanh_from_sigmoid_float32(const qdq_sfpu_program *program, uint32_t x) {
    static const float c[] = {0.999999940395355224609375f, -0.33332359790802001953125f,
                              0.13310669362545013427734375f, -5.21197654306888580322265625e-2f,
                              1.5497927553951740264892578125e-2f};
    const qdq_multiply_add chip = program->chip;
    if (qdq_sfp_below(chip, qdq_sfp_abs(x), 0.6f)) {
        uint32_t square = qdq_sfpmul(chip, x, x);
        return qdq_sfpmul(chip, x, QDQ_SFP_POLYNOMIAL(chip, square, c));
    }
    uint32_t y = logistic_float32(chip, qdq_sfpmul(chip, x, TWO));
    return qdq_sfp_scale_add(chip, y, 2, -1);
}

//---- Softplus ---------------------------------------------------------------

// log(1 + exp(-a)) for a of at most 5.
static uint32_t softplus_near(qdq_multiply_add chip, uint32_t a) {
    static const float c[] = {6.9423984729e-01f,  -5.0932420424e-01f, 1.4279095486e-01f,
                              -1.3000584069e-02f, -1.8627923291e-03f, 5.0152968088e-04f,
                              -3.1273466851e-05f};
    return QDQ_SFP_POLYNOMIAL(chip, a, c);
}

// log(1 + exp(-a)) for greater a. The integer k wraps far out: y is infinite if x is below -8.8e6.
static uint32_t softplus_tail(qdq_multiply_add chip, uint32_t a) {
    static const float c[] = {1.0f, 1.0f, 0.5f, 0.166666667f, 0.0416666667f, 0.00833333333f};
    static const float log1p[] = {1.0f, -0.5f, 0.333333343f};
    uint32_t x = a | SIGN_BIT;
    uint32_t product = qdq_sfpmul(chip, x, QDQ_SFP_LOG2_E);
    uint32_t shifted = qdq_sfpadd(chip, product, QDQ_SFP_SHIFTER);
    uint32_t k = qdq_sfp_subtract(chip, shifted, QDQ_SFP_SHIFTER);
    uint32_t e = QDQ_SFP_POLYNOMIAL(chip, qdq_sfp_minus_log2(chip, x, k), c);
    int64_t exponent = qdq_sfp_exponent(e) + (int64_t)shifted - QDQ_SFP_SHIFTER;
    e = exponent > 0 ? qdq_sfp_with_exponent(e, exponent) : 0;
    return qdq_sfpmul(chip, e, QDQ_SFP_POLYNOMIAL(chip, e, log1p));
}

static uint32_t softplus(const qdq_sfpu_program *program, uint32_t x, bool has_tail) {
    const qdq_multiply_add chip = program->chip;
    uint32_t t = qdq_sfpmul(chip, qdq_float_bits(program->a), x), a = t & MAGNITUDE, rest;
    if (!qdq_sfp_below(chip, t, program->b)) return x;
    if (qdq_sfp_above(chip, a, 5))
        rest = has_tail ? softplus_tail(chip, a) : 0;
    else
        rest = softplus_near(chip, a);
    uint32_t y = qdq_sfpadd(chip, qdq_sfp_max(t, 0), rest);
    return qdq_sfpmul(chip, qdq_float_bits(1 / program->a), y);
}

uint32_t qdq_sfpu_softplus(const qdq_sfpu_program *program, uint32_t x) {
    return softplus(program, x, false);
}

uint32_t qdq_sfpu_softplus_tail(const qdq_sfpu_program *program, uint32_t x) {
    return softplus(program, x, true);
}

//---- Mish -------------------------------------------------------------------

// x * tanh(log(1 + u)) with u = exp(x) is x * u * (u + 2) / ((u + 1)^2 + 1).
uint32_t qdq_sfpu_mish(const qdq_sfpu_program *program, uint32_t x) {
    const qdq_multiply_add chip = program->chip;
    if (!qdq_sfp_below(chip, x, 8)) return x;
    uint32_t u = qdq_sfp_round_bfloat16(qdq_sfp_exp(chip, x));
    uint32_t one_more = qdq_sfpadd(chip, u, ONE);
    uint32_t d = qdq_sfpmad(chip, one_more, one_more, ONE);
    uint32_t inverse = qdq_sfp_reciprocal_newton(chip, d, 1);
    if (chip == QDQ_MULTIPLY_ADD_BLACKHOLE && !qdq_sfp_negative(x))
        return qdq_sfpmul(chip, x, qdq_sfp_scale_add(chip, inverse, -2, 1));
    uint32_t n = qdq_sfpmul(chip, u, qdq_sfpadd(chip, u, TWO));
    return qdq_sfpmul(chip, x, qdq_sfpmul(chip, n, inverse));
}
