// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin and TopK: the places of the greatest or least elements along an axis. Elements are
// compared as integers in their order, keys, so that every dtype runs the same code. -0 equals 0.
// Equal elements keep the order of their indices.
#include <string.h>

#include "include/qdq/ops/reduce.h"
#include "ops/infer.h"
#include "ops/movement/movement.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/elementary64.h"

#define SET_ORDERED (QDQ_SET_FLOATS | QDQ_SET(FLOAT64) | QDQ_SET_INTS | QDQ_SET_WIDE_INTS)

typedef struct order_params {
    qdq_dtype dtype, y_dtype;
    bool least, nan_is_best, last;
    size_t length, stride;  // of a slice: its elements, and the distance from one to the next
    size_t k;
} order_params;

//---- Keys -------------------------------------------------------------------

// Grows with the double; NaN is greater than every number.
static int64_t key_of_double(double v) {
    uint64_t bits = qdq_double_bits(v + 0.0);  // -0 + 0 is +0
    uint64_t flipped = bits >> 63 ? INT64_MAX : 0;
    int64_t key;
    bits ^= flipped;
    memcpy(&key, &bits, sizeof key);
    return v != v ? INT64_MAX : key;
}

static int64_t key_of(const order_params *p, const char *x) {
    float real;
    double wide;
    int64_t whole = 0;
    int32_t narrow;
    if (p->dtype == QDQ_FLOAT64) {
        memcpy(&wide, x, sizeof wide);
        return key_of_double(wide);
    }
    if (qdq_dtype_is_real(p->dtype)) {
        qdq_decode_float(p->dtype, x, &real, 1);
        return key_of_double((double)real);
    }
    if (qdq_dtype_is_wide(p->dtype)) {
        qdq_decode_wide(p->dtype, x, &whole, 1);
        return p->dtype == QDQ_UINT64 ? whole ^ INT64_MIN : whole;
    }
    qdq_decode_int(p->dtype, x, &narrow, 1);
    return narrow;
}

// The greatest rank is the best: keys, or keys backwards.
static int64_t rank_of(const order_params *p, const void *x, size_t at) {
    int64_t key = key_of(p, (const char *)x + at * qdq_dtype_size(p->dtype));
    bool is_nan = key == INT64_MAX && qdq_dtype_is_real(p->dtype);
    if (is_nan && p->nan_is_best) return INT64_MAX;
    return p->least ? ~key : key;
}

static size_t start_of(const order_params *p, size_t slice) {
    return slice / p->stride * p->length * p->stride + slice % p->stride;
}

//---- ArgMax and ArgMin ------------------------------------------------------

// A unit is a slice.
static void find_best(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const order_params *p = params;
    for (size_t slice = begin; slice < end; slice++) {
        size_t at = start_of(p, slice);
        int64_t best = rank_of(p, tensors->x[0], at), index = 0;
        for (size_t i = 1; i < p->length; i++) {
            int64_t rank = rank_of(p, tensors->x[0], at + i * p->stride);
            if (rank < best || (rank == best && !p->last)) continue;
            best = rank, index = (int64_t)i;
        }
        ((int64_t *)tensors->y[0])[slice] = index;
    }
}

//---- TopK -------------------------------------------------------------------

enum { AT_ONCE = 256 };  // results that a walk over the slice finds

typedef struct found {
    int64_t rank;
    size_t index;
} found;

static bool is_before(found a, found b) {
    return a.rank > b.rank || (a.rank == b.rank && a.index < b.index);
}

// Finds the `most` best elements after `last` (NULL: of all), in their order.
static void find_next(const order_params *p, const void *x, size_t at, const found *last,
                      found *best, size_t most) {
    size_t count = 0;
    for (size_t i = 0; i < p->length; i++) {
        found own = {rank_of(p, x, at + i * p->stride), i};
        if (last && !is_before(*last, own)) continue;
        if (count == most && !is_before(own, best[most - 1])) continue;
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (is_before(best[middle], own))
                low = middle + 1;
            else
                high = middle;
        }
        if (count < most) count++;
        memmove(best + low + 1, best + low, (count - 1 - low) * sizeof *best);
        best[low] = own;
    }
}

// A unit is a slice.
static void find_top(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const order_params *p = params;
    size_t size = qdq_dtype_size(p->dtype), y_size = qdq_dtype_size(p->y_dtype);
    found best[AT_ONCE] = {{0, 0}};
    for (size_t slice = begin; slice < end; slice++) {
        size_t at = start_of(p, slice);
        size_t to = slice / p->stride * p->k * p->stride + slice % p->stride;
        found last = {0};
        for (size_t done = 0, n; done < p->k; done += n) {
            n = p->k - done < AT_ONCE ? p->k - done : AT_ONCE;
            find_next(p, tensors->x[0], at, done ? &last : NULL, best, n);
            last = best[n - 1];
            for (size_t i = 0; i < n; i++, to += p->stride) {
                const char *x = (const char *)tensors->x[0];
                if (tensors->y[0])
                    qdq_move(p->dtype, x + (at + best[i].index * p->stride) * size, p->y_dtype,
                             (char *)tensors->y[0] + to * y_size, 1);
                if (tensors->y[1]) ((int64_t *)tensors->y[1])[to] = (int64_t)best[i].index;
            }
        }
    }
    qdq_scratch_drop(tensors->poison, best, sizeof best);
}

