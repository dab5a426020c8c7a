// SPDX-License-Identifier: Apache-2.0
// Trilu, which keeps one triangle of each matrix of x, and EyeLike, which has ones on a diagonal.
// A row of y is at most three stretches, cut at the diagonal.
#include <string.h>

#include "include/qdq/ops/movement.h"
#include "ops/blocking.h"
#include "ops/movement/movement.h"
#include "runtime/numerics/dtype.h"

// The contents of a stretch of a row.
typedef enum fill { FILL_ZERO, FILL_ONE, FILL_X } fill;

typedef struct diagonal_params {
    qdq_dtype x_dtype, y_dtype;
    size_t count, rows, columns;
    int64_t k;  // the diagonal: column = row + k
    fill before, at, after;
    uint64_t zero, one;  // bits of these elements
} diagonal_params;

static void fill_run(const diagonal_params *p, uint64_t bits, qdq_chunks *y, size_t at, size_t n) {
    size_t size = qdq_dtype_size(p->y_dtype);
    size_t most = y->tensors->sink ? QDQ_CHUNK_BYTES / size : n;
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < most ? n - done : most;
        char *to = qdq_chunks_room(y, at + done, part);
        for (size_t i = 0; i < part; i++) memcpy(to + i * size, &bits, size);
    }
}

// Computes elements `at` to `at + n` of y, all in one stretch.
static void put(const diagonal_params *p, const qdq_tensors *tensors, fill what, qdq_chunks *y,
                size_t at, size_t n) {
    if (n && what == FILL_X)
        qdq_move_chunk(p->x_dtype, qdq_at(tensors->x[0], p->x_dtype, at), p->y_dtype, y, at, n);
    else if (n)
        fill_run(p, what == FILL_ONE ? p->one : p->zero, y, at, n);
}

static size_t clamp(int64_t v, size_t low, size_t high) {
    return v < (int64_t)low ? low : v > (int64_t)high ? high : (size_t)v;
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const diagonal_params *p = params;
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    if (stop > p->count) stop = p->count;
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    while (at < stop) {
        size_t row = at / p->columns, first = row * p->columns, last = first + p->columns;
        int64_t cut = (int64_t)(row % p->rows) + p->k;  // the diagonal's column in this row
        if (last > stop) last = stop;
        size_t from = first + clamp(cut, 0, p->columns);
        size_t to = first + clamp(cut + 1, 0, p->columns);
        from = from < at ? at : from > last ? last : from;
        to = to < from ? from : to > last ? last : to;
        put(p, tensors, p->before, &y, at, from - at);
        put(p, tensors, p->at, &y, from, to - from);
        put(p, tensors, p->after, &y, to, last - to);
        at = last;
    }
    qdq_chunks_end(&y);
}

// k beyond the matrix is as far as its size, so that sums cannot overflow.
static size_t lower_diagonal(const qdq_op_context *ctx, const qdq_lowering *to, int64_t k,
                             fill before, fill at, fill after, qdq_stage *stages) {
    diagonal_params *p = QDQ_MEMPOOL_NEW(to->mempool, diagonal_params);
    qdq_shape y = ctx->outputs[0].shape;
    const qdq_quantized *quantized = ctx->inputs[0].quantized;
    if (!p) return 0;
    int64_t rows = y.dims[y.rank - 2], columns = y.dims[y.rank - 1];
    *p = (diagonal_params){.x_dtype = ctx->inputs[0].type.dtype,
                           .y_dtype = ctx->outputs[0].dtype,
                           .count = qdq_shape_count(y),
                           .rows = (size_t)rows,
                           .columns = (size_t)columns,
                           .k = k < -rows     ? -rows
                                : k > columns ? columns
                                              : k,
                           .before = before,
                           .at = at,
                           .after = after,
                           .one = 1};
    if (qdq_dtype_is_real(p->y_dtype)) qdq_encode_float(p->y_dtype, &(float){1}, &p->one, 1, NULL);
    if (quantized) memcpy(&p->zero, quantized->zero_points, 1);
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = qdq_move_units(p->count),
                            .cost = p->count,
                            .chunks = true};
    return 1;
}

//---- Trilu ------------------------------------------------------------------

