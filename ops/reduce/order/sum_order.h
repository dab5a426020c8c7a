// SPDX-License-Identifier: Apache-2.0
// The orders in which ONNX Runtime adds float32 elements in ReduceSum and ReduceMean, for targets
// whose float ops are ONNX Runtime's.
#ifndef QDQ_OPS_REDUCE_ORDER_SUM_ORDER_H
#define QDQ_OPS_REDUCE_ORDER_SUM_ORDER_H

#include "ops/reduce/reduce_axes.h"

// Params of the passes. In the first two orders a slice has rows of `width` elements side by side
// in memory; row r of slice s begins at element r * row_stride + s * width of x.
typedef struct qdq_slice_order {
    size_t width, row_stride;
    bool is_plain;    // all elements in order
    float divisor;    // of the result
    qdq_dtype dtype;  // of output 0
} qdq_slice_order;

// The elements of a row: `head` before the lanes, lanes up to `lanes`, a packet up to `packet`.
typedef struct qdq_sum_row {
    size_t head, lanes, packet, end;
} qdq_sum_row;

// The sums of a row: the lanes (lane 0 is the sum once they are added), the elements before the
// lanes, and the sum of the rows before. They begin as -0: -0 + x is x for all x.
enum { QDQ_ROW_LANES = 8, QDQ_ROW_PACKET = 4, QDQ_ROW_SUM = QDQ_ROW_LANES + QDQ_ROW_PACKET };

// Returns a row of n elements, the first `head` of which are before the lanes.
qdq_sum_row qdq_sum_row_of(size_t head, size_t n);
// Adds elements `at` to `end` - 1 of a row, which begin at x[0].
void qdq_sum_row_take(float *sums, const qdq_sum_row *r, const float *x, size_t at, size_t end);
// Ends a row: adds its sum to the sum of the rows before, and begins another.
void qdq_sum_row_end(float *sums, const qdq_sum_row *r);

// A pass over rows, whose sums are in the lanes of the state. Params begin with qdq_slice_order.
void qdq_sum_begin_rows(const qdq_part *part);
void qdq_sum_take_rows(const qdq_part *part);

// Passes that add the elements of a slice, divide, and store output 0. K stands for dims that stay,
// R for reduced dims; neighbours of a kind count as one, also if their size is 1:
//
//     [K, R]     eight lanes over the elements from the first on whose address is a multiple of 16
//                bytes, if x begins at one; lanes 0-3 plus lanes 4-7; a last four elements;
// (l0 + l2) + (l1 + l3); then the elements before, then the rest, in order. Fewer
//                than four: all in order
//     [R, K, R]  the sum of each row as in [K, R]; then these in order. K = 1: all in order
//     [K, R, K]  K > 1 first: s + (((a + b) + c) + d) for each four elements; then s + (a + b), s +
//     a others     elements in order
//
// Found by experiment with ONNX Runtime 1.32; the first is Eigen's reduction of packets of four.
// `reduced`: a bit 1 << dim for each reduced dim.
const qdq_slice_op *qdq_slice_order_of(qdq_shape shape, uint32_t reduced, qdq_slice_order *order);

#endif
