// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm: a slice spans the dims from begin_norm_axis on. ops/reduce/norm.h has the
// formula; in RMSNorm the mean is 0 and the variance the mean of x^2. On a chip norms of bfloat16
// are those of ops/reduce/chip/chip_norm.h.
#include "include/qdq/ops/reduce.h"
#include "ops/reduce/chip/chip_norm.h"
#include "ops/reduce/norm.h"
#include "ops/reduce/order/layer_norm_order.h"

static qdq_reduce_axes slices_from(const qdq_op_context *ctx, qdq_int begin) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    int64_t axis = begin.set != 0 ? begin.value : -1;
    uint32_t before = (1u << (axis < 0 ? axis + shape.rank : axis)) - 1;
    return qdq_reduce_axes_of(shape, ~before);
}

// Lowers a norm whose gamma and beta go with the elements of a slice.
static size_t lower_from(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_slice_op *op,
                         qdq_int begin, qdq_norm_params value, qdq_stage *stages) {
    qdq_reduce_axes slices = slices_from(ctx, begin);
    qdq_norm_params *params = QDQ_MEMPOOL_NEW(to->mempool, qdq_norm_params);
    value.width = slices.n;
    if (params) *params = value;
    return qdq_slice_stage(ctx, to, op, slices, params, 4, stages);
}

static bool is_of_chip(const qdq_op_context *ctx, const qdq_lowering *to, qdq_int begin) {
    return to->numerics.multiply_add != QDQ_MULTIPLY_ADD_IEEE && qdq_chip_norm_fits(ctx, begin);
}

// Checks begin_norm_axis and returns it as a dim, or -1. gamma and beta have the dims of x from
// there on, or as many elements in one dim.
static int check_begin(const qdq_op_context *ctx, qdq_int begin) {
    qdq_shape x = ctx->inputs[0].type.shape;
    int axis = qdq_check_axis(ctx, "begin_norm_axis", begin.set != 0 ? begin.value : -1, x.rank);
    if (axis < 0) return axis;
    qdq_shape rest = {.rank = x.rank - axis};
    for (int i = 0; i < rest.rank; i++) rest.dims[i] = x.dims[axis + i];
    for (size_t i = 1; i < ctx->input_count; i++) {
        qdq_shape is = ctx->inputs[i].type.shape;
        if (is.rank != 1 || is.dims[0] != (int64_t)qdq_shape_count(rest))
            qdq_check_shape(ctx, i, rest, "the dims of x from begin_norm_axis on");
    }
    return axis;
}

//---- LayerNorm --------------------------------------------------------------

static const qdq_port_desc layer_inputs[] = {QDQ_NORM_INPUTS(qdq_layer_norm_attrs)};
static const qdq_port_desc layer_outputs[] = {QDQ_NORM_OUTPUTS(qdq_layer_norm_attrs)};
static const qdq_attr_desc layer_attrs[] = {
    {"begin_norm_axis", QDQ_ATTR_INT, offsetof(qdq_layer_norm_attrs, begin_norm_axis), NULL, "-1",
     "the first of the dims that are normalized together"},
    QDQ_NORM_ATTRS(qdq_layer_norm_attrs),
    {"one_pass", QDQ_ATTR_BOOL, offsetof(qdq_layer_norm_attrs, one_pass), NULL, "false",
     "targets onnx and ort: float32 as SkipLayerNormalization, by Welford's method"},
};

static void infer_layer_norm(qdq_op_context *ctx) {
    const qdq_layer_norm_attrs *a = ctx->attrs;
    qdq_shape stats = ctx->inputs[0].type.shape;
    int axis = check_begin(ctx, a->begin_norm_axis);
    qdq_check_epsilon(ctx, a->epsilon);
    for (int i = axis < 0 ? 0 : axis; i < stats.rank; i++) stats.dims[i] = 0;
    stats.rank = axis < 0 ? 0 : axis;
    qdq_infer_norm(ctx, stats, a->keep_stats);
}

