// SPDX-License-Identifier: Apache-2.0
// Kept values are readable after a run, row-major or as tiles where they lie; other values are not.
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { ROWS = 40, COLS = 70, COUNT = ROWS * COLS };

// x -> Quantize h -> Dequantize d -> output y: one chain. h is x rounded to integers.
static qdq_graph *chain(void) {
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLS));
    qdq_value h = qdq_quantize(g, x, (qdq_quantize_attrs){.name = "h", .scales = QDQ_SCALE(1)});
    qdq_value d = qdq_dequantize(
        g, h, (qdq_dequantize_attrs){.name = "d", .scales = QDQ_SCALE(2), .dtype = QDQ_BFLOAT16});
    qdq_output(g, "y", d);
    return g;
}

typedef struct run {
    qdq_graph *graph;
    qdq_plan *plan;
    qdq_exec *exec;
} run;

// Element i of x is i % 101 - 50, a whole number.
static int wanted_code(size_t i) { return (int)(i % 101) - 50; }

static run run_chain(qdq_compile_options options) {
    static float x[COUNT];
    run r = {.graph = chain()};
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)wanted_code(i);
    r.plan = qdq_graph_compile(r.graph, &options, NULL);
    r.exec = qdq_exec_create(r.plan, &(qdq_exec_options){.poison = true}, NULL);
    assert_non_null(r.exec);
    assert_int_equal(qdq_exec_write(r.exec, "x", QDQ_FLOAT32, x, COUNT, NULL), QDQ_OK);
    qdq_exec_run(r.exec);
    return r;
}

static void end(run *r) {
    qdq_exec_destroy(r->exec), qdq_plan_destroy(r->plan), qdq_graph_destroy(r->graph);
}

static const char *const h[] = {"h"};
static const qdq_compile_options keeping[] = {
    {.layout = QDQ_PLAN_ROWS, .keep_all = true},
    {.layout = QDQ_PLAN_TILES, .keep_all = true},
    {.materialize = true},
    {.layout = QDQ_PLAN_ROWS, .keep = h, .keep_count = 1},
    {.layout = QDQ_PLAN_TILES, .keep = h, .keep_count = 1},
};
enum { WAYS = sizeof keeping / sizeof keeping[0], ALL_WAYS = 3 };

static void a_kept_value_is_read_row_major(void **state) {
    (void)state;
    for (size_t k = 0; k < WAYS; k++) {
        run r = run_chain(keeping[k]);
        int8_t codes[COUNT];
        assert_int_equal(qdq_exec_read(r.exec, "h", QDQ_INT8, codes, COUNT, NULL), QDQ_OK);
        for (size_t i = 0; i < COUNT; i++) assert_int_equal(codes[i], wanted_code(i));
        end(&r);
    }
}

static void a_kept_value_is_read_as_float32_too(void **state) {
    (void)state;
    for (size_t k = 0; k < ALL_WAYS; k++) {
        run r = run_chain(keeping[k]);
        float x[COUNT], d[COUNT];
        assert_int_equal(qdq_exec_read(r.exec, "d", QDQ_FLOAT32, d, COUNT, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_read(r.exec, "x", QDQ_FLOAT32, x, COUNT, NULL), QDQ_OK);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(x[i] == (float)wanted_code(i));
            assert_true(d[i] == 2 * (float)wanted_code(i));
        }
        end(&r);
    }
}

static void a_plan_lists_what_it_keeps(void **state) {
    (void)state;
    run all = run_chain(keeping[0]), one = run_chain(keeping[4]);
    assert_int_equal(qdq_plan_kept_count(all.plan), 3);
    assert_string_equal(qdq_plan_kept(all.plan, 0)->name, "d");
    assert_string_equal(qdq_plan_kept(all.plan, 1)->name, "h");
    assert_string_equal(qdq_plan_kept(all.plan, 2)->name, "x");
    assert_int_equal(qdq_plan_kept_count(one.plan), 1);
    assert_int_equal(qdq_plan_kept(one.plan, 0)->bytes, COUNT);
    end(&all), end(&one);
}

// Offset of an element by the formula at the head of qdq/tile.h, with 3 tiles across.
static size_t in_tiles(size_t r, size_t c) {
    return ((r / 32) * 3 + c / 32) * 1024 + ((r % 32 / 16) * 2 + c % 32 / 16) * 256 + r % 16 * 16 +
           c % 16;
}

static void tiles_are_seen_where_they_lie(void **state) {
    (void)state;
    for (size_t k = 0; k < WAYS; k++) {
        if (keeping[k].layout == QDQ_PLAN_ROWS) continue;
        run r = run_chain(keeping[k]);
        qdq_tiles_view view;
        assert_int_equal(qdq_exec_tiles(r.exec, "h", &view, NULL), QDQ_OK);
        assert_int_equal(view.dtype, QDQ_INT8);
        assert_int_equal(view.tiles, 2 * 3);
        assert_int_equal(view.tile_bytes, 1024);
        assert_int_equal(view.pages, 3);
        assert_int_equal(view.page_bytes, 2048);
        assert_int_equal(view.padded_shape.dims[0], 64);
        assert_int_equal(view.padded_shape.dims[1], 96);
        for (size_t row = 0; row < ROWS; row++)
            for (size_t col = 0; col < COLS; col++)
                assert_int_equal(((const int8_t *)view.data)[in_tiles(row, col)],
                                 wanted_code(row * COLS + col));
        end(&r);
    }
}