static const qdq_port_desc trilu_inputs[] = {
    {"x", offsetof(qdq_trilu_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_port_desc trilu_outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const qdq_attr_desc trilu_attrs[] = {
    {"upper", QDQ_ATTR_BOOL, offsetof(qdq_trilu_attrs, upper), NULL, "true",
     "true: keep elements on and above the diagonal; false: on and below it"},
    {"k", QDQ_ATTR_INT, offsetof(qdq_trilu_attrs, k), NULL, "0",
     "columns from the main diagonal to this one, to the right"}};

static void infer_trilu(qdq_op_context *ctx) {
    qdq_type x = ctx->inputs[0].type;
    if (x.shape.rank < 2)
        qdq_report_shape(ctx, "x", x.shape, "at least 2 dims");
    else
        ctx->outputs[0] = x;
}

static size_t lower_trilu(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_trilu_attrs *a = ctx->attrs;
    int64_t k = a->k.set != 0 ? a->k.value : 0;
    return a->upper == QDQ_FALSE ? lower_diagonal(ctx, to, k, FILL_X, FILL_X, FILL_ZERO, stages)
                                 : lower_diagonal(ctx, to, k, FILL_ZERO, FILL_X, FILL_X, stages);
}

// A 0 is the zero point, which has to be one for all.
static bool trilu_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    *quantized = *ctx->inputs[0].quantized;
    for (size_t i = 1; i < quantized->count; i++)
        if (quantized->zero_points[i] != quantized->zero_points[0]) return false;
    return true;
}

static const qdq_op_fusion trilu_fusion = {.passes_quantized = trilu_quantized};

const qdq_op qdq_op_trilu = {
    .name = "Trilu",
    .summary = "y = x above or below a diagonal, else 0",
    .attrs_size = sizeof(qdq_trilu_attrs),
    QDQ_OP_TABLES(trilu_inputs, trilu_outputs, trilu_attrs),
    .infer = infer_trilu,
    .lower = lower_trilu,
    .fusion = &trilu_fusion,
};

//---- EyeLike ----------------------------------------------------------------

#define SET_EYE \
    (QDQ_SET_FLOATS | QDQ_SET(FLOAT64) | QDQ_SET_INTS | QDQ_SET(BOOL) | QDQ_SET_WIDE_INTS)

static const qdq_port_desc eye_inputs[] = {{"x", offsetof(qdq_eye_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_port_desc eye_outputs[] = {{"y", 0, false, SET_EYE}};
static const qdq_attr_desc eye_attrs[] = {
    {"dtype", QDQ_ATTR_DTYPE, offsetof(qdq_eye_attrs, dtype), NULL, "the dtype of x",
     "of the result"},
    {"k", QDQ_ATTR_INT, offsetof(qdq_eye_attrs, k), NULL, "0",
     "columns from the main diagonal to this one, to the right"}};

static void infer_eye(qdq_op_context *ctx) {
    const qdq_eye_attrs *a = ctx->attrs;
    qdq_type y = ctx->inputs[0].type;
    char set[512];
    if (a->dtype) y.dtype = a->dtype;
    if (y.shape.rank != 2) {
        qdq_report_shape(ctx, "x", y.shape, "2 dims");
    } else if (!qdq_set_has(SET_EYE, y.dtype)) {
        qdq_report_violation(
            ctx, QDQ_RULE_DTYPE_RESULT, "dtype",
            qdq_text(ctx->findings, "is %s", qdq_dtype_name(y.dtype)),
            qdq_text(ctx->findings, "one of: %s", qdq_set_text(SET_EYE, set, sizeof set)));
    } else {
        ctx->outputs[0] = y;
    }
}

static size_t lower_eye(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_eye_attrs *a = ctx->attrs;
    return lower_diagonal(ctx, to, a->k.set != 0 ? a->k.value : 0, FILL_ZERO, FILL_ONE, FILL_ZERO,
                          stages);
}

const qdq_op qdq_op_eye_like = {
    .name = "EyeLike",
    .summary = "y = 1 on a diagonal, else 0, in the shape of x",
    .attrs_size = sizeof(qdq_eye_attrs),
    QDQ_OP_TABLES(eye_inputs, eye_outputs, eye_attrs),
    .infer = infer_eye,
    .lower = lower_eye,
};
