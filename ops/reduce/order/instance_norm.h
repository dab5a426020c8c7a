// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization of ONNX Runtime, of float32 channels with n elements each: mean = sum / n
// in the order [K, R] of ops/reduce/order/sum_order.h; q, the sum of (x - mean)^2, in the same
// order with lanes from the first element on; a = 1 / sqrt(q / n + epsilon) * gamma, y = x * a +
// (beta - mean * a). Every operation rounds to float32.
#ifndef QDQ_OPS_REDUCE_ORDER_INSTANCE_NORM_H
#define QDQ_OPS_REDUCE_ORDER_INSTANCE_NORM_H

#include "ops/reduce/reduce_axes.h"

// Writes the stage of a GroupNorm with gamma and beta, whose slices are channels of a row-major x.
// False when memory runs out.
bool qdq_instance_norm_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_reduce_axes slices, qdq_stage *stage);

#endif
