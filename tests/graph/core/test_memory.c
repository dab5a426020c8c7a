// SPDX-License-Identifier: Apache-2.0
// Every allocation may fail: whichever call fails, the result is a MEMORY error without a crash or
// a leak. The mempool has blocks of one byte, so that each allocation from it is a call.
#include <qdq/qdq.h>

#include "graph/core/graph.h"
#include "tests/unit.h"

static const char text[] =
    "{\"format\": \"qdq/1\", \"name\": \"n\","
    " \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [40, 33]}],"
    " \"constants\": [{\"name\": \"s\", \"dtype\": \"float32\", \"shape\": [40],"
    "   \"file\": \"s.safetensors\", \"tensor\": \"s\"},"
    "   {\"name\": \"z\", \"dtype\": \"int8\", \"shape\": [], \"data\": [3]}],"
    " \"nodes\": ["
    "  {\"op\": \"Requantize\", \"name\": \"r\", \"inputs\": {\"x\": \"q\", \"in_scale\": \"s\"},"
    "   \"attrs\": {\"axis\": 0, \"out_scales\": 0.5, \"dtype\": \"uint8\"}},"
    "  {\"op\": \"Quantize\", \"name\": \"q\", \"inputs\": {\"x\": \"x\", \"scale\": \"s\","
    "   \"zero_point\": \"z\"}, \"attrs\": {\"qtype\": \"per_channel\", \"axis\": 0}},"
    "  {\"op\": \"Dequantize\", \"name\": \"d\", \"inputs\": {\"x\": \"q\"},"
    "   \"attrs\": {\"scales\": [[0.5]]}},"
    "  {\"op\": \"DynamicQuantize\", \"name\": \"dyn\", \"inputs\": {\"x\": \"d\"},"
    "   \"attrs\": {\"qtype\": \"per_group\", \"group_shape\": [7, -1], \"dtype\": \"uint8\"}},"
    "  {\"op\": \"Quantize\", \"name\": \"unused\", \"inputs\": {\"x\": \"x\"},"
    "   \"attrs\": {\"scales\": -1}}],"
    " \"outputs\": [{\"name\": \"r\", \"value\": \"r\"}, {\"name\": \"y\", \"value\": \"dyn\"}]}";

// Load, check, compile and run, with all memory from `allocator`.
static qdq_status walk(const qdq_allocator *allocator, bool materialize, qdq_error *err) {
    qdq_graph_options options = {.allocator = allocator};
    qdq_compile_options compile = {.materialize = materialize};
    qdq_exec_options exec_options = {.allocator = allocator};
    qdq_graph *g = qdq_graph_parse(text, strlen(text), "m.json", unit_folder, &options, err);
    qdq_plan *plan = g ? qdq_graph_compile(g, &compile, err) : NULL;
    qdq_exec *exec = qdq_exec_create(plan, &exec_options, err);
    char path[256];
    if (exec) {
        qdq_exec_run(exec);
        (void)qdq_graph_write(g, unit_path(path, "out.json"), err);
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return err->status;
}

static void every_allocation_from_json_to_results_may_fail(void **state) {
    (void)state;
    float scales[40];
    char path[256];
    for (int i = 0; i < 40; i++) scales[i] = 0.25f;
    qdq_tensor tensor = {"s", QDQ_FLOAT32, QDQ_SHAPE(40), scales};
    assert_int_equal(
        qdq_tensor_file_write(unit_path(path, "s.safetensors"), &tensor, 1, NULL, NULL), QDQ_OK);
    for (int materialize = 0; materialize < 2; materialize++) {
        bool done = false;
        for (size_t n = 2; !done; n++) {
            unit_memory memory;
            qdq_error err = {0};
            const qdq_allocator *allocator = unit_memory_init(&memory, n / 2);
            memory.once = n % 2;
            done = walk(allocator, materialize != 0, &err) == QDQ_OK;
            if (!done) {
                assert_int_equal(err.status, QDQ_ERR_MEMORY);
                assert_non_null(strstr(err.text, "out of memory"));
            }
            unit_memory_check(&memory);
            assert_true(n < 20000);
            if (done) assert_true(memory.calls < n / 2);
        }
    }
}

static void an_exec_takes_the_bytes_that_the_plan_states(void **state) {
    (void)state;
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_compile_options options = {.materialize = materialize != 0};
        unit_memory memory;
        const qdq_allocator *allocator = unit_memory_init(&memory, 0);
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(40, 70));
        qdq_value y = qdq_softmax(g, x, (qdq_softmax_attrs){.axis = QDQ_INT(1)});
        qdq_dynamic_quantize_attrs dynamic = {.quantize.dtype = QDQ_UINT8};
        qdq_output(g, "y", qdq_dynamic_quantize(g, y, dynamic));
        qdq_output(g, "again", y);
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.allocator = allocator}, NULL);
        qdq_plan_stats stats = qdq_plan_get_stats(plan);
        assert_true(stats.scratch_bytes > 0);
        assert_int_equal(memory.live_bytes,
                         stats.arena_bytes + stats.io_bytes + stats.scratch_bytes);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// Runs `work` with an allocator whose first, second, ... call fails, alone or with all that follow,
