// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED of int8 with one scale for all weights: the product of the scales of x and
// weights is a float64 in TFLM, and a float32 in LiteRT's built-in kernels.
#include "tests/network.h"

enum { OUTPUTS = 4 };

// Computes codes of a bias alone, next to halves.
static void compare(const char *target, const int8_t *wanted) {
    static const int32_t bias[OUTPUTS] = {521543196, -748750144, 1048250186, -1234146790};
    static const int8_t weights[OUTPUTS] = {0};
    static const float scales[] = {0.011f, 0.0123f, 0.0001353f, 1397.3226318359375f};
    int8_t x[] = {7}, y[OUTPUTS];
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value v[] = {qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 1)),
                     qdq_constant(g, "w", QDQ_INT8, QDQ_SHAPE(OUTPUTS, 1), weights),
                     qdq_constant(g, "b", QDQ_INT32, QDQ_SHAPE(OUTPUTS), bias)};
    for (int i = 0; i < 3; i++)
        v[i] = qdq_dequantize(
            g, v[i], (qdq_dequantize_attrs){.scales = {&scales[i], 1, true}, .dtype = QDQ_FLOAT32});
    qdq_value sum =
        qdq_matmul(g, v[0], v[1], (qdq_matmul_attrs){.bias = v[2], .transpose_b = QDQ_TRUE});
    qdq_output(g, "y",
               qdq_quantize(g, sum,
                            (qdq_quantize_attrs){
                                .name = "q", .scales = {&scales[3], 1, true}, .dtype = QDQ_INT8}));
    qdq_graph *deployed = qdq_graph_deployed(g, target, &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    network_tensor in = {"x", QDQ_INT8, x, 1};
    network_run(deployed, &in, 1, (network_tensor){"y", QDQ_INT8, y, OUTPUTS});
    assert_memory_equal(y, wanted, sizeof y);
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

static qdq_value operand(qdq_graph *g, const char *name, float scale) {
    qdq_value x = qdq_input(g, name, QDQ_INT8, QDQ_SHAPE(OUTPUTS));
    return qdq_dequantize(
        g, x, (qdq_dequantize_attrs){.scales = {&scale, 1, true}, .dtype = QDQ_FLOAT32});
}

static void compare_mul(const char *target, const int8_t *wanted) {
    static const float scale = 0.0600000024f;
    int8_t a[OUTPUTS] = {-11, -7, -9, 5}, b[OUTPUTS] = {11, 17, 13, -23}, y[OUTPUTS];
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value v =
        qdq_multiply(g, operand(g, "a", 0.1f), operand(g, "b", 0.3f), (qdq_binary_attrs){0});
    qdq_output(g, "y",
               qdq_quantize(g, v,
                            (qdq_quantize_attrs){
                                .name = "q", .scales = {&scale, 1, true}, .dtype = QDQ_INT8}));
    qdq_graph *deployed = qdq_graph_deployed(g, target, &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    network_tensor in[] = {{"a", QDQ_INT8, a, OUTPUTS}, {"b", QDQ_INT8, b, OUTPUTS}};
    network_run(deployed, in, 2, (network_tensor){"y", QDQ_INT8, y, OUTPUTS});
    assert_memory_equal(y, wanted, sizeof y);
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

static void scales_of_mul(void **state) {
    (void)state;
    static const int8_t wide[OUTPUTS] = {-61, -60, -59, -58},
                        narrow[OUTPUTS] = {-60, -59, -58, -57};
    compare_mul("tflm", wide);
    compare_mul("litert@reference", narrow);
    compare_mul("litert@builtin-x86", narrow);
}

static void scales_multiply_in_the_engines_format(void **state) {
    (void)state;
    static const int8_t wide[OUTPUTS] = {50, -72, 101, -119},
                        narrow[OUTPUTS] = {51, -73, 102, -120};
    compare("tflm", wide);
    compare("litert@builtin-x86", narrow);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scales_multiply_in_the_engines_format),
                                       cmocka_unit_test(scales_of_mul)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
