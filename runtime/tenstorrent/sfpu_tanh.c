// SPDX-License-Identifier: Apache-2.0
// tanh, and functions by linear segments (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"

//---- tanh -------------------------------------------------------------------

uint32_t qdq_sfpu_tanh(const qdq_sfpu_program *program, uint32_t x) {
    static const float c[] = {0,
                              0.999004364013671875f,
                              3.0897438526153564453125e-2f,
                              -0.4890659749507904052734375f,
                              0.281917631626129150390625f,
                              -6.6649019718170166015625e-2f,
                              5.876733921468257904052734375e-3f};
    uint32_t y = QDQ_SFP_POLYNOMIAL(program->chip, qdq_sfp_abs(x), c);
    return qdq_sfp_with_sign(qdq_sfp_min(y, ONE), x);
}

// Returns (exp(a) - 1) / 2; i is a / log(2), rounded.
static uint32_t half_expm1(qdq_multiply_add chip, uint32_t a, uint32_t i) {
    static const float c[] = {
        0.5f, 1.666667163e-1f, 4.166680202e-2f, 8.331298828e-3f, 1.393318176e-3f, 1.974105835e-04f};
    uint32_t minus_log2 = qdq_float_bits(-0.6931471805599453f);
    uint32_t f = qdq_sfpmad(chip, qdq_sfp_cast(i), minus_log2, a);
    uint32_t square = qdq_sfpmul(chip, f, f);
    uint32_t y = qdq_sfpmad(chip, QDQ_SFP_POLYNOMIAL(chip, f, c), square, f);
    uint32_t power = qdq_sfp_with_exponent(0, (int64_t)i + 126);
    return qdq_sfpmad(chip, y, power, qdq_sfp_subtract(chip, power, HALF));
}

// h / (h + 1), where h is half of exp(2 |x|) - 1. The reciprocal begins with a subtraction of bits.
uint32_t qdq_sfpu_tanh_float32(const qdq_sfpu_program *program, uint32_t x) {
    const qdq_multiply_add chip = program->chip;
    uint32_t scaled = qdq_sfpmul(chip, x, qdq_float_bits(2 * 1.442695f));
    uint32_t a = qdq_sfpadd(chip, x, x) & MAGNITUDE, i = qdq_sfp_round(scaled, 255, false);
    if (i >= 61) return qdq_sfp_with_sign(qdq_sfpmad(chip, a - 1, 0, ONE), x);
    if (qdq_sfp_exponent(x) < 115) return x;
    uint32_t h = half_expm1(chip, a, i), d = qdq_sfpadd(chip, h, ONE);
    uint32_t minus_inverse = 0xFEF30000u - d;
    uint32_t rest = qdq_sfpmad(chip, d, minus_inverse, ONE);
    rest = qdq_sfpmad(chip, rest, rest, rest);
    minus_inverse = qdq_sfpmad(chip, minus_inverse, rest, minus_inverse);
    uint32_t y = qdq_sfpmul(chip, h, minus_inverse);
    rest = qdq_sfpmad(chip, d, y, h);
    return qdq_sfp_with_sign(qdq_sfpmad(chip, rest, minus_inverse, y), x);
}

//---- Segments ---------------------------------------------------------------

// SFPLUTFP32: words of six segments of |x|, which end at 0.5, 1, 1.5, 2, 3 (or 4) and infinity.
typedef struct segments {
    uint16_t slopes[6], intercepts[6];
    bool fifth_ends_at_4;
} segments;

// A word has 5 bits of exponent; 31 of them means 0.
static uint32_t from_word(uint16_t word) {
    uint32_t exponent = word >> 10 & 31;
    exponent = exponent == 31 ? 0 : exponent + 112;
    return (uint32_t)(word >> 15) << 31 | exponent << 23 | (uint32_t)(word & 0x3FF) << 13;
}

