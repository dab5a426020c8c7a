// SPDX-License-Identifier: Apache-2.0
// quant_min and quant_max with fractions, and for float8 results: target `torchao` gives torchao's
// results (torchao_bounds.h), all other targets refuse them.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { ELEMENTS = 12, COMPUTED = 6 };

typedef enum grain { TENSOR, CHANNEL, GROUP } grain;

typedef struct bounds_case {
    qdq_domain domain;
    qdq_dtype x, scale, y;
    grain grain;
    double low, high;
    int codes[ELEMENTS];
} bounds_case;

typedef struct computed_case {
    qdq_scheme scheme;
    qdq_dtype x, y;
    double low, high;
    uint32_t scale;
    int zero_point, codes[COMPUTED];
} computed_case;

#include "tests/graph/targets/torchao/torchao_bounds.h"

static const float scales[3][4] = {{0.3f}, {0.3f, 0.07f}, {0.3f, 0.07f, 2.5f, 0.0625f}};
static const int32_t zero_points[3][4] = {{3}, {3, -2}, {3, -2, 0, 7}};
static const float float_zero_points[3][4] = {{2.5f}, {2.5f, -1.25f}, {2.5f, -1.25f, 0, 7.75f}};
static const size_t counts[3] = {1, 2, 4};

static bool is_float8(const bounds_case *c) { return qdq_dtype_is_real(c->y); }

// The tenth number is NaN if the codes have one.
static void numbers_of(const bounds_case *c, float *x) {
    static const float numbers[ELEMENTS] = {0.375f, -0.125f, 1.5f,  12.5f, -7.25f,   100,
                                            -100,   1000,    -1000, 3,     INFINITY, -INFINITY};
    for (size_t i = 0; i < ELEMENTS; i++) x[i] = numbers[i] == 3 && is_float8(c) ? NAN : numbers[i];
}

// The inputs have the dtypes of the case, so that scales are rounded to them.
static qdq_graph *graph_of(const bounds_case *c) {
    static const int64_t group[2] = {1, 3};
    qdq_graph *g = qdq_graph_create("bounds", NULL);
    qdq_shape shape = c->grain == GROUP ? QDQ_SHAPE(2, 2) : QDQ_SHAPE((int64_t)counts[c->grain]);
    qdq_quantize_attrs a = {.dtype = c->y, .zero_point_domain = c->domain};
    a.qtype = (qdq_qtype)c->grain;
    a.quant_min = QDQ_REAL(c->low), a.quant_max = QDQ_REAL(c->high);
    if (c->grain == CHANNEL) a.axis = QDQ_INT(0);
    if (c->grain == GROUP) a.group_shape = (qdq_ints){group, 2};
    qdq_value x = qdq_input(g, "x", c->x, QDQ_SHAPE(2, 6));
    a.scale = qdq_input(g, "s", c->scale, shape);
    if (c->domain == QDQ_DOMAIN_INT)
        a.zero_point = qdq_constant(g, "z", QDQ_INT32, shape, zero_points[c->grain]);
    if (c->domain == QDQ_DOMAIN_FLOAT) a.zero_point = qdq_input(g, "z", c->scale, shape);
    qdq_output(g, "y", qdq_quantize(g, x, a));
    return g;
}

static void run(const bounds_case *c, bool materialize, uint8_t *codes) {
    qdq_error err = {0};
    float x[ELEMENTS];
    numbers_of(c, x);
    qdq_graph *g = graph_of(c);
    qdq_compile_options options = {.target = "torchao", .materialize = materialize};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
    if (!exec) fail_msg("%s", err.text);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, ELEMENTS, &err);
    qdq_exec_write(exec, "s", QDQ_FLOAT32, scales[c->grain], counts[c->grain], &err);
    if (c->domain == QDQ_DOMAIN_FLOAT)
        qdq_exec_write(exec, "z", QDQ_FLOAT32, float_zero_points[c->grain], counts[c->grain], &err);
    qdq_exec_run(exec);
    qdq_exec_read(exec, "y", c->y, codes, ELEMENTS, &err);
    if (err.status) fail_msg("%s", err.text);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// All NaN codes of a float8 are equal here; -0 is not equal to 0.
