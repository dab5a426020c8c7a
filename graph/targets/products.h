// SPDX-License-Identifier: Apache-2.0
// What several targets ask of a product (MatMul, Convolution, ConvTranspose) whose inputs are
// dequantized. Input 1, `b` or `weights`, are its weights.
#ifndef QDQ_GRAPH_TARGETS_PRODUCTS_H
#define QDQ_GRAPH_TARGETS_PRODUCTS_H

#include "graph/targets/checks.h"

// Weights that are dequantized per channel are so along their output channels.
void qdq_check_weight_axis(const qdq_op_context *ctx, const qdq_rule *rule);
// A product with one input from a Dequantize of `set` has no other that is an input of the graph or
// a constant. Of what other nodes make nothing is said: they may pass on dequantized values.
void qdq_check_both_dequantized(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);

#endif
