// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "include/qdq/ops/movement.h"
#include "ops/movement/runs.h"

static const qdq_port_desc inputs[] = {
    {"xs", offsetof(qdq_concat_attrs, xs), false, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const qdq_attr_desc attrs[] = {{"axis", QDQ_ATTR_INT, offsetof(qdq_concat_attrs, axis), NULL,
                                       QDQ_REQUIRED, "dim along which the inputs are joined"}};

//---- Shapes -----------------------------------------------------------------

// Compares input i with the first input.
static bool check_input(const qdq_op_context *ctx, size_t i, int axis) {
    qdq_type first = ctx->inputs[0].type, is = qdq_input_at(ctx, i).type;
    const char *port = qdq_text(ctx->findings, "xs[%zu]", i);
    if (is.dtype != first.dtype) {
        qdq_report_violation(
            ctx, QDQ_RULE_PORT_DTYPE, port,
            qdq_text(ctx->findings, "is %s", qdq_dtype_name(is.dtype)),
            qdq_text(ctx->findings, "%s, as xs[0] is", qdq_dtype_name(first.dtype)));
        return false;
    }
    qdq_shape alike = first.shape;
    if (is.shape.rank == alike.rank) alike.dims[axis] = is.shape.dims[axis];
    if (qdq_shape_equal(alike, is.shape)) return true;
    qdq_report_shape(ctx, port, is.shape,
                     qdq_text(ctx->findings, "%s, the shape of xs[0], but for dim %d",
                              qdq_shape_text(ctx->findings, first.shape), axis));
    return false;
}

static void infer(qdq_op_context *ctx) {
    const qdq_concat_attrs *a = ctx->attrs;
    qdq_type y = ctx->inputs[0].type;
    int64_t *joined;
    if (!qdq_require_attr(ctx, "axis", a->axis.set != 0)) return;
    int axis = qdq_check_axis(ctx, "axis", a->axis.value, y.shape.rank);
    if (axis < 0) return;
    joined = &y.shape.dims[axis];
    for (size_t i = 1; i < ctx->input_count; i++) {
        if (!qdq_has_input(ctx, i) || !check_input(ctx, i, axis)) return;
        if (__builtin_add_overflow(*joined, qdq_input_at(ctx, i).type.shape.dims[axis], joined))
            *joined = INT64_MAX;  // beyond every limit of elements
    }
    ctx->outputs[0] = y;
}

//---- Copying ----------------------------------------------------------------

// y consists of rows, and a row is a run of each input in turn: an index of the dims before the
// axis steps over the length of the input's run.
static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_concat_attrs *a = ctx->attrs;
    qdq_runs *table = qdq_runs_new(ctx, to);
    qdq_run *runs = qdq_mempool_array(to->mempool, ctx->input_count, sizeof *runs);
    if (!table || !runs) return 0;
    qdq_shape y = ctx->outputs[0].shape;
    int axis = qdq_check_axis(ctx, "axis", a->axis.value, y.rank);
    size_t outer = 1, inner = 1, row = 0;
    for (int i = 0; i < axis; i++) outer *= (size_t)y.dims[i];
    for (int i = axis + 1; i < y.rank; i++) inner *= (size_t)y.dims[i];
    for (size_t i = 0; i < ctx->input_count; i++) {
        size_t length = (size_t)qdq_input_at(ctx, i).type.shape.dims[axis] * inner;
        runs[i] = (qdq_run){row, 0, 1, (int)i, (ptrdiff_t)length};
        row += length;
    }
    if (!qdq_runs_add_one(table, to->mempool, outer, 0, 1) ||
        !qdq_runs_add(table, to->mempool, row, runs, ctx->input_count))
        return 0;
    return qdq_lower_runs(table, stages);
}

//---- Codes ------------------------------------------------------------------

static bool are_alike(const qdq_quantized *a, const qdq_quantized *b) {
    return a->dtype == b->dtype && a->axis == b->axis && a->count == b->count &&
           memcmp(a->scales, b->scales, a->count * sizeof *a->scales) == 0 &&
           memcmp(a->zero_points, b->zero_points, a->count * sizeof *a->zero_points) == 0;
}

// Exact if all inputs have the same parameters, and none per entry of the concatenated dim.
static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    const qdq_concat_attrs *a = ctx->attrs;
    *quantized = *ctx->inputs[0].quantized;
    if (quantized->axis == qdq_check_axis(ctx, "axis", a->axis.value, ctx->outputs[0].shape.rank))
        return false;
    for (size_t i = 1; i < ctx->input_count; i++) {
        const qdq_quantized *other = qdq_input_at(ctx, i).quantized;
        if (!other || !are_alike(quantized, other)) return false;
    }
    return true;
}

static const qdq_op_fusion fusion = {.passes_quantized = passes_quantized};

const qdq_op qdq_op_concat = {
    .name = "Concat",
    .summary = "y = the inputs one after the other along an axis",
    .attrs_size = sizeof(qdq_concat_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .variadic = true,
    .infer = infer,
    .lower = lower,
    .fusion = &fusion,
};
