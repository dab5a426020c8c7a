// SPDX-License-Identifier: Apache-2.0
// Graphs with block floats: a value declared as one is rounded together with its face row, wherever
// it comes from and however the graph runs. Wanted values come from tests/block_floats.h.
#include <math.h>

#include "include/qdq/qdq.h"
#include "tests/block_floats.h"
#include "tests/unit.h"

enum { MOST = 2304 };

static const qdq_dtype dtypes[2] = {QDQ_BFLOAT8_B, QDQ_BFLOAT4_B};

static int bits_of(qdq_dtype dtype) { return dtype == QDQ_BFLOAT8_B ? 7 : 3; }

static const qdq_shape shapes[] = {{0},           {1, {1}},       {1, {40}},
                                   {2, {3, 5}},   {2, {1, 17}},   {2, {32, 32}},
                                   {2, {33, 65}}, {3, {2, 3, 7}}, {4, {2, 1, 33, 20}}};

// Rows differ in magnitude and low bits are set, so each group has something to round.
static void fill(float *x, qdq_shape shape) {
    uint64_t random = 9;
    size_t cols = shape.rank ? (size_t)shape.dims[shape.rank - 1] : 1;
    for (size_t i = 0; i < qdq_shape_count(shape); i++) {
        float unit = (float)((int64_t)(unit_random(&random) % 2000003) - 1000001) / 1000003.0f;
        x[i] = ldexpf(unit, (int)(i / cols % 9) - 2 + (int)(i % cols / 8 % 3));
    }
}

static void round_tensor(float *x, qdq_shape shape, qdq_dtype dtype) {
    size_t cols = shape.rank ? (size_t)shape.dims[shape.rank - 1] : 1;
    block_round_rows(x, qdq_shape_count(shape) / cols, cols, bits_of(dtype));
}

//---- Running ----------------------------------------------------------------

typedef struct way {
    bool materialize, bind;
    int threads;
} way;

static const way ways[] = {{false, false, 1}, {true, false, 1}, {false, true, 1}, {true, true, 1},
                           {false, false, 3}, {true, false, 4}, {false, true, 2}};

// Runs a graph with the input `x`, if it has one, and reads all outputs into `out`, one after the
// other.
static void run(qdq_graph *g, const way *how, float *x, size_t count, char *out) {
    qdq_error err = {0};
    qdq_compile_options options = {.materialize = how->materialize};
    qdq_exec_options exec_options = {.poison = true, .parallel = qdq_parallel_openmp(how->threads)};
    exec_options.parallel.least = 0;
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, &exec_options, &err);
    assert_string_equal(err.text, "");
    if (x && how->bind)
        (void)qdq_exec_bind(exec, "x", x, count * sizeof *x, &err);
    else if (x)
        (void)qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, &err);
    assert_string_equal(err.text, "");
    for (int i = 0; i < 2; i++) qdq_exec_run(exec);
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_output(plan, i);
        (void)qdq_exec_read(exec, info->name, info->dtype, out, qdq_shape_count(info->shape), &err);
        assert_string_equal(err.text, "");
        out += info->bytes;
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

// Checks that every mode gives `wanted`. Destroys the graph.
static void check(qdq_graph *g, float *x, size_t count, const void *wanted, size_t bytes) {
    static char got[MOST * 24];
    float before[MOST];
    assert_true(count <= MOST && bytes <= sizeof got);
    if (x) memcpy(before, x, count * sizeof *x);
    for (size_t i = 0; i < UNIT_COUNT(ways); i++) {
        memset(got, 0x55, sizeof got);
        run(g, &ways[i], x, count, got);
        assert_memory_equal(got, wanted, bytes);
        if (x) assert_memory_equal(x, before, count * sizeof *x);  // bound inputs are not written
    }
    qdq_graph_destroy(g);
}

static int32_t quantized(float x, float scale, int32_t zero_point) {
    return (int32_t)nearbyintf(x / scale) + zero_point;
}

//---- Results ----------------------------------------------------------------

static void inputs_are_rounded_before_an_op_sees_them(void **state) {
    (void)state;
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++)
        for (size_t k = 0; k < 2; k++) {
            static float x[MOST], rounded[MOST];
            static int32_t wanted[MOST];
            size_t count = qdq_shape_count(shapes[s]);
            fill(x, shapes[s]);
            memcpy(rounded, x, sizeof x);
            round_tensor(rounded, shapes[s], dtypes[k]);
            for (size_t i = 0; i < count; i++) wanted[i] = quantized(rounded[i], 0.01f, 5);
            qdq_graph *g = qdq_graph_create(NULL, NULL);
            qdq_value v = qdq_input(g, "x", dtypes[k], shapes[s]);
            qdq_output(g, "y",
                       qdq_quantize(g, v,
                                    (qdq_quantize_attrs){.scales = QDQ_SCALE(0.01f),
                                                         .zps = QDQ_ZP(5),
                                                         .dtype = QDQ_INT32}));
            check(g, x, count, wanted, count * sizeof *wanted);
        }
}

