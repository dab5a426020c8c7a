// SPDX-License-Identifier: Apache-2.0
// Pooling that AvgPool does not do, as sums of slices: with dilations, and with windows that reach
// beyond padding that counts.
#ifndef QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_SUM_POOL_H
#define QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_SUM_POOL_H

#include "graph/formats/onnx/ops/onnx_formula.h"

// A window along each spatial dim of [N, C, spatial...], and padding; `counted` elements of the
// padding after x count.
typedef struct qdq_onnx_sum_pool {
    qdq_onnx_node *node;
    const qdq_onnx_op *row;
    size_t spatial;
    const int64_t *kernel, *strides, *dilations, *begin, *end, *counted;
    bool exclude;  // padding does not count
} qdq_onnx_sum_pool;

// Returns the sum of each window of x, in row-major order; no value after a refusal.
qdq_value qdq_onnx_sum_windows(const qdq_onnx_sum_pool *pool, qdq_value x);

// Binds the mean of each window of the node's first input.
void qdq_onnx_bind_mean(const qdq_onnx_sum_pool *pool);

#endif
