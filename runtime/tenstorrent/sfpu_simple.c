// SPDX-License-Identifier: Apache-2.0
// Functions of one multiply-add or of bits: squares, thresholds, rounding and signs
// (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/fpu.h"
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"
#include "runtime/tenstorrent/tile_formats.h"

//---- Products and thresholds ------------------------------------------------

uint32_t qdq_sfpu_square(const qdq_sfpu_program *program, uint32_t x) {
    return qdq_sfpmul(program->chip, x, x);
}

uint32_t qdq_sfpu_leaky_relu(const qdq_sfpu_program *program, uint32_t x) {
    if (!qdq_sfp_negative(x)) return x;
    return qdq_sfpmul(program->chip, x, qdq_float_bits(program->a));
}

uint32_t qdq_sfpu_relu(const qdq_sfpu_program *program, uint32_t x) {
    (void)program;
    return qdq_sfp_negative(x) ? 0 : x;
}

static uint32_t bounded(qdq_multiply_add chip, uint32_t x, float most) {
    if (qdq_sfp_above(chip, x, most)) x = qdq_float_bits(most);
    return qdq_sfp_negative(x) ? 0 : x;
}

uint32_t qdq_sfpu_relu6(const qdq_sfpu_program *program, uint32_t x) {
    return bounded(program->chip, x, 6);
}

uint32_t qdq_sfpu_hard_sigmoid(const qdq_sfpu_program *program, uint32_t x) {
    uint32_t y = qdq_sfp_scale_add(program->chip, x, 0.1666666716337204f, 0.5f);
    return bounded(program->chip, y, 1);
}

// Two ops: the sigmoid is packed to bfloat16, and the matrix unit multiplies it by x in all phases.
uint32_t qdq_sfpu_hard_swish(const qdq_sfpu_program *program, uint32_t x) {
    uint32_t sigmoid = qdq_sfpu_hard_sigmoid(program, x);
    if (program->round_store) sigmoid = qdq_sfp_half_even_bfloat16(sigmoid);
    sigmoid = qdq_sfp_store(sigmoid);
    sigmoid = (uint32_t)qdq_chip_pack_bfloat16_dst16((uint16_t)(sigmoid >> 16)) << 16;
    uint32_t y = 0;
    for (int phase = 0; phase < QDQ_FPU_PHASES; phase++)
        y = qdq_fpu_elwmul(program->chip, program->wide_dst, phase, y, sigmoid, x);
    return y;
}

//---- Rounding ---------------------------------------------------------------

static uint32_t truncated(uint32_t x) {
    int exponent = qdq_sfp_exponent(x);
    if (exponent < 127) return x & SIGN_BIT;
    return exponent <= 150 ? x & 0xFFFFFFFFu << (150 - exponent) : x;
}

uint32_t qdq_sfpu_trunc(const qdq_sfpu_program *program, uint32_t x) {
    (void)program;
    return truncated(x);
}

// True if rounding towards 0 changed x: its pattern is less than before.
static bool was_cut(uint32_t x) { return qdq_sfp_negative(truncated(x) - x); }

uint32_t qdq_sfpu_floor(const qdq_sfpu_program *program, uint32_t x) {
    uint32_t y = truncated(x);
    return qdq_sfp_negative(x) && was_cut(x) ? qdq_sfpadd(program->chip, y, MINUS_ONE) : y;
}

uint32_t qdq_sfpu_ceil(const qdq_sfpu_program *program, uint32_t x) {
    uint32_t y = truncated(x);
    return !qdq_sfp_negative(x) && was_cut(x) ? qdq_sfpadd(program->chip, y, ONE) : y;
}

// 2^23 has no fraction bits: adding and subtracting it rounds, half to even.
uint32_t qdq_sfpu_round(const qdq_sfpu_program *program, uint32_t x) {
    const qdq_multiply_add chip = program->chip;
    uint32_t y = qdq_sfpmul(chip, x, ONE);
    if (qdq_sfp_exponent(y) < 150) {
        uint32_t t = qdq_sfp_scale_add(chip, y & MAGNITUDE, 1, 0x1p23f);
        y = qdq_sfp_with_sign(qdq_sfp_scale_add(chip, t, 1, -0x1p23f), y);
    }
    return qdq_sfpmul(chip, y, ONE);
}

//---- Signs ------------------------------------------------------------------

uint32_t qdq_sfpu_abs(const qdq_sfpu_program *program, uint32_t x) {
    (void)program;
    return qdq_sfp_abs(x);
}

uint32_t qdq_sfpu_neg(const qdq_sfpu_program *program, uint32_t x) {
    (void)program;
    return qdq_sfp_negate(x);
}

// Tests bits: the sign of -0 is -1, that of NaN 1 or -1.
uint32_t qdq_sfpu_sign(const qdq_sfpu_program *program, uint32_t x) {
    (void)program;
    if (x == 0) return 0;
    return qdq_sfp_negative(x) ? MINUS_ONE : ONE;
}
