// SPDX-License-Identifier: Apache-2.0
// `scale_dtype` of DynamicQuantize: the scale is computed as usual, rounded once to that dtype, and
// used so. The rows of torchao are results of choose_qparams_affine and quantize_affine of torchao
// 0.18.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { COUNT = 16 };

static const float numbers[COUNT] = {-1,    -0.5f, -0.1f,  0,      0.3f,    0.7f,  1.5f,   2,
                                     0.05f, -0.9f, 0.123f, 1.777f, -0.333f, 0.61f, -0.77f, 1.9f};

typedef struct result {
    int32_t zero_point, y[COUNT];
    float scale;
    uint32_t scale_bits;
    qdq_dtype scale_dtype;
} result;

static void widen(qdq_dtype dtype, const void *from, int32_t *to, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = dtype == QDQ_INT8 ? ((const int8_t *)from)[i] : ((const uint8_t *)from)[i];
}

static result run(const char *target, qdq_dtype x, bool materialize,
                  qdq_dynamic_quantize_attrs attrs) {
    result out = {0};
    qdq_error err = {0};
    uint8_t y[COUNT], zero_point[1];
    qdq_graph *g = qdq_graph_create("scale_dtype", NULL);
    qdq_value q = qdq_dynamic_quantize(g, qdq_input(g, "x", x, QDQ_SHAPE(1, COUNT)), attrs);
    qdq_output(g, "y", q);
    qdq_output(g, "scale", qdq_port(g, q, "scale"));
    qdq_output(g, "zero_point", qdq_port(g, q, "zero_point"));
    qdq_compile_options options = {.target = target, .materialize = materialize};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (!exec) fail_msg("%s", err.text);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, numbers, COUNT, &err), QDQ_OK);
    qdq_exec_run(exec);
    out.scale_dtype = qdq_plan_output(plan, 1)->dtype;
    qdq_dtype dtype = attrs.quantize.dtype;
    assert_int_equal(qdq_exec_read(exec, "y", dtype, y, COUNT, &err), QDQ_OK);
    assert_int_equal(qdq_exec_read(exec, "zero_point", dtype, zero_point, 1, &err), QDQ_OK);
    assert_int_equal(qdq_exec_read(exec, "scale", out.scale_dtype, &out.scale_bits, 1, &err),
                     QDQ_OK);
    qdq_widen_float(out.scale_dtype, &out.scale_bits, &out.scale, 1);
    widen(dtype, y, out.y, COUNT);
    widen(dtype, zero_point, &out.zero_point, 1);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return out;
}

static qdq_dynamic_quantize_attrs attrs_of(qdq_scheme scheme, qdq_dtype y, int qmin, int qmax,
                                           qdq_dtype scale) {
    return (qdq_dynamic_quantize_attrs){
        .scheme = scheme,
        .scale_dtype = scale,
        .quantize = {.dtype = y, .quant_min = QDQ_INT(qmin), .quant_max = QDQ_INT(qmax)}};
}

