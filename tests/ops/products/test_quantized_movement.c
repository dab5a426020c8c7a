// SPDX-License-Identifier: Apache-2.0
// Integer execution with ops between Dequantize and the product that only move or select codes:
// pooling, reshapes, transposes, concats. The reference traces each element back to its code and
// sums in double.
#include "tests/ops/products/integer_execution.h"

//---- Moves ------------------------------------------------------------------

typedef enum move_kind { NOTHING, POOL, RESHAPE, TRANSPOSE, TWICE, REORDER } move_kind;

typedef struct move {
    move_kind kind;
    int64_t list[6];  // the shape, the order, or the axis of a concat of x with itself
    int count;
    // For POOL, with `count` spatial dims.
    int64_t kernel[3], strides[3], begin[3], end[3], dilations[3];
    bool channels_first, ceil;
} move;

enum { MOVES = 4 };

typedef struct operand {
    qdq_dtype dtype;
    int axis;  // the dim of the parameters; -1: per tensor
    int rank;
    int64_t dims[5];
    move moves[MOVES];
} operand;

static qdq_ints ints(const int64_t *data, int n) { return (qdq_ints){data, (size_t)n}; }

static qdq_value add_move(qdq_graph *g, qdq_value x, const move *m) {
    qdq_value twice[] = {x, x};
    switch (m->kind) {
    case POOL:
        return qdq_max_pool(
            g, x,
            (qdq_pool_attrs){.kernel = ints(m->kernel, m->count),
                             .strides = ints(m->strides, m->count),
                             .pads_begin = ints(m->begin, m->count),
                             .pads_end = ints(m->end, m->count),
                             .dilations = ints(m->dilations, m->count),
                             .rounding_type = m->ceil ? QDQ_POOL_ROUND_CEIL : QDQ_POOL_ROUND_FLOOR,
                             .data_format = m->channels_first ? QDQ_NCX : QDQ_NXC});
    case RESHAPE:
        return qdq_reshape(
            g, x, (qdq_reshape_attrs){.shape = ints(m->list, m->count), .special_zero = QDQ_FALSE});
    case TRANSPOSE:
        return qdq_transpose(g, x, (qdq_transpose_attrs){.order = ints(m->list, m->count)});
    case TWICE:
        return qdq_concat(
            g, (qdq_concat_attrs){.xs = {.data = twice, .count = 2}, .axis = QDQ_INT(m->list[0])});
    case REORDER: return qdq_reorder(g, x, (qdq_unary_attrs){0});
    case NOTHING: break;
    }
    return x;
}

//---- The reference ----------------------------------------------------------

// A tensor as indices into the operand's codes.
typedef struct view {
    qdq_shape shape;
    size_t *at;
} view;

static view view_of(qdq_shape shape) {
    view v = {shape, oracle_memory(qdq_shape_count(shape) * sizeof *v.at)};
    return v;
}

static void coordinates(qdq_shape s, size_t i, int64_t *at) {
    for (int d = s.rank; d-- > 0; i /= (size_t)s.dims[d]) at[d] = (int64_t)i % s.dims[d];
}

static size_t index_of(qdq_shape s, const int64_t *at) {
    int64_t i = 0;
    for (int d = 0; d < s.rank; d++) i = i * s.dims[d] + at[d];
    return (size_t)i;
}

// The greatest code of the window at `to`, the first of equal ones.
static size_t pooled(const move *m, const view *x, const tensor *codes, const int64_t *to) {
    int first = m->channels_first ? 2 : 1;
    size_t best = SIZE_MAX, taps = 1;
    for (int d = 0; d < m->count; d++) taps *= (size_t)m->kernel[d];
    for (size_t tap = 0; tap < taps; tap++) {
        int64_t from[5];
        size_t rest = tap;
        bool inside = true;
        memcpy(from, to, sizeof from);
        for (int d = m->count; d-- > 0; rest /= (size_t)m->kernel[d]) {
            int64_t k = (int64_t)(rest % (size_t)m->kernel[d]);
            from[first + d] = to[first + d] * m->strides[d] + k * m->dilations[d] - m->begin[d];
            inside &= from[first + d] >= 0 && from[first + d] < x->shape.dims[first + d];
        }
        if (!inside) continue;
        size_t at = x->at[index_of(x->shape, from)];
        if (best == SIZE_MAX || tensor_at(codes, at) > tensor_at(codes, best)) best = at;
    }
    assert_true(best != SIZE_MAX);
    return best;
}

