// SPDX-License-Identifier: Apache-2.0
// GroupNorm: a slice is one group of channels of one element of the batch. ops/reduce/norm.h has
// the formula. The elements of a slice are summed in memory order, channels first or last.
#include "include/qdq/ops/reduce.h"
#include "ops/reduce/norm.h"
#include "ops/reduce/order/instance_norm.h"

static const qdq_port_desc inputs[] = {QDQ_NORM_INPUTS(qdq_group_norm_attrs)};
static const qdq_port_desc outputs[] = {QDQ_NORM_OUTPUTS(qdq_group_norm_attrs)};
static const qdq_attr_desc attrs[] = {
    {"groups", QDQ_ATTR_INT, offsetof(qdq_group_norm_attrs, groups), NULL, QDQ_REQUIRED,
     "number of groups; divides the number of channels"},
    QDQ_NORM_ATTRS(qdq_group_norm_attrs),
    {"data_format", QDQ_ATTR_WORD, offsetof(qdq_group_norm_attrs, data_format),
     qdq_data_format_words, "NXC", "where the channels are"},
};

static void check_groups(const qdq_op_context *ctx, qdq_int groups, int64_t channels) {
    if (!qdq_require_attr(ctx, "groups", groups.set != 0)) return;
    if (groups.value > 0 && channels % groups.value == 0) return;
    qdq_report_violation(
        ctx, QDQ_RULE_ATTR_VALUE, "groups",
        qdq_text(ctx->findings, "is %lld", (long long)groups.value),
        qdq_text(ctx->findings, "a divisor of the channels of x: %lld", (long long)channels));
}

static void infer(qdq_op_context *ctx) {
    const qdq_group_norm_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    qdq_check_channels(ctx, a->data_format);
    if (x.rank >= 2) check_groups(ctx, a->groups, x.dims[qdq_channel_dim(x, a->data_format)]);
    qdq_check_epsilon(ctx, a->epsilon);
    qdq_infer_norm(ctx, QDQ_SHAPE(x.dims[0], a->groups.value), a->keep_stats);
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_group_norm_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    int64_t batch = x.dims[0], channels = x.dims[qdq_channel_dim(x, a->data_format)];
    int64_t groups = a->groups.value, each = channels / groups;
    int64_t pixels = (int64_t)qdq_shape_count(x) / batch / channels;
    bool first = a->data_format == QDQ_NCX;
    qdq_reduce_axes slices =
        first ? qdq_reduce_axes_of(QDQ_SHAPE(batch, groups, each, pixels), 1 << 2 | 1 << 3)
              : qdq_reduce_axes_of(QDQ_SHAPE(batch, pixels, groups, each), 1 << 1 | 1 << 3);
    bool by_runtime = qdq_by_onnx_runtime(to) && ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    if (by_runtime && first && each == 1 && ctx->inputs[QDQ_NORM_GAMMA].given &&
        a->keep_stats == QDQ_FALSE)
        return qdq_instance_norm_stage(ctx, to, slices, stages) ? 1 : 0;
    qdq_norm_params *params = QDQ_MEMPOOL_NEW(to->mempool, qdq_norm_params);
    if (!params) return 0;
    *params = qdq_norm_stats_params(ctx, a->epsilon);
    params->across = (size_t)groups, params->width = (size_t)each;
    params->run = first ? (size_t)pixels : 1;
    return qdq_slice_stage(ctx, to, &qdq_norm_slices, slices, params, 4, stages);
}

const qdq_op qdq_op_group_norm = {
    .name = "GroupNorm",
    .summary = "y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, over groups of channels",
    .attrs_size = sizeof(qdq_group_norm_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .by_float_ops = true,
};