static void results_are_those_of_torchao(void **state) {
    static const struct {
        qdq_dtype x, scale;
        qdq_scheme scheme;
        qdq_dtype y;
        int qmin, qmax;
        uint32_t bits;
        int zero_point, codes[COUNT];
    } rows[] = {
        // clang-format off
        {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x3C40C0C1, -43, {-128, -85, -51, -43, -17, 17, 85, 127, -39, -119, -33, 108, -71, 9, -108, 119}},
        {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x3C40C0C1, 85, {0, 43, 77, 85, 111, 145, 213, 255, 89, 9, 95, 236, 57, 137, 20, 247}},
        {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x3C808081, 0, {-64, -32, -6, 0, 19, 45, 96, 127, 3, -57, 8, 113, -21, 39, -49, 121}},
        {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3E924925, 0, {-3, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x3C41, -43, {-128, -85, -51, -43, -17, 17, 85, 127, -39, -119, -33, 108, -71, 9, -108, 119}},
        {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x3C41, 85, {0, 43, 77, 85, 111, 145, 213, 255, 89, 9, 95, 236, 57, 137, 20, 247}},
        {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x3C81, 0, {-64, -32, -6, 0, 19, 44, 95, 127, 3, -57, 8, 113, -21, 39, -49, 121}},
        {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3E92, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x2206, -43, {-128, -85, -51, -43, -17, 17, 85, 127, -39, -119, -33, 108, -71, 9, -108, 119}},
        {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x2206, 85, {0, 43, 77, 85, 111, 145, 213, 255, 89, 9, 95, 236, 57, 137, 20, 247}},
        {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x2404, 0, {-64, -32, -6, 0, 19, 45, 96, 127, 3, -57, 8, 113, -21, 39, -49, 121}},
        {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3492, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_BFLOAT16, QDQ_FLOAT32, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x3C410000, -43, {-128, -85, -51, -43, -17, 16, 84, 127, -39, -119, -33, 108, -71, 9, -108, 118}},
        {QDQ_BFLOAT16, QDQ_FLOAT32, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x3C410000, 85, {0, 43, 77, 85, 111, 144, 212, 255, 89, 9, 95, 236, 57, 137, 20, 246}},
        {QDQ_BFLOAT16, QDQ_FLOAT32, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x3C810000, 0, {-64, -32, -6, 0, 19, 44, 95, 127, 3, -57, 8, 113, -21, 39, -49, 121}},
        {QDQ_BFLOAT16, QDQ_FLOAT32, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3E920000, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_BFLOAT16, QDQ_BFLOAT16, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x3C41, -43, {-128, -85, -51, -43, -17, 17, 85, 127, -39, -119, -33, 108, -71, 9, -109, 118}},
        {QDQ_BFLOAT16, QDQ_BFLOAT16, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x3C41, 85, {0, 43, 77, 85, 111, 145, 213, 255, 89, 9, 95, 236, 57, 137, 19, 246}},
        {QDQ_BFLOAT16, QDQ_BFLOAT16, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x3C81, 0, {-64, -32, -6, 0, 19, 44, 95, 127, 3, -57, 8, 112, -21, 39, -49, 120}},
        {QDQ_BFLOAT16, QDQ_BFLOAT16, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3E92, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_BFLOAT16, QDQ_FLOAT16, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x2208, -43, {-128, -85, -51, -43, -17, 16, 84, 127, -39, -119, -33, 108, -71, 9, -108, 118}},
        {QDQ_BFLOAT16, QDQ_FLOAT16, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x2208, 85, {0, 43, 77, 85, 111, 144, 212, 255, 89, 9, 95, 236, 57, 137, 20, 246}},
        {QDQ_BFLOAT16, QDQ_FLOAT16, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x2408, 0, {-64, -32, -6, 0, 19, 44, 95, 127, 3, -57, 8, 113, -21, 39, -49, 121}},
        {QDQ_BFLOAT16, QDQ_FLOAT16, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3490, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_FLOAT16, QDQ_FLOAT32, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x3C40C000, -43, {-128, -86, -51, -43, -17, 17, 85, 127, -39, -119, -33, 108, -71, 9, -108, 119}},
        {QDQ_FLOAT16, QDQ_FLOAT32, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x3C40C000, 85, {0, 42, 77, 85, 111, 145, 213, 255, 89, 9, 95, 236, 57, 137, 20, 247}},
        {QDQ_FLOAT16, QDQ_FLOAT32, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x3C808000, 0, {-64, -32, -6, 0, 19, 45, 96, 127, 3, -57, 8, 113, -21, 39, -49, 121}},
        {QDQ_FLOAT16, QDQ_FLOAT32, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3E924000, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x3C41, -43, {-128, -85, -51, -43, -17, 17, 85, 127, -39, -119, -33, 108, -71, 9, -108, 119}},
        {QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x3C41, 85, {0, 43, 77, 85, 111, 145, 213, 255, 89, 9, 95, 236, 57, 137, 20, 247}},
        {QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x3C80, 0, {-64, -32, -6, 0, 19, 45, 96, 127, 3, -58, 8, 114, -21, 39, -49, 122}},
        {QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3E92, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        {QDQ_FLOAT16, QDQ_FLOAT16, QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, 0x2206, -43, {-128, -85, -51, -43, -17, 17, 85, 127, -39, -119, -33, 108, -71, 9, -108, 119}},
        {QDQ_FLOAT16, QDQ_FLOAT16, QDQ_ASYMMETRIC, QDQ_UINT8, 0, 255, 0x2206, 85, {0, 43, 77, 85, 111, 145, 213, 255, 89, 9, 95, 236, 57, 137, 20, 247}},
        {QDQ_FLOAT16, QDQ_FLOAT16, QDQ_SYMMETRIC, QDQ_INT8, -128, 127, 0x2404, 0, {-64, -32, -6, 0, 19, 45, 96, 127, 3, -57, 8, 113, -21, 39, -49, 121}},
        {QDQ_FLOAT16, QDQ_FLOAT16, QDQ_SYMMETRIC_NO_CLIPPING, QDQ_INT8, -8, 7, 0x3492, 0, {-4, -2, 0, 0, 1, 2, 5, 7, 0, -3, 0, 6, -1, 2, -3, 7}},
        // clang-format on
    };
    (void)state;
    for (size_t r = 0; r < 2 * UNIT_COUNT(rows); r++) {
        size_t i = r / 2;
        result got =
            run("torchao", rows[i].x, r % 2,
                attrs_of(rows[i].scheme, rows[i].y, rows[i].qmin, rows[i].qmax, rows[i].scale));
        assert_int_equal(got.scale_dtype, rows[i].scale);
        assert_int_equal(got.scale_bits, rows[i].bits);
        assert_int_equal(got.zero_point, rows[i].zero_point);
        for (size_t k = 0; k < COUNT; k++)
            if (got.y[k] != rows[i].codes[k])
                fail_msg("row %zu: y[%zu] is %d, wanted %d", i, k, got.y[k], rows[i].codes[k]);
    }
}

// The scale is 3 / 255: 0x3C40C0C1 as float32, which rounds to 0x3C41 and 0x2206.
static void the_core_rounds_the_scale_once_and_divides_by_it(void **state) {
    static const struct {
        qdq_dtype scale;
        uint32_t bits;
    } rows[] = {{QDQ_FLOAT32, 0x3C40C0C1}, {QDQ_BFLOAT16, 0x3C41}, {QDQ_FLOAT16, 0x2206}};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        result got = run("core", QDQ_FLOAT32, false,
                         attrs_of(QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, rows[i].scale));
        assert_int_equal(got.scale_bits, rows[i].bits);
        assert_int_equal(got.zero_point, -43);
        for (size_t k = 0; k < COUNT; k++) {
            float whole = rintf(numbers[k] / got.scale) - 43;
            int wanted = whole > 127 ? 127 : whole < -128 ? -128 : (int)whole;
            assert_int_equal(got.y[k], wanted);
        }
    }
}

static void without_scale_dtype_the_scale_is_float32(void **state) {
    (void)state;
    qdq_dynamic_quantize_attrs attrs =
        attrs_of(QDQ_ASYMMETRIC, QDQ_INT8, -128, 127, QDQ_DTYPE_NONE);
    assert_int_equal(run("core", QDQ_BFLOAT16, false, attrs).scale_dtype, QDQ_FLOAT32);
    assert_int_equal(run("torchao", QDQ_BFLOAT16, false, attrs).scale_dtype, QDQ_FLOAT32);
}

// The message of the finding about `scale_dtype`; NULL: none.
static const char *found(const char *target, qdq_dynamic_quantize_attrs attrs, const char *rule) {
    static char message[1024];
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("scale_dtype", NULL);
    qdq_output(g, "y",
               qdq_dynamic_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 32)), attrs));
    const qdq_report *report = qdq_graph_validate(g, target, &err);
    assert_non_null(report);
    const char *text = NULL;
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *one = &report->findings[i];
        if (strcmp(one->port, "scale_dtype") != 0) continue;
        assert_string_equal(one->rule, rule);
        snprintf(message, sizeof message, "%s", one->message);
        text = message;
    }
    qdq_graph_destroy(g);
    return text;
}

