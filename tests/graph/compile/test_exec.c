// SPDX-License-Identifier: Apache-2.0
// Running plans: inputs and outputs, chains and arena slots, threads, poison, float storage.
#include <qdq/qdq.h>

#include "tests/unit.h"

// x [rows, cols] -> Quantize -> Dequantize -> Quantize. The Dequantize is an output, too, and the
// first Quantize has a second reader.
static qdq_graph *small_network(int64_t rows, int64_t cols) {
    qdq_graph *g = qdq_graph_create("small", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(rows, cols));
    qdq_value q = qdq_quantize(
        g, x, (qdq_quantize_attrs){.name = "q", .scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(3)});
    qdq_value d = qdq_dequantize(
        g, q,
        (qdq_dequantize_attrs){
            .name = "d", .scales = QDQ_SCALE(0.3f), .zps = QDQ_ZP(3), .dtype = QDQ_FLOAT32});
    qdq_value e = qdq_quantize(
        g, d, (qdq_quantize_attrs){.name = "e", .scales = QDQ_SCALE(0.25f), .dtype = QDQ_UINT8});
    qdq_value r = qdq_requantize(g, q,
                                 (qdq_requantize_attrs){.name = "r",
                                                        .in_scales = QDQ_SCALE(0.5f),
                                                        .out_scales = QDQ_SCALE(1.5f),
                                                        .dtype = QDQ_INT32});
    qdq_output(g, "d", d), qdq_output(g, "e", e), qdq_output(g, "r", r);
    return g;
}

typedef struct network_result {
    float d[40 * 70];
    uint8_t e[40 * 70];
    int32_t r[40 * 70];
} network_result;

static void run_network(qdq_graph *g, const qdq_compile_options *options,
                        const qdq_exec_options *exec_options, const float *x, size_t count,
                        network_result *out) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    qdq_exec *exec = qdq_exec_create(plan, exec_options, &err);
    assert_non_null(exec);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, &err), QDQ_OK);
    for (int i = 0; i < 2; i++) qdq_exec_run(exec);  // the second run must see the inputs again
    memset(out, 0, sizeof *out);
    assert_int_equal(qdq_exec_read(exec, "d", QDQ_FLOAT32, out->d, count, &err), QDQ_OK);
    assert_int_equal(qdq_exec_read(exec, "e", QDQ_UINT8, out->e, count, &err), QDQ_OK);
    assert_int_equal(qdq_exec_read(exec, "r", QDQ_INT32, out->r, count, &err), QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

static void fill(float *x, size_t count) {
    uint64_t random = 5;
    for (size_t i = 0; i < count; i++)
        x[i] = (float)((int64_t)(unit_random(&random) % 4001) - 2000) / 32.0f;
}

static void fused_materialized_and_threaded_runs_give_the_same_bits(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {1, 70}, {33, 65}, {32, 64}, {40, 70}, {31, 33}};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        static network_result fused, other;
        float x[40 * 70];
        size_t count = (size_t)(sizes[i][0] * sizes[i][1]);
        qdq_graph *g = small_network(sizes[i][0], sizes[i][1]);
        qdq_compile_options materialize = {.materialize = true};
        qdq_exec_options poisoned = {.poison = true};
        fill(x, count);
        run_network(g, NULL, NULL, x, count, &fused);
        run_network(g, &materialize, &poisoned, x, count, &other);
        assert_memory_equal(&fused, &other, sizeof fused);
        for (int threads = 2; threads <= 5; threads++) {
            qdq_threads *pool = qdq_threads_create(threads, NULL, NULL);
            qdq_parallel hooks[] = {qdq_parallel_openmp(threads), qdq_parallel_threads(pool)};
            for (size_t k = 0; k < UNIT_COUNT(hooks); k++) {
                qdq_exec_options parallel = {.parallel = hooks[k]};
                parallel.parallel.least = 0;
                run_network(g, NULL, &parallel, x, count, &other);
                assert_memory_equal(&fused, &other, sizeof fused);
                run_network(g, &materialize, &parallel, x, count, &other);
                assert_memory_equal(&fused, &other, sizeof fused);
            }
            qdq_threads_destroy(pool);
        }
        qdq_graph_destroy(g);
    }
}

// A parallel hook that hands out single blocks from the last to the first.
static void run_backwards(void *self, size_t count, void (*task)(void *, size_t, size_t),
                          void *context) {
    ++*(size_t *)self;
    while (count--) task(context, count, count + 1);
}

