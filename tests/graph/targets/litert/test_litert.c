// SPDX-License-Identifier: Apache-2.0
// Targets litert and tflm against results of ai-edge-litert 2.3.0 and tflite-micro, which were
// recorded: ties, and the places where vectors end.
#include <math.h>

#include "tests/graph/targets/litert/litert_pairs.h"

// The engines in this order.
static const char *const targets[] = {"litert@reference", "litert@builtin-x86",
                                      "litert@xnnpack-x86", "tflm"};
enum { REFERENCE, BUILTIN, XNNPACK, TFLM, ENGINES };

// Runs the deployed form of a graph and destroys the graph.
static void run(qdq_graph *g, int engine, network_tensor in, network_tensor out) {
    qdq_error err = {0};
    qdq_graph *deployed = qdq_graph_deployed(g, targets[engine], &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    network_run(deployed, &in, 1, out);
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

//---- QUANTIZE ---------------------------------------------------------------

static void floats_in_blocks_round_half_to_even(void **state) {
    (void)state;
    enum { COUNT = 13 };  // a block of eight, and five behind it
    static const float halves[COUNT] = {.5f,  1.5f, 2.5f, -.5f, -2.5f, NAN,  INFINITY,
                                        3e9f, .5f,  1.5f, 2.5f, -.5f,  -2.5f};
    static const int8_t wanted[ENGINES][COUNT] = {
        {1, 2, 3, -1, -3, -128, -128, -128, 1, 2, 3, -1, -3},
        {0, 2, 2, 0, -2, -128, -128, -128, 1, 2, 3, -1, -3},
        {0, 2, 2, 0, -2, 127, 127, 127, 0, 2, 2, 0, -2},
        {1, 2, 3, -1, -3, -128, -128, -128, 1, 2, 3, -1, -3}};
    for (int engine = 0; engine < ENGINES; engine++) {
        float x[COUNT];
        int8_t y[COUNT];
        memcpy(x, halves, sizeof x);
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, COUNT));
        qdq_output(g, "y", quantize(g, v, 1, 0));
        run(g, engine, (network_tensor){"x", QDQ_FLOAT32, x, COUNT},
            (network_tensor){"y", QDQ_INT8, y, COUNT});
        assert_memory_equal(y, wanted[engine], COUNT);
    }
}

static void codes_in_blocks_round_half_up(void **state) {
    (void)state;
    enum { COUNT = 24, EACH = 8 };  // a block of 16, and eight behind it
    static const int8_t codes[EACH] = {-10, -6, -2, 2, 6, 10, 1, -1};
    static const int8_t away[EACH] = {-3, -2, -1, 1, 2, 3, 1, 0},
                        up[EACH] = {-2, -1, 0, 1, 2, 3, 1, 0},
                        eighths[EACH] = {-2, -1, 0, 1, 2, 3, 0, 0};
    for (int engine = 0; engine < ENGINES; engine++) {
        int8_t x[COUNT], y[COUNT];
        for (int i = 0; i < COUNT; i++) x[i] = codes[i % EACH];
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(COUNT));
        const float in = 0.25f, out = 1;
        v = qdq_requantize(g, v,
                           (qdq_requantize_attrs){.in_scales = {&in, 1, true},
                                                  .out_scales = {&out, 1, true},
                                                  .dtype = QDQ_INT8});
        qdq_output(g, "y", v);
        run(g, engine, (network_tensor){"x", QDQ_INT8, x, COUNT},
            (network_tensor){"y", QDQ_INT8, y, COUNT});
        for (int i = 0; i < COUNT; i++) {
            const int8_t *wanted = engine == XNNPACK             ? eighths
                                   : engine == BUILTIN && i < 16 ? up
                                                                 : away;
            if (i % EACH < 6) assert_int_equal(y[i], wanted[i % EACH]);
        }
    }
}

//---- Sums, products and means -----------------------------------------------

