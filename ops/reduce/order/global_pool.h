// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool of ONNX Runtime: the mean of each channel of a row-major float32
// [N, C, spatial...]. Element i of the first n / 4 * 4 is added to lane i % 4 in float32, then
// ((lane 0 + lane 2) + (lane 1 + lane 3)), then the other elements in order, then / n.
#ifndef QDQ_OPS_REDUCE_ORDER_GLOBAL_POOL_H
#define QDQ_OPS_REDUCE_ORDER_GLOBAL_POOL_H

#include "ops/op.h"

// Elements that a unit of whole channels reads at least. Tests take their sizes from it.
enum { QDQ_GLOBAL_POOL_UNIT = 4096 };

// Returns the mean of n elements that are `step` apart.
float qdq_global_mean(const float *x, size_t step, size_t n);

// False when memory runs out.
bool qdq_global_pool_stage(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stage);

#endif