// until none does.
static void fail_each_allocation(qdq_status (*work)(const qdq_allocator *, qdq_error *)) {
    bool done = false;
    for (size_t n = 2; !done; n++) {
        unit_memory memory;
        qdq_error err = {0};
        const qdq_allocator *allocator = unit_memory_init(&memory, n / 2);
        memory.once = n % 2;
        done = work(allocator, &err) == QDQ_OK;
        if (!done) assert_int_equal(err.status, QDQ_ERR_MEMORY);
        unit_memory_check(&memory);
        assert_true(n < 20000);
        if (done) assert_true(memory.calls < n / 2);
    }
}

// Builds a graph in C, with mempool blocks of one byte.
static qdq_status build(const qdq_allocator *allocator, qdq_error *err) {
    qdq_graph_options options = {.allocator = allocator};
    qdq_graph *g = qdq_graph_create("tiny blocks", &options);
    if (g) g->mempool.block_bytes = g->report_pool.block_bytes = 1;
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(5, 7));
    qdq_value c = qdq_constant(g, "c", QDQ_INT32, QDQ_SHAPE(3), (const int32_t[]){1, 2, 3});
    for (int i = 0; i < 10; i++) {
        x = qdq_quantize(g, x,
                         (qdq_quantize_attrs){.scales = QDQ_SCALES(1, 2, 3, 4, 5, 6, 7),
                                              .zps = QDQ_ZP(1),
                                              .qtype = QDQ_PER_CHANNEL});
        x = qdq_dequantize(g, x, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1)});
    }
    qdq_output(g, "y", x), qdq_output(g, "c", c);
    (void)qdq_add_node(g, "Nothing", &(const char *){"n"}, sizeof(char *));
    const qdq_report *report = qdq_graph_validate(g, NULL, err);
    if (report) assert_int_equal(report->errors, 1);
    qdq_graph_destroy(g);
    return err->status;
}

static void every_allocation_of_the_builder_may_fail(void **state) {
    (void)state;
    fail_each_allocation(build);
}

// A product and a chain so long that its links are more than a block of the mempool.
static qdq_status compile_long_chain(const qdq_allocator *allocator, qdq_error *err) {
    qdq_graph_options options = {.allocator = allocator};
    qdq_graph *g = qdq_graph_create("chain", &options);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4, 4));
    qdq_value y = qdq_matmul(g, x, x, (qdq_matmul_attrs){0});
    for (int i = 0; i < 400; i++) y = qdq_abs(g, y, (qdq_unary_attrs){0});
    qdq_output(g, "y", y);
    qdq_plan_destroy(g ? qdq_graph_compile(g, NULL, err) : NULL);
    if (!g) err->status = QDQ_ERR_MEMORY;
    qdq_graph_destroy(g);
    return err->status;
}

static void every_allocation_of_a_long_chain_may_fail(void **state) {
    (void)state;
    fail_each_allocation(compile_long_chain);
}

