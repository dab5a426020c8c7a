// SPDX-License-Identifier: Apache-2.0
// CONV_2D and FULLY_CONNECTED of 16-bit codes by int8 weights, by target litert: results of its
// engines on ties and on bytes of both signs.
#include "tests/network.h"

enum { PIXELS = 10, CHANNELS = 2, RESULTS = PIXELS * CHANNELS };

typedef struct product_case {
    const char *target;
    bool convolves, long_bias;
    const int16_t *wanted;
} product_case;

static qdq_value dequantize(qdq_graph *g, qdq_value x, float scale) {
    return qdq_dequantize(
        g, x, (qdq_dequantize_attrs){.scales = {&scale, 1, true}, .dtype = QDQ_FLOAT32});
}

// A bias of int64 has a Cast in models that are read.
static qdq_value add_bias(qdq_graph *g, bool is_long) {
    static const int64_t wide[CHANNELS] = {0};
    static const int32_t narrow[CHANNELS] = {0};
    qdq_value bias = is_long ? qdq_constant(g, "bias", QDQ_INT64, QDQ_SHAPE(CHANNELS), wide)
                             : qdq_constant(g, "bias", QDQ_INT32, QDQ_SHAPE(CHANNELS), narrow);
    if (is_long) bias = qdq_cast(g, bias, (qdq_cast_attrs){.dtype = QDQ_INT32});
    return dequantize(g, bias, 0.25f);
}

// A product by 1 and by -3, whose sums have a quarter of a code of y.
static qdq_graph *product(const product_case *c) {
    static const int8_t weights[CHANNELS] = {1, -3};
    static const int64_t ones[] = {1, 1};
    static const float steps = 1;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_shape shape = c->convolves ? QDQ_SHAPE(1, 2, PIXELS / 2, 1) : QDQ_SHAPE(PIXELS, 1);
    qdq_value x = dequantize(g, qdq_input(g, "x", QDQ_INT16, shape), 0.5f), bias, y;
    shape = c->convolves ? QDQ_SHAPE(CHANNELS, 1, 1, 1) : QDQ_SHAPE(CHANNELS, 1);
    qdq_value w = dequantize(g, qdq_constant(g, "w", QDQ_INT8, shape, weights), 0.5f);
    bias = add_bias(g, c->long_bias);
    if (c->convolves)
        y = qdq_convolution(g, x, w,
                            (qdq_convolution_attrs){.bias = bias,
                                                    .strides = {ones, 2},
                                                    .dilations = {ones, 2},
                                                    .data_format = QDQ_NXC,
                                                    .weights_format = QDQ_OIX});
    else
        y = qdq_matmul(g, x, w, (qdq_matmul_attrs){.bias = bias, .transpose_b = QDQ_TRUE});
    qdq_output(g, "y",
               qdq_quantize(g, y,
                            (qdq_quantize_attrs){
                                .name = "q", .scales = {&steps, 1, true}, .dtype = QDQ_INT16}));
    return g;
}

static void ties_of_sums(void **state) {
    (void)state;
    static const int16_t codes[PIXELS] = {-10, -6, -2, 2, 6, 10, -32768, 32767, -257, 300};
    static const int16_t away[RESULTS] = {-3, 8,  -2,    5,     -1,   2,      1,   -2,  2,  -5,
                                          3,  -8, -8192, 24576, 8192, -24575, -64, 193, 75, -225};
    static const int16_t up[RESULTS] = {-2, 8,  -1,    5,     0,    2,      1,   -1,  2,  -4,
                                        3,  -7, -8192, 24576, 8192, -24575, -64, 193, 75, -225};
    static const product_case cases[] = {{"litert@reference", true, false, away},
                                         {"litert@reference", true, true, up},
                                         {"litert@builtin-x86", true, false, up},
                                         {"litert@xnnpack-arm64", true, true, up},
                                         {"litert@builtin-arm64", true, false, up},
                                         {"litert@reference", false, false, away},
                                         {"litert@builtin-x86", false, false, up},
                                         {"litert@builtin-x86", false, true, away},
                                         {"litert@xnnpack-arm64", false, true, away},
                                         {"tflm", true, false, away},
                                         {"tflm", false, true, up}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int16_t x[PIXELS], y[RESULTS];
        qdq_error err = {0};
        qdq_graph *g = product(&cases[i]), *deployed = qdq_graph_deployed(g, cases[i].target, &err);
        if (!deployed) print_error("%s\n", err.text);
        assert_non_null(deployed);
        memcpy(x, codes, sizeof codes);
        network_tensor in = {"x", QDQ_INT16, x, PIXELS};
        network_run(deployed, &in, 1, (network_tensor){"y", QDQ_INT16, y, RESULTS});
        assert_memory_equal(y, cases[i].wanted, sizeof y);
        qdq_graph_destroy(deployed);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ties_of_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
