// SPDX-License-Identifier: Apache-2.0
// Integer execution passes codes through Slice, Pad, Expand, Tile, Gather, Trilu and the like. With
// scales that are powers of two nothing rounds, so the bits are those of the literal graph.
#include "tests/network.h"

enum { ROWS = 4, COLUMNS = 6, X = ROWS * COLUMNS, MOST = 512 };

typedef qdq_value move_fn(qdq_graph *g, qdq_value x, qdq_value i);

static qdq_value slice(qdq_graph *g, qdq_value x, qdq_value i) {
    (void)i;
    qdq_slice_attrs attrs = {
        .starts = QDQ_INTS(-1, 4), .ends = QDQ_INTS(0, 0), .steps = QDQ_INTS(-1, -2)};
    return qdq_slice(g, x, attrs);
}
static qdq_value pad(qdq_graph *g, qdq_value x, qdq_value i) {
    (void)i;
    return qdq_pad(g, x, (qdq_pad_attrs){.pads = QDQ_INTS(1, 2, 0, 1)});
}
static qdq_value reflect(qdq_graph *g, qdq_value x, qdq_value i) {
    (void)i;
    return qdq_pad(g, x, (qdq_pad_attrs){.pads = QDQ_INTS(1, 2, 0, 1), .mode = QDQ_PAD_REFLECT});
}
static qdq_value expand(qdq_graph *g, qdq_value x, qdq_value i) {
    (void)i;
    return qdq_expand(g, x, (qdq_expand_attrs){.shape = QDQ_INTS(3, 1, 1)});
}
static qdq_value tile(qdq_graph *g, qdq_value x, qdq_value i) {
    (void)i;
    return qdq_tile(g, x, (qdq_tile_attrs){.repeats = QDQ_INTS(2, 2)});
}
static qdq_value gather(qdq_graph *g, qdq_value x, qdq_value i) {
    return qdq_gather(g, x, i, (qdq_gather_attrs){.axis = QDQ_INT(0)});
}
static qdq_value gather_elements(qdq_graph *g, qdq_value x, qdq_value i) {
    return qdq_gather_elements(g, x, i, (qdq_gather_attrs){.axis = QDQ_INT(1)});
}
static qdq_value trilu(qdq_graph *g, qdq_value x, qdq_value i) {
    (void)i;
    return qdq_trilu(g, x, (qdq_trilu_attrs){.k = QDQ_INT(1)});
}

static const struct {
    const char *op;
    move_fn *move;
} moves[] = {{"Slice", slice},
             {"Pad", pad},
             {"Pad", reflect},
             {"Expand", expand},
             {"Tile", tile},
             {"Gather", gather},
             {"GatherElements", gather_elements},
             {"Trilu", trilu}};

// The result of a product of what is left of x, which is multiplied by its own last dim.
static qdq_graph *build(move_fn *move, bool as_output) {
    static const float scale = 0.5f;
    static const double zero = 3;
    static int8_t weights[2 * COLUMNS * 5];
    qdq_graph *g = qdq_graph_create("indexing", NULL);
    qdq_dequantize_attrs real = {
        .name = "r", .dtype = QDQ_FLOAT32, .scales = {&scale, 1, true}, .zps = {&zero, 1, true}};
    qdq_value x = qdq_dequantize(g, qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(ROWS, COLUMNS)), real);
    qdq_value moved = move(g, x, qdq_input(g, "i", QDQ_INT32, QDQ_SHAPE(2, 2)));
    qdq_shape shape;
    assert_true(qdq_value_type(g, moved, NULL, &shape));
    int64_t depth = shape.dims[shape.rank - 1];
    for (size_t k = 0; k < UNIT_COUNT(weights); k++) weights[k] = (int8_t)(k * 37 % 251 - 125);
    real.name = "w", real.zps = (qdq_numbers){0};
    qdq_value w = qdq_constant(g, "c", QDQ_INT8, QDQ_SHAPE(depth, 5), weights);
    qdq_matmul_attrs attrs = {.name = "m"};
    qdq_output(g, "y", qdq_matmul(g, moved, qdq_dequantize(g, w, real), attrs));
    if (as_output) qdq_output(g, "moved", moved);
    return g;
}

static bool runs_on_codes(qdq_graph *g, const char *op) {
    qdq_error err = {0};
    char words[64];
    bool found = false;
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = true}, &err);
    if (!plan) fail_msg("%s: %s", op, err.text);
    for (size_t i = 0; i < qdq_plan_get_stats(plan).step_count; i++) {
        const char *text = qdq_plan_get_step(plan, i)->text;
        snprintf(words, sizeof words, "-> %s ", op);
        found |= strstr(text, words) && strstr(text, " on codes");
    }
    qdq_plan_destroy(plan);
    return found;
}

static void codes_are_moved_as_their_numbers_are(void **state) {
    (void)state;
    int8_t x[X];
    int32_t indices[] = {1, -1, 0, 2};
    float want[MOST], got[MOST];
    for (int i = 0; i < X; i++) x[i] = (int8_t)(i * 91 % 256 - 128);
    for (size_t k = 0; k < UNIT_COUNT(moves); k++) {
        qdq_graph *g = build(moves[k].move, false);
        qdq_shape shape;
        assert_true(qdq_value_type(g, qdq_graph_find(g, "m"), NULL, &shape));
        network_tensor in[] = {{"x", QDQ_INT8, x, X}, {"i", QDQ_INT32, indices, 4}};
        network_tensor y = {"y", QDQ_FLOAT32, want, qdq_shape_count(shape)};
        network_run(g, in, 2, y);
        y.data = got;
        network_run_once(g, &(qdq_compile_options){.fast = true}, NULL, in, 2, &y);
        if (memcmp(want, got, y.count * sizeof *got) != 0) fail_msg("%s differs", moves[k].op);
        if (!runs_on_codes(g, moves[k].op)) fail_msg("%s is not on codes", moves[k].op);
        qdq_graph_destroy(g);
    }
}

static void a_result_that_is_returned_stays_real(void **state) {
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(moves); k++) {
        qdq_graph *g = build(moves[k].move, true);
        assert_false(runs_on_codes(g, moves[k].op));
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_moved_as_their_numbers_are),
        cmocka_unit_test(a_result_that_is_returned_stays_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
