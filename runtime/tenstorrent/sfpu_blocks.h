// SPDX-License-Identifier: Apache-2.0
// Parts that kernels of the vector unit share (docs/device_arithmetic.md 9): arithmetic of a few
// instructions, tests of bits, and the cores of exp, expm1 and log.
//
// Numbers are patterns of float32.
#ifndef QDQ_RUNTIME_TENSTORRENT_SFPU_BLOCKS_H
#define QDQ_RUNTIME_TENSTORRENT_SFPU_BLOCKS_H

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/patterns.h"
#include "runtime/tenstorrent/sfpmad.h"
#include "runtime/tenstorrent/sfpu.h"

//---- Bits -------------------------------------------------------------------

// The sign is set. A comparison of a number x with 0 tests this bit, so -0 is below 0.
static inline bool qdq_sfp_negative(uint32_t v) { return v >> 31; }
static inline uint32_t qdq_sfp_negate(uint32_t v) { return v ^ SIGN_BIT; }
static inline uint32_t qdq_sfp_with_sign(uint32_t v, uint32_t sign) {
    return (v & MAGNITUDE) | (sign & SIGN_BIT);
}
static inline int qdq_sfp_exponent(uint32_t v) { return (int)(v >> 23 & 0xFF); }
// Replaces the exponent by the low 8 bits of `exponent`.
static inline uint32_t qdq_sfp_with_exponent(uint32_t v, int64_t exponent) {
    return (v & 0x807FFFFFu) | ((uint32_t)exponent & 0xFF) << 23;
}
// SFPABS: a NaN whose sign is set keeps it.
static inline uint32_t qdq_sfp_abs(uint32_t v) {
    return v <= (SIGN_BIT | INFINITY_BITS) ? v & MAGNITUDE : v;
}
// Rounds a number to bfloat16, in the upper half, half to even. No instruction of a chip does.
static inline uint32_t qdq_sfp_half_even_bfloat16(uint32_t v) {
    return (v + 0x7FFF + (v >> 16 & 1)) & 0xFFFF0000u;
}
// SFPSHFT: to the left, or to the right if `by` is negative.
static inline uint32_t qdq_sfp_shift(uint32_t v, int by) {
    return by >= 0 ? v << (by & 31) : v >> (-by & 31);
}

//---- Arithmetic -------------------------------------------------------------

// Returns x * y + z for constants y and z.
uint32_t qdq_sfp_scale_add(qdq_multiply_add chip, uint32_t x, float y, float z);
// Returns a - b.
uint32_t qdq_sfp_subtract(qdq_multiply_add chip, uint32_t a, uint32_t b);
// Returns c[0] + x * (c[1] + x * (...)), a multiply-add for each coefficient but the last.
uint32_t qdq_sfp_polynomial(qdq_multiply_add chip, uint32_t x, const float *c, int count);
#define QDQ_SFP_POLYNOMIAL(chip, x, c) \
    qdq_sfp_polynomial(chip, x, c, (int)(sizeof(c) / sizeof *(c)))

// True if x < k, x >= k, x > k, for a k that is not 0: tests the difference.
bool qdq_sfp_below(qdq_multiply_add chip, uint32_t x, float k);
bool qdq_sfp_above(qdq_multiply_add chip, uint32_t x, float k);
// Bounds x in the total order.
uint32_t qdq_sfp_clamp(uint32_t x, float low, float high);

//---- Powers of two ----------------------------------------------------------

#define QDQ_SFP_LOG2_E 0x3FB8AA3Bu
// Constant coefficient of the polynomial of qdq_sfp_power: an immediate of 16 bits in the kernel of
// exp, a float32 elsewhere.
#define QDQ_SFP_POWER_EXP 1.001953125f
#define QDQ_SFP_POWER 1.0017248f

// Shifts the significand of v so that the upper 9 bits are its integer and the lower 23 its
// fraction.
uint32_t qdq_sfp_fixed(uint32_t v);
// Returns 2^(z - 127) by a polynomial of degree 2, z a result of qdq_sfp_fixed: the polynomial of
// the fraction gets the exponent of `exponent`.
uint32_t qdq_sfp_power(qdq_multiply_add chip, uint32_t z, uint32_t exponent, float c0);
// Returns exp(x) with about 8 bits, at most a NaN with the exponent of infinity.
uint32_t qdq_sfp_exp(qdq_multiply_add chip, uint32_t x);
// Returns exp(x) of kernels for float32 tensors, at most a unit in the last place off.
uint32_t qdq_sfp_exp_float32(qdq_multiply_add chip, uint32_t x);

// 1.5 * 2^23: the lower bits of a sum with it are the rounded other term.
#define QDQ_SFP_SHIFTER 0x4B400000u
// Returns x - k * log(2), log(2) in two parts.
uint32_t qdq_sfp_minus_log2(qdq_multiply_add chip, uint32_t x, uint32_t k);
// Returns exp(x) - 1 for x of at most 0; with a polynomial of a higher degree for float32 tensors.
uint32_t qdq_sfp_expm1(qdq_multiply_add chip, uint32_t x, bool is_float32);

#endif
