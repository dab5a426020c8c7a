// SPDX-License-Identifier: Apache-2.0
// Products as rows of inputs times weights, against the results of the ops themselves.
#include <math.h>

#include "include/qdq/qdq.h"
#include "tests/unit.h"
#include "tools/lab/quantize/correct_rows.h"

enum { MOST = 4096 };

static float x_data[MOST], w_data[MOST], y_data[MOST];

static void fill(float *out, uint32_t seed) {
    for (size_t i = 0; i < MOST; i++) {
        seed = seed * 1664525U + 1013904223U;
        out[i] = (float)(seed >> 8) / (1 << 23) - 1;
    }
}

// Runs the graph of one product of x and w, and compares every element of the result.
static void check(qdq_graph *g, qdq_value y, const char *what) {
    product_rows p;
    qdq_error err = {0};
    qdq_shape shape;
    qdq_output(g, "y", y);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_string_equal(err.text, "");
    const qdq_tensor_info *in = qdq_plan_input(plan, 0);
    assert_true(qdq_value_type(g, y, NULL, &shape));
    size_t count = qdq_shape_count(shape);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x_data, qdq_shape_count(in->shape), &err);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y_data, count, &err), QDQ_OK);
    assert_true(product_rows_of(g, 0, &p));
    assert_int_equal(p.rows * p.groups * p.channels, count);
    for (size_t row = 0; row < p.rows; row++)
        for (size_t c = 0; c < p.groups * p.channels; c++) {
            double sum = 0, columns[512];
            assert_true(p.depth <= 512);
            product_row(&p, x_data, row, c / p.channels, columns);
            for (size_t k = 0; k < p.depth; k++)
                sum += columns[k] *
                       (double)w_data[product_weight(&p, c / p.channels, c % p.channels, k)];
            double got = (double)y_data[product_result(&p, row, c)];
            if (fabs(sum - got) > 1e-5) fail_msg("%s: row %zu, channel %zu", what, row, c);
        }
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

static qdq_graph *begin(qdq_shape x_shape, qdq_shape w_shape, qdq_value *x, qdq_value *w) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    fill(x_data, 1);
    fill(w_data, 2);
    *x = qdq_input(g, "x", QDQ_FLOAT32, x_shape);
    *w = qdq_constant(g, "w", QDQ_FLOAT32, w_shape, w_data);
    return g;
}

static void products_of_matrices(void **state) {
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        qdq_value x, w;
        qdq_matmul_attrs attrs = {.transpose_a = turn & 1 ? QDQ_TRUE : QDQ_FALSE,
                                  .transpose_b = turn & 2 ? QDQ_TRUE : QDQ_FALSE};
        qdq_graph *g = begin(turn & 1 ? QDQ_SHAPE(2, 5, 3) : QDQ_SHAPE(2, 3, 5),
                             turn & 2 ? QDQ_SHAPE(4, 5) : QDQ_SHAPE(5, 4), &x, &w);
        check(g, qdq_matmul(g, x, w, attrs), "MatMul");
    }
    qdq_value x, w;
    qdq_graph *g = begin(QDQ_SHAPE(5), QDQ_SHAPE(5, 4), &x, &w);
    check(g, qdq_matmul(g, x, w, (qdq_matmul_attrs){0}), "MatMul of a vector");
}

static void convolutions(void **state) {
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        bool first = turn & 1, groups = turn & 2, outputs_first = turn & 4;
        int64_t in = groups ? 3 : 6;
        qdq_value x, w;
        qdq_convolution_attrs attrs = {.strides = QDQ_INTS(2, 1), .dilations = QDQ_INTS(1, 2)};
        attrs.pads_begin = QDQ_INTS(1, 2), attrs.pads_end = QDQ_INTS(0, 1);
        attrs.groups = QDQ_INT(groups ? 2 : 1);
        attrs.data_format = first ? QDQ_NCX : QDQ_NXC;
        attrs.weights_format = outputs_first ? QDQ_OIX : QDQ_XIO;
        qdq_graph *g =
            begin(first ? QDQ_SHAPE(2, 6, 7, 5) : QDQ_SHAPE(2, 7, 5, 6),
                  outputs_first ? QDQ_SHAPE(4, in, 3, 2) : QDQ_SHAPE(3, 2, in, 4), &x, &w);
        check(g, qdq_convolution(g, x, w, attrs), "Convolution");
    }
}

static void convolutions_that_pad_themselves(void **state) {
    (void)state;
    static const qdq_auto_pad pads[] = {QDQ_PAD_SAME_UPPER, QDQ_PAD_SAME_LOWER, QDQ_PAD_VALID};
    for (size_t i = 0; i < UNIT_COUNT(pads); i++) {
        qdq_value x, w;
        qdq_convolution_attrs attrs = {.strides = QDQ_INTS(2), .dilations = QDQ_INTS(1)};
        attrs.auto_pad = pads[i];
        qdq_graph *g = begin(QDQ_SHAPE(1, 8, 3), QDQ_SHAPE(4, 3, 2), &x, &w);
        check(g, qdq_convolution(g, x, w, attrs), "Convolution, auto_pad");
    }
}

static void transposed_convolutions(void **state) {
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        bool first = turn & 1, groups = turn & 2, inputs_first = turn & 4;
        int64_t out = groups ? 2 : 4;
        qdq_value x, w;
        qdq_conv_transpose_attrs attrs = {.strides = QDQ_INTS(2, 1), .dilations = QDQ_INTS(1, 2)};
        attrs.pads_begin = QDQ_INTS(1, 0), attrs.pads_end = QDQ_INTS(0, 1);
        attrs.groups = QDQ_INT(groups ? 2 : 1);
        attrs.data_format = first ? QDQ_NCX : QDQ_NXC;
        attrs.weights_format = inputs_first ? QDQ_IOX : QDQ_XOI;
        qdq_graph *g =
            begin(first ? QDQ_SHAPE(2, 6, 4, 5) : QDQ_SHAPE(2, 4, 5, 6),
                  inputs_first ? QDQ_SHAPE(6, out, 3, 2) : QDQ_SHAPE(3, 2, out, 6), &x, &w);
        check(g, qdq_conv_transpose(g, x, w, attrs), "ConvTranspose");
    }
}

static void several_matrices_and_other_ops_are_not_covered(void **state) {
    (void)state;
    product_rows p;
    qdq_value x, w;
    qdq_graph *g = begin(QDQ_SHAPE(2, 3, 5), QDQ_SHAPE(2, 5, 4), &x, &w);
    (void)qdq_matmul(g, x, w, (qdq_matmul_attrs){0});
    (void)qdq_relu(g, x, (qdq_unary_attrs){0});
    assert_false(product_rows_of(g, 0, &p));
    assert_false(product_rows_of(g, 1, &p));
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_matrices),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(convolutions_that_pad_themselves),
        cmocka_unit_test(transposed_convolutions),
        cmocka_unit_test(several_matrices_and_other_ops_are_not_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
