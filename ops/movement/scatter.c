// SPDX-License-Identifier: Apache-2.0
// ScatterElements and ScatterND: y is x, changed at places that indices name.
//
// A unit owns a range of y. It copies this range of x, then walks all indices in order and applies
// the changes that lie in its range: if a place is named twice, the order of the changes does not
// depend on the threads.
#include "include/qdq/ops/movement.h"
#include "ops/movement/indices.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/elementary.h"

enum { IN_X, IN_INDICES, IN_UPDATES };
enum { REDUCED_PART = 64, MOST_UNITS = 64 };  // each thread walks all indices at least once

// The dtypes that reductions compute on. Narrower integers are left out: their elements are whole
// bytes, which would wrap around too late.
#define SET_REDUCED                                                                       \
    (QDQ_SET_FLOATS | QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT16) | QDQ_SET(UINT16) | \
     QDQ_SET(INT32) | QDQ_SET_WIDE_INTS | QDQ_SET(FLOAT64))

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_scatter_attrs, x), false, QDQ_SET_MOVED},
    {"indices", offsetof(qdq_scatter_attrs, indices), false, QDQ_SET_INDICES},
    {"updates", offsetof(qdq_scatter_attrs, updates), false, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const char *const reduction_words[] = {"none", "add", "mul", "max", "min", NULL};
#define REDUCTION_ATTR                                                                       \
    {                                                                                        \
        "reduction", QDQ_ATTR_WORD, offsetof(qdq_scatter_attrs, reduction), reduction_words, \
            "none", "how an update and the element at its place make the new element"        \
    }

//---- Changes ----------------------------------------------------------------

// Exact but for one rounding, so that rounding to float32 gives the bits of float32 arithmetic.
static double reduce_real(qdq_reduction reduction, double a, double b) {
    const double nan = qdq_double_from_bits(UINT64_C(0x7FF8000000000000));
    uint64_t abits = qdq_double_bits(a), bbits = qdq_double_bits(b);
    double y = b;
    if (a != a || b != b) return nan;
    switch (reduction) {
    case QDQ_REDUCTION_ADD: y = a + b; break;
    case QDQ_REDUCTION_MUL: y = a * b; break;
    case QDQ_REDUCTION_MAX: y = a > b ? a : b > a ? b : qdq_double_from_bits(abits & bbits); break;
    case QDQ_REDUCTION_MIN: y = a < b ? a : b < a ? b : qdq_double_from_bits(abits | bbits); break;
    case QDQ_REDUCTION_NONE: break;
    }
    return y != y ? nan : y;
}

// Sums and products wrap around: the low bytes of the 64 bits are the result.
static uint64_t reduce_whole(qdq_reduction reduction, bool is_signed, uint64_t a, uint64_t b) {
    uint64_t flip = is_signed ? UINT64_C(1) << 63 : 0;
    bool less = (a ^ flip) < (b ^ flip);
    switch (reduction) {
    case QDQ_REDUCTION_ADD: return a + b;
    case QDQ_REDUCTION_MUL: return a * b;
    case QDQ_REDUCTION_MAX: return less ? b : a;
    case QDQ_REDUCTION_MIN: return less ? a : b;
    case QDQ_REDUCTION_NONE: break;
    }
    return b;
}

typedef struct scatter_params {
    qdq_dtype x_dtype, u_dtype, y_dtype;
    qdq_reduction reduction;
    size_t count, unit;  // elements of y, and elements that a unit owns
    qdq_places places;
} scatter_params;

static void reduce_reals(const scatter_params *p, const void *updates, void *y, size_t n) {
    double a[REDUCED_PART], b[REDUCED_PART];
    float narrow[REDUCED_PART];
    qdq_decode_wide(p->y_dtype, y, a, n);
    qdq_decode_wide(p->u_dtype, updates, b, n);
    for (size_t i = 0; i < n; i++) {
        a[i] = reduce_real(p->reduction, a[i], b[i]);
        narrow[i] = (float)a[i];
    }
    if (p->y_dtype == QDQ_FLOAT64)
        qdq_encode_wide(p->y_dtype, a, y, n);
    else
        qdq_encode_float(p->y_dtype, narrow, y, n, NULL);
}

static void reduce_wholes(const scatter_params *p, const void *updates, void *y, size_t n) {
    uint64_t a[REDUCED_PART], b[REDUCED_PART];
    qdq_decode_wide(p->y_dtype, y, a, n);
    qdq_decode_wide(p->u_dtype, updates, b, n);
    for (size_t i = 0; i < n; i++)
        a[i] = reduce_whole(p->reduction, p->y_dtype != QDQ_UINT64, a[i], b[i]);
    qdq_encode_wide(p->y_dtype, a, y, n);
}

// Changes n elements of y by n updates, each rounded to the dtype of y.
static void reduce(const scatter_params *p, const char *updates, char *y, size_t n) {
    bool real = qdq_dtype_is_real(p->y_dtype);
    size_t u_size = qdq_dtype_size(p->u_dtype), y_size = qdq_dtype_size(p->y_dtype);
    for (size_t done = 0, count; done < n; done += count) {
        const char *from = updates + done * u_size;
        char *to = y + done * y_size;
        count = n - done < REDUCED_PART ? n - done : REDUCED_PART;
        if (real)
            reduce_reals(p, from, to, count);
        else
            reduce_wholes(p, from, to, count);
    }
}

// Applies the changes of one place that lie in elements `at` to `stop` of y.
static void change(const scatter_params *p, const qdq_tensors *tensors, size_t place, size_t offset,
                   size_t at, size_t stop) {
    size_t n = p->places.n, begin = offset > at ? offset : at;
    size_t end = offset + n < stop ? offset + n : stop;
    if (begin >= end) return;
    const char *update = qdq_at(tensors->x[IN_UPDATES], p->u_dtype, place * n + (begin - offset));
    char *y = qdq_at_mutable(tensors->y[0], p->y_dtype, begin);
    if (p->reduction == QDQ_REDUCTION_NONE)
        qdq_move(p->u_dtype, update, p->y_dtype, y, end - begin);
    else
        reduce(p, update, y, end - begin);
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const scatter_params *p = params;
    size_t at = begin * p->unit, stop = end * p->unit, offsets[QDQ_INDEX_PART];
    if (stop > p->count) stop = p->count;
    qdq_move(p->x_dtype, qdq_at(tensors->x[IN_X], p->x_dtype, at), p->y_dtype,
             qdq_at_mutable(tensors->y[0], p->y_dtype, at), stop - at);
    for (size_t first = 0; first < p->places.count; first += QDQ_INDEX_PART) {
        size_t count = p->places.count - first;
        if (count > QDQ_INDEX_PART) count = QDQ_INDEX_PART;
        p->places.offsets(&p->places, tensors->x[IN_INDICES], first, count, offsets);
        for (size_t i = 0; i < count; i++) change(p, tensors, first + i, offsets[i], at, stop);
    }
}

static size_t lower_places(const qdq_op_context *ctx, const qdq_lowering *to, qdq_places places,
                           qdq_stage *stages) {
    const qdq_scatter_attrs *a = ctx->attrs;
    scatter_params *p = QDQ_MEMPOOL_NEW(to->mempool, scatter_params);
    if (!p) return 0;
    *p = (scatter_params){.x_dtype = ctx->inputs[IN_X].type.dtype,
                          .u_dtype = ctx->inputs[IN_UPDATES].type.dtype,
                          .y_dtype = ctx->outputs[0].dtype,
                          .reduction = a->reduction,
                          .count = qdq_shape_count(ctx->outputs[0].shape),
                          .unit = QDQ_MOVE_UNIT,
                          .places = places};
    if (p->count / MOST_UNITS > p->unit) p->unit = p->count / MOST_UNITS + 1;
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = (p->count + p->unit - 1) / p->unit,
                            .cost = p->count + 4 * places.count};
    return 1;
}

