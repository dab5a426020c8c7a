// SPDX-License-Identifier: Apache-2.0
// StaticReshape and Reorder, which copy the elements in order, and GenIndex, which depends on
// coordinates alone.
#include "ops/movement/movement.h"

#include <string.h>

#include "include/qdq/ops/movement.h"
#include "ops/blocking.h"
#include "runtime/numerics/dtype.h"

void qdq_move(qdq_dtype x_dtype, const void *x, qdq_dtype y_dtype, void *y, size_t n) {
    if (x_dtype == y_dtype) {
        memcpy(y, x, n * qdq_dtype_size(x_dtype));
        return;
    }
    float part[QDQ_MOVE_PART];
    for (size_t at = 0, count; at < n; at += count) {
        count = n - at < QDQ_MOVE_PART ? n - at : QDQ_MOVE_PART;
        qdq_decode_float(x_dtype, qdq_at(x, x_dtype, at), part, count);
        qdq_encode_float(y_dtype, part, qdq_at_mutable(y, y_dtype, at), count, NULL);
    }
}

void qdq_move_chunk(qdq_dtype x_dtype, const void *x, qdq_dtype y_dtype, qdq_chunks *y, size_t at,
                    size_t n) {
    const qdq_tensors *tensors = y->tensors;
    if (tensors->sink && x_dtype == y_dtype && n >= QDQ_MOVE_LONG) {
        tensors->sink(tensors->sink_self, &(qdq_chunk){at, n, 1, 0, x});
        return;
    }
    size_t most = tensors->sink ? QDQ_CHUNK_BYTES / y->size : n;
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < most ? n - done : most;
        qdq_move(x_dtype, qdq_at(x, x_dtype, done), y_dtype, qdq_chunks_room(y, at + done, part),
                 part);
    }
}

//---- Copies -----------------------------------------------------------------

typedef struct copy_params {
    qdq_dtype x_dtype, y_dtype;
    size_t count;
} copy_params;

static void run_copy(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const copy_params *p = params;
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    if (stop > p->count) stop = p->count;
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    qdq_move_chunk(p->x_dtype, qdq_at(tensors->x[0], p->x_dtype, at), p->y_dtype, &y, at,
                   stop - at);
    qdq_chunks_end(&y);
}

size_t qdq_lower_copy(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    copy_params *p = QDQ_MEMPOOL_NEW(to->mempool, copy_params);
    if (!p) return 0;
    *p = (copy_params){ctx->inputs[0].type.dtype, ctx->outputs[0].dtype,
                       qdq_shape_count(ctx->outputs[0].shape)};
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run_copy,
                            .units = qdq_move_units(p->count),
                            .cost = p->count,
                            .chunks = true};
    return 1;
}

bool qdq_same_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    *quantized = *ctx->inputs[0].quantized;
    return true;
}

static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};

//---- Reorder ----------------------------------------------------------------

static const qdq_port_desc reorder_inputs[] = {
    {"x", offsetof(qdq_unary_attrs, x), false, QDQ_SET_MOVED}};

static void infer_reorder(qdq_op_context *ctx) { ctx->outputs[0] = ctx->inputs[0].type; }

static const qdq_op_fusion reorder_fusion = {.passes_quantized = qdq_same_quantized};

const qdq_op qdq_op_reorder = {
    .name = "Reorder",
    .summary = "y = x; memory layouts are not part of a graph",
    .attrs_size = sizeof(qdq_unary_attrs),
    .inputs = reorder_inputs,
    .input_count = 1,
    .outputs = outputs,
    .output_count = 1,
    .infer = infer_reorder,
    .lower = qdq_lower_copy,
    .fusion = &reorder_fusion,
};

//---- StaticReshape ----------------------------------------------------------

static const qdq_port_desc reshape_inputs[] = {
    {"x", offsetof(qdq_reshape_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_attr_desc reshape_attrs[] = {
    {"shape", QDQ_ATTR_INTS, offsetof(qdq_reshape_attrs, shape), NULL, "[]",
     "dims of y; one may be -1: it takes the elements that the others leave"},
    {"special_zero", QDQ_ATTR_BOOL, offsetof(qdq_reshape_attrs, special_zero), NULL, QDQ_REQUIRED,
     "a dim of 0 is copied from x; without it 0 is refused"}};

// Returns the size that entry i of `shape` asks for; -1: the rest; 0: wrong, with a finding.
static int64_t dim_of(const qdq_op_context *ctx, const qdq_reshape_attrs *a, int i) {
    qdq_shape x = ctx->inputs[0].type.shape;
    int64_t dim = a->shape.data[i];
    if (dim == -1 || dim > 0) return dim;
    bool copies = dim == 0 && a->special_zero == QDQ_TRUE;
    if (copies && i < x.rank) return x.dims[i];
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "shape",
                         qdq_text(ctx->findings, "has %lld at index %d", (long long)dim, i),
                         copies     ? qdq_text(ctx->findings, "0 for the %d dims of x only", x.rank)
                         : dim == 0 ? "1 or more, or special_zero"
                                    : "1 or more, or one -1");
    return 0;
}

// Fills in all dims except an entry of -1, whose index goes to *open. False with findings.
static bool read_shape(const qdq_op_context *ctx, const qdq_reshape_attrs *a, qdq_shape *y,
                       int *open, int64_t *known) {
    if (a->shape.count > QDQ_MAX_RANK) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "shape",
                             qdq_text(ctx->findings, "has %zu entries", a->shape.count),
                             qdq_text(ctx->findings, "at most %d", QDQ_MAX_RANK));
        return false;
    }
    *y = (qdq_shape){.rank = (int)a->shape.count};
    *open = -1, *known = 1;
    for (int i = 0; i < y->rank; i++) {
        y->dims[i] = dim_of(ctx, a, i);
        if (!y->dims[i]) return false;
        if (y->dims[i] == -1) {
            if (*open >= 0) {
                qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "shape",
                                     qdq_text(ctx->findings, "has -1 at index %d and %d", *open, i),
                                     "one -1 at most");
                return false;
            }
            *open = i;
        } else if (__builtin_mul_overflow(*known, y->dims[i], known)) {
            *known = INT64_MAX;
        }
    }
    return true;
}

