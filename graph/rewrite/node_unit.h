// SPDX-License-Identifier: Apache-2.0
// A node between Dequantize and Quantize, as seen by backends that fuse these groups: the
// quantizing nodes around it and their parameters.
#ifndef QDQ_GRAPH_REWRITE_NODE_UNIT_H
#define QDQ_GRAPH_REWRITE_NODE_UNIT_H

#include "graph/rewrite/rewrite.h"
#include "include/qdq/ops/quantize.h"

// A Quantize or Dequantize whose real side is float32 with float32 scales.
typedef struct qdq_coder {
    bool given;
    size_t node;
    uint32_t codes, reals;  // values
    qdq_dtype dtype;        // of the codes
    const qdq_quantize_attrs *attrs;
    size_t count;  // of scales; 1: one for the tensor
    int axis;      // of scales for each index; -1: one for the tensor
    bool blocks;   // scales for blocks
    bool known;    // scale and zero point are constants
    bool zero_given;
} qdq_coder;

typedef struct qdq_node_unit {
    const qdq_node *node;
    qdq_coder x[QDQ_MAX_PORTS];  // Dequantize before each input, not given elsewhere
    // The only reader of the first output if it is Quantize, and the output is none of the graph's.
    qdq_coder y;
} qdq_node_unit;

// Returns the node as a coder; not `given` if it is none.
qdq_coder qdq_coder_of(const qdq_rewriter *r, size_t index, const char *op);
// Return the Dequantize that computes a value, and the only reader of a value if it is a Quantize.
qdq_coder qdq_coder_before(const qdq_rewriter *r, uint32_t value);
qdq_coder qdq_coder_behind(const qdq_rewriter *r, uint32_t value);
// Returns the Dequantize before an input of the unit's node, also behind the first QDQ_MAX_PORTS.
qdq_coder qdq_coder_at(const qdq_rewriter *r, const qdq_node_unit *unit, size_t input);
void qdq_node_unit_of(const qdq_rewriter *r, size_t index, qdq_node_unit *unit);

// Return scale and zero point number i of a coder that is `known`.
float qdq_coder_scale(const qdq_rewriter *r, const qdq_coder *c, size_t i);
int32_t qdq_coder_zero(const qdq_rewriter *r, const qdq_coder *c, size_t i);
// True if two coders each have a single scale and zero point, known, given and equal, and the same
// dtype.
bool qdq_coders_equal(const qdq_rewriter *r, const qdq_coder *a, const qdq_coder *b);

// True if the first input of a node may be codes of this dtype.
bool qdq_node_takes(const qdq_node *node, qdq_dtype dtype);

// Notes that the new node reads the parameters of a coder.
void qdq_coder_reads(const qdq_rewriter *r, qdq_match *m, const qdq_coder *c);
// Return the parameters as values of the new graph, constants if they are attributes.
qdq_value qdq_coder_scale_value(const qdq_rewriter *r, const qdq_coder *c);
qdq_value qdq_coder_zero_value(const qdq_rewriter *r, const qdq_coder *c);

// Adds a constant to the new graph, called by a stem and an ending.
qdq_value qdq_rewrite_constant(const qdq_rewriter *r, const char *stem, const char *ending,
                               qdq_dtype dtype, qdq_shape shape, const void *data);
// Returns the row-major elements of a constant of the graph before the pass; NULL if it is no
// constant or cannot be read.
const void *qdq_rewrite_data(const qdq_rewriter *r, uint32_t value);

#endif