static void sums_and_products(void **state) {
    (void)state;
    enum { COUNT = 4 };
    static const int8_t codes[COUNT] = {1, -1, 3, -3},
                        sums[2][COUNT] = {{1, -1, 2, -2}, {1, 0, 2, -1}},
                        products[2][COUNT] = {{1, 0, 2, -1}, {0, 0, 2, -2}};
    for (int engine = 0; engine < ENGINES; engine++)
        for (int multiplies = 0; multiplies < 2; multiplies++) {
            static const int8_t zero = 0, one = 1;
            int8_t x[COUNT], y[COUNT];
            memcpy(x, codes, COUNT);
            qdq_graph *g = qdq_graph_create("g", NULL);
            qdq_value a = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(COUNT));
            qdq_value b = qdq_constant(g, "b", QDQ_INT8, QDQ_SHAPE(1), multiplies ? &one : &zero);
            a = dequantize(g, a, 0.5f, 0), b = dequantize(g, b, multiplies ? 1.0f : 0.5f, 0);
            a = multiplies ? qdq_multiply(g, a, b, (qdq_binary_attrs){0})
                           : qdq_add(g, a, b, (qdq_binary_attrs){0});
            qdq_output(g, "y", quantize(g, a, 1, 0));
            run(g, engine, (network_tensor){"x", QDQ_INT8, x, COUNT},
                (network_tensor){"y", QDQ_INT8, y, COUNT});
            assert_memory_equal(y, (multiplies ? products : sums)[engine == XNNPACK], COUNT);
        }
}

// Vectors of the optimized ADD of a single element cut what others round: at a tie of y, which
// 3 in steps of 6 / 255 is.
static void a_sum_with_a_single_element(void **state) {
    (void)state;
    enum { COUNT = 11 };  // a block of eight, and three behind it
    static const int8_t codes[COUNT] = {28, 28, 29, 28, 0, 28, 28, 100, 28, 28, 28}, three = 127,
                        rounded[COUNT] = {0, 0, 4, 0, -128, 0, 0, 127, 0, 0, 0},
                        cut[COUNT] = {-1, -1, 4, -1, -128, -1, -1, 127, 0, 0, 0};
    for (int engine = 0; engine < ENGINES; engine++)
        for (int first = 0; first < 2; first++) {
            int8_t x[COUNT], y[COUNT];
            memcpy(x, codes, COUNT);
            qdq_graph *g = qdq_graph_create("g", NULL);
            qdq_value a = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, COUNT));
            qdq_value b = qdq_constant(g, "b", QDQ_INT8, QDQ_SHAPE(1), &three);
            a = dequantize(g, a, 0.10717155f, 28), b = dequantize(g, b, 0.011764706f, -128);
            a = qdq_add(g, first ? b : a, first ? a : b, (qdq_binary_attrs){0});
            qdq_output(g, "y", quantize(g, a, 0.023529412f, -128));
            run(g, engine, (network_tensor){"x", QDQ_INT8, x, COUNT},
                (network_tensor){"y", QDQ_INT8, y, COUNT});
            assert_memory_equal(y, engine == BUILTIN ? cut : rounded, COUNT);
        }
}

// XNNPACK takes x * x as a function of x, and adds the zero point before it rounds half to even.
static void squares(void **state) {
    (void)state;
    static const int8_t codes[8] = {-128, -3, -1, 0, 1, 3, 127, 28},
                        wanted[8] = {127, 8, 4, 3, 4, 8, 127, 127};
    for (int engine = 0; engine < ENGINES; engine++) {
        int8_t x[8], y[8];
        memcpy(x, codes, sizeof x);
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 8));
        qdq_value a = dequantize(g, v, 0.5f, 0), b = dequantize(g, v, 0.5f, 0);
        qdq_output(g, "y", quantize(g, qdq_multiply(g, a, b, (qdq_binary_attrs){0}), 0.5f, 3));
        run(g, engine, (network_tensor){"x", QDQ_INT8, x, 8},
            (network_tensor){"y", QDQ_INT8, y, 8});
        assert_memory_equal(y, wanted, sizeof y);
    }
}

