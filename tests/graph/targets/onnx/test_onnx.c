// SPDX-License-Identifier: Apache-2.0
// Target `onnx` on single numbers: from ONNX's texts and test vectors, and measured on ONNX Runtime
// 1.32. Its arithmetic on many inputs is tested in test_tensorrt.c.
#include "tests/ops/small_example.h"

enum { LONGEST = 16 };

static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};

// Quantize with a scale of 1 in the dtype of x; `zp` points to a code, NULL: no zero point.
static void quantize(qdq_dtype from, qdq_dtype to, const double *x, size_t count, const int *zp,
                     qdq_bool saturate, uint32_t *y) {
    uint32_t bits[LONGEST], one = bits_of(from, 1), zero_point = zp ? (uint32_t)*zp & 0xFF : 0;
    for (size_t i = 0; i < count; i++) bits[i] = bits_of(from, x[i]);
    run r = {.graph = qdq_graph_create("onnx", NULL)};
    qdq_value v = tensor(&r, "x", INPUT, from, QDQ_SHAPE((int64_t)count), bits);
    qdq_quantize_attrs a = {.dtype = to, .saturate = saturate};
    a.scale = tensor(&r, "s", CONSTANT, from, (qdq_shape){0}, &one);
    double zero = 0;
    if (zp && small_format_of(to))  // small floats take ONNX's zero tensor of their type
        a.zps = (qdq_numbers){&zero, 1, true};
    else if (zp)
        a.zero_point = tensor(&r, "z", CONSTANT, to, (qdq_shape){0}, &zero_point);
    qdq_output(r.graph, "y", qdq_quantize(r.graph, v, a));
    void *out = bind_bits(&r, "y", to, NULL, count);
    oracle_run(r.graph, &(qdq_compile_options){.target = "onnx"}, r.bound, r.count);
    for (size_t i = 0; i < count; i++) y[i] = held(to, out, i);
    for (size_t i = 0; i < r.count; i++) free(r.bound[i].data);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the run holds is freed
    qdq_graph_destroy(r.graph);
}

//---- Integers ---------------------------------------------------------------

static void ties_go_to_even_before_the_zero_point_is_added(void **state) {
    (void)state;
    static const double x[7] = {.5, 1.5, 2.5, 3.5, -.5, -1.5, -2.5};
    static const int want[2][7] = {{0, 2, 2, 4, 0, -2, -2}, {1, 3, 3, 5, 1, -1, -1}};
    uint32_t y[7];
    for (size_t f = 0; f < 3; f++)
        for (int zp = 0; zp < 3; zp++) {
            int code = zp % 2;
            quantize(floats[f], QDQ_INT8, x, 7, zp == 2 ? NULL : &code, QDQ_UNSET, y);
            for (size_t i = 0; i < 7; i++) assert_true(value_of(QDQ_INT8, y[i]) == want[zp % 2][i]);
        }
}

static void integers_saturate_and_nan_is_the_least_as_measured(void **state) {
    (void)state;
    static const double x[8] = {NAN, INFINITY, -INFINITY, .5, 1.5, 2.5, -.5, 1e10};
    static const struct {
        qdq_dtype to;
        int zp, want[8];
    } rows[] = {{QDQ_INT8, 3, {-128, 127, -128, 3, 5, 5, 3, 127}},
                {QDQ_UINT8, 128, {0, 255, 0, 128, 130, 130, 128, 255}},
                {QDQ_INT4, 0, {-8, 7, -8, 0, 2, 2, 0, 7}},
                {QDQ_UINT4, 3, {0, 15, 0, 3, 5, 5, 3, 15}}};
    uint32_t y[8];
    for (size_t r = 0; r < UNIT_COUNT(rows); r++)
        for (size_t f = 0; f < 3; f++) {
            quantize(floats[f], rows[r].to, x, 8, &rows[r].zp, QDQ_UNSET, y);
            for (size_t i = 0; i < 8; i++)
                assert_true(value_of(rows[r].to, y[i]) == rows[r].want[i]);
        }
}

