// SPDX-License-Identifier: Apache-2.0
// Parameters that the quantizing ops refuse, and unusual ones that they accept.
#include <math.h>

#include "tests/network.h"

static qdq_value input(qdq_graph *g, qdq_dtype dtype) {
    return qdq_input(g, "x", dtype, QDQ_SHAPE(2, 4));
}

static qdq_graph *quantized(qdq_quantize_attrs attrs) {
    qdq_graph *g = qdq_graph_create("checks", NULL);
    attrs.name = "q";
    qdq_output(g, "y", qdq_quantize(g, input(g, QDQ_FLOAT32), attrs));
    return g;
}

static qdq_graph *computed(qdq_dynamic_quantize_attrs attrs) {
    qdq_graph *g = qdq_graph_create("checks", NULL);
    attrs.quantize.name = "d";
    qdq_output(g, "y", qdq_dynamic_quantize(g, input(g, QDQ_FLOAT32), attrs));
    return g;
}

// Dequantize in the float domain, with a constant float32 zero point.
static qdq_graph *with_constant_zero(float zero) {
    qdq_graph *g = qdq_graph_create("checks", NULL);
    qdq_value z = qdq_constant(g, "z", QDQ_FLOAT32, QDQ_SHAPE(1), &zero);
    qdq_dequantize_attrs attrs = {.name = "d",
                                  .scales = QDQ_SCALE(0.5f),
                                  .zero_point = z,
                                  .zero_point_domain = QDQ_DOMAIN_FLOAT,
                                  .dtype = QDQ_FLOAT32};
    qdq_output(g, "y", qdq_dequantize(g, input(g, QDQ_INT8), attrs));
    return g;
}

static void takes(qdq_graph *g) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(g, NULL, &err);
    assert_non_null(report);
    if (report->count) fail_msg("%s", report->findings[0].message);
    qdq_graph_destroy(g);
}

static void zero_points_of_the_float_domain_are_finite(void **state) {
    static const double bad[] = {INFINITY, -INFINITY, (double)NAN, 1e39};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
        const double zps[] = {0, bad[i]};
        network_refuses(quantized((qdq_quantize_attrs){.qtype = QDQ_PER_CHANNEL,
                                                       .axis = QDQ_INT(0),
                                                       .scales = QDQ_SCALES(0.5f, 0.25f),
                                                       .zps = {zps, 2, false},
                                                       .zero_point_domain = QDQ_DOMAIN_FLOAT}),
                        "core/zero-point-value", "at index 1, wanted a finite number as float32");
    }
    network_refuses(with_constant_zero(INFINITY), "core/zero-point-value",
                    "wanted a finite number as float32");
    network_refuses(with_constant_zero(NAN), "core/zero-point-value",
                    "wanted a finite number as float32");
    takes(with_constant_zero(-1.5f));
}

// Of float8_e4m3fn, codes 0 and 0x80 are zeros, 0x38 is 1 and 0x7F is NaN.
static void a_zero_point_of_a_small_float_is_zero(void **state) {
    static const struct {
        uint8_t code;
        bool fine;
    } rows[] = {{0, true}, {0x80, true}, {0x38, false}, {0x7F, false}};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_graph *g = qdq_graph_create("checks", NULL);
        qdq_quantize_attrs attrs = {
            .name = "q", .scales = QDQ_SCALE(0.5f), .dtype = QDQ_FLOAT8_E4M3FN};
        attrs.zero_point = qdq_constant(g, "z", QDQ_FLOAT8_E4M3FN, QDQ_SHAPE(1), &rows[i].code);
        qdq_output(g, "y", qdq_quantize(g, input(g, QDQ_FLOAT32), attrs));
        if (rows[i].fine)
            takes(g);
        else
            network_refuses(g, "core/zero-point-value",
                            "wanted 0, as the quantized type is float8_e4m3fn");
    }
}

