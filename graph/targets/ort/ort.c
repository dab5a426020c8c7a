// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime 1.20 to 1.32 on a CPU as it is deployed, with its optimizations: it rewrites the
// graph (ort_rewrites.c) and fuses groups of nodes, whose arithmetic depends on the CPU. Rules are
// about the rewritten graph; target onnx checks the graph as it is given.
#include <math.h>
#include <string.h>

#include "graph/targets/onnx/onnx_evidence.h"
#include "graph/targets/ort/ort_arm.h"
#include "graph/targets/ort/ort_rewrites.h"
#include "graph/targets/target_ops.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/qlinear.h"
#include "ops/gemm/pairs/pair_sums.h"

//---- Rules ------------------------------------------------------------------

#define WARNING_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "ort", id, summary, hint, source, ops, check, 0, 0)

#define LIMITING_ROW(bits, id, summary, hint, source, ops, check) \
    QDQ_BITS_ROW(bits, "ort", id, summary, hint, source, ops, check, 0, 0)

static bool multiplies_floats(const qdq_op_context *ctx) {
    const qdq_matmul_nbits_attrs *attrs = ctx->attrs;
    return attrs->accuracy_level.set != 0 && attrs->accuracy_level.value == 0;
}

static void activation_quantized(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!multiplies_floats(ctx))
        qdq_report_target_violation(ctx, rule, "a", "becomes int8 in blocks", NULL);
}

static void block_order(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_target_violation(ctx, rule, NULL, "adds the sums of its blocks as on AVX2", NULL);
}

// True if an exponent gives the bits of ONNX Runtime: 0 to 3, for all elements.
static bool is_small_power(const qdq_operand *b) {
    const float *exponent = b->data;
    return exponent && b->type.dtype == QDQ_FLOAT32 && qdq_shape_count(b->type.shape) == 1 &&
           (*exponent == 0.0f || *exponent == 1.0f || *exponent == 2.0f || *exponent == 3.0f);
}

static bool has_bits_of_runtime(const qdq_op_context *ctx) {
    if (qdq_op_context_is(ctx, "Pow")) return is_small_power(&ctx->inputs[1]);
    if (qdq_op_context_is(ctx, "GroupNorm")) return qdq_runtime_is_instance_norm(ctx);
    return false;  // ort_match_other_bits finds ops that the reader splits into several nodes
}

static void float_bits(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->inputs[0].type.dtype != QDQ_FLOAT32 || has_bits_of_runtime(ctx)) return;
    qdq_report_target_violation(
        ctx, rule, NULL, "rounds float32 as it is defined; ONNX Runtime has another formula", NULL);
}

// Returns the number of elements of x in a sum.
static size_t softmax_length(const qdq_op_context *ctx) {
    const qdq_qlinear_softmax_attrs *a = ctx->attrs;
    qdq_shape shape = ctx->inputs[0].type.shape;
    int64_t axis = a->axis.set != 0 ? a->axis.value : -1;
    if (axis < 0) axis += shape.rank;
    int64_t length = shape.dims[axis];
    for (int64_t i = axis + 1; a->flatten == QDQ_TRUE && i < shape.rank; i++)
        length *= shape.dims[i];
    return (size_t)length;
}

static void softmax_overflow(const qdq_op_context *ctx, const qdq_rule *rule) {
    const float *scale = ctx->inputs[3].data;
    if (!scale || (double)floorf(1.0f / *scale) <= 148.0 * (double)softmax_length(ctx)) return;
    qdq_report_target_violation(
        ctx, rule, "y_scale",
        qdq_text(ctx->findings, "is so small that the greatest result overflows: 1 / y_scale is "
                                "more than 148 times the length"),
        NULL);
}

static void softmax_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    const float *scale = ctx->inputs[3].data;
    if (!scale) return;
    float inverse = 1.0f / *scale, whole = floorf(inverse);
    if (whole != rintf(inverse))
        qdq_report_target_violation(
            ctx, rule, "y_scale",
            qdq_text(ctx->findings, "has an inverse that counts as %d: results are %d/1000 too low",
                     (int)whole, (int)(1000.0f * (1.0f - whole * *scale))),
            NULL);
}