// Checks the rules that both ops share.
static bool check(const qdq_op_context *ctx) {
    const qdq_scatter_attrs *a = ctx->attrs;
    qdq_dtype dtype = ctx->inputs[IN_X].type.dtype;
    if (!qdq_has_input(ctx, IN_INDICES) || !qdq_has_input(ctx, IN_UPDATES) ||
        !qdq_check_same_dtype(ctx, IN_UPDATES))
        return false;
    if (a->reduction == QDQ_REDUCTION_NONE || qdq_set_has(SET_REDUCED, dtype)) return true;
    char set[512];
    qdq_report_violation(
        ctx, QDQ_RULE_ATTR_VALUE, "reduction",
        qdq_text(ctx->findings, "is %s for %s", reduction_words[a->reduction],
                 qdq_dtype_name(dtype)),
        qdq_text(ctx->findings, "none, or one of: %s", qdq_set_text(SET_REDUCED, set, sizeof set)));
    return false;
}

//---- ScatterElements --------------------------------------------------------

static const qdq_attr_desc element_attrs[] = {{"axis", QDQ_ATTR_INT,
                                               offsetof(qdq_scatter_attrs, axis), NULL, "0",
                                               "the dim of x that the indices are for"},
                                              REDUCTION_ATTR};

static int axis_of(const qdq_op_context *ctx) {
    const qdq_scatter_attrs *a = ctx->attrs;
    return qdq_check_axis(ctx, "axis", a->axis.set != 0 ? a->axis.value : 0,
                          ctx->inputs[IN_X].type.shape.rank);
}

