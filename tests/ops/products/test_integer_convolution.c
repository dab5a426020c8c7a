// SPDX-License-Identifier: Apache-2.0
// Integer execution of convolutions, transposed ones too: 1 to 3 spatial dims, every layout, groups
// of many and of few channels, and padding, which contributes no product.
#include "tests/ops/products/integer_execution.h"

enum { DIMS = 3 };

typedef struct example {
    int spatial;
    int64_t batch, groups, inputs, outputs;  // inputs, outputs: channels of all groups
    int64_t in[DIMS], kernel[DIMS], strides[DIMS], dilations[DIMS], begin[DIMS], end[DIMS];
    bool channels_first, spatial_last, bias, transposed;
    code_params of_x, of_w;
} example;

static qdq_ints ints(const int64_t *data, int n) { return (qdq_ints){data, (size_t)n}; }

static qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    const example *e = self;
    int n = e->spatial;
    qdq_value x = qdq_dequantize(g, v[0], codes_attrs(&e->of_x));
    qdq_value w = qdq_dequantize(g, v[1], codes_attrs(&e->of_w));
    if (e->transposed)
        return qdq_conv_transpose(
            g, x, w,
            (qdq_conv_transpose_attrs){.name = "y",
                                       .bias = v[2],
                                       .strides = ints(e->strides, n),
                                       .dilations = ints(e->dilations, n),
                                       .pads_begin = ints(e->begin, n),
                                       .pads_end = ints(e->end, n),
                                       .groups = QDQ_INT(e->groups),
                                       .data_format = e->channels_first ? QDQ_NCX : QDQ_NXC,
                                       .weights_format = e->spatial_last ? QDQ_IOX : QDQ_XOI});
    return qdq_convolution(
        g, x, w,
        (qdq_convolution_attrs){.name = "y",
                                .bias = v[2],
                                .strides = ints(e->strides, n),
                                .dilations = ints(e->dilations, n),
                                .pads_begin = ints(e->begin, n),
                                .pads_end = ints(e->end, n),
                                .groups = QDQ_INT(e->groups),
                                .data_format = e->channels_first ? QDQ_NCX : QDQ_NXC,
                                .weights_format = e->spatial_last ? QDQ_OIX : QDQ_XIO});
}

//---- The reference ----------------------------------------------------------

static int64_t out_of(const example *e, int d) {
    int64_t reach = (e->kernel[d] - 1) * e->dilations[d] + 1;
    if (e->transposed) return e->strides[d] * (e->in[d] - 1) + reach - e->begin[d] - e->end[d];
    return (e->in[d] + e->begin[d] + e->end[d] - reach) / e->strides[d] + 1;
}

static qdq_shape image(const example *e, int64_t channels, const int64_t *size) {
    qdq_shape s = {.rank = e->spatial + 2, .dims = {e->batch}};
    s.dims[e->channels_first ? 1 : e->spatial + 1] = channels;
    for (int d = 0; d < e->spatial; d++) s.dims[d + (e->channels_first ? 2 : 1)] = size[d];
    return s;
}

static size_t image_at(const example *e, int64_t channels, const int64_t *size, int64_t n,
                       int64_t channel, const int64_t *at) {
    int64_t i = e->channels_first ? n * channels + channel : n;
    for (int d = 0; d < e->spatial; d++) i = i * size[d] + at[d];
    return (size_t)(e->channels_first ? i : i * channels + channel);
}

static qdq_shape weights_shape(const example *e) {
    qdq_shape s = {.rank = e->spatial + 2};
    int first = e->spatial_last ? 2 : 0;
    for (int d = 0; d < e->spatial; d++) s.dims[first + d] = e->kernel[d];
    int64_t of_group = e->transposed ? e->outputs / e->groups : e->inputs / e->groups;
    s.dims[e->spatial_last ? 1 : e->spatial] = of_group;
    s.dims[e->spatial_last ? 0 : e->spatial + 1] = e->transposed ? e->inputs : e->outputs;
    return s;
}

// The dim that holds the output channels.
static int scale_axis(const example *e) {
    int last = e->spatial_last ? 0 : e->spatial + 1;
    return e->transposed ? (e->spatial_last ? 1 : e->spatial) : last;
}

// Input i of the group of output o. Convolution's weights have the inputs of one group for each
// output; ConvTranspose's have the outputs of one group for each input.
static size_t weights_at(const example *e, int64_t o, int64_t i, const int64_t *tap) {
    int64_t inputs = e->inputs / e->groups, outputs = e->outputs / e->groups;
    int64_t all = e->outputs, one = o, part = inputs, of_part = i;
    if (e->transposed)
        all = e->inputs, one = o / outputs * inputs + i, part = outputs, of_part = o % outputs;
    int64_t at = e->spatial_last ? one * part + of_part : 0;
    for (int d = 0; d < e->spatial; d++) at = at * e->kernel[d] + tap[d];
    return (size_t)(e->spatial_last ? at : (at * part + of_part) * all + one);
}

