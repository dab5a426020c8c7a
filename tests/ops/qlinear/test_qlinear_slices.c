// SPDX-License-Identifier: Apache-2.0
// QLinearAveragePool, QLinearGlobalAveragePool and QLinearSoftmax for each CPU: results of ONNX
// Runtime that were measured, blocks with a remainder, refusals. tests/onnx has many more.
#include "tests/ops/qlinear/qlinear_run.h"

static void run(qdq_graph *g, qdq_qlinear_form form, qdq_value y, qdq_dtype dtype, const void *x,
                size_t x_count, uint8_t *out, size_t n) {
    const network_tensor in = {"x", dtype, (void *)x, x_count};
    qdq_output(g, "y", y);
    qlinear_run(g, form, &in, 1, (network_tensor){"y", dtype, out, n});
    qdq_graph_destroy(g);
}

//---- Softmax ----------------------------------------------------------------

static void check_softmax(qdq_qlinear_form form, float y_scale, int zero, qdq_shape shape,
                          const uint8_t *x, const uint8_t *wanted) {
    uint8_t y[4];
    size_t n = qdq_shape_count(shape);
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    run(g, form,
        qdq_qlinear_softmax(
            g, (qdq_qlinear_softmax_attrs){.x = qdq_input(g, "x", QDQ_UINT8, shape),
                                           .x_scale = qlinear_scale(g, "xs", 0.05f),
                                           .y_scale = qlinear_scale(g, "ys", y_scale),
                                           .y_zero_point = qlinear_zero(g, "yz", QDQ_UINT8, zero),
                                           .flatten = QDQ_TRUE,
                                           .axis = QDQ_INT(0)}),
        QDQ_UINT8, x, n, y, n);
    assert_memory_equal(y, wanted, n);
}

static void softmax_has_the_measured_codes(void **state) {
    static const uint8_t x[] = {200, 190, 100, 0};
    static const uint8_t at_256[] = {159, 96, 1, 0}, at_255[] = {157, 95, 1, 0};
    static const uint8_t beyond[] = {0, 113}, wraps[] = {2, 116};
    const qdq_shape square = QDQ_SHAPE(2, 2), two = QDQ_SHAPE(2);
    (void)state;
    check_softmax(QDQ_QLINEAR_FMA, 1 / 256.0f, 0, square, x, at_256);
    check_softmax(QDQ_QLINEAR_FMA, 1 / 255.0f, 0, square, x, at_255);
    check_softmax(QDQ_QLINEAR_ARM, 1 / 255.0f, 0, square, x, at_255);
    check_softmax(QDQ_QLINEAR_FMA, 1 / 300.0f, 0, two, x, beyond);
    check_softmax(QDQ_QLINEAR_ARM, 1 / 300.0f, 3, two, x, wraps);
}

//---- Means ------------------------------------------------------------------

static void check_mean(qdq_qlinear_form form, int zero, const uint8_t *x, uint8_t wanted) {
    uint8_t y;
    qdq_graph *g = qdq_graph_create("mean", NULL);
    qdq_value one = qlinear_scale(g, "one", 1);
    run(g, form,
        qdq_qlinear_global_average_pool(
            g,
            (qdq_qlinear_global_pool_attrs){.x = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(1, 1, 2)),
                                            .x_scale = one,
                                            .y_scale = one,
                                            .y_zero_point = qlinear_zero(g, "yz", QDQ_UINT8, zero),
                                            .data_format = QDQ_NCX}),
        QDQ_UINT8, x, 2, &y, 1);
    assert_int_equal(y, wanted);
}

static void ties_of_means_are_those_of_each_cpu(void **state) {
    static const uint8_t half[] = {0, 1}, more[] = {2, 3};
    (void)state;
    check_mean(QDQ_QLINEAR_FMA, 0, half, 0);
    check_mean(QDQ_QLINEAR_SSE, 0, half, 0);
    check_mean(QDQ_QLINEAR_ARM, 0, half, 1);
    check_mean(QDQ_QLINEAR_FMA, 1, more, 3);
    check_mean(QDQ_QLINEAR_ARM, 1, more, 4);
}

