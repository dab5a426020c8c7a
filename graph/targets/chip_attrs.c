// SPDX-License-Identifier: Apache-2.0
// Rules of targets that are no chip, about attributes that say how a chip computes a node, and
// about the dtypes of a chip.
#include "graph/targets/checks.h"
#include "include/qdq/ops/products.h"
#include "ops/elementwise/elementwise.h"

void qdq_check_no_fidelity(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_matmul_attrs *a = ctx->attrs;
    if (a->math_fidelity || a->fp32_dest_acc_en)
        qdq_report_target_violation(ctx, rule,
                                    a->math_fidelity ? "math_fidelity" : "fp32_dest_acc_en",
                                    "is given, but ignored", NULL);
}

void qdq_check_no_approximate_mode(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_elements_approximate(ctx))
        qdq_report_target_violation(ctx, rule, "fast_and_approximate_mode", "is on, but ignored",
                                    NULL);
}

void qdq_check_no_block_float(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t i = 0; i < ctx->input_count; i++) {
        qdq_dtype dtype = ctx->inputs[i].type.dtype;
        if (!qdq_set_has(QDQ_SET_BLOCK_FLOATS, dtype)) continue;
        qdq_report_target_violation(ctx, rule, qdq_op_port(ctx->op, i)->name,
                                    qdq_text(ctx->findings, "is %s", qdq_dtype_name(dtype)), NULL);
        return;
    }
}