// The index along dim d of x whose product with a tap adds to y; false if there is none.
static bool source(const example *e, int d, int64_t y, int64_t tap, int64_t *x) {
    *x = y * e->strides[d] + tap * e->dilations[d] - e->begin[d];
    if (e->transposed) {  // y = x * stride + tap * dilation - begin
        int64_t distance = y + e->begin[d] - tap * e->dilations[d];
        if (distance % e->strides[d]) return false;
        *x = distance / e->strides[d];
    }
    return *x >= 0 && *x < e->in[d];
}

// The next coordinates of a box in row-major order; false after the last ones.
static bool next(int64_t *at, const int64_t *size, int n) {
    for (int d = n; d-- > 0; at[d] = 0)
        if (++at[d] < size[d]) return true;
    return false;
}

static code_sum sum_of(const example *e, const tensor *in, int64_t n, int64_t o, const int64_t *y) {
    int64_t inputs = e->inputs / e->groups, group = o / (e->outputs / e->groups), tap[DIMS] = {0};
    code_sum s = {0};
    do {
        int64_t x[DIMS];
        bool inside = true;
        for (int d = 0; d < e->spatial; d++) inside &= source(e, d, y[d], tap[d], &x[d]);
        for (int64_t i = 0; inside && i < inputs; i++) {
            size_t at = image_at(e, e->inputs, e->in, n, group * inputs + i, x);
            codes_add(&s, codes_less_zero(&e->of_x, &in[0], at, 0),
                      codes_less_zero(&e->of_w, &in[1], weights_at(e, o, i, tap),
                                      (size_t)o % e->of_w.count));
        }
    } while (next(tap, e->kernel, e->spatial));
    codes_scale_sum(&s, codes_scale(&e->of_x, 0), codes_scale(&e->of_w, (size_t)o % e->of_w.count),
                    e->bias ? tensor_at(&in[2], (size_t)o) : 0);
    return s;
}

static code_errors check(example *e, code_scales scales, bool per_channel, bool middle) {
    uint64_t seed = 5 + (uint64_t)(e->inputs * 31 + e->outputs);
    int64_t size[DIMS];
    size_t depth = (size_t)(e->inputs / e->groups);
    for (int d = 0; d < e->spatial; d++) size[d] = out_of(e, d), depth *= (size_t)e->kernel[d];
    e->of_x.axis = e->of_w.axis = -1;
    e->of_x.count = e->of_w.count = 1;
    if (per_channel) {
        e->of_w.axis = scale_axis(e);
        e->of_w.count = (size_t)(e->transposed ? e->outputs / e->groups : e->outputs);
    }
    codes_choose(&e->of_x, scales, false, &seed);
    codes_choose(&e->of_w, scales, middle, &seed);
    tensor in[3] = {tensor_of("x", e->of_x.dtype, image(e, e->inputs, e->in)),
                    tensor_of("w", e->of_w.dtype, weights_shape(e)),
                    tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE(e->outputs))};
    for (int i = 0; i < 3; i++) tensor_fill(&in[i], &seed);
    if (!e->bias) in[2].name = NULL;
    qdq_shape y = image(e, e->outputs, size);
    code_sum *sums = oracle_memory(qdq_shape_count(y) * sizeof *sums);
    for (int64_t n = 0; n < e->batch; n++)
        for (int64_t o = 0; o < e->outputs; o++) {
            int64_t at[DIMS] = {0};
            do {
                sums[image_at(e, e->outputs, size, n, o, at)] = sum_of(e, in, n, o, at);
            } while (next(at, size, e->spatial));
        }
    code_errors errors = codes_check(
        &(code_check){"Convolution", in, build, e, y, depth, sums, scales == CODES_POWERS});
    tensors_free(in, 3), free(sums);
    return errors;
}

//---- Tests ------------------------------------------------------------------

enum { PAIRS = 5 };
static const qdq_dtype pairs[PAIRS][2] = {{QDQ_UINT8, QDQ_INT8},
                                          {QDQ_INT8, QDQ_INT8},
                                          {QDQ_UINT8, QDQ_UINT8},
                                          {QDQ_INT8, QDQ_INT4},
                                          {QDQ_UINT8, QDQ_UINT4}};

