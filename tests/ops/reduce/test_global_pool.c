// SPDX-License-Identifier: Apache-2.0
// ReduceMean with global_pool on target onnx, in the order of ONNX Runtime's GlobalAveragePool.
#include "ops/reduce/order/global_pool.h"
#include "tests/ops/products.h"

static qdq_value mean_of(qdq_graph *g, const qdq_value *x, const void *self) {
    const qdq_reduce_attrs *attrs = self;
    return qdq_reduce_mean(g, x[0], *attrs);
}

// The mean of a channel, element by element.
static float pooled(const tensor *x, size_t first, size_t n) {
    float lanes[4] = {0};
    for (size_t i = 0; i < n / 4 * 4; i++) lanes[i % 4] += (float)tensor_at(x, first + i);
    float sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    for (size_t i = n / 4 * 4; i < n; i++) sum += (float)tensor_at(x, first + i);
    return sum / (float)n;
}

static void check_image(int64_t batch, int64_t channels, int64_t height, int64_t width) {
    qdq_reduce_attrs attrs = {
        .axes = QDQ_INTS(2, 3), .keep_dims = QDQ_TRUE, .global_pool = QDQ_TRUE};
    uint64_t seed = (uint64_t)(channels + height * width);
    size_t n = (size_t)(height * width);
    tensor x = tensor_of("x", QDQ_FLOAT32, QDQ_SHAPE(batch, channels, height, width));
    tensor want = tensor_of("want", QDQ_FLOAT32, QDQ_SHAPE(batch, channels, 1, 1));
    tensor out = tensor_of("out", QDQ_FLOAT32, QDQ_SHAPE(batch, channels, 1, 1));
    tensor_fill(&x, &seed);
    tensor_put(&x, n, -0.0), tensor_put(&x, tensor_count(&x) - 1, (double)NAN);
    for (size_t c = 0; c < tensor_count(&want); c++) {
        float mean = pooled(&x, c * n, n);
        tensor_put(&want, c, isnan(mean) ? (double)NAN : (double)mean);
    }
    for (int way = 0; way < 6; way++) {
        qdq_compile_options options = {.target = "onnx", .materialize = way % 2, .fast = way == 2};
        product_run_as(&x, 1, 0, mean_of, &attrs, &options, 1 + way / 2, &out);
        if (memcmp(out.data, want.data, tensor_count(&want) * 4) != 0)
            fail_msg("%d channels of %d x %d, way %d", (int)channels, (int)height, (int)width, way);
    }
    free(x.data), free(want.data), free(out.data);
}

static void means_of_images_add_in_four_lanes(void **unused) {
    (void)unused;
    for (int64_t width = 1; width < 23; width++) {
        int64_t unit = (QDQ_GLOBAL_POOL_UNIT + 7 * width - 1) / (7 * width);
        check_image(1, 2 * unit + 1, 7, width);
        check_image(2, unit - 1, 7, width);
        check_image(3, 5, 1, width);
    }
    check_image(1, 3, 41, 2 * QDQ_GLOBAL_POOL_UNIT / 41 + 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_of_images_add_in_four_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
