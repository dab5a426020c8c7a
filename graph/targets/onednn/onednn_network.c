// SPDX-License-Identifier: Apache-2.0
// Checks of oneDNN's rules about neural-network ops. The core ops are modelled on oneDNN's, so only
// a few extra restrictions remain.
#include "graph/targets/onednn/onednn.h"
#include "include/qdq/ops/reduce.h"
#include "include/qdq/ops/spatial.h"

#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16))

// Reports input `input` if its dtype is not in `set`. False after a finding.
static bool expect_input(const qdq_op_context *ctx, const qdq_rule *rule, size_t input,
                         qdq_dtype_set set) {
    return qdq_expect_dtype(ctx, rule, qdq_op_port(ctx->op, input)->name,
                            ctx->inputs[input].type.dtype, set);
}

//---- Limits of the specification --------------------------------------------

void qdq_onednn_moved_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    (void)expect_input(ctx, rule, 0, FLOATS);
}

void qdq_onednn_concat_inputs(const qdq_op_context *ctx, const qdq_rule *rule) {
    enum { MOST = 64 };
    if (ctx->input_count > MOST)
        qdq_report_target_violation(ctx, rule, "xs",
                                    qdq_text(ctx->findings, "has %zu values", ctx->input_count),
                                    qdq_text(ctx->findings, "at most %d", MOST));
}

void qdq_onednn_element_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_inputs(ctx, rule, FLOATS | QDQ_SET(INT32) | QDQ_SET(BOOL));
}

void qdq_onednn_dropout_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    enum { SEED = 1, OFFSET, PROBABILITY };
    if (expect_input(ctx, rule, SEED, QDQ_SET(INT64)) &&
        expect_input(ctx, rule, OFFSET, QDQ_SET(INT64)))
        (void)expect_input(ctx, rule, PROBABILITY, QDQ_SET(FLOAT32));
}

//---- Gaps of the CPU backend ------------------------------------------------

void qdq_onednn_round_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    (void)expect_input(ctx, rule, 0, QDQ_SET(FLOAT32));
}

// Every input after x.
void qdq_onednn_norm_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t i = 1; i < ctx->input_count; i++)
        if (ctx->inputs[i].given && !expect_input(ctx, rule, i, QDQ_SET(FLOAT32))) return;
}

void qdq_onednn_norm_axis(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_layer_norm_attrs *a = ctx->attrs;
    int rank = ctx->inputs[0].type.shape.rank;
    int64_t axis = a->begin_norm_axis.set != 0 ? a->begin_norm_axis.value : -1;
    if (axis != -1 && axis != rank - 1)
        qdq_report_target_violation(ctx, rule, "begin_norm_axis",
                                    qdq_text(ctx->findings, "is %lld", (long long)axis), "-1");
}

void qdq_onednn_norm_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    int rank = ctx->inputs[0].type.shape.rank;
    if (rank < 2 || rank > 5)
        qdq_report_target_violation(ctx, rule, "x", qdq_text(ctx->findings, "has rank %d", rank),
                                    "rank 2 to 5");
}

void qdq_onednn_half_pixel(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    if (a->coordinate_transformation_mode != QDQ_HALF_PIXEL)
        qdq_report_target_violation(ctx, rule, "coordinate_transformation_mode",
                                    a->coordinate_transformation_mode == QDQ_ALIGN_CORNERS
                                        ? "is align_corners"
                                        : "is asymmetric",
                                    "half_pixel");
}

// A Dropout that follows another node may be fused with it, so it is not reported.
void qdq_onednn_not_alone(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool reciprocal = qdq_op_context_is(ctx, "Reciprocal");
    if (reciprocal || !ctx->inputs[0].maker.op)
        qdq_report_target_violation(ctx, rule, NULL,
                                    "the CPU does not support it as a partition of its own",
                                    reciprocal ? "a Divide, or a Multiply after it" : NULL);
}
