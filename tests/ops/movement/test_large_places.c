// SPDX-License-Identifier: Apache-2.0
// The Gather and Scatter ops on shapes larger than every unit, chunk and part, against their
// definitions, one element at a time. Some indices are out of range, and count as the nearest.
#include "ops/movement/indices.h"
#include "tests/ops/movement/large_moves.h"

//---- Indices ----------------------------------------------------------------

static int64_t raw_index(const tensor *t, size_t i) {
    if (t->dtype == QDQ_INT32) return ((int32_t *)t->data)[i];
    if (t->dtype == QDQ_UINT32) return ((uint32_t *)t->data)[i];
    int64_t index = ((int64_t *)t->data)[i];
    return t->dtype == QDQ_UINT64 && index < 0 ? INT64_MAX : index;
}

static size_t index_of(const tensor *t, size_t i, int64_t dim) {
    int64_t index = raw_index(t, i);
    if (index < 0) index += dim;
    return (size_t)(index < 0 ? 0 : index >= dim ? dim - 1 : index);
}

// An input of indices; element i is for dims[i % count].
static qdq_value indices(large_graph *c, uint64_t *state, qdq_shape shape, const int64_t *dims,
                         size_t count, tensor **t) {
    static const qdq_dtype dtypes[] = {QDQ_INT32, QDQ_INT64, QDQ_UINT32, QDQ_UINT64};
    qdq_dtype dtype = dtypes[large_pick(state, UNIT_COUNT(dtypes))];
    qdq_value v = large_input(c, dtype, shape, t);
    for (size_t i = 0; i < tensor_count(*t); i++) {
        int64_t dim = dims[i % count], index = (int64_t)large_pick(state, 2 * (size_t)dim) - dim;
        bool beyond = large_pick(state, 50) == 0,
             has_sign = dtype == QDQ_INT32 || dtype == QDQ_INT64;
        if (index < 0 && !has_sign) index += dim;
        if (beyond) index = large_pick(state, 2) ? 3 * dim : INT32_MIN;
        memcpy((char *)(*t)->data + i * qdq_dtype_size(dtype), &index, qdq_dtype_size(dtype));
    }
    return v;
}

static size_t product(const int64_t *dims, int from, int to) {
    size_t n = 1;
    for (int i = from; i < to; i++) n *= (size_t)dims[i];
    return n;
}

//---- Gather -----------------------------------------------------------------

static void gather(large_graph *c, uint64_t *state, large_value *v, int axis, qdq_shape wanted) {
    qdq_shape x = v->numbers.shape, y = {.rank = 0};
    tensor *t;
    qdq_value i = indices(c, state, wanted, &x.dims[axis], 1, &t);
    for (int d = 0; d < axis; d++) y.dims[y.rank++] = x.dims[d];
    for (int d = 0; d < wanted.rank; d++) y.dims[y.rank++] = wanted.dims[d];
    for (int d = axis + 1; d < x.rank; d++) y.dims[y.rank++] = x.dims[d];
    size_t inner = product(x.dims, axis + 1, x.rank), count = tensor_count(t);
    tensor out = tensor_of(NULL, v->numbers.dtype, y);
    for (size_t at = 0; at < tensor_count(&out); at++) {
        size_t outer = at / inner / count, index = index_of(t, at / inner % count, x.dims[axis]);
        moves_copy(&out, at, &v->numbers,
                   (outer * (size_t)x.dims[axis] + index) * inner + at % inner);
    }
    qdq_gather_attrs attrs = {.axis = QDQ_INT(axis)};
    large_replace(v, qdq_gather(c->graph, v->value, i, attrs), out);
}

// The element of t that element `at` of indices on an axis names.
static size_t element_of(qdq_shape t, const tensor *indices, int axis, size_t at) {
    size_t from = 0;
    for (int d = 0; d < t.rank; d++)
        from = from * (size_t)t.dims[d] +
               (d == axis ? index_of(indices, at, t.dims[d]) : large_index(indices->shape, d, at));
    return from;
}

static qdq_shape element_shape(uint64_t *state, qdq_shape x, int axis) {
    for (int d = 0; d < x.rank; d++)
        if (d == axis)
            x.dims[d] = 1 + (int64_t)large_pick(state, (size_t)x.dims[d] + 3);
        else if (large_pick(state, 2))
            x.dims[d] = 1 + (int64_t)large_pick(state, (size_t)x.dims[d]);
    return x;
}

static void gather_elements(large_graph *c, uint64_t *state, large_value *v, int axis) {
    qdq_shape x = v->numbers.shape;
    tensor *t;
    qdq_value i = indices(c, state, element_shape(state, x, axis), &x.dims[axis], 1, &t);
    tensor out = tensor_of(NULL, v->numbers.dtype, t->shape);
    for (size_t at = 0; at < tensor_count(&out); at++)
        moves_copy(&out, at, &v->numbers, element_of(x, t, axis, at));
    qdq_gather_attrs attrs = {.axis = QDQ_INT(axis - x.rank)};
    large_replace(v, qdq_gather_elements(c->graph, v->value, i, attrs), out);
}

