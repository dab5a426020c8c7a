// SPDX-License-Identifier: Apache-2.0
// The default target: only the core rules, which every graph must follow, and ONNX's numerics.
#include "graph/core/target.h"

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx, (void)version;
    return (qdq_numerics){0};
}

// clang-format off
static const qdq_evidence_row evidence[] = {
    QDQ_DEFINED("", "", "every op", "", "docs/ops_quantizing.md, docs/ops_neural_network.md"),
    {{0}, NULL},
};
// clang-format on

const qdq_target qdq_target_core = {
    .name = "core",
    .summary = "no rules beyond those that give a graph its meaning; computes as ONNX does",
    .rules = qdq_core_rules,
    .rule_count = QDQ_CORE_RULE_COUNT,
    .evidence = evidence,
    .numerics = numerics,
    .tiles = true,
    .fixed_point = true,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .values = QDQ_UINT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_FLOAT32,
                  .zero_points = true,
                  .groups = true,
                  .stacks = true},
};