static qdq_value average(qdq_graph *g, qdq_shape shape, qdq_ints kernel, qdq_ints strides,
                         qdq_data_format format) {
    qdq_value one = qlinear_scale(g, "one", 1);
    return qdq_qlinear_average_pool(
        g, (qdq_qlinear_pool_attrs){.x = qdq_input(g, "x", QDQ_UINT8, shape),
                                    .x_scale = one,
                                    .y_scale = one,
                                    .y_zero_point = qlinear_zero(g, "yz", QDQ_UINT8, 1),
                                    .strides = strides,
                                    .kernel = kernel,
                                    .exclude_pad = QDQ_TRUE,
                                    .data_format = format});
}

// The zero point is added before rounding, unless the window is the whole image.
static void a_window_of_the_whole_image_rounds_otherwise(void **state) {
    static const uint8_t x[] = {0, 1, 9};
    uint8_t y[1];
    (void)state;
    qdq_graph *g = qdq_graph_create("window", NULL);
    qdq_value part = average(g, QDQ_SHAPE(1, 1, 3), QDQ_INTS(2), QDQ_INTS(2), QDQ_NCX);
    run(g, QDQ_QLINEAR_FMA, part, QDQ_UINT8, x, 3, y, 1);
    assert_int_equal(y[0], 2);
    g = qdq_graph_create("whole", NULL);
    qdq_value whole = average(g, QDQ_SHAPE(1, 1, 2), QDQ_INTS(2), QDQ_INTS(2), QDQ_NCX);
    run(g, QDQ_QLINEAR_FMA, whole, QDQ_UINT8, x, 2, y, 1);
    assert_int_equal(y[0], 1);
}

// Means of two rows, which are whole numbers; 3 * 47 * 31 codes of y are several blocks and a rest.
static void blocks_end_anywhere_in_both_formats(void **state) {
    enum { CHANNELS = 3, ROWS = 48, COLUMNS = 31, N = CHANNELS * (ROWS - 1) * COLUMNS };
    static uint8_t x[CHANNELS * ROWS * COLUMNS], y[N];
    (void)state;
    for (int last = 0; last < 2; last++) {
        qdq_shape shape =
            last ? QDQ_SHAPE(1, ROWS, COLUMNS, CHANNELS) : QDQ_SHAPE(1, CHANNELS, ROWS, COLUMNS);
        size_t row = last ? COLUMNS * CHANNELS : COLUMNS, plane = last ? N : (ROWS - 1) * COLUMNS;
        for (size_t i = 0; i < sizeof x; i++) x[i] = (uint8_t)(i * i % 101 * 2);
        qdq_graph *g = qdq_graph_create("blocks", NULL);
        qdq_value v = average(g, shape, QDQ_INTS(2, 1), QDQ_INTS(1, 1), last ? QDQ_NXC : QDQ_NCX);
        run(g, QDQ_QLINEAR_FMA, v, QDQ_UINT8, x, sizeof x, y, N);
        for (size_t i = 0; i < N; i++) {
            const uint8_t *at = x + i / plane * (plane + row) + i % plane;
            assert_int_equal(y[i], (at[0] + at[row]) / 2 + 1);
        }
    }
}

//---- Refusals ---------------------------------------------------------------

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("refused", NULL);
    qdq_output(g, "y", average(g, QDQ_SHAPE(1, 1, 3), QDQ_INTS(4), QDQ_INTS(1), QDQ_NCX));
    network_refuses(g, "core/port-shape", "x has 3 elements in spatial dim 0");
    g = qdq_graph_create("refused", NULL);
    qdq_value one = qlinear_scale(g, "one", 1);
    qdq_output(g, "y",
               qdq_qlinear_softmax(
                   g, (qdq_qlinear_softmax_attrs){.x = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(3)),
                                                  .x_scale = one,
                                                  .y_scale = one,
                                                  .axis = QDQ_INT(1)}));
    network_refuses(g, "core/axis-range", "axis is 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_has_the_measured_codes),
        cmocka_unit_test(ties_of_means_are_those_of_each_cpu),
        cmocka_unit_test(a_window_of_the_whole_image_rounds_otherwise),
        cmocka_unit_test(blocks_end_anywhere_in_both_formats),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
