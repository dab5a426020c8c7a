// SPDX-License-Identifier: Apache-2.0
// Target `tensorrt` with DynamicQuantize, NVFP4 and MXFP8 on the numbers of TensorRT's tests, and
// with Requantize, which TensorRT merges from a pair. The core target computes the first two alike.
#include "tests/ops/small_example.h"

enum { WIDE = 32, LONGEST = 2 * 128 * 16 };

static const char *const targets[] = {"tensorrt", "core"};
static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};

//---- NVFP4 ------------------------------------------------------------------

typedef struct nvfp4_result {
    uint8_t scale[LONGEST / 16];
    float effective[LONGEST / 16], y[LONGEST];
} nvfp4_result;

// x to NVFP4 and back as in TensorRT: the global scale dequantizes the block scales, which
// dequantize the data.
static void round_trip(const char *target, bool materialize, qdq_dtype dtype, qdq_shape shape,
                       const uint32_t *x, float global, nvfp4_result *out) {
    size_t count = qdq_shape_count(shape);
    qdq_shape group = {.rank = shape.rank};
    for (int d = 0; d < shape.rank; d++) group.dims[d] = d == shape.rank - 1 ? 16 : 1;
    qdq_ints group_shape = {group.dims, (size_t)group.rank};
    run r = {.graph = qdq_graph_create("nvfp4", NULL)};
    qdq_value v = tensor(&r, "x", INPUT, dtype, shape, x);
    qdq_value q =
        qdq_dynamic_quantize(r.graph, v,
                             (qdq_dynamic_quantize_attrs){.quantize = {.qtype = QDQ_PER_GROUP,
                                                                       .group_shape = group_shape,
                                                                       .dtype = QDQ_FLOAT4_E2M1},
                                                          .scheme = QDQ_NVFP4,
                                                          .global_scales = QDQ_SCALE(global)});
    qdq_value scale = qdq_port(r.graph, q, "scale");
    qdq_value effective = qdq_dequantize(
        r.graph, scale, (qdq_dequantize_attrs){.scales = QDQ_SCALE(global), .dtype = QDQ_FLOAT32});
    qdq_output(r.graph, "s", scale);
    qdq_output(r.graph, "e", effective);
    qdq_output(r.graph, "y",
               qdq_dequantize(r.graph, q,
                              (qdq_dequantize_attrs){.scale = effective,
                                                     .qtype = QDQ_PER_GROUP,
                                                     .group_shape = group_shape,
                                                     .dtype = QDQ_FLOAT32}));
    r.bound[r.count++] = (oracle_bound){"s", out->scale, count / 16};
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the run holds is freed
    r.bound[r.count++] = (oracle_bound){"e", out->effective, count / 16 * sizeof(float)};
    r.bound[r.count++] = (oracle_bound){"y", out->y, count * sizeof(float)};
    qdq_compile_options options = {.target = target, .materialize = materialize};
    oracle_run(r.graph, &options, r.bound, r.count);
    free(r.bound[0].data);
    qdq_graph_destroy(r.graph);
}

// clang-format off
static const float golden_x[2][WIDE] = {
    {0, .3f, .6f, 1, 1.3f, 1.6f, 1.9f, 2.3f, 2.6f, 2.9f, 3.2f, 3.5f, 3.9f, 4.2f, 4.5f, 4.8f,
     5.2f, 5.5f, 5.8f, 6.1f, 6.5f, 6.8f, 7.1f, 7.4f, 7.7f, 8.1f, 8.4f, 8.7f, 9, 9.4f, 9.7f, 10},
    {3, 3.3f, 3.6f, 4, 3.3f, 3.6f, 3.9f, 3.3f, 2.6f, 2.9f, 3.2f, 3.5f, 3.9f, 4.2f, 4.5f, 4.8f,
     -5.2f, -5.5f, -5.8f, -6.1f, -5.5f, -5.8f, 5.1f, 5.4f, 5.7f, 5.1f, 5.4f, 5.7f, 6, 6.4f, 4.7f, 6}};