static void channels_of_a_mean_round_in_blocks(void **state) {
    (void)state;
    enum { CHANNELS = 40, COUNT = 4 * CHANNELS };
    static const int64_t axes[] = {1, 2};
    for (int engine = 0; engine < ENGINES; engine++) {
        int8_t x[COUNT], y[CHANNELS];
        for (int i = 0; i < COUNT; i++) x[i] = i / CHANNELS % 2 ? 0 : -3;
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 2, 2, CHANNELS));
        v = qdq_reduce_mean(g, dequantize(g, v, 1, 0),
                            (qdq_reduce_attrs){.axes = {axes, 2}, .keep_dims = QDQ_TRUE});
        qdq_output(g, "y", quantize(g, v, 1, 0));
        run(g, engine, (network_tensor){"x", QDQ_INT8, x, COUNT},
            (network_tensor){"y", QDQ_INT8, y, CHANNELS});
        for (int i = 0; i < CHANNELS; i++)
            assert_int_equal(y[i], engine == BUILTIN && i < 32 ? -1 : -2);
    }
}

static void means_over_other_dims(void **state) {
    (void)state;
    enum { MEANS = 8, COUNT = 2 * MEANS };
    static const int8_t sums[MEANS] = {-1, 1, 3, 5, -3, -5, 7, -7},
                        away[MEANS] = {0, 1, 2, 3, -1, -2, 4, -3},
                        even[MEANS] = {0, 0, 2, 2, -2, -2, 4, -4};
    const int64_t last = -1, outer[] = {0, 3};
    for (int engine = 0; engine < ENGINES; engine++)
        for (int over_last = 0; over_last < 2; over_last++) {
            int8_t x[COUNT] = {0}, y[MEANS];
            for (int i = 0; i < MEANS; i++) x[over_last ? 2 * i : i] = sums[i];
            qdq_graph *g = qdq_graph_create("g", NULL);
            qdq_shape shape = over_last ? QDQ_SHAPE(1, 2, 4, 2) : QDQ_SHAPE(2, 8, 1, 1);
            qdq_reduce_attrs attrs = {.axes = {over_last ? &last : outer, over_last ? 1 : 2},
                                      .keep_dims = QDQ_FALSE};
            qdq_value v = qdq_input(g, "x", QDQ_INT8, shape);
            v = qdq_reduce_mean(g, dequantize(g, v, 1, 0), attrs);
            qdq_output(g, "y", quantize(g, v, 1, 0));
            run(g, engine, (network_tensor){"x", QDQ_INT8, x, COUNT},
                (network_tensor){"y", QDQ_INT8, y, MEANS});
            assert_memory_equal(y, engine == XNNPACK ? even : away, MEANS);
        }
}

// Windows that lie apart are not XNNPACK's, which rounds the bounds of an activation half to even:
// 1 is half a step.
static void bounds_of_pools(void **state) {
    (void)state;
    enum { ROWS = 2, COLUMNS = 3, COUNT = ROWS * COLUMNS };
    static const int8_t codes[COUNT] = {-20, 0, 5, 1, 3, -1};
    static const int8_t apart[COLUMNS] = {-1, 0, 1}, others[COLUMNS] = {1, 1, 1},
                        delegated[COLUMNS] = {0, 0, 0};
    static const int64_t strides[] = {2, 1};
    for (int engine = 0; engine < TFLM; engine++)
        for (int64_t rows = 1; rows <= ROWS; rows++) {
            int8_t x[COUNT], y[COLUMNS];
            memcpy(x, codes, sizeof x);
            int64_t kernel[] = {rows, 1};
            qdq_graph *g = qdq_graph_create("g", NULL);
            qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, ROWS, COLUMNS, 1));
            v = qdq_max_pool(g, dequantize(g, v, 2, 0),
                             (qdq_pool_attrs){.kernel = {kernel, 2},
                                              .strides = {strides, 2},
                                              .data_format = QDQ_NXC});
            v = qdq_clamp(g, v, (qdq_clamp_attrs){.min = QDQ_FLOAT(-1), .max = QDQ_FLOAT(1)});
            qdq_output(g, "y", quantize(g, v, 2, 0));
            run(g, engine, (network_tensor){"x", QDQ_INT8, x, COUNT},
                (network_tensor){"y", QDQ_INT8, y, COLUMNS});
            const int8_t *wanted = rows == 1 ? apart : engine == XNNPACK ? delegated : others;
            assert_memory_equal(y, wanted, sizeof y);
        }
}

