// SPDX-License-Identifier: Apache-2.0
// Convolution and ConvTranspose against the naive loops of convolutions.h: 1 to 3 spatial dims,
// groups, every layout, strides, dilations, explicit and automatic pads.
#include "ops/conv/conv_lowering.h"
#include "tests/ops/products/convolutions.h"

//---- Tests ------------------------------------------------------------------

#define ONES \
    { 1, 1, 1 }

static const example plain = {.spatial = 2,
                              .batch = 2,
                              .groups = 1,
                              .inputs = 5,
                              .outputs = 7,
                              .in = {9, 11},
                              .kernel = {3, 3},
                              .strides = ONES,
                              .dilations = ONES,
                              .dtype = QDQ_FLOAT32};

static void sums_run_over_channels_then_the_kernel(void **state) {
    (void)state;
    check_layouts(plain);
    example e = plain;  // two blocks in k, columns and rows
    e.inputs = 35, e.outputs = 131, e.batch = 1;
    check_layouts(e);
    e.kernel[0] = e.kernel[1] = 1;
    check_layouts(e);
}

static void padding_contributes_no_product(void **state) {
    (void)state;
    example e = plain;
    e.begin[0] = 1, e.begin[1] = 2, e.end[0] = 2, e.end[1] = 0;
    e.bias = true;
    check_layouts(e);
    e.strides[0] = 2, e.strides[1] = 3, e.dilations[0] = 2, e.extra[0] = 1, e.extra[1] = 2;
    check_layouts(e);
    e.bias = false;
    check_layouts(e);
    e.dtype = QDQ_BFLOAT16, e.inputs = 31, e.batch = 1;  // two k blocks, an odd number of products
    check_layouts(e);
}

// Padding must add no product: it would be 0 * infinity, or turn -0 into 0. The last pair of
// bfloat16 lacks its second product: 0 * 0 would turn -0 into 0, to which the first product may add
// -0 again. `want` is for Convolution, `mirrored` for ConvTranspose.
static void check_infinity(qdq_dtype dtype, const double *want, const double *mirrored) {
    for (int transposed = 0; transposed < 2; transposed++) {
        example e = {.spatial = 1,
                     .batch = 1,
                     .groups = 1,
                     .inputs = 1,
                     .outputs = 2,
                     .in = {3},
                     .kernel = {3},
                     .strides = ONES,
                     .dilations = ONES,
                     .begin = {1},
                     .end = {1},
                     .format = QDQ_NCX,
                     .spatial_last = true,
                     .dtype = dtype,
                     .transposed = transposed};
        // In ConvTranspose the last tap of the first output channel reaches y[0], in Convolution
        // y[2].
        static const double w[] = {INFINITY, -0x1p-100, -0x1p-100, -0x1p-100, -0x1p-100, INFINITY};
        tensor in[3] = {tensor_of("x", dtype, QDQ_SHAPE(1, 1, 3)),
                        tensor_of("w", dtype, transposed ? QDQ_SHAPE(1, 2, 3) : QDQ_SHAPE(2, 1, 3)),
                        {0}};
        tensor y = tensor_of("y", dtype, QDQ_SHAPE(1, 2, 3));
        for (size_t i = 0; i < 3; i++) tensor_put(&in[0], i, 0x1p-100);
        for (size_t i = 0; i < 6; i++) tensor_put(&in[1], i, w[i]);
        for (size_t i = 0; i < 6; i++) tensor_put(&y, i, (transposed ? mirrored : want)[i]);
        product_check("infinity beyond the border", in, 3, build, &e, &y);
        tensors_free(in, 3), free(y.data);
    }
}

static void padding_keeps_infinities_and_negative_zeros(void **state) {
    (void)state;
    const double inf = INFINITY;
    check_infinity(QDQ_FLOAT32, (double[]){-0.0, inf, inf, inf, inf, -0.0},
                   (double[]){inf, inf, -0.0, -0.0, inf, inf});
    check_infinity(QDQ_BFLOAT16, (double[]){-0.0, inf, inf, inf, inf, 0},
                   (double[]){inf, inf, -0.0, 0, inf, inf});
}

