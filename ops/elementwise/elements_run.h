// SPDX-License-Identifier: Apache-2.0
// The params of an elementwise stage, and the functions that run it: as a link, or as a tensor op.
#ifndef QDQ_OPS_ELEMENTWISE_ELEMENTS_RUN_H
#define QDQ_OPS_ELEMENTWISE_ELEMENTS_RUN_H

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "ops/stage.h"

enum { QDQ_MOST_OPERANDS = 3 };

typedef struct qdq_elements_operand {
    bool given;
    qdq_dtype dtype;
    size_t port;
} qdq_elements_operand;

// The places of the operands of an element of y, for a tensor op.
typedef struct qdq_elements_layout {
    qdq_shape shape;                                  // of y
    size_t strides[QDQ_MOST_OPERANDS][QDQ_MAX_RANK];  // in elements, per dim of y; 0 if broadcast
    size_t row;  // elements of y whose operands lie contiguously, or are all one
} qdq_elements_layout;

typedef struct qdq_elements_params {
    qdq_elementwise function;
    qdq_elementwise_fn *fn;
    qdq_elementwise_numbers numbers;
    qdq_registers registers;
    qdq_dtype y_dtype;
    bool on_chip;  // `fn` computes as a chip does
    // Tensor ops: the function of the elements from `body` on, or NULL.
    qdq_elementwise_fn *rest;
    qdq_elementwise rest_function;
    size_t body;
    qdq_elementwise_single single;
    bool plain;  // a link of floats that nothing has to convert
    qdq_elements_operand operands[QDQ_MOST_OPERANDS];
    const qdq_elements_layout *layout;  // tensor ops
    // Links: the operand that is x, and the views of the other operands.
    size_t x;
    size_t view[QDQ_MOST_OPERANDS];
} qdq_elements_params;

// True if an operand advances within a row of y.
bool qdq_elements_step(const qdq_elements_layout *layout, size_t which);

qdq_tile_fn qdq_elements_run_link;
qdq_tensor_op_fn qdq_elements_run_tensor_op;

#endif