static bool same_float8(qdq_dtype dtype, uint8_t a, uint8_t b) {
    float reals[2];
    qdq_widen_float(dtype, (const uint8_t[]){a, b}, reals, 2);
    return a == b || (isnan(reals[0]) && isnan(reals[1]));
}

static void check_codes(const bounds_case *c, size_t row) {
    for (int materialize = 0; materialize < 2; materialize++) {
        uint8_t codes[ELEMENTS * 4];
        int32_t wide[ELEMENTS] = {0};
        run(c, materialize, codes);
        if (!is_float8(c)) qdq_widen_int(c->y, codes, wide, ELEMENTS);
        for (size_t i = 0; i < ELEMENTS; i++) {
            bool same = is_float8(c) ? same_float8(c->y, codes[i], (uint8_t)c->codes[i])
                                     : wide[i] == c->codes[i];
            if (!same) fail_msg("case %zu, element %zu: wanted %d", row, i, c->codes[i]);
        }
    }
}

static void bounds_clamp_as_torchao_clamps(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bounds_cases); i++) check_codes(&bounds_cases[i], i);
}

static void check_computed(const computed_case *c, size_t row) {
    static const float x[COMPUTED] = {-1, -0.5f, 0.3125f, 0.75f, 1.5f, 2};
    qdq_error err = {0};
    uint32_t scale;
    uint8_t codes[COMPUTED + 1];
    int32_t wide[COMPUTED + 1];
    qdq_graph *g = qdq_graph_create("computed", NULL);
    qdq_dynamic_quantize_attrs a = {.scheme = c->scheme, .quantize.dtype = c->y};
    a.quantize.quant_min = QDQ_REAL(c->low), a.quantize.quant_max = QDQ_REAL(c->high);
    qdq_value y = qdq_dynamic_quantize(g, qdq_input(g, "x", c->x, QDQ_SHAPE(COMPUTED)), a);
    qdq_output(g, "y", y), qdq_output(g, "s", qdq_port(g, y, "scale"));
    qdq_output(g, "z", qdq_port(g, y, "zero_point"));
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = "torchao"}, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (!exec) fail_msg("%s", err.text);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, COMPUTED, &err);
    qdq_exec_run(exec);
    qdq_exec_read(exec, "y", c->y, codes, COMPUTED, &err);
    qdq_exec_read(exec, "z", c->y, &codes[COMPUTED], 1, &err);
    qdq_exec_read(exec, "s", QDQ_FLOAT32, &scale, 1, &err);
    if (err.status) fail_msg("%s", err.text);
    qdq_widen_int(c->y, codes, wide, COMPUTED + 1);
    if (scale != c->scale || wide[COMPUTED] != c->zero_point)
        fail_msg("case %zu: scale 0x%X, wanted 0x%X; zero point %d, wanted %d", row, scale,
                 c->scale, wide[COMPUTED], c->zero_point);
    for (size_t i = 0; i < COMPUTED; i++)
        if (wide[i] != c->codes[i]) fail_msg("case %zu, element %zu: %d", row, i, wide[i]);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void parameters_are_spread_over_the_given_bounds_as_in_torchao(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(computed_cases); i++) check_computed(&computed_cases[i], i);
}

// A graph of one Quantize by a float64 scale.
static qdq_graph *wide_graph(bool constant) {
    static const double scale[1] = {0.1};
    qdq_graph *g = qdq_graph_create("wide", NULL);
    qdq_quantize_attrs a = {.dtype = QDQ_INT8, .zps = QDQ_ZP(0)};
    a.scale = constant ? qdq_constant(g, "s", QDQ_FLOAT64, QDQ_SHAPE(1), scale)
                       : qdq_input(g, "s", QDQ_FLOAT64, QDQ_SHAPE(1));
    qdq_output(g, "y", qdq_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4)), a));
    return g;
}