static qdq_shape pooled_shape(const move *m, qdq_shape x) {
    int first = m->channels_first ? 2 : 1;
    for (int d = 0; d < m->count; d++) {
        int64_t reach = (m->kernel[d] - 1) * m->dilations[d] + 1;
        int64_t room = x.dims[first + d] + m->begin[d] + m->end[d] - reach;
        x.dims[first + d] = (room + (m->ceil ? m->strides[d] - 1 : 0)) / m->strides[d] + 1;
    }
    return x;
}

static qdq_shape moved_shape(const move *m, qdq_shape x) {
    qdq_shape y = x;
    if (m->kind == POOL) return pooled_shape(m, x);
    if (m->kind == TWICE) y.dims[m->list[0]] *= 2;
    if (m->kind == RESHAPE) y = (qdq_shape){.rank = m->count};
    for (int d = 0; d < m->count && m->kind == RESHAPE; d++) y.dims[d] = m->list[d];
    for (int d = 0; d < m->count && m->kind == TRANSPOSE; d++) y.dims[d] = x.dims[m->list[d]];
    return y;
}

static view moved(const move *m, view x, const tensor *codes) {
    view y = view_of(moved_shape(m, x.shape));
    for (size_t i = 0; i < qdq_shape_count(y.shape); i++) {
        int64_t to[6], from[6];
        coordinates(y.shape, i, to);
        memcpy(from, to, sizeof from);
        for (int d = 0; d < m->count && m->kind == TRANSPOSE; d++) from[m->list[d]] = to[d];
        if (m->kind == TWICE) from[m->list[0]] %= x.shape.dims[m->list[0]];
        y.at[i] = m->kind == POOL      ? pooled(m, &x, codes, to)
                  : m->kind == RESHAPE ? x.at[i]
                                       : x.at[index_of(x.shape, from)];
    }
    free(x.at);
    return y;
}

//---- Products ---------------------------------------------------------------

typedef struct example {
    operand a, b;
    code_params of_a, of_b;
} example;

static qdq_shape shape_of(const operand *o) {
    qdq_shape s = {.rank = o->rank};
    for (int d = 0; d < o->rank; d++) s.dims[d] = o->dims[d];
    return s;
}

static qdq_value add_operand(qdq_graph *g, qdq_value codes, const code_params *params,
                             const operand *o) {
    qdq_value x = qdq_dequantize(g, codes, codes_attrs(params));
    for (int i = 0; i < MOVES; i++) x = add_move(g, x, &o->moves[i]);
    return x;
}

static qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    const example *e = self;
    return qdq_matmul(g, add_operand(g, v[0], &e->of_a, &e->a),
                      add_operand(g, v[1], &e->of_b, &e->b),
                      (qdq_matmul_attrs){.name = "y", .bias = v[2]});
}

static void choose(code_params *p, const operand *o, code_scales scales, uint64_t *seed) {
    *p = (code_params){.dtype = o->dtype, .axis = o->axis, .count = 1};
    if (o->axis >= 0) p->count = (size_t)o->dims[o->axis];
    codes_choose(p, scales, false, seed);
    for (size_t i = 0; i < p->count; i++) p->scales[i] = fabsf(p->scales[i]);
}

static view follow(const operand *o, const tensor *codes) {
    view v = view_of(codes->shape);
    for (size_t i = 0; i < qdq_shape_count(v.shape); i++) v.at[i] = i;
    for (int i = 0; i < MOVES; i++)
        if (o->moves[i].kind != NOTHING) v = moved(&o->moves[i], v, codes);
    assert_int_equal(v.shape.rank, 2);
    return v;
}

