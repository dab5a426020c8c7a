// SPDX-License-Identifier: Apache-2.0
// The patterns of ONNX Runtime 1.31's optimizer that change results, in the order in which it
// applies them. A pattern is a row: the pass, what forms, the op at its center, the functions that
// recognize and replace it, and the level and options under which it applies.
#include "graph/targets/ort/ort_rewrites.h"

//---- When a pattern applies -------------------------------------------------

static bool at_basic(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] <= ORT_BASIC;
}

static bool removes_double_pairs(const qdq_target_version *version) {
    return at_basic(version) && !version->options[ORT_DISABLE_DOUBLE_QDQ_REMOVER] &&
           !version->options[ORT_DISABLE_QUANT_QDQ];
}

static bool quantizes(const qdq_target_version *version) {
    return at_basic(version) && !version->options[ORT_DISABLE_QUANT_QDQ];
}

static bool fuses(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] <= ORT_EXTENDED && !version->options[ORT_DISABLE_QUANT_QDQ];
}

static bool changes_s8(const qdq_target_version *version) {
    return fuses(version) && !ort_is_arm(version) && !version->options[ORT_QDQ_IS_INT8_ALLOWED];
}

//---- The patterns -----------------------------------------------------------

// Interpolate moves codes with mode nearest only.
static bool ort_match_nearest(const qdq_rewriter *r, qdq_match *m) {
    const qdq_interpolate_attrs *a = r->from->nodes[m->anchor].attrs;
    return a->mode.value == QDQ_NEAREST && ort_match_moved(r, m);
}

static void ort_build_nearest(qdq_rewriter *r, qdq_match *m) { ort_build_moved(r, m); }

#define ROW(pass, name, anchor, function, applies) \
    { pass, name, anchor, ort_match_##function, ort_build_##function, applies, NULL, false }
#define REPEATED_ROW(pass, name, anchor, function, applies) \
    { pass, name, anchor, ort_match_##function, ort_build_##function, applies, NULL, true }
#define RULE_ROW(pass, name, anchor, function, applies, rule) \
    { pass, name, anchor, ort_match_##function, ort_build_##function, applies, rule, false }

#define BINARY_ROW(name, anchor, function) \
    { "groups", name, anchor, ort_match_binary, ort_build_##function, fuses, NULL, false }
#define ONE_ROW(name, anchor, function) \
    { "groups", name, anchor, ort_match_one, ort_build_##function, fuses, NULL, false }

// clang-format off
const qdq_pattern qdq_ort_patterns[] = {
    ROW("double pairs", "one pair", "Quantize", double_pair, removes_double_pairs),

    ROW("matmul add", "Gemm", "Add", matmul_add, at_basic),

    REPEATED_ROW("propagation", "Dequantize later", "MaxPool", dequantize_later, quantizes),
    ROW("propagation", "Dequantize later", "StaticReshape", dequantize_later, quantizes),
    ROW("propagation", "Dequantize later", "StaticTranspose", dequantize_later, quantizes),
    ROW("propagation", "Dequantize later", "Slice", dequantize_later, quantizes),
    ROW("propagation", "Quantize earlier", "MaxPool", quantize_earlier, quantizes),
    ROW("propagation", "Quantize earlier", "StaticReshape", quantize_earlier, quantizes),
    ROW("propagation", "Quantize earlier", "StaticTranspose", quantize_earlier, quantizes),
    ROW("propagation", "Quantize earlier", "Slice", quantize_earlier, quantizes),

    RULE_ROW("weights", "codes of weights", "Convolution", float_weight, quantizes, "ort/weight-quantized-by-optimizer"),
    RULE_ROW("weights", "codes of weights", "ConvTranspose", float_weight, quantizes, "ort/weight-quantized-by-optimizer"),
    RULE_ROW("weights", "codes of weights", "MatMul", float_weight, quantizes, "ort/weight-quantized-by-optimizer"),

    ROW("relu", "no Relu", "ReLU", redundant, fuses),
    ROW("relu", "no Clip", "Clamp", redundant, fuses),

    ROW("int8 to uint8", "uint8 pair", "Quantize", s8_to_u8, changes_s8),

    ROW("groups", "QLinearConv", "Convolution", conv, fuses),
    RULE_ROW("groups", "QLinearMatMul", "MatMul", matmul, fuses, "ort/bias-scale-ignored"),
    BINARY_ROW("QLinearAdd", "Add", add),
    BINARY_ROW("QLinearMul", "Multiply", multiply),
    ONE_ROW("QLinearAveragePool", "AvgPool", average_pool),
    ROW("groups", "QLinearGlobalAveragePool", "ReduceMean", global_pool, fuses),
    ONE_ROW("QLinearSoftmax", "SoftMax", softmax),
    ROW("groups", "codes", "StaticReshape", moved, fuses),
    ROW("groups", "codes", "StaticTranspose", moved, fuses),
    ROW("groups", "codes", "Slice", moved, fuses),
    ROW("groups", "codes", "Gather", moved, fuses),
    ROW("groups", "codes", "GatherElements", moved, fuses),
    ROW("groups", "codes", "Expand", moved, fuses),
    ROW("groups", "codes", "Tile", moved, fuses),
    ROW("groups", "codes", "DepthToSpace", moved, fuses),
    ROW("groups", "codes", "MaxPool", moved, fuses),
    ROW("groups", "codes", "ReduceMax", moved, fuses),
    ROW("groups", "codes", "ReduceMin", moved, fuses),
    ROW("groups", "codes", "Interpolate", nearest, fuses),
    {.pass = NULL},
};
// clang-format on
