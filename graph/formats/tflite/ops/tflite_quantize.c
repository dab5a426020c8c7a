// SPDX-License-Identifier: Apache-2.0
// Converts QUANTIZE and DEQUANTIZE.
#include "graph/formats/tflite/ops/tflite_ops.h"
#include "runtime/numerics/dtype.h"

// Converts codes to other codes by one Requantize.
static void requantize(qdq_tflite_node *node) {
    const qdq_tflite_tensor *x = node->inputs[0], *y = node->outputs[0];
    if (x->scale_count > 1 || y->scale_count > 1) {
        qdq_tflite_refuse(node, NULL, "converts codes with several scales", "one scale");
        return;
    }
    qdq_requantize_attrs attrs = {.name = node->name,
                                  .in_scales = {x->scales, 1, true},
                                  .out_scales = {y->scales, 1, true},
                                  .dtype = y->dtype};
    if (x->zp_count && x->zps[0] != 0.0) attrs.in_zps = (qdq_numbers){x->zps, 1, true};
    if (y->zp_count && y->zps[0] != 0.0) attrs.out_zps = (qdq_numbers){y->zps, 1, true};
    qdq_value codes = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_tflite_bind(node, 0, qdq_requantize(node->im->graph, codes, attrs));
}

void qdq_tflite_quantize_op(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    const qdq_tflite_tensor *x = node->inputs[0], *y = node->outputs[0];
    if (!qdq_tflite_is_codes(y)) {
        qdq_tflite_refuse(node, NULL, "makes a tensor without a scale", NULL);
    } else if (qdq_tflite_is_codes(x)) {
        requantize(node);
    } else {
        qdq_value real = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
        qdq_tflite_bind(node, 0, qdq_tflite_quantized(node, real, NULL));
    }
}

void qdq_tflite_dequantize_op(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    const qdq_tflite_tensor *x = node->inputs[0];
    qdq_value value = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    if (qdq_tflite_is_codes(x))
        qdq_tflite_bind(node, 0, qdq_tflite_dequantized(node, x, value, NULL));
    else if (x->dtype == QDQ_FLOAT16 || x->dtype == QDQ_BFLOAT16)
        qdq_tflite_bind(node, 0,
                        qdq_cast(node->im->graph, value,
                                 (qdq_cast_attrs){.name = node->name, .dtype = QDQ_FLOAT32}));
    else
        qdq_tflite_refuse(node, NULL, "reads a tensor without a scale", NULL);
}
