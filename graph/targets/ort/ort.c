// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime 1.31 on a CPU as it is deployed, with its optimizations: it rewrites the graph
// (ort_rewrites.c) and fuses groups of nodes, whose arithmetic depends on the CPU. Rules are about
// the rewritten graph; those of target onnx hold for the graph as it is given.
#include <string.h>

#include "graph/targets/ort/ort_rewrites.h"
#include "graph/targets/target_ops.h"

//---- Rules ------------------------------------------------------------------

#define WARNING_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "ort", id, summary, hint, source, ops, check, 0, 0)

// A product of float activations and constant codes, which becomes MatMulNBits.
static void activation_quantized(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_operand *a = &ctx->inputs[0], *b = &ctx->inputs[1];
    if (b->maker.op && strcmp(b->maker.op->name, "Dequantize") == 0 && b->constant &&
        b->type.shape.rank == 2 && !a->constant &&
        !(a->maker.op && strcmp(a->maker.op->name, "Dequantize") == 0))
        qdq_report_target_violation(ctx, rule, "b",
                                    "has constant codes, and the other operand none: MatMulNBits "
                                    "quantizes it to int8 in blocks, which is not computed here",
                                    NULL);
}

// clang-format off
static const qdq_rule rules[] = {
    WARNING_ROW("activation-quantized", "a product of float activations and constant codes quantizes the activations",
                "set session.qdq_matmulnbits_accuracy_level=0", "DQMatMulToMatMulNBits", "MatMul", activation_quantized),
    WARNING_ROW("weight-quantized-by-optimizer", "the optimizer quantizes float weights and biases between quantized activations",
                "quantize the weight in the model", "WeightBiasQuantization", "Convolution ConvTranspose MatMul", NULL),
};
// clang-format on

//---- Numerics ---------------------------------------------------------------

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx;
    bool pairs = version->variant == ORT_AVX2 || version->variant == ORT_AVX512;
    return (qdq_numerics){.float_ops = QDQ_FLOAT_OPS_ONNX_RUNTIME,
                          .qlinear = ort_is_arm(version) ? QDQ_QLINEAR_ARM : QDQ_QLINEAR_FMA,
                          .pair_sums = pairs ? QDQ_PAIR_SUMS_SATURATE : QDQ_PAIR_SUMS_EXACT};
}

//---- The target -------------------------------------------------------------

static const qdq_named_version versions[] = {
    {"1.31-vnni", 131, ORT_VNNI}, {"1.31-avx2", 131, ORT_AVX2}, {"1.31-avx512", 131, ORT_AVX512},
    {"1.31-neon", 131, ORT_NEON}, {"1.31-dot", 131, ORT_DOT},   {"1.31-i8mm", 131, ORT_I8MM},
};

static const char *const levels[] = {"all", "extended", "basic", "disabled", NULL};
static const char *const off_on[] = {"0", "1", NULL};

static const qdq_target_option options[ORT_OPTION_COUNT] = {
    [ORT_LEVEL] = {"level", levels, "optimization level"},
    [ORT_X64_QUANT_PRECISION] = {"x64quantprecision", off_on, "session.x64quantprecision"},
    [ORT_QDQ_IS_INT8_ALLOWED] = {"qdqisint8allowed", off_on, "session.qdqisint8allowed"},
    [ORT_DISABLE_QUANT_QDQ] = {"disable_quant_qdq", off_on, "session.disable_quant_qdq"},
    [ORT_DISABLE_DOUBLE_QDQ_REMOVER] = {"disable_double_qdq_remover", off_on,
                                        "session.disable_double_qdq_remover"},
};

extern const qdq_target qdq_target_onnx;

const qdq_target qdq_target_ort = {
    .name = "ort",
    .summary = "ONNX Runtime 1.31 on a CPU, with its optimizations",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .base = &qdq_target_onnx,
    .versions = versions,
    .version_count = sizeof versions / sizeof versions[0],
    .options = options,
    .option_count = ORT_OPTION_COUNT,
    .patterns = qdq_ort_patterns,
    .as_is = ":level=disabled",
    .numerics = numerics,
};