// Returns number `i` of a constant scale; 0 if it is not constant.
static float scale_at(const qdq_op_context *ctx, size_t i) {
    const float *scale = ctx->inputs[i].data;
    return scale ? *scale : 0.0f;
}

// Returns the number of elements in a mean of a whole image; 0 if it is a mean of parts.
static double mean_count(const qdq_op_context *ctx) {
    const qdq_shape *x = &ctx->inputs[0].type.shape;
    double count = 1;
    for (int i = 2; i < x->rank; i++) count *= (double)x->dims[i];
    if (!qdq_op_context_is(ctx, "QLinearAveragePool")) return count;
    const qdq_qlinear_pool_attrs *a = ctx->attrs;
    for (size_t i = 0; i < a->kernel.count; i++) {
        bool pads = (a->pads_begin.count && a->pads_begin.data[i]) ||
                    (a->pads_end.count && a->pads_end.data[i]);
        if (pads || a->kernel.data[i] != x->dims[i + 2]) return 0;
    }
    return count;
}

static void pool_range(const qdq_op_context *ctx, const qdq_rule *rule) {
    float x_scale = scale_at(ctx, 1), y_scale = scale_at(ctx, 3);
    double count = mean_count(ctx);
    if (count == 0.0 || x_scale == 0.0f || y_scale == 0.0f) return;
    float multiplier = x_scale / (y_scale * (float)count);
    if (count < 0x1p24 && multiplier >= 0x1p-32f && multiplier < 256.0f) return;
    qdq_report_target_violation(ctx, rule,
                                qdq_text(ctx->findings, "x_scale / (y_scale * %zu)", (size_t)count),
                                qdq_text_is(ctx->findings, (double)multiplier),
                                "2^-32 or more and less than 256, of less than 2^24 elements");
}

// Counts the pairs of constant weights that can saturate.
static bool count_pairs(const qdq_op_context *ctx, qdq_pair_count *count) {
    const qdq_mempool *pool = ctx->findings->mempool;
    if (qdq_op_context_is(ctx, "QLinearConv")) {
        const qdq_qlinear_conv_attrs *a = ctx->attrs;
        size_t groups = a->groups.set != 0 ? (size_t)a->groups.value : 1;
        return ctx->inputs[0].type.dtype == QDQ_UINT8 &&
               qdq_pair_sums_count_window(&ctx->inputs[3], &ctx->inputs[5], groups, pool, count);
    }
    const qdq_qgemm_attrs *gemm = qdq_op_context_is(ctx, "QGemm") ? ctx->attrs : NULL;
    bool to_float =
        qdq_op_context_is(ctx, "MatMulIntegerToFloat") || qdq_op_context_is(ctx, "MatMulInteger");
    return ctx->inputs[0].type.dtype == QDQ_UINT8 &&
           qdq_pair_sums_count_matrix(&ctx->inputs[to_float ? 1 : 3],
                                      gemm && gemm->transpose_b == QDQ_TRUE, pool, count);
}

// Reports the mean of an image: its arithmetic follows the sources, not the released build.
static void fixed_mean(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (mean_count(ctx) == 0.0) return;
    qdq_report_target_violation(ctx, rule, NULL,
                                "rounds a mean in fixed point, halves away from zero; ONNX Runtime "
                                "1.31.1 for Linux multiplies float32 and rounds halves to even",
                                NULL);
}

static void u8s8_pairs(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_pair_count count = {0};
    if (!count_pairs(ctx, &count) || !count.pairs) return;
    qdq_report_target_violation(
        ctx, rule, NULL,
        qdq_text(ctx->findings,
                 "%zu pair%s of weights can saturate, in %zu of %zu output columns (column %zu has "
                 "%zu)",
                 count.pairs, count.pairs == 1 ? "" : "s", count.columns, count.of_columns,
                 count.worst, count.most),
        NULL);
}

#define ERROR_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "ort", id, summary, hint, source, ops, check, 0, 0)
#define OBSERVED "run of ONNX Runtime 1.31.1"

#define ARM "*-neon *-dot *-i8mm"

