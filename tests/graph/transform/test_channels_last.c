// SPDX-License-Identifier: Apache-2.0
// Turned graphs against the graphs they come from: the same inputs and outputs, results that differ
// by the order of sums, and no transposes but those at the border and around other nodes.
#include <math.h>

#include "include/qdq/qdq.h"
#include "tests/unit.h"

enum { MOST = 4096 };

static float drawn(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / 8388608.0F - 1.0F;
}

static qdq_value weights(qdq_graph *g, const char *name, qdq_shape shape, uint32_t seed) {
    float data[MOST];
    for (size_t i = 0; i < qdq_shape_count(shape); i++) data[i] = drawn(&seed);
    return qdq_constant(g, name, QDQ_FLOAT32, shape, data);
}

static size_t read_output(qdq_graph *g, size_t output, float *out) {
    qdq_error err = {0};
    float x[MOST];
    uint32_t seed = 7;
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_string_equal(err.text, "");
    const qdq_tensor_info *in = qdq_plan_input(plan, 0), *y = qdq_plan_output(plan, output);
    size_t count = qdq_shape_count(in->shape), results = qdq_shape_count(y->shape);
    for (size_t i = 0; i < count; i++) x[i] = 3 * drawn(&seed);
    assert_int_equal(qdq_exec_write(exec, in->name, QDQ_FLOAT32, x, count, &err), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, y->name, QDQ_FLOAT32, out, results, &err), QDQ_OK);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    return results;
}

static size_t count_ops(const qdq_graph *g, const char *op) {
    size_t count = 0;
    for (size_t n = 0; n < qdq_graph_node_count(g); n++)
        count += strcmp(qdq_graph_node(g, n).op, op) == 0;
    return count;
}

// Turns a graph and compares the outputs. `transposes`: that the turned graph has.
static qdq_graph *assert_turns(qdq_graph *g, size_t transposes) {
    qdq_error err = {0};
    float wanted[MOST], found[MOST];
    qdq_graph *t = qdq_graph_channels_last(g, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_graph_output_count(t), qdq_graph_output_count(g));
    for (size_t i = 0; i < qdq_graph_output_count(g); i++) {
        size_t count = read_output(g, i, wanted);
        assert_int_equal(read_output(t, i, found), count);
        for (size_t k = 0; k < count; k++)
            assert_true(fabsf(found[k] - wanted[k]) <= 1e-4F * (1 + fabsf(wanted[k])));
    }
    assert_int_equal(count_ops(t, "StaticTranspose"), transposes);
    qdq_graph_destroy(g);
    return t;
}

static qdq_value conv(qdq_graph *g, const char *name, qdq_value x, qdq_value w, qdq_value bias,
                      int64_t stride, int64_t pad) {
    const int64_t strides[] = {stride, stride}, ones[] = {1, 1}, pads[] = {pad, pad};
    return qdq_convolution(g, x, w,
                           (qdq_convolution_attrs){.name = name,
                                                   .bias = bias,
                                                   .strides = {strides, 2},
                                                   .dilations = {ones, 2},
                                                   .pads_begin = {pads, 2},
                                                   .pads_end = {pads, 2},
                                                   .data_format = QDQ_NCX,
                                                   .weights_format = QDQ_OIX});
}

static qdq_graph *begin(qdq_value *x) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    *x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 3, 8, 6));
    return g;
}

