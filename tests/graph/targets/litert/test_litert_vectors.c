// SPDX-License-Identifier: Apache-2.0
// Elements that vectors of LiteRT's built-in kernels round otherwise than the elements behind
// them, against results of ai-edge-litert 2.3.0 on x86-64 and, in qemu, on aarch64.
#include <math.h>

#include "tests/graph/targets/litert/litert_pairs.h"

static void output(qdq_graph *g, qdq_value y, float scale, double zero, qdq_dtype dtype) {
    qdq_output(g, "y",
               qdq_quantize(g, y,
                            (qdq_quantize_attrs){.name = "q",
                                                 .scales = {&scale, 1, true},
                                                 .zps = QDQ_ZP(zero),
                                                 .dtype = dtype}));
}

// Runs a graph as a target does and destroys it.
static void run(qdq_graph *g, const char *target, network_tensor x, network_tensor y) {
    qdq_error err = {0};
    qdq_graph *deployed = qdq_graph_deployed(g, target, &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    network_run(deployed, &x, 1, y);
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

// True if a target has no bits for the operator: an op of its graph remains.
static bool leaves(qdq_graph *g, const char *target, const char *op) {
    qdq_error err = {0};
    qdq_graph *deployed = qdq_graph_deployed(g, target, &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    bool found = false;
    for (size_t i = 0; i < qdq_graph_node_count(deployed); i++)
        if (strcmp(qdq_graph_node(deployed, i).op, op) == 0) found = true;
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
    return found;
}

//---- QUANTIZE ---------------------------------------------------------------

// aarch64 saturates where x86-64 has the least int32; adding a zero point wraps on both.
static void floats_beyond_int32(void **state) {
    (void)state;
    enum { COUNT = 5 };
    static const struct {
        const char *target;
        int8_t wanted[COUNT];
    } cases[] = {{"litert@reference", {127, 127, 127, 127, -2}},
                 {"litert@reference-arm64", {-5, 127, 127, 127, -2}},
                 {"litert@builtin-arm64", {-5, 127, 127, 127, -2}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x[COUNT] = {NAN, INFINITY, 3e9f, -INFINITY, 2.5f};
        int8_t y[COUNT];
        qdq_graph *g = qdq_graph_create("g", NULL);
        output(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, COUNT)), 1, -5, QDQ_INT8);
        run(g, cases[i].target, (network_tensor){"x", QDQ_FLOAT32, x, COUNT},
            (network_tensor){"y", QDQ_INT8, y, COUNT});
        assert_memory_equal(y, cases[i].wanted, COUNT);
    }
}

//---- ADD --------------------------------------------------------------------

typedef struct sum_case {
    qdq_dtype dtype;
    float scales[3];  // of a, b and y
    double zeros[3];
    int a, b;       // codes, the same in each row
    int64_t count;  // of elements of a row
    bool scalar;    // b is one element
} sum_case;

static qdq_graph *sum_of(const sum_case *c, int64_t rows) {
    int16_t wide[32];
    int8_t narrow[32];
    for (int64_t i = 0; i < c->count; i++) wide[i] = (int16_t)c->b, narrow[i] = (int8_t)c->b;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value a = qdq_input(g, "x", c->dtype, QDQ_SHAPE(rows, c->count)),
              b = qdq_constant(g, "b", c->dtype, QDQ_SHAPE(c->scalar ? 1 : c->count),
                               c->dtype == QDQ_INT16 ? (void *)wide : (void *)narrow);
    a = dequantize(g, a, c->scales[0], c->zeros[0]);
    b = dequantize(g, b, c->scales[1], c->zeros[1]);
    output(g, qdq_add(g, a, b, (qdq_binary_attrs){0}), c->scales[2], c->zeros[2], c->dtype);
    return g;
}

// Compares the elements in blocks and behind them.
static void compare_sum(const char *target, const sum_case *c, int64_t block, int in_blocks,
                        int behind) {
    enum { ROWS = 2, MOST = 64 };
    int16_t x[MOST], y[MOST];
    bool wide = c->dtype == QDQ_INT16;
    int64_t rows = wide ? 1 : ROWS, count = rows * c->count;
    // Rows of one shape are one run of elements.
    int64_t run_length = c->scalar ? count : c->count;
    for (int64_t i = 0; i < count; i++)
        if (wide)
            x[i] = (int16_t)c->a;
        else
            ((int8_t *)x)[i] = (int8_t)c->a;
    run(sum_of(c, rows), target, (network_tensor){"x", c->dtype, x, (size_t)count},
        (network_tensor){"y", c->dtype, y, (size_t)count});
    for (int64_t i = 0; i < count; i++) {
        int code = wide ? y[i] : c->dtype == QDQ_INT8 ? ((int8_t *)y)[i] : ((uint8_t *)y)[i];
        assert_int_equal(code, i % run_length < run_length / block * block ? in_blocks : behind);
    }
}

static const char *const engines[] = {"litert@builtin-x86", "litert@builtin-arm64",
                                      "litert@reference", "litert@xnnpack-arm64"};

static void sums_in_vectors_scale_operands_otherwise(void **state) {
    (void)state;
    const sum_case bytes = {QDQ_UINT8, {1.25f, 0.375f, 0.75f}, {109, 0, 145}, 109, 7, 9, false},
                   scalar = {QDQ_INT8, {1.25f, 0.375f, 0.75f}, {-19, -128, 17}, -19, -121, 9, true},
                   codes = {QDQ_INT8, {1.25f, 0.375f, 0.75f}, {-19, -128, 17}, -19, -121, 9, false},
                   wide = {
                       QDQ_INT16, {0.0026120850816369057f, 0.001953125f, 6.481379386968911e-05f},
                       {0},       156,
                       78,        17,
                       false};
    for (int i = 0; i < 4; i++) {
        bool vectors = i < 2;
        compare_sum(engines[i], &bytes, 8, vectors ? 148 : 149, 149);
        compare_sum(engines[i], &scalar, 8, vectors ? 20 : 21, 21);
        compare_sum(engines[i], &codes, 16, 21, 21);
        // XNNPACK has no ADD of int16.
        compare_sum(engines[i], &wide, 16, i == 2 ? 8638 : 8637, 8638);
    }
}

static void sums_that_leave_16_bits_are_unknown(void **state) {
    (void)state;
    sum_case c = {QDQ_UINT8, {0.02f, 0.02f, 0.00008f}, {0, 0, 0}, 200, 0, 8, false};
    assert_true(leaves(sum_of(&c, 1), "litert@builtin-x86", "Dequantize"));
    assert_false(leaves(sum_of(&c, 1), "litert@reference", "Dequantize"));
    c.count = 7;  // no vector
    assert_false(leaves(sum_of(&c, 1), "litert@builtin-x86", "Dequantize"));
}

//---- HARD_SWISH -------------------------------------------------------------

static void hard_swish_of_aarch64_rounds_down_in_blocks(void **state) {
    (void)state;
    enum { COUNT = 9 };
    static const struct {
        const char *target;
        int8_t in_block;
    } cases[] = {{"litert@reference", 125},
                 {"litert@builtin-x86", 125},
                 {"litert@xnnpack-x86", 125},
                 {"litert@builtin-arm64", 126},
                 {"litert@xnnpack-arm64", 126}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int8_t x[COUNT], y[COUNT];
        memset(x, -25, COUNT);
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(COUNT));
        v = qdq_hard_swish(g, dequantize(g, v, 0.125f, -13), (qdq_unary_attrs){0});
        output(g, v, 0.25f, 127, QDQ_INT8);
        run(g, cases[i].target, (network_tensor){"x", QDQ_INT8, x, COUNT},
            (network_tensor){"y", QDQ_INT8, y, COUNT});
        for (int k = 0; k < 8; k++) assert_int_equal(y[k], cases[i].in_block);
        assert_int_equal(y[8], 125);
    }
}

//---- DEPTHWISE_CONV_2D ------------------------------------------------------

enum { CHANNELS = 8, TAPS = 9 };

// The bias alone, of channels with the scale of weights `scale`.
static qdq_graph *windows_of(qdq_dtype dtype, int64_t channels, float scale) {
    static const int32_t bias[CHANNELS] = {-10, -6, -2, 2, 6, 10, -14, 14};
    static const int64_t ones[] = {1, 1};
    const double zero = dtype == QDQ_UINT8 ? 128 : 0;
    uint8_t weights[CHANNELS * TAPS];
    memset(weights, (int)zero, sizeof weights);
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", dtype, QDQ_SHAPE(1, 3, 3, channels)),
              w = qdq_constant(g, "w", dtype, QDQ_SHAPE(channels, 1, 3, 3), weights),
              b = qdq_constant(g, "b", QDQ_INT32, QDQ_SHAPE(channels), bias);
    x = dequantize(g, x, 1, zero), w = dequantize(g, w, scale, zero);
    b = dequantize(g, b, scale, 0);
    qdq_value y = qdq_convolution(g, x, w,
                                  (qdq_convolution_attrs){.bias = b,
                                                          .strides = {ones, 2},
                                                          .dilations = {ones, 2},
                                                          .groups = QDQ_INT(channels),
                                                          .data_format = QDQ_NXC,
                                                          .weights_format = QDQ_OIX});
    output(g, y, 1, zero, dtype);
    return g;
}

static void windows_of_3_by_3_round_half_up_on_aarch64(void **state) {
    (void)state;
    static const uint8_t up[CHANNELS] = {126, 127, 128, 129, 130, 131, 125, 132},
                         away[CHANNELS] = {125, 126, 127, 129, 130, 131, 124, 132};
    for (int i = 0; i < 3; i++)
        for (int64_t channels = CHANNELS - 1; channels <= CHANNELS; channels++) {
            uint8_t x[CHANNELS * TAPS], y[CHANNELS];
            memset(x, 128, sizeof x);
            run(windows_of(QDQ_UINT8, channels, 0.25f), engines[i],
                (network_tensor){"x", QDQ_UINT8, x, (size_t)channels * TAPS},
                (network_tensor){"y", QDQ_UINT8, y, (size_t)channels});
            assert_memory_equal(y, i == 1 && channels == CHANNELS ? up : away, (size_t)channels);
        }
}

static void windows_that_scale_int8_up_are_unknown_on_aarch64(void **state) {
    (void)state;
    assert_true(
        leaves(windows_of(QDQ_INT8, CHANNELS, 1.3f), "litert@builtin-arm64", "Convolution"));
    assert_false(
        leaves(windows_of(QDQ_INT8, CHANNELS - 1, 1.3f), "litert@builtin-arm64", "Convolution"));
    assert_false(leaves(windows_of(QDQ_INT8, CHANNELS, 1.3f), "litert@builtin-x86", "Convolution"));
}

//---- FULLY_CONNECTED --------------------------------------------------------

static qdq_graph *int4_product(int32_t bias) {
    static const int8_t weights[] = {1, 2};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 2)),
              w = qdq_constant(g, "w", QDQ_INT4, QDQ_SHAPE(1, 2), weights),
              b = qdq_constant(g, "b", QDQ_INT32, QDQ_SHAPE(1), &bias);
    x = dequantize(g, x, 1, 0), w = dequantize(g, w, 0.5f, 0), b = dequantize(g, b, 0.5f, 0);
    qdq_value y = qdq_matmul(g, x, w, (qdq_matmul_attrs){.bias = b, .transpose_b = QDQ_TRUE});
    output(g, y, 0x1p20f, 0, QDQ_INT8);
    return g;
}