// The first element of the part of t that a tuple names, within the dims from `batch` on.
static size_t part_of(qdq_shape t, const tensor *indices, size_t place, int batch, int tuple) {
    size_t from = 0;
    for (int k = 0; k < tuple; k++) {
        int64_t dim = t.dims[batch + k];
        from = from * (size_t)dim + index_of(indices, place * (size_t)tuple + (size_t)k, dim);
    }
    return from * product(t.dims, batch + tuple, t.rank);
}

static void gather_nd(large_graph *c, uint64_t *state, large_value *v, int batch, int tuple,
                      int64_t count) {
    qdq_shape x = v->numbers.shape, shape = {.rank = batch + 2};
    memcpy(shape.dims, x.dims, (size_t)batch * sizeof *shape.dims);
    shape.dims[batch] = count, shape.dims[batch + 1] = tuple;
    tensor *t;
    qdq_value i = indices(c, state, shape, &x.dims[batch], (size_t)tuple, &t);
    qdq_shape y = {.rank = batch + 1};
    memcpy(y.dims, shape.dims, sizeof y.dims);
    for (int d = batch + tuple; d < x.rank; d++) y.dims[y.rank++] = x.dims[d];
    size_t inner = product(x.dims, batch + tuple, x.rank);
    size_t batch_size = product(x.dims, batch, x.rank);
    tensor out = tensor_of(NULL, v->numbers.dtype, y);
    for (size_t at = 0; at < tensor_count(&out); at++) {
        size_t place = at / inner;
        moves_copy(&out, at, &v->numbers,
                   place / (size_t)count * batch_size + part_of(x, t, place, batch, tuple) +
                       at % inner);
    }
    qdq_gather_nd_attrs attrs = {.batch_dims = QDQ_INT(batch)};
    large_replace(v, qdq_gather_nd(c->graph, v->value, i, attrs), out);
}

//---- Scatter ----------------------------------------------------------------

// An integer of any dtype, whose results wrap around.
static uint64_t reduced(qdq_dtype dtype, uint64_t a, uint64_t b, qdq_reduction reduction) {
    bool less = dtype == QDQ_INT64 ? (int64_t)a < (int64_t)b : a < b;
    switch (reduction) {
    case QDQ_REDUCTION_ADD: return a + b;
    case QDQ_REDUCTION_MUL: return a * b;
    case QDQ_REDUCTION_MAX: return less ? b : a;
    default: return less ? a : b;
    }
}