// A zero point given at run time is not inspected; the result is the same as without one.
static void a_zero_point_of_a_small_float_at_run_time_changes_nothing(void **state) {
    static const float x[8] = {0.5f, -1, 3, 100, -0.25f, 7, 0, 1};
    uint8_t zero = 0x80, y[2][8];
    (void)state;
    for (int given = 0; given < 2; given++) {
        qdq_graph *g = qdq_graph_create("checks", NULL);
        qdq_quantize_attrs attrs = {.scales = QDQ_SCALE(0.5f), .dtype = QDQ_FLOAT8_E4M3FN};
        if (given) attrs.zero_point = qdq_input(g, "z", QDQ_FLOAT8_E4M3FN, QDQ_SHAPE(1));
        qdq_output(g, "y", qdq_quantize(g, input(g, QDQ_FLOAT32), attrs));
        network_tensor in[] = {{"x", QDQ_FLOAT32, (void *)x, 8},
                               {"z", QDQ_FLOAT8_E4M3FN, &zero, 1}};
        network_run(g, in, given ? 2 : 1, (network_tensor){"y", QDQ_FLOAT8_E4M3FN, y[given], 8});
        qdq_graph_destroy(g);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_int_equal(y[0][0], 0x38);  // 0.5 / 0.5 is 1
}

static void groups_need_their_shape(void **state) {
    (void)state;
    qdq_quantize_attrs attrs = {.qtype = QDQ_PER_GROUP, .scales = QDQ_SCALES(0.5f, 0.25f)};
    network_refuses(quantized(attrs), "core/group-shape",
                    "group_shape is missing, wanted 2, one for each dim of x");
    attrs.group_shape = QDQ_INTS(4);
    network_refuses(quantized(attrs), "core/group-shape",
                    "group_shape has 1 entries, wanted 2, one for each dim of x");
    attrs.group_shape = QDQ_INTS(1, 5);
    network_refuses(quantized(attrs), "core/group-shape",
                    "group_shape has 5 for dim 1, wanted 1 to 4");
    attrs.group_shape = QDQ_INTS(1, -1);
    takes(quantized(attrs));
}

static void the_least_scale_is_a_number_above_0(void **state) {
    static const double bad[] = {0, -0.5, INFINITY, (double)NAN, 1e39};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        network_refuses(computed((qdq_dynamic_quantize_attrs){.eps = QDQ_FLOAT(bad[i])}),
                        "core/attr-value", "wanted a finite number above 0");
    network_refuses(
        computed((qdq_dynamic_quantize_attrs){.quantize = {.qtype = QDQ_PER_GROUP,
                                                           .group_shape = QDQ_INTS(1, 4),
                                                           .dtype = QDQ_FLOAT8_E4M3FN},
                                              .scheme = QDQ_MX_FLOOR,
                                              .eps = QDQ_FLOAT(0.5)}),
        "core/attr-value", "eps is given, but scheme is mx_floor, wanted none");
    takes(computed((qdq_dynamic_quantize_attrs){.eps = QDQ_FLOAT(1e-6)}));
}

static void computed_zero_points_are_of_the_int_domain(void **state) {
    (void)state;
    network_refuses(
        computed((qdq_dynamic_quantize_attrs){.quantize = {.zero_point_domain = QDQ_DOMAIN_FLOAT}}),
        "core/zero-point-domain", "is float, but the zero point is computed, wanted int");
    network_refuses(
        computed((qdq_dynamic_quantize_attrs){.quantize = {.zero_point_domain = QDQ_DOMAIN_NONE}}),
        "core/zero-point-domain", "is none, but the zero point is computed, wanted int");
}

static void parameters_decide_the_qtype_of_c(void **state) {
    static const float scales[] = {0.5f, 0.25f};
    (void)state;
    takes(quantized((qdq_quantize_attrs){.axis = QDQ_INT(0), .scales = {scales, 2, false}}));
    takes(quantized(
        (qdq_quantize_attrs){.group_shape = QDQ_INTS(1, 4), .scales = {scales, 2, false}}));
    network_refuses(quantized((qdq_quantize_attrs){.scales = {scales, 2, false}}),
                    "core/scale-count", "scales has 2 elements");
    network_refuses(
        quantized((qdq_quantize_attrs){.axis = QDQ_INT(2), .scales = {scales, 1, true}}),
        "core/axis-range", "axis is 2, wanted -2 to 1, as x has rank 2");
    qdq_graph *g = qdq_graph_create("checks", NULL);
    qdq_value scale = qdq_constant(g, "s", QDQ_FLOAT32, QDQ_SHAPE(2, 1), scales);
    qdq_quantize_attrs attrs = {.name = "q", .scale = scale};
    qdq_output(g, "y", qdq_quantize(g, input(g, QDQ_FLOAT32), attrs));
    takes(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_points_of_the_float_domain_are_finite),
        cmocka_unit_test(a_zero_point_of_a_small_float_is_zero),
        cmocka_unit_test(a_zero_point_of_a_small_float_at_run_time_changes_nothing),
        cmocka_unit_test(groups_need_their_shape),
        cmocka_unit_test(the_least_scale_is_a_number_above_0),
        cmocka_unit_test(parameters_decide_the_qtype_of_c),
        cmocka_unit_test(computed_zero_points_are_of_the_int_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
