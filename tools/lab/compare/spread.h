// SPDX-License-Identifier: Apache-2.0
// Measures the spread of a value's elements: a small histogram, and the number of clipped elements.
#ifndef QDQ_TOOLS_LAB_COMPARE_SPREAD_H
#define QDQ_TOOLS_LAB_COMPARE_SPREAD_H

#include "runtime/base/json_writer.h"

enum { SPREAD_BINS = 64, SPREAD_CODES = 256 };  // bins of floats, and at most of integers

// A histogram of one or two arrays over the same bins. Integers that span at most SPREAD_CODES
// numbers have a bin for each; a wider span has at most SPREAD_BINS.
typedef struct spread {
    size_t sides, bins;
    double low, width;  // of the first bin, and of each; whole numbers for an integer dtype
    size_t counts[2][SPREAD_CODES];
    size_t not_finite[2];
    bool can_clip;      // the dtype has a least and a greatest number, at which it clips
    size_t clipped[2];  // elements equal to either
} spread;

spread measure_spread(const qdq_tensor_info *info, const void *const *data, size_t sides);
// Writes the keys "low", "width", "counts", "clipped" and "not_finite" of an object; the last three
// are lists with an entry for each of two sides.
void json_spread(qdq_json *json, const spread *s);

#endif
