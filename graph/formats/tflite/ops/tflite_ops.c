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
    {QDQ_TFLITE_DEPTH_TO_SPACE, "DEPTH_TO_SPACE", 1, 94, -1, qdq_tflite_block, NULL},
    {6, "DEQUANTIZE", 1, 38, -1, qdq_tflite_dequantize_op, NULL},
    {8, "FLOOR", 1, 0, -1, qdq_tflite_unary, "Floor"},
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
    {26, "SPACE_TO_DEPTH", 1, 19, -1, qdq_tflite_block, NULL},
    {28, "TANH", 1, 0, -1, qdq_tflite_unary, "Tanh"},
    {34, "PAD", 2, 22, -1, qdq_tflite_pad, NULL},
    {39, "TRANSPOSE", 2, 26, -1, qdq_tflite_transpose, NULL},
    {40, "MEAN", 2, 27, -1, qdq_tflite_reduce, "ReduceMean"},
    {41, "SUB", 2, 28, 0, qdq_tflite_binary, "Subtract"},
    {42, "DIV", 2, 29, 0, qdq_tflite_binary, "Divide"},
    {43, "SQUEEZE", 1, 30, -1, qdq_tflite_squeeze, NULL},
    {45, "STRIDED_SLICE", 4, 32, -1, qdq_tflite_strided_slice, NULL},
    {47, "EXP", 1, 0, -1, qdq_tflite_unary, "Exp"},
    {49, "SPLIT", 2, 35, -1, qdq_tflite_split, NULL},
    {54, "PRELU", 2, 0, -1, qdq_tflite_prelu, NULL},
    {55, "MAXIMUM", 2, 0, -1, qdq_tflite_binary, "Maximum"},
    {57, "MINIMUM", 2, 0, -1, qdq_tflite_binary, "Minimum"},
    {59, "NEG", 1, 0, -1, qdq_tflite_unary, "Neg"},
    {60, "PADV2", 3, 43, -1, qdq_tflite_pad, NULL},
    {65, "SLICE", 3, 0, -1, qdq_tflite_slice, NULL},
    {66, "SIN", 1, 0, -1, qdq_tflite_unary, "Sin"},
    {67, "TRANSPOSE_CONV", 3, 49, 3, qdq_tflite_transpose_conv, NULL},
    {70, "EXPAND_DIMS", 2, 0, -1, qdq_tflite_expand_dims, NULL},
    {73, "LOG", 1, 0, -1, qdq_tflite_unary, "Log"},
    {74, "SUM", 2, 27, -1, qdq_tflite_reduce, "ReduceSum"},
    {75, "SQRT", 1, 0, -1, qdq_tflite_unary, "Sqrt"},
    {76, "RSQRT", 1, 0, -1, qdq_tflite_unary, "Rsqrt"},
    {78, "POW", 2, 0, -1, qdq_tflite_binary, "Pow"},
    {82, "REDUCE_MAX", 2, 27, -1, qdq_tflite_reduce, "ReduceMax"},
    {89, "REDUCE_MIN", 2, 27, -1, qdq_tflite_reduce, "ReduceMin"},
    {92, "SQUARE", 1, 0, -1, qdq_tflite_unary, "Square"},
    {97, "RESIZE_NEAREST_NEIGHBOR", 2, 74, -1, qdq_tflite_resize_nearest, NULL},
    {98, "LEAKY_RELU", 1, 75, -1, qdq_tflite_leaky_relu, NULL},
    {101, "ABS", 1, 0, -1, qdq_tflite_unary, "Abs"},
    {102, "SPLIT_V", 3, 79, -1, qdq_tflite_split_v, NULL},
    {104, "CEIL", 1, 0, -1, qdq_tflite_unary, "Ceil"},
    {108, "COS", 1, 0, -1, qdq_tflite_unary, "Cos"},
    {111, "ELU", 1, 0, -1, qdq_tflite_elu, NULL},
    {114, "QUANTIZE", 1, 89, -1, qdq_tflite_quantize_op, NULL},
    {116, "ROUND", 1, 0, -1, qdq_tflite_unary, "Round"},
    {117, "HARD_SWISH", 1, 91, -1, qdq_tflite_unary, "HardSwish"},
    {126, "BATCH_MATMUL", 2, 101, -1, qdq_tflite_batch_matmul, NULL},
    {129, "CALL_ONCE", 0, 103, -1, qdq_tflite_call_once, NULL},
    {142, "VAR_HANDLE", 0, 111, -1, qdq_tflite_var_handle, NULL},
    {QDQ_TFLITE_READ_VARIABLE, "READ_VARIABLE", 1, 0, -1, qdq_tflite_read_variable, NULL},
    {144, "ASSIGN_VARIABLE", 2, 0, -1, qdq_tflite_assign_variable, NULL},
    {150, "GELU", 1, 116, -1, qdq_tflite_gelu, NULL},
    {QDQ_TFLITE_RELU_0_TO_1, "RELU_0_TO_1", 1, 0, -1, qdq_tflite_unary, "Clamp"},
    {158, "SIGN", 1, 0, -1, qdq_tflite_unary, "Sign"},
};
// clang-format on

const qdq_tflite_op *qdq_tflite_find_op(int code) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code) return &rows[i];
    return NULL;
}
