// SPDX-License-Identifier: Apache-2.0
// Integer products: ONNX's test vectors, the order of rounding and adding the zero point, and
// refused nodes.
#include "tests/ops/products/integer_products.h"

//---- ONNX's vectors ---------------------------------------------------------

static tensor known(const char *name, qdq_dtype dtype, qdq_shape shape, const int *data) {
    tensor t = tensor_of(name, dtype, shape);
    for (size_t i = 0; i < tensor_count(&t); i++) {
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): there are as many as elements
        int16_t bits = (int16_t)data[i];
        if (dtype == QDQ_FLOAT16)
            memcpy((char *)t.data + i * 2, &bits, 2);
        else
            tensor_put(&t, i, data[i]);
    }
    return t;
}

#define LIST(...) ((const int[]){__VA_ARGS__})

// ONNX's vectors test_qlinearmatmul_2D_*_float16 and 3D_*_float16.
static void check_vector(qdq_dtype dtype, qdq_shape a, qdq_shape b, const int *a_data,
                         const int *b_data, const int *zeros, const int *want) {
    const qdq_shape one = QDQ_SHAPE(1);
    qdq_shape y_shape = a;
    y_shape.dims[a.rank - 1] = b.dims[b.rank - 1];
    tensor in[MATMUL_PORTS] = {{0}};
    in[A] = known("a", dtype, a, a_data), in[B] = known("b", dtype, b, b_data);
    in[A_ZERO] = known("az", dtype, one, &zeros[0]),
    in[B_ZERO] = known("bz", dtype, one, &zeros[1]);
    in[A_SCALE] = known("as", QDQ_FLOAT16, one, LIST(7874));
    in[B_SCALE] = known("bs", QDQ_FLOAT16, one, LIST(7992));
    in[Y_SCALE] = known("ys", QDQ_FLOAT16, one, LIST(8570));
    in[Y_ZERO] = known("yz", dtype, one, &zeros[2]);
    tensor y = known("y", dtype, y_shape, want);
    product_check("vector", in, MATMUL_PORTS, build_qlinear_matmul, NULL, &y);
    tensors_free(in, MATMUL_PORTS), free(y.data);
}

static void qlinear_matmul_gives_the_results_of_the_vectors(void **state) {
    (void)state;
    check_vector(QDQ_UINT8, QDQ_SHAPE(2, 4), QDQ_SHAPE(4, 3),
                 LIST(208, 236, 0, 238, 3, 214, 255, 29),
                 LIST(152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247), LIST(113, 114, 118),
                 LIST(168, 115, 255, 1, 66, 151));
    check_vector(QDQ_INT8, QDQ_SHAPE(2, 4), QDQ_SHAPE(4, 3),
                 LIST(81, 109, -127, 111, -124, 87, -128, -98),
                 LIST(25, -76, 117, -67, -101, -128, -127, 0, 119, 0, 127, 120), LIST(-14, -13, -9),
                 LIST(41, -12, -9, 1, -75, -128));
    check_vector(QDQ_UINT8, QDQ_SHAPE(2, 2, 4), QDQ_SHAPE(2, 4, 3),
                 LIST(208, 236, 0, 238, 3, 214, 255, 29, 208, 236, 0, 238, 3, 214, 255, 29),
                 LIST(152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247, 152, 51, 244, 60, 26,
                      255, 0, 127, 246, 127, 254, 247),
                 LIST(113, 114, 118), LIST(168, 115, 255, 1, 66, 151, 168, 115, 255, 1, 66, 151));
    check_vector(
        QDQ_INT8, QDQ_SHAPE(2, 2, 4), QDQ_SHAPE(2, 4, 3),
        LIST(81, 109, -127, 111, -124, 87, -128, -98, 81, 109, -127, 111, -124, 87, -128, -98),
        LIST(25, -76, 117, -67, -101, -128, -127, 0, 119, 0, 127, 120, 25, -76, 117, -67, -101,
             -128, -127, 0, 119, 0, 127, 120),
        LIST(-14, 114, -9), LIST(-86, -128, -128, 115, 39, -121, -86, -128, -128, 115, 39, -121));
}

