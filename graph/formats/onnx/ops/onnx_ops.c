// SPDX-License-Identifier: Apache-2.0
// The table of ONNX's ops and their counterparts here. A new op of the library that ONNX has is a
// row.
#include "graph/formats/onnx/ops/onnx_ops.h"

#include <string.h>

#include "graph/formats/onnx/ops/onnx_formula.h"

#define MS "com.microsoft"
#define TRT QDQ_ONNX_TENSORRT
#define X \
    { "x" }
#define AB \
    { "a", "b" }

// Domain, name, first opset, inputs that must be given, our op, converter, ports, attributes. A row
// with a higher first opset replaces the one before it. A graph is written by the first row that is
// its op.
// clang-format off
static const qdq_onnx_op rows[] = {
    // Quantizing
    {"", "QuantizeLinear", 10, 2, "Quantize", qdq_onnx_quantize, {0}, {{0}}},
    {"", "DequantizeLinear", 10, 2, "Dequantize", qdq_onnx_dequantize, {0}, {{0}}},
    {MS, "QuantizeLinear", 1, 2, "Quantize", qdq_onnx_quantize, {0}, {{0}}},
    {MS, "DequantizeLinear", 1, 2, "Dequantize", qdq_onnx_dequantize, {0}, {{0}}},
    {TRT, "QuantizeLinear", 1, 2, "Quantize", qdq_onnx_quantize, {0}, {{0}}},
    {TRT, "DequantizeLinear", 1, 2, "Dequantize", qdq_onnx_dequantize, {0}, {{0}}},
    {TRT, "TRT_FP8QuantizeLinear", 1, 2, "Quantize", qdq_onnx_trt_quantize, {0}, {{0}}},
    {TRT, "TRT_FP8DequantizeLinear", 1, 2, "Dequantize", qdq_onnx_trt_dequantize, {0}, {{0}}},
    {TRT, "TRT_INT4QuantizeLinear", 1, 2, "Quantize", qdq_onnx_trt_quantize, {0}, {{0}}},
    {TRT, "TRT_INT4DequantizeLinear", 1, 2, "Dequantize", qdq_onnx_trt_dequantize, {0}, {{0}}},
    {TRT, "TRT_MXFP8DequantizeLinear", 1, 2, "Dequantize", qdq_onnx_trt_dequantize, {0}, {{0}}},
    {TRT, "TRT_FP4DynamicQuantize", 1, 1, "DynamicQuantize", qdq_onnx_trt_dynamic_quantize, {0}, {{0}}},
    {TRT, "TRT_MXFP8DynamicQuantize", 1, 1, "DynamicQuantize", qdq_onnx_trt_dynamic_quantize, {0}, {{0}}},
    {"", "DynamicQuantizeLinear", 11, 1, "DynamicQuantize", qdq_onnx_dynamic_quantize, {0}, {{0}}},
    {"", "Cast", 6, 1, "Cast", qdq_onnx_cast, {0}, {{0}}},
    {"", "MatMulInteger", 10, 2, "MatMulInteger", qdq_onnx_matmul_integer, {0}, {{0}}},
    {"", "ConvInteger", 10, 2, "ConvInteger", qdq_onnx_conv_integer, {"x", "w", "x_zero_point",
     "w_zero_point"}, {{0}}},
    {"", "QLinearMatMul", 10, 8, "QLinearMatMul", qdq_onnx_scaled_matmul, {"a", "a_scale",
     "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point"}, {{0}}},
    {"", "QLinearConv", 10, 8, "QLinearConv", qdq_onnx_conv_integer, {"x", "x_scale",
     "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point", "bias"}, {{0}}},
    // Products
    {"", "MatMul", 1, 2, "MatMul", NULL, AB, {{0}}},
    {"", "Einsum", 12, QDQ_ONNX_ALL, NULL, qdq_onnx_einsum, {0}, {{0}}},
    {"", "Gemm", 7, 2, "MatMul", qdq_onnx_gemm, {0}, {{0}}},
    {"", "Conv", 1, 2, "Convolution", qdq_onnx_conv, {"x", "weights", "bias"}, {{0}}},
    {"", "ConvTranspose", 1, 2, "ConvTranspose", qdq_onnx_conv_transpose, {"x", "weights", "bias"},
     {{0}}},
    // Elementwise
    {"", "Add", 7, 2, "Add", NULL, AB, {{0}}},
    {"", "Sub", 7, 2, "Subtract", NULL, AB, {{0}}},
    {"", "Mul", 7, 2, "Multiply", NULL, AB, {{0}}},
    {"", "Div", 7, 2, "Divide", NULL, AB, {{0}}},
    {"", "Min", 6, QDQ_ONNX_ALL, "Minimum", qdq_onnx_pairs, AB, {{0}}},
    {"", "Max", 6, QDQ_ONNX_ALL, "Maximum", qdq_onnx_pairs, AB, {{0}}},
    {"", "Sum", 6, QDQ_ONNX_ALL, "Add", qdq_onnx_pairs, AB, {{0}}},
    {"", "Equal", 7, 2, "Equal", NULL, AB, {{0}}},
    {"", "Greater", 7, 2, "Greater", NULL, AB, {{0}}},
    {"", "GreaterOrEqual", 12, 2, "GreaterEqual", NULL, AB, {{0}}},
    {"", "Less", 7, 2, "Less", NULL, AB, {{0}}},
    {"", "LessOrEqual", 12, 2, "LessOrEqual", NULL, AB, {{0}}},
    {"", "And", 7, 2, "And", NULL, AB, {{0}}},
    {"", "Or", 7, 2, "Or", NULL, AB, {{0}}},
    {"", "Xor", 7, 2, "Xor", NULL, AB, {{0}}},
    {"", "Not", 1, 1, "Not", NULL, X, {{0}}},
    {"", "IsNaN", 9, 1, "IsNaN", NULL, X, {{0}}},
    {"", "IsInf", 10, 1, "IsInf", NULL, X, {{"detect_negative", NULL, 'b', 1}, {"detect_positive",
     NULL, 'b', 1}}},
    {"", "BitwiseAnd", 18, 2, "BitwiseAnd", NULL, AB, {{0}}},
    {"", "BitwiseOr", 18, 2, "BitwiseOr", NULL, AB, {{0}}},
    {"", "BitwiseXor", 18, 2, "BitwiseXor", NULL, AB, {{0}}},
    {"", "BitwiseNot", 18, 1, "BitwiseNot", NULL, X, {{0}}},
    {"", "BitShift", 11, 2, "BitShift", qdq_onnx_bit_shift, AB, {{0}}},
    {"", "Where", 9, 3, "Select", qdq_onnx_where, {"condition", "a", "b"}, {{0}}},
    {"", "Abs", 6, 1, "Abs", NULL, X, {{0}}},
    {"", "Neg", 6, 1, "Neg", NULL, X, {{0}}},
    {"", "Exp", 6, 1, "Exp", NULL, X, {{0}}},
    {"", "Log", 6, 1, "Log", NULL, X, {{0}}},
    {"", "Sqrt", 6, 1, "Sqrt", NULL, X, {{0}}},
    {"", "Tanh", 6, 1, "Tanh", NULL, X, {{0}}},
    {"", "Sigmoid", 6, 1, "Sigmoid", NULL, X, {{0}}},
    {"", "Relu", 6, 1, "ReLU", NULL, X, {{0}}},
    {"", "LeakyRelu", 6, 1, "LeakyReLU", NULL, X, {{"alpha", NULL, 'f', 0.01f}}},
    {"", "Elu", 6, 1, "Elu", NULL, X, {{"alpha", NULL, 'f', 1}}},
    {"", "HardSigmoid", 6, 1, "HardSigmoid", NULL, X, {{"alpha", NULL, 'f', 0.2f}, {"beta", NULL,
     'f', 0.5}}},
    {"", "HardSwish", 14, 1, "HardSwish", NULL, X, {{0}}},
    {"", "Mish", 18, 1, "Mish", NULL, X, {{0}}},
    {"", "Reciprocal", 6, 1, "Reciprocal", NULL, X, {{0}}},
    {"", "Round", 11, 1, "Round", NULL, X, {{0}}},
    {"", "Sign", 9, 1, "Sign", NULL, X, {{0}}},
    {"", "Floor", 6, 1, "Floor", NULL, X, {{0}}},
    {"", "Ceil", 6, 1, "Ceil", NULL, X, {{0}}},
    {"", "Erf", 9, 1, "Erf", NULL, X, {{0}}},
    {"", "Softplus", 1, 1, "Softplus", NULL, X, {{0}}},
    {"", "Sin", 7, 1, "Sin", NULL, X, {{0}}},
    {"", "Cos", 7, 1, "Cos", NULL, X, {{0}}},
    {"", "Tan", 7, 1, "Tan", NULL, X, {{0}}},
    {"", "Asin", 7, 1, "Asin", NULL, X, {{0}}},
    {"", "Acos", 7, 1, "Acos", NULL, X, {{0}}},
    {"", "Atan", 7, 1, "Atan", NULL, X, {{0}}},
    {"", "Sinh", 9, 1, "Sinh", NULL, X, {{0}}},
    {"", "Cosh", 9, 1, "Cosh", NULL, X, {{0}}},
    {"", "Asinh", 9, 1, "Asinh", NULL, X, {{0}}},
    {"", "Acosh", 9, 1, "Acosh", NULL, X, {{0}}},
    {"", "Atanh", 9, 1, "Atanh", NULL, X, {{0}}},
    {"", "Pow", 7, 2, "Pow", qdq_onnx_pow, AB, {{0}}},
    {"", "Mod", 10, 2, "Mod", NULL, AB, {{"fmod", NULL, 'b', 0}}},
    {"", "Mean", 8, QDQ_ONNX_ALL, "Add", qdq_onnx_mean, AB, {{0}}},
    {"", "CastLike", 15, 2, "Cast", qdq_onnx_cast_like, {0}, {{0}}},
    // Formulas of our ops
    {"", "Softsign", 1, 1, "Divide(x, Add(Abs(x), 1))", qdq_onnx_compose, X, {{0}}},
    {"", "Selu", 6, 1, "Multiply(Elu(x, alpha: alpha), gamma)", qdq_onnx_compose, X, {{"alpha",
     NULL, 'f', 1.67326319217681884765625}, {"gamma", NULL, 'f', 1.05070102214813232421875}}},
    {"", "Celu", 12, 1, "Select(Greater(x, 0), x, Elu(Divide(x, alpha), alpha: alpha))",
     qdq_onnx_compose, X, {{"alpha", NULL, 'f', 1}}},
    {"", "ThresholdedRelu", 10, 1, "Select(Greater(x, alpha), x, 0)", qdq_onnx_compose, X, {{"alpha",
     NULL, 'f', 1}}},
    {"", "Shrink", 9, 1, "Select(Greater(Multiply(x, -1), lambd), Add(x, bias), "
     "Select(Greater(x, lambd), Subtract(x, bias), 0))", qdq_onnx_compose, X, {{"lambd", NULL, 'f',
     0.5}, {"bias", NULL, 'f', 0}}},
    {"", "Swish", 24, 1, "Multiply(x, Sigmoid(Multiply(x, alpha)))", qdq_onnx_compose, X, {{"alpha",
     NULL, 'f', 1}}},
    {"", "Gelu", 20, 1, "GELU", qdq_onnx_gelu, X, {{0}}},
    {MS, "Gelu", 1, 1, "GELU", NULL, X, {{0}}},
    {"", "Clip", 6, 1, "Clamp", qdq_onnx_clip, {0}, {{0}}},
    {"", "PRelu", 7, 2, "PReLU", qdq_onnx_prelu, {"x", "slope"}, {{0}}},
    // Slices and norms
    {"", "Softmax", 1, 1, "SoftMax", qdq_onnx_softmax, {0}, {{0}}},
    {"", "Softmax", 13, 1, "SoftMax", NULL, X, {{"axis", NULL, 'i', -1}}},
    {"", "LogSoftmax", 1, 1, "LogSoftmax", qdq_onnx_softmax, {0}, {{0}}},
    {"", "LogSoftmax", 13, 1, "LogSoftmax", NULL, X, {{"axis", NULL, 'i', -1}}},
    {"", "LayerNormalization", 17, 2, "LayerNorm", qdq_onnx_layer_norm, {0}, {{0}}},
    {"", "RMSNormalization", 23, 2, "RMSNorm", qdq_onnx_rms_norm, {0}, {{0}}},
    {"", "GroupNormalization", 21, 3, "GroupNorm", qdq_onnx_group_norm, {0}, {{0}}},
    {"", "BatchNormalization", 7, 5, "BatchNormInference", qdq_onnx_batch_norm, {0}, {{0}}},
    {"", "ReduceMax", 1, 1, "ReduceMax", qdq_onnx_reduce, {0}, {{0}}},
    {"", "ReduceMean", 1, 1, "ReduceMean", qdq_onnx_reduce, {0}, {{0}}},
    {"", "ReduceMin", 1, 1, "ReduceMin", qdq_onnx_reduce, {0}, {{0}}},
    {"", "ReduceProd", 1, 1, "ReduceProd", qdq_onnx_reduce, {0}, {{0}}},
    {"", "ReduceSum", 1, 1, "ReduceSum", qdq_onnx_reduce, {0}, {{0}}},
    {"", "ReduceL1", 1, 1, "ReduceL1", qdq_onnx_reduce, {0}, {{0}}},
    {"", "ReduceL2", 1, 1, "ReduceL2", qdq_onnx_reduce, {0}, {{0}}},
    {"", "ReduceSumSquare", 1, 1, "ReduceSum(Square(x), axes: axes, keep_dims: keep, in_order: 1)",
     qdq_onnx_reduce, X, {{0}}},
    {"", "ReduceLogSum", 1, 1, "Log(ReduceSum(x, axes: axes, keep_dims: keep))", qdq_onnx_reduce, X,
     {{0}}},
    {"", "ReduceLogSumExp", 1, 1, "most = Clamp(ReduceMax(x, axes: axes, keep_dims: 1), min: least, "
     "max: greatest); Add(Log(ReduceSum(Exp(Subtract(x, most)), axes: axes, keep_dims: keep)), "
     "Clamp(ReduceMax(x, axes: axes, keep_dims: keep), min: least, max: greatest))",
     qdq_onnx_reduce, X, {{0}}},
    {"", "ArgMax", 1, 1, "ArgMax", NULL, X, {{"axis", NULL, 'i', 0}, {"keepdims", "keep_dims", 'b',
     1}, {"select_last_index", NULL, 'b', 0}}},
    {"", "ArgMin", 1, 1, "ArgMin", NULL, X, {{"axis", NULL, 'i', 0}, {"keepdims", "keep_dims", 'b',
     1}, {"select_last_index", NULL, 'b', 0}}},
    {"", "TopK", 1, 1, "TopK", qdq_onnx_top_k, {0}, {{0}}},
    {"", "TopK", 10, 2, "TopK", qdq_onnx_top_k, {0}, {{0}}},
    {"", "Hardmax", 1, 1, "ArgMax", qdq_onnx_hardmax, X, {{0}}},
    {"", "InstanceNormalization", 6, 3, NULL, qdq_onnx_instance_norm, {"x", "gamma", "beta"}, {{"epsilon", NULL, 'f', 1e-5f}}},
    {"", "LpNormalization", 1, 1, NULL, qdq_onnx_lp_norm, X, {{0}}},
    {"", "MeanVarianceNormalization", 9, 1, "off = Subtract(x, ReduceMean(x, axes: axes, "
     "keep_dims: 1)); Divide(off, Add(Sqrt(ReduceMean(Square(off), axes: axes, keep_dims: 1)), "
     "1e-9))", qdq_onnx_mean_variance, X, {{0}}},
    {"", "LRN", 1, 1, "rows = StaticReshape(x, shape: rows, special_zero: 0); mean = "
     "AvgPool(Square(rows), kernel: kernel, strides: [1, 1], pads_begin: begin, pads_end: end, "
     "data_format: NCX, exclude_pad: 0); powers = Pow(Add(Multiply(mean, alpha), bias), beta); "
     "Divide(x, StaticReshape(powers, shape: dims, special_zero: 0))", qdq_onnx_lrn, X, {{"alpha",
     NULL, 'f', 1e-4f}, {"beta", NULL, 'f', 0.75}, {"bias", NULL, 'f', 1}}},
    {"", "GlobalLpPool", 2, 1, NULL, qdq_onnx_global_lp_pool, X, {{0}}},
    {"", "LpPool", 11, 1, NULL, qdq_onnx_lp_pool, X, {{0}}},
    // Windows
    {"", "MaxPool", 1, 1, "MaxPool", qdq_onnx_max_pool, X, {{0}}},
    {"", "AveragePool", 7, 1, "AvgPool", qdq_onnx_average_pool, X, {{0}}},
    {"", "GlobalAveragePool", 1, 1, "ReduceMean", qdq_onnx_global_pool, {0}, {{0}}},
    {"", "GlobalMaxPool", 1, 1, "ReduceMax", qdq_onnx_global_pool, {0}, {{0}}},
    {"", "Resize", 10, 1, "Interpolate", qdq_onnx_upsample, {0}, {{0}}},
    {"", "Resize", 11, 1, "Interpolate", qdq_onnx_resize_node, {0}, {{0}}},
    {"", "GridSample", 16, 2, NULL, qdq_onnx_grid_sample, {0}, {{0}}},
    {"", "Upsample", 7, 1, "Interpolate", qdq_onnx_upsample, {0}, {{0}}},
    // Movement
    {"", "Concat", 4, QDQ_ONNX_ALL, "Concat", qdq_onnx_concat, {0}, {{0}}},
    {"", "Reshape", 5, 1, "StaticReshape", qdq_onnx_reshape, {0}, {{0}}},
    {"", "Flatten", 1, 1, "StaticReshape", qdq_onnx_reshape, {0}, {{0}}},
    {"", "Squeeze", 1, 1, "StaticReshape", qdq_onnx_reshape, {0}, {{0}}},
    {"", "Unsqueeze", 1, 1, "StaticReshape", qdq_onnx_reshape, {0}, {{0}}},
    {"", "Transpose", 1, 1, "StaticTranspose", qdq_onnx_transpose, {0}, {{0}}},
    {"", "Slice", 1, 1, "Slice", qdq_onnx_slice, {0}, {{0}}},
    {"", "Slice", 10, 3, "Slice", qdq_onnx_slice, {0}, {{0}}},
    {"", "Split", 2, 1, "Slice", qdq_onnx_split, {0}, {{0}}},
    {"", "Pad", 2, 1, "Pad", qdq_onnx_pad, {0}, {{0}}},
    {"", "Pad", 11, 2, "Pad", qdq_onnx_pad, {0}, {{0}}},
    {"", "Expand", 8, 2, "Expand", qdq_onnx_expand, {0}, {{0}}},
    {"", "ConstantOfShape", 9, 1, NULL, qdq_onnx_constant_of_shape, {0}, {{0}}},
    {"", "Range", 11, 3, NULL, qdq_onnx_range, {0}, {{0}}},
    {"", "Tile", 6, 2, "Tile", qdq_onnx_tile, {0}, {{0}}},
    {"", "DepthToSpace", 1, 1, "DepthToSpace", NULL, X, {{"blocksize", NULL, 'i', 0}, {"mode", NULL,
     'w', 0}}},
    {"", "SpaceToDepth", 1, 1, "SpaceToDepth", qdq_onnx_space_to_depth, X, {{"blocksize", NULL, 'i',
     0}}},
    {"", "Trilu", 14, 1, "Trilu", qdq_onnx_trilu, {0}, {{0}}},
    {"", "EyeLike", 9, 1, "EyeLike", qdq_onnx_eye_like, X, {{"k", NULL, 'i', 0}}},
    {"", "OneHot", 9, 3, "OneHot", qdq_onnx_one_hot, {0}, {{0}}},
    {"", "CumSum", 11, 2, "CumSum", qdq_onnx_cum_sum, {0}, {{0}}},
    // Movement by indices that are elements of a tensor
    {"", "Gather", 1, 2, "Gather", NULL, {"x", "indices"}, {{"axis", NULL, 'i', 0}}},
    {"", "GatherElements", 11, 2, "GatherElements", NULL, {"x", "indices"}, {{"axis", NULL, 'i',
     0}}},
    {"", "GatherND", 11, 2, "GatherND", NULL, {"x", "indices"}, {{"batch_dims", NULL, 'i', 0}}},
    {"", "ScatterElements", 11, 3, "ScatterElements", NULL, {"x", "indices", "updates"}, {{"axis",
     NULL, 'i', 0}, {"reduction", NULL, 'w', 0}}},
    {"", "Scatter", 9, 3, "ScatterElements", NULL, {"x", "indices", "updates"}, {{"axis", NULL, 'i',
     0}}},
    {"", "ScatterND", 11, 3, "ScatterND", NULL, {"x", "indices", "updates"}, {{"reduction", NULL,
     'w', 0}}},
    // com.microsoft: formulas of our ops
    {MS, "QuickGelu", 1, 1, "Multiply(x, Sigmoid(Multiply(x, alpha)))", qdq_onnx_compose, X, {{"alpha", NULL, 'f',
     1.702f}}},
    {MS, "BiasGelu", 1, 2, "GELU(Add(x, bias))", qdq_onnx_compose, {"x", "bias"}, {{0}}},
    {MS, "FastGelu", 1, 1, "GELU(Add(x, bias?), mode: gelu_tanh)", qdq_onnx_compose, {"x", "bias"}, {{0}}},
    {MS, "FusedMatMul", 1, 2, NULL, qdq_onnx_fused_matmul, AB, {{"alpha", NULL, 'f', 1}, {"transA", NULL, 'i', 0}, {"transB", NULL, 'i', 0}}},
    {MS, "SkipLayerNormalization", 1, 3, "out3 = Add(Add(x, skip), bias?); LayerNorm(out3, gamma, "
     "beta, begin_norm_axis: -1, epsilon: epsilon, keep_stats: 0, one_pass: 1)", qdq_onnx_skip_norm, {"x",
     "skip", "gamma", "beta", "bias"}, {{"epsilon", NULL, 'f', 1e-12f}}},
    {MS, "SkipSimplifiedLayerNormalization", 1, 3, "out3 = Add(Add(x, skip), bias?); RMSNorm(out3, "
     "gamma, begin_norm_axis: -1, epsilon: epsilon)", qdq_onnx_compose, {"x", "skip", "gamma", "bias"},
     {{"epsilon", NULL, 'f', 1e-12f}}},
    {"", "SimplifiedLayerNormalization", 1, 2, "RMSNorm", qdq_onnx_rms_norm, {0}, {{0}}},
    {MS, "SimplifiedLayerNormalization", 1, 2, "RMSNorm", qdq_onnx_rms_norm, {0}, {{0}}},
    // com.microsoft: ops on codes
    {MS, "QLinearAdd", 1, 7, "QLinearAdd", NULL, {"a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point",
     "y_scale", "y_zero_point"}, {{0}}},
    {MS, "QLinearMul", 1, 7, "QLinearMul", NULL, {"a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point",
     "y_scale", "y_zero_point"}, {{0}}},
    {MS, "QLinearSigmoid", 1, 4, "Quantize(Sigmoid(Dequantize(x, xs, xz?, dtype: float32)), ys, yz?, dtype: x)", qdq_onnx_compose,
     {"x", "xs", "xz", "ys", "yz"}, {{0}}},
    {MS, "QLinearLeakyRelu", 1, 4, "Quantize(LeakyReLU(Dequantize(x, xs, xz?, dtype: float32), alpha: alpha), ys, yz?, dtype: x)", qdq_onnx_compose,
     {"x", "xs", "xz", "ys", "yz"}, {{"alpha", NULL, 'f', 0.01f}}},
    {MS, "QLinearSoftmax", 1, 2, "QLinearSoftmax", qdq_onnx_qlinear_softmax, {"x", "x_scale", "x_zero_point", "y_scale",
     "y_zero_point"}, {{0}}},
    {MS, "QLinearWhere", 1, 9, "Quantize(Select(c, Dequantize(a, as, az?, dtype: float32), Dequantize(b, bs, bz?, dtype: float32)), ys, yz?, dtype: a)", qdq_onnx_qlinear_where,
     {"c", "a", "as", "az", "b", "bs", "bz", "ys", "yz"}, {{0}}},
    {MS, "QLinearGlobalAveragePool", 1, 2, "QLinearGlobalAveragePool", qdq_onnx_qlinear_global_pool, {"x", "x_scale", "x_zero_point", "y_scale",
     "y_zero_point"}, {{0}}},
    {MS, "MatMulIntegerToFloat", 1, 4, "MatMulIntegerToFloat", qdq_onnx_scaled_matmul, {"a", "b",
     "a_scale", "b_scale", "a_zero_point", "b_zero_point", "bias"}, {{0}}},
    {MS, "DynamicQuantizeMatMul", 1, 3, "MatMulIntegerToFloat", qdq_onnx_dynamic_matmul, {0}, {{0}}},
    {MS, "FusedConv", 1, 2, "Convolution", qdq_onnx_fused_conv, {0}, {{0}}},
    {MS, "QLinearConcat", 1, 5, NULL, qdq_onnx_qlinear_concat, {0}, {{0}}},
    {MS, "QGemm", 1, 6, "QGemm", qdq_onnx_scaled_matmul, {"a", "a_scale", "a_zero_point", "b",
     "b_scale", "b_zero_point", "bias", "y_scale", "y_zero_point"},
     {{"alpha", NULL, 'f', 1}, {"transA", "transpose_a", 'b', 0}, {"transB", "transpose_b", 'b', 0}}},
    {MS, "QLinearAveragePool", 1, 2, "QLinearAveragePool", qdq_onnx_qlinear_average_pool, {"x", "x_scale", "x_zero_point", "y_scale",
     "y_zero_point"}, {{0}}},
    {MS, "MatMulNBits", 1, 3, NULL, qdq_onnx_matmul_nbits, {"a"}, {{0}}},
    // Attention
    {"", "Attention", 23, 3, NULL, qdq_onnx_attention, {0}, {{0}}},
    {"", "RotaryEmbedding", 23, 3, NULL, qdq_onnx_rotary_embedding, {0}, {{0}}},
    // Loops over time
    {"", "RNN", 7, 3, NULL, qdq_onnx_recurrent, {0}, {{0}}},
    {"", "GRU", 7, 3, NULL, qdq_onnx_recurrent, {0}, {{0}}},
    {"", "LSTM", 7, 3, NULL, qdq_onnx_recurrent, {0}, {{0}}},
    {MS, "DynamicQuantizeLSTM", 1, 3, NULL, qdq_onnx_recurrent, {0}, {{0}}},
    {"", "Identity", 1, 1, NULL, qdq_onnx_identity, {0}, {{0}}},
    {"", "Dropout", 7, 1, NULL, qdq_onnx_dropout, {0}, {{0}}},
};
// clang-format on

static bool is_of(const qdq_onnx_op *row, const char *domain, const char *name) {
    if (strcmp(domain, "ai.onnx") == 0) domain = "";
    return strcmp(row->name, name) == 0 && strcmp(row->domain, domain) == 0;
}

const qdq_onnx_op *qdq_onnx_find_op(const char *domain, const char *name, int64_t version,
                                    bool *exists) {
    const qdq_onnx_op *found = NULL;
    *exists = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!is_of(&rows[i], domain, name)) continue;
        *exists = true;
        if (version >= rows[i].since) found = &rows[i];
    }
    return found;
}

const qdq_onnx_op *qdq_onnx_row_of(const char *ours) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].ours && !*rows[i].domain && strcmp(rows[i].ours, ours) == 0) return &rows[i];
    return NULL;
}
