// SPDX-License-Identifier: Apache-2.0
// The ops of each target: one table, and the rule that reads it. A target has an op if its
// documents name one operator (layer, function) that computes it, given constants for extra
// operands: BiasAdd is an addition that broadcasts, Square a product, Neg a product by -1. An op
// that a row does not name is unknown to that target, so a new op is unknown to all until their
// rows name it. Ops that the documents exclude are named as well: a separate rule refuses them, or
// names the replacement.
#ifndef QDQ_GRAPH_TARGETS_TARGET_OPS_H
#define QDQ_GRAPH_TARGETS_TARGET_OPS_H

#include "graph/targets/checks.h"

// ONNX's, and two that ONNX Runtime's optimizer adds.
#define QDQ_INTEGER_PRODUCTS \
    "MatMulInteger ConvInteger QLinearMatMul QLinearConv MatMulIntegerToFloat QGemm MatMulNBits"

// Ops of ONNX Runtime's own domain.
#define QDQ_QLINEAR_OPS \
    "QLinearAdd QLinearMul QLinearAveragePool QLinearGlobalAveragePool QLinearSoftmax "

// Elementwise ops whose operands may have more dtypes than most ops take.
#define QDQ_ELEMENT_OPS                                                       \
    "Abs Neg Sqrt Add Subtract Multiply Divide Minimum Maximum Select "       \
    "Equal Greater GreaterEqual Less LessOrEqual IsNaN IsInf Not And Or Xor " \
    "BitwiseNot BitwiseAnd BitwiseOr BitwiseXor BitShift"

// Ops that select elements of x by their order or place, and take int8 and uint8 as well.
#define QDQ_SELECTING_OPS "MaxPool ReduceMax ReduceMin Interpolate"

// All six backends have these ops, or their documents name a replacement.
#define QDQ_COMMON_OPS                                                                        \
    "Quantize Dequantize DynamicQuantize Requantize Cast "                                    \
    "Abs Neg Exp Log Sqrt Square Tanh Sigmoid ReLU Reciprocal "                               \
    "GELU Add Subtract Multiply Divide Minimum Maximum GreaterEqual Select BiasAdd "          \
    "MatMul Convolution ConvTranspose SoftMax LayerNorm GroupNorm BatchNormInference "        \
    "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum AvgPool MaxPool Interpolate Concat " \
    "StaticReshape StaticTranspose Reorder "

// Additional ops of ONNX, PyTorch and TensorRT's importer.
#define QDQ_USUAL_OPS                                                        \
    QDQ_COMMON_OPS                                                           \
    "Round HardSwish Mish LeakyReLU Elu HardSigmoid Clamp PReLU LogSoftmax " \
    "RMSNorm ReduceL1 ReduceL2 Dropout "

// ONNX's ops that move elements by their index; TensorRT's importer has all of them.
#define QDQ_ONNX_MOVES                                                                \
    "Slice Pad Expand Tile Gather GatherElements GatherND ScatterElements ScatterND " \
    "DepthToSpace SpaceToDepth Trilu EyeLike OneHot CumSum "

// Operators on integers that only TOSA has in this form.
#define QDQ_INTEGER_OPS                                                                \
    "AvgPoolInteger MatMulInteger64 ConvInteger64 MultiplyShift ArithmeticShiftRight " \
    "ClampInteger NegInteger CountLeadingZeros "                                       \
    "ReduceMaxInteger ReduceMinInteger ReduceSumInteger"

// Comparisons; truth values, and bits.
#define QDQ_COMPARISONS "Equal Greater Less LessOrEqual "
#define QDQ_LOGIC "Not And Or Xor IsNaN IsInf "
#define QDQ_BITWISE "BitwiseNot BitwiseAnd BitwiseOr BitwiseXor BitShift "
#define QDQ_ALL_LOGIC QDQ_COMPARISONS QDQ_LOGIC QDQ_BITWISE

// Functions of one element, powers and remainders.
#define QDQ_FUNCTIONS                                                                      \
    "Sign Floor Ceil Erf Softplus Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh " \
    "Pow Mod "

// The places of the greatest and least elements.
#define QDQ_PLACES "ArgMax ArgMin TopK "

// Ops for evidence. They move elements, or choose and compare them, without rounding.
#define QDQ_MOVING_OPS                                                                        \
    "StaticReshape StaticTranspose Reorder Concat Dropout Slice Pad Expand Tile Gather "      \
    "GatherElements GatherND DepthToSpace SpaceToDepth Trilu EyeLike OneHot GenIndex Select " \
    "ToMemoryConfig InterleavedToSharded ShardedToInterleaved Reshard ToLayout"
