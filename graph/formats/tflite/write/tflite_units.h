// SPDX-License-Identifier: Apache-2.0
// Units: the nodes of a graph that are one operator of a model. In the pair form (docs/tflite.md)
// these are the op on floats, the Dequantize of each operand, the activation behind it and the
// Quantize. A node that was read from a model knows its operator, and shares a unit with nodes of
// the same operator only.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_UNITS_H
#define QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_UNITS_H

#include <string.h>

#include "graph/formats/tflite/write/tflite_draft.h"

// Fused activations, by the format's numbers.
typedef enum qdq_tflite_activation {
    TFLITE_NO_ACTIVATION,
    TFLITE_FUSED_RELU,
    TFLITE_FUSED_RELU_N1_TO_1,
    TFLITE_FUSED_RELU6,
    TFLITE_FUSED_TANH,
    TFLITE_OTHER_ACTIVATION,  // no operator fuses it
} qdq_tflite_activation;

// An operand: the value whose tensor the operator reads (0: absent), and the Dequantize whose
// parameters its codes have; NULL: floats, or codes that only move.
typedef struct qdq_tflite_source {
    uint32_t value;
    const qdq_node *coder;
} qdq_tflite_source;

typedef struct qdq_tflite_unit {
    bool fuses;    // the operator takes an activation
    bool pairs;    // a pair form is an operator on codes
    bool part;     // the operator of another node stands for this node too
    bool needed;   // it is written: an operator or an output reads a result
    bool codes;    // the pair form: operands and result are codes
    bool moves;    // codes keep their parameters
    bool stored;   // convolutions: computed weights have the format's order of dims
    bool batch;    // BATCH_MATMUL, not FULLY_CONNECTED
    bool dynamic;  // FULLY_CONNECTED: codes of x are computed, `asymmetric` with zero points
    bool asymmetric;
    int activation;
    qdq_tflite_source *in;
    size_t in_count;
    uint32_t *outs;  // results
    size_t out_count;
    const qdq_node *coder;  // the Quantize whose parameters the result has; NULL
    bool splits;            // the Slice and the ones behind it are the parts of one split
    const qdq_node *slice;  // before a StaticReshape that drops its dims
    int64_t block;          // DEPTH_TO_SPACE (negative) and SPACE_TO_DEPTH: its size; 0: neither
    const qdq_node *rows;   // RESIZE_NEAREST_NEIGHBOR: the Gather of rows
    float beta;             // SOFTMAX
} qdq_tflite_unit;

// True if the node was read from an operator, on codes if its first operand has a coder.
bool qdq_tflite_was_read(const qdq_node *node, const qdq_tflite_unit *u);
// True if both nodes may belong to one operator.
bool qdq_tflite_share_operator(const qdq_node *a, const qdq_node *b);
// True if the node was read from this operator.
bool qdq_tflite_was(const qdq_node *node, const char *op);
// True if the node has this op.
static inline bool qdq_tflite_is(const qdq_node *node, const char *op) {
    return strcmp(node->op->name, op) == 0;
}

// Returns the node that makes a value, NULL: none.
const qdq_node *qdq_tflite_maker(const qdq_tflite_draft *draft, uint32_t value);
// Returns the Dequantize that makes a value and may belong to the operator of the node; NULL: none,
// or its parameters are not constant.
const qdq_node *qdq_tflite_coder_of(const qdq_tflite_draft *draft, const qdq_node *node,
                                    uint32_t value);

//---- Parts of finding (for ops with more than pairs) -------------------------

// Sets operand i to a value, or to the codes of a Dequantize before it.
void qdq_tflite_set_operand(const qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u,
                            size_t i, uint32_t value);
// True if a unit that ends in codes has operands of codes of its dtype; any dtypes if it was
// read from an operator.
bool qdq_tflite_is_coded(const qdq_tflite_draft *draft, const qdq_node *node,
                         const qdq_tflite_unit *u, size_t operands);
// Finds activation (if the operator fuses one) and Quantize behind the node. With `coded` and a
// Quantize the unit is codes, else its operands are the node's floats.
void qdq_tflite_find_result(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u,
                            bool coded, bool fuses);
// Returns the Quantize that would end the unit of the node without an activation; NULL: none.
const qdq_node *qdq_tflite_coder_behind(const qdq_tflite_draft *draft, const qdq_node *node,
                                        uint32_t value);
// Returns the node that reads a value if it is the only one, and the value is no output; else NULL.
const qdq_node *qdq_tflite_only_reader(const qdq_tflite_draft *draft, uint32_t value);

// tflite_find_products.c, tflite_find_moves.c: find units of more than pairs.
typedef void qdq_tflite_find(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u);
qdq_tflite_find qdq_tflite_find_conv, qdq_tflite_find_transposed, qdq_tflite_find_matmul,
    qdq_tflite_find_softmax, qdq_tflite_find_move, qdq_tflite_find_reshape, qdq_tflite_find_slice,
    qdq_tflite_find_gather, qdq_tflite_find_pair, qdq_tflite_find_alone;

//---- Parameters (tflite_params.c) -------------------------------------------

// Reads the parameters of a Quantize or Dequantize. False if they are no constants, for blocks, or
// no memory is left.
bool qdq_tflite_params_of(const qdq_tflite_draft *draft, const qdq_node *coder,
                          qdq_tflite_params *out);
// Finds the parameters of all values: each from the nodes around it, or from the codes that move to
// or from it.
void qdq_tflite_find_params(qdq_tflite_draft *draft);
// Returns parameters for operand i of the unit, in the memory of the draft; NULL: none.
const qdq_tflite_params *qdq_tflite_operand_params(qdq_tflite_writer *w, size_t i);

#endif
