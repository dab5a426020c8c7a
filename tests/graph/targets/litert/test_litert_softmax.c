// SPDX-License-Identifier: Apache-2.0
// SOFTMAX with a factor of x ("beta") by targets litert and tflm: recorded results.
#include "tests/network.h"

enum { COUNT = 4 };

typedef struct softmax_case {
    const char *target;
    float scale, beta;
    int8_t wanted[COUNT];
} softmax_case;

// Returns the deployed form of SOFTMAX of a row of codes.
static qdq_graph *deploy(const softmax_case *c) {
    static const float steps = 1 / 256.0f;
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, COUNT));
    v = qdq_dequantize(
        g, v, (qdq_dequantize_attrs){.scales = {&c->scale, 1, true}, .dtype = QDQ_FLOAT32});
    v = qdq_multiply(g, v, qdq_constant(g, "beta", QDQ_FLOAT32, (qdq_shape){0}, &c->beta),
                     (qdq_binary_attrs){.name = "scaled"});
    v = qdq_softmax(g, v, (qdq_softmax_attrs){.name = "softmax", .axis = QDQ_INT(-1)});
    v = qdq_quantize(
        g, v,
        (qdq_quantize_attrs){
            .name = "q", .scales = {&steps, 1, true}, .zps = QDQ_ZP(-128), .dtype = QDQ_INT8});
    qdq_output(g, "y", v);
    qdq_graph *deployed = qdq_graph_deployed(g, c->target, &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    qdq_graph_destroy(g);
    return deployed;
}

static void rows(void **state) {
    (void)state;
    static const softmax_case cases[] = {
        {"litert@reference", 0.05f, 2, {-120, -106, -67, 37}},
        {"litert@builtin-x86", 0.05f, 2, {-120, -106, -67, 37}},
        {"litert@xnnpack-arm64", 0.05f, 2, {-120, -106, -67, 37}},
        {"tflm", 0.05f, 2, {-120, -106, -67, 37}},
        {"litert@builtin-x86", 0.3f, 0.7f, {-128, -125, -100, 97}},
        {"litert@xnnpack-x86", 0.3f, 0.7f, {-128, -125, -100, 97}},
        {"litert@builtin-arm64", 0.3f, 0.7f, {-128, -125, -100, 97}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int8_t x[COUNT] = {0, 10, 20, 30}, y[COUNT];
        qdq_graph *g = deploy(&cases[i]);
        network_tensor in = {"x", QDQ_INT8, x, COUNT};
        network_run(g, &in, 1, (network_tensor){"y", QDQ_INT8, y, COUNT});
        assert_memory_equal(y, cases[i].wanted, sizeof y);
        qdq_graph_destroy(g);
    }
}

// The reference kernel multiplies scale and beta in float64. If that has more bits than a float32,
// or is 2^-26 or less, for which it aborts, the four nodes remain.
static void products_without_bits_are_unknown(void **state) {
    (void)state;
    static const softmax_case cases[] = {{"litert@reference", 0.3f, 0.7f, {0}},
                                         {"tflm", 0.3f, 0.7f, {0}},
                                         {"litert@reference-arm64", 0x1p-27f, 2, {0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qdq_graph *g = deploy(&cases[i]);
        assert_int_equal(qdq_graph_node_count(g), 4);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(products_without_bits_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