// Groups of 9 and more output channels, groups of 1 to 3, and depthwise; padding at both ends.
// clang-format off
static const example examples[] = {
    {1, 2, 1, 5, 9, {11}, {3}, {1}, {1}, {1}, {2}, 0, 0, 0, 0, {0}, {0}},
    {2, 2, 1, 3, 33, {9, 7}, {3, 3}, {2, 1}, {1, 2}, {1, 2}, {1, 2}, 0, 0, 0, 0, {0}, {0}},
    {2, 1, 2, 6, 20, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, 0, 0, 0, {0}, {0}},
    {2, 2, 4, 8, 12, {6, 5}, {3, 2}, {1, 1}, {1, 1}, {1, 0}, {1, 1}, 0, 0, 0, 0, {0}, {0}},
    {2, 1, 40, 40, 40, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, 0, 0, 0, {0}, {0}},
    {3, 1, 1, 4, 8, {4, 3, 5}, {2, 2, 2}, {1, 1, 2}, {1, 1, 1}, {1, 0, 1}, {0, 1, 1}, 0, 0, 0, 0, {0}, {0}},
    {2, 1, 1, 37, 9, {5, 22}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, 0, 0, 0, {0}, {0}},
    {2, 1, 2, 34, 18, {4, 19}, {3, 5}, {1, 2}, {1, 2}, {1, 3}, {1, 4}, 0, 0, 0, 0, {0}, {0}},
    {2, 1, 1, 40, 10, {4, 19}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 0, 0, 0, 0, {0}, {0}},
    {2, 1, 1, 20, 9, {5, 19}, {1, 3}, {1, 1}, {1, 1}, {2, 1}, {0, 1}, 0, 0, 0, 0, {0}, {0}},
};
// clang-format on

static code_errors check_all(code_scales scales) {
    code_errors all = {0};
    for (size_t i = 0; i < UNIT_COUNT(examples); i++)
        for (int how = 0; how < 16; how++) {
            example e = examples[i];
            e.transposed = how & 8;
            e.channels_first = how & 1, e.spatial_last = how & 2, e.bias = (how ^ how >> 2) & 1;
            e.of_x.dtype = pairs[(i + (size_t)how) % PAIRS][0];
            e.of_w.dtype = pairs[(i + (size_t)how) % PAIRS][1];
            code_errors one = check(&e, scales, how & 4, (how >> 1 ^ how) & 1);
            all.integer += one.integer, all.literal += one.literal, all.different += one.different;
        }
    return all;
}

static void power_of_two_scales_keep_the_bits(void **state) {
    (void)state;
    assert_int_equal(check_all(CODES_POWERS).different, 0);
}

static void other_scales_come_closer_to_the_exact_result(void **state) {
    (void)state;
    code_errors errors = check_all(CODES_RANDOM);
    assert_true(errors.different > 0);
    if (errors.integer > errors.literal)
        fail_msg("errors are %g, literally %g", errors.integer, errors.literal);
}

// The weights' parameters go along a dim other than the output channels.
static void parameters_along_other_dims_are_computed_literally(void **state) {
    (void)state;
    static const float scales[] = {0.5f, 0.25f};
    static const int64_t ones[] = {1, 1};
    for (int axis = 0; axis < 4; axis++)
        for (int how = 0; how < 4; how++) {
            qdq_graph *g = qdq_graph_create("channels", NULL);
            qdq_value x = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 5, 5, 2));
            qdq_value w = qdq_input(g, "w", QDQ_INT8, QDQ_SHAPE(2, 2, 2, 2));
            x = qdq_dequantize(g, x,
                               (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32,
                                                      .scales = {.data = scales, .count = 1}});
            w = qdq_dequantize(g, w,
                               (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32,
                                                      .qtype = QDQ_PER_CHANNEL,
                                                      .axis = QDQ_INT(axis),
                                                      .scales = {.data = scales, .count = 2}});
            qdq_conv_transpose_attrs of_transposed = {.strides = ints(ones, 2),
                                                      .dilations = ints(ones, 2),
                                                      .weights_format =
                                                          how & 1 ? QDQ_IOX : QDQ_XOI};
            qdq_convolution_attrs of_plain = {.strides = ints(ones, 2),
                                              .dilations = ints(ones, 2),
                                              .weights_format = how & 1 ? QDQ_OIX : QDQ_XIO};
            qdq_output(g, "y",
                       how & 2 ? qdq_conv_transpose(g, x, w, of_transposed)
                               : qdq_convolution(g, x, w, of_plain));
            static const int outputs[] = {3, 0, 2, 1};
            assert_int_equal(codes_are_used(g, NULL), axis == outputs[how]);
            qdq_graph_destroy(g);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_of_two_scales_keep_the_bits),
        cmocka_unit_test(other_scales_come_closer_to_the_exact_result),
        cmocka_unit_test(parameters_along_other_dims_are_computed_literally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