static void sums_with_int4_that_leave_28_bits_are_unknown_on_aarch64(void **state) {
    (void)state;
    assert_true(leaves(int4_product(1 << 27), "litert@xnnpack-arm64", "MatMul"));
    assert_false(leaves(int4_product(1 << 26), "litert@xnnpack-arm64", "MatMul"));
    assert_false(leaves(int4_product(1 << 27), "litert@xnnpack-x86", "MatMul"));
    assert_false(leaves(int4_product(1 << 27), "litert@builtin-arm64", "MatMul"));
}

//---- MUL --------------------------------------------------------------------

// x * x of codes that a QUANTIZE computes and, if `shown`, the graph returns.
static qdq_graph *square_of(bool shown, double zero) {
    const float scale = 0x1p-7f;
    const double in = 127, out = 128;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_requantize(g, qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(1, 8)),
                                 (qdq_requantize_attrs){.in_scales = {&scale, 1, true},
                                                        .out_scales = {&scale, 1, true},
                                                        .in_zps = {&in, 1, true},
                                                        .out_zps = {&out, 1, true},
                                                        .dtype = QDQ_UINT8});
    if (shown) qdq_output(g, "codes", x);
    qdq_value a = dequantize(g, x, scale, out), b = dequantize(g, x, scale, out);
    output(g, qdq_multiply(g, a, b, (qdq_binary_attrs){0}), 0x1p-9f, zero, QDQ_UINT8);
    return g;
}

