// SPDX-License-Identifier: Apache-2.0
// The default target: only the core rules, which every graph must follow, and ONNX's numerics.
#include "graph/target.h"

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx, (void)version;
    return (qdq_numerics){0};
}

const qdq_target qdq_target_core = {
    .name = "core",
    .summary = "no rules beyond those that give a graph its meaning; computes as ONNX does",
    .rules = qdq_core_rules,
    .rule_count = QDQ_CORE_RULE_COUNT,
    .numerics = numerics,
};
