// SPDX-License-Identifier: Apache-2.0
// GroupNorm: a slice is what lies in the channels of a group of one element of the batch.
// ops/reduce/norm.h has the formula. Its elements go in the order of memory: channels first or
// last.
#include "ops/reduce/norm.h"

enum { GAMMA = 1, BETA = 2, MEAN = 1, VARIANCE = 2 };

#define STATS offsetof(qdq_group_norm_attrs, keep_stats), true
#define AUXILIARY (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16))

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_group_norm_attrs, x), false, QDQ_SET_FLOATS},
    {"gamma", offsetof(qdq_group_norm_attrs, gamma), true, AUXILIARY},
    {"beta", offsetof(qdq_group_norm_attrs, beta), true, AUXILIARY},
};
static const qdq_port_desc outputs[] = {
    {"y", 0, false, QDQ_SET_FLOATS},
    {"mean", STATS, AUXILIARY},
    {"variance", STATS, AUXILIARY},
};
static const qdq_attr_desc attrs[] = {
    {"groups", QDQ_ATTR_INT, offsetof(qdq_group_norm_attrs, groups), NULL, QDQ_REQUIRED,
     "how many groups the channels are in; divides them"},
    {"epsilon", QDQ_ATTR_FLOAT, offsetof(qdq_group_norm_attrs, epsilon), NULL, "1e-5",
     "added to the variance"},
    {"use_affine", QDQ_ATTR_BOOL, offsetof(qdq_group_norm_attrs, use_affine), NULL, "true",
     "no effect: gamma and beta are used if they are given"},
    {"keep_stats", QDQ_ATTR_BOOL, offsetof(qdq_group_norm_attrs, keep_stats), NULL, "true",
     "also make mean and variance"},
    {"data_format", QDQ_ATTR_WORD, offsetof(qdq_group_norm_attrs, data_format),
     qdq_data_format_words, "NXC", "where the channels are"},
};

static const qdq_slice_op group_norm = {
    .passes = {{qdq_norm_begin, qdq_norm_take_sum, qdq_norm_end_mean},
               {qdq_norm_begin, qdq_norm_take_deviations, qdq_norm_end_variance},
               {NULL, qdq_norm_take_y, NULL}},
    .pass_count = 3,
    .maps = true,
};

static void check_groups(const qdq_op_context *ctx, qdq_int groups, int64_t channels) {
    if (!qdq_require_attr(ctx, "groups", groups.set)) return;
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
    qdq_check_both(ctx, GAMMA, BETA);
    qdq_check_norm_dtypes(ctx, GAMMA, BETA + 1);
    ctx->outputs[0] = ctx->inputs[0].type;
    qdq_type stats = {qdq_stats_dtype(ctx, GAMMA), {2, {x.dims[0], a->groups.value}}};
    ctx->outputs[MEAN] = ctx->outputs[VARIANCE] = stats;
    ctx->output_count = a->keep_stats != QDQ_FALSE ? 3 : 1;
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
    qdq_norm_params *params = QDQ_MEMPOOL_NEW(to->mempool, qdq_norm_params);
    if (!params) return 0;
    *params = qdq_norm_params_of(ctx, a->epsilon, GAMMA, BETA);
    params->across = (size_t)groups, params->width = (size_t)each;
    params->run = first ? (size_t)pixels : 1;
    if (ctx->output_count > 1) {
        params->mean = MEAN, params->variance = VARIANCE;
        params->mean_dtype = ctx->outputs[MEAN].dtype;
        params->variance_dtype = ctx->outputs[VARIANCE].dtype;
    }
    return qdq_slice_stage(ctx, to, &group_norm, slices, params, 4, stages);
}

const qdq_op qdq_op_group_norm = {
    .name = "GroupNorm",
    .summary = "y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, over groups of channels",
    .attrs_size = sizeof(qdq_group_norm_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
