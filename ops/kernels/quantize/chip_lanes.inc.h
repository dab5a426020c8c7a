// SPDX-License-Identifier: Apache-2.0
// The multiply-add and the reciprocal of Tenstorrent chips without branches, which compilers turn
// into vectors of integers: runtime/tenstorrent/ has the definitions, step by step.
// `wormhole` is a constant of each caller.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_CHIP_LANES_INC_H
#define QDQ_OPS_KERNELS_QUANTIZE_CHIP_LANES_INC_H

#include <math.h>

#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"

#define CHIP_SIGN 0x80000000u
#define CHIP_INFINITY 0x7F800000u
#define CHIP_ONE 0x3F800000u
#define CHIP_2_26 0x4C800000u

// A condition as a mask of 32 bits, and the choice by a mask: compilers vectorize these where they
// give up on chains of conditions.
#define CHIP_IF(condition) ((condition) ? 0xFFFFFFFFu : 0u)
static inline uint32_t chip_pick(uint32_t mask, uint32_t yes, uint32_t no) {
    return no ^ ((yes ^ no) & mask);
}

// Shifts to the right; bits that are lost set bit 0, unless nothing is left. v is below 2^30.
static inline int32_t chip_shift_right(int32_t v, int32_t by) {
    by = by < 31 ? by : 31;
    int32_t shifted = v >> by, some = shifted < 1 ? shifted : 1;
    return shifted | ((int32_t)CHIP_IF(shifted << by != v) & some);
}

// Returns the product of two significands times 8, without its last 23 bits; bit 0 is set if one
// was lost. The float product of the significands, y's times 2^26, is a multiple of 8 below 2^28;
// fmaf returns the rounding error.
static inline int32_t chip_product(uint32_t x, uint32_t y) {
    float a = qdq_float_from_bits((x & 0x7FFFFF) | CHIP_ONE);
    float b = qdq_float_from_bits((y & 0x7FFFFF) | CHIP_2_26);
    float high = a * b, low = __builtin_fmaf(a, b, -high), whole = floorf(low);
    return ((int32_t)high + (int32_t)whole) | (int32_t)(CHIP_IF(low != whole) & 1);
}

static inline int32_t chip_with_sign(int32_t v, uint32_t sign) {
    int32_t negative = (int32_t)sign >> 31;
    return (v ^ negative) - negative;
}

// Wormhole forgets bit 1 of a sum of 29 bits when it rounds to 24, if bit 0 is not set.
static inline int32_t chip_forget(int32_t sum) {
    int32_t size = sum < 0 ? -sum : sum;
    uint32_t forgets = CHIP_IF(size >= 1 << 28) & CHIP_IF((sum & 3) == 2);
    return sum + (int32_t)(forgets & (uint32_t)((sum >> 31 & 4) - 2));
}

// x * y + z for finite y and z, as qdq_sfpmad computes it, with three exceptions. If x * y and z
// are both below 2^-99, the result is 0. A NaN becomes infinity with the sign of the NaN; an
// infinite x gives infinity even if y is 0. A zero may have another sign.
//
// Converting the sum to float rounds as the chip does, except for the bit that chip_forget clears.
// This bit changes results by one unit in the last place, never across half an integer: callers
// that round to integers next leave it out (`forgets` false).
static inline uint32_t chip_mad(bool wormhole, bool forgets, uint32_t x, uint32_t y, uint32_t z) {
    int32_t of_x = (int32_t)(x >> 23 & 0xFF), of_y = (int32_t)(y >> 23 & 0xFF);
    int32_t of_z = (int32_t)(z >> 23 & 0xFF);
    int32_t some = (int32_t)(CHIP_IF(of_x != 0) & CHIP_IF(of_y != 0));  // a product that is not 0
    int32_t exponent = (of_x + of_y - 127) & some;
    int32_t common = exponent > of_z ? exponent : of_z;
    int32_t product = chip_product(x, y) & some;
    int32_t addend = (int32_t)((z & 0x7FFFFF) | 0x800000) << 3 & (int32_t)CHIP_IF(of_z != 0);
    product = chip_with_sign(chip_shift_right(product, common - exponent), x ^ y);
    addend = chip_with_sign(chip_shift_right(addend, common - of_z), z);
    int32_t sum = product + addend;
    if (forgets && wormhole) sum = chip_forget(sum);
    int32_t power = common > 26 ? common - 26 : 0;  // 0: the factor is 0
    uint32_t bits = qdq_float_bits((float)sum * qdq_float_from_bits((uint32_t)power << 23));
    uint32_t sign = (x ^ y) & CHIP_SIGN;
    if (!wormhole) sign &= CHIP_IF((int32_t)(x & ~CHIP_SIGN) <= (int32_t)CHIP_INFINITY);
    uint32_t infinite = CHIP_IF((of_x > exponent ? of_x : exponent) >= 255);
    return chip_pick(infinite, sign | CHIP_INFINITY, bits);
}

