// SPDX-License-Identifier: Apache-2.0
// AvgPoolInteger against quotients in integers: the multiplier and the shift of a window round half
// away from zero while its sum is below 2^28.
#include "tests/network.h"

enum { N = 2, H = 5, W = 6, C = 3, COUNT = N * H * W * C, MOST = 400 };

typedef struct example {
    qdq_dtype dtype;
    qdq_data_format format;
    int64_t kernel[2], stride[2], begin[2], end[2];
    int32_t x_zero, y_zero;
} example;

static int64_t windows(const example *e, int d, int64_t in) {
    return (in + e->begin[d] + e->end[d] - e->kernel[d]) / e->stride[d] + 1;
}

static int32_t code(qdq_dtype dtype, const void *x, size_t i) {
    if (dtype == QDQ_INT16) return ((const int16_t *)x)[i];
    return dtype == QDQ_INT8 ? ((const int8_t *)x)[i] : ((const uint8_t *)x)[i];
}

static void put(qdq_dtype dtype, void *x, size_t i, int32_t v) {
    if (dtype == QDQ_INT16)
        ((int16_t *)x)[i] = (int16_t)v;
    else
        ((uint8_t *)x)[i] = (uint8_t)v;
}

static size_t place(const example *e, size_t n, size_t h, size_t w, size_t c, size_t height,
                    size_t width) {
    if (e->format == QDQ_NXC) return ((n * height + h) * width + w) * C + c;
    return ((n * C + c) * height + h) * width + w;
}

// Returns sum / count, half away from zero.
static int64_t quotient(int64_t sum, int64_t count) {
    int64_t size = sum < 0 ? -sum : sum;
    int64_t rounded = (2 * size + count) / (2 * count);
    return sum < 0 ? -rounded : rounded;
}

static int32_t mean(const example *e, const void *x, size_t n, size_t oh, size_t ow, size_t c) {
    int64_t sum = 0, count = 0;
    for (int64_t h = 0; h < H; h++)
        for (int64_t w = 0; w < W; w++) {
            int64_t i = h + e->begin[0] - (int64_t)oh * e->stride[0];
            int64_t j = w + e->begin[1] - (int64_t)ow * e->stride[1];
            if (i < 0 || i >= e->kernel[0] || j < 0 || j >= e->kernel[1]) continue;
            sum += code(e->dtype, x, place(e, n, (size_t)h, (size_t)w, c, H, W)) - e->x_zero;
            count++;
        }
    int64_t least = e->dtype == QDQ_INT16 ? -32768 : e->dtype == QDQ_INT8 ? -128 : 0;
    int64_t most = e->dtype == QDQ_INT16 ? 32767 : e->dtype == QDQ_INT8 ? 127 : 255;
    int64_t y = (count ? quotient(sum, count) : 0) + e->y_zero;
    return (int32_t)(y < least ? least : y > most ? most : y);
}

static qdq_value zero(qdq_graph *g, const char *name, qdq_dtype dtype, int32_t v) {
    uint8_t data[2];
    put(dtype, data, 0, v);
    return qdq_constant(g, name, dtype, QDQ_SHAPE(1), data);
}