static double reduced_real(double a, double b, qdq_reduction reduction) {
    switch (reduction) {
    case QDQ_REDUCTION_ADD: return a + b;
    case QDQ_REDUCTION_MUL: return a * b;
    case QDQ_REDUCTION_MAX: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

static bool is_wide(qdq_dtype dtype) {
    return dtype == QDQ_UINT32 || dtype == QDQ_INT64 || dtype == QDQ_UINT64 || dtype == QDQ_FLOAT64;
}

static void change_wide(tensor *y, size_t to, const tensor *u, size_t from,
                        qdq_reduction reduction) {
    size_t size = qdq_dtype_size(y->dtype);
    uint64_t a = 0, b = 0;
    double x, z;
    memcpy(&a, (char *)y->data + to * size, size);
    memcpy(&b, (char *)u->data + from * size, size);
    if (y->dtype == QDQ_FLOAT64) {
        memcpy(&x, &a, size), memcpy(&z, &b, size);
        double real = isnan(x) || isnan(z) ? (double)NAN : reduced_real(x, z, reduction);
        memcpy(&a, &real, size);
        if (isnan(real)) a = UINT64_C(0x7FF8000000000000);
    } else {
        a = reduced(y->dtype, a, b, reduction);
    }
    memcpy((char *)y->data + to * size, &a, size);
}

// Floats are whole numbers that all dtypes hold, so that sums of a few are exact; products are
// tried on wide dtypes only.
static void change(tensor *y, size_t to, const tensor *u, size_t from, qdq_reduction reduction) {
    if (reduction == QDQ_REDUCTION_NONE) {
        moves_copy(y, to, u, from);
        return;
    }
    if (is_wide(y->dtype))
        change_wide(y, to, u, from, reduction);
    else
        large_put(y, to, reduced_real(tensor_at(y, to), tensor_at(u, from), reduction));
}

static qdq_reduction reduction_of(uint64_t *state, const large_graph *c, qdq_dtype dtype) {
    static const qdq_reduction some[] = {QDQ_REDUCTION_ADD, QDQ_REDUCTION_MAX, QDQ_REDUCTION_MIN,
                                         QDQ_REDUCTION_MUL};
    bool can = is_wide(dtype) || (c->short_numbers && dtype == QDQ_FLOAT32);
    if (!can || !large_pick(state, 2)) return QDQ_REDUCTION_NONE;
    return some[large_pick(state, is_wide(dtype) ? 4 : 3)];
}

static tensor copy_of(const tensor *x) {
    tensor y = large_like(x, x->dtype);
    memcpy(y.data, x->data, tensor_count(x) * qdq_dtype_size(x->dtype));
    return y;
}

static void scatter_elements(large_graph *c, uint64_t *state, large_value *v, int axis) {
    qdq_shape x = v->numbers.shape;
    qdq_reduction reduction = reduction_of(state, c, v->numbers.dtype);
    tensor *t, *u, out = copy_of(&v->numbers);
    qdq_value i = indices(c, state, element_shape(state, x, axis), &x.dims[axis], 1, &t);
    qdq_value updates = large_input(c, v->numbers.dtype, t->shape, &u);
    moves_fill(u, state, c->short_numbers);
    for (size_t at = 0; at < tensor_count(u); at++)
        change(&out, element_of(x, t, axis, at), u, at, reduction);
    c->short_numbers &= reduction != QDQ_REDUCTION_ADD;
    qdq_scatter_attrs attrs = {.axis = QDQ_INT(axis), .reduction = reduction};
    large_replace(v, qdq_scatter_elements(c->graph, v->value, i, updates, attrs), out);
}

static void scatter_nd(large_graph *c, uint64_t *state, large_value *v, int tuple, int64_t count) {
    qdq_shape x = v->numbers.shape, shape = {.rank = 1, .dims = {count}};
    qdq_reduction reduction = reduction_of(state, c, v->numbers.dtype);
    tensor *t, *u, out = copy_of(&v->numbers);
    qdq_value i = indices(c, state, QDQ_SHAPE(count, tuple), x.dims, (size_t)tuple, &t);
    for (int d = tuple; d < x.rank; d++) shape.dims[shape.rank++] = x.dims[d];
    qdq_value updates = large_input(c, v->numbers.dtype, shape, &u);
    moves_fill(u, state, c->short_numbers);
    size_t inner = product(x.dims, tuple, x.rank);
    for (size_t at = 0; at < tensor_count(u); at++)
        change(&out, part_of(x, t, at / inner, 0, tuple) + at % inner, u, at, reduction);
    c->short_numbers &= reduction != QDQ_REDUCTION_ADD;
    qdq_scatter_attrs attrs = {.reduction = reduction};
    large_replace(v, qdq_scatter_nd(c->graph, v->value, i, updates, attrs), out);
}

//---- Cases ------------------------------------------------------------------

#define ACROSS(cut) ((int64_t)large_across(&state, (cut)))

// Single elements, short places, places longer than a part and than a unit.
static void places_cross_units_and_parts(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 18; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {
            QDQ_SHAPE(7, ACROSS(QDQ_MOVE_UNIT / 7)),
            QDQ_SHAPE(ACROSS(QDQ_MOVE_UNIT / 3), 3),
            QDQ_SHAPE(5, 3, ACROSS(QDQ_MOVE_PART)),
            QDQ_SHAPE(2, 3, ACROSS(QDQ_MOVE_UNIT / 2)),
        };
        qdq_shape x = shapes[i % 4];
        int last = x.rank - 1;
        large_graph c;
        large_value v = moves_begin(&c, &state, "places", x, moves_dtype(&state));
        switch (i % 6) {
        case 0: gather(&c, &state, &v, (int)(i % 4 ? 0 : last), QDQ_SHAPE(ACROSS(20), 2)); break;
        case 1: gather(&c, &state, &v, 0, QDQ_SHAPE(4)); break;
        case 2: gather_elements(&c, &state, &v, (int)(i % 4 == 2 ? 1 : last)); break;
        case 3: gather_nd(&c, &state, &v, i % 2 ? 1 : 0, 1, 9); break;
        case 4: scatter_elements(&c, &state, &v, (int)(i / 6 % 2)); break;
        default: scatter_nd(&c, &state, &v, 1 + (int)(i / 6 % 2), 9); break;
        }
        moves_finish(&c, &state, v, i);
    }
}

static void random_places_agree(void **unused) {
    static const size_t cuts[] = {1, 2, 3, 8, 64, QDQ_INDEX_PART, QDQ_MOVE_PART, 4096};
    enum { MOST = 6000 };
    (void)unused;
    for (size_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        int rank = 1 + (int)large_pick(&state, 4), axis = (int)large_pick(&state, (size_t)rank);
        qdq_shape shape = large_shape(&state, rank, cuts, UNIT_COUNT(cuts), MOST);
        int64_t some = 1 + (int64_t)large_pick(&state, 20);
        int tuple = 1 + (int)large_pick(&state, (size_t)rank);
        large_graph c;
        large_value v = moves_begin(&c, &state, "places", shape, moves_dtype(&state));
        switch (large_pick(&state, 5)) {
        case 0:
            gather(&c, &state, &v, axis, large_pick(&state, 2) ? QDQ_SHAPE(some) : QDQ_SHAPE(3, 2));
            break;
        case 1: gather_elements(&c, &state, &v, axis); break;
        case 2: gather_nd(&c, &state, &v, rank - tuple > 1 ? 1 : 0, tuple, some); break;
        case 3: scatter_elements(&c, &state, &v, axis); break;
        default: scatter_nd(&c, &state, &v, tuple, some); break;
        }
        moves_finish(&c, &state, v, seed);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_cross_units_and_parts),
        cmocka_unit_test(random_places_agree),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
