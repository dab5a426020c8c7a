// SPDX-License-Identifier: Apache-2.0
// The circular buffers of programs against captures of a p150b with 11 x 10 cores whose L1 begins
// at 111,616, and against tt-metal's program factories.
#include "include/qdq/qdq.h"
#include "tests/unit.h"

static qdq_device measured(void) {
    qdq_device device = *qdq_device_find("p150", NULL);
    device.grid_x = 11;
    device.grid_y = 10;
    device.l1_base = 111616;
    return device;
}

static qdq_plan *compile(qdq_graph *g, const qdq_device *device) {
    qdq_error err = {0};
    qdq_compile_options options = {.target = "ttnn@blackhole", .device = device};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(qdq_plan_device(plan));
    return plan;
}

static void set_sharded(qdq_graph *g, qdq_value value, uint16_t x1, uint16_t y1, int64_t height,
                        int64_t width) {
    qdq_memory_config config = {
        .buffer_type = QDQ_L1,
        .memory_layout = QDQ_HEIGHT_SHARDED,
        .shard_spec = {.grid = {{0, 0, x1, y1}}, .grid_count = 1, .shape = {2, {height, width}}}};
    qdq_set_memory_config(g, value, &config);
}

// A circular buffer as a capture has it.
typedef struct wanted {
    uint64_t bytes, address;
    bool globally_allocated;
    qdq_core_range cores;
} wanted;

static void check_circular(const qdq_plan *plan, size_t step, const wanted *want, size_t count) {
    const qdq_device_plan *p = qdq_plan_device(plan);
    size_t seen = 0;
    for (size_t i = 0; i < p->event_count; i++) {
        const qdq_device_event *e = &p->events[i];
        if (e->kind != QDQ_EVENT_CIRCULAR_BUFFER || e->step != step) continue;
        assert_true(seen < count);
        const wanted *w = &want[seen++];
        assert_int_equal(e->bytes, w->bytes);
        assert_int_equal(e->address, w->address);
        assert_true(e->globally_allocated == w->globally_allocated);
        assert_int_equal(e->core_ranges, 1);
        assert_memory_equal(&e->cores[0], &w->cores, sizeof w->cores);
    }
    assert_int_equal(seen, count);
}

// sharded_add.json: shards on 8 x 8 cores, circular buffers on all 11 x 10.
static void shards_are_the_circular_buffers_of_a_sharded_add(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("sharded", NULL);
    qdq_value a = qdq_input(g, "a", QDQ_BFLOAT16, QDQ_SHAPE(1, 1, 2048, 512));
    qdq_value b = qdq_input(g, "b", QDQ_BFLOAT16, QDQ_SHAPE(1, 1, 2048, 512));
    set_sharded(g, a, 7, 7, 32, 512);
    set_sharded(g, b, 7, 7, 32, 512);
    qdq_output(g, "y", qdq_add(g, a, b, (qdq_binary_attrs){0}));
    qdq_plan *plan = compile(g, &device);
    qdq_core_range all = {0, 0, 10, 9};
    wanted want[] = {
        {32768, 1540096, true, all}, {32768, 1507328, true, all}, {32768, 1474560, true, all}};
    check_circular(plan, 0, want, 3);
    assert_int_equal(qdq_plan_device(plan)->peak_circular, 0);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// tt-metal's sharded unary program: on the cores of the shards.
static void shards_are_the_circular_buffers_of_a_sharded_unary(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("sharded", NULL);
    qdq_value a = qdq_input(g, "a", QDQ_BFLOAT16, QDQ_SHAPE(2048, 512));
    set_sharded(g, a, 7, 7, 32, 512);
    qdq_output(g, "y", qdq_exp(g, a, (qdq_unary_attrs){0}));
    qdq_plan *plan = compile(g, &device);
    qdq_core_range shards = {0, 0, 7, 7};
    wanted want[] = {{32768, 1540096, true, shards}, {32768, 1507328, true, shards}};
    check_circular(plan, 0, want, 2);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// 20 tiles: two columns of ten cores, which tt-metal counts along y first.
static void unary_runs_on_as_many_cores_as_tiles(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("few", NULL);
    qdq_value a = qdq_input(g, "a", QDQ_BFLOAT16, QDQ_SHAPE(128, 160));
    qdq_output(g, "y", qdq_exp(g, a, (qdq_unary_attrs){0}));
    qdq_plan *plan = compile(g, &device);
    qdq_core_range cores = {0, 0, 1, 9};
    wanted want[] = {{4096, 111616, false, cores}, {4096, 115712, false, cores}};
    check_circular(plan, 0, want, 2);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_the_circular_buffers_of_a_sharded_add),
        cmocka_unit_test(shards_are_the_circular_buffers_of_a_sharded_unary),
        cmocka_unit_test(unary_runs_on_as_many_cores_as_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
