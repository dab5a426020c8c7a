// SPDX-License-Identifier: Apache-2.0
// Softmax, norms and reductions on shapes larger than every block, unit and chunk: the same bits as
// the formulas of docs/ops_neural_network.md, computed slice by slice here.
#include "ops/blocking.h"
#include "ops/reduce/reduce_axes.h"
#include "tests/ops/reduce/large_norms.h"

//---- Reductions -------------------------------------------------------------

// Small integers are reduced in integer arithmetic, as the order of summation does not matter.
static double reduce_whole(const node *p, kind k) {
    int64_t sum = 0, size = 0, square = 0;
    for (size_t i = 0; i < p->s.n; i++) {
        int64_t v = (int64_t)p->v[i];
        sum += v, size += v < 0 ? -v : v, square += v * v;
    }
    if (k == REDUCE_L1) return (double)size;
    if (k == REDUCE_L2) return sqrt((double)square);
    return k == REDUCE_MEAN ? (double)sum / (double)p->s.n : (double)sum;
}

static double reduce_slice(const node *p, kind k) {
    size_t n = p->s.n;
    double least = INFINITY;
    for (size_t i = 0; i < n; i++) {
        p->t[i] = k == REDUCE_L1 ? fabs(p->v[i]) : k == REDUCE_L2 ? p->v[i] * p->v[i] : p->v[i];
        if (!(p->v[i] >= least)) least = p->v[i];
    }
    if (k == REDUCE_MAX) return greatest(p->v, n);
    if (k == REDUCE_MIN) return least;
    if (k == REDUCE_PROD) return fold(p->t, n, true);
    if (p->whole) return reduce_whole(p, k);
    double sum = fold(p->t, n, false);
    if (k == REDUCE_L2) return sqrt(sum);
    return k == REDUCE_MEAN ? sum / (double)n : sum;
}

// Factors near 1, so that a product of thousands of them stays finite.
static void fill_factors(tensor *x, uint64_t *state) {
    for (size_t i = 0; i < tensor_count(x); i++)
        large_put(x, i,
                  (large_pick(state, 2) ? -1 : 1) * (0.5 + (double)large_pick(state, 65)) /
                      (large_pick(state, 2) ? 32 : 24));
}

static qdq_value make_reduction(node *p, kind k, uint32_t within) {
    int64_t axes[QDQ_MAX_RANK];
    qdq_shape x = p->x->shape;
    qdq_reduce_attrs attrs = {.x = p->input, .axes = {axes, 0}};
    bool keep = large_pick(p->state, 2);
    p->y.shape.rank = 0;
    for (int i = 0; i < x.rank; i++) {
        bool goes = within >> i & 1;
        if (goes) axes[attrs.axes.count++] = i;
        if (!goes || keep) p->y.shape.dims[p->y.shape.rank++] = goes ? 1 : x.dims[i];
    }
    attrs.keep_dims = keep ? QDQ_TRUE : QDQ_FALSE;
    if (k == REDUCE_PROD) fill_factors(p->x, p->state);
    for (size_t s = 0; s < p->s.count; s++) {
        (void)begin_slice(p, s);
        large_put(&p->y, s, reduce_slice(p, k));
    }
    return qdq_add_node(p->c.graph, names[k], &attrs, sizeof attrs);
}

//---- Cases ------------------------------------------------------------------

// The dims that slices span; `within` if the op lets the node choose.
static uint32_t within_of(kind k, qdq_shape shape, uint32_t within, qdq_data_format format) {
    int first = 0;
    while (!(within >> first & 1)) first++;
    uint32_t all = (1u << shape.rank) - 1;
    switch (k) {
    case SOFTMAX:
    case LOG_SOFTMAX: return 1u << first;
    case LAYER_NORM:
    case RMS_NORM: return all & ~((1u << first) - 1);
    case GROUP_NORM:  // finds its slices itself
    case BATCH_NORM:
    case BATCH_TRAINING: return all & ~(1u << (format == QDQ_NCX ? 1 : shape.rank - 1));
    default: return within;
    }
}

static bool has_format(kind k) { return k >= GROUP_NORM && k <= BATCH_TRAINING; }

static qdq_value make(node *p, kind k, uint32_t within, qdq_data_format format) {
    int first = 0;
    while (!(within >> first & 1)) first++;
    switch (k) {
    case SOFTMAX:
    case LOG_SOFTMAX: return make_softmax(p, k, first);
    case LAYER_NORM:
    case RMS_NORM: return make_layer_norm(p, k, first);
    case GROUP_NORM: return make_group_norm(p, format);
    case BATCH_NORM: return make_batch_norm(p, format);
    case BATCH_TRAINING: return make_batch_training(p, format);
    default: return make_reduction(p, k, within);
    }
}

// Magnitudes of 2^-9 to 2^50 with their negatives, shuffled within a slice. The sum consists of
// rounding errors, so each order of summation gives another one.
static void fill_cancelling(node *p) {
    for (size_t s = 0; s < p->s.count; s++) {
        const size_t *index = p->s.index + s * p->s.n;
        double v = 0;
        for (size_t i = 0; i < p->s.n; i++) {
            size_t other = large_pick(p->state, i + 1);
            v = i % 2            ? -v
                : i + 1 < p->s.n ? ldexp(1 + (double)large_pick(p->state, 128) / 128,
                                         (int)large_pick(p->state, 60) - 9)
                                 : 0;
            p->v[i] = p->v[other], p->v[other] = v;
        }
        for (size_t i = 0; i < p->s.n; i++) large_put(p->x, index[i], p->v[i]);
    }
}

