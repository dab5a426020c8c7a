// SPDX-License-Identifier: Apache-2.0
// DepthToSpace, SpaceToDepth, Trilu, EyeLike, OneHot and CumSum on shapes larger than every unit
// and block, against their definitions, one element at a time.
#include "tests/ops/movement/large_moves.h"

#define ACROSS(cut) ((int64_t)large_across(&state, (cut)))

static size_t index_in(qdq_shape s, int64_t n, int64_t c, int64_t h, int64_t w) {
    return (size_t)(((n * s.dims[1] + c) * s.dims[2] + h) * s.dims[3] + w);
}

static void depth_to_space(large_graph *c, large_value *v, int64_t b, qdq_depth_mode mode) {
    qdq_shape x = v->numbers.shape, y = x;
    y.dims[1] /= b * b, y.dims[2] *= b, y.dims[3] *= b;
    tensor out = tensor_of(NULL, v->numbers.dtype, y);
    for (size_t at = 0; at < tensor_count(&out); at++) {
        int64_t n = (int64_t)large_index(y, 0, at), d = (int64_t)large_index(y, 1, at);
        int64_t row = (int64_t)large_index(y, 2, at), column = (int64_t)large_index(y, 3, at);
        int64_t pixel = row % b * b + column % b;
        int64_t channel = mode == QDQ_DEPTH_DCR ? pixel * y.dims[1] + d : d * b * b + pixel;
        moves_copy(&out, at, &v->numbers, index_in(x, n, channel, row / b, column / b));
    }
    qdq_blocks_attrs attrs = {.blocksize = QDQ_INT(b), .mode = mode};
    large_replace(v, qdq_depth_to_space(c->graph, v->value, attrs), out);
}

static void space_to_depth(large_graph *c, large_value *v, int64_t b) {
    qdq_shape x = v->numbers.shape, y = x;
    y.dims[1] *= b * b, y.dims[2] /= b, y.dims[3] /= b;
    tensor out = tensor_of(NULL, v->numbers.dtype, y);
    for (size_t at = 0; at < tensor_count(&out); at++) {
        int64_t n = (int64_t)large_index(x, 0, at), d = (int64_t)large_index(x, 1, at);
        int64_t row = (int64_t)large_index(x, 2, at), column = (int64_t)large_index(x, 3, at);
        int64_t channel = (row % b * b + column % b) * x.dims[1] + d;
        moves_copy(&out, index_in(y, n, channel, row / b, column / b), &v->numbers, at);
    }
    large_replace(
        v, qdq_space_to_depth(c->graph, v->value, (qdq_blocks_attrs){.blocksize = QDQ_INT(b)}),
        out);
}

static void trilu(large_graph *c, large_value *v, bool upper, int64_t k) {
    qdq_shape x = v->numbers.shape;
    tensor out = large_like(&v->numbers, v->numbers.dtype);
    memset(out.data, 0, tensor_count(&out) * qdq_dtype_size(out.dtype));
    for (size_t at = 0; at < tensor_count(&out); at++) {
        int64_t column = (int64_t)large_index(x, x.rank - 1, at);
        int64_t cut = (int64_t)large_index(x, x.rank - 2, at) + k;
        if (upper ? column >= cut : column <= cut) moves_copy(&out, at, &v->numbers, at);
    }
    qdq_trilu_attrs attrs = {.upper = upper ? QDQ_TRUE : QDQ_FALSE, .k = QDQ_INT(k)};
    large_replace(v, qdq_trilu(c->graph, v->value, attrs), out);
}

static void eye_like(large_graph *c, const large_value *v, int64_t k, qdq_dtype dtype) {
    qdq_shape x = v->numbers.shape;
    tensor out = tensor_of(NULL, dtype, x);
    for (size_t at = 0; at < tensor_count(&out); at++) {
        bool one = (int64_t)(at % (size_t)x.dims[1]) == (int64_t)(at / (size_t)x.dims[1]) + k;
        if (qdq_dtype_size(dtype) < 8)
            large_put(&out, at, one);
        else if (dtype == QDQ_FLOAT64)
            ((double *)out.data)[at] = one;
        else
            ((uint64_t *)out.data)[at] = one;
    }
    qdq_eye_attrs attrs = {.dtype = dtype, .k = QDQ_INT(k)};
    large_output(c, qdq_eye_like(c->graph, v->value, attrs), out);
}

static void images_cross_their_blocks(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 9; i++) {
        uint64_t state = large_state(i);
        int64_t b = 2 + (int64_t)large_pick(&state, 3), wide = i % 2 ? 3 : ACROSS(64);
        large_graph c;
        qdq_shape x = QDQ_SHAPE(2, b * b * (i % 2 ? 40 : 3), b * 2, b * wide);
        large_value v = moves_begin(&c, &state, "image", x, moves_dtype(&state));
        if (i % 3 == 0) depth_to_space(&c, &v, b, QDQ_DEPTH_DCR);
        if (i % 3 == 1) depth_to_space(&c, &v, b, QDQ_DEPTH_CRD);
        space_to_depth(&c, &v, b);
        moves_finish(&c, &state, v, i);
    }
}

static void triangles_cross_their_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {QDQ_SHAPE(3, ACROSS(QDQ_MOVE_UNIT / 70), 70),
                                    QDQ_SHAPE(9, ACROSS(QDQ_MOVE_UNIT / 4)),
                                    QDQ_SHAPE(ACROSS(QDQ_MOVE_UNIT / 3), 3)};
        qdq_shape x = shapes[i % 3];
        int64_t k = (int64_t)large_pick(&state, 90) - 45;
        large_graph c;
        large_value v = moves_begin(&c, &state, "triangle", x, moves_dtype(&state));
        static const qdq_dtype ones[] = {QDQ_FLOAT32, QDQ_INT8, QDQ_UINT64, QDQ_FLOAT64};
        if (i % 3) eye_like(&c, &v, i < 6 ? k : 0, ones[i % 4]);
        trilu(&c, &v, i % 2, i == 11 ? INT64_MIN : k);
        moves_finish(&c, &state, v, i);
    }
}

