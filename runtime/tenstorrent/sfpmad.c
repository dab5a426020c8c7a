// SPDX-License-Identifier: Apache-2.0
// SFPMAD step by step (docs/device_arithmetic.md 1). ops/kernels/quantize/chip_lanes.inc.h has the
// same function without branches.
#include "runtime/tenstorrent/sfpmad.h"

#include "runtime/tenstorrent/patterns.h"

enum { SIGN = 31, INFINITE = 255, GUARD_BITS = 3, WIDTH = 27 };  // of a sum: 24 and the guard bits

#define WORMHOLE_NAN 0x7F800001u

// A float32 in parts.
typedef struct parts {
    uint32_t bits, sign;  // 0 or SIGN_BIT
    int exponent;         // biased
    uint32_t mantissa;    // 24 bits; 0 for zeros and denormals
} parts;

static parts parts_of(uint32_t bits) {
    int exponent = (int)(bits >> 23 & 0xFF);
    uint32_t mantissa = exponent ? (bits & 0x7FFFFF) | 0x800000 : 0;
    return (parts){bits, bits & SIGN_BIT, exponent, mantissa};
}

static bool is_nan(parts v) { return v.exponent == INFINITE && v.mantissa != 0x800000; }
static bool is_infinite(parts v) { return v.exponent == INFINITE && v.mantissa == 0x800000; }

static int bit_length(uint32_t v) {
    int length = 0;
    for (; v; v >>= 1) length++;
    return length;
}

// Bits that are lost set the last bit, unless nothing is left.
static uint32_t shift_right(uint32_t v, int by) {
    uint32_t shifted = by < 32 ? v >> by : 0;
    if (!shifted) return 0;
    return shifted | (shifted << by != v ? 1u : 0u);
}

// An operand or the product is infinite or NaN. Returns true if `*result` is final; else it is a
// NaN of Wormhole, whose payload the sum still changes.
static bool special(bool wormhole, parts x, parts y, parts z, int exponent, uint32_t *result) {
    uint32_t sign = x.sign ^ y.sign;
    bool infinite_product = x.exponent == INFINITE || y.exponent == INFINITE;
    bool bad = is_nan(x) || is_nan(y) || (is_infinite(x) && !y.mantissa) ||
               (is_infinite(y) && !x.mantissa);
    if (wormhole) infinite_product = infinite_product || exponent >= INFINITE;
    bool cancels = is_infinite(z) && infinite_product && z.sign != sign;
    if (wormhole && (bad || cancels || is_nan(z))) {
        *result = WORMHOLE_NAN | (bad || cancels ? sign : z.sign);
        return false;
    }
    if (bad || cancels || is_nan(z))
        *result = NAN_BITS;
    else
        *result = is_infinite(z) ? z.bits : sign | INFINITY_BITS;
    return true;
}

// Rounds a sum, half to even, and packs it. `nan` is a NaN of Wormhole or 0.
static uint32_t rounded(bool wormhole, uint32_t sum, uint32_t sign, int exponent, uint32_t nan) {
    int excess = bit_length(sum) - WIDTH;
    exponent += excess;
    if (exponent >= INFINITE) return nan ? nan : sign | INFINITY_BITS;
    if (wormhole && exponent < 0) return nan;
    if (!wormhole && exponent <= 0) excess++, exponent = 0;
    if (excess > 0) {
        uint32_t lost = sum & (wormhole ? 1u : (uint32_t)excess | 1u);
        sum = (sum >> excess) | (lost ? 1u : 0u);
    } else {
        sum <<= -excess;
    }
    uint32_t bits = ((uint32_t)exponent << 23) + (sum >> GUARD_BITS & 0x7FFFFF);
    bits += (sum & 7) + (bits & 1) > 4 ? 1 : 0;
    if (bits < LEAST_NORMAL) return wormhole ? nan : sign;
    return (nan ? nan : sign) | bits;
}

uint32_t qdq_sfpmad(qdq_multiply_add chip, uint32_t x_bits, uint32_t y_bits, uint32_t z_bits) {
    const bool wormhole = chip == QDQ_MULTIPLY_ADD_WORMHOLE;
    parts x = parts_of(x_bits), y = parts_of(y_bits), z = parts_of(z_bits);
    uint32_t sign = x.sign ^ y.sign, nan = 0;
    uint64_t exact = (uint64_t)x.mantissa * y.mantissa << GUARD_BITS;
    uint32_t product = (uint32_t)(exact >> 23) | (exact & 0x7FFFFF ? 1u : 0u);
    uint32_t addend = z.mantissa << GUARD_BITS;
    int exponent = x.exponent + y.exponent - 127;
    if (x.exponent == INFINITE || y.exponent == INFINITE || z.exponent == INFINITE ||
        exponent >= INFINITE) {
        uint32_t result;
        if (special(wormhole, x, y, z, exponent, &result)) return result;
        nan = result;
        if (exponent > INFINITE) exponent = INFINITE;
    }
    uint32_t zero = wormhole ? 0 : sign & z.sign;
    if (!product || exponent < 0) {
        if (!nan) return z.mantissa ? z_bits : zero;
        product = 0, exponent = 0;
    }
    int common = exponent > z.exponent ? exponent : z.exponent;
    product = shift_right(product, common - exponent);
    addend = shift_right(addend, common - z.exponent);
    uint32_t sum = product + addend;
    if (sign != z.sign) {
        sum = product >= addend ? product - addend : addend - product;
        sign = product >= addend ? sign : z.sign;
    }
    if (!sum) return nan ? nan : zero;
    return rounded(wormhole, sum, sign, common, nan);
}

uint32_t qdq_sfpmul(qdq_multiply_add chip, uint32_t x, uint32_t y) {
    return qdq_sfpmad(chip, x, y, 0);
}

uint32_t qdq_sfpadd(qdq_multiply_add chip, uint32_t x, uint32_t y) {
    return qdq_sfpmad(chip, x, 0x3F800000, y);
}
