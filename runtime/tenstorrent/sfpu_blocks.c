// SPDX-License-Identifier: Apache-2.0
// Parts that kernels of the vector unit share (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_blocks.h"

//---- Arithmetic -------------------------------------------------------------

uint32_t qdq_sfp_scale_add(qdq_multiply_add chip, uint32_t x, float y, float z) {
    return qdq_sfpmad(chip, x, qdq_float_bits(y), qdq_float_bits(z));
}

uint32_t qdq_sfp_subtract(qdq_multiply_add chip, uint32_t a, uint32_t b) {
    return qdq_sfpmad(chip, b, MINUS_ONE, a);
}

uint32_t qdq_sfp_polynomial(qdq_multiply_add chip, uint32_t x, const float *c, int count) {
    uint32_t y = qdq_float_bits(c[count - 1]);
    for (int i = count - 2; i >= 0; i--) y = qdq_sfpmad(chip, x, y, qdq_float_bits(c[i]));
    return y;
}

bool qdq_sfp_below(qdq_multiply_add chip, uint32_t x, float k) {
    return qdq_sfp_negative(qdq_sfp_subtract(chip, x, qdq_float_bits(k)));
}

bool qdq_sfp_above(qdq_multiply_add chip, uint32_t x, float k) {
    uint32_t difference = qdq_sfp_subtract(chip, x, qdq_float_bits(k));
    return difference && !qdq_sfp_negative(difference);
}

uint32_t qdq_sfp_clamp(uint32_t x, float low, float high) {
    return qdq_sfp_max(qdq_sfp_min(x, qdq_float_bits(high)), qdq_float_bits(low));
}

//---- Powers of two ----------------------------------------------------------

uint32_t qdq_sfp_fixed(uint32_t v) {
    return qdq_sfp_shift((v & 0x7FFFFF) | 0x800000, qdq_sfp_exponent(v) - 127);
}

uint32_t qdq_sfp_power(qdq_multiply_add chip, uint32_t z, uint32_t exponent, float c0) {
    const float c[] = {c0, 7.839635491371155e-08f, 4.791750143340323e-15f};
    uint32_t y = QDQ_SFP_POLYNOMIAL(chip, qdq_sfp_cast(z & 0x7FFFFF), c);
    return qdq_sfp_with_exponent(y, qdq_sfp_exponent(exponent));
}

uint32_t qdq_sfp_exp(qdq_multiply_add chip, uint32_t x) {
    uint32_t scaled = qdq_sfpmad(chip, x, QDQ_SFP_LOG2_E, qdq_float_bits(127));
    scaled = qdq_sfp_min(qdq_sfp_max(scaled, 0), qdq_float_bits(255));
    uint32_t z = qdq_sfp_fixed(scaled);
    return qdq_sfp_power(chip, z, z, QDQ_SFP_POWER);
}
