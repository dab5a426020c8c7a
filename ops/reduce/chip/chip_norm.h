// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm of bfloat16 as a Tenstorrent chip computes ttnn.layer_norm and
// ttnn.rms_norm without a configuration (docs/device_arithmetic.md 10).
#ifndef QDQ_OPS_REDUCE_CHIP_CHIP_NORM_H
#define QDQ_OPS_REDUCE_CHIP_CHIP_NORM_H

#include "include/qdq/ops/node.h"
#include "ops/op.h"

// True if the steps of a norm over the dims from `begin_norm_axis` on are known.
bool qdq_chip_norm_fits(const qdq_op_context *ctx, qdq_int begin_norm_axis);

// Writes the stage of a norm that fits: of LayerNorm, which `centers` x, or of RMSNorm. False when
// memory runs out.
bool qdq_chip_norm_stage(const qdq_op_context *ctx, const qdq_lowering *to, bool centers,
                         qdq_float epsilon, qdq_stage *stage);

#endif