static void dtypes_that_a_scheme_lacks_are_findings(void **state) {
    (void)state;
    qdq_dynamic_quantize_attrs mx = {.scheme = QDQ_MX_RCEIL, .scale_dtype = QDQ_BFLOAT16};
    mx.quantize.dtype = QDQ_FLOAT8_E4M3FN;
    mx.quantize.qtype = QDQ_PER_GROUP;
    mx.quantize.group_shape = QDQ_INTS(1, 32);
    assert_non_null(found("core", mx, "core/attr-value"));
    mx.scale_dtype = QDQ_FLOAT8_E8M0;
    assert_null(found("core", mx, ""));
    qdq_dynamic_quantize_attrs plain = {.scale_dtype = QDQ_FLOAT8_E8M0};
    assert_non_null(found("core", plain, "core/attr-value"));
    plain.scale_dtype = QDQ_FLOAT16;
    assert_null(found("core", plain, ""));
    plain.quantize.scales = QDQ_SCALE(1);
    assert_non_null(found("core", plain, "core/attr-value"));
}

static void targets_without_scale_dtype_refuse_it(void **state) {
    (void)state;
    qdq_dynamic_quantize_attrs attrs = {.scale_dtype = QDQ_FLOAT16};
    attrs.quantize.dtype = QDQ_UINT8;
    assert_non_null(found("onnx", attrs, "onnx/dynamic-form"));
    assert_null(found("torchao", attrs, ""));
    attrs.scheme = QDQ_SYMMETRIC;
    attrs.quantize.dtype = QDQ_FLOAT8_E4M3FN;
    assert_non_null(found("torchao", attrs, "torchao/float8-scale-dtype"));
    assert_non_null(found("tensorrt", attrs, "tensorrt/computed-scale"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_torchao),
        cmocka_unit_test(the_core_rounds_the_scale_once_and_divides_by_it),
        cmocka_unit_test(without_scale_dtype_the_scale_is_float32),
        cmocka_unit_test(dtypes_that_a_scheme_lacks_are_findings),
        cmocka_unit_test(targets_without_scale_dtype_refuse_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