static void any_parallel_hook_gives_the_same_bits(void **state) {
    (void)state;
    static network_result serial, other;
    float x[40 * 70];
    size_t calls = 0;
    qdq_graph *g = small_network(40, 70);
    qdq_exec_options hook = {.parallel = {run_backwards, &calls, 0}};
    fill(x, 40 * 70);
    run_network(g, NULL, NULL, x, 40 * 70, &serial);
    run_network(g, NULL, &hook, x, 40 * 70, &other);
    assert_memory_equal(&serial, &other, sizeof serial);
    assert_true(calls > 0);
    qdq_graph_destroy(g);
}

// Computed scales and zero points, with threads and with blocks in any order: the partials of a
// reduction are merged.
static void check_reduction(qdq_dynamic_quantize_attrs attrs, const float *x) {
    enum { ROWS = 37, COLS = 90 };
    static int8_t y[3][ROWS * COLS];
    size_t calls = 0;
    qdq_exec_options options[3] = {{0}, {.parallel = {run_backwards, &calls, 0}}, {0}};
    options[2].parallel = qdq_parallel_openmp(3), options[2].parallel.least = 0;
    qdq_graph *g = qdq_graph_create("reduction", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLS));
    qdq_output(g, "y", qdq_dynamic_quantize(g, v, attrs));
    for (int i = 0; i < 3; i++) {
        qdq_error err = {0};
        qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
        qdq_exec *exec = qdq_exec_create(plan, &options[i], &err);
        assert_non_null(exec);
        qdq_exec_write(exec, "x", QDQ_FLOAT32, x, UNIT_COUNT(y[0]), &err);
        for (int k = 0; k < 2; k++) qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_INT8, y[i], sizeof y[0], &err), QDQ_OK);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
        assert_memory_equal(y[0], y[i], sizeof y[0]);
    }
    assert_true(calls > 0);
    qdq_graph_destroy(g);
}

static void reductions_give_the_same_bits_on_any_threads(void **state) {
    (void)state;
    float x[37 * 90];
    fill(x, UNIT_COUNT(x));
    check_reduction((qdq_dynamic_quantize_attrs){0}, x);
    for (int axis = 0; axis < 2; axis++)
        check_reduction((qdq_dynamic_quantize_attrs){.quantize = {.qtype = QDQ_PER_CHANNEL,
                                                                  .axis = QDQ_INT(axis)}},
                        x);
    for (int64_t rows = 1; rows <= 37; rows += 9)
        check_reduction(
            (qdq_dynamic_quantize_attrs){
                .quantize = {.qtype = QDQ_PER_GROUP, .group_shape = QDQ_INTS(rows, 32)}},
            x);
}

static void running_all_steps_in_order_equals_a_run(void **state) {
    (void)state;
    float first[33 * 40] = {0}, x[33 * 40], wanted[33 * 40], got[33 * 40];
    size_t count = UNIT_COUNT(x);
    fill(x, count);
    qdq_graph *g = small_network(33, 40);
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_compile_options options = {.materialize = materialize == 1};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        size_t steps = qdq_plan_get_stats(plan).step_count;
        assert_true(steps > 1);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, NULL);
        qdq_exec_run(exec);
        qdq_exec_read(exec, "d", QDQ_FLOAT32, wanted, count, NULL);
        qdq_exec_write(exec, "x", QDQ_FLOAT32, first, count, NULL);
        qdq_exec_run(exec);
        qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, NULL);
        qdq_exec_run_step(exec, steps);  // out of range
        qdq_exec_read(exec, "d", QDQ_FLOAT32, got, count, NULL);
        assert_memory_not_equal(got, wanted, sizeof got);
        for (size_t i = 0; i < steps; i++) qdq_exec_run_step(exec, i);
        qdq_exec_read(exec, "d", QDQ_FLOAT32, got, count, NULL);
        assert_memory_equal(got, wanted, sizeof got);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