static void a_constant_scale_of_zero_saturates_as_measured(void **state) {
    (void)state;
    static const uint32_t x[6] = {0x3F800000, 0xBF800000, 0, 0x7F800000, 0x7FC00000, 0xFF800000};
    static const int want[6] = {127, -128, -128, 127, -128, -128};
    const uint32_t zero = 0;
    run r = {.graph = qdq_graph_create("zero", NULL)};
    qdq_value v = tensor(&r, "x", INPUT, QDQ_FLOAT32, QDQ_SHAPE(6), x);
    qdq_quantize_attrs a = {.dtype = QDQ_INT8};
    a.scale = tensor(&r, "s", CONSTANT, QDQ_FLOAT32, (qdq_shape){0}, &zero);
    qdq_output(r.graph, "y", qdq_quantize(r.graph, v, a));
    void *y = bind_bits(&r, "y", QDQ_INT8, NULL, 6);
    oracle_run(r.graph, &(qdq_compile_options){.target = "onnx"}, r.bound, r.count);
    for (size_t i = 0; i < 6; i++) assert_int_equal(((int8_t *)y)[i], want[i]);
    static const char *const targets[] = {"onnx", "ort", "torchao", "core", "tensorrt", "onednn"};
    for (size_t t = 0; t < UNIT_COUNT(targets); t++)
        assert_int_equal(qdq_graph_validate(r.graph, targets[t], NULL)->errors, t > 2);
    for (size_t i = 0; i < r.count; i++) free(r.bound[i].data);
    qdq_graph_destroy(r.graph);
}

// x, scale, zero point and codes. The last row tells division from a product with the reciprocal,
// and from double arithmetic.
static void dynamic_quantize_linear_gives_the_measured_numbers(void **state) {
    (void)state;
    static const struct {
        size_t count;
        float x[8], scale;
        int zp;
        uint8_t y[8];
    } rows[] = {
        {8, {0}, 1, 0, {0}},
        {8, {NAN, 1, 2, 3, 4, 5, 6, 7}, 7.0f / 255, 0, {0, 36, 73, 109, 146, 182, 219, 255}},
        {8, {1, 1, 1, 1, 1, 1, 1, 1}, 1.0f / 255, 0, {255, 255, 255, 255, 255, 255, 255, 255}},
        {8, {-5, -5, -5, -5, -5, -5, -5, -5}, 5.0f / 255, 255, {0}},
        {8, {-3, -2, -2.5f, -1, 0, 1, 2, 2}, 5.0f / 255, 153, {0, 51, 26, 102, 153, 204, 255, 255}},
        {3, {2, -2.5f, -3}, 5.0f / 255, 153, {255, 26, 0}},
    };
    for (size_t k = 0; k < UNIT_COUNT(rows); k++) {
        float x[8], s = 0;
        uint8_t y[8], z = 1;
        memcpy(x, rows[k].x, sizeof x);
        qdq_graph *g = qdq_graph_create("dynamic", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)rows[k].count));
        v = qdq_dynamic_quantize(g, v, (qdq_dynamic_quantize_attrs){.quantize.dtype = QDQ_UINT8});
        qdq_output(g, "y", v);
        qdq_output(g, "s", qdq_port(g, v, "scale"));
        qdq_output(g, "z", qdq_port(g, v, "zero_point"));
        oracle_bound bound[] = {{"x", x, rows[k].count * sizeof *x},
                                {"y", y, rows[k].count},
                                {"s", &s, sizeof s},
                                {"z", &z, sizeof z}};
        oracle_run(g, &(qdq_compile_options){.target = "onnx"}, bound, 4);
        qdq_graph_destroy(g);
        assert_true(s == rows[k].scale);
        assert_int_equal(z, rows[k].zp);
        assert_memory_equal(y, rows[k].y, rows[k].count);
    }
}

//---- float8 and float4 ------------------------------------------------------

enum { NONE, MOST, LIMITLESS, MISSING };  // zero, the largest number, infinity, NaN