// ONNX's vector test_convinteger_with_padding.
static void conv_integer_gives_the_result_of_the_vector(void **state) {
    (void)state;
    conv_example e = {
        .groups = 1, .strides = {1, 1}, .dilations = {1, 1}, .begin = {1, 1}, .end = {1, 1}};
    tensor in[CONV_PORTS] = {{0}};
    in[X] = known("x", QDQ_UINT8, QDQ_SHAPE(1, 1, 3, 3), LIST(2, 3, 4, 5, 6, 7, 8, 9, 10));
    in[W] = known("w", QDQ_UINT8, QDQ_SHAPE(2, 1, 2, 2), LIST(1, 1, 1, 1, 1, 1, 1, 1));
    in[X_ZERO] = known("xz", QDQ_UINT8, (qdq_shape){0}, LIST(1));
    in[W_ZERO] = known("wz", QDQ_UINT8, QDQ_SHAPE(2), LIST(0, 1));
    tensor y = known("y", QDQ_INT32, QDQ_SHAPE(1, 2, 4, 4),
                     LIST(1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9, 0, 0, 0, 0, 0, 0,
                          0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    product_check("vector", in, CONV_PORTS, build_conv_integer, &e, &y);
    tensors_free(in, CONV_PORTS), free(y.data);
}

// A tie with an odd zero point: 0.5 rounds to 0, plus 1 is 1, as in ONNX's text and ONNX Runtime.
// ONNX's Python reference adds first and rounds 1.5 to 2.
static void the_zero_point_is_added_after_rounding(void **state) {
    (void)state;
    tensor in[MATMUL_PORTS] = {{0}};
    const qdq_shape one = QDQ_SHAPE(1, 1);
    in[A] = known("a", QDQ_UINT8, one, LIST(1)), in[B] = known("b", QDQ_UINT8, one, LIST(1));
    in[A_ZERO] = known("az", QDQ_UINT8, one, LIST(0));
    in[B_ZERO] = known("bz", QDQ_UINT8, one, LIST(0));
    in[A_SCALE] = known("as", QDQ_FLOAT32, one, LIST(1));
    in[B_SCALE] = known("bs", QDQ_FLOAT32, one, LIST(1));
    in[Y_SCALE] = known("ys", QDQ_FLOAT32, one, LIST(2));
    in[Y_ZERO] = known("yz", QDQ_UINT8, one, LIST(1));
    tensor y = known("y", QDQ_UINT8, one, LIST(1));
    product_check("tie", in, MATMUL_PORTS, build_qlinear_matmul, NULL, &y);
    tensors_free(in, MATMUL_PORTS), free(y.data);
}

//---- Refusals ---------------------------------------------------------------

static void mismatched_operands_are_refused(void **state) {
    (void)state;
    tensor in[CONV_PORTS] = {{"a", QDQ_INT8, QDQ_SHAPE(3, 4, 5), NULL},
                             {"b", QDQ_UINT8, QDQ_SHAPE(5, 6), NULL},
                             {"az", QDQ_INT8, QDQ_SHAPE(5), NULL},
                             {0}};
    product_refused(in, 4, build_matmul_integer, NULL, "core/port-shape",
                    "node 'y': MatMulInteger: a_zero_point has the shape [5], wanted one element, "
                    "[4] or [3, 4, 1], one for each row; see docs/ops_neural_network.md");
    in[A_ZERO] = (tensor){"az", QDQ_UINT8, {0}, NULL};
    product_refused(
        in, 4, build_matmul_integer, NULL, "core/port-dtype",
        "node 'y': MatMulInteger: a_zero_point is uint8, wanted int8, as a is; see `qdq "
        "ops MatMulInteger`");
    in[A_ZERO].dtype = QDQ_INT8;
    in[B_ZERO] = (tensor){"bz", QDQ_UINT8, QDQ_SHAPE(5, 1), NULL};
    product_refused(in, 4, build_matmul_integer, NULL, "core/port-shape",
                    "node 'y': MatMulInteger: b_zero_point has the shape [5, 1], wanted one "
                    "element, [6] or [1, 6], one for each column; see docs/ops_neural_network.md");
    conv_example e = {.groups = 1, .strides = {1, 1}, .dilations = {1, 1}};
    in[X] = (tensor){"x", QDQ_INT8, QDQ_SHAPE(1, 2, 5, 5), NULL};
    in[W] = (tensor){"w", QDQ_UINT8, QDQ_SHAPE(4, 2, 3, 3), NULL};
    in[X_ZERO] = (tensor){"xz", QDQ_INT8, QDQ_SHAPE(2), NULL};
    in[W_ZERO] = (tensor){"wz", QDQ_UINT8, QDQ_SHAPE(4), NULL};
    product_refused(
        in, 4, build_conv_integer, &e, "core/port-shape",
        "node 'y': ConvInteger: x_zero_point has the shape [2], wanted one element; see "
        "docs/ops_neural_network.md");
    in[X_ZERO].shape = QDQ_SHAPE(1), in[W_ZERO].shape = QDQ_SHAPE(3);
    product_refused(in, 4, build_conv_integer, &e, "core/port-shape",
                    "node 'y': ConvInteger: w_zero_point has the shape [3], wanted [4]: the output "
                    "channels, or one element; see docs/ops_neural_network.md");
    product_refused(in, 4, build_qlinear_conv, &e, "core/port-missing",
                    "node 'y': QLinearConv: x_scale is not connected; connect it under \"inputs\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qlinear_matmul_gives_the_results_of_the_vectors),
        cmocka_unit_test(conv_integer_gives_the_result_of_the_vector),
        cmocka_unit_test(the_zero_point_is_added_after_rounding),
        cmocka_unit_test(mismatched_operands_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
