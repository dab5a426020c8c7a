// SPDX-License-Identifier: Apache-2.0
// The device plan of small graphs: addresses, peaks, intermediates, circular buffers and failures,
// against numbers that follow from ttnn's formulas by hand (docs/device_memory.md).
#include "include/qdq/qdq.h"
#include "tests/device_plan_check.h"
#include "tests/unit.h"

// [512,512] in DRAM: 22 of 256 tiles in each of the 12 banks of a Wormhole chip.
enum { BF16_N150 = 22 * 2048, F32_N150 = 22 * 4096, INT8_N150 = 22 * 1024 };

static qdq_plan *compile(qdq_graph *g, const char *target, const char *device) {
    qdq_error err = {0};
    qdq_compile_options options = {.target = target,
                                   .device = device ? qdq_device_find(device, &err) : NULL};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    assert_string_equal(err.text, "");
    assert_true(!qdq_plan_device(plan) || !device_plan_broken(plan));
    return plan;
}

static size_t buffer_named(const qdq_device_plan *p, const char *name) {
    for (size_t i = 0; i < p->buffer_count; i++)
        if (strcmp(p->buffers[i].name, name) == 0) return i;
    fail_msg("there is no buffer %s", name);
    return 0;
}

static qdq_value quantized(qdq_graph *g, qdq_value x, qdq_dtype dtype) {
    qdq_quantize_attrs q = {.scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(3), .dtype = dtype};
    return qdq_quantize(g, x, q);
}

static qdq_value dequantized(qdq_graph *g, qdq_value x, qdq_dtype dtype) {
    qdq_dequantize_attrs d = {.scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(3), .dtype = dtype};
    return qdq_dequantize(g, x, d);
}

static qdq_graph *one_quantize(qdq_dtype x_dtype, qdq_dtype y_dtype) {
    qdq_graph *g = qdq_graph_create("one", NULL);
    qdq_value x = qdq_input(g, "x", x_dtype, QDQ_SHAPE(512, 512));
    qdq_output(g, "y", quantized(g, x, y_dtype));
    return g;
}

//---- Addresses --------------------------------------------------------------

static void check_page(const qdq_plan *plan, size_t buffer, uint64_t page, uint64_t bank,
                       uint64_t address) {
    qdq_page got;
    assert_true(qdq_plan_buffer_page(plan, buffer, page, &got));
    assert_int_equal(got.bank, bank);
    assert_int_equal(got.address, address);
}