static void a_chain_between_rows_needs_no_arena(void **state) {
    (void)state;
    const qdq_compile_options rows = {.layout = QDQ_PLAN_ROWS};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(100, 100));
    for (int i = 0; i < 4; i++) {
        x = qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.1f)});
        x = qdq_dequantize(g, x, (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.1f)});
    }
    qdq_output(g, "y", x);
    qdq_plan *plan = qdq_graph_compile(g, &rows, NULL);
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    assert_int_equal(stats.step_count, 1);
    assert_int_equal(stats.arena_bytes, 0);
    assert_int_equal(stats.value_count, 0);
    assert_false(qdq_plan_get_step(plan, 0)->tiled);
    qdq_plan_destroy(plan);
    qdq_compile_options materialize = {.materialize = true};
    plan = qdq_graph_compile(g, &materialize, NULL);
    stats = qdq_plan_get_stats(plan);
    assert_int_equal(stats.step_count, 10);
    assert_int_equal(stats.value_count, 9);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void a_value_with_two_readers_lies_in_the_arena(void **state) {
    (void)state;
    const qdq_compile_options rows = {.layout = QDQ_PLAN_ROWS};
    qdq_graph *g = small_network(40, 70);
    qdq_plan *plan = qdq_graph_compile(g, &rows, NULL);
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    assert_int_equal(stats.step_count, 2);
    assert_int_equal(stats.value_count, 1);
    assert_string_equal(qdq_plan_get_value(plan, 0)->name, "q");
    assert_int_equal(stats.arena_bytes, 2816);  // 40 * 70 elements, in lines of 64 bytes
    assert_int_equal(stats.tiles, 0);
    assert_int_equal(stats.padding_bytes, 0);
    qdq_plan_destroy(plan);
    plan = qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES}, NULL);
    size_t q = 0;
    while (strcmp(qdq_plan_get_value(plan, q)->name, "q") != 0) q++;
    assert_int_equal(qdq_plan_get_value(plan, q)->bytes, 2 * 3 * 1024);
    assert_int_equal(qdq_plan_get_value(plan, q)->tiles, 2 * 3);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Each task computes its own tiles of a row, once: products by a factor for each column take the
// place of their operand.
static void tasks_stay_within_their_tiles(void **state) {
    (void)state;
    enum { ROWS = 20, COLUMNS = 300 };
    static float x[ROWS * COLUMNS], factors[COLUMNS], y[ROWS * COLUMNS];
    size_t calls = 0;
    for (size_t i = 0; i < UNIT_COUNT(x); i++) x[i] = 1;
    for (size_t i = 0; i < COLUMNS; i++) factors[i] = (float)(i + 2);
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLUMNS));
    qdq_value c = qdq_constant(g, "c", QDQ_FLOAT32, QDQ_SHAPE(COLUMNS), factors);
    v = qdq_relu(g, v, (qdq_unary_attrs){0});
    qdq_output(g, "q", qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    v = qdq_multiply(g, v, c, (qdq_binary_attrs){0});
    qdq_output(g, "r", qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    qdq_output(g, "y", qdq_relu(g, v, (qdq_unary_attrs){0}));
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES}, NULL);
    qdq_exec_options hook = {.parallel = {run_backwards, &calls, 0}};
    qdq_exec *exec = qdq_exec_create(plan, &hook, NULL);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, UNIT_COUNT(x), NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, UNIT_COUNT(y), NULL), QDQ_OK);
    for (size_t i = 0; i < UNIT_COUNT(y); i++) assert_true(y[i] == factors[i % COLUMNS]);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Two tiles of 512 bytes hold 99 elements of half a byte, 50 bytes of data.
static void int4_values_are_packed_in_the_arena(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(33, 3));
    x = qdq_quantize(g, x,
                     (qdq_quantize_attrs){.name = "q", .scales = QDQ_SCALE(1), .dtype = QDQ_INT4});
    qdq_output(g, "y", x);
    qdq_compile_options materialize = {.materialize = true};
    qdq_plan *plan = qdq_graph_compile(g, &materialize, NULL);
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    assert_int_equal(stats.arena_bytes, 2 * 4096 + 2048);
    assert_int_equal(stats.padding_bytes, 2 * 4096 - 99 * 4 + 2 * 512 - 50);
    assert_int_equal(qdq_plan_get_value(plan, 1)->bytes, 1024);
    assert_int_equal(qdq_plan_get_step(plan, 1)->write_bytes, 1024);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Nine floats follow each other in the same memory. With sizes of 64 bits, each has 2^54 + 9
