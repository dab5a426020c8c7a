// SPDX-License-Identifier: Apache-2.0
// Gather, GatherElements and GatherND: y collects the places of x that indices name. The ops differ
// in the naming (ops/movement/indices.h) and share the copy loop.
#include <string.h>

#include "include/qdq/ops/movement.h"
#include "ops/blocking.h"
#include "ops/movement/indices.h"

enum { IN_X, IN_INDICES };

static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};

//---- Copying ----------------------------------------------------------------

typedef struct gather_params {
    qdq_dtype x_dtype, y_dtype;
    size_t count;  // elements of y
    qdq_places places;
} gather_params;

#define PICK(type)                                                                         \
    static void pick_##type(const void *x, const size_t *offsets, void *y, size_t count) { \
        for (size_t i = 0; i < count; i++) ((type *)y)[i] = ((const type *)x)[offsets[i]]; \
    }
PICK(uint8_t)
PICK(uint16_t)
PICK(uint32_t)
PICK(uint64_t)

// Copies `count` places of n elements each, without a conversion.
static void pick(size_t size, const void *x, const size_t *offsets, size_t n, void *y,
                 size_t count) {
    if (n > 1) {
        for (size_t i = 0; i < count; i++)
            memcpy((char *)y + i * n * size, (const char *)x + offsets[i] * size, n * size);
        return;
    }
    switch (size) {
    case 1: pick_uint8_t(x, offsets, y, count); break;
    case 2: pick_uint16_t(x, offsets, y, count); break;
    case 4: pick_uint32_t(x, offsets, y, count); break;
    default: pick_uint64_t(x, offsets, y, count);
    }
}

// Copies elements of y from `at` on, up to `stop`. Returns the number of elements copied: several
// short places, or a part of one.
static size_t copy_some(const gather_params *p, const qdq_tensors *tensors, qdq_chunks *y,
                        size_t at, size_t stop) {
    const qdq_places *places = &p->places;
    const void *x = tensors->x[IN_X];
    size_t n = places->n, place = at / n, in_place = at % n;
    size_t offsets[QDQ_INDEX_PART];
    uint64_t part[QDQ_MOVE_PART];
    if (n > QDQ_MOVE_PART || in_place || stop - at < n) {
        size_t left = n - in_place < stop - at ? n - in_place : stop - at;
        places->offsets(places, tensors->x[IN_INDICES], place, 1, offsets);
        qdq_move_chunk(p->x_dtype, qdq_at(x, p->x_dtype, offsets[0] + in_place), p->y_dtype, y, at,
                       left);
        return left;
    }
    size_t count = (stop - at) / n, most = QDQ_MOVE_PART / n;
    if (most > QDQ_INDEX_PART) most = QDQ_INDEX_PART;
    if (count > most) count = most;
    places->offsets(places, tensors->x[IN_INDICES], place, count, offsets);
    void *to = qdq_chunks_room(y, at, count * n);
    bool same = p->x_dtype == p->y_dtype;
    pick(qdq_dtype_size(p->x_dtype), x, offsets, n, same ? to : part, count);
    if (!same) qdq_move(p->x_dtype, part, p->y_dtype, to, count * n);
    return count * n;
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const gather_params *p = params;
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    if (stop > p->count) stop = p->count;
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    while (at < stop) at += copy_some(p, tensors, &y, at, stop);
    qdq_chunks_end(&y);
}

static size_t lower_places(const qdq_op_context *ctx, const qdq_lowering *to, qdq_places places,
                           qdq_stage *stages) {
    gather_params *p = QDQ_MEMPOOL_NEW(to->mempool, gather_params);
    if (!p) return 0;
    *p = (gather_params){.x_dtype = ctx->inputs[IN_X].type.dtype,
                         .y_dtype = ctx->outputs[0].dtype,
                         .count = qdq_shape_count(ctx->outputs[0].shape),
                         .places = places};
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = qdq_move_units(p->count),
                            .cost = 2 * p->count,
                            .chunks = true};
    return 1;
}

