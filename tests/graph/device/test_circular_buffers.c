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
    const char *cores;
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
        char cores[QDQ_CORE_RANGES_TEXT_BYTES];
        assert_string_equal(qdq_core_ranges_text(e->cores, e->core_ranges, cores), w->cores);
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
    const char *all = "{[0-0 - 10-9]}";
    wanted want[] = {
        {32768, 1540096, true, all}, {32768, 1507328, true, all}, {32768, 1474560, true, all}};
    check_circular(plan, 0, want, 3);
    assert_int_equal(qdq_plan_device(plan)->peak_circular, 0);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// sharded_add_in_place.json: two tensors lie above; the third circular buffer is a again, and
// nothing is allocated.
static void add_into_an_operand_allocates_nothing(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("in place", NULL);
    qdq_value alive[4];
    const char *const names[] = {"older", "old", "a", "b"};
    for (int i = 0; i < 4; i++) {
        alive[i] = qdq_input(g, names[i], QDQ_BFLOAT16, QDQ_SHAPE(1, 1, 2048, 512));
        set_sharded(g, alive[i], 7, 7, 32, 512);
    }
    qdq_output(g, "y",
               qdq_add(g, alive[2], alive[3], (qdq_binary_attrs){.output_tensor = alive[2]}));
    qdq_output(g, "z",
               qdq_add(g, alive[0], alive[1], (qdq_binary_attrs){.output_tensor = alive[1]}));
    qdq_plan *plan = compile(g, &device);
    const char *all = "{[0-0 - 10-9]}";
    const wanted want[] = {
        {32768, 1474560, true, all}, {32768, 1441792, true, all}, {32768, 1474560, true, all}};
    const wanted other[] = {
        {32768, 1540096, true, all}, {32768, 1507328, true, all}, {32768, 1507328, true, all}};
    check_circular(plan, 0, want, 3);
    check_circular(plan, 1, other, 3);
    assert_int_equal(qdq_plan_device(plan)->pools[QDQ_L1].peak, 4 * 32768);
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
    const char *shards = "{[0-0 - 7-7]}";
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
    const char *cores = "{[0-0 - 1-9]}";
    wanted want[] = {{4096, 111616, false, cores}, {4096, 115712, false, cores}};
    check_circular(plan, 0, want, 2);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

//---- MatMul -----------------------------------------------------------------

// Checks a product of bfloat16 tensors, accumulated in bfloat16 as ttnn does by default.
static void check_matmul(qdq_shape a_shape, qdq_shape b_shape, qdq_buffer_type pool,
                         const wanted *want) {
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("product", NULL);
    qdq_value a = qdq_input(g, "a", QDQ_BFLOAT16, a_shape);
    qdq_value b = qdq_input(g, "b", QDQ_BFLOAT16, b_shape);
    qdq_value y = qdq_matmul(g, a, b, (qdq_matmul_attrs){.fp32_dest_acc_en = QDQ_FALSE});
    qdq_set_memory_config(g, y, &(qdq_memory_config){.buffer_type = pool});
    qdq_output(g, "y", y);
    qdq_plan *plan = compile(g, &device);
    check_circular(plan, 0, want, 3);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// matmul_normal_mode.json: 16 x 16 tiles on each of 4 cores, two tiles of K, twice.
static void product_into_l1_has_blocks_of_16_tiles(void **state) {
    (void)state;
    const char *cores = "{[0-0 - 1-1]}";
    const wanted want[] = {{131072, 111616, false, cores},
                           {131072, 242688, false, cores},
                           {524288, 373760, false, cores}};
    check_matmul(QDQ_SHAPE(1, 1, 1024, 1024), QDQ_SHAPE(1, 1, 1024, 1024), QDQ_L1, want);
}

// create_simple_matmul_program_config: 32 rows of tiles over 10 cores are 4, 32 columns over 11 are
// 3; K of 32 tiles is no multiple of 11, so that a block has one of them, twice.
static void product_in_dram_is_spread_over_the_grid(void **state) {
    (void)state;
    const char *cores = "{[0-0 - 10-7]}";
    const wanted want[] = {{2 * 4 * 2048, 111616, false, cores},
                           {2 * 3 * 2048, 128000, false, cores},
                           {4 * 3 * 2048, 140288, false, cores}};
    check_matmul(QDQ_SHAPE(1024, 1024), QDQ_SHAPE(1024, 1024), QDQ_DRAM, want);
}

// One row of 128 tiles: ceil(4096 / 110) = 38 columns are 2 tiles of each of 64 cores, row by row.
static void wide_product_sends_a_to_all_cores(void **state) {
    (void)state;
    const char *cores = "{[0-0 - 10-4], [0-5 - 8-5]}";
    const wanted want[] = {{2 * 2 * 2048, 111616, false, cores},
                           {2 * 4 * 2048, 119808, false, cores},
                           {2 * 2048, 136192, false, cores}};
    check_matmul(QDQ_SHAPE(32, 1024), QDQ_SHAPE(1024, 4096), QDQ_DRAM, want);
}

// 16 rows of blocks are more than the 10 rows of cores: two tiles of each tensor.
static void product_beyond_the_grid_goes_tile_by_tile(void **state) {
    (void)state;
    const char *cores = "{[0-0 - 10-9]}";
    const wanted want[] = {
        {4096, 111616, false, cores}, {4096, 115712, false, cores}, {4096, 119808, false, cores}};
    check_matmul(QDQ_SHAPE(8192, 64), QDQ_SHAPE(64, 1024), QDQ_L1, want);
}

//---- Ops that move a tensor -------------------------------------------------

// conv2d.json: 16,384 rows of 64 bytes to 103 shards of 160 rows; four aligned rows of scratch.
static void rows_become_shards_with_scratch(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("shards", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(1, 1, 16384, 32));
    qdq_memory_config config = {.buffer_type = QDQ_L1,
                                .memory_layout = QDQ_HEIGHT_SHARDED,
                                .shard_spec = {.grid = {{0, 0, 10, 8}, {0, 9, 3, 9}},
                                               .grid_count = 2,
                                               .shape = {2, {160, 32}}}};
    qdq_set_layout(g, x, QDQ_LAYOUT_ROW_MAJOR);
    qdq_value s = qdq_interleaved_to_sharded(g, x, (qdq_unary_attrs){0});
    qdq_set_memory_config(g, s, &config);
    qdq_value back = qdq_sharded_to_interleaved(g, s, (qdq_unary_attrs){0});
    qdq_output(g, "y", back);
    qdq_plan *plan = compile(g, &device);
    const char *cores = "{[0-0 - 10-8], [0-9 - 3-9]}";
    const wanted want[] = {{10240, 1562624, true, cores}, {512, 111616, false, cores}};
    check_circular(plan, 0, want, 2);
    check_circular(plan, 1, want, 1);  // the reader of sharded_to_interleaved: the shards alone
    assert_int_equal(qdq_plan_device(plan)->buffers[1].size, 1054720);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// 6 shards of 8 cores: a row of four, and two below it.
static void cores_without_shards_have_no_scratch(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("few", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(192, 64));
    qdq_value s = qdq_interleaved_to_sharded(g, x, (qdq_unary_attrs){0});
    set_sharded(g, s, 3, 1, 32, 64);
    qdq_value r = qdq_reshard(g, s, (qdq_unary_attrs){0});
    set_sharded(g, r, 2, 0, 64, 64);
    qdq_output(g, "y", r);
    qdq_plan *plan = compile(g, &device);
    const char *six = "{[0-0 - 3-0], [0-1 - 1-1]}", *three = "{[0-0 - 2-0]}";
    const wanted to[] = {{4096, 1568768, true, six}, {4 * (2048 + 64), 111616, false, six}};
    const wanted again[] = {{8192, 1560576, true, three}};
    check_circular(plan, 0, to, 2);
    check_circular(plan, 1, again, 1);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// 4,096 rows are 128 rows of 4 tiles: 2 for each of 64 cores, six rows of cores.
static void rows_become_tiles_a_row_of_tiles_at_a_time(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_graph *g = qdq_graph_create("layout", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(4096, 128));
    qdq_set_layout(g, x, QDQ_LAYOUT_ROW_MAJOR);
    qdq_value t = qdq_to_layout(g, x, (qdq_unary_attrs){0});
    qdq_set_layout(g, t, QDQ_LAYOUT_TILE);
    qdq_value rows = qdq_to_layout(g, t, (qdq_unary_attrs){0});
    qdq_set_layout(g, rows, QDQ_LAYOUT_ROW_MAJOR);
    qdq_output(g, "y", rows);
    qdq_plan *plan = compile(g, &device);
    const char *cores = "{[0-0 - 10-4], [0-5 - 8-5]}";
    const wanted tilize[] = {{8192, 111616, false, cores}, {8192, 119808, false, cores}};
    const wanted untilize[] = {{16384, 111616, false, cores}, {16384, 128000, false, cores}};
    check_circular(plan, 0, tilize, 2);
    check_circular(plan, 1, untilize, 2);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// x takes 5 tiles of a bank, 30,720 bytes above the base of L1; the buffers of untilize end at
// 32,768.
static void moves_clash_with_a_low_buffer(void **state) {
    (void)state;
    qdq_device device = measured();
    qdq_error err = {0};
    device.l1_size = device.l1_base + 30720 + 5 * 2048;
    qdq_graph *g = qdq_graph_create("clash", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(4096, 128));
    qdq_set_memory_config(g, x, &(qdq_memory_config){.buffer_type = QDQ_L1});
    qdq_value rows = qdq_to_layout(g, x, (qdq_unary_attrs){0});
    qdq_set_layout(g, rows, QDQ_LAYOUT_ROW_MAJOR);
    qdq_output(g, "y", rows);
    qdq_compile_options options = {.target = "ttnn@blackhole", .device = &device};
    assert_null(qdq_graph_compile(g, &options, &err));
    const qdq_report *report = qdq_graph_validate_on(g, "ttnn@blackhole", &device, &err);
    bool found = false;
    for (size_t i = 0; i < report->count; i++)
        found |= strcmp(report->findings[i].rule, "ttnn/memory-circular-clash") == 0;
    assert_true(found);
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_the_circular_buffers_of_a_sharded_add),
        cmocka_unit_test(add_into_an_operand_allocates_nothing),
        cmocka_unit_test(shards_are_the_circular_buffers_of_a_sharded_unary),
        cmocka_unit_test(unary_runs_on_as_many_cores_as_tiles),
        cmocka_unit_test(rows_become_shards_with_scratch),
        cmocka_unit_test(cores_without_shards_have_no_scratch),
        cmocka_unit_test(rows_become_tiles_a_row_of_tiles_at_a_time),
        cmocka_unit_test(moves_clash_with_a_low_buffer),
        cmocka_unit_test(product_into_l1_has_blocks_of_16_tiles),
        cmocka_unit_test(product_in_dram_is_spread_over_the_grid),
        cmocka_unit_test(wide_product_sends_a_to_all_cores),
        cmocka_unit_test(product_beyond_the_grid_goes_tile_by_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
