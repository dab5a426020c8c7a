// SPDX-License-Identifier: Apache-2.0
// Weights of convolutions on a device. The buffers of the first test are those that ttnn's own
// capture of a Conv2d on a p150 lists: 16,384 positions of 32 channels, 3x3 taps, 64 channels.
#include "include/qdq/qdq.h"
#include "tests/unit.h"

// In tiles of images, the weights of 12 layers take more bytes than 32 bits count.
enum { CHANNELS = 512, LAYERS = sizeof(size_t) > 4 ? 12 : 3 };

static const int64_t ones[] = {1, 1}, zeros[] = {0, 0};

static qdq_value convolution(qdq_graph *g, const char *name, qdq_value x, qdq_value weights,
                             qdq_value bias, int64_t groups) {
    return qdq_convolution(g, x, weights,
                           (qdq_convolution_attrs){.name = name,
                                                   .bias = bias,
                                                   .strides = {ones, 2},
                                                   .dilations = {ones, 2},
                                                   .pads_begin = {ones, 2},
                                                   .pads_end = {ones, 2},
                                                   .groups = QDQ_INT(groups),
                                                   .data_format = QDQ_NCX,
                                                   .weights_format = QDQ_OIX});
}

static qdq_plan *compile(qdq_graph *g, const char *target) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = target}, &err);
    if (!plan) fail_msg("%s", err.text);
    return plan;
}

static const qdq_device_buffer *buffer_named(const qdq_plan *plan, const char *name) {
    const qdq_device_plan *device = qdq_plan_device(plan);
    for (size_t i = 0; i < device->buffer_count; i++)
        if (strcmp(device->buffers[i].name, name) == 0) return &device->buffers[i];
    fail_msg("there is no buffer %s", name);
    return NULL;
}

static void check_shape(const qdq_plan *plan, const char *name, qdq_shape wanted) {
    const qdq_device_buffer *b = buffer_named(plan, name);
    if (b->shape.rank != wanted.rank ||
        memcmp(b->shape.dims, wanted.dims, sizeof(int64_t) * (size_t)wanted.rank) != 0)
        fail_msg("%s has rank %d and dims %lld, %lld", name, b->shape.rank,
                 (long long)b->shape.dims[0], (long long)b->shape.dims[1]);
}

static void buffers_are_those_of_a_capture(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("capture", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(1, 32, 128, 128));
    qdq_value w = qdq_input(g, "w", QDQ_BFLOAT16, QDQ_SHAPE(64, 32, 3, 3));
    qdq_value b = qdq_input(g, "b", QDQ_BFLOAT16, QDQ_SHAPE(64));
    qdq_output(g, "y", convolution(g, "c", x, w, b, 1));
    qdq_plan *plan = compile(g, "ttnn@blackhole");
    const qdq_device_buffer *weights = buffer_named(plan, "w"), *bias = buffer_named(plan, "b");
    assert_int_equal(weights->pages * weights->page_bytes, 36864);
    assert_int_equal(weights->bytes_per_bank, 6144);
    assert_int_equal(bias->pages * bias->page_bytes, 4096);
    assert_int_equal(bias->bytes_per_bank, 2048);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Layers of 9 MB; as images each takes 262,144 tiles, 1 GiB.
static void a_network_of_many_channels_fits(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("network", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, CHANNELS, 7, 7));
    for (int i = 0; i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        qdq_value w = qdq_input(g, name, QDQ_FLOAT32, QDQ_SHAPE(CHANNELS, CHANNELS, 3, 3));
        x = convolution(g, NULL, x, w, (qdq_value){0}, 1);
    }
    qdq_output(g, "y", x);
    qdq_plan *plan = compile(g, "ttnn");
    check_shape(plan, "w2", QDQ_SHAPE(9 * CHANNELS, CHANNELS));
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// The scales of output channels broadcast over the rows of the matrix.
static void codes_of_weights_are_a_matrix_too(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("codes", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 32, 8, 8));
    qdq_value w = qdq_input(g, "w", QDQ_INT8, QDQ_SHAPE(64, 32, 3, 3));
    qdq_value s = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(64));
    qdq_value d = qdq_dequantize(g, w,
                                 (qdq_dequantize_attrs){.name = "d",
                                                        .qtype = QDQ_PER_CHANNEL,
                                                        .axis = QDQ_INT(0),
                                                        .scale = s,
                                                        .dtype = QDQ_FLOAT32});
    qdq_output(g, "y", convolution(g, "c", x, d, (qdq_value){0}, 1));
    qdq_plan *plan = compile(g, "ttnn");
    check_shape(plan, "w", QDQ_SHAPE(288, 64));
    check_shape(plan, "d", QDQ_SHAPE(288, 64));
    check_shape(plan, "d.reshape", QDQ_SHAPE(1, 64));
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// ttnn fills the channels of other groups with zeros.
static void groups_are_dense(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("groups", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 64, 8, 8));
    qdq_value w = qdq_input(g, "w", QDQ_FLOAT32, QDQ_SHAPE(64, 1, 3, 3));
    qdq_output(g, "y", convolution(g, "c", x, w, (qdq_value){0}, 64));
    qdq_value t = qdq_input(g, "t", QDQ_FLOAT32, QDQ_SHAPE(64, 4, 3, 3));
    qdq_output(g, "z",
               qdq_conv_transpose(g, x, t,
                                  (qdq_conv_transpose_attrs){.name = "u",
                                                             .strides = {ones, 2},
                                                             .dilations = {ones, 2},
                                                             .pads_begin = {zeros, 2},
                                                             .pads_end = {zeros, 2},
                                                             .groups = QDQ_INT(4),
                                                             .data_format = QDQ_NCX,
                                                             .weights_format = QDQ_IOX}));
    qdq_plan *plan = compile(g, "ttnn");
    check_shape(plan, "w", QDQ_SHAPE(9 * 64, 64));
    check_shape(plan, "t", QDQ_SHAPE(9 * 64, 16));
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Nothing prepares a tensor that another op or the caller reads, or that has its own layout.
static void other_tensors_lie_as_they_are(void **state) {
    (void)state;
    for (int use = 0; use < 4; use++) {
        qdq_graph *g = qdq_graph_create("others", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 64, 8, 8));
        qdq_value w = qdq_input(g, "w", QDQ_FLOAT32, QDQ_SHAPE(64, 64, 3, 3));
        if (use == 1) qdq_output(g, "a", qdq_abs(g, w, (qdq_unary_attrs){.name = "v"}));
        if (use == 2) qdq_output(g, "same", w);
        if (use == 3) qdq_set_layout(g, w, QDQ_LAYOUT_TILE);
        qdq_output(g, "y", convolution(g, "c", x, w, (qdq_value){0}, 1));
        qdq_plan *plan = compile(g, "ttnn");
        check_shape(plan, "w", use ? QDQ_SHAPE(64, 64, 3, 3) : QDQ_SHAPE(576, 64));
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_those_of_a_capture),
        cmocka_unit_test(a_network_of_many_channels_fits),
        cmocka_unit_test(codes_of_weights_are_a_matrix_too),
        cmocka_unit_test(groups_are_dense),
        cmocka_unit_test(other_tensors_lie_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
