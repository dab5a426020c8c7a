// SPDX-License-Identifier: Apache-2.0
// With `fast`, a Quantize takes the codes that MaxPool, Slice and Interpolate hand on, by a table.
// Its codes are those of the graph, which float32 arithmetic gives: planes that cross vectors and
// strips, ties, in every mode.
#include "runtime/exec/plan.h"
#include "tests/ops/large_links.h"

enum { CHANNELS = 3 };

typedef enum move { POOL, SLICE, DOUBLE, MOVES } move;

typedef struct side {
    float scale;
    double zero;
    qdq_dtype dtype;
} side;

static float least_of(qdq_dtype dtype) { return dtype == QDQ_INT8 ? -128.0f : 0.0f; }

static float code_of(float x, const side *to) {
    float code = rintf(x / to->scale) + (float)to->zero, least = least_of(to->dtype);
    return code < least ? least : code > least + 255 ? least + 255 : code;
}

static qdq_quantize_attrs attrs_of(const side *s, qdq_dtype dtype) {
    return (qdq_quantize_attrs){
        .scales = {&s->scale, 1, true}, .zps = {&s->zero, 1, true}, .dtype = dtype};
}

static const int64_t twos[] = {2, 2}, threes[] = {3, 3}, ones[] = {1, 1};

static qdq_value moved(qdq_graph *g, qdq_value x, move how, const int64_t *sizes) {
    if (how == SLICE) {
        qdq_slice_attrs attrs = {.starts = {(const int64_t[]){0, 1, 1, 1}, 4},
                                 .ends = {(const int64_t[]){9, 9, 999, 999}, 4}};
        return qdq_slice(g, x, attrs);
    }
    if (how == DOUBLE)
        return qdq_interpolate(g, x,
                               (qdq_interpolate_attrs){.mode = QDQ_MODE(QDQ_NEAREST),
                                                       .sizes = {sizes, 2},
                                                       .data_format = QDQ_NCX});
    return qdq_max_pool(g, x,
                        (qdq_pool_attrs){.kernel = {threes, 2},
                                         .strides = {twos, 2},
                                         .pads_begin = {ones, 2},
                                         .pads_end = {ones, 2},
                                         .data_format = QDQ_NCX});
}

static float greatest(const tensor *reals, size_t plane, int64_t h, int64_t w, int64_t y,
                      int64_t x) {
    float most = -INFINITY;
    for (int64_t i = 2 * y - 1; i <= 2 * y + 1; i++)
        for (int64_t j = 2 * x - 1; j <= 2 * x + 1; j++)
            if (i >= 0 && j >= 0 && i < h && j < w)
                most = fmaxf(most,
                             (float)tensor_at(reals, (plane * (size_t)h + (size_t)i) * (size_t)w +
                                                         (size_t)j));
    return most;
}

// What the move makes of the reals.
static tensor want_of(const tensor *reals, move how, int64_t h, int64_t w) {
    bool slices = how == SLICE;
    int64_t rows = slices ? h - 1 : how == POOL ? (h + 1) / 2 : 2 * h;
    int64_t columns = slices ? w - 1 : how == POOL ? (w + 1) / 2 : 2 * w;
    tensor want = tensor_of(NULL, QDQ_FLOAT32, QDQ_SHAPE(1, CHANNELS - slices, rows, columns));
    for (size_t i = 0; i < tensor_count(&want); i++) {
        int64_t x = (int64_t)i % columns, y = (int64_t)i / columns % rows;
        size_t plane = i / (size_t)(rows * columns) + slices;
        int64_t from = how == DOUBLE ? y / 2 * w + x / 2 : (y + 1) * w + x + 1;
        large_put(&want, i,
                  how == POOL ? (double)greatest(reals, plane, h, w, y, x)
                              : tensor_at(reals, plane * (size_t)(h * w) + (size_t)from));
    }
    return want;
}

// Whether the codes are moved, and no float lies in memory.
static bool moves_codes(const large_graph *c) {
    qdq_error err;
    qdq_plan *plan = qdq_graph_compile(c->graph, &(qdq_compile_options){.fast = true}, &err);
    bool on_codes = false, stored = false;
    if (!plan) fail_msg("%s", err.text);
    for (size_t i = 0; i < qdq_plan_get_stats(plan).step_count; i++)
        on_codes |= strstr(qdq_plan_get_step(plan, i)->text, " on codes") != NULL;
    for (size_t i = 0; i < qdq_plan_get_stats(plan).value_count; i++)
        stored |= qdq_plan_get_value(plan, i)->dtype == QDQ_FLOAT32;
    qdq_plan_destroy(plan);
    return on_codes && !stored;
}

static void check_move(move how, const side *from, const side *to, int64_t h, int64_t w) {
    const int64_t sizes[] = {2 * h, 2 * w};
    large_graph c;
    tensor *in;
    uint64_t state = large_state((uint64_t)(h + w));
    large_graph_begin(&c, how == POOL ? "MaxPool" : how == SLICE ? "Slice" : "Interpolate");
    qdq_value x = large_input(&c, from->dtype, QDQ_SHAPE(1, CHANNELS, h, w), &in);
    tensor reals = large_like(in, QDQ_FLOAT32);
    for (size_t i = 0; i < tensor_count(in); i++) {
        double code = (double)large_pick(&state, 256) + (double)least_of(from->dtype);
        large_put(in, i, code);
        large_put(&reals, i, (double)((float)(code - from->zero) * from->scale));
    }
    qdq_value floats = qdq_dequantize(c.graph, x, attrs_of(from, QDQ_FLOAT32));
    tensor want = want_of(&reals, how, h, w), codes = large_like(&want, to->dtype);
    for (size_t i = 0; i < tensor_count(&want); i++)
        large_put(&codes, i, (double)code_of((float)tensor_at(&want, i), to));
    large_output(&c,
                 qdq_quantize(c.graph, moved(c.graph, floats, how, sizes), attrs_of(to, to->dtype)),
                 codes);
    assert_true(moves_codes(&c));
    free(reals.data), free(want.data);
    large_graph_check(&c, 0);
}

static void moved_codes_become_the_codes_of_the_graph(void **state) {
    // Ties, equal parameters, and a scale that rounds.
    static const side from[] = {
        {0.25f, 3, QDQ_INT8}, {0.3f, 128, QDQ_UINT8}, {0.7f, -128, QDQ_INT8}};
    static const side to[] = {{0.5f, -7, QDQ_INT8}, {0.3f, 128, QDQ_UINT8}, {0.11f, 0, QDQ_UINT8}};
    static const int64_t sizes[][2] = {{3, 5}, {7, 31}, {9, 32}, {6, 65}, {37, 130}};
    (void)state;
    for (move how = 0; how < MOVES; how++)
        for (size_t i = 0; i < UNIT_COUNT(from); i++)
            for (size_t k = 0; k < UNIT_COUNT(sizes); k++)
                check_move(how, &from[i], &to[i], sizes[k][0], sizes[k][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moved_codes_become_the_codes_of_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