// The same in a line that is long enough for positions to be columns of panels or planes, with any
// stride. x is `x` at every position; the results within are `within`.
static void check_strided_line(int64_t stride, const double *w, double x, const double *first,
                               const double *within, const double *last) {
    enum { N = QDQ_CONV_PANELS_POSITIONS + QDQ_CONV_PANELS_LEAST, OUTPUTS = 9 };
    size_t length = (N - 1) * (size_t)stride + 1;
    example e = {.spatial = 1,
                 .batch = 1,
                 .groups = 1,
                 .inputs = 1,
                 .outputs = OUTPUTS,
                 .in = {(int64_t)length},
                 .kernel = {3},
                 .strides = {stride, 1, 1},
                 .dilations = ONES,
                 .begin = {1},
                 .end = {1},
                 .format = QDQ_NCX,
                 .spatial_last = true,
                 .dtype = QDQ_FLOAT32};
    tensor in[3] = {tensor_of("x", QDQ_FLOAT32, QDQ_SHAPE(1, 1, (int64_t)length)),
                    tensor_of("w", QDQ_FLOAT32, QDQ_SHAPE(OUTPUTS, 1, 3)),
                    {0}};
    tensor y = tensor_of("y", QDQ_FLOAT32, QDQ_SHAPE(1, OUTPUTS, N));
    for (size_t i = 0; i < length; i++) tensor_put(&in[0], i, x);
    for (size_t i = 0; i < (size_t)OUTPUTS * 3; i++) tensor_put(&in[1], i, w[i % 6]);
    for (size_t o = 0; o < OUTPUTS; o++)
        for (size_t i = 0; i < N; i++)
            tensor_put(&y, o * N + i, (i == 0 ? first : i == N - 1 ? last : within)[o % 2]);
    product_check("a long line", in, 3, build, &e, &y);
    tensors_free(in, 3), free(y.data);
}

static void check_line(const double *w, double x, const double *first, const double *within,
                       const double *last) {
    for (int64_t stride = 1; stride < 4; stride++)
        check_strided_line(stride, w, x, first, within, last);
}

static void padding_of_long_lines_keeps_infinities_and_negative_zeros(void **state) {
    (void)state;
    const double inf = INFINITY, tiny = 0x1p-100, zeros[] = {0, 0};
    check_line((double[]){inf, -tiny, -tiny, -tiny, -tiny, inf}, tiny, (double[]){-0.0, inf},
               (double[]){inf, inf}, (double[]){inf, -0.0});
    check_line((double[]){-tiny, -tiny, 1, 1, -tiny, -tiny}, tiny, (double[]){tiny, -0.0},
               (double[]){tiny, tiny}, (double[]){-0.0, tiny});
    check_line((double[]){-tiny, -tiny, 1, 1, -tiny, -tiny}, 0, zeros, zeros, zeros);
}

// The same in windows of channels that are groups. x is tiny everywhere.
static void padding_of_windows_keeps_infinities_and_negative_zeros(void **state) {
    enum { ROWS = 5, CHANNELS = 3 };
    (void)state;
    for (int64_t n = 5; n < 40; n += 17) {
        const double tiny = 0x1p-100;
        example e = {.spatial = 2,
                     .batch = 1,
                     .groups = CHANNELS,
                     .inputs = CHANNELS,
                     .outputs = CHANNELS,
                     .in = {ROWS, n},
                     .kernel = {3, 3},
                     .strides = ONES,
                     .dilations = ONES,
                     .begin = {1, 1},
                     .end = {1, 1},
                     .format = QDQ_NCX,
                     .spatial_last = true,
                     .dtype = QDQ_FLOAT32};
        tensor in[3] = {tensor_of("x", QDQ_FLOAT32, QDQ_SHAPE(1, CHANNELS, ROWS, n)),
                        tensor_of("w", QDQ_FLOAT32, QDQ_SHAPE(CHANNELS, 1, 3, 3)),
                        {0}};
        tensor y = tensor_of("y", QDQ_FLOAT32, QDQ_SHAPE(1, CHANNELS, ROWS, n));
        for (size_t i = 0; i < tensor_count(&y); i++) tensor_put(&in[0], i, tiny);
        for (size_t i = 0; i < (size_t)CHANNELS * 9; i++) tensor_put(&in[1], i, i < 18 ? -tiny : 1);
        // The last tap of channel 0 makes its sum tiny, the first one of channel 1 infinite.
        tensor_put(&in[1], 8, 1), tensor_put(&in[1], 9, (double)INFINITY);
        for (int64_t i = 0; i < ROWS * n; i++) {
            bool top = i < n, bottom = i >= (ROWS - 1) * n, left = i % n == 0,
                 right = (i + 1) % n == 0;
            double rows = 3 - top - bottom, columns = 3 - left - right;
            tensor_put(&y, (size_t)i, bottom || right ? -0.0 : tiny);
            tensor_put(&y, (size_t)(ROWS * n + i), top || left ? -0.0 : (double)INFINITY);
            tensor_put(&y, (size_t)(2 * ROWS * n + i), rows * columns * tiny);
        }
        product_check("windows", in, 3, build, &e, &y);
        tensors_free(in, 3), free(y.data);
    }
}

