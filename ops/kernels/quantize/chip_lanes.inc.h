// SPDX-License-Identifier: Apache-2.0
// The multiply-add and the reciprocal of Tenstorrent chips without branches, which compilers turn
// into vectors of integers: runtime/numerics/tenstorrent/ has the definitions, step by step.
// `wormhole` is a constant of each caller.
#include <math.h>

#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"

#define CHIP_SIGN 0x80000000u
#define CHIP_INFINITY 0x7F800000u
#define CHIP_ONE 0x3F800000u

// A condition as a mask of 32 bits, and the choice by a mask: compilers make vectors of these where
// they give up on chains of conditions.
#define CHIP_IF(condition) ((condition) ? 0xFFFFFFFFu : 0u)
static inline uint32_t chip_pick(uint32_t mask, uint32_t yes, uint32_t no) {
    return no ^ ((yes ^ no) & mask);
}

// 1 if any bit is set.
static inline uint32_t chip_any(uint32_t v) { return CHIP_IF(v != 0) & 1; }

// Shifts to the right; bits that are lost set bit 0, unless nothing is left.
static inline uint32_t chip_shift_right(uint32_t v, int32_t by) {
    by = by < 31 ? by : 31;
    uint32_t shifted = v >> by;
    uint32_t lost = chip_any((shifted << by) ^ v) & chip_any(shifted);
    return shifted | lost;
}

// The significand, 0 for denormals.
static inline uint32_t chip_mantissa(uint32_t v) {
    return ((v & 0x7FFFFF) | 0x800000) & CHIP_IF((v & CHIP_INFINITY) != 0);
}

// The product of two significands times 8, without its last 23 bits; bit 0 is set if one was lost.
// In parts of 12 bits, as few instruction sets multiply 32 bits to 64.
static inline uint32_t chip_product(uint32_t x, uint32_t y) {
    uint32_t x_high = x >> 12, x_low = x & 0xFFF, y_high = y >> 12, y_low = y & 0xFFF;
    uint32_t middle = x_high * y_low + x_low * y_high;
    uint32_t low = x_low * y_low + ((middle & 0xFFF) << 12);
    uint32_t high = x_high * y_high + (middle >> 12) + (low >> 24);
    return high << 4 | (low >> 20 & 0xF) | chip_any(low & 0xFFFFF);
}

// The number of bits of v, which is below 2^30. Without the bit after the first one the conversion
// cannot round up to the next power of two.
static inline int32_t chip_bit_length(uint32_t v) {
    float first = (float)(int32_t)(v & ~(v >> 1));
    return (int32_t)(qdq_float_bits(first) >> 23) - 126;
}

// Rounds a sum that is not 0 and packs it; `sign` is its sign.
static inline uint32_t chip_rounded(bool wormhole, uint32_t sum, uint32_t sign, int32_t exponent) {
    int32_t excess = chip_bit_length(sum) - 27;
    exponent += excess;
    uint32_t large = CHIP_IF(exponent >= 255);
    uint32_t small = wormhole ? CHIP_IF(exponent < 0) : CHIP_IF(exponent <= 0);
    if (!wormhole) {
        excess += (int32_t)(small & 1);
        exponent = (int32_t)((uint32_t)exponent & ~small);
    }
    int32_t right = excess > 0 ? excess : 0, left = excess < 0 ? -excess : 0;
    uint32_t lost = sum & (wormhole ? 1u : (uint32_t)right | 1u) & CHIP_IF(right != 0);
    sum = (sum >> right) << (left & 31) | chip_any(lost);
    uint32_t bits = ((uint32_t)exponent << 23) + (sum >> 3 & 0x7FFFFF);
    bits += ((sum & 7) + (bits & 1) + 3) >> 3;  // half to even: 1 from 5 on
    uint32_t zero = CHIP_IF((int32_t)bits < 0x00800000);
    if (wormhole) zero |= small;
    bits = chip_pick(large, CHIP_INFINITY, bits & ~zero);
    return bits | (wormhole ? sign & (~zero | large) : sign);
}

