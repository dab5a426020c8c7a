// SPDX-License-Identifier: Apache-2.0
// An exec beside its runs: what it holds before the first one, the data it
// takes, and its memory.
#include <fenv.h>
#include <math.h>
#include <qdq/qdq.h>

#include "runtime/base/fp_environment.h"
#include "tests/unit.h"

enum { WAYS = 3 };
static const qdq_compile_options ways[WAYS] = {
    {.layout = QDQ_PLAN_ROWS}, {.layout = QDQ_PLAN_TILES}, {.materialize = true}};

static void outputs_are_zero_before_the_first_run(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(40));
    x = qdq_relu(g, x, (qdq_unary_attrs){0});
    qdq_output(g, "y", x);
    qdq_output(g, "codes", qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    for (size_t k = 0; k < WAYS; k++) {
        float y[40];
        int8_t codes[40];
        qdq_plan *plan = qdq_graph_compile(g, &ways[k], NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 40, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_read(exec, "codes", QDQ_INT8, codes, 40, NULL), QDQ_OK);
        for (size_t i = 0; i < 40; i++) assert_true(y[i] == 0 && codes[i] == 0);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

// Runs tasks one by one, from the last to the first.
static void run_backwards(void *self, size_t count, void (*task)(void *, size_t, size_t),
                          void *context) {
    (void)self;
    while (count--) task(context, count, count + 1);
}

// 300 KB, more than a task clears. The allocator gives memory that is not zero.
static void large_kept_values_are_zero_before_the_first_run(void **state) {
    (void)state;
    enum { COUNT = 75000 };
    static const char *const names[] = {"h"};
    static float h[COUNT];
    unit_memory memory;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(COUNT));
    x = qdq_relu(g, x, (qdq_unary_attrs){.name = "h"});
    qdq_output(g, "y", qdq_abs(g, x, (qdq_unary_attrs){0}));
    qdq_compile_options keep = {.keep = names, .keep_count = 1};
    qdq_exec_options options[] = {{0}, {.parallel = {run_backwards, NULL, 0}}};
    qdq_plan *plan = qdq_graph_compile(g, &keep, NULL);
    for (size_t k = 0; k < UNIT_COUNT(options); k++) {
        options[k].allocator = unit_memory_init(&memory, 0);
        qdq_exec *exec = qdq_exec_create(plan, &options[k], NULL);
        assert_int_equal(qdq_exec_read(exec, "h", QDQ_FLOAT32, h, COUNT, NULL), QDQ_OK);
        for (size_t i = 0; i < COUNT; i++) assert_true(h[i] == 0);
        qdq_exec_destroy(exec);
        unit_memory_check(&memory);
    }
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// 17 MB: results in rows are stored past the cache, results in tiles are not.
static void large_tensors_have_the_same_elements_in_rows_and_tiles(void **state) {
    (void)state;
    enum { ROWS = 2100, COLUMNS = 2030, COUNT = ROWS * COLUMNS };
    static float x[COUNT], y[COUNT], z[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)(i * 7919 % 4093) - 2000;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLUMNS));
    v = qdq_relu(g, v, (qdq_unary_attrs){0});
    qdq_output(g, "y", v), qdq_output(g, "z", qdq_add(g, v, v, (qdq_binary_attrs){0}));
    for (size_t k = 0; k < WAYS; k++) {
        qdq_plan *plan = qdq_graph_compile(g, &ways[k], NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_bind(exec, "x", x, sizeof x, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_bind(exec, "y", y, sizeof y, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_bind(exec, "z", z, sizeof z, NULL), QDQ_OK);
        qdq_exec_run(exec);
        for (size_t i = 0; i < COUNT; i++)
            if (y[i] != (x[i] > 0 ? x[i] : 0) || z[i] != 2 * y[i]) fail_msg("element %zu", i);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

// float8_e5m2 ends at 57,344, and has an infinity.
static void an_infinity_stays_one_where_the_dtype_has_one(void **state) {
    (void)state;
    static const float x[] = {1, INFINITY, 1e9F, -INFINITY, -1e9F};
    uint8_t codes[5];
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_output(g, "y", qdq_input(g, "x", QDQ_FLOAT8_E5M2, QDQ_SHAPE(5)));
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 5, NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT8_E5M2, codes, 5, NULL), QDQ_OK);
    assert_memory_equal(codes, ((uint8_t[]){0x3C, 0x7C, 0x7B, 0xFC, 0xFB}), 5);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// The bytes besides the arena, inputs and outputs of a chain over `rows` rows.
static size_t scratch_of(int64_t rows, const qdq_compile_options *options) {
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(rows, 32));
    x = qdq_relu(g, x, (qdq_unary_attrs){0});
    qdq_output(g, "y", qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    qdq_output(g, "z", qdq_abs(g, x, (qdq_unary_attrs){0}));
    qdq_plan *plan = qdq_graph_compile(g, options, NULL);
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    assert_int_equal(stats.io_bytes, rows * 32 * (4 + 1 + 4));
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return stats.scratch_bytes;
}

// The sizes of all tensors are multiples of 64 bytes, so nothing is rounded up.
static void scratch_of_a_chain_does_not_grow_with_its_tensors(void **state) {
    (void)state;
    for (size_t k = 0; k < WAYS; k++)
        assert_int_equal(scratch_of(32, &ways[k]), scratch_of(3200, &ways[k]));
}

// Integers narrower than a byte go through bytes of the same sign, floats of up to 32 bits through
// float32. All other data have the tensor's dtype.
static void data_has_the_dtype_of_the_tensor_or_a_wider_one(void **state) {
    (void)state;
    static const struct {
        qdq_dtype tensor, wider;
    } rows[] = {
        {QDQ_INT4, QDQ_INT8},         {QDQ_UINT4, QDQ_UINT8},
        {QDQ_INT2, QDQ_INT8},         {QDQ_UINT2, QDQ_UINT8},
        {QDQ_FLOAT16, QDQ_FLOAT32},   {QDQ_BFLOAT16, QDQ_FLOAT32},
        {QDQ_BFLOAT8_B, QDQ_FLOAT32}, {QDQ_FLOAT8_E4M3FN, QDQ_FLOAT32},
        {QDQ_INT8, QDQ_INT8},         {QDQ_FLOAT4_E2M1, QDQ_FLOAT32},
        {QDQ_INT32, QDQ_INT32},       {QDQ_BOOL, QDQ_BOOL},
        {QDQ_FLOAT32, QDQ_FLOAT32},   {QDQ_FLOAT64, QDQ_FLOAT64},
        {QDQ_INT64, QDQ_INT64},       {QDQ_UINT8, QDQ_UINT8},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_output(g, "y", qdq_input(g, "x", rows[i].tensor, QDQ_SHAPE(3)));
        qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        assert_non_null(exec);
        for (qdq_dtype data = QDQ_DTYPE_NONE; data < QDQ_DTYPE_COUNT; data++) {
            double numbers[3] = {0};
            bool fits = data == rows[i].tensor || data == rows[i].wider;
            qdq_status wanted = fits ? QDQ_OK : QDQ_ERR_ARGUMENT;
            assert_int_equal(qdq_exec_write(exec, "x", data, numbers, 3, &err), wanted);
            assert_int_equal(qdq_exec_read(exec, "y", data, numbers, 3, &err), wanted);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// Writes a number and reads it back, in an environment that rounds up or flushes denormals.
static void write_and_read(qdq_exec *exec, bool flushes, const float *number, void *code,
                           qdq_dtype dtype, float *back) {
#if defined(__x86_64__) || defined(__aarch64__)
    qdq_flushing before = flushes ? qdq_flushing_enter() : 0;
#endif
    if (!flushes) fesetround(FE_UPWARD);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, number, 1, NULL);
    qdq_exec_run(exec);
    qdq_exec_read(exec, "y", dtype, code, 1, NULL);
    qdq_exec_read(exec, "y", QDQ_FLOAT32, back, 1, NULL);
    fesetround(FE_TONEAREST);
#if defined(__x86_64__) || defined(__aarch64__)
    if (flushes) (void)qdq_flushing_leave(before);
#endif
}

// 1 + 2^-11 lies between two float16 numbers, of which 1 is even. 2^-127 has no normal float32.
static void the_callers_environment_changes_no_number(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        uint16_t code;
        float number, back;
    } rows[] = {{QDQ_FLOAT16, 0x3C00, 1 + 0x1p-11F, 1}, {QDQ_FLOAT8_E8M0, 0, 0x1p-127F, 0x1p-127F}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_output(g, "y", qdq_input(g, "x", rows[i].dtype, QDQ_SHAPE(1)));
        qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        for (int flushes = 0; flushes < 2; flushes++) {
            uint16_t code = 0;
            float back = 0;
            write_and_read(exec, flushes != 0, &rows[i].number, &code, rows[i].dtype, &back);
            assert_int_equal(code, rows[i].code);
            assert_memory_equal(&back, &rows[i].back, sizeof back);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_zero_before_the_first_run),
        cmocka_unit_test(large_kept_values_are_zero_before_the_first_run),
        cmocka_unit_test(large_tensors_have_the_same_elements_in_rows_and_tiles),
        cmocka_unit_test(an_infinity_stays_one_where_the_dtype_has_one),
        cmocka_unit_test(data_has_the_dtype_of_the_tensor_or_a_wider_one),
        cmocka_unit_test(the_callers_environment_changes_no_number),
        cmocka_unit_test(scratch_of_a_chain_does_not_grow_with_its_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
