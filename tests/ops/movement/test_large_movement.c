// SPDX-License-Identifier: Apache-2.0
// Movement ops, alone and in sequence, on shapes larger than every block and chunk: each element
// keeps its bits and lands where the op puts it.
#include "tests/ops/movement/large_moves.h"

//---- Ops --------------------------------------------------------------------

static void transpose(large_graph *c, large_value *v, const int64_t *order) {
    qdq_shape x = v->numbers.shape, y = x;
    for (int i = 0; i < x.rank; i++) y.dims[i] = x.dims[order[i]];
    tensor out = tensor_of(NULL, v->numbers.dtype, y);
    for (size_t at = 0; at < tensor_count(&out); at++) {
        size_t index[QDQ_MAX_RANK] = {0}, from = 0;
        for (int i = 0; i < y.rank; i++) index[order[i]] = large_index(y, i, at);
        for (int i = 0; i < x.rank; i++) from = from * (size_t)x.dims[i] + index[i];
        moves_copy(&out, at, &v->numbers, from);
    }
    qdq_transpose_attrs attrs = {.order = {order, (size_t)x.rank}};
    large_replace(v, qdq_transpose(c->graph, v->value, attrs), out);
}

// Leaves the node out if tiles of the result take too much; so do the next functions.
static void transpose_somehow(large_graph *c, uint64_t *state, large_value *v) {
    int64_t order[QDQ_MAX_RANK];
    int rank = v->numbers.shape.rank;
    qdq_shape y = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        int at = (int)large_pick(state, (size_t)i + 1);
        order[i] = i;
        order[i] = order[at], order[at] = i;
    }
    for (int i = 0; i < rank; i++) y.dims[i] = v->numbers.shape.dims[order[i]];
    if (rank && large_tiled(y) <= LARGE_MOST_TILED) transpose(c, v, order);
}

// Where element `at` of y comes from: the input, and the element's index there.
static size_t source_of(qdq_shape y, int axis, const tensor *const *xs, size_t at, size_t *input) {
    size_t index = large_index(y, axis, at), inner = 1, outer;
    for (int i = axis + 1; i < y.rank; i++) inner *= (size_t)y.dims[i];
    outer = at / inner / (size_t)y.dims[axis];
    for (*input = 0; index >= (size_t)xs[*input]->shape.dims[axis]; ++*input)
        index -= (size_t)xs[*input]->shape.dims[axis];
    return (outer * (size_t)xs[*input]->shape.dims[axis] + index) * inner + at % inner;
}

// Concatenates the value with `more` inputs, each at most `size` long.
static void concat(large_graph *c, uint64_t *state, large_value *v, int axis, size_t more,
                   size_t size) {
    const tensor *xs[LARGE_INPUTS];
    qdq_value values[LARGE_INPUTS];
    tensor *own;
    qdq_shape shape = v->numbers.shape, y = shape;
    size_t place = large_pick(state, more + 1);
    for (size_t i = 0; i <= more; i++) {
        xs[i] = &v->numbers, values[i] = v->value;
        if (i == place) continue;
        shape.dims[axis] = 1 + (int64_t)large_pick(state, size);
        y.dims[axis] += shape.dims[axis];
        values[i] = large_input(c, v->numbers.dtype, shape, &own);
        moves_fill(own, state, c->short_numbers);
        xs[i] = own;
    }
    tensor out = tensor_of(NULL, v->numbers.dtype, y);
    for (size_t at = 0; at < tensor_count(&out); at++) {
        size_t input, from = source_of(y, axis, xs, at, &input);
        moves_copy(&out, at, xs[input], from);
    }
    qdq_concat_attrs attrs = {.xs = {values, more + 1}, .axis = QDQ_INT(axis)};
    large_replace(v, qdq_concat(c->graph, attrs), out);
}