static uint32_t look_up(qdq_multiply_add chip, const segments *table, uint32_t x) {
    const uint32_t fifth = table->fifth_ends_at_4 ? 0x40800000u : 0x40400000u;
    const uint32_t ends[5] = {HALF, ONE, 0x3FC00000u, TWO, fifth};
    uint32_t a = x & MAGNITUDE;
    int i = 0;
    while (i < 5 && a >= ends[i]) i++;
    return qdq_sfpmad(chip, from_word(table->slopes[i]), a, from_word(table->intercepts[i]));
}

uint32_t qdq_sfpu_tanh_six_segments(const qdq_sfpu_program *program, uint32_t x) {
    static const segments table = {{0x3B98, 0x38CB, 0x3498, 0x2F89, 0x27EE, 0x7C00},
                                   {0x7C00, 0x3193, 0x37B6, 0x39DB, 0x3B3F, 0x3C00},
                                   false};
    return qdq_sfp_with_sign(look_up(program->chip, &table, x), x);
}

// 0.5 and a part that is odd in x.
uint32_t qdq_sfpu_sigmoid_six_segments(const qdq_sfpu_program *program, uint32_t x) {
    static const segments table = {{0x33D9, 0x32F4, 0x318A, 0x300A, 0x2A35, 0x7C00},
                                   {0x7C00, 0x23C8, 0x2BAA, 0x3027, 0x34CC, 0x37FF},
                                   true};
    uint32_t odd = qdq_sfp_with_sign(look_up(program->chip, &table, x), x);
    return qdq_sfpadd(program->chip, odd, HALF);
}

// 0.5 x and a part that is even in x. Slopes .1928 .4939 .6188 .6099 .5402 .5, intercepts
// -.00010443
// -.1604 -.2796 -.2635 -.1194 0.
uint32_t qdq_sfpu_gelu_segments(const qdq_sfpu_program *program, uint32_t x) {
    static const segments table = {{0x322B, 0x37E7, 0x38F3, 0x38E1, 0x3852, 0x3800},
                                   {0x86D8, 0xB122, 0xB479, 0xB437, 0xAFA4, 0x7C00},
                                   false};
    uint32_t even = look_up(program->chip, &table, x);
    return qdq_sfpadd(program->chip, qdq_sfpmul(program->chip, x, HALF), even);
}

// SFPLUT: three segments of |x|, which end at 1, 2 and infinity. A byte has the sign, 3 bits of
// exponent and 4 of mantissa; FF means 0.
static uint32_t from_byte(uint8_t byte) {
    if (byte == 0xFF) return 0;
    uint32_t exponent = 127 - (byte >> 4 & 7u);
    return (uint32_t)(byte >> 7) << 31 | exponent << 23 | (uint32_t)(byte & 15) << 19;
}

// Returns slope * |x| + intercept of the segment of |x|, with the sign of x.
static uint32_t look_up_bytes(qdq_multiply_add chip, const uint8_t slopes[3],
                              const uint8_t intercepts[3], uint32_t x) {
    uint32_t a = x & MAGNITUDE;
    int i = a < ONE ? 0 : a < TWO ? 1 : 2;
    uint32_t y = qdq_sfpmad(chip, from_byte(slopes[i]), a, from_byte(intercepts[i]));
    return qdq_sfp_with_sign(y, x);
}

uint32_t qdq_sfpu_tanh_three_segments(const qdq_sfpu_program *program, uint32_t x) {
    static const uint8_t slopes[3] = {0x1D, 0x48, 0xFF}, intercepts[3] = {0xFF, 0x1A, 0x00};
    return look_up_bytes(program->chip, slopes, intercepts, x);
}

uint32_t qdq_sfpu_sigmoid_three_segments(const qdq_sfpu_program *program, uint32_t x) {
    static const uint8_t slopes[3] = {0x3D, 0x21, 0xFF}, intercepts[3] = {0xFF, 0xD8, 0x10};
    uint32_t odd = look_up_bytes(program->chip, slopes, intercepts, x);
    return qdq_sfpadd(program->chip, odd, HALF);
}
