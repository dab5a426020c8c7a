// SPDX-License-Identifier: Apache-2.0
// MatMulInteger64 and ConvInteger64 against sums of products element by element.
#include "tests/network.h"

enum { MOST = 6000 };

static uint64_t seed = 11;

static void fill(qdq_dtype dtype, void *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (dtype == QDQ_INT8)
            ((int8_t *)x)[i] = (int8_t)(seed >> 40);
        else
            ((int16_t *)x)[i] = (int16_t)(seed % 5 ? (int64_t)(seed >> 40) : INT16_MIN);
    }
}

static int64_t code(qdq_dtype dtype, const void *x, size_t i) {
    return dtype == QDQ_INT8 ? ((const int8_t *)x)[i] : ((const int16_t *)x)[i];
}

static qdq_value zero(qdq_graph *g, const char *name, qdq_dtype dtype, int32_t v) {
    int16_t wide = (int16_t)v;
    int8_t narrow = (int8_t)v;
    return qdq_constant(g, name, dtype, QDQ_SHAPE(1),
                        dtype == QDQ_INT8 ? (const void *)&narrow : &wide);
}

//---- Matrices ---------------------------------------------------------------

typedef struct matrices {
    qdq_dtype a, b;
    size_t batch, m, k, n;
    bool b_is_shared;
    int32_t a_zero, b_zero;
} matrices;

static void check_matmul(const matrices *e) {
    int16_t a[MOST], b[MOST];
    int64_t y[MOST];
    size_t b_batch = e->b_is_shared ? 1 : e->batch, count = e->batch * e->m * e->n;
    fill(e->a, a, e->batch * e->m * e->k), fill(e->b, b, b_batch * e->k * e->n);
    qdq_graph *g = qdq_graph_create("matmul", NULL);
    qdq_value va =
        qdq_input(g, "a", e->a, QDQ_SHAPE((int64_t)e->batch, (int64_t)e->m, (int64_t)e->k));
    qdq_value vb =
        qdq_input(g, "b", e->b, QDQ_SHAPE((int64_t)b_batch, (int64_t)e->k, (int64_t)e->n));
    qdq_matmul_integer64_attrs attrs = {.a_zero_point = zero(g, "az", e->a, e->a_zero),
                                        .b_zero_point = zero(g, "bz", e->b, e->b_zero)};
    qdq_output(g, "y", qdq_matmul_integer64(g, va, vb, attrs));
    network_tensor in[] = {{"a", e->a, a, e->batch * e->m * e->k},
                           {"b", e->b, b, b_batch * e->k * e->n}};
    network_run(g, in, 2, (network_tensor){"y", QDQ_INT64, y, count});
    qdq_graph_destroy(g);
    for (size_t i = 0; i < count; i++) {
        size_t batch = i / e->n / e->m, row = i / e->n % e->m, column = i % e->n;
        int64_t sum = 0;
        for (size_t k = 0; k < e->k; k++)
            sum += (code(e->a, a, (batch * e->m + row) * e->k + k) - e->a_zero) *
                   (code(e->b, b, (batch % b_batch * e->k + k) * e->n + column) - e->b_zero);
        assert_true(y[i] == sum);
    }
}

static void products_of_16_bits_need_more_than_32(void **state) {
    static const matrices examples[] = {
        {QDQ_INT16, QDQ_INT16, 2, 3, 37, 5, false, 0, 0},
        {QDQ_INT16, QDQ_INT16, 3, 2, 4, 200, true, -32768, 32767},
        {QDQ_INT16, QDQ_INT8, 1, 7, 16, 129, false, 0, -128},
        {QDQ_INT8, QDQ_INT8, 2, 1, 1, 1, false, 127, -5},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(examples); i++) check_matmul(&examples[i]);
}

//---- Convolutions -----------------------------------------------------------

typedef struct convolution {
    bool last;
    size_t groups, inputs, outputs;  // channels of a group
    int64_t stride[2], dilation[2], begin[2], end[2];
    int32_t x_zero, w_zero;
} convolution;

enum { N = 2, H = 5, W = 6, KH = 2, KW = 3 };

