// SPDX-License-Identifier: Apache-2.0
// For tests of large shapes: random elementwise and quantizing nodes that follow an op and are
// fused with it, and the results they must give.
#ifndef QDQ_TESTS_OPS_LARGE_LINKS_H
#define QDQ_TESTS_OPS_LARGE_LINKS_H

#include "large_graph.h"

//---- Shapes -----------------------------------------------------------------

// A random shape that broadcasts to `shape`: some dims become 1, some leading dims are dropped.
static inline qdq_shape large_broadcast(uint64_t *state, qdq_shape shape) {
    if (shape.rank == 0) return shape;
    size_t keep = large_pick(state, (size_t)1 << shape.rank);
    int from = large_pick(state, 3) ? 0 : (int)large_pick(state, (size_t)shape.rank);
    qdq_shape out = {.rank = shape.rank - from};
    for (int i = 0; i < out.rank; i++) out.dims[i] = keep >> i & 1 ? shape.dims[from + i] : 1;
    return out;
}

// Which element of a broadcast operand goes with element `at` of the result.
static inline size_t large_broadcast_at(qdq_shape operand, qdq_shape shape, size_t at) {
    size_t where = 0, stride = 1;
    for (int i = 1; i <= operand.rank; i++) {
        size_t dim = (size_t)operand.dims[operand.rank - i];
        size_t index = at % (size_t)shape.dims[shape.rank - i];
        at /= (size_t)shape.dims[shape.rank - i];
        where += (dim == 1 ? 0 : index) * stride;
        stride *= dim;
    }
    return where;
}

// The index on one dim of element `at`.
static inline size_t large_index(qdq_shape shape, int dim, size_t at) {
    for (int i = shape.rank - 1; i > dim; i--) at /= (size_t)shape.dims[i];
    return at % (size_t)shape.dims[dim];
}

//---- Links ------------------------------------------------------------------

// A value of the graph and the elements it must have.
typedef struct large_value {
    qdq_value value;
    tensor numbers;
} large_value;

static inline tensor large_like(const tensor *t, qdq_dtype dtype) {
    return tensor_of(NULL, dtype, t->shape);
}

static inline void large_replace(large_value *v, qdq_value value, tensor numbers) {
    free(v->numbers.data);
    *v = (large_value){value, numbers};
}

static inline void large_relu(large_graph *c, large_value *v) {
    tensor y = large_like(&v->numbers, v->numbers.dtype);
    for (size_t i = 0; i < tensor_count(&y); i++) {
        double x = tensor_at(&v->numbers, i);
        large_put(&y, i, x <= 0 ? 0 : x);
    }
    large_replace(v, qdq_relu(c->graph, v->value, (qdq_unary_attrs){0}), y);
}

static inline void large_cast(large_graph *c, large_value *v, qdq_dtype dtype) {
    tensor y = large_like(&v->numbers, dtype);
    for (size_t i = 0; i < tensor_count(&y); i++) large_put(&y, i, tensor_at(&v->numbers, i));
    large_replace(v, qdq_cast(c->graph, v->value, (qdq_cast_attrs){.dtype = dtype}), y);
}

// Add, or Subtract with the operand first.
static inline void large_sum(large_graph *c, uint64_t *state, large_value *v, bool subtract) {
    tensor *operand, y = large_like(&v->numbers, v->numbers.dtype);
    qdq_shape shape = large_broadcast(state, y.shape);
    qdq_dtype dtype = large_pick(state, 2) ? y.dtype : QDQ_BFLOAT16;
    qdq_value b = large_input(c, dtype, shape, &operand);
    if (c->short_numbers)
        large_fill_whole(operand, state, 16);
    else
        large_fill_reals(operand, state);
    for (size_t i = 0; i < tensor_count(&y); i++) {
        float left = (float)tensor_at(&v->numbers, i);
        float right = (float)tensor_at(operand, large_broadcast_at(shape, y.shape, i));
        float sum = subtract ? right - left : left + right;
        large_put(&y, i, (double)sum);
    }
    qdq_binary_attrs attrs = {.dtype = y.dtype};
    large_replace(v,
                  subtract ? qdq_subtract(c->graph, b, v->value, attrs)
                           : qdq_add(c->graph, v->value, b, attrs),
                  y);
}

