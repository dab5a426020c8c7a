// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED of floats by int8 weights, as the engines of target litert compute it: recorded
// results.
#include "tests/network.h"

enum { ROWS = 2, INPUTS = 9, OUTPUTS = 3, RESULTS = ROWS * OUTPUTS };

typedef struct dynamic_case {
    const char *target;
    qdq_scheme scheme;
    bool clips;
    float wanted[RESULTS];
} dynamic_case;

// Quantizes a row by its range and dequantizes it, as the reader of the format does.
static qdq_value through_codes(qdq_graph *g, qdq_value x, qdq_scheme scheme) {
    static const int64_t group[] = {1, -1};
    qdq_dynamic_quantize_attrs attrs = {
        .quantize = {.qtype = QDQ_PER_GROUP, .group_shape = {group, 2}, .dtype = QDQ_INT8},
        .scheme = scheme};
    if (scheme == QDQ_SYMMETRIC) attrs.quantize.quant_min = QDQ_INT(-127);
    qdq_value codes = qdq_dynamic_quantize(g, x, attrs);
    return qdq_dequantize(g, codes,
                          (qdq_dequantize_attrs){.scale = qdq_port(g, codes, "scale"),
                                                 .zero_point = qdq_port(g, codes, "zero_point"),
                                                 .qtype = QDQ_PER_GROUP,
                                                 .group_shape = {group, 2},
                                                 .dtype = QDQ_FLOAT32});
}

static qdq_graph *fully_connected(qdq_scheme scheme, bool clips) {
    static const int8_t weights[OUTPUTS * INPUTS] = {3,    -127, 50,  7,  -90, 11, 64,  -1, 25,
                                                     -100, 20,   127, -3, 9,   90, -45, 77, 8,
                                                     1,    2,    -3,  4,  -5,  6,  -7,  8,  -9};
    static const float scales[OUTPUTS] = {0.011f, 0.0123f, 0.37f}, bias[] = {0.1f, -2.3f, 1.7f};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, INPUTS));
    qdq_value w = qdq_constant(g, "w", QDQ_INT8, QDQ_SHAPE(OUTPUTS, INPUTS), weights);
    w = qdq_dequantize(g, w,
                       (qdq_dequantize_attrs){.scales = {scales, OUTPUTS, false},
                                              .qtype = QDQ_PER_CHANNEL,
                                              .axis = QDQ_INT(0),
                                              .dtype = QDQ_FLOAT32});
    qdq_value y = qdq_matmul(
        g, through_codes(g, x, scheme), w,
        (qdq_matmul_attrs){.bias = qdq_constant(g, "bias", QDQ_FLOAT32, QDQ_SHAPE(OUTPUTS), bias),
                           .transpose_b = QDQ_TRUE});
    if (clips) y = qdq_relu6(g, y, (qdq_unary_attrs){0});
    qdq_output(g, "y", y);
    return g;
}

