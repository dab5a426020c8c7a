// SPDX-License-Identifier: Apache-2.0
// ReduceL1, ReduceL2, ReduceProd and ReduceSum with `in_order`, of float32, as ONNX Runtime
// computes them, for targets whose float ops are ONNX Runtime's. |x|, x * x or x are joined in
// order. If the slice is all of x, element i of the first n / 8 * 8 goes to lane i mod 8, four more
// to lanes of their own; then lanes 0-3 with lanes 4-7, with the four, (l0 with l2) with (l1 with
// l3), then the rest in order. Every operation rounds to float32.
#ifndef QDQ_OPS_REDUCE_ORDER_ELEMENT_ORDER_H
#define QDQ_OPS_REDUCE_ORDER_ELEMENT_ORDER_H

#include "ops/reduce/reduce_axes.h"

typedef enum qdq_element_kind {
    QDQ_MAGNITUDES,
    QDQ_SQUARES,
    QDQ_FACTORS,
    QDQ_TERMS
} qdq_element_kind;

// Writes the stage. `all`: each dim of x is reduced. False when memory runs out.
bool qdq_element_order_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_element_kind kind, bool all, qdq_reduce_axes slices,
                             qdq_stage *stage);

#endif