// Scales are powers of two near the one that spreads the numbers over all codes.
static inline void large_scales(uint64_t *state, const tensor *x, float *scales, size_t count) {
    double most = 0;
    for (size_t i = 0; i < tensor_count(x); i++) {
        double size = fabs(tensor_at(x, i));
        if (isfinite(size) && size > most) most = size;
    }
    int exponent = most > 0x1p-100 ? ilogb(most) - 7 : 0;
    for (size_t i = 0; i < count; i++)
        scales[i] = (float)ldexp(1, exponent + (int)large_pick(state, 3));
}

// Quantize, per tensor or along an axis, sometimes followed by Dequantize.
static inline void large_quantize(large_graph *c, uint64_t *state, large_value *v) {
    const tensor *x = &v->numbers;
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_UINT8, QDQ_INT4, QDQ_UINT4};
    tensor codes = large_like(x, dtypes[large_pick(state, 4)]);
    bool per_channel = large_pick(state, 2);
    int axis = (int)large_pick(state, (size_t)x->shape.rank), least = product_least(codes.dtype);
    int most = least + product_codes(codes.dtype) - 1;
    size_t count = per_channel ? (size_t)x->shape.dims[axis] : 1;
    float *scales = oracle_memory(count * sizeof *scales);
    double *zps = oracle_memory(count * sizeof *zps);
    large_scales(state, x, scales, count);
    bool one_zero = large_pick(state, 2);  // one zero point for all channels
    for (size_t i = 0; i < count; i++)
        zps[i] =
            one_zero && i ? zps[0] : least + (double)large_pick(state, (size_t)(most - least) + 1);
    tensor reals = large_like(x, QDQ_FLOAT32);
    for (size_t i = 0; i < tensor_count(x); i++) {
        size_t p = per_channel ? large_index(x->shape, axis, i) : 0;
        double real = tensor_at(x, i) / (double)scales[p], code = rint(real) + zps[p];
        if (isnan(real)) code = least;
        code = code < least ? least : code > most ? most : code;
        large_put(&codes, i, code);
        large_put(&reals, i, (code - zps[p]) * (double)scales[p]);
    }
    qdq_quantize_attrs attrs = {.qtype = per_channel ? QDQ_PER_CHANNEL : QDQ_PER_TENSOR,
                                .axis = QDQ_INT(axis),
                                .scales = {scales, count, !per_channel},
                                .zps = {zps, one_zero ? 1 : count, !per_channel},
                                .dtype = codes.dtype};
    large_replace(v, qdq_quantize(c->graph, v->value, attrs), codes);
    attrs.dtype = QDQ_FLOAT32;
    if (!c->short_numbers && large_pick(state, 2))
        large_replace(v, qdq_dequantize(c->graph, v->value, attrs), reals);
    else
        free(reals.data);
    free(scales), free(zps);
}

static inline bool large_is_float(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16;
}

// Adds `least` to three links after the value and makes the last one an output, sometimes the value
// itself as well.
static inline void large_links(large_graph *c, uint64_t *state, large_value v, size_t least) {
    static const qdq_dtype casts[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT32, QDQ_FLOAT16};
    size_t links = least + large_pick(state, 4 - least);
    if (links && !large_pick(state, 3)) {
        tensor copy = large_like(&v.numbers, v.numbers.dtype);
        memcpy(copy.data, v.numbers.data, tensor_count(&copy) * qdq_dtype_size(copy.dtype));
        large_output(c, v.value, copy);
    }
    for (size_t i = 0; i < links && large_is_float(v.numbers.dtype); i++) {
        size_t kind = large_pick(state, 6);
        if (kind == 0)
            large_relu(c, &v);
        else if (kind < 3)
            large_sum(c, state, &v, kind == 2);
        else if (kind == 3 && !c->short_numbers)
            large_cast(c, &v, casts[large_pick(state, 4)]);
        else if (v.numbers.shape.rank > 0)
            large_quantize(c, state, &v);
    }
    large_output(c, v.value, v.numbers);
}

#endif