// elements, which no number up to 32 divides, so 2^49 + 1 tiles of 2^12 bytes, of which more than
// 2^61 - 2^56 are padding.
static void padding_beyond_what_a_size_can_count_is_the_largest_size(void **state) {
    enum { BITS = 8 * sizeof(size_t) };
    (void)state;
    qdq_limits limits = {.elements = SIZE_MAX, .bytes = SIZE_MAX};
    qdq_graph *g = qdq_graph_create(NULL, &(qdq_graph_options){.limits = limits});
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(((int64_t)1 << (BITS - 10)) + 9, 1));
    for (int i = 0; i < 9; i++) {
        char name[8];
        v = qdq_relu(g, v, (qdq_unary_attrs){0});
        snprintf(name, sizeof name, "y%d", i);
        qdq_output(g, name, qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    }
    qdq_output(g, "y", v);
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES}, &err);
    assert_string_equal(err.text, "");
    assert_true(qdq_plan_get_stats(plan).arena_bytes < (size_t)1 << (BITS - 1));
    assert_true(qdq_plan_get_stats(plan).padding_bytes == SIZE_MAX);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Four floats of half of the bytes that an address can count, in slots of the arena.
static void values_beyond_all_addresses_are_a_limit(void **state) {
    enum { BITS = 8 * sizeof(size_t) };
    (void)state;
    qdq_limits limits = {.elements = SIZE_MAX, .bytes = SIZE_MAX};
    qdq_graph *g = qdq_graph_create(NULL, &(qdq_graph_options){.limits = limits});
    qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE((int64_t)1 << (BITS - 3)));
    v = qdq_dequantize(g, v, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32});
    for (int i = 0; i < 3; i++) v = qdq_relu(g, v, (qdq_unary_attrs){0});
    qdq_output(g, "y", qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    qdq_error err = {0};
    qdq_compile_options options = {.layout = QDQ_PLAN_ROWS, .keep_all = true};
    assert_null(qdq_graph_compile(g, &options, &err));
    assert_int_equal(err.status, QDQ_ERR_LIMIT);
    assert_non_null(
        strstr(err.text, "values of the plan take more bytes together than an address can count"));
    qdq_graph_destroy(g);
}

// A bound input is the caller's memory for all calls: a write changes it, and its own memory stays
// as it was.
static void a_write_to_a_bound_input_changes_the_bound_memory(void **state) {
    (void)state;
    float bound[2] = {1, 2}, y[2];
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2));
    qdq_output(g, "y", qdq_relu(g, x, (qdq_unary_attrs){0}));
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, (float[]){3, 4}, 2, NULL);
    qdq_exec_bind(exec, "x", bound, sizeof bound, NULL);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, (float[]){5, 6}, 2, NULL);
    assert_memory_equal(bound, ((float[]){5, 6}), sizeof bound);
    qdq_exec_bind(exec, "x", NULL, 0, NULL);
    qdq_exec_run(exec);
    qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 2, NULL);
    assert_memory_equal(y, ((float[]){3, 4}), sizeof y);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// The contents of bound memory are the caller's: a run reads bytes beyond int4 as it reads others,
// stays in its memory, and computes the elements beside them as before.
static void bound_bytes_beyond_int4_change_their_own_elements_alone(void **state) {
    (void)state;
    int8_t codes[256];
    float y[256];
    for (int i = 0; i < 256; i++) codes[i] = (int8_t)(i % 2 ? i - 128 : i / 2 % 16 - 8);
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_INT4, QDQ_SHAPE(16, 16));
    qdq_value real = qdq_dequantize(g, x, (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.5F)});
    qdq_value small =
        qdq_quantize(g, real, (qdq_quantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_INT4});
    qdq_output(g, "y", real), qdq_output(g, "q", small);
    static const qdq_compile_options options[] = {
        {.layout = QDQ_PLAN_ROWS}, {.layout = QDQ_PLAN_TILES}, {.materialize = true}};
    for (size_t k = 0; k < UNIT_COUNT(options); k++) {
        qdq_error err = {0};
        qdq_plan *plan = qdq_graph_compile(g, &options[k], &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_INT4, codes, 256, &err), QDQ_ERR_ARGUMENT);
        assert_int_equal(qdq_exec_bind(exec, "x", codes, sizeof codes, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 256, NULL), QDQ_OK);
        for (int i = 0; i < 256; i += 2) assert_true(y[i] == (float)codes[i] * 0.5F);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

