// SPDX-License-Identifier: Apache-2.0
// Float networks with channels to equalize.
#ifndef QDQ_TESTS_GRAPH_TRANSFORM_EQUALIZE_NETWORKS_H
#define QDQ_TESTS_GRAPH_TRANSFORM_EQUALIZE_NETWORKS_H

#include <math.h>

#include "include/qdq/qdq.h"
#include "tests/unit.h"

enum { MOST = 4096 };

static float draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(*seed >> 40) / (1 << 23) - 1) + 0x1p-20F;
}

// Adds a constant of random elements.
static qdq_value random_constant(qdq_graph *g, const char *name, qdq_shape shape) {
    float data[MOST];
    uint64_t seed = 17;
    for (const char *c = name; *c; c++) seed = seed * 31 + (unsigned char)*c;
    assert_true(qdq_shape_count(shape) <= MOST);
    for (size_t i = 0; i < qdq_shape_count(shape); i++) data[i] = draw(&seed);
    return qdq_constant(g, name, QDQ_FLOAT32, shape, data);
}

static qdq_value input(qdq_graph *g, qdq_shape shape) {
    return qdq_input(g, "x", QDQ_FLOAT32, shape);
}

#define WEIGHTS(g, name, ...) random_constant(g, name, QDQ_SHAPE(__VA_ARGS__))

//---- Networks ---------------------------------------------------------------

static const int64_t no_pads[2] = {0, 0}, ones[2] = {1, 1}, twos[2] = {2, 2};
static const qdq_ints zeros = {no_pads, 2}, one = {ones, 2}, two = {twos, 2};

static qdq_convolution_attrs convolution(const char *name, int64_t groups, bool channels_first) {
    qdq_convolution_attrs a = {.name = name,
                               .strides = one,
                               .dilations = one,
                               .pads_begin = one,
                               .pads_end = one,
                               .groups = QDQ_INT(groups)};
    if (channels_first) a.data_format = QDQ_NCX, a.weights_format = QDQ_OIX;
    return a;
}

static qdq_pool_attrs pool(bool channels_first) {
    qdq_pool_attrs a = {.strides = two,
                        .kernel = two,
                        .pads_begin = zeros,
                        .pads_end = zeros,
                        .exclude_pad = QDQ_TRUE};
    if (channels_first) a.data_format = QDQ_NCX;
    return a;
}

// conv -> ReLU -> MaxPool -> conv of 2 groups -> LeakyReLU -> flatten -> product
static qdq_graph *channels_first(void) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value y = input(g, QDQ_SHAPE(1, 2, 6, 6));
    qdq_convolution_attrs a = convolution("conv1", 1, true), b = convolution("conv2", 2, true);
    a.bias = WEIGHTS(g, "b1", 4);
    y = qdq_convolution(g, y, WEIGHTS(g, "w1", 4, 2, 3, 3), a);
    y = qdq_max_pool(g, qdq_relu(g, y, (qdq_unary_attrs){.name = "relu"}), pool(true));
    y = qdq_convolution(g, y, WEIGHTS(g, "w2", 6, 2, 3, 3), b);
    y = qdq_leaky_relu(g, y, (qdq_alpha_attrs){.alpha = QDQ_FLOAT(0.1)});
    y = qdq_reshape(g, y, (qdq_reshape_attrs){.shape = QDQ_INTS(1, 54), .special_zero = QDQ_TRUE});
    qdq_output(g, "y", qdq_matmul(g, y, WEIGHTS(g, "w3", 54, 3), (qdq_matmul_attrs){.name = "m"}));
    return g;
}

// The same layers with channels last, depthwise, a transposed convolution, sums and a mean.
static qdq_graph *channels_last(void) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value y = input(g, QDQ_SHAPE(1, 4, 4, 2));
    qdq_conv_transpose_attrs up = {.name = "up",
                                   .strides = one,
                                   .dilations = one,
                                   .pads_begin = one,
                                   .pads_end = one,
                                   .groups = QDQ_INT(2)};
    y = qdq_convolution(g, y, WEIGHTS(g, "w1", 3, 3, 2, 4), convolution("conv1", 1, false));
    y = qdq_bias_add(g, y, WEIGHTS(g, "b1", 4), (qdq_bias_add_attrs){.name = "biased"});
    y = qdq_avg_pool(g, y, pool(false));
    y = qdq_convolution(g, y, WEIGHTS(g, "w2", 3, 3, 1, 4), convolution("depthwise", 4, false));
    y = qdq_add(g, y, WEIGHTS(g, "b2", 1, 4), (qdq_binary_attrs){.name = "sum"});
    y = qdq_conv_transpose(g, y, WEIGHTS(g, "w3", 3, 3, 3, 4), up);
    y = qdq_reduce_mean(g, y, (qdq_reduce_attrs){.axes = QDQ_INTS(1, -2)});
    y = qdq_multiply(g, y, WEIGHTS(g, "factor", 1), (qdq_binary_attrs){.name = "scaled"});
    qdq_output(g, "y",
               qdq_matmul(g, y, WEIGHTS(g, "w4", 5, 6),
                          (qdq_matmul_attrs){.name = "m", .transpose_b = QDQ_TRUE}));
    return g;
}

