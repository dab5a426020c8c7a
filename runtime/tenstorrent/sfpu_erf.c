// SPDX-License-Identifier: Apache-2.0
// erf and GELU (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"

//---- erf --------------------------------------------------------------------

uint32_t qdq_sfpu_erf(const qdq_sfpu_program *program, uint32_t x) {
    static const float n[] = {1.1280932447f, 2.7609212279e-01f, 4.5400281738e-02f,
                              7.4481184425e-04f};
    static const float d[] = {1.0f, 5.7439188334e-01f, 1.3675764810e-01f, 8.2844606784e-03f,
                              2.4813862145e-05f};
    const qdq_multiply_add chip = program->chip;
    x = qdq_sfp_clamp(x, -10, 10);
    uint32_t square = qdq_sfpmul(chip, x, x);
    uint32_t numerator = qdq_sfpmul(chip, QDQ_SFP_POLYNOMIAL(chip, square, n), x);
    uint32_t denominator = QDQ_SFP_POLYNOMIAL(chip, square, d);
    uint32_t inverse = qdq_sfp_reciprocal_newton(chip, denominator, 2);
    return qdq_sfp_clamp(qdq_sfpmul(chip, numerator, inverse), -1, 1);
}

static uint32_t erf_float32(qdq_multiply_add chip, uint32_t x) {
    static const float n[] = {1.1283791065f,     2.1477432549e-01f, 6.2133435160e-02f,
                              5.6230435148e-03f, 6.1307044234e-04f, 1.7678321456e-05f,
                              2.7384647439e-08f, -2.8632063387e-10f};
    static const float d[] = {1.0f,
                              5.2367275953e-01f,
                              1.2961706519e-01f,
                              1.9642570987e-02f,
                              1.9545555115e-03f,
                              1.3179056987e-04f,
                              1.3156344494e-06f,
                              -3.5153888689e-09f,
                              -6.7350725691e-12f};
    uint32_t square = qdq_sfpmul(chip, x, x);
    uint32_t numerator = qdq_sfpmul(chip, QDQ_SFP_POLYNOMIAL(chip, square, n), x);
    uint32_t denominator = QDQ_SFP_POLYNOMIAL(chip, square, d);
    uint32_t inverse = qdq_sfp_reciprocal_newton(chip, denominator, 2);
    return qdq_sfp_clamp(qdq_sfpmul(chip, numerator, inverse), -1, 1);
}

uint32_t qdq_sfpu_erf_float32(const qdq_sfpu_program *program, uint32_t x) {
    return erf_float32(program->chip, qdq_sfp_clamp(x, -10, 10));
}

//---- GELU -------------------------------------------------------------------

#define NEGLIGIBLE (-5.54259443f)  // GELU of lesser x is 0

// x * Phi(x) for x below -3.125: a normal density times a polynomial, rounded to a multiple of
// 2^-25.
static uint32_t gelu_tail(qdq_multiply_add chip, uint32_t x, uint32_t square) {
    static const float c[] = {3.0369991064e-01f, 9.5413386822e-02f, 1.3809983619e-02f,
                              7.5950479368e-04f};
    uint32_t z = qdq_sfp_fixed(qdq_sfp_scale_add(chip, square, -0.72134752044f, 127));
    uint32_t density = qdq_sfp_power(chip, z, z, QDQ_SFP_POWER);
    uint32_t phi = qdq_sfpmul(chip, density, QDQ_SFP_POLYNOMIAL(chip, x, c));
    phi = qdq_sfp_scale_add(chip, qdq_sfp_scale_add(chip, phi, 1, 0.375f), 1, -0.375f);
    return qdq_sfpmul(chip, x, phi);
}

static uint32_t gelu_core(qdq_multiply_add chip, uint32_t x, uint32_t square) {
    static const float c[] = {3.9894227818e-01f,  -6.6361041488e-02f, 9.7720050615e-03f,
                              -1.0717806322e-03f, 8.1812159812e-05f,  -3.8082057209e-06f,
                              7.9821413868e-08f};
    uint32_t phi = qdq_sfpmad(chip, x, QDQ_SFP_POLYNOMIAL(chip, square, c), HALF);
    return qdq_sfpmul(chip, x, phi);
}

uint32_t qdq_sfpu_gelu(const qdq_sfpu_program *program, uint32_t x) {
    const qdq_multiply_add chip = program->chip;
    uint32_t square = qdq_sfpmul(chip, x, x);
    if (!qdq_sfp_above(chip, x, NEGLIGIBLE)) return 0;
    if (qdq_sfp_below(chip, x, -3.125f)) return gelu_tail(chip, x, square);
    return qdq_sfp_below(chip, x, 2.78125f) ? gelu_core(chip, x, square) : x;
}

uint32_t qdq_sfpu_gelu_float32(const qdq_sfpu_program *program, uint32_t x) {
    const qdq_multiply_add chip = program->chip;
    if (!qdq_sfp_above(chip, x, NEGLIGIBLE)) return 0;
    uint32_t scaled = qdq_sfpmul(chip, x, qdq_float_bits(0.7071067811865475f));
    uint32_t e = erf_float32(chip, qdq_sfp_min(scaled, qdq_float_bits(10)));
    if (e == MINUS_ONE) return qdq_sfpmul(chip, x, qdq_float_bits(0x1p-25f));
    return qdq_sfpmul(chip, x, qdq_sfp_scale_add(chip, e, 0.5f, 0.5f));
}
