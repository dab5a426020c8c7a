// SPDX-License-Identifier: Apache-2.0
// Sums without rounding: integers of 32-bit digits, wide enough for 2^63 float64 numbers or their
// squares. A sum depends only on its terms, not on their order or grouping.
#ifndef QDQ_TOOLS_LAB_DATASET_EXACT_SUM_H
#define QDQ_TOOLS_LAB_DATASET_EXACT_SUM_H

#include <qdq/base.h>

// Digit 0 of a sum counts 2^-1074, the least positive float64; digit 0 of a sum of squares counts
// 2^-2148.
enum {
    SUM_DIGITS = 68,
    SQUARE_DIGITS = 134,
    SUM_SHIFT = 1074,
    SQUARE_SHIFT = 2148,
};

// Adds magnitude * 2^shift, or subtracts it. Digits may leave their range: call exact_carry after
// at most 2^30 calls.
void exact_add(int64_t *digits, uint64_t magnitude, unsigned shift, bool negative);

// Adds the square of a finite number to a sum of squares. It counts as three calls of exact_add.
void exact_add_square(int64_t *squares, double x);

// Adds the squares of finite numbers a[i], or of finite differences a[i] - b[i] in float64, and
// carries. `b`: NULL, or as many numbers.
void exact_add_squares(int64_t *squares, const double *a, const double *b, size_t count);
// Adds another sum of squares and carries.
void exact_add_sum(int64_t *squares, const int64_t *other);

// Carries: brings all digits but the last into 0 .. 2^32 - 1. The last has the sign. This form of a
// number is unique.
void exact_carry(int64_t *digits, size_t count);

// Returns the number whose digit 0 counts 2^-shift, with a relative error of at most 2^-52.
double exact_value(const int64_t *digits, size_t count, int shift);

// True if digits are in the form of exact_carry, with room for further terms.
bool exact_is_carried(const int64_t *digits, size_t count);

// Returns 10 log10(signal / noise) of two sums of squares; infinity if `noise` is 0.
double exact_decibels(const int64_t *signal, const int64_t *noise);

#endif
