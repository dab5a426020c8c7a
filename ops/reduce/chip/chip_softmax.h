// SPDX-License-Identifier: Apache-2.0
// SoftMax of bfloat16 as a Tenstorrent chip computes ttnn.softmax without a configuration
// (docs/device_arithmetic.md 10).
#ifndef QDQ_OPS_REDUCE_CHIP_CHIP_SOFTMAX_H
#define QDQ_OPS_REDUCE_CHIP_CHIP_SOFTMAX_H

#include "include/qdq/ops/node.h"
#include "ops/op.h"

// True if the steps of a SoftMax along `dim` are known.
bool qdq_chip_softmax_fits(const qdq_op_context *ctx, int dim);

// Writes the stage of a SoftMax that fits. False when memory runs out.
bool qdq_chip_softmax_stage(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stage);

#endif