static const float golden_y[2][WIDE] = {
    {0, .40625f, .40625f, .8125f, 1.21875f, 1.625f, 1.625f, 2.4375f, 2.4375f, 3.25f, 3.25f, 3.25f, 3.25f, 4.875f, 4.875f, 4.875f,
     4.875f, 4.875f, 6.5f, 6.5f, 6.5f, 6.5f, 6.5f, 6.5f, 6.5f, 6.5f, 9.75f, 9.75f, 9.75f, 9.75f, 9.75f, 9.75f},
    {3.25f, 3.25f, 3.25f, 3.25f, 3.25f, 3.25f, 3.25f, 3.25f, 2.4375f, 3.25f, 3.25f, 3.25f, 3.25f, 4.875f, 4.875f, 4.875f,
     -4.5f, -4.5f, -6.75f, -6.75f, -4.5f, -6.75f, 4.5f, 4.5f, 6.75f, 4.5f, 4.5f, 6.75f, 6.75f, 6.75f, 4.5f, 6.75f}};
// clang-format on
static const float golden_scale[4] = {.8125f, 1.625f, .8125f, 1.125f};

static void nvfp4_gives_the_scales_and_rows_of_the_golden_vector(void **state) {
    (void)state;
    static nvfp4_result out;
    const small_format *e4m3 = small_format_of(QDQ_FLOAT8_E4M3FN);
    uint32_t x[2 * WIDE];
    for (size_t i = 0; i < 2 * WIDE; i++) x[i] = unit_bits_of_float(golden_x[i / WIDE][i % WIDE]);
    for (unsigned k = 0; k < 4; k++) {
        round_trip(targets[k / 2], k % 2, QDQ_FLOAT32, QDQ_SHAPE(2, WIDE), x, 1, &out);
        for (size_t b = 0; b < 4; b++) {
            assert_true(small_value(e4m3, out.scale[b]) == (double)golden_scale[b]);
            assert_true(out.effective[b] == golden_scale[b]);
        }
        assert_memory_equal(out.y, golden_y, sizeof golden_y);
    }
}

// 3.9 / 6 is .65, which is .625 in e4m3fn; 3.9 / .625 exceeds 6.
static void a_constant_block_saturates_at_six_times_its_scale(void **state) {
    (void)state;
    static nvfp4_result out;
    uint32_t x[2 * WIDE];
    for (size_t i = 0; i < 2 * WIDE; i++) x[i] = unit_bits_of_float(3.9f);
    for (unsigned k = 0; k < 4; k++) {
        round_trip(targets[k / 2], k % 2, QDQ_FLOAT32, QDQ_SHAPE(2, WIDE), x, 1, &out);
        for (size_t i = 0; i < 2 * WIDE; i++) assert_true(out.y[i] == 3.75f);
    }
}

// Shapes and tolerance are from the test of the JAX wrapper.
static void a_round_trip_stays_within_the_tolerance(void **state) {
    (void)state;
    static nvfp4_result out;
    static uint32_t x[LONGEST];
    static const qdq_shape shapes[] = {{2, {1, 16}}, {2, {3, 64}}, {3, {2, 128, 16}}};
    uint64_t seed = 7;
    for (unsigned k = 0; k < 2 * 3 * 3; k++) {
        qdq_dtype dtype = floats[k % 3];
        qdq_shape shape = shapes[k / 3 % 3];
        for (size_t i = 0; i < qdq_shape_count(shape); i++) {
            double sum = 0;
            for (int j = 0; j < 12; j++) sum += (double)(unit_random(&seed) >> 40) * 0x1p-24;
            x[i] = bits_of(dtype, sum - 6);
        }
        round_trip(targets[k / 9], k % 2, dtype, shape, x, 1, &out);
        for (size_t i = 0; i < qdq_shape_count(shape); i++) {
            double v = value_of(dtype, x[i]), error = fabs((double)out.y[i] - v);
            assert_true(error <= 0.2 || error <= 0.25 * fabs(v));
        }
    }
}

//---- MXFP8 ------------------------------------------------------------------

