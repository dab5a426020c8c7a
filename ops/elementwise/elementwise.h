// SPDX-License-Identifier: Apache-2.0
// Ops on elements: Add, ReLU, Select and their like. Each is a function of
// ops/kernels/elementwise/elementwise_kernels.h with operands that are brought to one shape.
#ifndef QDQ_OPS_ELEMENTWISE_ELEMENTWISE_H
#define QDQ_OPS_ELEMENTWISE_ELEMENTWISE_H

#include "ops/infer.h"
#include "ops/kernels/elementwise/elementwise_kernels.h"

// The ports of an op on elements and the function: y = map(a, b, c).
typedef struct qdq_elements {
    qdq_elementwise function;
    qdq_elementwise_numbers numbers;
    int a, b, c;  // ports; b and c -1 where there is none
    // The shape of b as it is broadcast onto y, where that is not its own.
    bool has_b_shape;
    qdq_shape b_shape;
} qdq_elements;

// The stage of such a node: a link where an operand has the shape of y, else work on whole tensors.
// How many stages: 1, or 0 when memory runs out.
size_t qdq_lower_elements(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_elements *op,
                          qdq_stage *stages);

#endif
