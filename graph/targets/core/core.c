// SPDX-License-Identifier: Apache-2.0
// The default target: only the core rules, which every graph must follow, and ONNX's numerics.
#include "graph/core/target.h"

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx, (void)version;
    return (qdq_numerics){0};
}

// clang-format off
static const qdq_evidence evidence[] = {
    QDQ_RUN("", "Quantize Dequantize DynamicQuantize Requantize", "quantizing ops", "ONNX Runtime 1.31 and the vectors of ONNX 1.22",
            "each node of models/ that ONNX has; all vectors at hand", "2026-11-21"),
    QDQ_RUN("", "Cast", "Cast", "ml_dtypes and ONNX Runtime 1.31", "every value of at most 16 bits to every dtype", "2026-11-21"),
    QDQ_READ("", QDQ_OTHER_OPS, "the specifications of ONNX and oneDNN Graph"),
};
// clang-format on

const qdq_target qdq_target_core = {
    .name = "core",
    .summary = "no rules beyond those that give a graph its meaning; computes as ONNX does",
    .rules = qdq_core_rules,
    .rule_count = QDQ_CORE_RULE_COUNT,
    .evidence = evidence,
    .evidence_count = sizeof evidence / sizeof evidence[0],
    .numerics = numerics,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .values = QDQ_UINT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_FLOAT32,
                  .zero_points = true,
                  .groups = true,
                  .stacks = true},
};
