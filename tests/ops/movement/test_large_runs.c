// SPDX-License-Identifier: Apache-2.0
// Slice, Pad, Expand and Tile on shapes larger than every unit and chunk. Each keeps, for each dim
// of y, a list of indices of x; the reference makes the lists one index at a time.
#include "tests/ops/movement/large_moves.h"

enum { FILLED = -1 };  // in place of an index

// For each dim of y: the index on that dim of x.
typedef struct picks {
    qdq_shape shape;
    int64_t *lists[QDQ_MAX_RANK];
} picks;

static void begin_list(picks *p, int dim, size_t most) {
    p->lists[dim] = oracle_memory(most * sizeof *p->lists[dim]);
    p->shape.dims[dim] = 0;
}

static void append(picks *p, int dim, int64_t index) {
    p->lists[dim][p->shape.dims[dim]++] = index;
}

static void drop(picks *p) {
    for (int d = 0; d < p->shape.rank; d++) free(p->lists[d]);
}

// True if tiles of the result take little enough. Otherwise the node is left out.
static bool fits(picks *p) {
    bool fits = large_tiled(p->shape) <= LARGE_MOST_TILED;
    if (!fits) drop(p);
    return fits;
}

// Replaces v by the picked elements. x may have fewer dims than y: then they are its last ones.
static void replace(large_value *v, picks *p, qdq_value value, const tensor *number) {
    qdq_shape x = v->numbers.shape;
    tensor y = tensor_of(NULL, v->numbers.dtype, p->shape);
    memset(y.data, 0, tensor_count(&y) * qdq_dtype_size(y.dtype));
    for (size_t at = 0; at < tensor_count(&y); at++) {
        size_t from = 0;
        bool filled = false;
        for (int d = 0; d < x.rank; d++) {
            int dim = d + p->shape.rank - x.rank;
            int64_t index = p->lists[dim][large_index(p->shape, dim, at)];
            filled |= index == FILLED;
            from = from * (size_t)x.dims[d] + (size_t)(filled ? 0 : index);
        }
        if (!filled)
            moves_copy(&y, at, &v->numbers, from);
        else if (number)
            moves_copy(&y, at, number, 0);
    }
    drop(p);
    large_replace(v, value, y);
}

//---- Slice ------------------------------------------------------------------

// Random starts, ends and steps of some dims, at least one index of each.
static void slice_somehow(large_graph *c, uint64_t *state, large_value *v) {
    qdq_shape x = v->numbers.shape;
    picks p = {.shape = {.rank = x.rank}};
    int64_t starts[QDQ_MAX_RANK], ends[QDQ_MAX_RANK], axes[QDQ_MAX_RANK], steps[QDQ_MAX_RANK];
    size_t count = 0;
    for (int d = x.rank - 1; d >= 0; d--) {
        int64_t dim = x.dims[d], step = 1 + (int64_t)large_pick(state, 3);
        begin_list(&p, d, (size_t)dim);
        if (large_pick(state, 4) == 0) {
            for (int64_t i = 0; i < dim; i++) append(&p, d, i);
            continue;
        }
        bool back = large_pick(state, 3) == 0, open = large_pick(state, 2);
        int64_t start = (int64_t)large_pick(state, (size_t)dim > 9 ? 9 : (size_t)dim);
        if (back) start = dim - 1 - start;
        int64_t end = back ? -1 : dim;
        if (!open)
            end = back ? (int64_t)large_pick(state, (size_t)start + 1) - 1
                       : start + 1 + (int64_t)large_pick(state, (size_t)(dim - start));
        for (int64_t i = start; back ? i > end : i < end; i += back ? -step : step)
            append(&p, d, i);
        axes[count] = large_pick(state, 2) ? d : d - x.rank;
        starts[count] = large_pick(state, 2) ? start : start - dim;
        ends[count] = open ? (back ? INT64_MIN : INT64_MAX) : end < 0 ? -dim - 1 : end;
        steps[count++] = back ? -step : step;
    }
    if (!count) {
        drop(&p);
        return;
    }
    qdq_slice_attrs attrs = {.starts = {starts, count},
                             .ends = {ends, count},
                             .axes = {axes, count},
                             .steps = {steps, count}};
    replace(v, &p, qdq_slice(c->graph, v->value, attrs), NULL);
}