static void compare(const dynamic_case *c, const float *data, size_t count) {
    float x[ROWS * INPUTS] = {0}, y[RESULTS];
    if (data) memcpy(x, data, count * sizeof *data);
    qdq_error err = {0};
    qdq_graph *g = fully_connected(c->scheme, c->clips);
    qdq_graph *deployed = qdq_graph_deployed(g, c->target, &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    network_tensor in = {"x", QDQ_FLOAT32, x, ROWS * INPUTS};
    network_run(deployed, &in, 1, (network_tensor){"y", QDQ_FLOAT32, y, RESULTS});
    assert_memory_equal(y, c->wanted, sizeof y);
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

#define NEGATIVE_ROW 1.15640545f, -2.83820438f, 3.36180782f

static void rows_of_two_ranges(void **state) {
    (void)state;
    static const float x[ROWS * INPUTS] = {127,    -2.5f, 3.5f,   0.5f,  -0.5f,  100.25f,
                                           -63.5f, 1.5f,  -20.5f, -0.1f, -0.7f,  -0.3f,
                                           -1.3f,  -0.9f, -0.2f,  -0.6f, -0.05f, -0.35f};
    static const dynamic_case cases[] = {
        {"litert@reference",
         QDQ_SYMMETRIC,
         false,
         {-27.0039997f, -7.19540024f, 508.970032f, 1.15234494f, -2.83585382f, 3.33615756f}},
        {"litert@builtin-x86", QDQ_SYMMETRIC, true, {0, 0, 6, 1.15234494f, 0, 3.33615756f}},
        {"litert@builtin-x86",
         QDQ_ASYMMETRIC,
         false,
         {-27.8810863f, -7.94193745f, 503.663788f, NEGATIVE_ROW}},
        {"litert@builtin-arm64",
         QDQ_SYMMETRIC,
         false,
         {-27.0039997f, -7.19539976f, 508.970001f, 1.15234494f, -2.83585382f, 3.33615756f}},
        {"litert@xnnpack-x86",
         QDQ_SYMMETRIC,
         false,
         {-27.8810883f, -7.94193792f, 503.663818f, NEGATIVE_ROW}},
        {"litert@xnnpack-arm64",
         QDQ_ASYMMETRIC,
         false,
         {-27.8810902f, -7.94193745f, 503.663788f, NEGATIVE_ROW}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) compare(&cases[i], x, ROWS * INPUTS);
}

enum { WIDE = 16, FEATURES = 4 };

// Computes rows of 16 elements with 4 outputs and compares 3 rows.
static void compare_wide(const char *target, size_t rows, const float *wanted) {
    static const float scale = 0.0123f, bias[FEATURES] = {0.3f, -1.7f, 2.9f, -0.1f};
    float x[FEATURES * WIDE], y[FEATURES * FEATURES];
    int8_t weights[FEATURES * WIDE];
    for (int i = 0; i < FEATURES * WIDE; i++) {
        x[i] = (float)(i * 43 % 101 - 50) * 0.1f;
        weights[i] = (int8_t)(i * 37 % 255 - 127);
    }
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)rows, WIDE)),
              w = qdq_constant(g, "w", QDQ_INT8, QDQ_SHAPE(FEATURES, WIDE), weights),
              b = qdq_constant(g, "bias", QDQ_FLOAT32, QDQ_SHAPE(FEATURES), bias);
    w = qdq_dequantize(g, w,
                       (qdq_dequantize_attrs){.scales = {&scale, 1, true}, .dtype = QDQ_FLOAT32});
    qdq_output(g, "y",
               qdq_matmul(g, through_codes(g, v, QDQ_SYMMETRIC), w,
                          (qdq_matmul_attrs){.bias = b, .transpose_b = QDQ_TRUE}));
    qdq_graph *deployed = qdq_graph_deployed(g, target, NULL);
    assert_non_null(deployed);
    network_tensor in = {"x", QDQ_FLOAT32, x, rows * WIDE};
    network_run(deployed, &in, 1, (network_tensor){"y", QDQ_FLOAT32, y, rows * FEATURES});
    assert_memory_equal(y, wanted, sizeof *y * 3 * FEATURES);
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

// The kernel for dot products, which takes rows in fours, has no fused multiply-add.
static void rows_in_fours_round_before_the_sum(void **state) {
    (void)state;
    static const float fused[] = {-0x1.460f6ap3f, 0x1.449e42p3f,  0x1.24ef42p4f, 0x1.c7bd2ap1f,
                                  -0x1.d8b0bep0f, -0x1.5052bep4f, 0x1.5b8834p3f, 0x1.9ce382p4f,
                                  0x1.f6cadp1f,   -0x1.aad138p0f, -0x1.38a75p4f, 0x1.dc68a4p3f};
    static const float apart[] = {-0x1.460f68p3f, 0x1.449e42p3f,  0x1.24ef42p4f, 0x1.c7bd2cp1f,
                                  -0x1.d8b0cp0f,  -0x1.5052cp4f,  0x1.5b8834p3f, 0x1.9ce382p4f,
                                  0x1.f6cadp1f,   -0x1.aad138p0f, -0x1.38a75p4f, 0x1.dc68a2p3f};
    compare_wide("litert@builtin-arm64", 3, fused);
    compare_wide("litert@builtin-arm64", 4, apart);
    compare_wide("litert@reference-arm64", 3, fused);
    compare_wide("litert@reference-arm64", 4, apart);
}

// The bias remains.
static void rows_of_zeros(void **state) {
    (void)state;
    static const char *const targets[] = {"litert@reference", "litert@builtin-arm64",
                                          "litert@xnnpack-x86", "litert@xnnpack-arm64"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (int scheme = QDQ_ASYMMETRIC; scheme <= QDQ_SYMMETRIC; scheme++) {
            dynamic_case c = {
                targets[i], (qdq_scheme)scheme, false, {0.1f, -2.3f, 1.7f, 0.1f, -2.3f, 1.7f}};
            compare(&c, NULL, 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_two_ranges),
        cmocka_unit_test(rows_in_fours_round_before_the_sum),
        cmocka_unit_test(rows_of_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
