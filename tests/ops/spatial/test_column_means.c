// SPDX-License-Identifier: Apache-2.0
// AvgPool with columns_first on target onnx, in the orders of ONNX Runtime's MlasPool, in both data
// formats. tests/onnx/models/float_pools has results of ONNX Runtime.
#include "tests/ops/products.h"

enum { LINE = 2045 };

typedef struct window {
    int64_t in[2], kernel[2], stride[2], pad[2];
    bool exclude;
} window;

static qdq_value mean_of(qdq_graph *g, const qdq_value *x, const void *self) {
    return qdq_avg_pool(g, x[0], *(const qdq_pool_attrs *)self);
}

static bool is_columns(const window *w) {
    return w->stride[1] <= 2 && w->kernel[0] <= 32 && w->kernel[1] <= 32 &&
           w->in[1] + 2 * w->pad[1] <= LINE;
}

static bool is_image(const window *w) {
    bool is = true;
    for (int i = 0; i < 2; i++)
        is = is && w->in[i] == w->kernel[i] && w->stride[i] == 1 && !w->pad[i];
    return is;
}

// The sum of the elements of a window at (top, left), element by element; at[i] is element i of an
// image of one channel.
static float sum_of(const window *w, const float *at, int64_t top, int64_t left, float *count) {
    float sum = 0, part = 0, lanes[4] = {0};
    int64_t n = w->in[0] * w->in[1];
    *count = 0;
    for (int64_t i = 0; is_image(w) && i < n / 4 * 4; i++) lanes[i % 4] += at[i];
    if (is_image(w)) {
        sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]), *count = (float)n;
        for (int64_t i = n / 4 * 4; i < n; i++) sum += at[i];
        return sum;
    }
    for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
        bool columns = is_columns(w);
        int64_t row = top + (columns ? k % w->kernel[0] : k / w->kernel[1]);
        int64_t column = left + (columns ? k / w->kernel[0] : k % w->kernel[1]);
        bool inside = row >= 0 && row < w->in[0] && column >= 0 && column < w->in[1];
        if (columns && k % w->kernel[0] == 0) part = column >= 0 && column < w->in[1] ? -0.0f : 0;
        if (inside) *count += 1;
        if (inside && columns) part += at[row * w->in[1] + column];
        if (inside && !columns) sum += at[row * w->in[1] + column];
        if (columns && k % w->kernel[0] == w->kernel[0] - 1)
            sum = k < w->kernel[0] ? part : sum + part;
    }
    return sum;
}

// Element `i` of channel c of image n in either format.
static size_t place(bool last, size_t n, size_t c, size_t channels, size_t i, size_t size) {
    return last ? (n * size + i) * channels + c : (n * channels + c) * size + i;
}

static void expect_means(const window *w, bool last, size_t channels, const tensor *x,
                         tensor *want) {
    size_t size = (size_t)(w->in[0] * w->in[1]), count = (size_t)want->shape.dims[last ? 1 : 2];
    size_t width = (size_t)want->shape.dims[last ? 2 : 3];
    float *image = malloc(size * sizeof *image);
    for (size_t n = 0; n < 2; n++)
        for (size_t c = 0; c < channels; c++) {
            for (size_t i = 0; i < size; i++)
                image[i] = (float)tensor_at(x, place(last, n, c, channels, i, size));
            for (size_t i = 0; i < count * width; i++) {
                float seen, sum = sum_of(w, image, (int64_t)(i / width) * w->stride[0] - w->pad[0],
                                         (int64_t)(i % width) * w->stride[1] - w->pad[1], &seen);
                float mean = sum / (w->exclude ? seen : (float)(w->kernel[0] * w->kernel[1]));
                tensor_put(want, place(last, n, c, channels, i, count * width),
                           isnan(mean) ? (double)NAN : (double)mean);
            }
        }
    free(image);
}

static void check(window w, bool last, size_t channels) {
    int64_t out[2], c = (int64_t)channels;
    for (int i = 0; i < 2; i++) out[i] = (w.in[i] + 2 * w.pad[i] - w.kernel[i]) / w.stride[i] + 1;
    qdq_pool_attrs attrs = {.kernel = {w.kernel, 2},
                            .strides = {w.stride, 2},
                            .pads_begin = {w.pad, 2},
                            .pads_end = {w.pad, 2},
                            .exclude_pad = w.exclude ? QDQ_TRUE : QDQ_FALSE,
                            .data_format = last ? QDQ_NXC : QDQ_NCX,
                            .columns_first = QDQ_TRUE};
    qdq_shape in = last ? QDQ_SHAPE(2, w.in[0], w.in[1], c) : QDQ_SHAPE(2, c, w.in[0], w.in[1]);
    qdq_shape y = last ? QDQ_SHAPE(2, out[0], out[1], c) : QDQ_SHAPE(2, c, out[0], out[1]);
    uint64_t seed = (uint64_t)(w.in[1] + w.kernel[0]);
    tensor x = tensor_of("x", QDQ_FLOAT32, in), want = tensor_of("want", QDQ_FLOAT32, y);
    tensor got = tensor_of("got", QDQ_FLOAT32, y);
    tensor_fill(&x, &seed);
    for (size_t i = 0; i < tensor_count(&x); i += 3) tensor_put(&x, i, -0.0);
    tensor_put(&x, tensor_count(&x) - 1, (double)NAN);
    expect_means(&w, last, channels, &x, &want);
    for (int way = 0; way < 4; way++) {
        qdq_compile_options options = {.target = "onnx", .materialize = way % 2};
        product_run_as(&x, 1, 0, mean_of, &attrs, &options, 1 + way / 2, &got);
        if (memcmp(got.data, want.data, tensor_count(&want) * 4) != 0)
            fail_msg("%d x %d, kernel %d x %d, way %d, channels %s", (int)w.in[0], (int)w.in[1],
                     (int)w.kernel[0], (int)w.kernel[1], way, last ? "last" : "first");
    }
    free(x.data), free(want.data), free(got.data);
}

static void columns_of_a_window_are_added_first(void **unused) {
    (void)unused;
    static const window windows[] = {{{9, 11}, {3, 3}, {1, 1}, {1, 1}, true},
                                     {{9, 11}, {3, 3}, {1, 1}, {1, 1}, false},
                                     {{9, 12}, {5, 4}, {3, 2}, {2, 3}, true},
                                     {{7, 6}, {7, 6}, {1, 1}, {0, 0}, true},
                                     {{7, 13}, {2, 3}, {1, 3}, {0, 1}, true},
                                     {{40, 3}, {33, 2}, {1, 1}, {0, 0}, true},
                                     {{4, LINE}, {2, 2}, {2, 2}, {0, 0}, true},
                                     {{4, LINE + 1}, {2, 2}, {2, 2}, {0, 0}, true},
                                     {{4, LINE - 4}, {3, 5}, {1, 1}, {1, 2}, false}};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        check(windows[i], false, 3);
        check(windows[i], true, 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_a_window_are_added_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