static void inputs_and_constants_that_are_outputs_are_rounded(void **state) {
    (void)state;
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++)
        for (size_t k = 0; k < 2; k++) {
            static float x[MOST], wanted[3 * MOST];
            size_t count = qdq_shape_count(shapes[s]);
            fill(x, shapes[s]);
            for (size_t i = 0; i < 3; i++) {
                memcpy(wanted + i * count, x, count * sizeof *x);
                round_tensor(wanted + i * count, shapes[s], dtypes[k]);
            }
            qdq_graph *g = qdq_graph_create(NULL, NULL);
            qdq_value c = qdq_constant(g, "c", dtypes[k], shapes[s], x);
            qdq_value d = qdq_dequantize(
                g, c, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32});
            qdq_output(g, "a", qdq_input(g, "x", dtypes[k], shapes[s]));
            qdq_output(g, "b", c), qdq_output(g, "c", d);
            check(g, x, count, wanted, 3 * count * sizeof *wanted);
        }
}

// float32 -> int8 -> block -> other block -> float32, with all of them outputs, or only the last. A
// value between two links is rounded as if it were stored.
static void every_value_of_a_chain_is_rounded(void **state) {
    (void)state;
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++)
        for (size_t k = 0; k < 4; k++) {
            static float x[MOST], wanted[3 * MOST];
            bool all = k & 1;
            qdq_dtype first = dtypes[k / 2], second = dtypes[1 - k / 2];
            size_t count = qdq_shape_count(shapes[s]);
            float *a = wanted, *b = a + count, *c = b + count;
            fill(x, shapes[s]);
            for (size_t i = 0; i < count; i++) {
                int32_t q = quantized(x[i], 0.3f, 0);
                a[i] = (float)(q < -128 ? -128 : q > 127 ? 127 : q) * 0.37f;
            }
            round_tensor(a, shapes[s], first);
            for (size_t i = 0; i < count; i++) b[i] = a[i] / 0.7f;
            round_tensor(b, shapes[s], second);
            for (size_t i = 0; i < count; i++) c[i] = b[i] * 1.1f;
            qdq_graph *g = qdq_graph_create(NULL, NULL);
            qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, shapes[s]);
            v = qdq_quantize(g, v, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.3f)});
            v = qdq_dequantize(g, v,
                               (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.37f), .dtype = first});
            if (all) qdq_output(g, "a", v);
            v = qdq_quantize(g, v,
                             (qdq_quantize_attrs){.scales = QDQ_SCALE(0.7f), .dtype = second});
            if (all) qdq_output(g, "b", v);
            v = qdq_dequantize(
                g, v, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1.1f), .dtype = QDQ_FLOAT32});
            qdq_output(g, "c", v);
            check(g, x, count, all ? a : c, (all ? 3 : 1) * count * sizeof *x);
        }
}

// A run-time scale of 0 applies to row 0 and to the padding: 0 / 0 gives NaN there, and its
// exponent of 255 would spoil the valid elements of row 1.
static void padding_does_not_reach_valid_elements(void **state) {
    (void)state;
    float x[10] = {0, 0, 0, 0, 0, 1, 2, -3.03f, 0.5f, 1.25f}, wanted[10], scales[2] = {0, 1};
    memcpy(wanted, x, sizeof x);
    block_round(wanted + 5, 5, 7);
    for (int i = 0; i < 5; i++) wanted[i] = -NAN;
    for (int materialize = 0; materialize < 2; materialize++) {
        float y[10];
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 5));
        qdq_value s = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(2));
        qdq_output(g, "y",
                   qdq_quantize(g, v,
                                (qdq_quantize_attrs){.scale = s,
                                                     .qtype = QDQ_PER_CHANNEL,
                                                     .axis = QDQ_INT(0),
                                                     .dtype = QDQ_BFLOAT8_B}));
        qdq_compile_options options = {.materialize = materialize != 0};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 10, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_write(exec, "s", QDQ_FLOAT32, scales, 2, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_BFLOAT8_B, y, 10, NULL), QDQ_OK);
        for (int i = 0; i < 5; i++) assert_true(isnan(y[i]));
        assert_memory_equal(y + 5, wanted + 5, 5 * sizeof *y);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// 127 stands for the greatest of x = {..., 7.9999}. As bfloat8_b, 7.9999 without a greater
// neighbour is 7.9375.
static void dynamic_quantize_computes_from_the_rounded_values(void **state) {
    (void)state;
    float x[3] = {7.9999f, -1, 0.1f};
    struct {
        int8_t y[3];
        float scale;
    } out;
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value v = qdq_input(g, "x", QDQ_BFLOAT8_B, QDQ_SHAPE(3));
        v = qdq_dynamic_quantize(g, v, (qdq_dynamic_quantize_attrs){.scheme = QDQ_SYMMETRIC});
        qdq_output(g, "y", v), qdq_output(g, "scale", qdq_port(g, v, "scale"));
        qdq_compile_options options = {.materialize = materialize != 0};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_BFLOAT8_B, x, 3, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_INT8, out.y, 3, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_read(exec, "scale", QDQ_FLOAT32, &out.scale, 1, NULL), QDQ_OK);
        assert_true(out.scale == 0.0625f);  // 7.9375 / 127
        assert_memory_equal(out.y, ((int8_t[]){127, -16, 2}), 3);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