// The index on the dim that has parameters.
static size_t channel_of(const operand *o, const tensor *codes, size_t at) {
    int64_t where[6];
    coordinates(codes->shape, at, where);
    return o->axis < 0 ? 0 : (size_t)where[o->axis];
}

static code_sum sum_of(const example *e, const tensor *in, const view *a, const view *b, size_t row,
                       size_t column) {
    size_t depth = (size_t)a->shape.dims[1], columns = (size_t)b->shape.dims[1];
    size_t channel = channel_of(&e->b, &in[1], b->at[column]);
    code_sum s = {0};
    for (size_t k = 0; k < depth; k++) {
        size_t at = b->at[k * columns + column];
        assert_int_equal(channel_of(&e->b, &in[1], at), channel);
        codes_add(&s, codes_less_zero(&e->of_a, &in[0], a->at[row * depth + k], 0),
                  codes_less_zero(&e->of_b, &in[1], at, channel));
    }
    codes_scale_sum(&s, codes_scale(&e->of_a, 0), codes_scale(&e->of_b, channel),
                    tensor_at(&in[2], column));
    return s;
}

// The whole graph runs on integers; constants are moved when it is compiled.
static void check_steps(const example *e, const tensor *in, unsigned constant, size_t want) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("steps", NULL);
    qdq_value values[3];
    for (int i = 0; i < 3; i++)
        values[i] = constant >> i & 1
                        ? qdq_constant(g, in[i].name, in[i].dtype, in[i].shape, in[i].data)
                        : qdq_input(g, in[i].name, in[i].dtype, in[i].shape);
    qdq_output(g, "result", build(g, values, e));
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = true}, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    assert_int_equal(qdq_plan_get_stats(plan).step_count, want);
    for (size_t i = 0; i < want; i++)
        assert_non_null(strstr(qdq_plan_get_step(plan, i)->text, " on codes"));
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

static size_t moves_of(const operand *o) {
    size_t count = 0;
    for (int i = 0; i < MOVES; i++) count += o->moves[i].kind != NOTHING;
    return count;
}

static code_errors check(example e, code_scales scales) {
    uint64_t seed = 11 + (uint64_t)e.a.dims[1];
    choose(&e.of_a, &e.a, scales, &seed);
    choose(&e.of_b, &e.b, scales, &seed);
    tensor in[3] = {tensor_of("a", e.a.dtype, shape_of(&e.a)),
                    tensor_of("b", e.b.dtype, shape_of(&e.b))};
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): tensors_free, below
    for (int i = 0; i < 2; i++) tensor_fill(&in[i], &seed);
    view a = follow(&e.a, &in[0]), b = follow(&e.b, &in[1]);
    size_t rows = (size_t)a.shape.dims[0], columns = (size_t)b.shape.dims[1];
    assert_int_equal(a.shape.dims[1], b.shape.dims[0]);
    in[2] = tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE((int64_t)columns));
    tensor_fill(&in[2], &seed);
    check_steps(&e, in, 0, 1 + moves_of(&e.a) + moves_of(&e.b));
    check_steps(&e, in, 2, 1 + moves_of(&e.a));
    check_steps(&e, in, 7, 1);
    code_sum *sums = oracle_memory(rows * columns * sizeof *sums);
    for (size_t i = 0; i < rows * columns; i++)
        sums[i] = sum_of(&e, in, &a, &b, i / columns, i % columns);
    qdq_shape y = QDQ_SHAPE((int64_t)rows, (int64_t)columns);
    code_errors errors = codes_check(&(code_check){
        "moved", in, build, &e, y, (size_t)a.shape.dims[1], sums, scales == CODES_POWERS});
    tensors_free(in, 3), free(sums), free(a.at), free(b.at);
    return errors;
}

