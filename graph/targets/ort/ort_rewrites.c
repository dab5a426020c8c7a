// SPDX-License-Identifier: Apache-2.0
// The patterns of ONNX Runtime's optimizer that change results, in the order in which it
// applies them. A pattern is a row: the pass, the new form, the op at its center, the functions
// that recognize and replace it, the level and options under which it applies, and why results
// differ where it does (NULL: they do not). `conv` stands for ort_match_conv and ort_build_conv,
// which ort_rewrites.h lists by file.
#include "graph/targets/ort/ort_rewrites.h"

#include "include/qdq/ops/spatial.h"

//---- When a pattern applies -------------------------------------------------

static bool always(const qdq_target_version *version) {
    (void)version;
    return true;
}

static bool at_basic(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] <= ORT_BASIC;
}

bool ort_folds_constants(const qdq_target_version *version) { return at_basic(version); }

static bool at_extended(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] <= ORT_EXTENDED;
}

static bool at_all(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] == ORT_ALL;
}

static bool removes_double_pairs(const qdq_target_version *version) {
    return at_basic(version) && !version->options[ORT_DISABLE_DOUBLE_QDQ_REMOVER];
}

static bool folds_constants(const qdq_target_version *version) {
    return at_basic(version) && version->options[ORT_DISABLE_QUANT_QDQ];
}

static bool quantizes(const qdq_target_version *version) {
    return at_basic(version) && !version->options[ORT_DISABLE_QUANT_QDQ];
}

static bool scales_where(const qdq_target_version *version) {
    return quantizes(version) && version->release >= QDQ_RUNTIME_SCALES_WHERE;
}

static bool quantizes_weights(const qdq_target_version *version) {
    return quantizes(version) && version->release >= QDQ_RUNTIME_QUANTIZES_WEIGHTS;
}

static bool fuses_dynamic(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] <= ORT_EXTENDED;
}

static bool fuses(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] <= ORT_EXTENDED && !version->options[ORT_DISABLE_QUANT_QDQ];
}

static bool cleans_up(const qdq_target_version *version) {
    return version->options[ORT_LEVEL] <= ORT_EXTENDED &&
           version->options[ORT_ENABLE_QUANT_QDQ_CLEANUP];
}

static bool fuses_again(const qdq_target_version *version) {
    return fuses(version) && cleans_up(version);
}

// True if the option to avoid it is set, and pairs of uint8 and int8 products saturate on the CPU.
static bool avoids_pairs(const qdq_target_version *version) {
    return fuses(version) && version->options[ORT_X64QUANTPRECISION] &&
           qdq_runtime_pair_sums(version) != QDQ_PAIR_SUMS_EXACT;
}

bool ort_changes_s8(const qdq_target_version *version) {
    return fuses(version) && !ort_is_arm(version) && !version->options[ORT_QDQ_IS_INT8_ALLOWED];
}

//---- The patterns -----------------------------------------------------------

// Matches Interpolate with mode nearest, the only mode that moves codes.
static bool ort_match_nearest(const qdq_rewriter *r, qdq_match *m) {
    const qdq_interpolate_attrs *a = r->from->nodes[m->anchor].attrs;
    return a->mode.value == QDQ_NEAREST && ort_match_moved(r, m);
}

static void ort_build_nearest(qdq_rewriter *r, qdq_match *m) { ort_build_moved(r, m); }