static void a_residual_network_is_turned_whole(void **state) {
    (void)state;
    static const int64_t two[] = {2, 2}, one[] = {1, 1}, three[] = {3, 3}, area[] = {2, 3},
                         flat[] = {1, 4};
    qdq_value x, no = {0};
    qdq_graph *g = begin(&x);
    qdq_value a = conv(g, "a", x, weights(g, "wa", QDQ_SHAPE(4, 3, 3, 3), 1),
                       weights(g, "ba", QDQ_SHAPE(4), 2), 2, 1);
    qdq_value m = qdq_max_pool(g, a,
                               (qdq_pool_attrs){.name = "m",
                                                .kernel = {three, 2},
                                                .strides = {one, 2},
                                                .pads_begin = {one, 2},
                                                .pads_end = {one, 2},
                                                .data_format = QDQ_NCX});
    qdq_value n = qdq_max_pool(g, a,
                               (qdq_pool_attrs){.name = "n",
                                                .kernel = {three, 2},
                                                .strides = {two, 2},
                                                .pads_begin = {one, 2},
                                                .pads_end = {one, 2},
                                                .data_format = QDQ_NCX});
    qdq_value b = conv(g, "b", m, weights(g, "wb", QDQ_SHAPE(4, 4, 3, 3), 3), no, 1, 1);
    qdq_value s = qdq_add(g, qdq_relu(g, b, (qdq_unary_attrs){.name = "relu"}), m,
                          (qdq_binary_attrs){.name = "s"});
    qdq_value k = weights(g, "k", QDQ_SHAPE(4, 1, 1), 4);
    s = qdq_multiply(g, s, k, (qdq_binary_attrs){.name = "scaled"});
    qdq_value p = qdq_reduce_mean(
        g, s, (qdq_reduce_attrs){.name = "p", .axes = {area, 2}, .keep_dims = QDQ_TRUE});
    qdq_value f = qdq_reshape(
        g, p, (qdq_reshape_attrs){.name = "f", .shape = {flat, 2}, .special_zero = QDQ_FALSE});
    qdq_output(
        g, "y",
        qdq_matmul(g, f, weights(g, "wf", QDQ_SHAPE(4, 5), 5), (qdq_matmul_attrs){.name = "fc"}));
    qdq_output(g, "z", n);
    qdq_graph *t = assert_turns(g, 2);         // of x and of z
    assert_int_equal(count_ops(t, "Pad"), 2);  // of a and n, whose padding SAME does not give
    char attrs[256];
    for (size_t i = 0; i < qdq_graph_node_count(t); i++) {
        (void)qdq_graph_node_attrs(t, i, 8, attrs, sizeof attrs);
        assert_null(strstr(attrs, "\"NCX\""));
    }
    qdq_graph_destroy(t);
}

static void axes_follow_the_dims(void **state) {
    (void)state;
    static const int64_t first[] = {1}, last[] = {3}, axes[] = {1}, start[] = {0, 1, -2},
                         end[] = {1, 3, 100}, pads[] = {0, 1, 0, 2, 0, 0, 1, 0}, height[] = {2};
    qdq_value x, no = {0};
    qdq_graph *g = begin(&x);
    qdq_value a = conv(g, "a", x, weights(g, "w", QDQ_SHAPE(4, 3, 1, 1), 1), no, 1, 0);
    qdq_value s = qdq_slice(
        g, a,
        (qdq_slice_attrs){.name = "s", .starts = {first, 1}, .ends = {last, 1}, .axes = {axes, 1}});
    qdq_value r =
        qdq_slice(g, a, (qdq_slice_attrs){.name = "r", .starts = {start, 3}, .ends = {end, 3}});
    qdq_value c =
        qdq_concat(g, (qdq_concat_attrs){.name = "c", .xs = QDQ_VALUES(a, s), .axis = QDQ_INT(-3)});
    qdq_value p = qdq_pad(g, c, (qdq_pad_attrs){.name = "p", .pads = {pads, 8}});
    qdq_output(g, "soft",
               qdq_softmax(g, p, (qdq_softmax_attrs){.name = "soft", .axis = QDQ_INT(1)}));
    qdq_output(g, "r", r);
    qdq_output(g, "mean",
               qdq_reduce_mean(g, p, (qdq_reduce_attrs){.name = "mean", .axes = {axes, 1}}));
    qdq_output(g, "rows",
               qdq_reduce_mean(g, p, (qdq_reduce_attrs){.name = "rows", .axes = {height, 1}}));
    // x, soft, r, and p before the mean over rows, which leaves channels before columns
    qdq_graph_destroy(assert_turns(g, 4));
}

static void transposes_between_the_orders_are_left_out(void **state) {
    (void)state;
    static const int64_t to_last[] = {0, 2, 3, 1}, to_first[] = {0, 3, 1, 2},
                         other[] = {0, 1, 3, 2};
    qdq_value no = {0};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 8, 6, 3));
    qdq_value t = qdq_transpose(g, x, (qdq_transpose_attrs){.name = "t", .order = {to_first, 4}});
    qdq_value a = conv(g, "a", t, weights(g, "w", QDQ_SHAPE(2, 3, 3, 3), 1), no, 1, 1);
    qdq_output(g, "y",
               qdq_transpose(g, a, (qdq_transpose_attrs){.name = "u", .order = {to_last, 4}}));
    qdq_output(g, "z",
               qdq_transpose(g, a, (qdq_transpose_attrs){.name = "v", .order = {other, 4}}));
    qdq_graph_destroy(assert_turns(g, 1));  // v
}

