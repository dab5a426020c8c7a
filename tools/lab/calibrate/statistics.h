// SPDX-License-Identifier: Apache-2.0
// The statistics of a value: range, counts, exact moments and a histogram with fixed edges. They
// depend only on the set of the elements, so statistics of two sets merge into those of their
// union.
#ifndef QDQ_TOOLS_LAB_CALIBRATE_STATISTICS_H
#define QDQ_TOOLS_LAB_CALIBRATE_STATISTICS_H

#include "tools/lab/dataset/exact_sum.h"

// Bins, in ascending order of their elements. Each octave from 2^-32 to 2^32 has 32 bins of equal
// width for each sign. The bin in the middle counts |x| < 2^-32, the first and the last |x| >=
// 2^32.
enum {
    BINS_PER_OCTAVE_BITS = 5,
    LEAST_EXPONENT = -32,
    OCTAVES = 64,
    SIDE_BINS = (OCTAVES << BINS_PER_OCTAVE_BITS) + 1,  // including the last
    MIDDLE_BIN = SIDE_BINS,
    HISTOGRAM_BINS = 2 * SIDE_BINS + 1,
};

enum {
    COUNT_FINITE,
    COUNT_ZERO,
    COUNT_NAN,
    COUNT_POSITIVE_INFINITY,
    COUNT_NEGATIVE_INFINITY,
    COUNTS
};

// The statistics of one value; the arrays belong to a state.
typedef struct statistics {
    double *range;       // least and greatest finite element; +inf and -inf without any
    int64_t *counts;     // COUNTS
    int64_t *sum;        // SUM_DIGITS, of finite elements
    int64_t *squares;    // SQUARE_DIGITS
    int64_t *histogram;  // HISTOGRAM_BINS, of finite elements
} statistics;

void statistics_clear(const statistics *s);
// True if elements of this dtype are counted: floats that are not codes.
bool statistics_count(qdq_dtype dtype);
// Adds elements, stored as the API stores them.
void statistics_add(const statistics *s, qdq_dtype dtype, const void *data, size_t count);
// Merges the statistics of another set.
void statistics_merge(const statistics *into, const statistics *from);

// Computes the exact edges of a bin, with the sign of its elements: |from| <= |to|. The outermost
// bins end at infinity.
void histogram_edges(size_t bin, double *from, double *to);

#endif