// A sum of so many inputs that the steps are more than a block of the mempool. Each input is copied
// into tiles in front of the Add that reads it.
static qdq_status compile_many_inputs(const qdq_allocator *allocator, qdq_error *err) {
    enum { INPUTS = 300 };
    qdq_graph_options options = {.allocator = allocator};
    qdq_compile_options compile = {.materialize = true};
    qdq_graph *g = qdq_graph_create("inputs", &options);
    qdq_value sum = qdq_relu(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3)), (qdq_unary_attrs){0});
    for (int i = 0; i < INPUTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        qdq_value x = qdq_input(g, name, QDQ_FLOAT32, QDQ_SHAPE(3));
        sum = qdq_add(g, sum, x, (qdq_binary_attrs){0});
    }
    qdq_output(g, "y", sum);
    qdq_plan *plan = g ? qdq_graph_compile(g, &compile, err) : NULL;
    if (plan) assert_int_equal(qdq_plan_get_stats(plan).step_count, 2 * INPUTS + 3);
    qdq_plan_destroy(plan);
    if (!g) err->status = QDQ_ERR_MEMORY;
    qdq_graph_destroy(g);
    return err->status;
}

static void every_allocation_of_a_sum_of_many_inputs_may_fail(void **state) {
    (void)state;
    fail_each_allocation(compile_many_inputs);
}

// Two products: one of codes quantized at run time, one with transposed weights.
static qdq_status compile_weights(const qdq_allocator *allocator, qdq_error *err) {
    static const float reals[9] = {1, -2, 3, -4, 5, -6, 7, -8, 9};
    static const int64_t order[] = {1, 0};
    qdq_graph_options options = {.allocator = allocator};
    qdq_graph *g = qdq_graph_create("weights", &options);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(2, 3));
    qdq_value w = qdq_constant(g, "w", QDQ_FLOAT32, QDQ_SHAPE(3, 3), reals);
    w = qdq_quantize(g, w, (qdq_quantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_INT4});
    w = qdq_dequantize(g, w, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1)});
    qdq_value t = qdq_transpose(g, w, (qdq_transpose_attrs){.order = {.data = order, .count = 2}});
    x = qdq_matmul(g, x, w, (qdq_matmul_attrs){.name = "codes"});
    qdq_output(g, "y", qdq_matmul(g, x, t, (qdq_matmul_attrs){.name = "floats"}));
    qdq_plan *plan = qdq_graph_compile(g, NULL, err);
    if (plan) assert_int_equal(qdq_plan_get_stats(plan).step_count, 2);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return err->status;
}

static void every_allocation_of_folding_may_fail(void **state) {
    (void)state;
    fail_each_allocation(compile_weights);
}

static void nothing_is_allocated_after_create(void **state) {
    (void)state;
    unit_memory memory;
    const qdq_allocator *allocator = unit_memory_init(&memory, 0);
    qdq_exec_options options = {.allocator = allocator};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(100, 100));
    qdq_value y = qdq_dynamic_quantize(g, x, (qdq_dynamic_quantize_attrs){0});
    qdq_output(g, "y", y);
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    qdq_exec *exec = qdq_exec_create(plan, &options, NULL);
    assert_int_equal(memory.calls, 1);
    static float data[10000];
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, data, 10000, NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(memory.calls, 1);
    qdq_exec_destroy(exec);
    unit_memory_check(&memory);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exec_takes_the_bytes_that_the_plan_states),
        cmocka_unit_test_setup_teardown(every_allocation_from_json_to_results_may_fail,
                                        unit_folder_begin, unit_folder_end),
        cmocka_unit_test(every_allocation_of_the_builder_may_fail),
        cmocka_unit_test(every_allocation_of_a_long_chain_may_fail),
        cmocka_unit_test(every_allocation_of_a_sum_of_many_inputs_may_fail),
        cmocka_unit_test(every_allocation_of_folding_may_fail),
        cmocka_unit_test(nothing_is_allocated_after_create),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