//---- Gather -----------------------------------------------------------------

static const qdq_port_desc gather_inputs[] = {
    {"x", offsetof(qdq_gather_attrs, x), false, QDQ_SET_MOVED},
    {"indices", offsetof(qdq_gather_attrs, indices), false, QDQ_SET_INDICES}};
static const qdq_attr_desc gather_attrs[] = {{"axis", QDQ_ATTR_INT,
                                              offsetof(qdq_gather_attrs, axis), NULL, "0",
                                              "the dim of x that the indices are for"}};

static int axis_of(const qdq_op_context *ctx) {
    const qdq_gather_attrs *a = ctx->attrs;
    return qdq_check_axis(ctx, "axis", a->axis.set != 0 ? a->axis.value : 0,
                          ctx->inputs[IN_X].type.shape.rank);
}

// Reports a finding if y had too many dims.
static bool check_rank(const qdq_op_context *ctx, int rank) {
    if (rank <= QDQ_MAX_RANK) return true;
    qdq_report_shape(
        ctx, "indices", ctx->inputs[IN_INDICES].type.shape,
        qdq_text(ctx->findings, "fewer dims: y had %d, and has at most %d", rank, QDQ_MAX_RANK));
    return false;
}

static void infer_gather(qdq_op_context *ctx) {
    qdq_shape x = ctx->inputs[IN_X].type.shape;
    int axis = axis_of(ctx);
    if (axis < 0 || !qdq_has_input(ctx, IN_INDICES)) return;
    qdq_shape indices = ctx->inputs[IN_INDICES].type.shape;
    qdq_type y = {.dtype = ctx->inputs[IN_X].type.dtype};
    if (!check_rank(ctx, x.rank - 1 + indices.rank) ||
        !qdq_check_indices(ctx, IN_INDICES, &x.dims[axis], 1))
        return;
    for (int i = 0; i < axis; i++) y.shape.dims[y.shape.rank++] = x.dims[i];
    for (int i = 0; i < indices.rank; i++) y.shape.dims[y.shape.rank++] = indices.dims[i];
    for (int i = axis + 1; i < x.rank; i++) y.shape.dims[y.shape.rank++] = x.dims[i];
    ctx->outputs[0] = y;
}

static size_t lower_gather(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_places(
        ctx, to,
        qdq_places_along(ctx->inputs[IN_X].type.shape, &ctx->inputs[IN_INDICES].type, axis_of(ctx)),
        stages);
}

// A dim with parameters per index may move as a whole, but its indices may not.
static bool gather_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    int axis = axis_of(ctx);
    *quantized = *ctx->inputs[IN_X].quantized;
    if (quantized->axis == axis) return false;
    if (quantized->axis > axis) quantized->axis += ctx->inputs[IN_INDICES].type.shape.rank - 1;
    return true;
}

static const qdq_op_fusion gather_fusion = {.passes_quantized = gather_quantized};

const qdq_op qdq_op_gather = {
    .name = "Gather",
    .summary = "y = the indices of x on an axis that a tensor names",
    .attrs_size = sizeof(qdq_gather_attrs),
    QDQ_OP_TABLES(gather_inputs, outputs, gather_attrs),
    .looks_at = 1u << IN_INDICES,
    .infer = infer_gather,
    .lower = lower_gather,
    .fusion = &gather_fusion,
};

//---- GatherElements ---------------------------------------------------------

// Exact if all elements have the same parameters.
static bool elements_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    *quantized = *ctx->inputs[IN_X].quantized;
    return quantized->axis < 0;
}

static const qdq_op_fusion elements_fusion = {.passes_quantized = elements_quantized};

