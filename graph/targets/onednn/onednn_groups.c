// SPDX-License-Identifier: Apache-2.0
// The checks of oneDNN's rules about groups: blocks of DynamicDequantize, and a mask of the dims
// along which scales differ.
#include "graph/targets/checks.h"
#include "graph/targets/onednn/onednn.h"

// True if each block has one element or all of a dim: scales that `mask` describes.
static bool is_masked(const qdq_op_context *ctx) {
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape, block = qdq_block_shape(ctx);
    for (int i = 0; i < shape.rank; i++)
        if (block.dims[i] != 1 && block.dims[i] != shape.dims[i]) return false;
    return true;
}

static bool is_dynamic_quantize(const qdq_op_context *ctx) {
    return !qdq_onednn_is_dequantize(ctx) && (qdq_onednn_parameter(ctx, "scale").from_port ||
                                              qdq_op_context_is(ctx, "DynamicQuantize"));
}

// Only DynamicDequantize has groups; DynamicQuantize has a mask of dims.
void qdq_onednn_grouped_op(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_onednn_is_grouped(ctx) || (is_dynamic_quantize(ctx) && is_masked(ctx))) return;
    if (!(qdq_onednn_is_dequantize(ctx) && qdq_onednn_parameter(ctx, "scale").from_port))
        qdq_report_target_violation(ctx, rule, "qtype", "is per_group",
                                    qdq_onednn_is_dequantize(ctx)
                                        ? "a scale that comes through the port"
                                        : "per_tensor or per_channel");
}

void qdq_onednn_masked_quantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_onednn_is_grouped(ctx) && is_dynamic_quantize(ctx) && is_masked(ctx))
        qdq_report_target_violation(ctx, rule, "group_shape", "gives scales to several dims",
                                    "per_tensor or per_channel");
}

// Returns the dims with several scales, which a packed scale has alone.
static qdq_shape packed_dims(qdq_shape grid) {
    qdq_shape dims = {0};
    for (int i = 0; i < grid.rank; i++)
        if (grid.dims[i] > 1) dims.dims[dims.rank++] = grid.dims[i];
    return dims;
}

void qdq_onednn_group_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale");
    qdq_shape wanted = qdq_onednn_is_grouped(ctx) ? qdq_parameter_shape(ctx) : s.shape;
    if (qdq_onednn_is_grouped(ctx) && qdq_shape_equal(s.shape, packed_dims(wanted))) return;
    if (s.from_port && !qdq_shape_equal(s.shape, wanted))
        qdq_report_target_violation(
            ctx, rule, s.name,
            qdq_text(ctx->findings, "has the shape %s", qdq_shape_text(ctx->findings, s.shape)),
            qdq_shape_text(ctx->findings, wanted));
}

void qdq_onednn_masked_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale");
    if (qdq_onednn_is_grouped(ctx) && s.from_port && s.shape.rank < qdq_parameter_shape(ctx).rank)
        qdq_report_target_violation(
            ctx, rule, s.name,
            qdq_text(ctx->findings, "has the shape %s", qdq_shape_text(ctx->findings, s.shape)),
            qdq_shape_text(ctx->findings, qdq_parameter_shape(ctx)));
}

void qdq_onednn_group_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    if (!qdq_onednn_is_grouped(ctx) || !z.from_port || z.count == 1) return;
    if (!qdq_shape_equal(s.shape, z.shape))
        qdq_report_target_violation(ctx, rule, z.name, "has another shape than the scale",
                                    qdq_shape_text(ctx->findings, s.shape));
}

void qdq_onednn_one_group_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    if (qdq_onednn_is_grouped(ctx) && z.from_port && z.count == 1 &&
        !qdq_shape_equal(s.shape, z.shape))
        qdq_report_target_violation(ctx, rule, z.name, "has one element",
                                    qdq_shape_text(ctx->findings, s.shape));
}

void qdq_onednn_group_dims(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_onednn_is_grouped(ctx)) return;
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape;
    if (shape.rank < 2)
        qdq_report_target_violation(
            ctx, rule, "x", qdq_text(ctx->findings, "has rank %d", shape.rank), "rank 2 or more");
}

void qdq_onednn_leading_groups(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_onednn_is_grouped(ctx)) return;
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape, block = qdq_block_shape(ctx);
    for (int i = 0; i + 2 < shape.rank; i++) {
        if (block.dims[i] == 1) continue;
        qdq_report_target_violation(
            ctx, rule, "group_shape",
            qdq_text(ctx->findings, "has %lld for dim %d", (long long)block.dims[i], i),
            "1 for all dims but the last two");
        return;
    }
}