//---- Convolutions -----------------------------------------------------------

// XNNPACK leaves convolutions by int4 to the built-in kernels.
static void check_channels(qdq_dtype weights) {
    enum { CHANNELS = 9, PIXELS = 6, COUNT = PIXELS * CHANNELS };
    static const int8_t sums[PIXELS] = {-10, -6, -2, 2, 6, 10},
                        away[PIXELS] = {-3, -2, -1, 1, 2, 3}, up[PIXELS] = {-2, -1, 0, 1, 2, 3},
                        even[PIXELS] = {-2, -2, 0, 0, 2, 2};
    static const int64_t ones[] = {1, 1};
    for (int engine = 0; engine < ENGINES; engine++)
        for (int depthwise = 0; depthwise < 2; depthwise++) {
            int8_t x[COUNT], y[COUNT], w[CHANNELS * CHANNELS] = {0};
            int32_t bias[CHANNELS] = {0};
            for (int i = 0; i < COUNT; i++) x[i] = sums[i / CHANNELS];
            for (int i = 0; i < CHANNELS; i++) w[depthwise ? i : i * (CHANNELS + 1)] = 1;
            qdq_graph *g = qdq_graph_create("g", NULL);
            qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 2, 3, CHANNELS));
            qdq_value f = qdq_constant(g, "w", weights,
                                       QDQ_SHAPE(CHANNELS, depthwise ? 1 : CHANNELS, 1, 1), w);
            qdq_value b = qdq_constant(g, "b", QDQ_INT32, QDQ_SHAPE(CHANNELS), bias);
            v = qdq_convolution(g, dequantize(g, v, 0.5f, 0), dequantize(g, f, 0.5f, 0),
                                (qdq_convolution_attrs){.bias = dequantize(g, b, 0.25f, 0),
                                                        .strides = {ones, 2},
                                                        .dilations = {ones, 2},
                                                        .groups = QDQ_INT(depthwise ? CHANNELS : 1),
                                                        .weights_format = QDQ_OIX});
            qdq_output(g, "y", quantize(g, v, 1, 0));
            run(g, engine, (network_tensor){"x", QDQ_INT8, x, COUNT},
                (network_tensor){"y", QDQ_INT8, y, COUNT});
            for (int i = 0; i < COUNT; i++) {
                bool delegated = engine == XNNPACK && weights == QDQ_INT8;
                bool blocks =
                    (engine == BUILTIN || engine == XNNPACK) && !(depthwise && i % CHANNELS == 8);
                const int8_t *wanted = delegated ? even : blocks ? up : away;
                assert_int_equal(y[i], wanted[i / CHANNELS]);
            }
        }
}

static void channels_of_convolutions(void **state) {
    (void)state;
    check_channels(QDQ_INT8);
    check_channels(QDQ_INT4);
}

//---- Functions --------------------------------------------------------------

