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