//---- Pad --------------------------------------------------------------------

// The index that position i of a padded dim shows; i counts from the first index that is left.
static int64_t padded(qdq_pad_mode mode, int64_t i, int64_t left) {
    if (i >= 0 && i < left) return i;
    switch (mode) {
    case QDQ_PAD_REFLECT: return i < 0 ? -i : 2 * (left - 1) - i;
    case QDQ_PAD_EDGE: return i < 0 ? 0 : left - 1;
    case QDQ_PAD_WRAP: return (i + left) % left;
    default: return FILLED;
    }
}

static void pad(large_graph *c, uint64_t *state, large_value *v, qdq_pad_mode mode, int64_t most) {
    qdq_shape x = v->numbers.shape;
    picks p = {.shape = {.rank = x.rank}};
    int64_t pads[2 * QDQ_MAX_RANK];
    for (int d = 0; d < x.rank; d++) {
        int64_t dim = x.dims[d], reach = mode == QDQ_PAD_REFLECT ? dim - 1 : dim;
        int64_t room = mode == QDQ_PAD_REFLECT || mode == QDQ_PAD_WRAP ? reach : most;
        int64_t limit = room < most ? room : most;
        int64_t before = (int64_t)large_pick(state, (size_t)limit + 1);
        int64_t after = (int64_t)large_pick(state, (size_t)limit + 1), from = 0;
        if (dim > 3 && large_pick(state, 4) == 0) before = -1, from = 1, after = after / 2;
        int64_t left = dim - from;
        begin_list(&p, d, (size_t)(dim + before + after));
        for (int64_t i = before < 0 ? 0 : -before; i < left + after; i++) {
            int64_t index = padded(mode, i, left);
            append(&p, d, index == FILLED ? index : index + from);
        }
        pads[d] = before, pads[d + x.rank] = after;
    }
    if (!fits(&p)) return;
    tensor *number = NULL;
    qdq_pad_attrs attrs = {.pads = {pads, 2 * (size_t)x.rank}, .mode = mode};
    if (mode == QDQ_PAD_CONSTANT && large_pick(state, 2)) {
        attrs.value = large_input(c, v->numbers.dtype, (qdq_shape){0}, &number);
        moves_fill(number, state, c->short_numbers);
    }
    replace(v, &p, qdq_pad(c->graph, v->value, attrs), number);
}

//---- Expand and Tile --------------------------------------------------------

static void tile_somehow(large_graph *c, uint64_t *state, large_value *v, size_t most) {
    qdq_shape x = v->numbers.shape;
    picks p = {.shape = {.rank = x.rank}};
    int64_t repeats[QDQ_MAX_RANK];
    for (int d = 0; d < x.rank; d++) {
        repeats[d] = 1 + (int64_t)large_pick(state, most);
        most = most / (size_t)repeats[d] + 1;
        begin_list(&p, d, (size_t)(x.dims[d] * repeats[d]));
        for (int64_t i = 0; i < x.dims[d] * repeats[d]; i++) append(&p, d, i % x.dims[d]);
    }
    if (!fits(&p)) return;
    qdq_tile_attrs attrs = {.repeats = {repeats, (size_t)x.rank}};
    replace(v, &p, qdq_tile(c->graph, v->value, attrs), NULL);
}

