// SPDX-License-Identifier: Apache-2.0
// One element of each operator of TOSA 1.0 that only integers have. Right shifts of negative
// integers round down, as on every compiler that builds the library.
#ifndef QDQ_RUNTIME_NUMERICS_INTEGER_ONE_H
#define QDQ_RUNTIME_NUMERICS_INTEGER_ONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/numerics/fixed_point.h"

// (a * b + 2^(shift - 1)) >> shift, as the half of a product and 1 cannot overflow. Keeps 32 bits.
static inline int32_t qdq_multiply_shift_one(int32_t a, int32_t b, int shift) {
    int64_t product = (int64_t)a * b;
    if (shift) product = ((product >> (shift - 1)) + 1) >> 1;
    return (int32_t)(uint32_t)(uint64_t)product;
}

// a >> b, half up if it rounds. b counts as a number from 0 to width - 1.
static inline int32_t qdq_shift_right_one(int32_t a, int32_t b, int width, bool rounds) {
    int by = b < 0 ? 0 : b >= width ? width - 1 : b;
    return (a >> by) + (rounds && by ? a >> (by - 1) & 1 : 0);
}

static inline int32_t qdq_clamp_integer_one(int64_t x, int32_t least, int32_t most) {
    return x < least ? least : x > most ? most : (int32_t)x;
}

// The zero bits above the first bit that is set.
static inline int32_t qdq_leading_zeros_one(int32_t x) {
    int32_t count = 32;
    for (uint32_t bits = (uint32_t)x; bits; bits >>= 1) count--;
    return count;
}

// sum / count by a multiplier and a shift; a count of 0 gives 0.
static inline int64_t qdq_integer_mean_one(int32_t sum, size_t count) {
    int k = 0;
    if (count == 0) return 0;
    while (k < 32 && (uint64_t)(count - 1) >> k) k++;
    return qdq_fixed_once(sum, (int32_t)((((INT64_C(1) << 30) + 1) << k) / (int64_t)count), 30 + k);
}

//---- Two elements of a reduction --------------------------------------------

static inline int32_t qdq_greater_one(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int32_t qdq_lesser_one(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t qdq_wrapping_sum_one(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

#endif