static void norms_quotients_and_nearest_pixels_become_operators(void **state) {
    (void)state;
    static const int64_t sizes[] = {16, 9};
    static const float two = 2, variance[] = {0.5F, 1, 2, 3};
    qdq_value x;
    qdq_graph *g = begin(&x);
    qdq_value a = conv(g, "a", x, weights(g, "w", QDQ_SHAPE(4, 3, 3, 3), 1),
                       weights(g, "b", QDQ_SHAPE(4), 2), 1, 1);
    qdq_value n =
        qdq_batch_norm(g, a,
                       (qdq_batch_norm_attrs){
                           .name = "n",
                           .gamma = weights(g, "gamma", QDQ_SHAPE(4), 3),
                           .beta = weights(g, "beta", QDQ_SHAPE(4), 4),
                           .mean = weights(g, "mu", QDQ_SHAPE(4), 5),
                           .variance = qdq_constant(g, "var", QDQ_FLOAT32, QDQ_SHAPE(4), variance),
                           .epsilon = QDQ_FLOAT(0.001),
                           .data_format = QDQ_NCX});
    qdq_value d = qdq_divide(g, n, qdq_constant(g, "two", QDQ_FLOAT32, (qdq_shape){0}, &two),
                             (qdq_binary_attrs){.name = "d"});
    qdq_output(g, "y",
               qdq_interpolate(g, d,
                               (qdq_interpolate_attrs){.name = "i",
                                                       .mode = QDQ_MODE(QDQ_NEAREST),
                                                       .sizes = {sizes, 2},
                                                       .data_format = QDQ_NCX}));
    qdq_graph *t = assert_turns(g, 2);
    assert_int_equal(qdq_graph_node_count(t), 6);  // transposes, convolution, product, two Gather
    assert_int_equal(count_ops(t, "Gather"), 2);
    qdq_graph_destroy(t);
}

static void norms_and_functions_without_a_kernel_become_sums_and_products(void **state) {
    (void)state;
    static const float variance[] = {0.5F, 1, 2};
    static const double alphas[] = {0.2, 1.0 / 6};
    for (int i = 0; i < 2; i++) {
        qdq_value x;
        qdq_graph *g = begin(&x);
        qdq_value a =
            conv(g, "a", x, weights(g, "w", QDQ_SHAPE(3, 3, 1, 1), 1), (qdq_value){0}, 1, 0);
        a = qdq_relu(g, a, (qdq_unary_attrs){.name = "r"});  // no norm folds through it
        a = qdq_batch_norm(g, a,
                           (qdq_batch_norm_attrs){.name = "n",
                                                  .gamma = weights(g, "gamma", QDQ_SHAPE(3), 3),
                                                  .beta = weights(g, "beta", QDQ_SHAPE(3), 4),
                                                  .mean = weights(g, "mu", QDQ_SHAPE(3), 5),
                                                  .variance = qdq_constant(g, "var", QDQ_FLOAT32,
                                                                           QDQ_SHAPE(3), variance),
                                                  .epsilon = QDQ_FLOAT(0.001),
                                                  .data_format = QDQ_NCX});
        qdq_output(g, "y",
                   qdq_hard_sigmoid(g, a,
                                    (qdq_hard_sigmoid_attrs){.name = "h",
                                                             .alpha = QDQ_FLOAT(alphas[i]),
                                                             .beta = QDQ_FLOAT(0.5)}));
        qdq_graph *t = assert_turns(g, 2);
        assert_int_equal(count_ops(t, "Multiply"), i ? 2 : 3);
        assert_int_equal(count_ops(t, "Add"), 2);
        qdq_graph_destroy(t);
    }
}

static void a_norm_folds_into_the_product_behind_it(void **state) {
    (void)state;
    static const float variance[] = {0.5F, 1, 2, 3};
    for (int rows = 0; rows < 2; rows++) {
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3, 4));
        qdq_value n =
            qdq_batch_norm(g, x,
                           (qdq_batch_norm_attrs){.name = "n",
                                                  .gamma = weights(g, "gamma", QDQ_SHAPE(4), 3),
                                                  .beta = weights(g, "beta", QDQ_SHAPE(4), 4),
                                                  .mean = weights(g, "mu", QDQ_SHAPE(4), 5),
                                                  .variance = qdq_constant(g, "var", QDQ_FLOAT32,
                                                                           QDQ_SHAPE(4), variance),
                                                  .epsilon = QDQ_FLOAT(0.001),
                                                  .data_format = QDQ_NCX});
        qdq_value w = weights(g, "w", rows ? QDQ_SHAPE(5, 4) : QDQ_SHAPE(4, 5), 1);
        qdq_matmul_attrs attrs = {.name = "m", .transpose_b = rows ? QDQ_TRUE : QDQ_FALSE};
        if (rows) attrs.bias = weights(g, "b", QDQ_SHAPE(5), 2);
        qdq_output(g, "y", qdq_matmul(g, n, w, attrs));
        qdq_graph *t = assert_turns(g, 0);
        assert_int_equal(qdq_graph_node_count(t), 1);
        qdq_graph_destroy(t);
    }
}