static void pages_follow_each_other_in_the_arena(void **state) {
    (void)state;
    run r = run_chain(keeping[2]);
    const qdq_plan_value *value = qdq_plan_get_value(r.plan, 1);
    assert_string_equal(value->name, "h");
    for (size_t i = 0; i < 3; i++) {
        qdq_page_info page;
        assert_int_equal(qdq_exec_page(r.exec, "h", i, &page, NULL), QDQ_OK);
        assert_string_equal(page.pool, "host");
        assert_int_equal(page.offset, value->offset + i * 2048);
        assert_int_equal(page.bytes, 2048);
    }
    end(&r);
}

static void a_value_that_is_not_kept_is_refused(void **state) {
    (void)state;
    run r = run_chain((qdq_compile_options){0}), rows = run_chain(keeping[0]);
    int8_t codes[COUNT];
    qdq_tiles_view view;
    qdq_error err = {0};
    assert_int_equal(qdq_exec_read(r.exec, "h", QDQ_INT8, codes, COUNT, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "value 'h' is not kept; compile with keep");
    err = (qdq_error){0};
    assert_int_equal(qdq_exec_tiles(r.exec, "h", &view, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "value 'h' is not kept; compile with keep");
    err = (qdq_error){0};
    assert_int_equal(qdq_exec_tiles(rows.exec, "h", &view, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "value 'h' lies row-major; compile with QDQ_PLAN_TILES");
    err = (qdq_error){0};
    assert_int_equal(qdq_exec_tiles(rows.exec, "hh", &view, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "the graph has no value named 'hh'; did you mean 'h'?");
    err = (qdq_error){0};
    assert_int_equal(qdq_exec_read(rows.exec, "h", QDQ_INT32, codes, COUNT, &err),
                     QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "value 'h': the data is int32, but the tensor is int8");
    end(&r), end(&rows);
}

// Names are found in any order of the nodes, kept or not.
static void every_value_is_found_by_its_name(void **state) {
    (void)state;
    static const char *const names[] = {"m", "c", "t", "a", "z", "k", "b", "y", "s", "d", "x"};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "in", QDQ_FLOAT32, QDQ_SHAPE(2));
    for (size_t i = 0; i < UNIT_COUNT(names); i++)
        v = qdq_relu(g, v, (qdq_unary_attrs){.name = names[i]});
    qdq_output(g, "out", v);
    for (int keeps = 0; keeps < 2; keeps++) {
        qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.keep_all = keeps == 1}, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        for (size_t i = 0; i < UNIT_COUNT(names); i++) {
            char text[64];
            float data[2];
            qdq_error err = {0};
            qdq_status status = qdq_exec_read(exec, names[i], QDQ_FLOAT32, data, 2, &err);
            assert_int_equal(status, keeps ? QDQ_OK : QDQ_ERR_ARGUMENT);
            snprintf(text, sizeof text, "value '%s' is not kept; compile with keep", names[i]);
            assert_string_equal(err.text, keeps ? "" : text);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

static void an_unknown_name_to_keep_is_an_error(void **state) {
    (void)state;
    static const char *const names[] = {"h", "hh"};
    qdq_graph *g = chain();
    qdq_error err = {0};
    qdq_compile_options options = {.keep = names, .keep_count = 2};
    assert_null(qdq_graph_compile(g, &options, &err));
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "the graph has no value named 'hh' that could be kept; did you mean 'h'?");
    qdq_graph_destroy(g);
}

// Before a run an input that was not written reads as zeros, as it will be in the run.
static void kept_values_are_zero_before_the_first_run(void **state) {
    (void)state;
    qdq_graph *g = chain();
    for (size_t k = 0; k < ALL_WAYS; k++) {
        float x[COUNT];
        int8_t codes[COUNT];
        qdq_plan *plan = qdq_graph_compile(g, &keeping[k], NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_read(exec, "x", QDQ_FLOAT32, x, COUNT, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_read(exec, "h", QDQ_INT8, codes, COUNT, NULL), QDQ_OK);
        for (size_t i = 0; i < COUNT; i++) assert_true(x[i] == 0 && codes[i] == 0);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

// Nothing reads n, and no output needs it.
static void a_value_that_no_output_needs_is_computed_if_it_is_kept(void **state) {
    (void)state;
    static const char *const n[] = {"n"};
    static const float x[4] = {1, -2, 3, -4};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    (void)qdq_quantize(g, v, (qdq_quantize_attrs){.name = "n", .scales = QDQ_SCALE(1)});
    qdq_output(g, "y", qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(2)}));
    const qdq_compile_options ways[] = {{.keep = n, .keep_count = 1}, {.materialize = true}};
    for (size_t k = 0; k < 2; k++) {
        int8_t codes[4];
        qdq_plan *plan = qdq_graph_compile(g, &ways[k], NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 4, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "n", QDQ_INT8, codes, 4, NULL), QDQ_OK);
        assert_memory_equal(codes, ((int8_t[]){1, -2, 3, -4}), 4);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_value_is_read_row_major),
        cmocka_unit_test(a_kept_value_is_read_as_float32_too),
        cmocka_unit_test(a_plan_lists_what_it_keeps),
        cmocka_unit_test(tiles_are_seen_where_they_lie),
        cmocka_unit_test(pages_follow_each_other_in_the_arena),
        cmocka_unit_test(a_value_that_is_not_kept_is_refused),
        cmocka_unit_test(every_value_is_found_by_its_name),
        cmocka_unit_test(an_unknown_name_to_keep_is_an_error),
        cmocka_unit_test(kept_values_are_zero_before_the_first_run),
        cmocka_unit_test(a_value_that_no_output_needs_is_computed_if_it_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