static void a_row_of_softmax(void **state) {
    (void)state;
    static const int8_t codes[] = {0, 10, 20, 30}, wanted[] = {-120, -106, -67, 37};
    for (int engine = 0; engine < ENGINES; engine++) {
        int8_t x[4], y[4];
        memcpy(x, codes, sizeof x);
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 4));
        v = qdq_softmax(g, dequantize(g, v, 0.1f, 0), (qdq_softmax_attrs){.axis = QDQ_INT(-1)});
        qdq_output(g, "y", quantize(g, v, 1 / 256.0f, -128));
        run(g, engine, (network_tensor){"x", QDQ_INT8, x, 4},
            (network_tensor){"y", QDQ_INT8, y, 4});
        assert_memory_equal(y, wanted, sizeof y);
    }
}

// A function of codes with the scales of x and y and the zero point of y, and its results by
// engine.
typedef struct function_case {
    const char *op;
    float x_scale, y_scale;
    double y_zero;
    int8_t wanted[ENGINES][8];
} function_case;

#define ALIKE(...) \
    {__VA_ARGS__}, {__VA_ARGS__}, { __VA_ARGS__ }

// TFLM's LOGISTIC and TANH are fixed point: half a code is not where it is for floats, a few codes
// of x decide by a shift, and TANH takes y to have the scale 1/128. Its RELU6 clamps codes of x.
static void functions_of_codes(void **state) {
    (void)state;
    static const int8_t codes[8] = {-128, -3, -1, 0, 1, 3, 127, 60};
    static const function_case cases[] = {
        {"Tanh",
         1 / 256.0f,
         1 / 128.0f,
         0,
         {ALIKE(-59, -1, 0, 0, 0, 1, 59, 29), {-59, -1, -1, 0, 1, 1, 59, 29}}},
        {"Tanh",
         1 / 16.0f,
         1 / 64.0f,
         5,
         {ALIKE(-59, -7, 1, 5, 9, 17, 69, 69), {-128, -24, -8, 0, 8, 24, 127, 127}}},
        {"Sigmoid",
         2,
         1 / 256.0f,
         -128,
         {ALIKE(-128, -127, -97, 0, 97, 127, 127, 127), {-128, -128, -97, 0, 97, 127, 127, 127}}},
        {"Sigmoid",
         32,
         1 / 256.0f,
         -128,
         {ALIKE(-128, -128, -128, 0, 127, 127, 127, 127),
          {-128, -128, -128, -128, 127, 127, 127, 127}}},
        {"ReLU6",
         0.5f,
         1,
         -10,
         {ALIKE(-10, -10, -10, -10, -9, -8, -4, -4), {0, 0, 0, 0, 1, 3, 12, 12}}},
        {"HardSwish",
         1024,
         512,
         0,
         {ALIKE(0, 0, 0, 0, 2, 6, 127, 120), {0, 0, 0, 0, 2, 6, 127, 120}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int engine = 0; engine < ENGINES; engine++) {
            int8_t x[8], y[8];
            memcpy(x, codes, sizeof x);
            qdq_graph *g = qdq_graph_create("g", NULL);
            qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 8));
            qdq_unary_attrs attrs = {.x = dequantize(g, v, cases[i].x_scale, 0)};
            v = qdq_add_node(g, cases[i].op, &attrs, sizeof attrs);
            qdq_output(g, "y", quantize(g, v, cases[i].y_scale, cases[i].y_zero));
            run(g, engine, (network_tensor){"x", QDQ_INT8, x, 8},
                (network_tensor){"y", QDQ_INT8, y, 8});
            assert_memory_equal(y, cases[i].wanted[engine], sizeof y);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_in_blocks_round_half_to_even),
        cmocka_unit_test(codes_in_blocks_round_half_up),
        cmocka_unit_test(sums_and_products),
        cmocka_unit_test(a_sum_with_a_single_element),
        cmocka_unit_test(squares),
        cmocka_unit_test(channels_of_a_mean_round_in_blocks),
        cmocka_unit_test(means_over_other_dims),
        cmocka_unit_test(bounds_of_pools),
        cmocka_unit_test(channels_of_convolutions),
        cmocka_unit_test(a_row_of_softmax),
        cmocka_unit_test(functions_of_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