static void concat_somehow(large_graph *c, uint64_t *state, large_value *v) {
    enum { MOST = 4096, MOST_OF_ALL = 4 * MOST };
    int axis = (int)large_pick(state, (size_t)v->numbers.shape.rank);
    size_t slice = tensor_count(&v->numbers) / (size_t)v->numbers.shape.dims[axis];
    size_t more = large_pick(state, 5) ? 1 + large_pick(state, 4) : 19;
    size_t most = (more < 4 ? MOST : MOST_OF_ALL / more) / slice + 1;
    qdq_shape y = v->numbers.shape;
    y.dims[axis] += (int64_t)(more * most);
    if (c->in_count + more < LARGE_INPUTS - 10 && large_tiled(y) <= LARGE_MOST_TILED)
        concat(c, state, v, axis, more, most);
}

static void reshape(large_graph *c, large_value *v, qdq_shape shape, int open) {
    int64_t dims[QDQ_MAX_RANK];
    tensor out = tensor_of(NULL, v->numbers.dtype, shape);
    memcpy(out.data, v->numbers.data, tensor_count(&out) * qdq_dtype_size(out.dtype));
    memcpy(dims, shape.dims, sizeof dims);
    if (open >= 0) dims[open] = -1;
    qdq_reshape_attrs attrs = {.shape = {dims, (size_t)shape.rank}, .special_zero = QDQ_FALSE};
    large_replace(v, qdq_reshape(c->graph, v->value, attrs), out);
}

// Merges two dims or splits one.
static void reshape_somehow(large_graph *c, uint64_t *state, large_value *v) {
    qdq_shape x = v->numbers.shape, y = {.rank = 0};
    int at = (int)large_pick(state, (size_t)x.rank);
    bool joins = at + 1 < x.rank && (large_pick(state, 2) || x.rank > 4);
    for (int i = 0; i < x.rank; i++) {
        if (i != at) {
            y.dims[y.rank++] = x.dims[i];
        } else if (joins) {
            y.dims[y.rank++] = x.dims[i] * x.dims[i + 1];
            i++;
        } else {
            int64_t part = 1 + (int64_t)large_pick(state, 70);
            while (x.dims[i] % part) part--;
            y.dims[y.rank++] = part, y.dims[y.rank++] = x.dims[i] / part;
        }
    }
    if (large_tiled(y) <= LARGE_MOST_TILED) reshape(c, v, y, large_pick(state, 2) ? at : -1);
}

static void reorder(large_graph *c, large_value *v) {
    v->value = qdq_reorder(c->graph, v->value, (qdq_unary_attrs){0});
}

static void gen_index(large_graph *c, const large_value *v, int axis) {
    tensor y = tensor_of(NULL, QDQ_INT32, v->numbers.shape);
    for (size_t at = 0; at < tensor_count(&y); at++)
        ((int32_t *)y.data)[at] = (int32_t)large_index(y.shape, axis, at);
    large_output(c, qdq_gen_index(c->graph, v->value, (qdq_gen_index_attrs){.axis = QDQ_INT(axis)}),
                 y);
}

//---- Cases ------------------------------------------------------------------

#define ACROSS(cut) ((int64_t)large_across(&state, (cut)))

