// SPDX-License-Identifier: Apache-2.0
// Other instructions of Tenstorrent's vector unit (SFPU), and short functions built from them:
// rounding to integers, conversion from integers, total order, reciprocal and division.
//
// Numbers are patterns of float32. Integers are sign and magnitude: bit 31 is the sign, 31 bits are
// the magnitude.
#ifndef QDQ_RUNTIME_TENSTORRENT_SFPU_H
#define QDQ_RUNTIME_TENSTORRENT_SFPU_H

#include "include/qdq/numerics.h"

// SFP_STOCH_RND, mode nearest: the magnitude rounded half away from zero, at most `most` (127, 255,
// 32767, 65535). NaN and larger magnitudes become `most`. `keeps_sign`: the sign stays unless the
// magnitude is 0; else it is dropped.
uint32_t qdq_sfp_round(uint32_t v, uint32_t most, bool keeps_sign);
// The same instruction to bfloat16, in the upper half: half away from zero; denormals and zeros
// become +0, NaN infinity with its sign.
uint32_t qdq_sfp_round_bfloat16(uint32_t v);

// SFPCAST: the float32 of an integer, half to even. -0 stays -0.
uint32_t qdq_sfp_cast(uint32_t integer);
// Two's complement to sign and magnitude, and back. INT32_MIN becomes -0.
uint32_t qdq_sign_magnitude(int32_t v);
int32_t qdq_from_sign_magnitude(uint32_t v);

// SFPSTORE of a float32: denormals become zero with their sign.
uint32_t qdq_sfp_store(uint32_t v);

// SFPSWAP: the greater and the lesser in the total order -NaN < -Inf < ... < -0 < +0 < ... < +NaN.
uint32_t qdq_sfp_max(uint32_t a, uint32_t b);
uint32_t qdq_sfp_min(uint32_t a, uint32_t b);

// Returns 1 / x as the kernel for float32 tensors computes it; at most one unit in the last place
// off.
uint32_t qdq_sfp_reciprocal(qdq_multiply_add chip, uint32_t x);
// Returns 1 / x with `steps`, 1 or 2, of Newton's method: part of kernels for bfloat16 tensors and
// of functions that divide.
uint32_t qdq_sfp_reciprocal_newton(qdq_multiply_add chip, uint32_t x, int steps);
// Wormhole's 1 / x in two parts: of the significand in [1, 2), negated, a polynomial of degree 2
// and steps of Newton's method; and y times the power of two of 1 / x, with its sign.
uint32_t qdq_sfp_reciprocal_significand(uint32_t x, const float seed[3], int steps);
uint32_t qdq_sfp_reciprocal_scaled(uint32_t y, uint32_t x);
// SFPARECIP of Blackhole: 1 / x to 7 bits.
uint32_t qdq_sfp_approximate_reciprocal(uint32_t x);
// Returns 1 / x of the kernel that softmax takes, x a positive normal number: a line and one step
// of Newton's method, which is 0 to 3.9 % too small.
uint32_t qdq_sfp_approximate_inverse(qdq_multiply_add chip, uint32_t x);
// Returns a / b of float32 tensors. Not correctly rounded: about one quotient in 14 is a unit off.
uint32_t qdq_sfp_divide(qdq_multiply_add chip, uint32_t a, uint32_t b);

#endif