// x * y + z for a y that is a normal number and a z that is neither infinite nor NaN. A NaN has the
// sign that qdq_sfpmad gives it, not its payload.
static inline uint32_t chip_mad(bool wormhole, uint32_t x, uint32_t y, uint32_t z) {
    int32_t of_x = (int32_t)(x >> 23 & 0xFF), of_y = (int32_t)(y >> 23 & 0xFF);
    int32_t of_z = (int32_t)(z >> 23 & 0xFF), exponent = of_x + of_y - 127;
    uint32_t product = chip_product(chip_mantissa(x), chip_mantissa(y));
    uint32_t addend = chip_mantissa(z) << 3;
    uint32_t sign = (x ^ y) & CHIP_SIGN, z_sign = z & CHIP_SIGN;
    uint32_t nan = CHIP_IF((int32_t)(x & ~CHIP_SIGN) > (int32_t)CHIP_INFINITY);
    uint32_t infinite = CHIP_IF(of_x == 255) | CHIP_IF(exponent >= 255);
    uint32_t of_nan = wormhole ? sign | 0x7F800001u : 0x7FC00000u;
    uint32_t special = chip_pick(nan, of_nan, sign | CHIP_INFINITY);
    uint32_t alone = CHIP_IF(product == 0) | CHIP_IF(exponent < 0);
    int32_t common = exponent > of_z ? exponent : of_z;
    product = chip_shift_right(product, common - exponent);
    addend = chip_shift_right(addend, common - of_z);
    uint32_t subtracts = CHIP_IF(sign != z_sign);
    uint32_t less = CHIP_IF((int32_t)product < (int32_t)addend) & subtracts;
    uint32_t greater = chip_pick(less, addend, product), lesser = chip_pick(less, product, addend);
    uint32_t sum = greater + ((lesser ^ subtracts) - subtracts);
    uint32_t zero = wormhole ? 0 : sign & z_sign;
    uint32_t bits = chip_rounded(wormhole, sum, chip_pick(less, z_sign, sign), common);
    bits = chip_pick(CHIP_IF(sum == 0), zero, bits);
    uint32_t only_z = chip_pick(CHIP_IF(of_z != 0), z, zero);
    bits = chip_pick(alone, only_z, bits);
    return chip_pick(infinite, special, bits);
}

//---- Reciprocal -------------------------------------------------------------

// Whether chip_reciprocal takes v: neither it nor its reciprocal is near the ends of the range.
static inline bool chip_is_middling(uint32_t v) {
    uint32_t exponent = v >> 23 & 0xFF;
    return exponent - 4 < 246;
}

static inline uint32_t chip_wormhole_reciprocal(uint32_t v) {
    const uint32_t k0 = 0x3EA57EBB, k1 = 0x3FBA2E90, k2 = 0x4007C1F2;
    uint32_t minus = 0xBF800000u | (v & 0x7FFFFF);
    uint32_t y = chip_mad(true, chip_mad(true, k0, minus, k1), minus, k2);
    y = chip_mad(true, chip_mad(true, y, minus, CHIP_ONE), y, y);
    y = chip_mad(true, chip_mad(true, y, minus, CHIP_ONE), y, y);
    // Times a power of two, which is exact.
    y += (127u - (v >> 23 & 0xFF)) << 23;
    return (y & ~CHIP_SIGN) | (v & CHIP_SIGN);
}

static inline uint32_t chip_blackhole_reciprocal(uint32_t v) {
    // The table: floor(128 * (512 / d - 1) + 0.5) for odd d, never close to a whole number.
    uint32_t d = 257 + 2 * (v >> 16 & 0x7F);
    float quotient = (float)(int32_t)(131072 - 255 * d) / (float)(int32_t)(2 * d);
    uint32_t y =
        (v & CHIP_SIGN) | (253 - (v >> 23 & 0xFF)) << 23 | (uint32_t)(int32_t)quotient << 16;
    uint32_t e = chip_mad(false, v ^ CHIP_SIGN, y, CHIP_ONE);
    // e is at most 2^-7; 0 stands for itself, as y of chip_mad it would be no normal number.
    uint32_t t = chip_mad(false, chip_mad(false, e, e, e), e, e);
    t = chip_pick(CHIP_IF((e & CHIP_INFINITY) != 0), t, e);
    return chip_mad(false, t, y, y);
}

// 1 / v as qdq_sfp_reciprocal gives it.
static inline uint32_t chip_reciprocal(bool wormhole, uint32_t v) {
    return wormhole ? chip_wormhole_reciprocal(v) : chip_blackhole_reciprocal(v);
}