//---- Plans ------------------------------------------------------------------

// [33, 3] has two tiles; each of its 99 elements takes 8.5 or 4.5 bits.
static void plans_count_tiles_with_their_exponents(void **state) {
    (void)state;
    static const size_t tile[2] = {1088, 576}, elements[2] = {106, 56}, page[2] = {2, 1};
    for (size_t k = 0; k < 2; k++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value x = qdq_input(g, "x", dtypes[k], QDQ_SHAPE(33, 3));
        qdq_output(g, "y", qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
        qdq_compile_options materialize = {.materialize = true};
        qdq_plan *plan = qdq_graph_compile(g, &materialize, NULL);
        qdq_plan_stats stats = qdq_plan_get_stats(plan);
        assert_int_equal(qdq_plan_get_value(plan, 0)->bytes, 2 * tile[k]);
        assert_int_equal(stats.arena_bytes, page[k] * 2048 + 2048);
        assert_int_equal(stats.padding_bytes, 2 * tile[k] - elements[k] + 2 * 1024 - 99);
        assert_int_equal(stats.io_bytes, 99 * 4 + 99);
        assert_int_equal(qdq_plan_get_step(plan, 0)->read_bytes, 99 * 4);
        assert_int_equal(qdq_plan_get_step(plan, 0)->write_bytes, 2 * tile[k]);
        qdq_plan_destroy(plan);
        plan = qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_ROWS}, NULL);
        assert_int_equal(qdq_plan_get_stats(plan).arena_bytes, 0);
        assert_true(qdq_plan_get_step(plan, 0)->tiled);
        assert_int_equal(qdq_plan_get_step(plan, 0)->blocks, 2);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// Next to 100, 1.3 is 1 as bfloat8_b; as bfloat16 it would be 1.296875.
static void float_storage_leaves_block_floats_alone(void **state) {
    (void)state;
    float x[2] = {100, 1.3f}, y[2], z[2];
    for (int storage = 0; storage < 2; storage++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2));
        qdq_quantize_attrs to_block = {.scales = QDQ_SCALE(1), .dtype = QDQ_BFLOAT8_B};
        qdq_output(g, "y", qdq_quantize(g, v, to_block));
        v = qdq_quantize(g, v, to_block);
        v = qdq_dequantize(g, v,
                           (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32});
        qdq_output(g, "z", v);
        qdq_compile_options options = {.float_storage =
                                           storage ? QDQ_FLOAT_BFLOAT16 : QDQ_FLOAT_DECLARED};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 2, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 2, NULL), QDQ_OK);
        assert_int_equal(qdq_exec_read(exec, "z", QDQ_FLOAT32, z, 2, NULL), QDQ_OK);
        assert_true(y[0] == 100 && y[1] == 1);
        assert_true(z[0] == 100 && z[1] == 1);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

static void a_block_float_has_no_zero_point_and_is_no_scale(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2));
        qdq_value b = qdq_input(g, "b", QDQ_BFLOAT4_B, (qdq_shape){0});
        qdq_quantize_attrs attrs = {.name = "q",
                                    .scales = QDQ_SCALE(1),
                                    .zps = QDQ_ZP(1),
                                    .dtype = k ? QDQ_BFLOAT4_B : QDQ_INT8};
        if (k == 0) attrs.scale = b, attrs.scales = (qdq_floats){0};
        if (k != 1) attrs.zps = (qdq_numbers){0};
        if (k == 2) attrs.quant_min = QDQ_INT(-4);
        qdq_output(g, "y", qdq_quantize(g, x, attrs)), qdq_output(g, "b", b);
        qdq_error err = {0};
        assert_null(qdq_graph_compile(g, NULL, &err));
        static const char *const wanted[3] = {
            "scale is bfloat4_b, wanted one of: float32",
            "zps has 1 at index 0, wanted 0, as the quantized type is bfloat4_b",
            "quant_min is given, but the quantized type is bfloat4_b"};
        if (!strstr(err.text, wanted[k])) fail_msg("%s", err.text);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_rounded_before_an_op_sees_them),
        cmocka_unit_test(inputs_and_constants_that_are_outputs_are_rounded),
        cmocka_unit_test(every_value_of_a_chain_is_rounded),
        cmocka_unit_test(padding_does_not_reach_valid_elements),
        cmocka_unit_test(dynamic_quantize_computes_from_the_rounded_values),
        cmocka_unit_test(plans_count_tiles_with_their_exponents),
        cmocka_unit_test(float_storage_leaves_block_floats_alone),
        cmocka_unit_test(a_block_float_has_no_zero_point_and_is_no_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