static void first_tensor_in_dram_begins_at_its_base(void **state) {
    static const struct {
        const char *device, *target;
        uint64_t base, per_bank, page_100;
        uint64_t bank;
    } cases[] = {
        {"n150", "ttnn", 32, 45056, 16416, 4},
        {"n300", "ttnn", 32, 45056, 16416, 4},
        {"p150", "core", 64, 65536, 24640, 4},
        {"p100", "core", 64, 75776, 64 + 14 * 2048, 2},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_graph *g = one_quantize(QDQ_BFLOAT16, QDQ_INT8);
        qdq_plan *plan = compile(g, cases[i].target, cases[i].device);
        const qdq_device_plan *p = qdq_plan_device(plan);
        const qdq_device_buffer *x = &p->buffers[buffer_named(p, "x")];
        assert_int_equal(x->address, cases[i].base);
        assert_int_equal(x->bytes_per_bank, cases[i].per_bank);
        assert_int_equal(x->pages, 256);
        assert_int_equal(x->page_bytes, 2048);
        check_page(plan, buffer_named(p, "x"), 100, cases[i].bank, cases[i].page_100);
        assert_string_equal(p->device->name, cases[i].device);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// Tile 100 of x, as the host has it and where it would lie on the device.
static void pages_of_a_run_are_those_of_the_device(void **state) {
    (void)state;
    qdq_graph *g = one_quantize(QDQ_BFLOAT16, QDQ_INT8);
    qdq_compile_options options = {.target = "ttnn", .keep_all = true};
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    qdq_exec_run(exec);
    qdq_tiles_view view;
    qdq_page_info page;
    assert_int_equal(qdq_exec_tiles(exec, "x", &view, NULL), QDQ_OK);
    assert_int_equal(view.pages, 256);
    assert_int_equal(view.page_bytes, 2048);
    assert_int_equal(qdq_exec_page(exec, "x", 100, &page, NULL), QDQ_OK);
    assert_string_equal(page.pool, "DRAM");
    assert_int_equal(page.bank, 4);
    assert_int_equal(page.address, 16416);
    assert_int_equal(page.offset, qdq_plan_get_value(plan, 0)->offset + 100 * 2048);
    assert_int_equal(qdq_exec_page(exec, "x", 256, &page, NULL), QDQ_ERR_ARGUMENT);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void second_buffer_follows_the_first_and_a_freed_place_is_used_again(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(512, 512));
    qdq_value a = quantized(g, x, QDQ_INT8), b = dequantized(g, a, QDQ_BFLOAT16);
    qdq_value c = quantized(g, b, QDQ_INT8);
    qdq_output(g, "c", c);
    qdq_plan *plan = compile(g, "ttnn", NULL);
    const qdq_device_plan *p = qdq_plan_device(plan);
    // x lies at 32 and a after it. x is freed, and its place is the lowest that b fits into; c
    // takes the place that a has left.
    assert_int_equal(p->buffers[0].address, 32);
    assert_int_equal(p->buffers[1].address, 32 + BF16_N150);
    assert_int_equal(p->buffers[2].address, 32);
    assert_int_equal(p->buffers[3].address, 32 + BF16_N150);
    assert_int_equal(p->pools[QDQ_DRAM].peak, BF16_N150 + INT8_N150);
    assert_int_equal(p->pools[QDQ_DRAM].end.allocated, INT8_N150);
    assert_true(p->buffers[3].lives_on && !p->buffers[2].lives_on);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

//---- Nodes ------------------------------------------------------------------

static void fused_quantize_has_circular_buffers_of_five_tiles(void **state) {
    (void)state;
    qdq_graph *g = one_quantize(QDQ_FLOAT32, QDQ_INT32);
    qdq_plan *plan = compile(g, "ttnn", NULL);
    const qdq_device_plan *p = qdq_plan_device(plan);
    assert_int_equal(p->step_count, 1);
    assert_string_equal(p->steps[0].program, "quantize");
    assert_int_equal(p->steps[0].circular_begin, 103424);
    assert_int_equal(p->steps[0].circular_end, 123904);
    assert_int_equal(p->peak_circular, 20480);
    assert_int_equal(p->peak_l1, 20480);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void check_programs(const qdq_device_plan *p, const char *const *wanted) {
    size_t i = 0;
    for (; wanted[i]; i++) {
        assert_true(i < p->step_count);
        assert_string_equal(p->steps[i].program, wanted[i]);
    }
    assert_int_equal(p->step_count, i);
}

// x, x / scale, that plus the zero point, and the result at once.
static void composite_quantize_peaks_at_three_times_x_and_the_result(void **state) {
    static const char *const programs[] = {"typecast", "divide", "add", "typecast", NULL};
    static const int32_t zero_point[] = {3};
    (void)state;
    qdq_graph *g = qdq_graph_create("composite", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(512, 512));
    qdq_value z = qdq_constant(g, "z", QDQ_INT32, QDQ_SHAPE(1), zero_point);
    qdq_quantize_attrs q = {.scales = QDQ_SCALE(0.5f), .zero_point = z, .dtype = QDQ_INT32};
    qdq_output(g, "y", qdq_quantize(g, x, q));
    qdq_plan *plan = compile(g, "ttnn", NULL);
    const qdq_device_plan *p = qdq_plan_device(plan);
    check_programs(p, programs);
    // The zero point and its float32 form are a tile each, in one bank of twelve.
    assert_int_equal(p->pools[QDQ_DRAM].peak, 2 * 4096 + 4 * F32_N150);
    assert_int_equal(p->pools[QDQ_DRAM].peak_step, 3);
    assert_int_equal(p->pools[QDQ_DRAM].end.allocated, F32_N150);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// A list of channels is reshaped to one that broadcasts: [512] is 16 tiles, [512, 1] too, [1, 512]
// as well; a reciprocal is taken on the device.
static void scales_of_channels_are_reshaped_and_inverted(void **state) {
    static const char *const programs[] = {"reshape", "reciprocal", "quantize", NULL};
    static float scales[512];
    (void)state;
    for (int i = 0; i < 512; i++) scales[i] = 0.5f;
    qdq_graph *g = qdq_graph_create("channels", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(512, 512));
    qdq_quantize_attrs q = {.qtype = QDQ_PER_CHANNEL,
                            .axis = QDQ_INT(0),
                            .scales = {.data = scales, .count = 512},
                            .zps = QDQ_ZP(0),
                            .dtype = QDQ_INT32};
    qdq_output(g, "y", qdq_quantize(g, x, q));
    qdq_plan *plan = compile(g, "ttnn", NULL);
    const qdq_device_plan *p = qdq_plan_device(plan);
    check_programs(p, programs);
    const qdq_device_buffer *list = &p->buffers[1], *reshaped = &p->buffers[2];
    assert_int_equal(list->role, QDQ_ROLE_CONSTANT);
    assert_int_equal(list->pages, 16);
    assert_int_equal(reshaped->role, QDQ_ROLE_INTERMEDIATE);
    assert_int_equal(reshaped->shape.dims[0], 512);
    assert_int_equal(reshaped->shape.dims[1], 1);
    assert_int_equal(reshaped->pages, 16);
    // f32 and f32 of two tiles each, and int32 of two.
    assert_int_equal(p->steps[2].circular_end - p->steps[2].circular_begin, 6 * 4096);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void int8_is_widened_twice_before_a_zero_point_is_subtracted(void **state) {
    static const char *const programs[] = {"dequantize", "typecast", "subtract",
                                           "typecast",   "multiply", NULL};
    static const int32_t zero_point[] = {3};
    (void)state;
    qdq_graph *g = qdq_graph_create("widened", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(512, 512));
    qdq_value z = qdq_constant(g, "z", QDQ_INT32, QDQ_SHAPE(1), zero_point);
    qdq_dequantize_attrs d = {.scales = QDQ_SCALE(0.5f), .zero_point = z, .dtype = QDQ_BFLOAT16};
    qdq_output(g, "y", qdq_dequantize(g, x, d));
    qdq_plan *plan = compile(g, "ttnn", NULL);
    const qdq_device_plan *p = qdq_plan_device(plan);
    check_programs(p, programs);
    // x, z, x as int32, their difference, and that as float32.
    assert_int_equal(p->pools[QDQ_DRAM].peak, INT8_N150 + 4096 + 3 * F32_N150);
    assert_int_equal(p->pools[QDQ_DRAM].peak_step, 3);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void reshape_between_whole_tiles_is_a_view(void **state) {
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        qdq_graph *g = qdq_graph_create("view", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(512, 512));
        int64_t rows = whole ? 256 : 16;
        int64_t dims[] = {512 / rows, rows, 512};
        qdq_value v =
            qdq_reshape(g, x, (qdq_reshape_attrs){.shape = {dims, 3}, .special_zero = QDQ_FALSE});
        qdq_output(g, "y", quantized(g, v, QDQ_INT8));
        qdq_plan *plan = compile(g, "core", "n150");
        const qdq_device_plan *p = qdq_plan_device(plan);
        assert_int_equal(p->buffers[1].view_of, whole ? 0 : SIZE_MAX);
        if (whole) {
            assert_int_equal(p->buffers[1].address, p->buffers[0].address);
            assert_int_equal(p->pools[QDQ_DRAM].peak, BF16_N150 + INT8_N150);
        }
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

static void materialized_values_live_on(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("kept", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(512, 512));
    qdq_output(g, "y", dequantized(g, quantized(g, x, QDQ_INT8), QDQ_BFLOAT16));
    qdq_compile_options options = {.target = "ttnn", .materialize = true};
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    const qdq_device_plan *p = qdq_plan_device(plan);
    assert_null(device_plan_broken(plan));
    assert_int_equal(p->pools[QDQ_DRAM].end.allocated, 2 * BF16_N150 + INT8_N150);
    for (size_t i = 0; i < p->buffer_count; i++) assert_true(p->buffers[i].lives_on);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

//---- L1 ---------------------------------------------------------------------

// x, 338 tiles of float32 in each bank of L1, quantized to int8; y in `pool`.
static qdq_graph *large_in_l1(qdq_buffer_type pool) {
    qdq_graph *g = qdq_graph_create("l1", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(338 * 128, 512));
    qdq_value y = quantized(g, x, QDQ_INT8);
    qdq_set_memory_config(g, x, &(qdq_memory_config){.buffer_type = QDQ_L1});
    qdq_set_memory_config(g, y, &(qdq_memory_config){.buffer_type = pool});
    qdq_output(g, "y", y);
    return g;
}

static void check_refused(qdq_graph *g, const char *rule, const char *message) {
    qdq_error err = {0};
    assert_null(qdq_graph_compile(g, &(qdq_compile_options){.target = "ttnn"}, &err));
    assert_int_equal(err.status, QDQ_ERR_UNSUPPORTED);
    assert_string_equal(err.text, message);
    const qdq_report *report = qdq_graph_validate(g, "ttnn", &err);
    assert_int_equal(report->errors, 1);
    assert_string_equal(report->findings[0].rule, rule);
    qdq_graph_destroy(g);
}

// x begins at 1,499,136 - 338 * 4096 = 114,688; circular buffers end at 103,424 + 14,336.
static void circular_buffers_clash_with_a_low_buffer_in_l1(void **state) {
    (void)state;
    check_refused(large_in_l1(QDQ_DRAM), "ttnn/memory-circular-clash",
                  "node 'Quantize_0': Quantize: circular buffers on cores (0,0)-(7,7) end at "
                  "117760, 3072 B above the lowest L1 buffer at 114688; move tensors from L1 to "
                  "DRAM, or reallocate them");
}

static void l1_runs_out_with_the_eight_numbers(void **state) {
    (void)state;
    check_refused(large_in_l1(QDQ_L1), "ttnn/memory-exhausted",
                  "node 'Quantize_0': Quantize: L1 is exhausted: a buffer of 22151168 B over 64 "
                  "banks needs 346112 B in each, a bank has 1395712 B, allocated 1384448 B, free "
                  "11264 B, largest free block 11264 B; free tensors earlier, or move some to "
                  "another pool");
}

static void first_tensor_in_l1_ends_at_its_end(void **state) {
    static const struct {
        const char *device;
        uint64_t address, per_bank, page_100, bank;
    } cases[] = {
        {"n150", 1490944, 8192, 1490944 + 2048, 36},
        {"n300", 1488896, 10240, 1490944, 44},
        {"p150", 1568768, 4096, 1568768, 100},
        {"p100", 1566720, 6144, 1566720, 100},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_graph *g = one_quantize(QDQ_BFLOAT16, QDQ_INT8);
        qdq_set_memory_config(g, qdq_graph_find(g, "x"),
                              &(qdq_memory_config){.buffer_type = QDQ_L1});
        qdq_plan *plan = compile(g, "core", cases[i].device);
        const qdq_device_buffer *x = &qdq_plan_device(plan)->buffers[0];
        assert_int_equal(x->pool, QDQ_L1);
        assert_int_equal(x->address, cases[i].address);
        assert_int_equal(x->bytes_per_bank, cases[i].per_bank);
        check_page(plan, 0, 100, cases[i].bank, cases[i].page_100);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

//---- Which device -----------------------------------------------------------

static void target_has_the_device_of_its_chip(void **state) {
    qdq_error err = {0};
    (void)state;
    qdq_graph *g = one_quantize(QDQ_FLOAT32, QDQ_INT8);
    qdq_plan *plan = compile(g, "ttnn", NULL);
    assert_string_equal(qdq_plan_device(plan)->device->name, "n150");
    qdq_plan_destroy(plan);
    plan = compile(g, "ttnn", "none");
    assert_null(qdq_plan_device(plan));
    qdq_plan_destroy(plan);
    plan = compile(g, "core", NULL);
    assert_null(qdq_plan_device(plan));
    qdq_plan_destroy(plan);
    qdq_compile_options other = {.target = "ttnn", .device = qdq_device_find("p150", &err)};
    assert_null(qdq_graph_compile(g, &other, &err));
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "target ttnn computes as a wormhole chip, and device p150 is a blackhole "
                        "one; wanted n150, another wormhole device, or none");
    qdq_graph_destroy(g);
}

static void fast_and_a_device_exclude_each_other(void **state) {
    qdq_error err = {0};
    (void)state;
    qdq_graph *g = one_quantize(QDQ_FLOAT32, QDQ_INT8);
    qdq_compile_options options = {.fast = true, .device = qdq_device_find("n150", &err)};
    assert_null(qdq_graph_compile(g, &options, &err));
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    options = (qdq_compile_options){.fast = true, .target = "ttnn"};
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    assert_non_null(plan);
    assert_null(qdq_plan_device(plan));
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void every_failing_allocation_is_reported(void **state) {
    (void)state;
    for (size_t at = 1; at < 400; at++) {
        qdq_error err = {0};
        unit_memory memory;
        qdq_graph_options options = {.allocator = unit_memory_init(&memory, 0), .target = "ttnn"};
        qdq_graph *g = qdq_graph_create("g", &options);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(64, 64));
        qdq_output(g, "y", quantized(g, x, QDQ_INT8));
        memory.fail_at = memory.calls + at;
        qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
        if (!plan) assert_int_equal(err.status, QDQ_ERR_MEMORY);
        memory.fail_at = 0;
        bool done = plan != NULL;
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
        unit_memory_check(&memory);
        if (done) return;
    }
    fail_msg("compiling never succeeds");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_tensor_in_dram_begins_at_its_base),
        cmocka_unit_test(pages_of_a_run_are_those_of_the_device),
        cmocka_unit_test(second_buffer_follows_the_first_and_a_freed_place_is_used_again),
        cmocka_unit_test(fused_quantize_has_circular_buffers_of_five_tiles),
        cmocka_unit_test(composite_quantize_peaks_at_three_times_x_and_the_result),
        cmocka_unit_test(scales_of_channels_are_reshaped_and_inverted),
        cmocka_unit_test(int8_is_widened_twice_before_a_zero_point_is_subtracted),
        cmocka_unit_test(reshape_between_whole_tiles_is_a_view),
        cmocka_unit_test(materialized_values_live_on),
        cmocka_unit_test(first_tensor_in_l1_ends_at_its_end),
        cmocka_unit_test(circular_buffers_clash_with_a_low_buffer_in_l1),
        cmocka_unit_test(l1_runs_out_with_the_eight_numbers),
        cmocka_unit_test(target_has_the_device_of_its_chip),
        cmocka_unit_test(fast_and_a_device_exclude_each_other),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