// clang-format off
#define ALONG(how, n, ...) {.kind = how, .count = n, .list = {__VA_ARGS__}}
#define PLAIN(dtype, rank, ...) {dtype, -1, rank, {__VA_ARGS__}, {{.kind = NOTHING}}}
static const example examples[] = {
    {.a = {QDQ_UINT8, -1, 4, {2, 6, 6, 3}, {
        {.kind = POOL, .count = 2, .kernel = {2, 2}, .strides = {2, 2}, .dilations = {1, 1}},
        ALONG(RESHAPE, 2, 2, 27)}},
     .b = PLAIN(QDQ_INT8, 2, 27, 5)},
    {.a = {QDQ_INT8, -1, 4, {2, 3, 7, 6}, {
        {.kind = POOL, .count = 2, .kernel = {3, 2}, .strides = {2, 2}, .begin = {1, 1},
         .end = {1, 0}, .dilations = {1, 2}, .channels_first = true, .ceil = true},
        ALONG(TRANSPOSE, 4, 0, 2, 3, 1), {.kind = REORDER}, ALONG(RESHAPE, 2, 8, 9)}},
     .b = PLAIN(QDQ_INT4, 2, 9, 40)},
    {.a = {QDQ_INT4, -1, 3, {1, 40, 300}, {
        {.kind = POOL, .count = 1, .kernel = {5}, .strides = {3}, .begin = {2}, .end = {2},
         .dilations = {1}},
        ALONG(RESHAPE, 2, 14, 300)}},
     .b = PLAIN(QDQ_UINT8, 2, 300, 3)},
    {.a = {QDQ_UINT8, -1, 3, {1, 2, 700}, {
        {.kind = POOL, .count = 1, .kernel = {4}, .strides = {1}, .begin = {1}, .end = {2},
         .dilations = {1}, .channels_first = true},
        ALONG(TWICE, 1, 1), ALONG(RESHAPE, 2, 4, 700), ALONG(TRANSPOSE, 2, 1, 0)}},
     .b = PLAIN(QDQ_INT8, 2, 4, 7)},
    {.a = {QDQ_UINT8, -1, 5, {1, 4, 5, 6, 2}, {
        {.kind = POOL, .count = 3, .kernel = {2, 3, 2}, .strides = {1, 1, 3}, .begin = {0, 1, 0},
         .end = {1, 1, 1}, .dilations = {2, 1, 1}},
        ALONG(RESHAPE, 2, 10, 6)}},
     .b = {QDQ_INT4, 0, 2, {5, 6}, {ALONG(TRANSPOSE, 2, 1, 0)}}},
    {.a = PLAIN(QDQ_INT8, 2, 3, 54),
     .b = {QDQ_UINT8, 1, 3, {6, 7, 9}, {
        ALONG(TRANSPOSE, 3, 1, 0, 2), ALONG(RESHAPE, 2, 7, 54), ALONG(TRANSPOSE, 2, 1, 0)}}},
    {.a = {QDQ_UINT8, -1, 2, {50, 6}, {ALONG(TRANSPOSE, 2, 1, 0), ALONG(TWICE, 1, 0)}},
     .b = {QDQ_INT8, 0, 3, {33, 5, 5}, {
        ALONG(TWICE, 1, 2), ALONG(RESHAPE, 2, 33, 50), ALONG(TRANSPOSE, 2, 1, 0)}}},
};
// clang-format on

static void power_of_two_scales_keep_the_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(examples); i++)
        assert_int_equal(check(examples[i], CODES_POWERS).different, 0);
}

static void other_scales_keep_the_bounds_and_come_closer_to_the_exact_result(void **state) {
    (void)state;
    code_errors all = {0};
    for (size_t i = 0; i < UNIT_COUNT(examples); i++) {
        code_errors one = check(examples[i], CODES_RANDOM);
        all.integer += one.integer, all.literal += one.literal, all.different += one.different;
    }
    assert_true(all.different > 0);
    if (all.integer > all.literal)
        fail_msg("errors are %g, literally %g", all.integer, all.literal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_of_two_scales_keep_the_bits),
        cmocka_unit_test(other_scales_keep_the_bounds_and_come_closer_to_the_exact_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