// The range 0..255 has the scale 1 for bytes, and 255 / 448 for a small float that ends at 448,
// whatever the run before has seen.
static void a_reduction_begins_anew_in_each_run(void **state) {
    (void)state;
    static const float wide[] = {-1000, 1000}, narrow[] = {0, 255};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2));
    qdq_value y =
        qdq_dynamic_quantize(g, x, (qdq_dynamic_quantize_attrs){.quantize = {.dtype = QDQ_UINT8}});
    qdq_value small =
        qdq_dynamic_quantize(g, x,
                             (qdq_dynamic_quantize_attrs){.quantize = {.dtype = QDQ_FLOAT8_E4M3FN},
                                                          .scheme = QDQ_SYMMETRIC});
    qdq_output(g, "y", y), qdq_output(g, "scale", qdq_port(g, y, "scale"));
    qdq_output(g, "small", qdq_port(g, small, "scale"));
    static const qdq_compile_options options[] = {{.layout = QDQ_PLAN_ROWS},
                                                  {.layout = QDQ_PLAN_TILES},
                                                  {.materialize = true},
                                                  {.target = "torchao"}};  // which sees NaN
    for (size_t k = 0; k < UNIT_COUNT(options); k++) {
        qdq_plan *plan = qdq_graph_compile(g, &options[k], NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        uint8_t codes[2];
        float scale;
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, wide, 2, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, narrow, 2, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "scale", QDQ_FLOAT32, &scale, 1, NULL), QDQ_OK);
        assert_true(scale == 1);
        assert_int_equal(qdq_exec_read(exec, "small", QDQ_FLOAT32, &scale, 1, NULL), QDQ_OK);
        assert_true(scale == 255.0F / 448.0F);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_UINT8, codes, 2, NULL), QDQ_OK);
        assert_memory_equal(codes, ((uint8_t[]){0, 255}), 2);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

static void bound_memory_is_read_and_written_in_place(void **state) {
    (void)state;
    float x[6] = {0.1f, 0.6f, -1.4f, 3, -100, 100};
    int8_t y[6] = {0};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3));
    qdq_output(g, "y", qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    qdq_graph_destroy(g);  // a plan needs no graph
    assert_int_equal(qdq_exec_bind(exec, "x", x, sizeof x, &err), QDQ_OK);
    assert_int_equal(qdq_exec_bind(exec, "y", y, sizeof y, &err), QDQ_OK);
    qdq_exec_run(exec);
    assert_memory_equal(y, ((int8_t[]){0, 1, -1, 3, -100, 100}), 6);
    x[0] = 7;
    qdq_exec_run(exec);
    assert_int_equal(y[0], 7);
    assert_int_equal(qdq_exec_bind(exec, "x", NULL, 0, &err), QDQ_OK);
    qdq_exec_run(exec);  // the exec's own inputs are zeros until written
    assert_memory_equal(y, ((int8_t[]){0, 0, 0, 0, 0, 0}), 6);
    assert_int_equal(qdq_exec_bind(exec, "x", x, 5, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "input 'x': the memory has 5 bytes, but the tensor has 24");
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

static void wrong_names_counts_and_dtypes_are_refused(void **state) {
    (void)state;
    float x[12] = {0};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "activation", QDQ_BFLOAT16, QDQ_SHAPE(2, 3));
    qdq_output(g, "y", qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    qdq_error err = {0};
    assert_int_equal(qdq_exec_write(exec, "activatoin", QDQ_FLOAT32, x, 6, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "the graph has no input named 'activatoin'; did you mean 'activation'?");
    err = (qdq_error){0};
    assert_int_equal(qdq_exec_write(exec, "activation", QDQ_FLOAT32, x, 5, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "input 'activation': the data has 5 elements, but the tensor has 6");
    err = (qdq_error){0};
    assert_int_equal(qdq_exec_write(exec, "activation", QDQ_INT8, x, 6, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "input 'activation': the data is int8, but the tensor is bfloat16");
    err = (qdq_error){0};
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, x, 6, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "output 'y': the data is float32, but the tensor is int8");
    assert_int_equal(qdq_exec_write(exec, "activation", QDQ_FLOAT32, x, 6, NULL), QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// 1.0078125 plus half a step: float32 is rounded half to even when written to a bfloat16 input.
static void float32_is_rounded_into_bfloat16_inputs(void **state) {
    (void)state;
    float x[3] = {1.00390625f, 1.01171875f, 3.0e38f}, y[3];
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_output(g, "y", qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(3)));
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 3, NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 3, NULL), QDQ_OK);
    assert_true(y[0] == 1.0f && y[1] == 1.015625f);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void inputs_and_constants_may_be_outputs(void **state) {
    (void)state;
    for (int materialize = 0; materialize < 2; materialize++) {
        int32_t out[4];
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value c =
            qdq_constant(g, "c", QDQ_INT32, QDQ_SHAPE(4), (const int32_t[]){1, -2, 3, INT32_MIN});
        qdq_output(g, "a", c), qdq_output(g, "b", c);
        qdq_compile_options options = {.materialize = materialize != 0};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        qdq_exec_run(exec);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(qdq_exec_read(exec, i ? "b" : "a", QDQ_INT32, out, 4, NULL), QDQ_OK);
            assert_memory_equal(out, ((int32_t[]){1, -2, 3, INT32_MIN}), sizeof out);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// 1.3 quantized by 0.3 and back is 1.2 in float32. A bfloat16 intermediate is 1.203125, or 385
// steps of 2^-8 * 0.8, so the two storages differ.
static void float_storage_rounds_intermediates_only(void **state) {
    (void)state;
    float x[1] = {1.3f};
    int32_t q[2];
    for (int storage = 0; storage < 2; storage++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1));
        v = qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.3f)});
        v = qdq_dequantize(g, v,
                           (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.3f), .dtype = QDQ_FLOAT32});
        v = qdq_quantize(g, v,
                         (qdq_quantize_attrs){.scales = QDQ_SCALE(0.0001f), .dtype = QDQ_INT32});
        qdq_output(g, "y", v);
        qdq_compile_options options = {.float_storage =
                                           storage ? QDQ_FLOAT_BFLOAT16 : QDQ_FLOAT_DECLARED};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 1, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_INT32, &q[storage], 1, NULL), QDQ_OK);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
    assert_int_equal(q[0], 12000);
    assert_int_equal(q[1], 12031);  // 1.203125 / 0.0001
}

