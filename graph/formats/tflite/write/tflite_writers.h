// SPDX-License-Identifier: Apache-2.0
// The table of ops that are written, and the functions that write them.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_WRITERS_H
#define QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_WRITERS_H

#include "graph/formats/tflite/write/tflite_units.h"

typedef void qdq_tflite_write_op(qdq_tflite_writer *w);

// An op: how its unit is found, how it is written, and its attributes that the two read. A node
// that sets another attribute is refused.
typedef struct qdq_tflite_writer_row {
    const char *op;
    qdq_tflite_find *find;
    qdq_tflite_write_op *write;
    bool fuses;         // an activation behind it
    bool coded;         // pairs that were not read from a model become an operator on codes
    const char *attrs;  // " a b "
    int code, kind;     // of ops that are always one operator: its number, and the options' kind
} qdq_tflite_writer_row;

// tflite_write_ops.c
// Finds the unit of a node; the units of the nodes before it are known.
void qdq_tflite_find_unit(qdq_tflite_draft *draft, size_t index);
// Writes a node by its row.
void qdq_tflite_write_node(qdq_tflite_draft *draft, size_t index);

// tflite_write_quantize.c
qdq_tflite_write_op qdq_tflite_write_quantize, qdq_tflite_write_dequantize,
    qdq_tflite_write_requantize, qdq_tflite_write_cast;
// tflite_write_elements.c
qdq_tflite_write_op qdq_tflite_write_binary, qdq_tflite_write_unary, qdq_tflite_write_clamp,
    qdq_tflite_write_leaky_relu, qdq_tflite_write_elu, qdq_tflite_write_gelu,
    qdq_tflite_write_prelu, qdq_tflite_write_softmax, qdq_tflite_write_reduce;
// tflite_write_products.c
qdq_tflite_write_op qdq_tflite_write_conv, qdq_tflite_write_transposed, qdq_tflite_write_matmul;
// tflite_write_pools.c
qdq_tflite_write_op qdq_tflite_write_pool;
// tflite_write_move.c
qdq_tflite_write_op qdq_tflite_write_concat, qdq_tflite_write_pad, qdq_tflite_write_reshape,
    qdq_tflite_write_transpose;
// tflite_write_slices.c
qdq_tflite_write_op qdq_tflite_write_slice;
// tflite_write_resize.c
qdq_tflite_write_op qdq_tflite_write_interpolate, qdq_tflite_write_gather;

// Writes variables before the operators of the graph, and what is assigned to them after them
// (tflite_write_states.c).
void qdq_tflite_write_first_states(qdq_tflite_draft *draft);
void qdq_tflite_write_next_states(qdq_tflite_draft *draft);
// True if the value is an input whose elements come from the run before.
bool qdq_tflite_is_state(const qdq_graph *graph, uint32_t value);

//---- Shared by writers (tflite_emit.c) --------------------------------------

// Returns the tensor of operand i of the unit, or of result i.
int32_t qdq_tflite_in(qdq_tflite_writer *w, size_t i);
int32_t qdq_tflite_out(qdq_tflite_writer *w, size_t i);
// Adds an operator that reads the first `count` operands and makes the result.
qdq_tflite_operator *qdq_tflite_emit_unit(qdq_tflite_writer *w, qdq_tflite_code code, int kind,
                                          size_t count);
// Returns the type of a value.
const qdq_type *qdq_tflite_type_at(const qdq_tflite_writer *w, uint32_t value);

// True for a convolution with one input channel for each output channel, which is written as
// DEPTHWISE_CONV_2D (tflite_find_products.c).
bool qdq_tflite_is_depthwise(const qdq_tflite_draft *draft, const qdq_node *node);
// True if a Quantize or Requantize clamps to less than the range of its dtype (tflite_params.c).
bool qdq_tflite_is_narrowed(const qdq_tflite_draft *draft, const qdq_node *node);
// Reads one side of a Requantize of one scale (tflite_params.c).
bool qdq_tflite_requantize_params(const qdq_tflite_draft *draft, const qdq_node *node, bool in,
                                  qdq_tflite_params *out);

//---- Windows (tflite_write_windows.c) ---------------------------------------

// A window that slides over rows and columns of [N, H, W, C].
typedef struct qdq_tflite_window {
    int64_t kernel[2], strides[2], dilations[2], begin[2], end[2];
    int rule;  // of padding: 0 SAME, 1 VALID
} qdq_tflite_window;

// The attributes of a window; NULL lists: all 1.
typedef struct qdq_tflite_window_attrs {
    const qdq_ints *strides, *dilations, *begin, *end;
    int auto_pad;
    bool last;  // channels
} qdq_tflite_window_attrs;

// Reads the window of a node whose kernel is known, from x to y. False after a refusal.
bool qdq_tflite_read_window(qdq_tflite_writer *w, const qdq_tflite_window_attrs *attrs, qdq_shape x,
                            qdq_shape y, qdq_tflite_window *out);
// Sets the padding of the rule SAME over x.
void qdq_tflite_pad_same(qdq_tflite_window *window, qdq_shape x);
// True if the padding is the one of a rule, which it sets.
bool qdq_tflite_find_rule(qdq_tflite_window *window, qdq_shape x, qdq_shape y);
// Writes a PAD of rows and columns before the operator, by zeros or the zero point; `lowest`: a
// PADV2 by the least element. Returns the padded tensor, and sets the rule to VALID.
int32_t qdq_tflite_pad_window(qdq_tflite_writer *w, qdq_tflite_window *window, int32_t x,
                              bool lowest);

#endif
