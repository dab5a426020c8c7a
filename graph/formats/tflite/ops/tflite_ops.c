// SPDX-License-Identifier: Apache-2.0
// The table of TensorFlow Lite's operators. A new one is a row.
#include "graph/formats/tflite/ops/tflite_ops.h"

// Code, name, inputs that must be given, kind of options, slot of the activation, converter, our
// op.
// clang-format off
static const qdq_tflite_op rows[] = {
    {0, "ADD", 2, 11, 0, qdq_tflite_binary, "Add"},
    {1, "AVERAGE_POOL_2D", 1, 5, 5, qdq_tflite_average_pool, NULL},
    {2, "CONCATENATION", 1, 10, 1, qdq_tflite_concatenation, NULL},
    {3, "CONV_2D", 2, 1, 3, qdq_tflite_conv, NULL},
    {4, "DEPTHWISE_CONV_2D", 2, 2, 4, qdq_tflite_depthwise, NULL},
    {6, "DEQUANTIZE", 1, 38, -1, qdq_tflite_dequantize_op, NULL},
    {9, "FULLY_CONNECTED", 2, 8, 0, qdq_tflite_fully_connected, NULL},
    {14, "LOGISTIC", 1, 0, -1, qdq_tflite_unary, "Sigmoid"},
    {17, "MAX_POOL_2D", 1, 5, 5, qdq_tflite_max_pool, NULL},
    {18, "MUL", 2, 21, 0, qdq_tflite_binary, "Multiply"},
    {19, "RELU", 1, 0, -1, qdq_tflite_unary, "ReLU"},
    {QDQ_TFLITE_RELU_N1_TO_1, "RELU_N1_TO_1", 1, 0, -1, qdq_tflite_unary, "Clamp"},
    {QDQ_TFLITE_RELU6, "RELU6", 1, 0, -1, qdq_tflite_unary, "Clamp"},
    {22, "RESHAPE", 1, 17, -1, qdq_tflite_reshape, NULL},
    {23, "RESIZE_BILINEAR", 2, 15, -1, qdq_tflite_resize_bilinear, NULL},
    {25, "SOFTMAX", 1, 9, -1, qdq_tflite_softmax, NULL},
    {28, "TANH", 1, 0, -1, qdq_tflite_unary, "Tanh"},
    {34, "PAD", 2, 22, -1, qdq_tflite_pad, NULL},
    {39, "TRANSPOSE", 2, 26, -1, qdq_tflite_transpose, NULL},
    {40, "MEAN", 2, 27, -1, qdq_tflite_mean, NULL},
    {41, "SUB", 2, 28, 0, qdq_tflite_binary, "Subtract"},
    {43, "SQUEEZE", 1, 30, -1, qdq_tflite_squeeze, NULL},
    {45, "STRIDED_SLICE", 4, 32, -1, qdq_tflite_strided_slice, NULL},
    {49, "SPLIT", 2, 35, -1, qdq_tflite_split, NULL},
    {60, "PADV2", 3, 43, -1, qdq_tflite_pad, NULL},
    {97, "RESIZE_NEAREST_NEIGHBOR", 2, 74, -1, qdq_tflite_resize_nearest, NULL},
    {98, "LEAKY_RELU", 1, 75, -1, qdq_tflite_leaky_relu, NULL},
    {102, "SPLIT_V", 3, 79, -1, qdq_tflite_split_v, NULL},
    {114, "QUANTIZE", 1, 89, -1, qdq_tflite_quantize_op, NULL},
    {117, "HARD_SWISH", 1, 91, -1, qdq_tflite_unary, "HardSwish"},
    {129, "CALL_ONCE", 0, 103, -1, qdq_tflite_call_once, NULL},
    {142, "VAR_HANDLE", 0, 111, -1, qdq_tflite_var_handle, NULL},
    {QDQ_TFLITE_READ_VARIABLE, "READ_VARIABLE", 1, 0, -1, qdq_tflite_read_variable, NULL},
    {144, "ASSIGN_VARIABLE", 2, 0, -1, qdq_tflite_assign_variable, NULL},
    {QDQ_TFLITE_RELU_0_TO_1, "RELU_0_TO_1", 1, 0, -1, qdq_tflite_unary, "Clamp"},
};
// clang-format on

const qdq_tflite_op *qdq_tflite_find_op(int code) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code) return &rows[i];
    return NULL;
}
