// SPDX-License-Identifier: Apache-2.0
// OneHot: each index becomes `depth` elements, all the off value except the element that it names.
#include <string.h>

#include "include/qdq/ops/movement.h"
#include "ops/movement/indices.h"

enum { IN_INDICES, IN_VALUES };

static const qdq_port_desc inputs[] = {
    {"indices", offsetof(qdq_one_hot_attrs, indices), false, QDQ_SET_INDICES},
    {"values", offsetof(qdq_one_hot_attrs, values), false, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const qdq_attr_desc attrs[] = {{"depth", QDQ_ATTR_INT, offsetof(qdq_one_hot_attrs, depth),
                                       NULL, QDQ_REQUIRED,
                                       "size of the dim that y has more than indices"},
                                      {"axis", QDQ_ATTR_INT, offsetof(qdq_one_hot_attrs, axis),
                                       NULL, "-1", "where this dim lies in y"}};

static int axis_of(const qdq_op_context *ctx) {
    const qdq_one_hot_attrs *a = ctx->attrs;
    return qdq_check_axis(ctx, "axis", a->axis.set != 0 ? a->axis.value : -1,
                          ctx->inputs[IN_INDICES].type.shape.rank + 1);
}

static void infer(qdq_op_context *ctx) {
    const qdq_one_hot_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[IN_INDICES].type.shape;
    qdq_type y = {.dtype = ctx->inputs[IN_VALUES].type.dtype};
    int axis = axis_of(ctx);
    if (axis < 0 || !qdq_require_attr(ctx, "depth", a->depth.set != 0)) return;
    if (a->depth.value < 1) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "depth",
                             qdq_text(ctx->findings, "is %lld", (long long)a->depth.value),
                             "1 or more");
        return;
    }
    if (x.rank == QDQ_MAX_RANK) {
        qdq_report_shape(ctx, "indices", x,
                         qdq_text(ctx->findings, "at most %d dims", QDQ_MAX_RANK - 1));
        return;
    }
    if (!qdq_has_input(ctx, IN_VALUES) ||
        !qdq_check_shape(ctx, IN_VALUES, QDQ_SHAPE(2), "the off value and the on value"))
        return;
    for (int i = 0; i <= x.rank; i++)
        y.shape.dims[y.shape.rank++] = i < axis    ? x.dims[i]
                                       : i == axis ? a->depth.value
                                                   : x.dims[i - 1];
    ctx->outputs[0] = y;
}

typedef struct one_hot_params {
    qdq_dtype index_dtype, value_dtype, y_dtype;
    size_t count, depth, inner;  // elements of y; of its new dim; of the dims after it
} one_hot_params;

// Returns the place in the new dim that element i of the indices names; `depth` if it names none.
static size_t place_of(const one_hot_params *p, const void *indices, size_t i) {
    int64_t index = qdq_raw_index(p->index_dtype, indices, i), depth = (int64_t)p->depth;
    if (index < -depth || index >= depth) return p->depth;
    return (size_t)(index < 0 ? index + depth : index);
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const one_hot_params *p = params;
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    if (stop > p->count) stop = p->count;
    size_t size = qdq_dtype_size(p->y_dtype);
    char values[2 * sizeof(uint64_t)], *y = tensors->y[0];
    qdq_move(p->value_dtype, tensors->x[IN_VALUES], p->y_dtype, values, 2);
    size_t outer = at / p->inner / p->depth, place = at / p->inner % p->depth;
    for (size_t i = at % p->inner; at < stop; at++) {
        bool on = place_of(p, tensors->x[IN_INDICES], outer * p->inner + i) == place;
        memcpy(y + at * size, values + on * size, size);
        if (++i < p->inner) continue;
        i = 0;
        if (++place == p->depth) place = 0, outer++;
    }
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    one_hot_params *p = QDQ_MEMPOOL_NEW(to->mempool, one_hot_params);
    qdq_shape y = ctx->outputs[0].shape;
    int axis = axis_of(ctx);
    if (!p) return 0;
    *p = (one_hot_params){.index_dtype = ctx->inputs[IN_INDICES].type.dtype,
                          .value_dtype = ctx->inputs[IN_VALUES].type.dtype,
                          .y_dtype = ctx->outputs[0].dtype,
                          .count = qdq_shape_count(y),
                          .depth = (size_t)y.dims[axis],
                          .inner = 1};
    for (int i = axis + 1; i < y.rank; i++) p->inner *= (size_t)y.dims[i];
    stages[0] = (qdq_stage){
        .params = p, .tensor_op = run, .units = qdq_move_units(p->count), .cost = 2 * p->count};
    return 1;
}

const qdq_op qdq_op_one_hot = {
    .name = "OneHot",
    .summary = "y has a row for each index: one value everywhere, another value at the index",
    .attrs_size = sizeof(qdq_one_hot_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