//---- The ops ----------------------------------------------------------------

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, order_params own,
                       int64_t axis, qdq_tensor_op_fn *run, qdq_stage *stages) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    order_params *p = QDQ_MEMPOOL_NEW(to->mempool, order_params);
    if (!p) return 0;
    int dim = (int)(axis < 0 ? axis + shape.rank : axis);
    *p = own;
    p->dtype = ctx->inputs[0].type.dtype;
    p->y_dtype = ctx->outputs[0].dtype;  // of TopK; another one where floats are stored as bfloat16
    p->length = (size_t)shape.dims[dim];
    p->stride = 1;
    for (int i = dim + 1; i < shape.rank; i++) p->stride *= (size_t)shape.dims[i];
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = qdq_shape_count(shape) / p->length,
                            .cost = 4 * qdq_shape_count(shape)};
    return 1;
}

static const qdq_port_desc arg_inputs[] = {{"x", offsetof(qdq_arg_attrs, x), false, SET_ORDERED}};
static const qdq_port_desc arg_outputs[] = {{"y", 0, false, QDQ_SET(INT64)}};
static const qdq_attr_desc arg_attrs[] = {
    {"axis", QDQ_ATTR_INT, offsetof(qdq_arg_attrs, axis), NULL, QDQ_REQUIRED,
     "the dim to look along"},
    {"keep_dims", QDQ_ATTR_BOOL, offsetof(qdq_arg_attrs, keep_dims), NULL, "false",
     "keep this dim, with size 1"},
    {"select_last_index", QDQ_ATTR_BOOL, offsetof(qdq_arg_attrs, select_last_index), NULL, "false",
     "true: the last of equal elements counts; false: the first"}};

static void infer_arg(qdq_op_context *ctx) {
    const qdq_arg_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    ctx->outputs[0] = (qdq_type){.dtype = QDQ_INT64};
    if (!qdq_require_attr(ctx, "axis", a->axis.set != 0)) return;
    int axis = qdq_check_axis(ctx, "axis", a->axis.value, x.rank);
    if (axis < 0) return;
    qdq_shape *y = &ctx->outputs[0].shape;
    for (int i = 0; i < x.rank; i++)
        if (i != axis || a->keep_dims == QDQ_TRUE) y->dims[y->rank++] = i == axis ? 1 : x.dims[i];
}

#define ARG(id, op_name, what, is_least)                                                         \
    static size_t lower_##id(const qdq_op_context *ctx, const qdq_lowering *to,                  \
                             qdq_stage *stages) {                                                \
        const qdq_arg_attrs *a = ctx->attrs;                                                     \
        order_params own = {                                                                     \
            .least = (is_least), .nan_is_best = true, .last = a->select_last_index == QDQ_TRUE}; \
        return lower_as(ctx, to, own, a->axis.value, find_best, stages);                         \
    }                                                                                            \
    const qdq_op qdq_op_##id = {                                                                 \
        .name = (op_name),                                                                       \
        .summary = (what),                                                                       \
        .attrs_size = sizeof(qdq_arg_attrs),                                                     \
        QDQ_OP_TABLES(arg_inputs, arg_outputs, arg_attrs),                                       \
        .infer = infer_arg,                                                                      \
        .lower = lower_##id,                                                                     \
    };

ARG(arg_max, "ArgMax", "y = the index of the greatest x along an axis", false)
ARG(arg_min, "ArgMin", "y = the index of the least x along an axis", true)

static const qdq_port_desc top_inputs[] = {{"x", offsetof(qdq_top_k_attrs, x), false, SET_ORDERED}};
static const qdq_port_desc top_outputs[] = {{"y", 0, false, SET_ORDERED},
                                            {"indices", 0, false, QDQ_SET(INT64)}};
static const qdq_attr_desc top_attrs[] = {
    {"k", QDQ_ATTR_INT, offsetof(qdq_top_k_attrs, k), NULL, QDQ_REQUIRED, "how many"},
    {"axis", QDQ_ATTR_INT, offsetof(qdq_top_k_attrs, axis), NULL, "-1", "the dim to look along"},
    {"largest", QDQ_ATTR_BOOL, offsetof(qdq_top_k_attrs, largest), NULL, "true",
     "the greatest, else the least"}};

static int64_t top_axis(const qdq_top_k_attrs *a) { return a->axis.set != 0 ? a->axis.value : -1; }

static void infer_top(qdq_op_context *ctx) {
    const qdq_top_k_attrs *a = ctx->attrs;
    qdq_type y = ctx->inputs[0].type;
    int axis = qdq_check_axis(ctx, "axis", top_axis(a), y.shape.rank);
    if (!qdq_require_attr(ctx, "k", a->k.set != 0) || axis < 0) return;
    if (a->k.value < 1 || a->k.value > y.shape.dims[axis]) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "k",
                             qdq_text(ctx->findings, "is %lld", (long long)a->k.value),
                             qdq_text(ctx->findings, "1 to %lld, the size of dim %d",
                                      (long long)y.shape.dims[axis], axis));
        return;
    }
    y.shape.dims[axis] = a->k.value;
    ctx->outputs[0] = y;
    ctx->outputs[1] = (qdq_type){QDQ_INT64, y.shape};
}

static size_t lower_top(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_top_k_attrs *a = ctx->attrs;
    order_params own = {.least = a->largest == QDQ_FALSE, .k = (size_t)a->k.value};
    return lower_as(ctx, to, own, top_axis(a), find_top, stages);
}

const qdq_op qdq_op_top_k = {
    .name = "TopK",
    .summary = "y = the k greatest x along an axis, in their order, and where they are",
    .attrs_size = sizeof(qdq_top_k_attrs),
    QDQ_OP_TABLES(top_inputs, top_outputs, top_attrs),
    .infer = infer_top,
    .lower = lower_top,
};
