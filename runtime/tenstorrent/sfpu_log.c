// SPDX-License-Identifier: Apache-2.0
// log and log1p (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"

// log(2) * 2^-23: exponents are counted in units of the last place.
#define LOG_2_OF_EXPONENT (0.693147182f * 1.19209290e-7f)

// Returns log(1 + m) + k * log(2) for m from -0.25 to 0.5; `exponent` is k * 2^23, an integer.
static uint32_t log_sum(qdq_multiply_add chip, uint32_t m, uint32_t exponent, bool is_float32) {
    static const float short_c[] = {-0x1.008p-1f, 0x1.744p-2f, -0.25f};
    static const float long_c[] = {-0x1p-1f,     0x1.555572p-2f, -0x1.00001ap-2f,
                                   0x1.998p-3f,  -0x1.55p-3f,    0x1.274p-3f,
                                   -0x1.0c4p-3f, 0x1.b84p-4f,    -0x1.92cp-5f};
    uint32_t square = qdq_sfpmul(chip, m, m);
    uint32_t y =
        is_float32 ? QDQ_SFP_POLYNOMIAL(chip, m, long_c) : QDQ_SFP_POLYNOMIAL(chip, m, short_c);
    y = qdq_sfpmad(chip, y, square, m);
    uint32_t k = qdq_sfp_cast(qdq_sfp_negative(exponent) ? 0 - exponent : exponent);
    k = qdq_sfp_with_sign(k, exponent);
    return qdq_sfpmad(chip, k, qdq_float_bits(LOG_2_OF_EXPONENT), y);
}

// Returns k * 2^23 such that x is 2^k times a number from 0.75 to 1.5.
static uint32_t exponent_of(uint32_t x) { return (x - 0x3F400000u) & 0xFF800000u; }

//---- log --------------------------------------------------------------------

// For zeros, infinity and NaN the result is multiplied by x / 2, whose exponent wraps from 0 to
// 255.
static uint32_t logarithm(qdq_multiply_add chip, uint32_t x, bool is_float32) {
    uint32_t exponent = exponent_of(x);
    uint32_t m = qdq_sfp_scale_add(chip, x - exponent, 1, -1);
    uint32_t y = log_sum(chip, m, exponent, is_float32);
    int of_x = qdq_sfp_exponent(x);
    if (of_x == 0 || of_x == 255) y = qdq_sfpmul(chip, y, qdq_sfp_with_exponent(x, 255));
    return qdq_sfp_negative(x) ? NAN_BITS : y;
}

uint32_t qdq_sfpu_log(const qdq_sfpu_program *program, uint32_t x) {
    return logarithm(program->chip, x, false);
}

// Later kernels first replace denormals and -0 by +0.
uint32_t qdq_sfpu_log_of_normal(const qdq_sfpu_program *program, uint32_t x) {
    return logarithm(program->chip, qdq_sfp_scale_add(program->chip, x, 1, 0), false);
}

uint32_t qdq_sfpu_log_float32(const qdq_sfpu_program *program, uint32_t x) {
    return logarithm(program->chip, qdq_sfp_scale_add(program->chip, x, 1, 0), true);
}

// Keeps -0 and denormals.
uint32_t qdq_sfpu_log_approximate_float32(const qdq_sfpu_program *program, uint32_t x) {
    return logarithm(program->chip, x, true);
}

// Neither infinity nor NaN nor a negative x is a special case here.
uint32_t qdq_sfpu_log_from_1_approximate(const qdq_sfpu_program *program, uint32_t x) {
    static const float c[] = {-2.0069785118103027f, 3.767500400543213f,   -2.800232410430908f,
                              1.3681391477584839f,  -0.3706687390804291f, 0.04224011301994324f};
    const qdq_multiply_add chip = program->chip;
    if (x == 0) return SIGN_BIT | INFINITY_BITS;
    uint32_t y = QDQ_SFP_POLYNOMIAL(chip, qdq_sfp_with_exponent(x, 127), c);
    uint32_t k = qdq_sfp_cast(qdq_sign_magnitude(qdq_sfp_exponent(x) - 127));
    return qdq_sfpmad(chip, k, qdq_float_bits(0.69314718246459961f), y);
}

uint32_t qdq_sfpu_log_from_1(const qdq_sfpu_program *program, uint32_t x) {
    if (x == INFINITY_BITS) return x;
    if (qdq_sfp_exponent(x) == 255 || qdq_sfp_negative(x)) return NAN_BITS;
    return qdq_sfpu_log_from_1_approximate(program, x);
}

//---- log1p ------------------------------------------------------------------

// k is the exponent of u = 1 + x; m is x / 2^k + 1 / 2^k - 1.
static uint32_t log_of_1_more(qdq_multiply_add chip, uint32_t x, bool is_float32) {
    uint32_t u = qdq_sfpadd(chip, x, ONE);
    if (qdq_sfp_negative(u)) return NAN_BITS;
    if (u >= INFINITY_BITS) return u;
    uint32_t exponent = exponent_of(u), minus_4 = 0xC0800000u - exponent;
    uint32_t m = qdq_sfpadd(chip, x - exponent, qdq_sfp_scale_add(chip, minus_4, -0.25f, -1));
    return log_sum(chip, m, exponent, is_float32);
}

uint32_t qdq_sfpu_log1p(const qdq_sfpu_program *program, uint32_t x) {
    return log_of_1_more(program->chip, x, false);
}

uint32_t qdq_sfpu_log1p_float32(const qdq_sfpu_program *program, uint32_t x) {
    return log_of_1_more(program->chip, x, true);
}
