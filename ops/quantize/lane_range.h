// SPDX-License-Identifier: Apache-2.0
// The range of a tensor as ONNX Runtime finds it, where a NaN counts: docs/numerics.md 8, choice.
#ifndef QDQ_OPS_QUANTIZE_LANE_RANGE_H
#define QDQ_OPS_QUANTIZE_LANE_RANGE_H

#include "include/qdq/numerics.h"
#include "ops/kernels/quantize/params.h"

enum { QDQ_RANGE_LANES = 32 };  // four vectors of 8

// The lanes after whole blocks of QDQ_RANGE_LANES elements, and the elements behind them. All zero:
// no elements yet.
typedef struct qdq_lane_range {
    float low[QDQ_RANGE_LANES], high[QDQ_RANGE_LANES];
    uint32_t nan[QDQ_RANGE_LANES];  // not 0: an element of the lane was NaN
    float rest[QDQ_RANGE_LANES];
    size_t rest_count;
    bool begun;  // there was a whole block
} qdq_lane_range;

// Adds n elements behind the elements of a range.
void qdq_lane_range_add(qdq_lane_range *range, const float *x, size_t n);
// Adds the elements of `next`, which follow. `range` must consist of whole blocks, or be empty.
void qdq_lane_range_join(qdq_lane_range *range, const qdq_lane_range *next);
// Returns the range with 0 in it. Both bounds are NaN if a NaN is left.
qdq_block_range qdq_lane_range_end(const qdq_lane_range *range, qdq_choice choice);

#endif
