// SPDX-License-Identifier: Apache-2.0
// Checks of TensorRT's rules about IDynamicQuantizeLayer: a DynamicQuantize that computes its
// scales.
#include "graph/targets/tensorrt/tensorrt.h"

static const qdq_dynamic_quantize_attrs *attrs_of(const qdq_op_context *ctx) { return ctx->attrs; }

static bool has_scheme(const qdq_op_context *ctx, qdq_scheme scheme) {
    return qdq_is_computed(ctx) && attrs_of(ctx)->scheme == scheme;
}

//---- The layer --------------------------------------------------------------

void qdq_trt_given_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_is_computed(ctx))
        qdq_report_target_violation(ctx, rule, qdq_argument_of(ctx, "scale").name,
                                    "is given, so IQuantizeLayer does it", NULL);
}

void qdq_trt_scheme(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_scheme scheme = attrs_of(ctx)->scheme;
    if (!qdq_is_computed(ctx) || scheme == QDQ_NVFP4 || scheme == QDQ_MX_RCEIL ||
        scheme == QDQ_SYMMETRIC)
        return;
    qdq_report_target_violation(ctx, rule, "scheme",
                                qdq_text(ctx->findings, "is %s", qdq_scheme_word(ctx)),
                                "nvfp4, mx_rceil or symmetric");
}

void qdq_trt_no_mxfp8(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (has_scheme(ctx, QDQ_MX_RCEIL))
        qdq_report_target_violation(ctx, rule, "scheme", "is mx_rceil", "nvfp4");
}

void qdq_trt_dynamic_nvfp4(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (has_scheme(ctx, QDQ_NVFP4))
        qdq_report_target_violation(ctx, rule, "scheme", "is nvfp4", "11.0 or newer");
}

void qdq_trt_no_float_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (has_scheme(ctx, QDQ_SYMMETRIC))
        qdq_report_target_violation(ctx, rule, "scheme", "is symmetric", "nvfp4 or mx_rceil");
}

// Returns the result dtypes that the header accepts in addition to float4; none for schemes that
// other rules refuse.
static qdq_dtype_set results_of(const qdq_op_context *ctx) {
    if (has_scheme(ctx, QDQ_MX_RCEIL)) return QDQ_SET(FLOAT8_E4M3FN);
    return has_scheme(ctx, QDQ_SYMMETRIC) ? QDQ_SET(INT8) | QDQ_SET(FLOAT8_E4M3FN) : 0;
}

void qdq_trt_dynamic_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (results_of(ctx))
        qdq_expect_dtype(ctx, rule, "dtype", ctx->outputs[0].dtype, results_of(ctx));
}

void qdq_trt_dynamic_result(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype dtype = ctx->outputs[0].dtype;
    if (qdq_set_has(results_of(ctx), dtype))
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings, "is %s with scheme %s",
                                             qdq_dtype_name(dtype), qdq_scheme_word(ctx)),
                                    "float4_e2m1, and the scheme nvfp4");
}

void qdq_trt_dynamic_float_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (has_scheme(ctx, QDQ_SYMMETRIC) && qdq_set_has(results_of(ctx), ctx->outputs[0].dtype))
        qdq_report_target_violation(ctx, rule, "scheme", "is symmetric", "nvfp4 or mx_rceil");
}

// The layer's scaleType is float8_e4m3fn, float8_e8m0 or float32; the scheme decides which.
void qdq_trt_computed_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_computed(ctx) && attrs_of(ctx)->scheme < QDQ_MX_FLOOR)
        qdq_expect_dtype(ctx, rule, "scale_dtype", ctx->outputs[1].dtype, QDQ_SET(FLOAT32));
}

void qdq_trt_no_eps(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_computed(ctx) && attrs_of(ctx)->eps.set != 0)
        qdq_report_target_violation(ctx, rule, "eps",
                                    qdq_text_is(ctx->findings, attrs_of(ctx)->eps.value), "none");
}

//---- Blocks -----------------------------------------------------------------

void qdq_trt_dynamic_granularity(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_computed(ctx) && !qdq_is_per_group(ctx))
        qdq_report_target_violation(
            ctx, rule, "qtype",
            qdq_text(ctx->findings, "is %s", qdq_qtype_words[attrs_of(ctx)->quantize.qtype]),
            "per_group");
}

void qdq_trt_dynamic_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    int first, rank = ctx->inputs[QDQ_PORT_X].type.shape.rank;
    int most = qdq_blocked_dims(ctx, &first) > 1 ? 4 : 3;
    if (qdq_is_computed(ctx) && rank != 0 && (rank < 2 || rank > most))
        qdq_report_target_violation(ctx, rule, "x", qdq_text(ctx->findings, "has rank %d", rank),
                                    qdq_text(ctx->findings, "2 to %d", most));
}

void qdq_trt_dynamic_block_size(const qdq_op_context *ctx, const qdq_rule *rule) {
    int wanted = has_scheme(ctx, QDQ_NVFP4) ? 16 : has_scheme(ctx, QDQ_MX_RCEIL) ? 32 : 0;
    if (!wanted || !qdq_is_per_group(ctx)) return;
    qdq_shape block = qdq_block_shape(ctx);
    const char *size = qdq_text(ctx->findings, "%d for scheme %s", wanted, qdq_scheme_word(ctx));
    for (int i = 0; i < block.rank; i++) {
        if (block.dims[i] == 1 || block.dims[i] == wanted) continue;
        qdq_report_target_violation(
            ctx, rule, "group_shape",
            qdq_text(ctx->findings, "has %lld for dim %d", (long long)block.dims[i], i), size);
        return;
    }
    if (qdq_shape_count(block) == 1)
        qdq_report_target_violation(ctx, rule, "group_shape", "has blocks of one element", size);
}

//---- The scale of the scales ------------------------------------------------

void qdq_trt_global_scale_given(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(ctx, "global_scale");
    if (has_scheme(ctx, QDQ_NVFP4) && !g.given)
        qdq_report_target_violation(ctx, rule, g.name, "is missing", "a positive number");
}

void qdq_trt_global_scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(ctx, "global_scale");
    if (g.given) qdq_expect_dtype(ctx, rule, g.name, g.dtype, QDQ_SET(FLOAT32));
}

void qdq_trt_global_scale_constant(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(ctx, "global_scale");
    if (g.given && !g.constant)
        qdq_report_target_violation(ctx, rule, g.name, "is made at run time", "a constant");
}

void qdq_trt_global_scale_positive(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(ctx, "global_scale");
    if (g.known && !(qdq_argument_at(&g, 0) > 0))
        qdq_report_number(ctx, rule, &g, 0, "a number above 0");
}

static void find_rank(const qdq_op_context *ctx, const qdq_rule *rule, int least, int most,
                      const char *wanted) {
    qdq_argument g = qdq_argument_of(ctx, "global_scale");
    if (g.from_port && g.shape.rank >= least && g.shape.rank <= most)
        qdq_report_target_violation(ctx, rule, g.name,
                                    qdq_text(ctx->findings, "has rank %d", g.shape.rank), wanted);
}

void qdq_trt_global_scale_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    find_rank(ctx, rule, 2, QDQ_MAX_RANK, "the shape []");
}

void qdq_trt_global_scale_list(const qdq_op_context *ctx, const qdq_rule *rule) {
    find_rank(ctx, rule, 1, 1, "the shape []");
}
