// SPDX-License-Identifier: Apache-2.0
// exp (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"

// Blackhole bounds the power from above only; below 0 the exponent is 0, and the
// unbounded power gives the fraction.
uint32_t qdq_sfpu_exp(const qdq_sfpu_program *program, uint32_t x) {
    const qdq_multiply_add chip = program->chip;
    uint32_t scaled = qdq_sfpmad(chip, x, QDQ_SFP_LOG2_E, qdq_float_bits(127));
    if (chip == QDQ_MULTIPLY_ADD_WORMHOLE) scaled = qdq_sfp_max(scaled, 0);
    scaled = qdq_sfp_min(scaled, qdq_float_bits(255));
    uint32_t z = qdq_sfp_fixed(scaled), exponent = z;
    if (qdq_sfp_negative(scaled) || !scaled) exponent = 0;
    return qdq_sfp_power(chip, z, exponent, QDQ_SFP_POWER_EXP);
}

// The integer, 256 times the power without its sign, shifted up, is the pattern of the result.
uint32_t qdq_sfpu_exp_approximate(const qdq_sfpu_program *program, uint32_t x) {
    x = qdq_sfp_max(x, qdq_float_bits(-88.5f));
    uint32_t scaled = qdq_sfpmad(program->chip, 0x43B8AA3Bu, x, 0x46FDE9A3u);
    return qdq_sfp_round(scaled, 65535, false) << 15;
}

uint32_t qdq_sfpu_exp_float32(const qdq_sfpu_program *program, uint32_t x) {
    return qdq_sfp_exp_float32(program->chip, x);
}