// clang-format off
static const qdq_rule rules[] = {
    {.id = "ort/u8s8-pairs", .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED,
     .summary = "on x86-64 without VNNI products of uint8 and int8 are added in pairs, and a pair saturates to int16",
     .hint = "quantize weights with reduce_range or as uint8, or set session.x64quantprecision",
     .source = "MLAS GemmU8S8KernelAvx2, GemmU8S8KernelAvx512Core",
     .ops = "QLinearMatMul QLinearConv QGemm MatMulIntegerToFloat MatMulInteger", .check = u8s8_pairs,
     .versions = "*-avx2 *-avx512"},
    {.id = "ort/arm-fixed-mean", .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED, .bits = QDQ_BITS_CLOSE,
     .summary = "on aarch64 means of whole images are in fixed point, as in sources of ONNX Runtime, and in float32 in its build",
     .hint = "compare with a tolerance of one step", .source = "MlasQLinearGlobalAveragePoolNchw",
     .ops = "QLinearGlobalAveragePool QLinearAveragePool", .check = fixed_mean, .versions = ARM},
    {.id = "ort/arm-float-order", .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED, .bits = QDQ_BITS_CLOSE,
     .summary = "the last bits of float32 ops are those of x86-64 on aarch64 too",
     .hint = "compare with a tolerance", .source = "MLAS for aarch64",
     .ops = "MatMul Convolution ConvTranspose ReduceSum ReduceMean SoftMax LogSoftmax LayerNorm BatchNormInference HardSigmoid "
            "HardSwish Sigmoid Tanh Exp Erf GELU",
     .check = ort_check_float_order, .versions = ARM},
    {.id = "ort/arm-wrapped-products", .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED, .bits = QDQ_BITS_UNKNOWN,
     .summary = "on NEON without dot products two products of -128 and -128 wrap around, and are exact here",
     .hint = "quantize weights without the code -128", .source = "MlasGemmS8S8KernelNeon",
     .ops = "QLinearMatMul QLinearConv QGemm MatMulIntegerToFloat MatMulInteger", .check = ort_check_wrapped_products,
     .versions = "*-neon"},
    LIMITING_ROW(UNKNOWN, "average-pool-ceil", "AveragePool of codes with ceil_mode is computed as the node says, not as the group that is made of it",
                "set ceil_mode to 0, or session.disable_quant_qdq", "QLinearAveragePool", "Divide", NULL),
    QDQ_BITS_UNKNOWN_ROW("ort"),
    {.id = "ort/convolution-order", .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED, .bits = QDQ_BITS_CLOSE,
     .summary = "the last bits of float convolutions on aarch64 depend on the layout that the optimizer chooses",
     .hint = "compare with a tolerance, or set level=extended", .source = "NchwcTransformer", .ops = "Convolution", .versions = ARM},
    WARNING_ROW("activation-quantized", "a product of float activations and constant codes quantizes the activations",
                "set session.qdq_matmulnbits_accuracy_level=0", "DQMatMulToMatMulNBits", "MatMulNBits", activation_quantized),
    WARNING_ROW("bias-scale-ignored", "QGemm adds the codes of its bias whatever their scale is, QLinearConv if it is within 1e-6 + 1%",
                "give the bias the product of the operands' scales, and no zero point", "QGemm, QLinearConv", "MatMul Convolution", NULL),
    {.id = "ort/block-order", .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED, .bits = QDQ_BITS_CLOSE,
     .summary = "the sums of blocks of MatMulNBits are those of AVX2 on x86-64 with AVX-512 without VNNI and on aarch64 too",
     .hint = "compare with a tolerance", .source = "MLAS SQNBitGemm", .ops = "MatMulNBits", .check = block_order,
     .versions = "*-avx512 " ARM},
    LIMITING_ROW(CLOSE, "dynamic-scale", "a dynamic product is multiplied by scales that are neither one nor of the columns after its bias is added",
                "give b_scale one element, or one for each column", "DynamicQuantizeMatMul, MatMulIntegerToFloat", "MatMulInteger", NULL),
    LIMITING_ROW(CLOSE, "float-bits", "these float32 ops are rounded as they are defined, and by other formulas in ONNX Runtime",
                "compare with a tolerance", "MLAS, Eigen and libm",
                "Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Softplus Elu Mish SiLU LogSoftmax Pow GroupNorm", float_bits),
    LIMITING_ROW(CLOSE, "fused-matmul-order", "FusedMatMul of one row or column, or of several chunks of k, multiplies by its scalar within its sums",
                "compare with a tolerance, or set level=basic", "MatMulScaleFusion, MlasGemm", "MatMul", NULL),
    LIMITING_ROW(CLOSE, "gemm-alpha", "Gemm with alpha is computed as MatMul, Multiply and Add, with its float bias as it is",
                "set alpha to 1, or quantize the bias in the model", "MlasGemm, WeightBiasQuantization", "Add", NULL),
    QDQ_BITS_ROW(UNKNOWN, "ort", "gemm-alpha-fused", "Gemm with alpha and a bias between codes is computed as MatMul, Multiply and Add",
                 "set alpha to 1", "run of ONNX Runtime 1.27.0", "Add", NULL, 0, QDQ_RUNTIME_KEEPS_GEMM_ALPHA),
    ERROR_ROW("dequantize-kernel", "the CPU dequantizes all dtypes but float4_e2m1, by scales of float32 or float16, to float32 or float16",
              "make float32 and add a Cast after it", OBSERVED, "Dequantize", qdq_runtime_check_dequantize),
    QDQ_RULE_ROW(ERROR, "ort", "group-scales", "operands of groups have as many scales as their kernels take",
                 "quantize with one scale, of no dims; or set session.disable_quant_qdq", "QLinear ops of com.microsoft",
                 "MatMul Convolution Add Multiply AvgPool ReduceMean SoftMax Sigmoid LeakyReLU Concat Select", NULL, 0, 0),
    LIMITING_ROW(CLOSE, "int8-gemm", "a product of int8 activations without a bias is computed as MatMul on x86-64, also if the model has Gemm",
                "give Gemm a bias of zeros, or quantize the activations to uint8", "GemmNodeGroupSelector", "MatMul", NULL),
    QDQ_RULE_ROW(ERROR, "ort", "old-opset", "what the optimizer makes of a model is in its opset",
                 "convert the model to opset 13 or later, as onnx.version_converter does", "WeightBiasQuantization, DropQDQNodesRules",
                 "MatMul Convolution ReduceMax ReduceMin DepthToSpace", NULL, 0, 0),
    ERROR_ROW("one-block", "blocks of an x of rank 1 are several", "quantize per tensor", OBSERVED, "Quantize Dequantize DynamicQuantize",
              qdq_runtime_check_blocks),
    QDQ_RULE_ROW(ERROR, "ort", "output-dtype", "the optimizer keeps the dtype of codes that QuantizeLinear names in output_dtype",
                 "use opset 20 or older, leave out output_dtype and give a zero point, quantize to uint8, or set session.disable_quant_qdq",
                 "QDQPropagationTransformer, QDQS8ToU8Transformer, QLinear ops of com.microsoft",
                 "Quantize MaxPool StaticReshape StaticTranspose Slice MatMul Convolution Add Multiply AvgPool ReduceMean SoftMax Sigmoid LeakyReLU Concat Select", NULL, 0, 0),
    QDQ_RULE_ROW(ERROR, "ort", "pool-dilations", "AveragePool between codes has no dilations",
                 "set session.disable_quant_qdq, or leave its result unquantized", "QLinearAveragePool of com.microsoft",
                 "AvgPool", NULL, 0, 0),
    QDQ_RULE_ROW(ERROR, "ort", "pool-range", "QLinearGlobalAveragePool multiplies by at least 2^-32 and less than 256",
                 "choose a y_scale nearer to x_scale", "MlasQLinearGlobalAveragePoolNchw",
                 "QLinearGlobalAveragePool QLinearAveragePool", pool_range, 0, 0),
    QDQ_RULE_ROW(ERROR, "ort", "quantize-dtype", "the CPU quantizes float32 and float16 by scales of float32 and float16, to all dtypes but float4_e2m1",
                 "cast x or the scale to float32", "run of ONNX Runtime 1.32.0", "Quantize DynamicQuantize", qdq_runtime_check_any_quantize, QDQ_RUNTIME_1_32, 0),
    QDQ_RULE_ROW(ERROR, "ort", "quantize-kernel", "the CPU quantizes float32 by a float32 scale and float16 by a float16 scale, to all dtypes but float4_e2m1; numbers in `scales` are float32",
              "cast x to float32, or give a scale of its dtype at the port", OBSERVED, "Quantize DynamicQuantize", qdq_runtime_check_quantize, 0, QDQ_RUNTIME_1_32),
    LIMITING_ROW(UNKNOWN, "qdq-cleanup", "with enable_quant_qdq_cleanup a pair that no group takes is removed; groups that form without it are not all modelled",
                "leave session.enable_quant_qdq_cleanup at 0", "QDQFinalCleanupTransformer", "Quantize", NULL),
    QDQ_RULE_ROW(WARNING, "ort", "one-thread", "results are those of one thread; ONNX Runtime takes all cores by default, and cuts float products among them",
                 "set intra_op_num_threads in the session, and threads=N behind the version", "MlasGemmBatch, MlasConvPrepare",
                 "MatMul Convolution ConvTranspose", NULL, 0, 0),
    QDQ_BITS_ROW(UNKNOWN, "ort", "resize-of-codes", "Resize between elements is computed on floats, also between equal Dequantize and Quantize",
                 "use mode nearest, or other parameters behind it", "run of ONNX Runtime 1.26.0", "Quantize", NULL, 0, QDQ_RUNTIME_RESIZES_FLOATS),
    QDQ_RULE_ROW(WARNING, "ort", "softmax-overflow", "QLinearSoftmax of ONNX Runtime 1.31 multiplies by 1 / y_scale before it divides",
                 "use 1/256", "qlinear_softmax.cc", "QLinearSoftmax", softmax_overflow, 0, QDQ_RUNTIME_1_32),
    WARNING_ROW("softmax-scale", "QLinearSoftmax multiplies by the whole part of 1 / y_scale",
                "use 1/256", "qlinear_softmax.cc", "QLinearSoftmax", softmax_scale),
    LIMITING_ROW(CLOSE, "threads", "the sums of float products and reductions, and the last elements of Log, are those of one thread",
                 "compare with a tolerance, or run ONNX Runtime with one thread", "MlasGemmBatch, MlasConvPrepare",
                 "MatMul Convolution ConvTranspose ReduceSum ReduceMean Log", NULL),
    QDQ_RULE_ROW(ERROR, "ort", "transposed-dtype", "codes other than uint8 that a Transpose moves have a zero point",
                 "give DequantizeLinear its zero point of 0", "run of ONNX Runtime 1.27.0", "StaticTranspose", NULL, 0, QDQ_RUNTIME_TRANSPOSES_CODES),
    LIMITING_ROW(UNKNOWN, "transposes-merged", "Transposes that follow each other, with codes in between, are computed as the graph says",
                "leave out Transposes that undo each other", "the transpose optimizer", "StaticTranspose", NULL),
    QDQ_RULE_ROW(ERROR, "ort", "two-bit-columns", "a product of floats and constant codes of 2 bits has a number of columns that 4 divides",
                 "add columns to the weights, or give them 4 bits", OBSERVED, "MatMul", NULL, 0, 0),
    LIMITING_ROW(UNKNOWN, "weight-axis", "scales of weights that lie along another dim than output channels are taken for those",
                "give the weights one scale for each output channel", "QLinearMatMul, QGemm, QLinearConv",
                "MatMul Convolution", NULL),
    QDQ_RULE_ROW(ERROR, "ort", "weight-zero-points", "weights with scales of channels have one zero point, given for each of them",
                 "give DequantizeLinear of the weights a zero point of 0 for each scale", "run of ONNX Runtime 1.26.0", "Convolution MatMul", NULL, 0, QDQ_RUNTIME_GEMM_WANTS_ZERO_POINTS),
    LIMITING_ROW(CLOSE, "weight-only-order", "a product of floats and constant codes with one row or column adds in an order that is not modelled",
                "compare with a tolerance", "MlasQNBitGemm", "MatMul", NULL),
    WARNING_ROW("weight-quantized-by-optimizer", "the optimizer quantizes float weights and biases between quantized activations",
                "quantize the weight in the model", "WeightBiasQuantization", "Convolution ConvTranspose MatMul", NULL),
    WARNING_ROW("zero-point-missing", "codes without a zero point that are dequantized and moved become uint8 below opset 21, and before 1.27",
                "give DequantizeLinear its zero point of 0", "QDQPropagationTransformer", "MaxPool StaticReshape StaticTranspose Slice MatMul", NULL),
};
// clang-format on

