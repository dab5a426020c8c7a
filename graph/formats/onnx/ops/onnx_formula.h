// SPDX-License-Identifier: Apache-2.0
// Converts an ONNX op that is a formula of our ops, which is written as text:
//
//     mean = ReduceMean(x, axes: axes, keep_dims: 1); Subtract(x, mean)
//
// Statements are separated by semicolons; the last statement computes output 0, and `out2 = ...`
// computes output 2 if the model names it. An operand is a call, a number, an earlier statement, or
// a term. A number has the dtype of the first other operand of its call that is not bool. `bias?`
// may be absent: its call is then its other operand. After the operands come attributes: a number,
// a word, [1, 2], or a term. A term that names a value stands for the dtype of the value.
#ifndef QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_FORMULA_H
#define QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_FORMULA_H

#include "graph/formats/onnx/ops/onnx_ops.h"

// A name that a formula uses: an input of the node, a value of the graph, a number or a list.
typedef struct qdq_onnx_term {
    const char *name;
    qdq_onnx_value *input;
    qdq_value value;
    double number;
    qdq_ints ints;
    const char *word;
} qdq_onnx_term;

enum { QDQ_ONNX_MOST_TERMS = 32 };

// Returns the result of the formula, or no value after a refusal. The node's own terms (ports and
// attributes of its row) are known as well.
qdq_value qdq_onnx_formula(qdq_onnx_node *node, const qdq_onnx_op *row, const char *text,
                           const qdq_onnx_term *terms, size_t count);

// Returns a constant of one dim, for a term.
qdq_onnx_value *qdq_onnx_list_value(qdq_onnx_node *node, const char *name, int elem,
                                    const double *numbers, size_t count);

// Returns a term p, the exponent of the node's first input: one for each element of its last dim.
// ONNX Runtime multiplies for Pow by a single 3, and not for ops that take powers.
qdq_onnx_term qdq_onnx_exponent(qdq_onnx_node *node, double p);

// Converts a row whose `ours` is a formula.
void qdq_onnx_compose(qdq_onnx_node *node, const qdq_onnx_op *row);

#endif