static void one_to_three_spatial_dims_and_every_dtype(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
    for (size_t i = 0; i < UNIT_COUNT(dtypes); i++)
        for (int spatial = 1; spatial <= 3; spatial++) {
            example e = {.spatial = spatial,
                         .batch = 2,
                         .groups = 1,
                         .inputs = 3,
                         .outputs = 4,
                         .in = {5, 6, 7},
                         .kernel = {2, 3, 3},
                         .strides = {1, 2, 2},
                         .dilations = {2, 1, 1},
                         .begin = {1, 0, 1},
                         .end = {0, 1, 1},
                         .bias = true,
                         .dtype = dtypes[i]};
            check_layouts(e);
        }
}

static void groups_have_weights_of_their_own(void **state) {
    (void)state;
    example e = plain;
    e.begin[0] = e.begin[1] = e.end[0] = 1;
    e.groups = 3, e.inputs = 9, e.outputs = 6, e.bias = true;
    check_layouts(e);
    e.groups = e.inputs = e.outputs = 37;  // depthwise
    check_layouts(e);
    e.outputs = 74, e.dtype = QDQ_BFLOAT16, e.strides[0] = 2;
    check_layouts(e);
    e.groups = 2, e.inputs = 4, e.outputs = 70, e.dtype = QDQ_FLOAT32;
    check_layouts(e);
}

// 3 products of bfloat16 make two pairs: the filler next to the third product must not be an
// element of x.
static void an_infinite_element_affects_its_own_windows_only(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16};
    for (size_t d = 0; d < UNIT_COUNT(dtypes); d++) {
        example e = {.spatial = 1,
                     .batch = 1,
                     .groups = 2,
                     .inputs = 2,
                     .outputs = 2,
                     .in = {5},
                     .kernel = {3},
                     .strides = ONES,
                     .dilations = ONES,
                     .format = QDQ_NCX,
                     .spatial_last = true,
                     .dtype = dtypes[d]};
        tensor in[3] = {tensor_of("x", e.dtype, QDQ_SHAPE(1, 2, 5)),
                        tensor_of("w", e.dtype, QDQ_SHAPE(2, 1, 3)),
                        {0}};
        tensor y = tensor_of("y", e.dtype, QDQ_SHAPE(1, 2, 3));
        for (size_t i = 0; i < 10; i++) tensor_put(&in[0], i, i % 5 ? 1 : (double)INFINITY);
        for (size_t i = 0; i < 6; i++) tensor_put(&in[1], i, 1);
        for (size_t i = 0; i < 6; i++) tensor_put(&y, i, i % 3 ? 3 : (double)INFINITY);
        product_check("an infinite element", in, 3, build, &e, &y);
        tensors_free(in, 3), free(y.data);
    }
}

// A slow run takes a part of the examples.
static void check_turn(example e, size_t turn) {
    if (!unit_left_out(turn)) check_layouts(e);
}