static size_t lower_layer_norm(const qdq_op_context *ctx, const qdq_lowering *to,
                               qdq_stage *stages) {
    const qdq_layer_norm_attrs *a = ctx->attrs;
    if (is_of_chip(ctx, to, a->begin_norm_axis))
        return qdq_chip_norm_stage(ctx, to, true, a->epsilon, stages);
    bool by_runtime = qdq_by_onnx_runtime(to) && ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    size_t n = slices_from(ctx, a->begin_norm_axis).n;
    const qdq_slice_op *op =
        by_runtime ? qdq_layer_norm_order_of(n, a->one_pass == QDQ_TRUE) : &qdq_norm_slices;
    return lower_from(ctx, to, op, a->begin_norm_axis, qdq_norm_stats_params(ctx, a->epsilon),
                      stages);
}

const qdq_op qdq_op_layer_norm = {
    .name = "LayerNorm",
    .summary = "y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last dims",
    .attrs_size = sizeof(qdq_layer_norm_attrs),
    QDQ_OP_TABLES(layer_inputs, layer_outputs, layer_attrs),
    .infer = infer_layer_norm,
    .lower = lower_layer_norm,
    .by_chip = true,
    .by_float_ops = true,
};

//---- RMSNorm ----------------------------------------------------------------

static const qdq_port_desc rms_inputs[] = {
    {"x", offsetof(qdq_rms_norm_attrs, x), false, QDQ_SET_FLOATS},
    {"gamma", offsetof(qdq_rms_norm_attrs, gamma), true, QDQ_SET_FLOATS},
};
static const qdq_port_desc rms_outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const qdq_attr_desc rms_attrs[] = {
    {"begin_norm_axis", QDQ_ATTR_INT, offsetof(qdq_rms_norm_attrs, begin_norm_axis), NULL, "-1",
     "the first of the dims that are normalized together"},
    {"epsilon", QDQ_ATTR_FLOAT, offsetof(qdq_rms_norm_attrs, epsilon), NULL, "1e-5",
     "added to the mean of the squares"},
};

static void take_squares(const qdq_part *part) {
    part->kernels->squares(&part->state->lanes, part->x, part->n, 0);
}

static void end_squares(const qdq_part *part) {
    part->state->normal.mean = 0;
    qdq_norm_set_scale(part, qdq_norm_mean(part));
}

static const qdq_slice_op rms_norm = {
    .passes = {{qdq_norm_begin, take_squares, end_squares}, {NULL, qdq_norm_take_y, NULL}},
    .pass_count = 2,
    .maps = true,
};

static void infer_rms_norm(qdq_op_context *ctx) {
    const qdq_rms_norm_attrs *a = ctx->attrs;
    check_begin(ctx, a->begin_norm_axis);
    qdq_check_epsilon(ctx, a->epsilon);
    qdq_check_norm_dtypes(ctx, QDQ_NORM_GAMMA, QDQ_NORM_GAMMA + 1);
    ctx->outputs[0] = ctx->inputs[0].type;
}

static size_t lower_rms_norm(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_rms_norm_attrs *a = ctx->attrs;
    if (is_of_chip(ctx, to, a->begin_norm_axis))
        return qdq_chip_norm_stage(ctx, to, false, a->epsilon, stages);
    bool by_runtime = qdq_by_onnx_runtime(to) && ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    size_t n = slices_from(ctx, a->begin_norm_axis).n;
    return lower_from(ctx, to, by_runtime ? qdq_rms_norm_order_of(n) : &rms_norm,
                      a->begin_norm_axis, qdq_norm_params_of(ctx, a->epsilon, QDQ_NORM_GAMMA, 0),
                      stages);
}

const qdq_op qdq_op_rms_norm = {
    .name = "RMSNorm",
    .summary = "y = x / sqrt(mean(x^2) + epsilon) * gamma, over the last dims",
    .attrs_size = sizeof(qdq_rms_norm_attrs),
    QDQ_OP_TABLES(rms_inputs, rms_outputs, rms_attrs),
    .infer = infer_rms_norm,
    .lower = lower_rms_norm,
    .by_chip = true,
    .by_float_ops = true,
};
