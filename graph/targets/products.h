// SPDX-License-Identifier: Apache-2.0
// Checks that several targets share for products (MatMul, Convolution, ConvTranspose) with
// dequantized inputs. Input 1, `b` or `weights`, has the weights.
#ifndef QDQ_GRAPH_TARGETS_PRODUCTS_H
#define QDQ_GRAPH_TARGETS_PRODUCTS_H

#include "graph/targets/checks.h"

// Weights dequantized per channel use the dim of their output channels.
void qdq_check_weight_axis(const qdq_op_context *ctx, const qdq_rule *rule);
// If one input of a product comes from a Dequantize of `set`, no other input may be a graph input
// or a constant. Results of other nodes are accepted, because they may pass on dequantized values.
void qdq_check_both_dequantized(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);

#endif
