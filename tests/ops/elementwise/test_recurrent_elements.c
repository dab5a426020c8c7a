// SPDX-License-Identifier: Apache-2.0
// Tanh and Clamp within recurrent ops: on targets onnx and ort the numbers that GRU of ONNX Runtime
// 1.32.0 gave on x86-64, on every instruction set; elsewhere those without the attribute.
#include <float.h>
#include <math.h>

#include "tests/network.h"

enum { COUNT = 12 };

static void run_on(const char *target, qdq_graph *g, const float *x, float *y) {
    network_tensor input = {"x", QDQ_FLOAT32, (void *)x, COUNT},
                   output = {"y", QDQ_FLOAT32, y, COUNT};
    qdq_compile_options compile = {.target = target};
    network_run_once(g, &compile, NULL, &input, 1, &output);
    float first[COUNT];
    memcpy(first, y, sizeof first);
    for (size_t i = 0; qdq_isa_get(i).name; i++) {
        if (!qdq_isa_get(i).available) continue;
        compile.isa = qdq_isa_get(i).name;
        network_run_once(g, &compile, NULL, &input, 1, &output);
        assert_memory_equal(first, y, sizeof first);
    }
}

static void tanh_of(const char *target, qdq_bool recurrent, const float *x, float *y) {
    qdq_graph *g = qdq_graph_create("tanh", NULL);
    qdq_tanh_attrs attrs = {.x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(COUNT)),
                            .recurrent = recurrent};
    qdq_output(g, "y", qdq_add_node(g, "Tanh", &attrs, sizeof attrs));
    run_on(target, g, x, y);
    qdq_graph_destroy(g);
}

// x, and the new state of a GRU whose update gate is 0.
static float numbers[COUNT] = {0x1.cec1f0p+1f,
                               -0x1.4e25a2p+0f,
                               -0x1.4b778ep+1f,
                               0x1.c85646p+0f,
                               -0x1.7edb0ap+2f,
                               -0x1.35a7dep+1f,
                               -0x1.68b1bcp+2f,
                               0x1.3de5fcp+1f,
                               9.0f,
                               9.5f,
                               -10.0f,
                               12.0f};
static const float of_gru[COUNT] = {0x1.ff424ep-1f,  -0x1.b9e486p-1f, -0x1.fa43b2p-1f,
                                    0x1.e3d32cp-1f,  -0x1.fffe52p-1f, -0x1.f7f428p-1f,
                                    -0x1.fffca6p-1f, 0x1.f8eb5cp-1f,  1.0f,
                                    0x1.000004p+0f,  -0x1.000008p+0f, 0x1.000008p+0f};

static void tanh_of_gru_rounds_each_product_and_is_bounded_at_ten(void **state) {
    (void)state;
    static const char *const targets[] = {"onnx", "onnx@1.31-avx2", "ort@1.32-avx512"};
    float y[COUNT];
    for (size_t i = 0; i < UNIT_COUNT(targets); i++) {
        tanh_of(targets[i], QDQ_TRUE, numbers, y);
        assert_memory_equal(y, of_gru, sizeof y);
    }
}

static void other_targets_ignore_that_tanh_is_in_a_recurrent_op(void **state) {
    (void)state;
    static const char *const targets[] = {"core", "tensorrt", "onnx@1.31-neon", "onnx@spec"};
    float y[COUNT], plain[COUNT];
    for (size_t i = 0; i < UNIT_COUNT(targets); i++) {
        tanh_of(targets[i], QDQ_TRUE, numbers, y);
        tanh_of(targets[i], QDQ_FALSE, numbers, plain);
        assert_memory_equal(y, plain, sizeof y);
        assert_true(y[9] == 1.0f);
    }
}

static void clamp_of(const char *target, qdq_bool recurrent, const float *x, float *y) {
    qdq_graph *g = qdq_graph_create("clamp", NULL);
    qdq_clamp_attrs attrs = {
        .min = QDQ_FLOAT(-2), .max = QDQ_FLOAT((double)FLT_MAX), .recurrent = recurrent};
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(COUNT));
    qdq_output(g, "y", qdq_clamp(g, in, attrs));
    run_on(target, g, x, y);
    qdq_graph_destroy(g);
}

// As std::max(min, std::min(max, x)) in C++.
static void nan_is_the_greatest_number_of_a_gate_with_a_bias(void **state) {
    (void)state;
    float x[COUNT] = {NAN, INFINITY, -INFINITY, -2, -3, -0.0f, 1, 0, -1, 2, 3, 4}, y[COUNT];
    const float wanted[COUNT] = {FLT_MAX, FLT_MAX, -2, -2, -2, -0.0f, 1, 0, -1, 2, 3, 4};
    clamp_of("onnx", QDQ_TRUE, x, y);
    assert_memory_equal(y, wanted, sizeof y);
    clamp_of("onnx", QDQ_FALSE, x, y);
    assert_true(isnan(y[0]));
    clamp_of("core", QDQ_TRUE, x, y);
    assert_true(isnan(y[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tanh_of_gru_rounds_each_product_and_is_bounded_at_ten),
        cmocka_unit_test(other_targets_ignore_that_tanh_is_in_a_recurrent_op),
        cmocka_unit_test(nan_is_the_greatest_number_of_a_gate_with_a_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