static qdq_value row_conv(qdq_graph *g, const char *name, qdq_value x, qdq_value w, int64_t stride,
                          int64_t pad) {
    static const int64_t one = 1;
    return qdq_convolution(g, x, w,
                           (qdq_convolution_attrs){.name = name,
                                                   .strides = {&stride, 1},
                                                   .dilations = {&one, 1},
                                                   .pads_begin = {&pad, 1},
                                                   .pads_end = {&pad, 1},
                                                   .data_format = QDQ_NCX,
                                                   .weights_format = QDQ_OIX});
}

static void rows_become_images_of_one_row(void **state) {
    (void)state;
    static const int64_t three = 3, two = 2, one = 1, pads[] = {0, 1, 2, 0, 0, 1}, first[] = {1},
                         last[] = {3}, channel[] = {1}, columns[] = {2};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3, 17));
    qdq_value a = row_conv(g, "a", x, weights(g, "wa", QDQ_SHAPE(4, 3, 5), 1), 2, 2);
    qdq_value k = weights(g, "k", QDQ_SHAPE(4, 1), 4);
    a = qdq_add(g, a, k, (qdq_binary_attrs){.name = "k_added"});
    qdq_value m = qdq_max_pool(g, a,
                               (qdq_pool_attrs){.name = "m",
                                                .kernel = {&three, 1},
                                                .strides = {&two, 1},
                                                .pads_begin = {&one, 1},
                                                .pads_end = {&one, 1},
                                                .data_format = QDQ_NCX});
    qdq_value b = row_conv(g, "b", m, weights(g, "wb", QDQ_SHAPE(4, 4, 3), 3), 1, 1);
    qdq_value s =
        qdq_slice(g, m,
                  (qdq_slice_attrs){
                      .name = "s", .starts = {first, 1}, .ends = {last, 1}, .axes = {channel, 1}});
    qdq_value c =
        qdq_concat(g, (qdq_concat_attrs){.name = "c", .xs = QDQ_VALUES(b, s), .axis = QDQ_INT(1)});
    qdq_value p = qdq_pad(g, c, (qdq_pad_attrs){.name = "p", .pads = {pads, 6}});
    qdq_output(g, "p", p);
    qdq_output(g, "mean",
               qdq_reduce_mean(g, p, (qdq_reduce_attrs){.name = "mean", .axes = {columns, 1}}));
    qdq_output(
        g, "kept",
        qdq_reduce_mean(
            g, p, (qdq_reduce_attrs){.name = "kept", .axes = {channel, 1}, .keep_dims = QDQ_TRUE}));
    qdq_output(g, "soft",
               qdq_softmax(g, p, (qdq_softmax_attrs){.name = "soft", .axis = QDQ_INT(-2)}));
    qdq_graph_destroy(assert_turns(g, 3));  // x, p, soft; kept has one channel
}

static void other_nodes_read_the_order_of_the_graph(void **state) {
    (void)state;
    static const int64_t axes[] = {1}, flat[] = {1, -1};
    qdq_value x, no = {0};
    qdq_graph *g = begin(&x);
    qdq_value a = conv(g, "a", x, weights(g, "w", QDQ_SHAPE(4, 3, 3, 3), 1), no, 1, 1);
    qdq_output(g, "m", qdq_reduce_max(g, a, (qdq_reduce_attrs){.name = "m", .axes = {axes, 1}}));
    qdq_output(
        g, "f",
        qdq_reshape(
            g, a, (qdq_reshape_attrs){.name = "f", .shape = {flat, 2}, .special_zero = QDQ_FALSE}));
    qdq_graph_destroy(assert_turns(g, 2));  // x, and a once for both
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_residual_network_is_turned_whole),
        cmocka_unit_test(axes_follow_the_dims),
        cmocka_unit_test(transposes_between_the_orders_are_left_out),
        cmocka_unit_test(norms_quotients_and_nearest_pixels_become_operators),
        cmocka_unit_test(norms_and_functions_without_a_kernel_become_sums_and_products),
        cmocka_unit_test(a_norm_folds_into_the_product_behind_it),
        cmocka_unit_test(rows_become_images_of_one_row),
        cmocka_unit_test(other_nodes_read_the_order_of_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
