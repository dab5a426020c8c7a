// SPDX-License-Identifier: Apache-2.0
// Converts operators of elements and of slices: functions, sums and products, SOFTMAX, MEAN and its
// like.
#include <string.h>

#include "graph/formats/tflite/ops/tflite_ops.h"
#include "runtime/numerics/dtype.h"

void qdq_tflite_binary(qdq_tflite_node *node, const qdq_tflite_op *row) {
    qdq_binary_attrs attrs = {.a = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "a"),
                              .b = qdq_tflite_operand(node, 1, QDQ_TFLITE_AS_STORED, "b")};
    if (node->refused) return;
    attrs.name = qdq_tflite_op_name(node);
    qdq_tflite_finish(node, qdq_add_node(node->im->graph, row->ours, &attrs, sizeof attrs));
}

// Functions of one element, and bounds of it.
void qdq_tflite_unary(qdq_tflite_node *node, const qdq_tflite_op *row) {
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    if (node->refused) return;
    const char *name = qdq_tflite_op_name(node);
    qdq_unary_attrs attrs = {.name = name, .x = x};
    qdq_clamp_attrs clamp = {.name = name, .x = x, .min = QDQ_FLOAT(0.0), .max = QDQ_FLOAT(6.0)};
    if (row->code == QDQ_TFLITE_RELU_N1_TO_1) clamp.min = QDQ_FLOAT(-1.0);
    if (row->code != QDQ_TFLITE_RELU6) clamp.max = QDQ_FLOAT(1.0);
    bool bounded = strcmp(row->ours, "Clamp") == 0;
    qdq_graph *graph = node->im->graph;
    qdq_tflite_finish(node, bounded ? qdq_clamp(graph, x, clamp)
                                    : qdq_add_node(graph, row->ours, &attrs, sizeof attrs));
}

void qdq_tflite_leaky_relu(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    double alpha = (double)qdq_flat_float(node->im->flat, &node->options, 0, 0.0f);
    if (node->refused) return;
    qdq_tflite_finish(node, qdq_leaky_relu(node->im->graph, x,
                                           (qdq_alpha_attrs){.name = qdq_tflite_op_name(node),
                                                             .alpha = QDQ_FLOAT(alpha)}));
}

void qdq_tflite_elu(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    if (node->refused) return;
    qdq_tflite_finish(node, qdq_elu(node->im->graph, x,
                                    (qdq_alpha_attrs){.name = qdq_tflite_op_name(node),
                                                      .alpha = QDQ_FLOAT(1.0)}));
}

void qdq_tflite_gelu(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    bool approximate = qdq_tflite_int(node, 0, QDQ_FLAT_I8, 0) != 0;
    if (node->refused) return;
    qdq_tflite_finish(
        node, qdq_gelu(node->im->graph, x,
                       (qdq_gelu_attrs){.name = qdq_tflite_op_name(node),
                                        .mode = approximate ? QDQ_GELU_TANH : QDQ_GELU_ERF}));
}

// The slopes have the last dims of x.
void qdq_tflite_prelu(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    qdq_value slope = qdq_tflite_operand(node, 1, QDQ_TFLITE_AS_STORED, "slope");
    if (node->refused) return;
    qdq_tflite_finish(node, qdq_prelu(node->im->graph, x, slope,
                                      (qdq_prelu_attrs){.name = qdq_tflite_op_name(node),
                                                        .data_format = QDQ_NXC}));
}

// Softmax of the last dim; a factor other than 1 is a Multiply before it.
void qdq_tflite_softmax(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_graph *graph = node->im->graph;
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    float beta = qdq_flat_float(node->im->flat, &node->options, 0, 0.0f);
    if (node->refused) return;
    if (beta != 1.0f) {
        qdq_value factor = qdq_constant(graph, qdq_tflite_helper(node, "beta"), QDQ_FLOAT32,
                                        (qdq_shape){0}, &beta);
        x = qdq_multiply(graph, x, factor,
                         (qdq_binary_attrs){.name = qdq_tflite_helper(node, "scaled")});
    }
    qdq_tflite_finish(node, qdq_softmax(graph, x,
                                        (qdq_softmax_attrs){.name = qdq_tflite_op_name(node),
                                                            .axis = QDQ_INT(-1)}));
}

// Means, sums and bounds over some dims.
void qdq_tflite_reduce(qdq_tflite_node *node, const qdq_tflite_op *row) {
    int64_t axes[QDQ_MAX_RANK];
    size_t count, kept = 0;
    bool known, marked[QDQ_MAX_RANK] = {false};
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !qdq_tflite_ints(node, 1, "axes", QDQ_MAX_RANK, axes, &count)) return;
    for (size_t i = 0; i < count; i++) {  // an axis may be given twice
        int axis;
        if (!qdq_tflite_axis(node, axes[i], shape.rank, &axis)) return;
        if (!marked[axis]) axes[kept++] = axis;
        marked[axis] = true;
    }
    qdq_reduce_attrs attrs = {.axes = {axes, kept},
                              .keep_dims =
                                  qdq_tflite_int(node, 0, QDQ_FLAT_I8, 0) ? QDQ_TRUE : QDQ_FALSE};
    attrs.name = qdq_tflite_op_name(node);
    attrs.x = x;
    qdq_tflite_finish(node, qdq_add_node(node->im->graph, row->ours, &attrs, sizeof attrs));
}
