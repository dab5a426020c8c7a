// SPDX-License-Identifier: Apache-2.0
// A chip's sums, products and quotients of bfloat16 without branches, as patterns of float32.
// runtime/tenstorrent/eltwise.c has the definitions, step by step.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_CHIP_BFLOAT16_INC_H
#define QDQ_OPS_KERNELS_QUANTIZE_CHIP_BFLOAT16_INC_H

#include "ops/kernels/quantize/chip_lanes.inc.h"

#define CHIP_UPPER 0xFFFF0000u

// As qdq_chip_load_bfloat16: denormals and -0 become +0, NaN infinity.
static inline uint32_t chip_loaded(uint32_t v) {
    int32_t magnitude = (int32_t)(v & ~CHIP_SIGN);
    uint32_t number =
        chip_pick(CHIP_IF(magnitude > (int32_t)CHIP_INFINITY), (v & CHIP_SIGN) | CHIP_INFINITY, v);
    return number & CHIP_IF(magnitude >= 0x00800000);
}

// Rounds to bfloat16, half to even or away from zero. v is not NaN.
static inline uint32_t chip_upper_even(uint32_t v) {
    return (v + 0x7FFF + (v >> 16 & 1)) & CHIP_UPPER;
}
static inline uint32_t chip_upper_away(uint32_t v) { return (v + 0x8000) & CHIP_UPPER; }

// a * b, exact, for bfloat16 a and b that are loaded; a zero has no sign.
static inline uint32_t chip_wide_product(uint32_t a, uint32_t b) {
    uint32_t some =
        CHIP_IF((int32_t)(a & ~CHIP_SIGN) != 0) & CHIP_IF((int32_t)(b & ~CHIP_SIGN) != 0);
    return qdq_float_bits(qdq_float_from_bits(a) * qdq_float_from_bits(b)) & some;
}

// a * b into bfloat16, where b may be any float32 that is not NaN. The product is 0 below the
// normal numbers, and with a factor of 0.
static inline uint32_t chip_short_product(uint32_t a, uint32_t b) {
    uint32_t v = chip_wide_product(a, b);
    return chip_upper_even(v) & CHIP_IF((int32_t)(v & CHIP_INFINITY) != 0);
}

static inline int32_t chip_significand11(uint32_t v) {
    int32_t some = (int32_t)CHIP_IF((int32_t)(v & CHIP_INFINITY) != 0);
    return ((int32_t)(v >> 13 & 0x3FF) | 0x400) & some;
}

// ELWADD: a + b of two bfloat16, whose exponents are 0 or from 11 to 254. The lesser operand is
// rounded to a multiple of the last of 11 bits of the greater one, halves away from zero; the sum
// of both is exact. Overflow gives infinity.
static inline uint32_t chip_short_sum(uint32_t a, uint32_t b) {
    uint32_t swaps = CHIP_IF((int32_t)(a & ~CHIP_SIGN) < (int32_t)(b & ~CHIP_SIGN));
    uint32_t greater = chip_pick(swaps, b, a), lesser = chip_pick(swaps, a, b);
    int32_t exponent = (int32_t)(greater >> 23 & 0xFF);
    int32_t away = exponent - (int32_t)(lesser >> 23 & 0xFF);
    away = away < 12 ? away : 12;
    int32_t rounded = (chip_significand11(lesser) + ((1 << away) >> 1)) >> away;
    int32_t sum = chip_significand11(greater) + chip_with_sign(rounded, a ^ b);
    int32_t unit = exponent > 10 ? exponent - 10 : 0;
    uint32_t v = qdq_float_bits((float)sum * qdq_float_from_bits((uint32_t)unit << 23));
    return (v | (greater & CHIP_SIGN)) & CHIP_IF(sum != 0);
}

#endif
