// SPDX-License-Identifier: Apache-2.0
// ReduceMaxInteger, ReduceMinInteger and ReduceSumInteger: REDUCE_MAX, REDUCE_MIN and REDUCE_SUM of
// TOSA 1.0 on integers, along one dim. A unit is a block of neighbouring elements of y.
#include "include/qdq/ops/integer.h"
#include "ops/chunks.h"
#include "ops/infer.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/integer_one.h"

enum { X, BLOCK = 256 };

#define SIGNED (QDQ_SET(INT8) | QDQ_SET(INT16) | QDQ_SET(INT32))

typedef qdq_reduce_integer_attrs attrs;

static const qdq_port_desc inputs[] = {{"x", offsetof(attrs, x), false, SIGNED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, SIGNED}};
static const qdq_port_desc sum_inputs[] = {{"x", offsetof(attrs, x), false, QDQ_SET(INT32)}};
static const qdq_port_desc sum_outputs[] = {{"y", 0, false, QDQ_SET(INT32)}};
static const qdq_attr_desc attr_descs[] = {
    {"axis", QDQ_ATTR_INT, offsetof(attrs, axis), NULL, QDQ_REQUIRED, "the dim to reduce"},
    {"keep_dims", QDQ_ATTR_BOOL, offsetof(attrs, keep_dims), NULL, "false",
     "keep the reduced dim, with size 1"}};

static void infer(qdq_op_context *ctx) {
    const attrs *a = ctx->attrs;
    qdq_type x = ctx->inputs[X].type, y = {.dtype = x.dtype};
    if (!qdq_require_attr(ctx, "axis", a->axis.set != 0)) return;
    int axis = qdq_check_axis(ctx, "axis", a->axis.value, x.shape.rank);
    if (axis < 0) return;
    for (int i = 0; i < x.shape.rank; i++)
        if (i != axis || a->keep_dims == QDQ_TRUE)
            y.shape.dims[y.shape.rank++] = i == axis ? 1 : x.shape.dims[i];
    ctx->outputs[0] = y;
}

//---- Slices -----------------------------------------------------------------

typedef int32_t reduce_fn(int32_t a, int32_t b);

typedef struct reduce_params {
    reduce_fn *fn;
    qdq_dtype dtype;
    size_t length, stride, count;  // of a slice: elements and their distance; elements of y
} reduce_params;

static int32_t slice_of(const reduce_params *p, const void *x, size_t at) {
    size_t size = qdq_dtype_size(p->dtype);
    const char *from = x;
    int32_t y = 0, element;
    from += (at / p->stride * p->length * p->stride + at % p->stride) * size;
    qdq_decode_int(p->dtype, from, &y, 1);
    for (size_t i = 1; i < p->length; i++) {
        qdq_decode_int(p->dtype, from + i * p->stride * size, &element, 1);
        y = p->fn(y, element);
    }
    return y;
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const reduce_params *p = params;
    int32_t results[BLOCK];
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->dtype);
    for (size_t unit = begin; unit < end; unit++) {
        size_t at = unit * BLOCK, n = p->count - at < BLOCK ? p->count - at : BLOCK;
        for (size_t i = 0; i < n; i++) results[i] = slice_of(p, tensors->x[X], at + i);
        qdq_encode_int(p->dtype, results, qdq_chunks_room(&y, at, n), n);
    }
    qdq_chunks_end(&y);
}

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages,
                       reduce_fn *fn) {
    const attrs *a = ctx->attrs;
    qdq_shape shape = ctx->inputs[X].type.shape;
    reduce_params *p = QDQ_MEMPOOL_NEW(to->mempool, reduce_params);
    if (!p) return 0;
    int axis = (int)(a->axis.value < 0 ? a->axis.value + shape.rank : a->axis.value);
    *p = (reduce_params){.fn = fn,
                         .dtype = ctx->inputs[X].type.dtype,
                         .length = (size_t)shape.dims[axis],
                         .stride = 1,
                         .count = qdq_shape_count(ctx->outputs[0].shape)};
    for (int i = axis + 1; i < shape.rank; i++) p->stride *= (size_t)shape.dims[i];
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = (p->count + BLOCK - 1) / BLOCK,
                            .cost = 4 * qdq_shape_count(shape),
                            .chunks = true};
    return 1;
}

#define REDUCE(id, op_name, what, function, from, to_table)                     \
    static size_t lower_##id(const qdq_op_context *ctx, const qdq_lowering *to, \
                             qdq_stage *stages) {                               \
        return lower_as(ctx, to, stages, function);                             \
    }                                                                           \
    const qdq_op qdq_op_##id = {                                                \
        .name = (op_name),                                                      \
        .summary = (what),                                                      \
        .attrs_size = sizeof(attrs),                                            \
        QDQ_OP_TABLES(from, to_table, attr_descs),                              \
        .infer = infer,                                                         \
        .lower = lower_##id,                                                    \
    };

REDUCE(reduce_max_integer, "ReduceMaxInteger", "y = the greatest x along a dim", qdq_greater_one,
       inputs, outputs)
REDUCE(reduce_min_integer, "ReduceMinInteger", "y = the least x along a dim", qdq_lesser_one,
       inputs, outputs)
REDUCE(reduce_sum_integer, "ReduceSumInteger", "y = the sum of x along a dim, int32",
       qdq_wrapping_sum_one, sum_inputs, sum_outputs)