static void infer_reshape(qdq_op_context *ctx) {
    const qdq_reshape_attrs *a = ctx->attrs;
    qdq_type x = ctx->inputs[0].type, y = {.dtype = x.dtype};
    int open;
    int64_t known, count = (int64_t)qdq_shape_count(x.shape);
    if (!qdq_require_attr(ctx, "special_zero", a->special_zero != QDQ_UNSET)) return;
    if (!read_shape(ctx, a, &y.shape, &open, &known)) return;
    if (open >= 0 ? count % known != 0 : count != known) {
        qdq_shape wanted = {.rank = (int)a->shape.count};
        for (int i = 0; i < wanted.rank; i++) wanted.dims[i] = a->shape.data[i];
        qdq_report_shape(ctx, "x", x.shape,
                         qdq_text(ctx->findings, "as many elements as the shape %s has",
                                  qdq_shape_text(ctx->findings, wanted)));
        return;
    }
    if (open >= 0) y.shape.dims[open] = count / known;
    ctx->outputs[0] = y;
}

static size_t count_before(qdq_shape shape, int dim) {
    size_t count = 1;
    for (int i = 0; i < dim; i++) count *= (size_t)shape.dims[i];
    return count;
}

// A dim with parameters per entry must survive the reshape: the same size, and as many elements
// before it.
static bool reshape_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    qdq_shape x = ctx->inputs[0].type.shape, y = ctx->outputs[0].shape;
    *quantized = *ctx->inputs[0].quantized;
    if (quantized->axis < 0) return true;
    size_t before = count_before(x, quantized->axis);
    for (int i = 0; i < y.rank; i++)
        if (y.dims[i] == x.dims[quantized->axis] && count_before(y, i) == before) {
            quantized->axis = i;
            return true;
        }
    return false;
}

static const qdq_op_fusion reshape_fusion = {.passes_quantized = reshape_quantized,
                                             .renames = true};

const qdq_op qdq_op_reshape = {
    .name = "StaticReshape",
    .summary = "y = x with other dims; the order of elements stays",
    .attrs_size = sizeof(qdq_reshape_attrs),
    QDQ_OP_TABLES(reshape_inputs, outputs, reshape_attrs),
    .infer = infer_reshape,
    .lower = qdq_lower_copy,
    .fusion = &reshape_fusion,
};

//---- GenIndex ---------------------------------------------------------------

static const qdq_port_desc gen_index_inputs[] = {
    {"x", offsetof(qdq_gen_index_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_port_desc gen_index_outputs[] = {{"y", 0, false, QDQ_SET(INT32)}};
static const qdq_attr_desc gen_index_attrs[] = {{"axis", QDQ_ATTR_INT,
                                                 offsetof(qdq_gen_index_attrs, axis), NULL,
                                                 QDQ_REQUIRED, "dim whose coordinates y has"}};

typedef struct gen_index_params {
    size_t count, dim, inner;  // elements, size of the dim, elements from one index to the next
} gen_index_params;

static void infer_gen_index(qdq_op_context *ctx) {
    const qdq_gen_index_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    if (!qdq_require_attr(ctx, "axis", a->axis.set != 0) ||
        qdq_check_axis(ctx, "axis", a->axis.value, x.rank) < 0)
        return;
    ctx->outputs[0] = (qdq_type){QDQ_INT32, x};
}

static void run_gen_index(const void *params, const qdq_tensors *tensors, size_t begin,
                          size_t end) {
    const gen_index_params *p = params;
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    if (stop > p->count) stop = p->count;
    int32_t *y = tensors->y[0];
    while (at < stop) {
        int32_t index = (int32_t)(at / p->inner % p->dim);
        size_t run = p->inner - at % p->inner;
        size_t last = run < stop - at ? at + run : stop;
        for (; at < last; at++) y[at] = index;
    }
}

static size_t lower_gen_index(const qdq_op_context *ctx, const qdq_lowering *to,
                              qdq_stage *stages) {
    const qdq_gen_index_attrs *a = ctx->attrs;
    gen_index_params *p = QDQ_MEMPOOL_NEW(to->mempool, gen_index_params);
    if (!p) return 0;
    qdq_shape shape = ctx->outputs[0].shape;
    int axis = qdq_check_axis(ctx, "axis", a->axis.value, shape.rank);
    *p = (gen_index_params){qdq_shape_count(shape), (size_t)shape.dims[axis], 1};
    for (int i = axis + 1; i < shape.rank; i++) p->inner *= (size_t)shape.dims[i];
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run_gen_index,
                            .units = qdq_move_units(p->count),
                            .cost = p->count};
    return 1;
}

const qdq_op qdq_op_gen_index = {
    .name = "GenIndex",
    .summary = "y = the coordinate of each element of x on an axis",
    .attrs_size = sizeof(qdq_gen_index_attrs),
    QDQ_OP_TABLES(gen_index_inputs, gen_index_outputs, gen_index_attrs),
    .infer = infer_gen_index,
    .lower = lower_gen_index,
};
