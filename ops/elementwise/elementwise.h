// SPDX-License-Identifier: Apache-2.0
// Lowering of elementwise ops (Add, ReLU, Select): a function of
// ops/kernels/elementwise/elementwise_kernels.h whose operands are broadcast to one shape.
#ifndef QDQ_OPS_ELEMENTWISE_ELEMENTWISE_H
#define QDQ_OPS_ELEMENTWISE_ELEMENTWISE_H

#include "ops/infer.h"
#include "ops/kernels/elementwise/elementwise_kernels.h"

// Dtypes of the kinds of elementwise_ops.h.
#define QDQ_SET_ELEMENTS_REAL (QDQ_SET_FLOATS | QDQ_SET(FLOAT64))
#define QDQ_SET_ELEMENTS_NUMBER (QDQ_SET_ELEMENTS_REAL | QDQ_SET(INT32) | QDQ_SET_WIDE_INTS)
#define QDQ_SET_ELEMENTS_BITS                                                             \
    (QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT16) | QDQ_SET(UINT16) | QDQ_SET(INT32) | \
     QDQ_SET_WIDE_INTS)
#define QDQ_SET_ELEMENTS_BLOCK (QDQ_SET_ELEMENTS_NUMBER | QDQ_SET_BLOCK_FLOATS)
#define QDQ_SET_ELEMENTS_COMPARED (QDQ_SET_ELEMENTS_REAL | QDQ_SET_INTS | QDQ_SET_WIDE_INTS)

// An elementwise op: y = function(a, b, c), and the ports of its operands.
typedef struct qdq_elements {
    qdq_elementwise function;
    qdq_elementwise_numbers numbers;
    bool approximate;  // fast_and_approximate_mode
    int a, b, c;       // ports; b and c may be -1: none
    // The shape that b is broadcast from, if it differs from the shape of the port.
    bool has_b_shape;
    qdq_shape b_shape;
} qdq_elements;

// Writes the stage of a node: a link if an operand has the shape of y, else a tensor op. Returns 1,
// or 0 when memory runs out.
size_t qdq_lower_elements(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_elements *op,
                          qdq_stage *stages);

// True if a node has fast_and_approximate_mode and it is on.
bool qdq_elements_approximate(const qdq_op_context *ctx);

//---- Description of a stage -------------------------------------------------

enum { QDQ_SHOWN_OPERANDS = 3 };

// An operand: its place for an element of y is the number of its block in the grid of `param`, or
// its index in `shape` by `strides`, or that of the element.
typedef struct qdq_shown_operand {
    bool given;
    qdq_dtype dtype;
    size_t port;
    const qdq_stage_param *param;  // or NULL
    const size_t *strides;         // or NULL
} qdq_shown_operand;

// The stage of an elementwise op: y = function(a, b, c) in registers.
typedef struct qdq_elements_shown {
    qdq_elementwise function;
    qdq_elementwise_numbers numbers;
    qdq_registers registers;
    qdq_dtype y_dtype;
    bool on_chip;
    qdq_elementwise rest;  // the function of the elements from `body` on; may be the same
    size_t body;
    qdq_shape shape;  // that strides are for
    qdq_shown_operand operands[QDQ_SHOWN_OPERANDS];
} qdq_elements_shown;

qdq_elements_shown qdq_elements_show(const qdq_stage *stage);

// Returns the function of a float link that needs no conversion, and its numbers.
// QDQ_ELEMENTWISE_COUNT for other links.
qdq_elementwise qdq_elements_plain(const qdq_link *link, qdq_elementwise_numbers *numbers);

// Implements qdq_op_fusion.finishes of Add, ReLU, ReLU6 and Clamp.
bool qdq_elements_finish(const qdq_link *link, qdq_stage_finish *finish);

// True if a link of qdq_lower_elements computes by IEEE rules, not as a chip does.
bool qdq_elements_are_ieee(const qdq_link *link);
// True if the link adds its parameter to x in float32.
bool qdq_elements_add(const qdq_link *link);

#endif