static void check(const example *e) {
    int16_t x[COUNT], y[MOST];
    uint64_t random = 7;
    for (size_t i = 0; i < COUNT; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        put(e->dtype, x, i, (int32_t)(random >> 40));
    }
    size_t height = (size_t)windows(e, 0, H), width = (size_t)windows(e, 1, W);
    size_t count = N * height * width * C;
    assert_true(count <= MOST);
    qdq_graph *g = qdq_graph_create("pool", NULL);
    bool last = e->format == QDQ_NXC;
    qdq_value v = qdq_input(g, "x", e->dtype, last ? QDQ_SHAPE(N, H, W, C) : QDQ_SHAPE(N, C, H, W));
    v = qdq_avg_pool_integer(g, v,
                             (qdq_avg_pool_integer_attrs){
                                 .name = "p",
                                 .x_zero_point = zero(g, "xz", e->dtype, e->x_zero),
                                 .y_zero_point = zero(g, "yz", e->dtype, e->y_zero),
                                 .kernel = {e->kernel, 2},
                                 .strides = {e->stride, 2},
                                 .pads_begin = {e->begin, 2},
                                 .pads_end = {e->end, 2},
                                 .data_format = e->format,
                             });
    qdq_output(g, "y", v);
    network_tensor in = {"x", e->dtype, x, COUNT};
    network_run(g, &in, 1, (network_tensor){"y", e->dtype, y, count});
    qdq_graph_destroy(g);
    for (size_t n = 0; n < N; n++)
        for (size_t h = 0; h < height; h++)
            for (size_t w = 0; w < width; w++)
                for (size_t c = 0; c < C; c++)
                    assert_int_equal(code(e->dtype, y, place(e, n, h, w, c, height, width)),
                                     mean(e, x, n, h, w, c));
}

static void means_are_rounded_half_away_from_zero(void **state) {
    static const example examples[] = {
        {QDQ_INT8, QDQ_NXC, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 0, 0},
        {QDQ_INT8, QDQ_NXC, {2, 2}, {1, 2}, {0, 1}, {1, 0}, -7, 5},
        {QDQ_INT8, QDQ_NCX, {3, 2}, {2, 1}, {1, 1}, {2, 1}, 127, -128},
        {QDQ_INT8, QDQ_NXC, {5, 6}, {1, 1}, {0, 0}, {0, 0}, -128, 127},
        {QDQ_UINT8, QDQ_NXC, {4, 4}, {1, 1}, {2, 2}, {2, 2}, 128, 128},
        {QDQ_INT16, QDQ_NXC, {2, 4}, {1, 1}, {1, 1}, {1, 1}, 0, 0},
        {QDQ_INT16, QDQ_NCX, {5, 3}, {1, 1}, {2, 0}, {2, 0}, -3, 30000},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(examples); i++) check(&examples[i]);
}

static void a_window_beyond_the_border_gives_the_zero_point(void **state) {
    static const example wide = {QDQ_INT8, QDQ_NXC, {2, 2}, {2, 2}, {2, 0}, {0, 0}, 9, -11};
    (void)state;
    check(&wide);
}

static void a_kernel_far_larger_than_x_takes_no_longer(void **state) {
    enum { LARGE = 1 << 29 };
    static const example wide = {
        QDQ_INT8, QDQ_NXC, {LARGE, LARGE}, {1, 1}, {LARGE - 1, LARGE - 1}, {0, 0}, 3, -2};
    (void)state;
    check(&wide);
}

static void other_zero_points_are_refused(void **state) {
    static const int64_t ones[2] = {1, 1};
    (void)state;
    qdq_graph *g = qdq_graph_create("pool", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 2, 2, 1));
    qdq_avg_pool_integer_attrs a = {.name = "p", .kernel = {ones, 2}, .strides = {ones, 2}};
    a.x_zero_point = zero(g, "z", QDQ_INT16, 0);
    qdq_output(g, "y", qdq_avg_pool_integer(g, v, a));
    network_refuses(g, "core/port-dtype", "x_zero_point is int16");
    g = qdq_graph_create("pool", NULL);
    v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 2, 2, 1));
    a.x_zero_point = (qdq_value){0}, a.strides = (qdq_ints){0};
    qdq_output(g, "y", qdq_avg_pool_integer(g, v, a));
    network_refuses(g, "core/attr-required", "strides is missing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_rounded_half_away_from_zero),
        cmocka_unit_test(a_window_beyond_the_border_gives_the_zero_point),
        cmocka_unit_test(a_kernel_far_larger_than_x_takes_no_longer),
        cmocka_unit_test(other_zero_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
