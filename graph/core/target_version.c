// SPDX-License-Identifier: Apache-2.0
// What a target at a version says of a node: its default dtype, its numerics, and the rules that
// hold. graph/targets/target.c has the list of targets.
#include <string.h>

#include "graph/core/target.h"
#include "runtime/base/words.h"

// Returns the attribute `dtype` of an op, where its struct holds it; NULL if the op has none.
static qdq_dtype *dtype_in(const qdq_op *op, void *attrs) {
    for (size_t i = 0; i < op->attr_count; i++)
        if (op->attrs[i].kind == QDQ_ATTR_DTYPE && strcmp(op->attrs[i].name, "dtype") == 0)
            return (void *)((char *)attrs + op->attrs[i].offset);
    return NULL;
}

bool qdq_target_fill_dtype(const qdq_target *of, const qdq_op_context *ctx, void *attrs) {
    qdq_dtype *dtype = dtype_in(ctx->op, attrs);
    if (!of || !dtype || *dtype != QDQ_DTYPE_NONE) return false;
    while (of->base && !of->default_dtype) of = of->base;
    if (of->default_dtype) *dtype = of->default_dtype(ctx);
    return *dtype != QDQ_DTYPE_NONE;
}

bool qdq_target_keep_dtype(const qdq_op_context *ctx, void *attrs) {
    qdq_dtype *dtype = dtype_in(ctx->op, attrs);
    if (!dtype || *dtype != QDQ_DTYPE_NONE) return false;
    *dtype = ctx->outputs[0].dtype;
    return *dtype != QDQ_DTYPE_NONE;
}

qdq_numerics qdq_target_numerics(const qdq_target_version *version, const qdq_op_context *ctx) {
    const qdq_op *op = ctx->op;
    bool by_any =
        op->by_target || op->by_chip || op->by_float_ops || op->by_pair_sums || op->by_qlinear;
    if (!by_any) return (qdq_numerics){0};
    qdq_numerics n = version->target->numerics(ctx, version);
    if (!op->by_float_ops) n.float_ops = QDQ_FLOAT_OPS_CORE;
    if (!op->by_pair_sums) n.pair_sums = QDQ_PAIR_SUMS_EXACT;
    if (!op->by_qlinear) n.qlinear = QDQ_QLINEAR_FMA;
    if (op->by_target) return n;
    return (qdq_numerics){.multiply_add = op->by_chip ? n.multiply_add : QDQ_MULTIPLY_ADD_IEEE,
                          .sfpu_generation = op->by_chip ? n.sfpu_generation : QDQ_SFPU_2026_10,
                          .block_float_store =
                              op->by_chip ? n.block_float_store : QDQ_BLOCK_FLOAT_HOST,
                          .float_ops = n.float_ops,
                          .pair_sums = n.pair_sums,
                          .qlinear = n.qlinear};
}

bool qdq_rule_holds(const qdq_rule *rule, const qdq_target_version *version) {
    bool named =
        !rule->versions || !version->name || qdq_has_pattern(rule->versions, version->name);
    return named && version->release >= rule->since &&
           (!rule->until || version->release < rule->until);
}
