// SPDX-License-Identifier: Apache-2.0
// Lowers an elementwise op that a chip's vector unit computes.
#ifndef QDQ_OPS_ELEMENTWISE_SFPU_ELEMENTS_H
#define QDQ_OPS_ELEMENTWISE_SFPU_ELEMENTS_H

#include "ops/kernels/elementwise/sfpu_elementwise.h"
#include "ops/op.h"

// Writes the stage of a node whose operand at `port` goes through a program. Returns 1, or 0 when
// memory runs out.
size_t qdq_lower_sfpu(const qdq_op_context *ctx, const qdq_lowering *to,
                      const qdq_sfpu_program *program, size_t port, qdq_stage *stages);

#endif
