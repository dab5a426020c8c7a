// SPDX-License-Identifier: Apache-2.0
// Adds to integers of many digits, and carries rarely.
#include "tools/lab/dataset/exact_sum.h"

#include <math.h>
#include <string.h>

enum { DIGIT_BITS = 32, DOUBLE_FRACTION = 52, LOW_BITS = 27 };
static const uint64_t digit_mask = 0xFFFFFFFF;
static const int64_t digit_base = (int64_t)1 << DIGIT_BITS;

void exact_add(int64_t *digits, uint64_t magnitude, unsigned shift, bool negative) {
    unsigned within = shift % DIGIT_BITS;
    int64_t *at = digits + shift / DIGIT_BITS;
    int64_t low = (int64_t)((magnitude << within) & digit_mask);
    int64_t middle = (int64_t)((magnitude >> (DIGIT_BITS - within)) & digit_mask);
    int64_t high = within ? (int64_t)(magnitude >> (2 * DIGIT_BITS - within)) : 0;
    at[0] += negative ? -low : low;
    at[1] += negative ? -middle : middle;
    if (high) at[2] += negative ? -high : high;
}

void exact_add_square(int64_t *squares, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    unsigned e = (unsigned)(bits >> DOUBLE_FRACTION & 0x7FF);
    uint64_t fraction = bits & (((uint64_t)1 << DOUBLE_FRACTION) - 1);
    uint64_t mantissa = fraction | (e ? (uint64_t)1 << DOUBLE_FRACTION : 0);
    uint64_t high = mantissa >> LOW_BITS, low = mantissa & (((uint64_t)1 << LOW_BITS) - 1);
    unsigned scale = (e ? e : 1) - 1;
    exact_add(squares, high * high, 2 * scale + 2 * LOW_BITS, false);
    if (!low) return;
    exact_add(squares, high * low, 2 * scale + LOW_BITS + 1, false);
    exact_add(squares, low * low, 2 * scale, false);
}

void exact_carry(int64_t *digits, size_t count) {
    int64_t carry = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        int64_t digit = digits[i] + carry, rest = digit % digit_base;
        if (rest < 0) rest += digit_base;
        digits[i] = rest;
        carry = (digit - rest) / digit_base;
    }
    digits[count - 1] += carry;
}

void exact_add_squares(int64_t *squares, const double *a, const double *b, size_t count) {
    static const size_t carried = (size_t)1 << 28;  // each square is three calls of exact_add
    for (size_t from = 0; from < count; from += carried) {
        size_t end = count - from < carried ? count : from + carried;
        for (size_t i = from; i < end; i++) {
            double x = !b ? a[i] : a[i] == b[i] ? 0 : a[i] - b[i];
            if (x != 0 && isfinite(x)) exact_add_square(squares, x);
        }
        exact_carry(squares, SQUARE_DIGITS);
    }
}

void exact_add_sum(int64_t *squares, const int64_t *other) {
    for (size_t i = 0; i < SQUARE_DIGITS; i++) squares[i] += other[i];
    exact_carry(squares, SQUARE_DIGITS);
}

bool exact_is_carried(const int64_t *digits, size_t count) {
    static const int64_t most = (int64_t)1 << 40;
    for (size_t i = 0; i + 1 < count; i++)
        if (digits[i] < 0 || digits[i] >= digit_base) return false;
    return digits[count - 1] > -most && digits[count - 1] < most;
}

double exact_value(const int64_t *digits, size_t count, int shift) {
    int64_t positive[SQUARE_DIGITS] = {0};
    bool negative = digits[count - 1] < 0;
    for (size_t i = 0; i < count; i++) positive[i] = negative ? -digits[i] : digits[i];
    exact_carry(positive, count);
    double value = 0;
    size_t left = 4;  // leading nonzero digits; the rest is less than 2^-64 of the value
    for (size_t i = count; i-- > 0 && left > 0;) {
        if (value > 0 || positive[i]) left--;
        value += ldexp((double)positive[i], (int)i * DIGIT_BITS - shift);
    }
    return negative ? -value : value;
}

// Returns log2 of a sum of squares, which may exceed a float64; -infinity for 0.
static double log2_of(const int64_t *squares) {
    size_t top = SQUARE_DIGITS - 1;
    while (top > 0 && !squares[top]) top--;
    int scale = (int)top * DIGIT_BITS;  // digit `top` counts 1
    return log2(exact_value(squares, SQUARE_DIGITS, scale)) + (double)(scale - SQUARE_SHIFT);
}

double exact_decibels(const int64_t *signal, const int64_t *noise) {
    static const double decibels_of_2 = 3.0102999566398120;
    double other = log2_of(noise);
    return other == -INFINITY ? INFINITY : decibels_of_2 * (log2_of(signal) - other);
}