static void infer_elements(qdq_op_context *ctx) {
    qdq_type x = ctx->inputs[IN_X].type;
    int axis = axis_of(ctx);
    if (axis < 0 || !check(ctx) || !qdq_check_element_indices(ctx, x.shape, IN_INDICES, axis) ||
        !qdq_check_shape(ctx, IN_UPDATES, ctx->inputs[IN_INDICES].type.shape,
                         "the shape of indices"))
        return;
    ctx->outputs[0] = x;
}

static size_t lower_elements(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_places(ctx, to,
                        qdq_places_of_elements(ctx->inputs[IN_X].type.shape,
                                               &ctx->inputs[IN_INDICES].type, axis_of(ctx)),
                        stages);
}

const qdq_op qdq_op_scatter_elements = {
    .name = "ScatterElements",
    .summary = "y = x with an update for each index, which replaces a coordinate",
    .attrs_size = sizeof(qdq_scatter_attrs),
    QDQ_OP_TABLES(inputs, outputs, element_attrs),
    .looks_at = 1u << IN_INDICES,
    .infer = infer_elements,
    .lower = lower_elements,
};

//---- ScatterND --------------------------------------------------------------

static const qdq_attr_desc nd_attrs[] = {REDUCTION_ATTR};

static void infer_nd(qdq_op_context *ctx) {
    qdq_type x = ctx->inputs[IN_X].type;
    if (!check(ctx) || !qdq_check_tuples(ctx, x.shape, IN_INDICES, 0)) return;
    qdq_shape indices = ctx->inputs[IN_INDICES].type.shape, wanted = {.rank = 0};
    int tuple = (int)indices.dims[indices.rank - 1];
    if (indices.rank - 1 + x.shape.rank - tuple > QDQ_MAX_RANK) {
        qdq_report_shape(
            ctx, "indices", indices,
            qdq_text(ctx->findings, "fewer dims: updates have at most %d", QDQ_MAX_RANK));
        return;
    }
    for (int i = 0; i < indices.rank - 1; i++) wanted.dims[wanted.rank++] = indices.dims[i];
    for (int i = tuple; i < x.shape.rank; i++) wanted.dims[wanted.rank++] = x.shape.dims[i];
    if (!qdq_check_shape(ctx, IN_UPDATES, wanted, "an update for each tuple of indices")) return;
    ctx->outputs[0] = x;
}

static size_t lower_nd(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_places(
        ctx, to,
        qdq_places_of_tuples(ctx->inputs[IN_X].type.shape, &ctx->inputs[IN_INDICES].type, 0),
        stages);
}

const qdq_op qdq_op_scatter_nd = {
    .name = "ScatterND",
    .summary = "y = x with updates of the parts that tuples of indices name",
    .attrs_size = sizeof(qdq_scatter_attrs),
    QDQ_OP_TABLES(inputs, outputs, nd_attrs),
    .looks_at = 1u << IN_INDICES,
    .infer = infer_nd,
    .lower = lower_nd,
};