static void given_numerics_take_known_parameters_of_every_target(void **state) {
    (void)state;
    const qdq_numerics plain = {0};
    for (int constant = 0; constant < 2; constant++) {
        for (int given = 0; given < 2; given++) {
            qdq_error err = {0};
            qdq_graph *g = wide_graph(constant);
            qdq_compile_options options = {.target = "core", .numerics = given ? &plain : NULL};
            qdq_plan *plan = qdq_graph_compile(g, &options, &err);
            assert_int_equal(plan != NULL, constant && given);
            assert_int_equal(err.status, plan ? QDQ_OK : QDQ_ERR_UNSUPPORTED);
            qdq_plan_destroy(plan), qdq_graph_destroy(g);
        }
    }
}

// The middle of the range is computed from the bounds as given. Codes 0, 1, 7, 8 and 15, scale 0.3,
// zero point 2.5; results of _dequantize_affine_tinygemm of torchao 0.18.
static void the_float_domain_has_its_middle_between_the_given_bounds(void **state) {
    (void)state;
    static const uint8_t codes[5] = {0, 1, 7, 8, 15};
    static const struct {
        double low, high;
        uint32_t reals[5];
    } rows[] = {
        {0.5, 14.9, {0x3D23D700, 0x3EAE1478, 0x4008F5C3, 0x401C28F6, 0x409147AE}},
        {2.25, 15, {0xBE733340, 0x3D800000, 0x3FEE6666, 0x400A6666, 0x40886666}},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_error err = {0};
        uint32_t reals[5];
        qdq_graph *g = qdq_graph_create("middle", NULL);
        qdq_dequantize_attrs a = {.dtype = QDQ_FLOAT32, .zero_point_domain = QDQ_DOMAIN_FLOAT};
        a.scales = QDQ_SCALE(0.3f), a.zps = QDQ_ZP(2.5);
        a.quant_min = QDQ_REAL(rows[i].low), a.quant_max = QDQ_REAL(rows[i].high);
        qdq_output(g, "y", qdq_dequantize(g, qdq_input(g, "x", QDQ_UINT4, QDQ_SHAPE(5)), a));
        qdq_compile_options options = {.target = "torchao"};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        if (!exec) fail_msg("%s", err.text);
        qdq_exec_write(exec, "x", QDQ_UINT4, codes, 5, &err);
        qdq_exec_run(exec);
        qdq_exec_read(exec, "y", QDQ_FLOAT32, reals, 5, &err);
        if (err.status) fail_msg("%s", err.text);
        assert_memory_equal(reals, rows[i].reals, sizeof reals);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// A file keeps fractions and integers as they were given.
static void bounds_survive_a_file(void **state) {
    (void)state;
    static const char content[] =
        "{\"format\": \"qdq/1\", \"target\": \"torchao\","
        "\"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [2]}],"
        "\"nodes\": [{\"op\": \"Quantize\", \"name\": \"q\", \"inputs\": {\"x\": \"x\"},"
        "\"attrs\": {\"scales\": 1, \"quant_min\": -99.9, \"quant_max\": 100}}],"
        "\"outputs\": [{\"name\": \"y\", \"value\": \"q\"}]}";
    qdq_error err = {0};
    char path[256];
    size_t bytes;
    qdq_graph *g = qdq_graph_parse(content, sizeof content - 1, NULL, NULL, NULL, &err);
    assert_int_equal(qdq_graph_write(g, unit_path(path, "bounds.json"), &err), QDQ_OK);
    char *written = unit_read(path, &bytes);
    assert_non_null(strstr(written, "\"quant_min\": -99.9"));
    assert_non_null(strstr(written, "\"quant_max\": 100"));
    free(written), qdq_graph_destroy(g);
}

//---- Refusals ---------------------------------------------------------------

// The only error of a Quantize under a target; NULL if there is none.
static const char *refusal(const char *target, qdq_quantize_attrs a, char *text, size_t size) {
    qdq_graph *g = qdq_graph_create("bounds", NULL);
    a.scales = QDQ_SCALE(0.5f);
    qdq_output(g, "y", qdq_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3)), a));
    const qdq_report *report = qdq_graph_validate(g, target, NULL);
    const char *found = report->errors > 1 ? "several errors" : NULL;
    for (size_t i = 0; i < report->count && !found; i++) {
        if (report->findings[i].severity != QDQ_SEVERITY_ERROR) continue;
        snprintf(text, size, "%s: %s", report->findings[i].rule, report->findings[i].message);
        found = text;
    }
    qdq_graph_destroy(g);
    return found;
}