#define QDQ_CHOOSING_OPS                                                                    \
    "Abs Neg ReLU Sign Minimum Maximum Clamp MaxPool ReduceMax ReduceMin Floor Ceil Trunc " \
    "Round ArgMax ArgMin TopK " QDQ_ALL_LOGIC "GreaterEqual"
// IEEE 754 rounds their float32 results once.
#define QDQ_ROUNDED_ONCE "Add Subtract Multiply Divide Square Sqrt Reciprocal BiasAdd"

#define QDQ_ONNX_OPS                                                    \
    QDQ_USUAL_OPS QDQ_ONNX_MOVES QDQ_ALL_LOGIC QDQ_FUNCTIONS QDQ_PLACES \
        "SiLU BatchNormForwardTraining " QDQ_QLINEAR_OPS QDQ_INTEGER_PRODUCTS
#define QDQ_ONEDNN_OPS \
    QDQ_USUAL_OPS "Softplus Pow BatchNormForwardTraining GenIndex " QDQ_INTEGER_PRODUCTS
#define QDQ_TENSORRT_OPS                                                            \
    QDQ_USUAL_OPS QDQ_ONNX_MOVES QDQ_COMPARISONS QDQ_LOGIC QDQ_FUNCTIONS QDQ_PLACES \
        QDQ_INTEGER_PRODUCTS
#define QDQ_TRIPY_OPS              \
    QDQ_COMMON_OPS QDQ_COMPARISONS \
        "SiLU Rsqrt "              \
        "Not Or Sin Cos Pow Mod ArgMax ArgMin TopK GenIndex Slice Pad Expand Gather Trilu CumSum"
#define QDQ_TTNN_OPS                                                                 \
    QDQ_COMMON_OPS QDQ_ALL_LOGIC QDQ_FUNCTIONS                                       \
        "SiLU Rsqrt ReLU6 Trunc Log1p "                                              \
        "Round HardSwish Mish LeakyReLU Elu HardSigmoid Clamp PReLU "                \
        "ToMemoryConfig InterleavedToSharded ShardedToInterleaved Reshard ToLayout " \
        "ArgMax TopK RMSNorm BatchNormForwardTraining Slice Pad Expand Tile "        \
        "GatherElements ScatterElements Trilu CumSum"
#define QDQ_TORCHAO_OPS                                                         \
    QDQ_USUAL_OPS QDQ_ALL_LOGIC QDQ_FUNCTIONS QDQ_PLACES                        \
        "SiLU Rsqrt ReLU6 Trunc Log1p "                                         \
        "BatchNormForwardTraining Slice Pad Expand Tile Gather GatherElements " \
        "ScatterElements ScatterND DepthToSpace Trilu EyeLike CumSum"

#define QDQ_TOSA_OPS                                                                            \
    "Requantize Cast Abs Neg Exp Log Rsqrt Reciprocal Tanh Sigmoid Erf Floor Ceil Sin Cos Pow " \
    "Add Subtract Multiply Minimum Maximum Clamp Equal Greater GreaterEqual Select Not And Or " \
    "Xor " QDQ_BITWISE                                                                          \
    "MatMul MatMulInteger Convolution ConvInteger ConvTranspose MaxPool AvgPool ArgMax "        \
    "ReduceMax ReduceMin ReduceProd ReduceSum Concat Pad StaticReshape StaticTranspose Slice "  \
    "Tile Interpolate Table Divide Gather ScatterND " QDQ_INTEGER_OPS

// Operators of TensorFlow Lite, and the ops on integers that stand for them.
#define QDQ_LITERT_OPS                                                                          \
    QDQ_COMMON_OPS QDQ_COMPARISONS QDQ_LOGIC                                                    \
        "Round HardSwish LeakyReLU Elu Clamp PReLU LogSoftmax ReLU6 Rsqrt Sign Floor Ceil Sin " \
        "Cos Pow Mod ArgMax ArgMin TopK Slice Pad Expand Tile Gather GatherND ScatterND "       \
        "DepthToSpace SpaceToDepth OneHot CumSum MatMulInteger ConvInteger QLinearSoftmax Table"

// A rule that reports nodes of ops not in `known`, one of the lists above.
#define QDQ_UNKNOWN_OPS_ROW(target, known, rule_source)                                        \
    {                                                                                          \
        .id = target "/op-unknown", .severity = QDQ_SEVERITY_WARNING,                          \
        .status = QDQ_ERR_UNSUPPORTED, .summary = "the backend's documents name every op",     \
        .hint = "use ops that docs/targets.md lists, or compare with the backend",             \
        .source = (rule_source), .ops = (known), .but_ops = true, .check = qdq_check_known_op, \
        .bits = QDQ_BITS_UNKNOWN                                                               \
    }

#endif