static void fill(node *p, kind k) {
    size_t how = large_pick(p->state, 3);
    p->whole = how == 0;
    if (p->whole)
        large_fill_whole(p->x, p->state, 9);
    else if (how == 1 || p->x->dtype == QDQ_FLOAT16 || k == SOFTMAX || k == LOG_SOFTMAX)
        large_fill_reals(p->x, p->state);
    else
        fill_cancelling(p);
}

static void check(kind k, qdq_shape shape, uint32_t within, qdq_data_format format, uint64_t seed) {
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    uint64_t state = large_state(seed);
    node p = {.state = &state};
    qdq_dtype dtype = dtypes[large_pick(&state, 4)], to = dtype;
    if (k == SOFTMAX && large_pick(&state, 2)) to = dtype == QDQ_FLOAT32 ? dtypes[2] : dtypes[0];
    large_graph_begin(&p.c, names[k]);
    large_say(&p.c, " ", shape, dtype);
    large_say(&p.c, " to ", shape, to);
    p.input = large_input(&p.c, dtype, shape, &p.x);
    within = within_of(k, shape, within, format);
    size_t count = qdq_shape_count(shape);
    p.y = tensor_of(NULL, to, shape);
    p.s = slices_of(shape, within);
    p.v = oracle_memory(count * sizeof *p.v), p.t = oracle_memory((count + 2) * sizeof *p.t);
    fill(&p, k);
    qdq_value y = make(&p, k, within, format);
    if (p.c.want_count && !large_pick(&state, 6))
        free(p.y.data);  // no output wants it
    else
        large_links(&p.c, &state, (large_value){y, p.y}, 0);
    free(p.s.index), free(p.v), free(p.t);
    large_graph_check(&p.c, seed);
}

//---- Tests ------------------------------------------------------------------

// Around the block sizes of reduce_axes.c, norm.c and chunks.c: a slice cut into parts, several
// slices in a unit, neighbouring slices taken 16, 8 and 4 at a time and in parts, slices of two
// dims, and many slices of one element.
static void shapes_cross_every_block_size(void **unused) {
    enum { PART = QDQ_SLICE_PART, MANY = QDQ_SLICES_AT_ONCE, ROWS = QDQ_SLICE_ROWS };
    (void)unused;
    uint64_t s = large_state(1);
#define ACROSS(cut) ((int64_t)large_across(&s, (cut)))
    for (kind k = SOFTMAX; k < KINDS; k++) {
        const struct {
            qdq_shape shape;
            uint32_t within;
        } cases[] = {
            {QDQ_SHAPE(1, 3, ACROSS(PART)), 4},
            {QDQ_SHAPE(2, ACROSS(PART / 7), 7), 4},
            {QDQ_SHAPE(2, ACROSS(ROWS), ACROSS(MANY)), 2},
            {QDQ_SHAPE(1, ACROSS(PART / MANY), 2 * MANY + 5), 2},
            {QDQ_SHAPE(ACROSS(PART / MANY * 2), 1, 2 * MANY + 3), 1},
            {QDQ_SHAPE(ACROSS(PART / MANY * 4), 1, MANY + 3), 1},
            {QDQ_SHAPE(3, 5, ACROSS(QDQ_NORM_PART)), 6},
            {QDQ_SHAPE(19, 7, ACROSS(QDQ_SLICE_PART / 19)), 5},
            {QDQ_SHAPE(17, 3, ACROSS(PART / MANY / 17), 2 * MANY + 7), 5},
            {QDQ_SHAPE(ACROSS(PART), 1, 1), 6},
            {QDQ_SHAPE(5, ACROSS(PART / 5), 3), 2},
        };
        for (size_t i = 0; i < UNIT_COUNT(cases); i++)
            for (int both = has_format(k); both >= 0; both--)
                if (!unit_left_out(100 * (uint64_t)k + 2 * i + (uint64_t)both))
                    check(k, cases[i].shape, cases[i].within, both ? QDQ_NCX : QDQ_NXC,
                          1000 * (uint64_t)k + i);
    }
}

static void random_shapes_agree(void **unused) {
    static const size_t cuts[] = {
        1, 2, 3, 16, QDQ_SLICES_AT_ONCE, QDQ_SLICE_ROWS, 256, QDQ_NORM_PART, QDQ_SLICE_PART};
    enum { MOST = 15000 };
    (void)unused;
    for (size_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        int rank = 2 + (int)large_pick(&state, 3);
        qdq_shape shape = large_shape(&state, rank, cuts, UNIT_COUNT(cuts), MOST);
        uint32_t within = 1 + (uint32_t)large_pick(&state, ((size_t)1 << shape.rank) - 1);
        qdq_data_format format = large_pick(&state, 2) ? QDQ_NCX : QDQ_NXC;
        check((kind)large_pick(&state, KINDS), shape, within, format, seed);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_cross_every_block_size),
        cmocka_unit_test(random_shapes_agree),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