// The table of Cast and QuantizeLinear, and the ends of the ranges. Half a step above the largest
// number rounds to the even neighbour, which still exists in e4m3fn only.
static void float8_follows_the_table_of_the_operator(void **state) {
    (void)state;
    static const struct {
        qdq_dtype to;
        double x;
        int saturated, else_;
    } rows[] = {
        {QDQ_FLOAT8_E4M3FN, NAN, MISSING, MISSING},
        {QDQ_FLOAT8_E4M3FN, INFINITY, MOST, MISSING},
        {QDQ_FLOAT8_E4M3FN, 464, MOST, MOST},
        {QDQ_FLOAT8_E4M3FN, 466, MOST, MISSING},
        {QDQ_FLOAT8_E4M3FN, 1e5, MOST, MISSING},
        {QDQ_FLOAT8_E4M3FNUZ, NAN, MISSING, MISSING},
        {QDQ_FLOAT8_E4M3FNUZ, INFINITY, MOST, MISSING},
        {QDQ_FLOAT8_E4M3FNUZ, 247, MOST, MOST},
        {QDQ_FLOAT8_E4M3FNUZ, 248, MOST, MISSING},
        {QDQ_FLOAT8_E5M2, NAN, MISSING, MISSING},
        {QDQ_FLOAT8_E5M2, INFINITY, MOST, LIMITLESS},
        {QDQ_FLOAT8_E5M2, 61184, MOST, MOST},
        {QDQ_FLOAT8_E5M2, 61440, MOST, LIMITLESS},
        {QDQ_FLOAT8_E5M2, 1e30, MOST, LIMITLESS},
        {QDQ_FLOAT8_E5M2FNUZ, NAN, MISSING, MISSING},
        {QDQ_FLOAT8_E5M2FNUZ, INFINITY, MOST, MISSING},
        {QDQ_FLOAT8_E5M2FNUZ, 61184, MOST, MOST},
        {QDQ_FLOAT8_E5M2FNUZ, 61440, MOST, MISSING},
        {QDQ_FLOAT8_E4M3FN, 0, NONE, NONE},
        {QDQ_FLOAT8_E5M2, 0, NONE, NONE},
        {QDQ_FLOAT8_E4M3FNUZ, 0, NONE, NONE},
        {QDQ_FLOAT8_E5M2FNUZ, 0, NONE, NONE},
    };
    for (size_t r = 0; r < UNIT_COUNT(rows); r++)
        for (int k = 0; k < 6; k++) {
            const small_format *f = small_format_of(rows[r].to);
            double x = k % 2 ? -rows[r].x : rows[r].x;
            qdq_bool saturate = (qdq_bool)(k / 2);
            int want = saturate == QDQ_FALSE ? rows[r].else_ : rows[r].saturated;
            uint32_t y;
            quantize(QDQ_FLOAT32, rows[r].to, &x, 1, NULL, saturate, &y);
            double got = small_value(f, y), largest = small_magnitude(f, small_largest(f));
            if (want == MISSING)
                assert_true(isnan(got));
            else
                assert_true(fabs(got) == (want == NONE ? 0 : want == MOST ? largest : INFINITY));
            if (want != MISSING && f->rule != SMALL_FNUZ)
                assert_int_equal(signbit(got) != 0, k % 2);
            if (f->rule == SMALL_FNUZ && want == NONE) assert_int_equal(y, 0);
        }
}

// NaN becomes -0, large numbers become 6, and the zero point of +0 drops the sign of -0.
static void float4_saturates_and_has_no_nan(void **state) {
    (void)state;
    static const double x[8] = {NAN, INFINITY, -INFINITY, 100, -6.1, -0.0, .25, 5};
    static const uint32_t want[2][8] = {{8, 7, 15, 7, 15, 8, 0, 6}, {8, 7, 15, 7, 15, 0, 0, 6}};
    uint32_t y[8];
    for (size_t f = 0; f < 3; f++)
        for (int zp = 0; zp < 2; zp++)
            for (int saturate = QDQ_UNSET; saturate <= QDQ_FALSE; saturate++) {
                quantize(floats[f], QDQ_FLOAT4_E2M1, x, 8, zp ? &(int){0} : NULL,
                         (qdq_bool)saturate, y);
                for (size_t i = 0; i < 8; i++)
                    if (!(zp && i == 0)) assert_int_equal(y[i], want[zp][i]);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_go_to_even_before_the_zero_point_is_added),
        cmocka_unit_test(integers_saturate_and_nan_is_the_least_as_measured),
        cmocka_unit_test(a_constant_scale_of_zero_saturates_as_measured),
        cmocka_unit_test(dynamic_quantize_linear_gives_the_measured_numbers),
        cmocka_unit_test(float8_follows_the_table_of_the_operator),
        cmocka_unit_test(float4_saturates_and_has_no_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