#define ROW(pass, name, anchor, function, applies, cause) \
    { pass, name, anchor, ort_match_##function, ort_build_##function, applies, NULL, false, cause }
#define REPEATED_ROW(pass, name, anchor, function, applies, cause) \
    { pass, name, anchor, ort_match_##function, ort_build_##function, applies, NULL, true, cause }
#define RULE_ROW(pass, name, anchor, function, applies, rule, cause) \
    { pass, name, anchor, ort_match_##function, ort_build_##function, applies, rule, false, cause }

#define BINARY_ROW(name, anchor, function, cause) \
    { "groups", name, anchor, ort_match_binary, ort_build_##function, fuses, NULL, false, cause }
#define ONE_ROW(name, anchor, function, cause) \
    { "groups", name, anchor, ort_match_one, ort_build_##function, fuses, NULL, false, cause }

// A pattern that never matches: for findings about groups that change no result, and about rewrites
// that this target does not model.
#define FINDING_ROW(pass, name, anchor, function, applies, rule) \
    { pass, name, anchor, ort_match_##function, NULL, applies, rule, false, NULL }

// Causes of differences.
#define REMOVED "removed pair"
#define REMOVED_OP "removed sum or product"
#define QUANTIZED "quantized by the optimizer"
#define ACTIVATION "fused activation"
#define MULTIPLIER "single multiplier"
#define ROUNDING "rounding after zero point"
#define TABLE "table"
#define ACTIVATIONS "activation quantized to int8"
#define BIAS "fused bias"
#define FOLDED "folded weights"
#define FLOAT_OP "fused float op"
#define BLOCKS "channel blocks"
#define SUM_ORDER "order of a sum"

// clang-format off
const qdq_pattern qdq_ort_patterns[] = {
    FINDING_ROW("not modelled", "merged Transpose", "StaticTranspose", transposes, at_basic, "ort/transposes-merged"),
    FINDING_ROW("not modelled", "QLinearAveragePool", "Divide", average_pool_ceil, fuses, "ort/average-pool-ceil"),
    FINDING_ROW("not modelled", "QLinearAveragePool", "Divide", dilated_pool, fuses, "ort/pool-dilations"),
    FINDING_ROW("not modelled", "Gemm with alpha", "Add", scaled_gemm, always, "ort/gemm-alpha"),
    FINDING_ROW("not modelled", "another formula", "ReduceMean", other_bits, always, "ort/float-bits"),
    FINDING_ROW("not modelled", "another formula", "ReduceSum", other_bits, always, "ort/float-bits"),
    FINDING_ROW("not modelled", "another formula", "Divide", other_bits, always, "ort/float-bits"),
    FINDING_ROW("not modelled", "another formula", "Sigmoid", other_bits, always, "ort/float-bits"),
    FINDING_ROW("not modelled", "another formula", "Tanh", other_bits, always, "ort/float-bits"),

    ROW("packed weights", "MatMulNBits", "MatMul", packed_floats, always, FLOAT_OP),
    ROW("packed weights", "bias", "MatMul", packed_bias, always, BIAS),

    ROW("double pairs", "one pair", "Quantize", double_pair, removes_double_pairs, REMOVED),
    ROW("double pairs", "codes as they are", "Dequantize", equal_pair, at_basic, NULL),

    ROW("no-ops", "no Add", "Add", no_op, at_basic, REMOVED_OP),
    ROW("no-ops", "no Sub", "Subtract", no_op, at_basic, REMOVED_OP),
    ROW("no-ops", "no Mul", "Multiply", no_op, at_basic, REMOVED_OP),
    ROW("no-ops", "no Div", "Divide", no_op, at_basic, REMOVED_OP),

    REPEATED_ROW("equal nodes", "one node", NULL, equal_node, at_basic, NULL),

    ROW("constant codes", "constant codes", "Quantize", folded_codes, at_basic, NULL),
    ROW("constants", "float constant", "Dequantize", folded, folds_constants, NULL),

    REPEATED_ROW("moved constants", "constant codes", "Quantize", folded_codes, at_basic, NULL),
    ROW("moved constants", "constant", "StaticTranspose", moved_constant, at_basic, NULL),
    RULE_ROW("moved constants", "constant codes", "StaticTranspose", moved_codes, at_basic, "ort/zero-point-missing", NULL),
    ROW("moved constants", "constant", "StaticReshape", moved_constant, at_basic, NULL),

    REPEATED_ROW("folding", "new weights", "BatchNormInference", folded_norm, at_basic, FOLDED),
    ROW("folding", "new weights", "Multiply", folded_mul, at_basic, FOLDED),
    ROW("folding", "new weights", "Add", folded_add, at_basic, FOLDED),

    ROW("float ops", "LayerNormalization", "Add", layer_norm, at_basic, FLOAT_OP),
    ROW("float ops", "Div", "Multiply", divided, at_basic, FLOAT_OP),

    ROW("turned sums", "Transpose behind it", "ReduceMean", turned_sum, at_basic, SUM_ORDER),
    ROW("turned sums", "Transpose behind it", "ReduceSum", turned_sum, at_basic, SUM_ORDER),
    ROW("turned sums", "Transpose behind it", "ReduceL1", turned_sum, at_basic, SUM_ORDER),
    ROW("turned sums", "Transpose behind it", "ReduceL2", turned_sum, at_basic, SUM_ORDER),
    ROW("turned sums", "Transpose behind it", "ReduceProd", turned_sum, at_basic, SUM_ORDER),

    ROW("matmul add", "Gemm", "Add", matmul_add, at_basic, NULL),

    REPEATED_ROW("transposed gemm", "Gemm", "MatMul", own_gemm_operands, at_basic, FLOAT_OP),
    ROW("transposed gemm", "Gemm", "StaticTranspose", gemm_result, at_basic, FLOAT_OP),

    ROW("where", "code of a constant", "Select", where_constant, scales_where, QUANTIZED),

    REPEATED_ROW("backward propagation", "pair", "MaxPool", quantize_earlier, quantizes, NULL),
    ROW("backward propagation", "pair", "StaticReshape", quantize_earlier, quantizes, NULL),
    ROW("backward propagation", "pair", "StaticTranspose", quantize_earlier, quantizes, NULL),
    ROW("backward propagation", "pair", "Slice", quantize_earlier, quantizes, NULL),
    REPEATED_ROW("forward propagation", "pair", "MaxPool", dequantize_later, quantizes, NULL),
    ROW("forward propagation", "pair", "StaticReshape", dequantize_later, quantizes, NULL),
    ROW("forward propagation", "pair", "StaticTranspose", dequantize_later, quantizes, NULL),
    ROW("forward propagation", "pair", "Slice", dequantize_later, quantizes, NULL),
    RULE_ROW("forward propagation", "uint8 pair", "MaxPool", uint8_later, quantizes, "ort/zero-point-missing", QUANTIZED),
    RULE_ROW("forward propagation", "uint8 pair", "StaticReshape", uint8_later, quantizes, "ort/zero-point-missing", QUANTIZED),
    RULE_ROW("forward propagation", "uint8 pair", "StaticTranspose", uint8_later, quantizes, "ort/zero-point-missing", QUANTIZED),
    RULE_ROW("forward propagation", "uint8 pair", "Slice", uint8_later, quantizes, "ort/zero-point-missing", QUANTIZED),
    RULE_ROW("forward propagation", "uint8 pair", "MatMul", uint8_reshaped, quantizes, "ort/zero-point-missing", QUANTIZED),

    REPEATED_ROW("transposed gemm of sums", "Gemm", "MatMul", gemm_operands, at_basic, FLOAT_OP),

    RULE_ROW("weights", "codes of weights", "Convolution", float_weight, quantizes_weights, "ort/weight-quantized-by-optimizer", QUANTIZED),
    RULE_ROW("weights", "codes of weights", "ConvTranspose", float_weight, quantizes_weights, "ort/weight-quantized-by-optimizer", QUANTIZED),
    RULE_ROW("weights", "codes of weights", "MatMul", float_weight, quantizes_weights, "ort/weight-quantized-by-optimizer", QUANTIZED),

    ROW("relu", "no Relu", "ReLU", redundant, at_extended, ACTIVATION),
    ROW("relu", "no Clip", "Clamp", redundant, at_extended, ACTIVATION),

    RULE_ROW("int8 to uint8", "uint8 pair", "Quantize", s8_to_u8, ort_changes_s8, "ort/output-dtype", NULL),

    ROW("int8 to uint8", "uint8 constant", "Dequantize", s8_constant, avoids_pairs, NULL),
    ROW("int8 to uint8", "uint8 constant", "MatMulInteger", s8_factor, avoids_pairs, NULL),

    RULE_ROW("groups", "QLinearConv", "Convolution", conv, fuses, "ort/bias-scale-ignored", MULTIPLIER),
    FINDING_ROW("groups", "QGemm", "MatMul", int8_gemm, fuses, "ort/int8-gemm"),
    RULE_ROW("groups", "QLinearMatMul", "MatMul", matmul, fuses, "ort/bias-scale-ignored", MULTIPLIER),
    BINARY_ROW("QLinearAdd", "Add", add, ROUNDING),
    BINARY_ROW("QLinearMul", "Multiply", multiply, ROUNDING),
    ONE_ROW("QLinearAveragePool", "AvgPool", average_pool, ROUNDING),
    ROW("groups", "QLinearGlobalAveragePool", "ReduceMean", global_pool, fuses, MULTIPLIER),
    ONE_ROW("QLinearSoftmax", "SoftMax", softmax, TABLE),
    ROW("groups", "QLinearSigmoid", "Sigmoid", table, fuses, NULL),
    ROW("groups", "QLinearLeakyRelu", "LeakyReLU", table, fuses, NULL),
    ROW("groups", "QLinearConcat", "Concat", table, fuses, NULL),
    ROW("groups", "QLinearWhere", "Select", table, fuses, NULL),
    ROW("groups", "codes", "StaticReshape", moved, fuses, NULL),
    ROW("groups", "codes", "StaticTranspose", moved, fuses, NULL),
    ROW("groups", "codes", "Slice", moved, fuses, NULL),
    ROW("groups", "codes", "Gather", moved, fuses, NULL),
    ROW("groups", "codes", "GatherElements", moved, fuses, NULL),
    ROW("groups", "codes", "Expand", moved, fuses, NULL),
    ROW("groups", "codes", "Tile", moved, fuses, NULL),
    FINDING_ROW("groups", "codes", "DepthToSpace", old_move, fuses, "ort/old-opset"),
    ROW("groups", "codes", "DepthToSpace", moved, fuses, NULL),
    ROW("groups", "codes", "MaxPool", moved, fuses, NULL),
    FINDING_ROW("groups", "codes", "ReduceMax", old_move, fuses, "ort/old-opset"),
    FINDING_ROW("groups", "codes", "ReduceMin", old_move, fuses, "ort/old-opset"),
    ROW("groups", "codes", "ReduceMax", moved, fuses, NULL),
    ROW("groups", "codes", "ReduceMin", moved, fuses, NULL),
    FINDING_ROW("groups", "codes", "Quantize", resized_codes, fuses, "ort/resize-of-codes"),
    ROW("groups", "codes", "Interpolate", nearest, fuses, NULL),

    RULE_ROW("dynamic", "MatMulIntegerToFloat", "MatMulInteger", dynamic, fuses_dynamic, "ort/dynamic-scale", BIAS),

    RULE_ROW("weight only", "MatMulNBits", "MatMul", nbits, fuses, "ort/weight-only-order", ACTIVATIONS),

    REPEATED_ROW("fused float ops", "Gelu", "Multiply", gelu, at_basic, FLOAT_OP),
    ROW("fused float ops", "SimplifiedLayerNormalization", "Multiply", rms_norm, at_extended, FLOAT_OP),
    ROW("fused sums", "SkipLayerNormalization", "LayerNorm", skip_norm, at_extended, FLOAT_OP),
    ROW("biased", "MatMulNBits", "MatMulNBits", nbits_bias, at_extended, BIAS),
    RULE_ROW("transposed products", "FusedMatMul", "MatMul", matmul_operands, at_extended, "ort/fused-matmul-order", FLOAT_OP),
    RULE_ROW("fused products", "FusedMatMul", "MatMul", scaled_product, at_extended, "ort/fused-matmul-order", FLOAT_OP),

    RULE_ROW("final cleanup", "no pair", "Quantize", unread_codes, cleans_up, "ort/qdq-cleanup", REMOVED),
    ROW("groups again", "MatMulIntegerToFloat", "MatMul", unblocked_matmul, fuses_again, MULTIPLIER),
    RULE_ROW("groups again", "MatMulNBits", "MatMul", nbits, fuses_again, "ort/weight-only-order", ACTIVATIONS),

    ROW("layout", "FusedConv", "Convolution", conv_sum, at_all, BIAS),
    RULE_ROW("layout", "NCHWc", "Convolution", blocked_conv, at_all, "ort/convolution-order", BLOCKS),
    ROW("layout", "NCHWc", "BatchNormInference", blocked_norm, at_all, FOLDED),
    ROW("layout", "NCHWc", "ReduceMean", blocked_mean, at_all, FLOAT_OP),
    ROW("layout", "NCHWc", "AvgPool", blocked_pool, at_all, FLOAT_OP),

    FINDING_ROW("threads", "cut product", "MatMul", threads, always, "ort/threads"),
    FINDING_ROW("threads", "cut product", "Convolution", threads, always, "ort/threads"),
    FINDING_ROW("threads", "cut product", "ConvTranspose", threads, always, "ort/threads"),
    FINDING_ROW("threads", "cut sum", "ReduceSum", threads, always, "ort/threads"),
    FINDING_ROW("threads", "cut sum", "ReduceMean", threads, always, "ort/threads"),
    FINDING_ROW("threads", "cut vectors", "Log", threads, always, "ort/threads"),
    {.pass = NULL},
};
// clang-format on