static void one_hot_crosses_its_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 6; i++) {
        uint64_t state = large_state(i);
        qdq_shape x = QDQ_SHAPE(3, ACROSS(QDQ_MOVE_UNIT / 30)), y = {.rank = 3};
        int axis = (int)(i % 3), depth = 10;
        tensor *t, *values;
        large_graph c;
        large_graph_begin(&c, "OneHot");
        qdq_value v = large_input(&c, QDQ_INT32, x, &t);
        qdq_value pair = large_input(&c, QDQ_UINT8, QDQ_SHAPE(2), &values);
        moves_fill(values, &state, true);
        for (size_t at = 0; at < tensor_count(t); at++)
            ((int32_t *)t->data)[at] = (int32_t)large_pick(&state, 24) - 12;
        for (int d = 0; d < 3; d++) y.dims[d] = d == axis ? depth : x.dims[d - (d > axis)];
        tensor out = tensor_of(NULL, QDQ_UINT8, y);
        for (size_t at = 0; at < tensor_count(&out); at++) {
            size_t from = 0;
            for (int d = 0; d < 3; d++)
                if (d != axis) from = from * (size_t)y.dims[d] + large_index(y, d, at);
            int32_t index = ((int32_t *)t->data)[from], place = (int32_t)large_index(y, axis, at);
            moves_copy(&out, at, values, index == place || index + depth == place);
        }
        qdq_one_hot_attrs attrs = {.depth = QDQ_INT(depth), .axis = QDQ_INT(axis - 3)};
        large_output(&c, qdq_one_hot(c.graph, v, pair, attrs), out);
        c.short_numbers = true;
        large_graph_check(&c, i);
    }
}

static void fill_sums(tensor *x, uint64_t *state) {
    if (qdq_dtype_is_real(x->dtype) && x->dtype != QDQ_FLOAT64)
        large_fill_reals(x, state);
    else
        moves_fill(x, state, true);
    for (size_t i = 0; x->dtype == QDQ_FLOAT64 && i < tensor_count(x); i++)
        ((double *)x->data)[i] = (double)(int64_t)((uint64_t *)x->data)[i] * 0x1p-60;
}

// Adds elements one by one: `count` elements from `from` on, `step` apart, to element `at` of y.
static void add_up(const tensor *x, size_t from, ptrdiff_t step, size_t count, tensor *y,
                   size_t at) {
    size_t size = qdq_dtype_size(x->dtype);
    float sum = count ? -0.0f : 0.0f;
    double wide = count ? -0.0 : 0.0;
    uint64_t whole = 0;
    for (; count; count--, from += (size_t)step) {
        uint64_t bits = 0;
        memcpy(&bits, (char *)x->data + from * size, size);
        whole += bits;
        if (x->dtype == QDQ_FLOAT64)
            wide += ((double *)x->data)[from];
        else if (qdq_dtype_is_real(x->dtype))
            sum += (float)tensor_at(x, from);
    }
    if (x->dtype == QDQ_FLOAT64)
        ((double *)y->data)[at] = wide;
    else if (qdq_dtype_is_real(x->dtype))
        large_put(y, at, (double)sum);
    else
        memcpy((char *)y->data + at * size, &whole, size);
}

// The sum of every element that takes part, in order, one addition each.
static void cum_sums_cross_their_blocks(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 48; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {QDQ_SHAPE(3, ACROSS(QDQ_CUM_SUM_LANES)),
                                    QDQ_SHAPE(ACROSS(QDQ_CUM_SUM_LANES), 5),
                                    QDQ_SHAPE(2, 7, ACROSS(QDQ_CUM_SUM_LANES))};
        static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_INT32,  QDQ_BFLOAT16, QDQ_FLOAT16,
                                           QDQ_UINT32,  QDQ_UINT64, QDQ_INT64,    QDQ_FLOAT64};
        qdq_shape shape = shapes[i % 3];
        int axis = (int)(i / 3 % 2);
        bool exclusive = i % 2, reverse = i / 2 % 2;
        tensor *x;
        large_graph c;
        large_graph_begin(&c, "CumSum");
        qdq_value v = large_input(&c, dtypes[i / 6], shape, &x);
        fill_sums(x, &state);
        tensor out = tensor_of(NULL, x->dtype, shape);
        size_t stride = 1, dim = (size_t)shape.dims[axis];
        for (int d = axis + 1; d < shape.rank; d++) stride *= (size_t)shape.dims[d];
        for (size_t at = 0; at < tensor_count(&out); at++) {
            size_t index = large_index(shape, axis, at), base = at - index * stride;
            size_t count = (reverse ? dim - index : index + 1) - exclusive;
            size_t from = base + (reverse ? dim - 1 : 0) * stride;
            add_up(x, from, reverse ? -(ptrdiff_t)stride : (ptrdiff_t)stride, count, &out, at);
        }
        qdq_cum_sum_attrs attrs = {.axis = QDQ_INT(axis),
                                   .exclusive = exclusive ? QDQ_TRUE : QDQ_FALSE,
                                   .reverse = reverse ? QDQ_TRUE : QDQ_FALSE};
        large_output(&c, qdq_cum_sum(c.graph, v, attrs), out);
        large_graph_check(&c, i);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_cross_their_blocks),
        cmocka_unit_test(triangles_cross_their_units),
        cmocka_unit_test(one_hot_crosses_its_units),
        cmocka_unit_test(cum_sums_cross_their_blocks),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
