// SPDX-License-Identifier: Apache-2.0
// Rounding, conversion, order, reciprocal and division of Tenstorrent's vector unit
// (docs/device_arithmetic.md 2 and 5).
#include "runtime/tenstorrent/sfpu.h"

#include <math.h>

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/patterns.h"
#include "runtime/tenstorrent/sfpmad.h"

//---- Rounding ---------------------------------------------------------------

uint32_t qdq_sfp_round(uint32_t v, uint32_t most, bool keeps_sign) {
    int power = (int)(v >> 23 & 0xFF) - 127;
    uint32_t magnitude = 0;
    if (power >= 16) {
        magnitude = most;
    } else if (power >= -1) {
        uint64_t mantissa = (v & 0x7FFFFF) | 0x800000;
        mantissa = power < 0 ? mantissa >> 1 : mantissa << power;
        magnitude = (uint32_t)(mantissa >> 23) + ((mantissa & 0x7FFFFF) >= 0x400000 ? 1 : 0);
        if (magnitude > most) magnitude = most;
    }
    return magnitude | (keeps_sign && magnitude ? v & SIGN_BIT : 0);
}

static bool is_nan(uint32_t v) { return (v & MAGNITUDE) > INFINITY_BITS; }

uint32_t qdq_sfp_round_bfloat16(uint32_t v) {
    if (is_nan(v)) return (v & SIGN_BIT) | INFINITY_BITS;
    if ((v & MAGNITUDE) < LEAST_NORMAL) return 0;
    return (v + 0x8000) & 0xFFFF0000u;
}

uint32_t qdq_sfp_store(uint32_t v) { return (v & MAGNITUDE) < LEAST_NORMAL ? v & SIGN_BIT : v; }

//---- Integers ---------------------------------------------------------------

uint32_t qdq_sfp_cast(uint32_t integer) {
    float magnitude = (float)(int32_t)(integer & MAGNITUDE);
    return qdq_float_bits(magnitude) | (integer & SIGN_BIT);
}

uint32_t qdq_sign_magnitude(int32_t v) {
    return v < 0 ? SIGN_BIT | (MAGNITUDE & (0u - (uint32_t)v)) : (uint32_t)v;
}

int32_t qdq_from_sign_magnitude(uint32_t v) {
    int32_t magnitude = (int32_t)(v & MAGNITUDE);
    return v & SIGN_BIT ? -magnitude : magnitude;
}

//---- Order ------------------------------------------------------------------

static int32_t place(uint32_t v) {
    int32_t magnitude = (int32_t)(v & MAGNITUDE);
    return v & SIGN_BIT ? -magnitude - 1 : magnitude;
}

uint32_t qdq_sfp_max(uint32_t a, uint32_t b) { return place(a) > place(b) ? a : b; }
uint32_t qdq_sfp_min(uint32_t a, uint32_t b) { return place(a) < place(b) ? a : b; }

//---- Reciprocal -------------------------------------------------------------

uint32_t qdq_sfp_reciprocal_significand(uint32_t x, const float seed[3], int steps) {
    const qdq_multiply_add chip = QDQ_MULTIPLY_ADD_WORMHOLE;
    uint32_t minus = 0xBF800000u | (x & 0x7FFFFF);
    uint32_t y = qdq_float_bits(seed[0]);
    for (int i = 1; i < 3; i++) y = qdq_sfpmad(chip, y, minus, qdq_float_bits(seed[i]));
    for (int i = 0; i < steps; i++) y = qdq_sfpmad(chip, y, qdq_sfpmad(chip, minus, y, ONE), y);
    return y;
}

uint32_t qdq_sfp_reciprocal_scaled(uint32_t y, uint32_t x) {
    const qdq_multiply_add chip = QDQ_MULTIPLY_ADD_WORMHOLE;
    uint32_t scale = qdq_sfpmul(chip, HALF, ~x & 0xFF800000u);
    return (qdq_sfpmul(chip, y, scale) & MAGNITUDE) | (x & SIGN_BIT);
}

static const float wormhole_seed[3] = {0.3232325017452239990234375f, 1.4545459747314453125f,
                                       2.121212482452392578125f};

static uint32_t wormhole_reciprocal(uint32_t x, int steps) {
    uint32_t y = qdq_sfp_reciprocal_significand(x, wormhole_seed, steps);
    return qdq_sfp_reciprocal_scaled(y, x);
}

uint32_t qdq_sfp_approximate_reciprocal(uint32_t x) {
    uint32_t sign = x & SIGN_BIT, magnitude = x & MAGNITUDE, exponent = magnitude >> 23;
    if (!exponent) return sign | INFINITY_BITS;
    if (exponent >= 253) return sign;
    double middle = 1 + ((double)(x >> 16 & 0x7F) + 0.5) / 128;
    uint32_t top = (uint32_t)floor(128 * (2 / middle - 1) + 0.5);
    return sign | (253 - exponent) << 23 | top << 16;
}

