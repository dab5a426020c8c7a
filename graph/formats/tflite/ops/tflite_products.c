// SPDX-License-Identifier: Apache-2.0
// Converts FULLY_CONNECTED, rows of x times weights [outputs, inputs], and BATCH_MATMUL.
#include "graph/formats/tflite/ops/tflite_ops.h"
#include "runtime/numerics/dtype.h"

// Returns x as codes or floats with rows of `inputs` elements: in two dims, unless the operator
// keeps the dims. Id 0 after a refusal.
static qdq_value rows_of(qdq_tflite_node *node, int64_t inputs) {
    bool known, keep = qdq_tflite_int(node, 2, QDQ_FLAT_I8, 0) != 0;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known) return (qdq_value){0};
    int64_t count = (int64_t)qdq_shape_count(shape),
            last = shape.rank ? shape.dims[shape.rank - 1] : 1;
    if (inputs < 1 || (keep ? last != inputs : count % inputs != 0)) {
        qdq_findings *f = &node->im->graph->findings;
        qdq_tflite_refuse(node, "x", qdq_text(f, "is %s", qdq_shape_text(f, shape)),
                          TFLITE_TEXT(node, "rows of %lld elements", (long long)inputs));
        return (qdq_value){0};
    }
    if (keep || (shape.rank == 2 && last == inputs)) return x;
    const int64_t dims[] = {count / inputs, inputs};
    return qdq_reshape(node->im->graph, x,
                       (qdq_reshape_attrs){.name = qdq_tflite_helper(node, "rows"),
                                           .shape = {dims, 2},
                                           .special_zero = QDQ_FALSE});
}

// Quantizes each row of floats by its own range, as products with codes of weights do.
static qdq_value quantize_rows(qdq_tflite_node *node, qdq_value x) {
    qdq_graph *graph = node->im->graph;
    bool known, asymmetric = qdq_tflite_int(node, 3, QDQ_FLAT_I8, 0) != 0;
    int64_t group[QDQ_MAX_RANK];
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known) return x;
    for (int i = 0; i < shape.rank; i++) group[i] = i + 1 < shape.rank ? 1 : -1;
    qdq_ints groups = {group, (size_t)shape.rank};
    qdq_dynamic_quantize_attrs attrs = {.quantize = {.name = qdq_tflite_helper(node, "codes"),
                                                     .qtype = QDQ_PER_GROUP,
                                                     .group_shape = groups,
                                                     .dtype = QDQ_INT8},
                                        .scheme = asymmetric ? QDQ_ASYMMETRIC : QDQ_SYMMETRIC};
    if (!asymmetric) attrs.quantize.quant_min = QDQ_INT(-127);
    qdq_value codes = qdq_dynamic_quantize(graph, x, attrs);
    return qdq_dequantize(graph, codes,
                          (qdq_dequantize_attrs){.name = qdq_tflite_helper(node, "x"),
                                                 .scale = qdq_port(graph, codes, "scale"),
                                                 .zero_point = qdq_port(graph, codes, "zero_point"),
                                                 .qtype = QDQ_PER_GROUP,
                                                 .group_shape = groups,
                                                 .dtype = QDQ_FLOAT32});
}

void qdq_tflite_fully_connected(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    const qdq_tflite_tensor *x = node->inputs[0], *w = node->inputs[1];
    bool known, codes = qdq_tflite_is_codes(x);
    int64_t order = qdq_tflite_int(node, 1, QDQ_FLAT_I8, 0);
    qdq_value weights = qdq_tflite_ref(node, 1, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, weights, &known);
    if (order)
        qdq_tflite_refuse(node, "weights_format", TFLITE_TEXT(node, "is %lld", (long long)order),
                          "0");
    else if (known && shape.rank != 2)
        qdq_tflite_refuse(node, "weights", TFLITE_TEXT(node, "have %d dims", shape.rank), "2");
    if (!known || node->refused) return;
    qdq_value rows = rows_of(node, shape.dims[1]);
    if (codes)
        rows = qdq_tflite_dequantized(node, x, rows, "x");
    else if (rows.id && qdq_tflite_is_codes(w))
        rows = quantize_rows(node, rows);
    qdq_value b = qdq_tflite_operand(node, 1, QDQ_TFLITE_AS_STORED, "weights");
    qdq_value bias = qdq_tflite_bias(node);
    if (!rows.id || node->refused) return;
    qdq_tflite_finish(node, qdq_matmul(node->im->graph, rows, b,
                                       (qdq_matmul_attrs){.name = qdq_tflite_op_name(node),
                                                          .bias = bias,
                                                          .transpose_b = QDQ_TRUE}));
}

void qdq_tflite_batch_matmul(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    if (qdq_tflite_is_codes(node->inputs[0]) != qdq_tflite_is_codes(node->inputs[1]))
        qdq_tflite_refuse(node, NULL, "multiplies floats by codes", "both quantized, or none");
    qdq_matmul_attrs attrs = {
        .transpose_a = qdq_tflite_int(node, 0, QDQ_FLAT_I8, 0) ? QDQ_TRUE : QDQ_FALSE,
        .transpose_b = qdq_tflite_int(node, 1, QDQ_FLAT_I8, 0) ? QDQ_TRUE : QDQ_FALSE};
    qdq_value a = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "a");
    qdq_value b = qdq_tflite_operand(node, 1, QDQ_TFLITE_AS_STORED, "b");
    if (node->refused) return;
    attrs.name = qdq_tflite_op_name(node);
    qdq_tflite_finish(node, qdq_matmul(node->im->graph, a, b, attrs));
}