// LayerNorm -> two products, one with a transposed operand; product -> Add -> transpose -> product
static qdq_graph *norms(const qdq_graph_options *options) {
    qdq_graph *g = qdq_graph_create("g", options);
    qdq_value x = input(g, QDQ_SHAPE(3, 4));
    qdq_layer_norm_attrs n = {
        .name = "norm", .gamma = WEIGHTS(g, "gamma", 4), .beta = WEIGHTS(g, "beta", 4)};
    qdq_value y = qdq_layer_norm(g, x, n);
    qdq_value t = qdq_transpose(g, y, (qdq_transpose_attrs){.name = "t", .order = QDQ_INTS(1, 0)});
    qdq_value a = qdq_matmul(g, y, WEIGHTS(g, "w1", 4, 5),
                             (qdq_matmul_attrs){.name = "m1", .bias = WEIGHTS(g, "b1", 1, 5)});
    qdq_output(g, "z",
               qdq_matmul(g, t, WEIGHTS(g, "w2", 4, 2),
                          (qdq_matmul_attrs){.name = "m2", .transpose_a = QDQ_TRUE}));
    a = qdq_subtract(g, a, WEIGHTS(g, "b2", 3, 5), (qdq_binary_attrs){.name = "less"});
    qdq_output(g, "y", qdq_matmul(g, a, WEIGHTS(g, "w3", 5, 3), (qdq_matmul_attrs){.name = "m3"}));
    return g;
}

// BatchNorm, GroupNorm, RMSNorm and a product with a constant, each before a product
static qdq_graph *other_norms(void) {
    static const float variance[4] = {1, 2, 0.5F, 3};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, QDQ_SHAPE(2, 4));
    qdq_batch_norm_attrs batch = {
        .name = "batch",
        .gamma = WEIGHTS(g, "g1", 4),
        .beta = WEIGHTS(g, "b1", 4),
        .mean = WEIGHTS(g, "mean", 4),
        .epsilon = QDQ_FLOAT(1e-5),
        .variance = qdq_constant(g, "variance", QDQ_FLOAT32, QDQ_SHAPE(4), variance)};
    qdq_group_norm_attrs group = {.name = "group",
                                  .gamma = WEIGHTS(g, "g2", 4),
                                  .beta = WEIGHTS(g, "b2", 4),
                                  .groups = QDQ_INT(2)};
    qdq_value values[] = {
        qdq_batch_norm(g, x, batch),
        qdq_group_norm(g, x, group),
        qdq_rms_norm(g, x, (qdq_rms_norm_attrs){.name = "rms", .gamma = WEIGHTS(g, "g3", 4)}),
        qdq_multiply(g, x, WEIGHTS(g, "g4", 4), (qdq_binary_attrs){.name = "gained"}),
    };
    for (size_t i = 0; i < 4; i++) {
        char w[8], y[8];
        snprintf(w, sizeof w, "v%zu", i), snprintf(y, sizeof y, "y%zu", i);
        qdq_output(g, y, qdq_matmul(g, values[i], WEIGHTS(g, w, 4, 3), (qdq_matmul_attrs){0}));
    }
    return g;
}

// product -> transpose -> mean of the first dim -> transpose -> product
static qdq_graph *reduced(void) {
    const qdq_transpose_attrs back = {.name = "back", .order = QDQ_INTS(0, 2, 1)};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value y = input(g, QDQ_SHAPE(2, 3, 4));
    y = qdq_matmul(g, y, WEIGHTS(g, "w1", 4, 5), (qdq_matmul_attrs){.name = "m1"});
    y = qdq_reduce_mean(g, qdq_transpose(g, y, back), (qdq_reduce_attrs){.axes = QDQ_INTS(0)});
    y = qdq_reduce_max(g, qdq_relu(g, y, (qdq_unary_attrs){.name = "relu"}),
                       (qdq_reduce_attrs){.axes = QDQ_INTS(1), .keep_dims = QDQ_TRUE});
    y = qdq_transpose(g, y, (qdq_transpose_attrs){.name = "last"});
    qdq_output(g, "y", qdq_matmul(g, y, WEIGHTS(g, "w2", 5, 2), (qdq_matmul_attrs){.name = "m"}));
    return g;
}

// conv -> Clamp at 0 -> Pad -> Slice -> Interpolate -> conv; LayerNorm -> Gather -> product
static qdq_graph *moved(void) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, QDQ_SHAPE(1, 2, 4, 4));
    const int64_t first[1] = {1};
    qdq_value index = qdq_constant(g, "index", QDQ_INT64, (qdq_shape){.rank = 0}, first);
    qdq_clamp_attrs at_0 = {.min = QDQ_FLOAT(0), .max = QDQ_FLOAT(INFINITY)};
    qdq_pad_attrs pads = {.pads = QDQ_INTS(0, 1, 0, 2), .axes = QDQ_INTS(1, 2)};
    qdq_slice_attrs slice = {.starts = QDQ_INTS(1), .ends = QDQ_INTS(4), .axes = QDQ_INTS(-1)};
    qdq_interpolate_attrs resize = {
        .mode = QDQ_MODE(QDQ_LINEAR), .sizes = two, .data_format = QDQ_NCX};
    qdq_value y = qdq_convolution(g, x, WEIGHTS(g, "w1", 3, 2, 3, 3), convolution("conv", 1, true));
    y = qdq_pad(g, qdq_clamp(g, y, at_0), pads);
    y = qdq_interpolate(g, qdq_slice(g, y, slice), resize);
    qdq_output(g, "y",
               qdq_convolution(g, y, WEIGHTS(g, "w2", 2, 3, 3, 3), convolution("last", 1, true)));
    qdq_layer_norm_attrs n = {
        .name = "norm", .gamma = WEIGHTS(g, "gamma", 4), .beta = WEIGHTS(g, "beta", 4)};
    y = qdq_gather(g, qdq_layer_norm(g, x, n), index, (qdq_gather_attrs){.axis = QDQ_INT(-3)});
    qdq_output(g, "z", qdq_matmul(g, y, WEIGHTS(g, "w3", 4, 2), (qdq_matmul_attrs){.name = "m"}));
    return g;
}

#endif