// Runs of neighbouring elements that end at a border, at the end of a row or inside a block;
// kernels as wide as x and wider; padding under infinite weights.
static void borders_divide_runs_of_neighbours(void **state) {
    (void)state;
    static const struct {
        int64_t in[2], kernel[2], strides[2], dilations[2], begin[2], end[2];
    } windows[] = {
        {{5, 37}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
        {{8, 69}, {5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 2}},
        {{7, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 0}, {1, 2}},
        {{4, 23}, {2, 5}, {1, 1}, {2, 3}, {3, 7}, {0, 9}},
        {{6, 9}, {5, 9}, {1, 1}, {1, 1}, {2, 4}, {2, 4}},
        {{3, 4}, {3, 9}, {1, 1}, {1, 1}, {1, 4}, {1, 4}},
        {{5, 21}, {1, 1}, {1, 1}, {1, 1}, {0, 2}, {1, 0}},
        {{5, 21}, {1, 1}, {2, 3}, {1, 1}, {0, 0}, {0, 0}},
        {{7, 18}, {3, 7}, {2, 2}, {1, 1}, {1, 3}, {1, 3}},
        {{9, 10}, {9, 8}, {1, 1}, {1, 1}, {4, 3}, {4, 3}},  // 72 taps
        {{6, 50}, {1, 4}, {1, 1}, {1, 1}, {2, 0}, {3, 0}},  // whole rows in the padding
        {{2, 150}, {2, 3}, {1, 1}, {1, 2}, {1, 2}, {0, 1}},
    };
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
    for (size_t i = 0; i < UNIT_COUNT(windows); i++) {
        example e = {.spatial = 2, .batch = 1, .groups = 2, .inputs = 36, .outputs = 18};
        e.infinite = true, e.dtype = dtypes[i % 3];
        memcpy(e.in, windows[i].in, 2 * sizeof *e.in);
        memcpy(e.kernel, windows[i].kernel, 2 * sizeof *e.in);
        memcpy(e.strides, windows[i].strides, 2 * sizeof *e.in);
        memcpy(e.dilations, windows[i].dilations, 2 * sizeof *e.in);
        memcpy(e.begin, windows[i].begin, 2 * sizeof *e.in);
        memcpy(e.end, windows[i].end, 2 * sizeof *e.in);
        check_turn(e, i);
        e.inputs = 10, e.groups = 1, e.dtype = dtypes[(i + 1) % 3];
        check_turn(e, i + 1);
        e.inputs = 6, e.groups = 3, e.outputs = 6, e.dtype = QDQ_FLOAT32, e.bias = true;
        check_turn(e, i + 2);
        e.groups = e.inputs = e.outputs = 19, e.batch = 2;
        check_turn(e, i + 3);
    }
}

static void automatic_padding_follows_its_rule(void **state) {
    (void)state;
    for (int pad = QDQ_PAD_SAME_UPPER; pad <= QDQ_PAD_VALID; pad++)
        for (int64_t stride = 1; stride <= 4; stride++) {
            example e = plain;
            e.auto_pad = (qdq_auto_pad)pad, e.batch = 1;
            e.begin[0] = 5, e.end[1] = 4;  // explicit pads, which must have no effect here
            e.strides[0] = stride, e.kernel[0] = 4, e.dilations[1] = 2;
            check_layouts(e);
        }
}

static void a_kernel_may_have_more_taps_than_a_block_of_k(void **state) {
    (void)state;
    example e = {.spatial = 1,
                 .batch = 1,
                 .groups = 1,
                 .inputs = 2,
                 .outputs = 3,
                 .in = {180},
                 .kernel = {150},
                 .strides = {7},
                 .dilations = {2},
                 .begin = {130},
                 .end = {99},
                 .dtype = QDQ_FLOAT32};
    check_layouts(e);
}

static void refuse(const example *e, qdq_shape x, qdq_shape w, qdq_shape bias, const char *rule,
                   const char *sentence) {
    tensor in[3] = {{"x", e->dtype, x, NULL}, {"w", e->dtype, w, NULL}, {0}};
    if (bias.rank) in[2] = (tensor){"bias", e->dtype, bias, NULL};
    product_refused(in, 3, build, e, rule, sentence);
}

static void mismatched_operands_are_refused(void **state) {
    (void)state;
    const qdq_shape none = {0}, x = QDQ_SHAPE(1, 9, 9, 6), w = QDQ_SHAPE(3, 3, 6, 8);
    example e = plain;
    refuse(&e, QDQ_SHAPE(1, 6), w, none, "core/port-shape",
           "node 'y': Convolution: x has the shape [1, 6], wanted a batch, channels and 1 to 3 "
           "spatial dims; see docs/ops_neural_network.md");
    refuse(&e, x, QDQ_SHAPE(3, 6, 8), none, "core/port-shape",
           "node 'y': Convolution: weights has the shape [3, 6, 8], wanted 4 dims, as x has; see "
           "docs/ops_neural_network.md");
    refuse(&e, x, QDQ_SHAPE(3, 3, 5, 8), none, "core/port-shape",
           "node 'y': Convolution: weights has the shape [3, 3, 5, 8], wanted 6 in dim 2, the "
           "channels of x; see docs/ops_neural_network.md");
    refuse(&e, x, w, QDQ_SHAPE(6), "core/port-shape",
           "node 'y': Convolution: bias has the shape [6], wanted [8]: the output channels; see "
           "docs/ops_neural_network.md");
    refuse(
        &e, QDQ_SHAPE(1, 2, 9, 6), w, none, "core/port-shape",
        "node 'y': Convolution: x has 2 elements in spatial dim 0, with padding, wanted at least "
        "the 3 that a window covers; see docs/ops_neural_network.md");
    e.groups = 4;
    refuse(&e, x, w, none, "core/attr-value",
           "node 'y': Convolution: groups is 4, wanted a divisor of 6, the channels of x; see `qdq "
           "ops Convolution`");
    e.groups = 3;
    refuse(&e, x, QDQ_SHAPE(3, 3, 2, 8), none, "core/port-shape",
           "node 'y': Convolution: weights has the shape [3, 3, 2, 8], wanted a multiple of 3, the "
           "groups, in dim 3; see docs/ops_neural_network.md");
    refuse(&e, x, w, none, "core/port-shape",
           "node 'y': Convolution: weights has the shape [3, 3, 6, 8], wanted 2 in dim 2, the "
           "channels of x in a group; see docs/ops_neural_network.md");
    e = plain, e.spatial = 0;
    refuse(&e, x, w, none, "core/attr-required",
           "node 'y': Convolution: strides is missing; see `qdq ops Convolution`");
    e = plain, e.transposed = true;
    refuse(&e, x, w, none, "core/port-shape",
           "node 'y': ConvTranspose: weights has the shape [3, 3, 6, 8], wanted 6 in dim 3, the "
           "channels of x; see docs/ops_neural_network.md");
    e.begin[1] = 6, e.end[1] = 5;
    refuse(
        &e, x, QDQ_SHAPE(3, 3, 8, 6), none, "core/attr-value",
        "node 'y': ConvTranspose: pads_begin and pads_end have 11 together in dim 1, wanted less "
        "than the 11 elements of the result; see `qdq ops ConvTranspose`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_run_over_channels_then_the_kernel),
        cmocka_unit_test(padding_contributes_no_product),
        cmocka_unit_test(padding_keeps_infinities_and_negative_zeros),
        cmocka_unit_test(padding_of_long_lines_keeps_infinities_and_negative_zeros),
        cmocka_unit_test(padding_of_windows_keeps_infinities_and_negative_zeros),
        cmocka_unit_test(one_to_three_spatial_dims_and_every_dtype),
        cmocka_unit_test(groups_have_weights_of_their_own),
        cmocka_unit_test(an_infinite_element_affects_its_own_windows_only),
        cmocka_unit_test(borders_divide_runs_of_neighbours),
        cmocka_unit_test(automatic_padding_follows_its_rule),
        cmocka_unit_test(a_kernel_may_have_more_taps_than_a_block_of_k),
        cmocka_unit_test(mismatched_operands_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