static void check_refusal(const char *target, qdq_quantize_attrs a, const char *wanted) {
    char text[512];
    const char *found = refusal(target, a, text, sizeof text);
    if (!wanted && found) fail_msg("%s: %s", target, found);
    if (wanted && (!found || !strstr(found, wanted) || strncmp(found, "core/quant-range", 16) != 0))
        fail_msg("%s: found '%s', wanted '%s'", target, found ? found : "nothing", wanted);
}

static void only_torchao_accepts_fractions_and_bounds_of_float8(void **state) {
    (void)state;
    static const char *const others[] = {"core", "onnx", "onednn", "tensorrt", "tripy", "ttnn"};
    qdq_quantize_attrs fraction = {.quant_min = QDQ_REAL(-100.5)};
    qdq_quantize_attrs float8 = {.dtype = QDQ_FLOAT8_E4M3FN, .quant_max = QDQ_INT(100)};
    for (size_t i = 0; i < UNIT_COUNT(others); i++) {
        check_refusal(others[i], fraction, "quant_min is -100.5, wanted a whole number");
        check_refusal(others[i], float8,
                      "quant_max is given, but the quantized type is float8_e4m3fn");
    }
    check_refusal("torchao", fraction, NULL);
    check_refusal("torchao", float8, NULL);
}

static void bounds_beyond_the_dtype_are_refused_by_all(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        double low, high;
        const char *wanted;
    } rows[] = {
        {QDQ_INT8, -128.5, 3, "makes the range -128.5 to 3"},
        {QDQ_INT4, -3, 7.25, "within -8 to 7 of int4"},
        {QDQ_INT8, 2.5, 2.25, "makes the range 2.5 to 2.25"},
        {QDQ_FLOAT8_E4M3FN, -448.5, 3, "within -448 to 448 of float8_e4m3fn"},
        {QDQ_FLOAT8_E5M2, 3, 57345, "within -57344 to 57344 of float8_e5m2"},
        {QDQ_FLOAT8_E4M3FNUZ, -1, 241, "within -240 to 240 of float8_e4m3fnuz"},
        {QDQ_FLOAT4_E2M1, -1, 2, "but the quantized type is float4_e2m1"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_quantize_attrs a = {.dtype = rows[i].dtype};
        a.quant_min = QDQ_REAL(rows[i].low), a.quant_max = QDQ_REAL(rows[i].high);
        check_refusal("torchao", a, rows[i].wanted);
        check_refusal("core", a, rows[i].wanted);
    }
}

static void a_float8_with_computed_parameters_has_no_bounds(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("computed", NULL);
    qdq_dynamic_quantize_attrs a = {.scheme = QDQ_SYMMETRIC};
    a.quantize.dtype = QDQ_FLOAT8_E4M3FN, a.quantize.quant_max = QDQ_REAL(100.5);
    qdq_output(g, "y", qdq_dynamic_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3)), a));
    const qdq_report *report = qdq_graph_validate(g, "torchao", NULL);
    assert_int_equal(report->errors, 1);
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_clamp_as_torchao_clamps),
        cmocka_unit_test(parameters_are_spread_over_the_given_bounds_as_in_torchao),
        cmocka_unit_test(given_numerics_take_known_parameters_of_every_target),
        cmocka_unit_test(the_float_domain_has_its_middle_between_the_given_bounds),
        cmocka_unit_test(bounds_survive_a_file),
        cmocka_unit_test(only_torchao_accepts_fractions_and_bounds_of_float8),
        cmocka_unit_test(bounds_beyond_the_dtype_are_refused_by_all),
        cmocka_unit_test(a_float8_with_computed_parameters_has_no_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