// 3.3 is 3.5 as float8_e5m2, whose codes another node reads, and 3.296875 as bfloat16.
static void float_storage_leaves_quantized_values_alone(void **state) {
    (void)state;
    float x[1] = {3.3f}, y[1];
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1));
    v = qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT8_E5M2});
    v = qdq_dequantize(g, v, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32});
    qdq_output(g, "y", v);
    qdq_compile_options options = {.float_storage = QDQ_FLOAT_BFLOAT16};
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 1, NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 1, NULL), QDQ_OK);
    assert_true(y[0] == 3.5f);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void run_time_scales_of_zero_and_nan_give_defined_results(void **state) {
    (void)state;
    float x[4] = {1, -1, 0, 2}, scales[4] = {0, -0.5f, 0, 1};
    int8_t y[4];
    uint32_t nan = 0x7FC00000;
    memcpy(&scales[3], &nan, 4);
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_value s = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(
        g, "y",
        qdq_quantize(
            g, v, (qdq_quantize_attrs){.scale = s, .axis = QDQ_INT(0), .qtype = QDQ_PER_CHANNEL}));
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 4, NULL), QDQ_OK);
    assert_int_equal(qdq_exec_write(exec, "s", QDQ_FLOAT32, scales, 4, NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_INT8, y, 4, NULL), QDQ_OK);
    assert_memory_equal(y, ((int8_t[]){127, 2, -128, -128}), 4);  // from inf, 2, 0/0, x/NaN
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_materialized_and_threaded_runs_give_the_same_bits),
        cmocka_unit_test(any_parallel_hook_gives_the_same_bits),
        cmocka_unit_test(reductions_give_the_same_bits_on_any_threads),
        cmocka_unit_test(running_all_steps_in_order_equals_a_run),
        cmocka_unit_test(a_chain_between_rows_needs_no_arena),
        cmocka_unit_test(a_value_with_two_readers_lies_in_the_arena),
        cmocka_unit_test(tasks_stay_within_their_tiles),
        cmocka_unit_test(int4_values_are_packed_in_the_arena),
        cmocka_unit_test(padding_beyond_what_a_size_can_count_is_the_largest_size),
        cmocka_unit_test(values_beyond_all_addresses_are_a_limit),
        cmocka_unit_test(a_write_to_a_bound_input_changes_the_bound_memory),
        cmocka_unit_test(a_reduction_begins_anew_in_each_run),
        cmocka_unit_test(bound_bytes_beyond_int4_change_their_own_elements_alone),
        cmocka_unit_test(bound_memory_is_read_and_written_in_place),
        cmocka_unit_test(wrong_names_counts_and_dtypes_are_refused),
        cmocka_unit_test(float32_is_rounded_into_bfloat16_inputs),
        cmocka_unit_test(inputs_and_constants_may_be_outputs),
        cmocka_unit_test(float_storage_rounds_intermediates_only),
        cmocka_unit_test(float_storage_leaves_quantized_values_alone),
        cmocka_unit_test(run_time_scales_of_zero_and_nan_give_defined_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
