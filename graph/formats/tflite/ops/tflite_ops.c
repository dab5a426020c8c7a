// SPDX-License-Identifier: Apache-2.0
// The table of TensorFlow Lite's operators. A new one is a row.
#include "graph/formats/tflite/ops/tflite_ops.h"

// Code, name, inputs that must be given, kind of options, slot of the activation, converter, our
// op.
// clang-format off
static const qdq_tflite_op rows[] = {
    {1, "AVERAGE_POOL_2D", 1, 5, 5, qdq_tflite_average_pool, NULL},
    {3, "CONV_2D", 2, 1, 3, qdq_tflite_conv, NULL},
    {4, "DEPTHWISE_CONV_2D", 2, 2, 4, qdq_tflite_depthwise, NULL},
    {6, "DEQUANTIZE", 1, 38, -1, qdq_tflite_dequantize_op, NULL},
    {9, "FULLY_CONNECTED", 2, 8, 0, qdq_tflite_fully_connected, NULL},
    {17, "MAX_POOL_2D", 1, 5, 5, qdq_tflite_max_pool, NULL},
    {114, "QUANTIZE", 1, 89, -1, qdq_tflite_quantize_op, NULL},
};
// clang-format on

const qdq_tflite_op *qdq_tflite_find_op(int code) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code) return &rows[i];
    return NULL;
}