static size_t place(const convolution *e, size_t n, size_t h, size_t w, size_t c, size_t height,
                    size_t width, size_t channels) {
    if (e->last) return ((n * height + h) * width + w) * channels + c;
    return ((n * channels + c) * height + h) * width + w;
}

static int64_t sum_at(const convolution *e, const void *x, const void *w, size_t n, size_t oh,
                      size_t ow, size_t o) {
    size_t channels = e->groups * e->inputs, first = o / e->outputs * e->inputs;
    int64_t sum = 0;
    for (size_t i = 0; i < e->inputs; i++)
        for (int64_t r = 0; r < KH; r++)
            for (int64_t s = 0; s < KW; s++) {
                int64_t h = (int64_t)oh * e->stride[0] + r * e->dilation[0] - e->begin[0];
                int64_t v = (int64_t)ow * e->stride[1] + s * e->dilation[1] - e->begin[1];
                if (h < 0 || h >= H || v < 0 || v >= W) continue;
                size_t at = place(e, n, (size_t)h, (size_t)v, first + i, H, W, channels);
                size_t tap = (o * e->inputs + i) * KH * KW + (size_t)(r * KW + s);
                sum += (code(QDQ_INT16, x, at) - e->x_zero) * (code(QDQ_INT8, w, tap) - e->w_zero);
            }
    return sum;
}

static void check_conv(const convolution *e) {
    int16_t x[MOST];
    int8_t w[MOST];
    int64_t y[MOST];
    size_t channels = e->groups * e->inputs, outputs = e->groups * e->outputs;
    size_t height =
        (size_t)((H + e->begin[0] + e->end[0] - (KH - 1) * e->dilation[0] - 1) / e->stride[0]) + 1;
    size_t width =
        (size_t)((W + e->begin[1] + e->end[1] - (KW - 1) * e->dilation[1] - 1) / e->stride[1]) + 1;
    size_t count = N * height * width * outputs, weights = outputs * e->inputs * KH * KW;
    fill(QDQ_INT16, x, N * H * W * channels), fill(QDQ_INT8, w, weights);
    qdq_graph *g = qdq_graph_create("conv", NULL);
    int64_t c = (int64_t)channels;
    qdq_value v =
        qdq_input(g, "x", QDQ_INT16, e->last ? QDQ_SHAPE(N, H, W, c) : QDQ_SHAPE(N, c, H, W));
    qdq_value of =
        qdq_constant(g, "w", QDQ_INT8, QDQ_SHAPE((int64_t)outputs, (int64_t)e->inputs, KH, KW), w);
    qdq_conv_integer64_attrs attrs = {.x_zero_point = zero(g, "xz", QDQ_INT16, e->x_zero),
                                      .w_zero_point = zero(g, "wz", QDQ_INT8, e->w_zero),
                                      .strides = {e->stride, 2},
                                      .dilations = {e->dilation, 2},
                                      .pads_begin = {e->begin, 2},
                                      .pads_end = {e->end, 2},
                                      .groups = QDQ_INT((int64_t)e->groups),
                                      .data_format = e->last ? QDQ_NXC : QDQ_NCX};
    qdq_output(g, "y", qdq_conv_integer64(g, v, of, attrs));
    network_tensor in = {"x", QDQ_INT16, x, N * H * W * channels};
    network_run(g, &in, 1, (network_tensor){"y", QDQ_INT64, y, count});
    qdq_graph_destroy(g);
    for (size_t n = 0; n < N; n++)
        for (size_t h = 0; h < height; h++)
            for (size_t s = 0; s < width; s++)
                for (size_t o = 0; o < outputs; o++)
                    assert_true(y[place(e, n, h, s, o, height, width, outputs)] ==
                                sum_at(e, x, w, n, h, s, o));
}

static void windows_are_summed_in_64_bits(void **state) {
    static const convolution examples[] = {
        {true, 1, 20, 7, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 0, 0},
        {true, 1, 3, 4, {2, 1}, {1, 2}, {1, 0}, {0, 2}, 0, -128},
        {false, 2, 3, 2, {1, 2}, {2, 1}, {1, 2}, {1, 1}, -32768, 127},
        {true, 5, 1, 3, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 9, 3},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(examples); i++) check_conv(&examples[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_16_bits_need_more_than_32),
        cmocka_unit_test(windows_are_summed_in_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
