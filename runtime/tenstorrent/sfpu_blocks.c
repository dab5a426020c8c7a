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

// The exponent of 2^k, beyond the range of float32.
static uint32_t exp_out_of_range(qdq_multiply_add chip, uint32_t y, bool too_great) {
    if (chip == QDQ_MULTIPLY_ADD_BLACKHOLE)
        return too_great ? qdq_sfpmul(chip, y, INFINITY_BITS) : 0;
    uint32_t zero_or_nan = qdq_sfpmul(chip, y - 1, 0);
    return too_great ? qdq_sfpadd(chip, zero_or_nan, INFINITY_BITS) : zero_or_nan;
}

uint32_t qdq_sfp_exp_float32(qdq_multiply_add chip, uint32_t x) {
    static const float c[] = {1.0f,           4.99999851e-1f, 1.66664720e-1f,
                              4.16695364e-2f, 8.37312452e-3f, 1.37805939e-3f};
    uint32_t scaled = qdq_sfpmul(chip, x, qdq_float_bits(1.442695f));
    uint32_t k = qdq_sfp_round(scaled, 32767, true), of_k = qdq_sfp_cast(k);
    uint32_t f = qdq_sfpmad(chip, of_k, qdq_float_bits(-6.93145752e-1f), x);
    f = qdq_sfpmad(chip, of_k, qdq_float_bits(-1.42860677e-6f), f);
    uint32_t y = QDQ_SFP_POLYNOMIAL(chip, f, c);
    uint32_t result = qdq_sfpmad(chip, y, f, ONE);
    int exponent = qdq_sfp_exponent(result) + qdq_from_sign_magnitude(k);
    if (exponent < 1 || exponent >= 255) return exp_out_of_range(chip, y, exponent >= 255);
    return qdq_sfp_with_exponent(result, exponent);
}

//---- expm1 ------------------------------------------------------------------

uint32_t qdq_sfp_minus_log2(qdq_multiply_add chip, uint32_t x, uint32_t k) {
    x = qdq_sfpmad(chip, k, qdq_float_bits(-0.693115234375f), x);
    return qdq_sfpmad(chip, k, qdq_float_bits(-3.19461832987e-05f), x);
}

uint32_t qdq_sfp_expm1(qdq_multiply_add chip, uint32_t x, bool is_float32) {
    static const float short_c[] = {1.0f, 4.9999371171e-01f, 1.6666433215e-01f, 4.1875664145e-02f,
                                    8.3751315251e-03f};
    static const float long_c[] = {1.0f,
                                   5.0000000000e-01f,
                                   1.6666504741e-01f,
                                   4.1666239500e-02f,
                                   8.3691505715e-03f,
                                   1.3948583510e-03f};
    x = qdq_sfp_max(x, qdq_float_bits(-87));
    uint32_t shifted = qdq_sfpmad(chip, x, QDQ_SFP_LOG2_E, QDQ_SFP_SHIFTER);
    uint32_t k = qdq_sfp_subtract(chip, shifted, QDQ_SFP_SHIFTER);
    uint32_t f = qdq_sfp_minus_log2(chip, x, k);
    uint32_t h =
        is_float32 ? QDQ_SFP_POLYNOMIAL(chip, f, long_c) : QDQ_SFP_POLYNOMIAL(chip, f, short_c);
    h = qdq_sfpmul(chip, f, h);
    uint32_t power = qdq_sfp_with_exponent(0, (int64_t)shifted - QDQ_SFP_SHIFTER + 127);
    return qdq_sfpmad(chip, power, h, qdq_sfpadd(chip, power, MINUS_ONE));
}