static uint32_t blackhole_reciprocal(uint32_t x) {
    const qdq_multiply_add chip = QDQ_MULTIPLY_ADD_BLACKHOLE;
    uint32_t y = qdq_sfp_approximate_reciprocal(x);
    uint32_t e = qdq_sfpmad(chip, x ^ SIGN_BIT, y, ONE);
    uint32_t t = qdq_sfpmad(chip, qdq_sfpmad(chip, e, e, e), e, e);
    return qdq_sfpmad(chip, qdq_sfp_min(t, ONE), y, y);
}

uint32_t qdq_sfp_reciprocal(qdq_multiply_add chip, uint32_t x) {
    return chip == QDQ_MULTIPLY_ADD_WORMHOLE ? wormhole_reciprocal(x, 2) : blackhole_reciprocal(x);
}

// Blackhole: a step is taken if x * y is below 2, which the first step tests for both.
uint32_t qdq_sfp_reciprocal_newton(qdq_multiply_add chip, uint32_t x, int steps) {
    if (chip == QDQ_MULTIPLY_ADD_WORMHOLE) return wormhole_reciprocal(x, steps);
    uint32_t y = qdq_sfp_approximate_reciprocal(x);
    for (int i = 0; i < steps; i++) {
        uint32_t rest = qdq_sfpmad(chip, x, y, TWO | SIGN_BIT);
        if (i == 0 && !(rest & SIGN_BIT)) break;
        y = qdq_sfpmad(chip, y, rest ^ SIGN_BIT, SIGN_BIT);
    }
    return y;
}

uint32_t qdq_sfp_approximate_inverse(qdq_multiply_add chip, uint32_t x) {
    const uint32_t log2_e = 0x3FB8AA3B;  // the first guess for 1 / m, m from 0.5 to 1
    uint32_t minus_m = (x & 0x7FFFFF) | SIGN_BIT | HALF;
    uint32_t y = qdq_sfpmul(chip, log2_e, qdq_sfpmad(chip, minus_m, log2_e, TWO));
    y = qdq_sfpmul(chip, y, qdq_sfpmad(chip, minus_m, y, TWO));
    uint32_t exponent = (y >> 23) + 126 - (x >> 23 & 0xFF);
    return exponent >> 31 ? 0 : (y & 0x7FFFFF) | exponent << 23;
}

//---- Division ---------------------------------------------------------------

// Returns the reciprocal of a significand in [1, 2) that division begins with.
static uint32_t seed(qdq_multiply_add chip, uint32_t b) {
    if (chip == QDQ_MULTIPLY_ADD_WORMHOLE)
        return qdq_sfp_reciprocal_significand(b, wormhole_seed, 1);
    uint32_t r = qdq_sfp_approximate_reciprocal(b);
    return qdq_sfpmul(chip, r, qdq_sfpmad(chip, b ^ SIGN_BIT, r, TWO));
}

// An operand is zero, denormal, infinite or NaN: a times a power of two that is infinite for a zero
// b, and zero for an infinite one.
static uint32_t divide_special(qdq_multiply_add chip, uint32_t a, uint32_t b) {
    if (is_nan(b)) return chip == QDQ_MULTIPLY_ADD_WORMHOLE ? b : NAN_BITS;
    return qdq_sfpmul(chip, a, (b & ~0x7FFFFFu) ^ INFINITY_BITS);
}

static uint32_t with_exponent(uint32_t v, int exponent) {
    return (v & 0x807FFFFFu) | (uint32_t)exponent << 23;
}

uint32_t qdq_sfp_divide(qdq_multiply_add chip, uint32_t a, uint32_t b) {
    int of_a = (int)(a >> 23 & 0xFF), of_b = (int)(b >> 23 & 0xFF);
    if (of_a == 0 || of_a == 255 || of_b == 0 || of_b == 255) return divide_special(chip, a, b);
    uint32_t sign = (a ^ b) & SIGN_BIT;
    a = with_exponent(a & MAGNITUDE, 127), b = with_exponent(b & MAGNITUDE, 127);
    uint32_t r = seed(chip, b), q = qdq_sfpmul(chip, a, r);
    uint32_t rest = qdq_sfpmad(chip, q ^ SIGN_BIT, b, a);
    q = qdq_sfpmad(chip, rest, r, q);
    // Two factors, so that the result overflows or underflows once.
    int exponent = of_a + (int)(q >> 23 & 0xFF) - (of_b - 127), half = exponent / 2;
    q = with_exponent(q, half) | sign;
    return qdq_sfpmul(chip, q, (uint32_t)(exponent - half) << 23);
}