static void infer_elements(qdq_op_context *ctx) {
    qdq_shape x = ctx->inputs[IN_X].type.shape;
    int axis = axis_of(ctx);
    if (axis < 0 || !qdq_has_input(ctx, IN_INDICES)) return;
    qdq_shape indices = ctx->inputs[IN_INDICES].type.shape;
    if (!qdq_check_element_indices(ctx, x, IN_INDICES, axis)) return;
    ctx->outputs[0] = (qdq_type){ctx->inputs[IN_X].type.dtype, indices};
}

static size_t lower_elements(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_places(ctx, to,
                        qdq_places_of_elements(ctx->inputs[IN_X].type.shape,
                                               &ctx->inputs[IN_INDICES].type, axis_of(ctx)),
                        stages);
}

const qdq_op qdq_op_gather_elements = {
    .name = "GatherElements",
    .summary = "y has an element of x for each index; the index replaces a coordinate",
    .attrs_size = sizeof(qdq_gather_attrs),
    QDQ_OP_TABLES(gather_inputs, outputs, gather_attrs),
    .looks_at = 1u << IN_INDICES,
    .infer = infer_elements,
    .lower = lower_elements,
    .fusion = &elements_fusion,
};

//---- GatherND ---------------------------------------------------------------

static const qdq_port_desc nd_inputs[] = {
    {"x", offsetof(qdq_gather_nd_attrs, x), false, QDQ_SET_MOVED},
    {"indices", offsetof(qdq_gather_nd_attrs, indices), false, QDQ_SET_INDICES}};
static const qdq_attr_desc nd_attrs[] = {{"batch_dims", QDQ_ATTR_INT,
                                          offsetof(qdq_gather_nd_attrs, batch_dims), NULL, "0",
                                          "the first dims, which x and indices share"}};

static void infer_nd(qdq_op_context *ctx) {
    const qdq_gather_nd_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[IN_X].type.shape;
    if (!qdq_has_input(ctx, IN_INDICES)) return;
    qdq_shape indices = ctx->inputs[IN_INDICES].type.shape;
    int64_t batch = a->batch_dims.set != 0 ? a->batch_dims.value : 0;
    int least = x.rank < indices.rank ? x.rank : indices.rank;
    if (batch < 0 || batch >= least) {
        qdq_report_violation(
            ctx, QDQ_RULE_ATTR_VALUE, "batch_dims",
            qdq_text(ctx->findings, "is %lld", (long long)batch),
            qdq_text(ctx->findings, "0 to %d, as x and indices have more dims", least - 1));
        return;
    }
    if (!qdq_check_tuples(ctx, x, IN_INDICES, (int)batch)) return;
    int tuple = (int)indices.dims[indices.rank - 1];
    qdq_type y = {.dtype = ctx->inputs[IN_X].type.dtype};
    if (!check_rank(ctx, indices.rank - 1 + x.rank - (int)batch - tuple)) return;
    for (int i = 0; i < indices.rank - 1; i++) y.shape.dims[y.shape.rank++] = indices.dims[i];
    for (int i = (int)batch + tuple; i < x.rank; i++) y.shape.dims[y.shape.rank++] = x.dims[i];
    ctx->outputs[0] = y;
}

static size_t lower_nd(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_gather_nd_attrs *a = ctx->attrs;
    int batch = a->batch_dims.set != 0 ? (int)a->batch_dims.value : 0;
    return lower_places(
        ctx, to,
        qdq_places_of_tuples(ctx->inputs[IN_X].type.shape, &ctx->inputs[IN_INDICES].type, batch),
        stages);
}

const qdq_op qdq_op_gather_nd = {
    .name = "GatherND",
    .summary = "y = the parts of x that tuples of indices name",
    .attrs_size = sizeof(qdq_gather_nd_attrs),
    QDQ_OP_TABLES(nd_inputs, outputs, nd_attrs),
    .looks_at = 1u << IN_INDICES,
    .infer = infer_nd,
    .lower = lower_nd,
    .fusion = &elements_fusion,
};
