// SPDX-License-Identifier: Apache-2.0
// The functions that write an op of ours to a model, for ops that are more than another name.
#ifndef QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_WRITERS_H
#define QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_WRITERS_H

#include "graph/formats/onnx/ops/onnx_ops.h"
#include "graph/formats/onnx/write/onnx_draft.h"

// `name` is ONNX's name of the op, by the reader's table.
typedef void qdq_onnx_write_op(qdq_onnx_writer *w, const char *name);

// onnx_write_quantize.c
qdq_onnx_write_op qdq_onnx_write_quantize, qdq_onnx_write_dequantize, qdq_onnx_write_dynamic,
    qdq_onnx_write_requantize, qdq_onnx_write_cast;
// onnx_write_trt.c: write a node with blocks as an op of TensorRT. False if the graph's target or
// the domain has none; nothing is written then.
bool qdq_onnx_write_trt_dynamic(qdq_onnx_writer *w, const char *scheme);
bool qdq_onnx_write_trt_dequantize(qdq_onnx_writer *w);
// onnx_write_network.c
qdq_onnx_write_op qdq_onnx_write_square, qdq_onnx_write_silu, qdq_onnx_write_relu6,
    qdq_onnx_write_rsqrt, qdq_onnx_write_trunc, qdq_onnx_write_gelu, qdq_onnx_write_pow,
    qdq_onnx_write_mod, qdq_onnx_write_is_inf, qdq_onnx_write_bit_shift, qdq_onnx_write_bias_add,
    qdq_onnx_write_prelu, qdq_onnx_write_matmul, qdq_onnx_write_integer_matmul,
    qdq_onnx_write_microsoft_matmul;
// onnx_write_recurrent.c
qdq_onnx_write_op qdq_onnx_write_clamp, qdq_onnx_write_tanh;
// onnx_write_slices.c
qdq_onnx_write_op qdq_onnx_write_softmax, qdq_onnx_write_layer_norm, qdq_onnx_write_rms_norm,
    qdq_onnx_write_group_norm, qdq_onnx_write_batch_norm, qdq_onnx_write_reduce,
    qdq_onnx_write_cum_sum, qdq_onnx_write_top_k;
// onnx_write_windows.c
qdq_onnx_write_op qdq_onnx_write_conv, qdq_onnx_write_integer_conv, qdq_onnx_write_pool,
    qdq_onnx_write_qlinear_pool, qdq_onnx_write_interpolate;
// onnx_write_qlinear.c
qdq_onnx_write_op qdq_onnx_write_qlinear, qdq_onnx_write_qlinear_softmax,
    qdq_onnx_write_qlinear_global_pool;
// onnx_write_move.c
qdq_onnx_write_op qdq_onnx_write_concat, qdq_onnx_write_reshape, qdq_onnx_write_transpose,
    qdq_onnx_write_identity, qdq_onnx_write_slice, qdq_onnx_write_pad, qdq_onnx_write_expand,
    qdq_onnx_write_tile, qdq_onnx_write_trilu, qdq_onnx_write_eye_like, qdq_onnx_write_one_hot,
    qdq_onnx_write_scatter;

// Refuses the node unless its first result has the dtype of its first input.
bool qdq_onnx_keeps_dtype(qdq_onnx_writer *w);

// A node whose ONNX form has channels in dim 1. If the graph has them last, the input is transposed
// before it, and the result after it.
typedef struct qdq_onnx_channels {
    bool last;
    int rank;
} qdq_onnx_channels;

qdq_onnx_channels qdq_onnx_find_channels(qdq_onnx_writer *w);
// Returns the name of x with channels in dim 1.
const char *qdq_onnx_first_channels(qdq_onnx_writer *w, const qdq_onnx_channels *c, const char *x);
// Adds the main node, and its result.
qdq_onnx_new_node *qdq_onnx_emit_channels(qdq_onnx_writer *w, const qdq_onnx_channels *c,
                                          const char *op, int since);
void qdq_onnx_yield_channels(qdq_onnx_writer *w, const qdq_onnx_channels *c, qdq_onnx_new_node *n);

// Set the names of the inputs of a QLinear op, and turn a node into an op of com.microsoft with
// them.
void qdq_onnx_qlinear_inputs(qdq_onnx_writer *w, const char **names);
void qdq_onnx_make_qlinear(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *const *names);

// Adds the nodes that stand for node `index` of the graph, by the table.
void qdq_onnx_write_node(qdq_onnx_draft *draft, size_t index);

#endif