// XNNPACK has a kernel for squares, which such a tensor gets by some makers and by others not.
static void squares_of_what_nothing_else_reads_are_unknown(void **state) {
    (void)state;
    assert_true(leaves(square_of(false, 231), "litert@xnnpack-x86", "Multiply"));
    assert_false(leaves(square_of(true, 231), "litert@xnnpack-x86", "Multiply"));
    assert_true(leaves(square_of(false, 230), "litert@xnnpack-arm64", "Multiply"));
    // Both kernels have the same codes.
    assert_false(leaves(square_of(false, 230), "litert@xnnpack-x86", "Multiply"));
    assert_false(leaves(square_of(false, 231), "litert@xnnpack-arm64", "Multiply"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_beyond_int32),
        cmocka_unit_test(sums_in_vectors_scale_operands_otherwise),
        cmocka_unit_test(sums_that_leave_16_bits_are_unknown),
        cmocka_unit_test(hard_swish_of_aarch64_rounds_down_in_blocks),
        cmocka_unit_test(windows_of_3_by_3_round_half_up_on_aarch64),
        cmocka_unit_test(windows_that_scale_int8_up_are_unknown_on_aarch64),
        cmocka_unit_test(sums_with_int4_that_leave_28_bits_are_unknown_on_aarch64),
        cmocka_unit_test(squares_of_what_nothing_else_reads_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
