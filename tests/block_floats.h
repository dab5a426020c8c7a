// SPDX-License-Identifier: Apache-2.0
// A model of ttnn's block floats (groups of 16 values with one exponent): packing by the rules of
// ttnn's host packer, unpacking by a closed form, in double and integer arithmetic. Nothing here
// calls the library.
#ifndef QDQ_TESTS_BLOCK_FLOATS_H
#define QDQ_TESTS_BLOCK_FLOATS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_GROUP = 16 };

// The exponent field of a finite float32; 0 for zeros and denormals.
static inline int block_exponent(float value) {
    int exponent;
    if (fabsf(value) < 0x1p-126f) return 0;
    (void)frexp((double)value, &exponent);
    return exponent - 1 + 127;
}

static inline int block_shared(const float *values, size_t n) {
    int shared = 0;
    for (size_t i = 0; i < n; i++)
        if (block_exponent(values[i]) > shared) shared = block_exponent(values[i]);
    return shared;
}

// The magnitude that a finite value gets in `bits` bits, in a group with exponent field `shared`.
static inline int block_magnitude(float value, int shared, int bits) {
    int exponent = block_exponent(value);
    if (exponent == 0) return 0;
    // an integer from 2^23 to 2^24 - 1
    double digits = ldexp(fabs((double)value), 127 + 23 - exponent);
    // dropped bits do not take part in rounding
    double kept = floor(ldexp(digits, exponent - shared));
    double steps = ldexp(kept, bits - 24), whole = floor(steps);
    bool up = steps - whole > 0.5 || (steps - whole == 0.5 && fmod(whole, 2) == 1);
    double largest = ldexp(1, bits) - 1;
    return (int)fmin(whole + (up ? 1 : 0), largest);
}

// sign * magnitude * 2^(shared - 127 - (bits - 1)); no -0.
static inline double block_value(bool negative, int magnitude, int shared, int bits) {
    double value = ldexp(magnitude, shared - 127 - (bits - 1));
    return negative && magnitude ? -value : value;
}

// Rounds n <= 16 finite values to a group with one exponent, in place.
static inline void block_round(float *values, size_t n, int bits) {
    int shared = block_shared(values, n);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)block_value(signbit(values[i]) != 0,
                                       block_magnitude(values[i], shared, bits), shared, bits);
}

// Rounds a row-major tensor: each row is cut into groups of 16 columns.
static inline void block_round_rows(float *values, size_t rows, size_t cols, int bits) {
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c += BLOCK_GROUP)
            block_round(values + r * cols + c, cols - c < BLOCK_GROUP ? cols - c : BLOCK_GROUP,
                        bits);
}

#endif