//---- Numerics ---------------------------------------------------------------

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    qdq_numerics n = {.float_ops = qdq_runtime_float_ops(ctx, version),
                      .pair_sums = qdq_runtime_pair_sums(version),
                      .qlinear = qdq_runtime_qlinear(version)};
    qdq_runtime_quantize(ctx, version, &n);
    return n;
}

//---- The target -------------------------------------------------------------

// clang-format off
static const qdq_named_version versions[] = {
    QDQ_RUNTIME_OLD_RELEASES
    QDQ_RUNTIME_X86("1.29", 129)
    QDQ_RUNTIME_X86("1.30", 130)
    QDQ_RUNTIME_X86("1.31", 131) QDQ_RUNTIME_ARM("1.31", 131)
    QDQ_RUNTIME_X86("1.32", 132)};
// clang-format on

static const char *const levels[] = {"all", "extended", "basic", "disabled", NULL};
static const char *const off_on[] = {"0", "1", NULL};
static const char *const accuracy_levels[] = {"4", "0", "1", "2", "3", NULL};
static const char *const block_sizes[] = {"32", "16", "64", "128", "256", NULL};

static const qdq_target_option_info options[ORT_OPTION_COUNT] = {
    [ORT_LEVEL] = {"level", levels, "optimization level"},
    [ORT_QDQ_IS_INT8_ALLOWED] = {"qdqisint8allowed", off_on, "session.qdqisint8allowed"},
    [ORT_DISABLE_QUANT_QDQ] = {"disable_quant_qdq", off_on, "session.disable_quant_qdq"},
    [ORT_DISABLE_DOUBLE_QDQ_REMOVER] = {"disable_double_qdq_remover", off_on,
                                        "session.disable_double_qdq_remover"},
    [ORT_X64QUANTPRECISION] = {"x64quantprecision", off_on, "session.x64quantprecision"},
    [ORT_NBITS_ACCURACY_LEVEL] = {"qdq_matmulnbits_accuracy_level", accuracy_levels,
                                  "session.qdq_matmulnbits_accuracy_level"},
    [ORT_NBITS_BLOCK_SIZE] = {"qdq_matmulnbits_block_size", block_sizes,
                              "session.qdq_matmulnbits_block_size"},
    [ORT_ENABLE_QUANT_QDQ_CLEANUP] = {"enable_quant_qdq_cleanup", off_on,
                                      "session.enable_quant_qdq_cleanup"},
    [ORT_THREADS] = {"threads", ort_thread_words, "intra_op_num_threads"},
};

extern const qdq_target qdq_target_onnx;

const qdq_target qdq_target_ort = {
    .name = "ort",
    .summary = "ONNX Runtime 1.20 to 1.32 on a CPU, with its optimizations",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .evidence = ort_evidence,
    .base = &qdq_target_onnx,
    .versions = versions,
    .version_count = sizeof versions / sizeof versions[0],
    .options = options,
    .option_count = ORT_OPTION_COUNT,
    .patterns = qdq_ort_patterns,
    .folds_constants = ort_folds_constants,
    .as_is = ":level=disabled",
    .runs_zero_scales = true,
    .halves_requantize = true,
    .numerics = numerics,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .moves = QDQ_CODE_MOVES,
                  .values = QDQ_UINT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_INT32,
                  .residual = QDQ_RESIDUAL_BOTH,
                  .zero_points = true,
                  .results = true,
                  .softmax = true,
                  .float_results = "MatMul"},
};
