// SPDX-License-Identifier: Apache-2.0
// Expand, which broadcasts x to a shape, and Tile, which repeats x along its dims.
#include "include/qdq/ops/movement.h"
#include "ops/movement/runs.h"

static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};

//---- Expand -----------------------------------------------------------------

static const qdq_port_desc expand_inputs[] = {
    {"x", offsetof(qdq_expand_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_attr_desc expand_attrs[] = {
    {"shape", QDQ_ATTR_INTS, offsetof(qdq_expand_attrs, shape), NULL, "[]",
     "x and this shape are broadcast to each other; y has the shape that results"}};

static void infer_expand(qdq_op_context *ctx) {
    const qdq_expand_attrs *a = ctx->attrs;
    qdq_type y = ctx->inputs[0].type;
    qdq_shape wanted = {.rank = (int)a->shape.count};
    if (a->shape.count > QDQ_MAX_RANK) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "shape",
                             qdq_text(ctx->findings, "has %zu entries", a->shape.count),
                             qdq_text(ctx->findings, "at most %d", QDQ_MAX_RANK));
        return;
    }
    for (int i = 0; i < wanted.rank; i++) {
        wanted.dims[i] = a->shape.data[i];
        if (wanted.dims[i] > 0) continue;
        qdq_report_violation(
            ctx, QDQ_RULE_ATTR_VALUE, "shape",
            qdq_text(ctx->findings, "has %lld at index %d", (long long)wanted.dims[i], i),
            "1 or more");
        return;
    }
    if (!qdq_broadcast_shapes(y.shape, wanted, &y.shape)) {
        qdq_report_shape(ctx, "x", ctx->inputs[0].type.shape,
                         qdq_text(ctx->findings, "one that can be broadcast with %s",
                                  qdq_shape_text(ctx->findings, wanted)));
        return;
    }
    ctx->outputs[0] = y;
}

static size_t lower_expand(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_shape x = ctx->inputs[0].type.shape, y = ctx->outputs[0].shape;
    qdq_runs *table = qdq_runs_new(ctx, to);
    ptrdiff_t strides[QDQ_MAX_RANK];
    if (!table) return 0;
    qdq_strides_of(x, strides);
    for (int i = 0; i < y.rank; i++) {
        int dim = i + x.rank - y.rank;
        ptrdiff_t step = dim >= 0 && x.dims[dim] > 1 ? strides[dim] : 0;
        if (!qdq_runs_add_one(table, to->mempool, (size_t)y.dims[i], 0, step)) return 0;
    }
    return qdq_lower_runs(table, stages);
}

static const qdq_op_fusion fusion = {.passes_quantized = qdq_runs_quantized};
static const qdq_op_fusion expand_fusion = {.passes_quantized = qdq_runs_quantized,
                                            .broadcasts = true};

const qdq_op qdq_op_expand = {
    .name = "Expand",
    .summary = "y = x, broadcast to a shape",
    .attrs_size = sizeof(qdq_expand_attrs),
    QDQ_OP_TABLES(expand_inputs, outputs, expand_attrs),
    .infer = infer_expand,
    .lower = lower_expand,
    .fusion = &expand_fusion,
};

//---- Tile -------------------------------------------------------------------

static const qdq_port_desc tile_inputs[] = {
    {"x", offsetof(qdq_tile_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_attr_desc tile_attrs[] = {{"repeats", QDQ_ATTR_INTS,
                                            offsetof(qdq_tile_attrs, repeats), NULL, QDQ_REQUIRED,
                                            "how often each dim of x is repeated, 1 or more"}};

static void infer_tile(qdq_op_context *ctx) {
    const qdq_tile_attrs *a = ctx->attrs;
    qdq_type y = ctx->inputs[0].type;
    if (a->repeats.count != (size_t)y.shape.rank) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "repeats",
                             qdq_text(ctx->findings, "has %zu entries", a->repeats.count),
                             qdq_text(ctx->findings, "%d, one for each dim of x", y.shape.rank));
        return;
    }
    for (int i = 0; i < y.shape.rank; i++) {
        int64_t repeats = a->repeats.data[i];
        if (repeats > 0 && !__builtin_mul_overflow(y.shape.dims[i], repeats, &y.shape.dims[i]))
            continue;
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "repeats",
                             qdq_text(ctx->findings, "has %lld at index %d", (long long)repeats, i),
                             "1 or more, and a dim below 2^63");
        return;
    }
    ctx->outputs[0] = y;
}

// A dim becomes two: which repeat, and which index of x.
static size_t lower_tile(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_tile_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    qdq_runs *table = qdq_runs_new(ctx, to);
    ptrdiff_t strides[QDQ_MAX_RANK];
    if (!table) return 0;
    qdq_strides_of(x, strides);
    for (int i = 0; i < x.rank; i++)
        if (!qdq_runs_add_one(table, to->mempool, (size_t)a->repeats.data[i], 0, 0) ||
            !qdq_runs_add_one(table, to->mempool, (size_t)x.dims[i], 0, strides[i]))
            return 0;
    return qdq_lower_runs(table, stages);
}

const qdq_op qdq_op_tile = {
    .name = "Tile",
    .summary = "y = x, repeated along its dims",
    .attrs_size = sizeof(qdq_tile_attrs),
    QDQ_OP_TABLES(tile_inputs, outputs, tile_attrs),
    .infer = infer_tile,
    .lower = lower_tile,
    .fusion = &fusion,
};