// Dims of 1 become longer, and up to two dims are added.
static void expand_somehow(large_graph *c, uint64_t *state, large_value *v, size_t most) {
    qdq_shape x = v->numbers.shape;
    int more = (int)large_pick(state, x.rank < 6 ? 3 : 1);
    picks p = {.shape = {.rank = x.rank + more}};
    int64_t wanted[QDQ_MAX_RANK];
    for (int d = 0; d < p.shape.rank; d++) {
        int64_t dim = d < more ? 1 : x.dims[d - more];
        wanted[d] = dim > 1 && large_pick(state, 2) ? 1 : dim;
        if (dim == 1) wanted[d] = 1 + (int64_t)large_pick(state, most);
        if (dim == 1) most = most / (size_t)wanted[d] + 1;
        begin_list(&p, d, (size_t)(dim > 1 ? dim : wanted[d]));
        for (int64_t i = 0; i < (dim > 1 ? dim : wanted[d]); i++) append(&p, d, dim > 1 ? i : 0);
    }
    if (!fits(&p)) return;
    qdq_expand_attrs attrs = {.shape = {wanted, (size_t)p.shape.rank}};
    replace(v, &p, qdq_expand(c->graph, v->value, attrs), NULL);
}

//---- Cases ------------------------------------------------------------------

#define ACROSS(cut) ((int64_t)large_across(&state, (cut)))

static void slices_and_pads_cross_their_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 24; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {
            QDQ_SHAPE(ACROSS(QDQ_MOVE_UNIT / 6), 6),
            QDQ_SHAPE(3, 3, ACROSS(QDQ_MOVE_UNIT / 2)),
            QDQ_SHAPE(9, ACROSS(QDQ_MOVE_LONG), 2),
            QDQ_SHAPE(ACROSS(2 * QDQ_MOVE_UNIT)),
        };
        large_graph c;
        large_value v = moves_begin(&c, &state, i % 2 ? "Pad" : "Slice", shapes[i / 2 % 4],
                                    moves_dtype(&state));
        if (i % 2)
            pad(&c, &state, &v, (qdq_pad_mode)(i / 8 % 4), i / 2 % 4 == 3 ? 3000 : 7);
        else
            slice_somehow(&c, &state, &v);
        moves_finish(&c, &state, v, i);
    }
}

static void repeats_cross_their_units(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t state = large_state(i);
        const qdq_shape shapes[] = {QDQ_SHAPE(ACROSS(QDQ_MOVE_UNIT / 8), 1), QDQ_SHAPE(1, 5, 1),
                                    QDQ_SHAPE(1, 1, ACROSS(QDQ_MOVE_LONG))};
        size_t most = i % 3 == 1 ? 3 * QDQ_MOVE_UNIT : 20;
        large_graph c;
        large_value v =
            moves_begin(&c, &state, i % 2 ? "Tile" : "Expand", shapes[i % 3], moves_dtype(&state));
        (i % 2 ? tile_somehow : expand_somehow)(&c, &state, &v, i % 2 ? most / 5 + 1 : most);
        moves_finish(&c, &state, v, i);
    }
}

static void random_slices_agree(void **unused) {
    static const size_t cuts[] = {1, 2, 3, 8, 64, 256, QDQ_MOVE_LONG, 4096};
    enum { MOST = 9000 };
    (void)unused;
    for (size_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        int rank = 1 + (int)large_pick(&state, 5);
        qdq_shape shape = large_shape(&state, rank, cuts, UNIT_COUNT(cuts), MOST);
        large_graph c;
        large_value v = moves_begin(&c, &state, "sliced", shape, moves_dtype(&state));
        for (size_t ops = 1 + large_pick(&state, 3); ops-- > 0;) {
            size_t kind = large_pick(&state, 6), count = tensor_count(&v.numbers);
            if (kind < 2) slice_somehow(&c, &state, &v);
            if (kind == 2 || kind == 3)
                pad(&c, &state, &v, (qdq_pad_mode)large_pick(&state, 4), count < MOST ? 3 : 1);
            if (kind == 4 && count < 4 * MOST) tile_somehow(&c, &state, &v, 4);
            if (kind == 5 && count < 4 * MOST) expand_somehow(&c, &state, &v, 4);
        }
        moves_finish(&c, &state, v, seed);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_and_pads_cross_their_units),
        cmocka_unit_test(repeats_cross_their_units),
        cmocka_unit_test(random_slices_agree),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