// Transposed columns go block by block, several blocks to a chunk; rows that stay together are
// copied: short rows, long rows, rows longer than a chunk.
static void transposes_cross_their_blocks(void **unused) {
    enum { BLOCK = QDQ_TRANSPOSE_BLOCK, WIDE = QDQ_CHUNK_BYTES / BLOCK };
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_INT64, QDQ_BFLOAT16, QDQ_INT8, QDQ_UINT4};
    (void)unused;
    for (size_t d = 0; d < UNIT_COUNT(dtypes); d++) {
        uint64_t state = large_state(d);
        size_t size = qdq_dtype_size(dtypes[d]);
        const struct {
            qdq_shape shape;
            int64_t order[4];
        } cases[] = {
            {QDQ_SHAPE(ACROSS(WIDE / size), ACROSS(BLOCK)), {1, 0}},
            {QDQ_SHAPE(2, ACROSS(WIDE / size), ACROSS(BLOCK)), {0, 2, 1}},
            {QDQ_SHAPE(ACROSS(BLOCK), 2, ACROSS(BLOCK)), {2, 1, 0}},
            {QDQ_SHAPE(ACROSS(BLOCK), ACROSS(BLOCK), 3), {1, 0, 2}},
            {QDQ_SHAPE(ACROSS(BLOCK), 3, ACROSS(BLOCK), 2), {2, 1, 0, 3}},
            {QDQ_SHAPE(7, 5, ACROSS(QDQ_MOVE_LONG)), {1, 0, 2}},
            {QDQ_SHAPE(2, 2, ACROSS(QDQ_CHUNK_BYTES / size)), {1, 0, 2}},
            {QDQ_SHAPE(3, ACROSS(BLOCK), 5, ACROSS(BLOCK)), {1, 3, 2, 0}},
        };
        for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
            large_graph c;
            large_value v = moves_begin(&c, &state, "StaticTranspose", cases[i].shape, dtypes[d]);
            transpose(&c, &v, cases[i].order);
            if ((i + d) % 2) transpose_somehow(&c, &state, &v);
            moves_finish(&c, &state, v, i);
        }
    }
}

// Runs of a few elements, and runs longer than a unit.
static void concats_cross_their_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {
            QDQ_SHAPE(ACROSS(QDQ_MOVE_UNIT / 20), 3),
            QDQ_SHAPE(9, ACROSS(QDQ_MOVE_LONG), 2),
            QDQ_SHAPE(2, ACROSS(QDQ_MOVE_UNIT / 2)),
        };
        const size_t sizes[] = {5, QDQ_MOVE_LONG, 2 * QDQ_MOVE_UNIT};
        large_graph c;
        large_value v = moves_begin(&c, &state, "Concat", shapes[i % 3], moves_dtype(&state));
        concat(&c, &state, &v, 1, i % 3 ? 2 : 11, sizes[i % 3]);
        if (i % 2) reorder(&c, &v);
        moves_finish(&c, &state, v, i);
    }
}

static void copies_and_indices_cross_their_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t state = large_state(i);
        int64_t n = ACROSS(QDQ_MOVE_UNIT / 3);
        large_graph c;
        large_value v = moves_begin(&c, &state, "copy", QDQ_SHAPE(n, 3), moves_dtype(&state));
        if (i % 3 == 0) gen_index(&c, &v, 0), gen_index(&c, &v, 1);
        if (i % 2) reorder(&c, &v);
        if (i % 4) reshape(&c, &v, QDQ_SHAPE(3 * n), 0);
        if (i % 3 == 1) gen_index(&c, &v, 0);
        moves_finish(&c, &state, v, i);
    }
}

static void random_movements_agree(void **unused) {
    static const size_t cuts[] = {1,   2, 3, 8, 16, QDQ_TRANSPOSE_BLOCK, 128, 256, QDQ_MOVE_LONG,
                                  4096};
    enum { MOST = 15000 };
    (void)unused;
    for (size_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        int rank = 1 + (int)large_pick(&state, 5);
        qdq_shape shape = large_shape(&state, rank, cuts, UNIT_COUNT(cuts), MOST);
        large_graph c;
        large_value v = moves_begin(&c, &state, "moved", shape, moves_dtype(&state));
        for (size_t ops = 1 + large_pick(&state, 3); ops-- > 0;) {
            size_t kind = large_pick(&state, 8);
            if (kind < 3) transpose_somehow(&c, &state, &v);
            if (kind == 3 || kind == 4) concat_somehow(&c, &state, &v);
            if (kind == 5) reshape_somehow(&c, &state, &v);
            if (kind == 6) reorder(&c, &v);
            if (kind == 7)
                gen_index(&c, &v,
                          (int)large_pick(&state, (size_t)shape.rank) % v.numbers.shape.rank);
        }
        moves_finish(&c, &state, v, seed);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposes_cross_their_blocks),
        cmocka_unit_test(concats_cross_their_units),
        cmocka_unit_test(copies_and_indices_cross_their_units),
        cmocka_unit_test(random_movements_agree),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