//---- Reciprocal -------------------------------------------------------------

// True if chip_reciprocal takes v, whose size must be from 2^-90 to 2^91.
static inline bool chip_is_middling(uint32_t v) {
    uint32_t exponent = v >> 23 & 0xFF;
    return exponent - 37 < 181;
}

// The chip cuts a product below the unit 1 / grid of the sum, and sets the last bit if it lost a
// bit. This shows where nearly equal terms cancel; everywhere else in these functions the chip's
// multiply-add is an IEEE fma (tests/ops/kernels/test_chip_quotients.c has every significand).
//
// a - x * y, if this is exact before the cut: the terms are close, or a is a multiple of the grid.
static inline float chip_rest(float a, float x, float y, float grid) {
    float high = x * y, low = __builtin_fmaf(x, y, -high) * grid, whole = floorf(low);
    int32_t cut = (int32_t)whole | (int32_t)(CHIP_IF(whole != low) & 1);
    return __builtin_fmaf((float)-cut, 1 / grid, a - high);
}

// 1 / x for x in [1, 2): a parabola, which one step of Newton's method improves.
static inline float chip_wormhole_seed(float x) {
    const float k0 = 0.3232325017452239990234375f, k1 = 1.4545459747314453125f;
    float y = chip_rest(2.121212482452392578125f, __builtin_fmaf(-k0, x, k1), x, 0x1p25f);
    return __builtin_fmaf(y, chip_rest(1, x, y, 0x1p26f), y);
}

// 7 bits of 1 / x for x in [1, 2): floor(128 * (512 / d - 1) + 0.5) for odd d, never close to a
// whole number.
static inline float chip_table(float x) {
    uint32_t d = 257 + 2 * (qdq_float_bits(x) >> 16 & 0x7F);
    float top = (float)(int32_t)(131072 - 255 * d) / (float)(int32_t)(2 * d);
    return qdq_float_from_bits(0x3F000000u | (uint32_t)(int32_t)top << 16);
}

static inline float chip_blackhole_seed(float x) {
    float y = chip_table(x);
    return y * (1 + chip_rest(1, x, y, 0x1p25f));
}

// v with the exponent of 1.
static inline float chip_significand(uint32_t v) {
    return qdq_float_from_bits((v & 0x7FFFFF) | CHIP_ONE);
}

// Returns the reciprocal of v from the reciprocal of its significand: times a power of two, which
// is exact.
static inline uint32_t chip_as_reciprocal(float y, uint32_t v) {
    return (v & CHIP_SIGN) | (qdq_float_bits(y) + ((127u - (v >> 23 & 0xFF)) << 23));
}

static inline uint32_t chip_wormhole_reciprocal(uint32_t v) {
    float x = chip_significand(v), y = chip_wormhole_seed(x);
    return chip_as_reciprocal(__builtin_fmaf(y, chip_rest(1, x, y, 0x1p26f), y), v);
}

static inline uint32_t chip_blackhole_reciprocal(uint32_t v) {
    float x = chip_significand(v), y = chip_table(x), e = chip_rest(1, x, y, 0x1p26f);
    float t = __builtin_fmaf(__builtin_fmaf(e, e, e), e, e);
    return chip_as_reciprocal(__builtin_fmaf(t, y, y), v);
}

// Returns 1 / v as qdq_sfp_reciprocal computes it.
static inline uint32_t chip_reciprocal(bool wormhole, uint32_t v) {
    return wormhole ? chip_wormhole_reciprocal(v) : chip_blackhole_reciprocal(v);
}

//---- Quotient ---------------------------------------------------------------

// Returns the estimate of 1 / b with which a division begins, from the significand of b.
static inline float chip_seed(bool wormhole, uint32_t b) {
    float x = chip_significand(b);
    return wormhole ? chip_wormhole_seed(x) : chip_blackhole_seed(x);
}

// Returns a / b as qdq_sfp_divide computes it, for a seed of b, a zero or finite, and b and the
// quotient normal or too large. A zero has no sign.
static inline uint32_t chip_divide_seeded(uint32_t a, uint32_t b, float seed) {
    float of_a = chip_significand(a), of_b = chip_significand(b), q = of_a * seed;
    q = __builtin_fmaf(chip_rest(of_a, q, of_b, 0x1p26f), seed, q);
    uint32_t bits = qdq_float_bits(q), sign = (a ^ b) & CHIP_SIGN;
    int32_t from = (int32_t)(a >> 23 & 0xFF);
    int32_t exponent = from - (int32_t)(b >> 23 & 0xFF) + (int32_t)(bits >> 23);
    uint32_t finite = sign | (uint32_t)exponent << 23 | (bits & 0x7FFFFF);
    finite = chip_pick(CHIP_IF(exponent >= 255), sign | CHIP_INFINITY, finite);
    return finite & CHIP_IF(from != 0) & CHIP_IF(exponent > 0);
}

#endif
