// SPDX-License-Identifier: Apache-2.0
// Square roots and reciprocals (docs/device_arithmetic.md 9).
#include "runtime/tenstorrent/sfpu_blocks.h"
#include "runtime/tenstorrent/sfpu_kernels.h"

//---- Square roots -----------------------------------------------------------

// An approximation y of 1 / sqrt(x) in two steps, sqrt(x) = x * y, and the rest 1 - x * y * y.
typedef struct root {
    uint32_t inverse, root, rest;
} root;

static root root_of(qdq_multiply_add chip, uint32_t x) {
    uint32_t y = 0x5F1110A0u - (x >> 1), xy = qdq_sfpmul(chip, x, y);
    uint32_t c = qdq_sfpmul(chip, qdq_sfp_negate(y), xy);
    uint32_t inner = qdq_sfpadd(chip, qdq_float_bits(2.2533049f), c);
    y = qdq_sfpmul(chip, y, qdq_sfpmad(chip, c, inner, qdq_float_bits(2.2825186f)));
    xy = qdq_sfpmul(chip, x, y);
    return (root){y, xy, qdq_sfpmad(chip, qdq_sfp_negate(y), xy, ONE)};
}

// The approximate kernels take one step: y * (1.89 - x * y * y).
static root root_near(qdq_multiply_add chip, uint32_t x) {
    uint32_t y = 0x5F0B3892u - (x >> 1), xy = qdq_sfpmul(chip, x, y);
    uint32_t factor = qdq_sfpmad(chip, qdq_sfp_negate(y), xy, qdq_float_bits(1.89099014875f));
    return (root){y, xy, factor};
}

uint32_t qdq_sfpu_sqrt(const qdq_sfpu_program *program, uint32_t x) {
    if (qdq_sfp_negative(x)) return NAN_BITS;
    root r = root_of(program->chip, x);
    if (x >= INFINITY_BITS) return r.root;
    uint32_t half = qdq_sfpmul(program->chip, r.root, HALF);
    return qdq_sfpmad(program->chip, r.rest, half, r.root);
}

uint32_t qdq_sfpu_sqrt_approximate(const qdq_sfpu_program *program, uint32_t x) {
    if (qdq_sfp_negative(x)) return NAN_BITS;
    root r = root_near(program->chip, x);
    return x == INFINITY_BITS ? r.root : qdq_sfpmul(program->chip, r.root, r.rest);
}

// 1 / sqrt of +0 and of infinity is their difference to infinity, as bits.
uint32_t qdq_sfpu_rsqrt(const qdq_sfpu_program *program, uint32_t x) {
    if (qdq_sfp_negative(x)) return NAN_BITS;
    if (x == 0 || x == INFINITY_BITS) return INFINITY_BITS - x;
    root r = root_of(program->chip, x);
    int exponent = qdq_sfp_exponent(r.inverse);
    uint32_t half = qdq_sfp_with_exponent(r.inverse, exponent == 255 ? 255 : exponent - 1);
    return qdq_sfpmad(program->chip, r.rest, half, r.inverse);
}

uint32_t qdq_sfpu_rsqrt_approximate(const qdq_sfpu_program *program, uint32_t x) {
    if (qdq_sfp_negative(x)) return NAN_BITS;
    if (x == 0 || x == INFINITY_BITS) return INFINITY_BITS - x;
    root r = root_near(program->chip, x);
    return qdq_sfpmul(program->chip, r.inverse, r.rest);
}

//---- Reciprocals ------------------------------------------------------------

// Blackhole's kernel for bfloat16 tensors: adds the upper half of the error's pattern to the
// pattern of 1 / x. The result is truncated; rounding would carry the lower half into it.
static uint32_t blackhole_reciprocal(uint32_t x) {
    uint32_t y = qdq_sfp_approximate_reciprocal(x) | 0x8000;
    uint32_t error = qdq_sfpmad(QDQ_MULTIPLY_ADD_BLACKHOLE, x, y, MINUS_ONE);
    return y + (error >> 16);
}

uint32_t qdq_sfpu_reciprocal(const qdq_sfpu_program *program, uint32_t x) {
    if (program->chip == QDQ_MULTIPLY_ADD_BLACKHOLE) return blackhole_reciprocal(x);
    return qdq_sfp_reciprocal_newton(program->chip, x, 1);
}

// Wormhole rounds the reciprocal of the significand, before it is scaled: correctly rounded.
uint32_t qdq_sfpu_reciprocal_rounded(const qdq_sfpu_program *program, uint32_t x) {
    static const float seed[3] = {0.32133400440216064453125f, 1.4514148235321044921875f,
                                  2.1200883388519287109375f};
    if (program->chip == QDQ_MULTIPLY_ADD_BLACKHOLE) return blackhole_reciprocal(x);
    uint32_t y = qdq_sfp_round_bfloat16(qdq_sfp_reciprocal_significand(x, seed, 1));
    return qdq_sfp_reciprocal_scaled(y, x);
}

uint32_t qdq_sfpu_reciprocal_float32(const qdq_sfpu_program *program, uint32_t x) {
    return qdq_sfp_reciprocal(program->chip, x);
}