// The scale is the least power of two not below max / 448, unlike in OCP MX: 480 gives 128, not
// 127.
static void mxfp8_scales_round_up(void **state) {
    (void)state;
    static const struct {
        float size;
        uint8_t code;
    } rows[] = {{0, 0}, {3, 120}, {4, 121}, {7, 121}, {8, 122}, {448, 127}, {480, 128}};
    static const int64_t group[2] = {1, WIDE};
    enum { ROWS = UNIT_COUNT(rows) };
    uint32_t x[ROWS * WIDE];
    for (unsigned k = 0; k < 12; k++) {
        uint8_t scale[ROWS];
        qdq_dtype dtype = floats[k % 3];
        for (size_t i = 0; i < ROWS * WIDE; i++) {
            double v = (double)rows[i / WIDE].size * (double)(i % WIDE) / 31;
            x[i] = bits_of(dtype, i % 2 ? v : -v);
        }
        run r = {.graph = qdq_graph_create("mxfp8", NULL)};
        qdq_value v = tensor(&r, "x", INPUT, dtype, QDQ_SHAPE(ROWS, WIDE), x);
        qdq_value q = qdq_dynamic_quantize(
            r.graph, v,
            (qdq_dynamic_quantize_attrs){.quantize = {.qtype = QDQ_PER_GROUP,
                                                      .group_shape = {group, 2},
                                                      .dtype = QDQ_FLOAT8_E4M3FN},
                                         .scheme = QDQ_MX_RCEIL});
        qdq_output(r.graph, "s", qdq_port(r.graph, q, "scale"));
        qdq_output(r.graph, "y", q);
        void *y = bind_bits(&r, "y", QDQ_FLOAT8_E4M3FN, NULL, ROWS * WIDE);
        r.bound[r.count++] = (oracle_bound){"s", scale, ROWS};
        qdq_compile_options options = {.target = targets[k / 6], .materialize = k / 3 % 2};
        oracle_run(r.graph, &options, r.bound, r.count);
        for (size_t b = 0; b < ROWS; b++) assert_int_equal(scale[b], rows[b].code);
        for (size_t i = 0; i < ROWS * WIDE; i++) {
            double want = ldexp(value_of(dtype, x[i]), 127 - rows[i / WIDE].code);
            assert_int_equal(held(QDQ_FLOAT8_E4M3FN, y, i), bits_of(QDQ_FLOAT8_E4M3FN, want));
        }
        for (size_t i = 0; i < 2; i++) free(r.bound[i].data);
        qdq_graph_destroy(r.graph);
    }
}

//---- Requantize -------------------------------------------------------------

// All codes, by way of float32.
static void requantize_is_dequantize_and_then_quantize(void **state) {
    (void)state;
    static const char *const both[] = {"tensorrt", "tripy"};
    int8_t x[256], y[256];
    for (size_t i = 0; i < 256; i++) x[i] = (int8_t)(i - 128);
    for (size_t in = 0; in < ORACLE_SCALES; in++)
        for (size_t out = 0; out < ORACLE_SCALES; out++) {
            qdq_graph *g = qdq_graph_create("requantize", NULL);
            qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(256));
            qdq_output(
                g, "y",
                qdq_requantize(g, v,
                               (qdq_requantize_attrs){.in_scales = QDQ_SCALE(oracle_scale(in)),
                                                      .out_scales = QDQ_SCALE(oracle_scale(out))}));
            oracle_bound bound[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
            oracle_run(g, &(qdq_compile_options){.target = both[out % 2]}, bound, 2);
            qdq_graph_destroy(g);
            oracle_side from = {(double)oracle_scale(in), 0}, to = {(double)oracle_scale(out), 0};
            for (size_t i = 0; i < 256; i++)
                assert_int_equal(
                    y[i], oracle_requantize(x[i], from, to, range_of(QDQ_INT8), &oracle_core));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvfp4_gives_the_scales_and_rows_of_the_golden_vector),
        cmocka_unit_test(a_constant_block_saturates_at_six_times_its_scale),
        cmocka_unit_test(a_round_trip_stays_within_the_tolerance),
        cmocka_unit_test(mxfp8_scales_round_up),
        cmocka_unit_test(requantize_is_dequantize_and_then_quantize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
