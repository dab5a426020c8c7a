// SPDX-License-Identifier: Apache-2.0
// How the elements of a value are spread: a small histogram, and how many are clipped.
#ifndef QDQ_TOOLS_COMPARE_SPREAD_H
#define QDQ_TOOLS_COMPARE_SPREAD_H

#include "runtime/base/json_writer.h"

enum { SPREAD_BINS = 24 };

// One or two arrays in the bins of one range.
typedef struct spread {
    size_t sides, bins;
    double low, width;  // of the first bin, and of each; an integer dtype has whole numbers
    size_t counts[2][SPREAD_BINS];
    size_t not_finite[2];
    bool can_clip;      // the dtype has a least and a greatest number
    size_t clipped[2];  // elements that are one of the two
} spread;

spread measure_spread(const qdq_tensor_info *info, const void *const *data, size_t sides);
// Writes the keys "low", "width", "counts", "clipped", "not_finite" of an object; the last three
// have a list for two sides.
void json_spread(qdq_json *json, const spread *s);

#endif
