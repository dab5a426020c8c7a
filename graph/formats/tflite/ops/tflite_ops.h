// SPDX-License-Identifier: Apache-2.0
// The table of TensorFlow Lite's operators, and the functions that convert them.
//
// An operator on codes becomes the pair form: a Dequantize of each operand, the op on floats, its
// fused activation, and a Quantize. Operators that move elements move the codes.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_OPS_TFLITE_OPS_H
#define QDQ_GRAPH_FORMATS_TFLITE_OPS_TFLITE_OPS_H

#include "graph/formats/tflite/tflite_import.h"
#include "include/qdq/ops.h"

// Codes of operators that converters tell apart.
enum {
    QDQ_TFLITE_DEPTH_TO_SPACE = 5,
    QDQ_TFLITE_RELU_N1_TO_1 = 20,
    QDQ_TFLITE_RELU6 = 21,
    QDQ_TFLITE_READ_VARIABLE = 143,
    QDQ_TFLITE_RELU_0_TO_1 = 152
};

// An operator. `ours` is the op that an elementwise operator is.
typedef struct qdq_tflite_op {
    int code;
    const char *name;
    size_t least;    // inputs that must be given
    int options;     // the kind of its options
    int activation;  // slot of the fused function in its options; -1: none
    void (*convert)(qdq_tflite_node *node, const struct qdq_tflite_op *row);
    const char *ours;
} qdq_tflite_op;

// Returns the row of an operator, or NULL.
const qdq_tflite_op *qdq_tflite_find_op(int code);

// Returns the name of an operator that may have no row; "operator" for an unknown code.
const char *qdq_tflite_builtin_name(int code);

typedef void qdq_tflite_convert(qdq_tflite_node *node, const qdq_tflite_op *row);

// tflite_quantize.c
qdq_tflite_convert qdq_tflite_quantize_op, qdq_tflite_dequantize_op;
// tflite_windows.c
qdq_tflite_convert qdq_tflite_conv, qdq_tflite_depthwise, qdq_tflite_transpose_conv,
    qdq_tflite_average_pool, qdq_tflite_max_pool;
// tflite_products.c
qdq_tflite_convert qdq_tflite_fully_connected, qdq_tflite_batch_matmul;
// tflite_elements.c
qdq_tflite_convert qdq_tflite_binary, qdq_tflite_unary, qdq_tflite_leaky_relu, qdq_tflite_elu,
    qdq_tflite_gelu, qdq_tflite_prelu, qdq_tflite_softmax, qdq_tflite_reduce;
// tflite_move.c
qdq_tflite_convert qdq_tflite_concatenation, qdq_tflite_pad, qdq_tflite_reshape, qdq_tflite_squeeze,
    qdq_tflite_expand_dims, qdq_tflite_transpose, qdq_tflite_block;
// tflite_slices.c
qdq_tflite_convert qdq_tflite_slice, qdq_tflite_strided_slice, qdq_tflite_split, qdq_tflite_split_v;
// tflite_resize.c
qdq_tflite_convert qdq_tflite_resize_bilinear, qdq_tflite_resize_nearest;
// tflite_variables.c
qdq_tflite_convert qdq_tflite_var_handle, qdq_tflite_read_variable, qdq_tflite_assign_variable,
    qdq_tflite_call_once;

//---- Pairs (tflite_pairs.c) -------------------------------------------------

// Returns input i as floats: a Dequantize of codes, called "y/helper", or the tensor. Id 0: it is
// not given, or the node is refused.
qdq_value qdq_tflite_operand(qdq_tflite_node *node, size_t i, qdq_tflite_order order,
                             const char *helper);
// The same of a value with the codes of a tensor; `helper` NULL: it is the result of the node.
qdq_value qdq_tflite_dequantized(qdq_tflite_node *node, const qdq_tflite_tensor *codes,
                                 qdq_value value, const char *helper);
// Returns the bias at input 2, whose scale is the product of the scales of inputs 0 and 1 unless
// the file gives one.
qdq_value qdq_tflite_bias(qdq_tflite_node *node);

// Returns the name of the op on floats: the node's, unless an activation or a Quantize follows.
const char *qdq_tflite_op_name(qdq_tflite_node *node);
// Returns y as the codes of output 0, by a Quantize called "y/helper"; `helper` NULL: it is the
// result of the node.
qdq_value qdq_tflite_quantized(qdq_tflite_node *node, qdq_value y, const char *helper);
// Binds output 0 to the result of the op: adds the activation and the Quantize.
void qdq_tflite_finish(qdq_tflite_node *node, qdq_value y);

// How RESIZE_NEAREST_NEIGHBOR maps positions of rows or columns in y to positions in x.
typedef struct qdq_tflite_nearest {
    int64_t in, out;  // sizes
    bool align, half_pixel;
} qdq_tflite_nearest;

// Returns the index in x of row or column o, in float32 as the format's reference computes it.
int64_t qdq_tflite_nearest_index(const qdq_tflite_nearest *resize, int64_t o);

// Returns the shape of a value; *known false if its maker has errors.
qdq_shape qdq_tflite_shape(const qdq_tflite_node *node, qdq_value value, bool *known);
// Reads the axis of a tensor of `rank` dims, counted from the front. False after a refusal.
bool qdq_tflite_axis(qdq_tflite_node *node, int64_t axis, int rank, int *out);
// Reads an option.
static inline int64_t qdq_tflite_int(const qdq_tflite_node *node, unsigned slot, qdq_flat_kind kind,
                                     int64_t otherwise) {
    return qdq_flat_int(node->im->flat, &node->options, slot, kind, otherwise);
}

#endif
