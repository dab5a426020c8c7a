// SPDX-License-Identifier: Apache-2.0
// Convolutions of float32 with few positions on target onnx, whose chunks are longer than a k
// block, against a plain loop in the order of docs/onnx.md.
#include "ops/conv/conv_lowering.h"
#include "tests/ops/products/convolutions.h"
#include "tests/ops/products/runtime_chunks.h"

enum { K_BLOCK = QDQ_GEMM_ROW_BYTES / (int)sizeof(float), MOST = 9 * K_BLOCK };

// x beyond the border is 0.
static float result_at(const example *e, const tensor *in, const int64_t *begin, size_t positions,
                       int64_t n, int64_t c, const int64_t *o) {
    float x[MOST], w[MOST];
    int64_t outputs = e->outputs / e->groups, inputs = e->inputs / e->groups, g = c / outputs;
    size_t count = 0;
    for (int64_t i = 0; i < inputs; i++) {
        int64_t k[DIMS] = {0}, at[DIMS] = {0};
        do {
            assert_true(count < MOST);
            bool inside = under(e, begin, o, k, at);
            x[count] =
                inside ? (float)tensor_at(&in[0], image_at(e, in[0].shape, n, g * inputs + i, at))
                       : 0;
            w[count++] = (float)tensor_at(&in[1], weight_at(e, in[1].shape, g, i, c % outputs, k));
        } while (next(e->spatial, e->kernel, k));
    }
    return runtime_sum(x, w, count, runtime_chunk(positions, count)) +
           (float)tensor_at(&in[2], (size_t)c);
}

static void expect(const example *e, const tensor *in, const int64_t *begin, const int64_t *out,
                   tensor *y) {
    size_t positions = 1;
    for (int d = 0; d < e->spatial; d++) positions *= (size_t)out[d];
    for (int64_t n = 0; n < e->batch; n++)
        for (int64_t c = 0; c < e->outputs; c++) {
            int64_t o[DIMS] = {0};
            do {
                float v = result_at(e, in, begin, positions, n, c, o);
                tensor_put(y, image_at(e, y->shape, n, c, o), (double)v);
            } while (next(e->spatial, out, o));
        }
}

static void check_chunks(const example *e) {
    uint64_t seed = 23;
    int64_t begin[DIMS], out[DIMS];
    pads_and_sizes(e, begin, out);
    tensor in[3] = {tensor_of("x", QDQ_FLOAT32, image(e, e->inputs, e->in)),
                    tensor_of("weights", QDQ_FLOAT32, weights_shape(e)),
                    tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE(e->outputs))};
    tensor want = tensor_of("y", QDQ_FLOAT32, image(e, e->outputs, out));
    tensor got = tensor_of("out", QDQ_FLOAT32, want.shape);
    for (int i = 0; i < 3; i++) tensor_fill(&in[i], &seed);
    expect(e, in, begin, out, &want);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++)
        for (int threads = 1; threads <= 3 && qdq_isa_get(isa).available; threads++) {
            qdq_compile_options options = {.target = "onnx", .isa = qdq_isa_get(isa).name};
            product_run_as(in, 3, ~1u, build, e, &options, threads, &got);
            for (size_t i = 0; i < tensor_count(&want); i++)
                if (tensor_at(&got, i) != tensor_at(&want, i))
                    fail_msg(
                        "%s, %d threads, %d to %d channels, image %d x %d, element %zu of %zu: "
                        "got %.9g, want %.9g",
                        options.isa, threads, (int)e->inputs, (int)e->outputs, (int)e->in[0],
                        (int)e->in[1], i, tensor_count(&want), tensor_at(&got, i),
                        tensor_at(&want, i));
        }
    tensors_free(in, 3), free(want.data), free(got.data);
}

// Less than two chunks of 256; two and a k; one more that ends with its first k block.
static const int64_t depths[] = {2 * K_BLOCK + 1, 4 * K_BLOCK + 1, 5 * K_BLOCK};
static const int64_t images[][2] = {
    {5, QDQ_CONV_PANELS_LEAST / 5}, {8, 8}, {7, 7}, {3, 11}, {4, 8}, {3, 7}, {4, 4}};

static void sums_of_few_positions_have_longer_chunks(void **unused) {
    (void)unused;
    example e = {.spatial = 2,
                 .batch = 2,
                 .groups = 1,
                 .outputs = QDQ_CONV_PANELS_ROWS / 4 + 5,
                 .kernel = {1, 1},
                 .strides = {1, 1, 1},
                 .dilations = {1, 1, 1},
                 .bias = true,
                 .dtype = QDQ_FLOAT32,
                 .spatial_last = true,
                 .format = QDQ_NCX};
    for (size_t i = 0; i < UNIT_COUNT(images); i++)
        for (size_t d = 0; d < UNIT_COUNT(depths); d++) {
            if (unit_left_out(i + 7 * d)) continue;
            e.in[0] = images[i][0], e.in[1] = images[i][1], e.inputs = depths[d];
            check_chunks(&e);
        }
    e.outputs = 2 * QDQ_CONV_PANELS_ROWS + 7, e.batch = 1, e.in[0] = e.in[1] = 7;
    check_chunks(&e);
}

static void windows_at_the_border_have_zeros(void **unused) {
    (void)unused;
    example e = {.spatial = 2,
                 .batch = 1,
                 .groups = 2,
                 .inputs = 2 * (K_BLOCK - 5),
                 .outputs = 2 * 53,
                 .in = {7, 7},
                 .kernel = {3, 3},
                 .strides = {1, 1, 1},
                 .dilations = {1, 1, 1},
                 .begin = {1, 1},
                 .end = {1, 1},
                 .bias = true,
                 .dtype = QDQ_FLOAT32,
                 .spatial_last = true,
                 .format = QDQ_NCX};
    check_chunks(&e);
    e.in[0] = 15, e.in[1] = 13, e.strides[0] = e.strides[1] = 2;  // reads planes
    check_chunks(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_few_positions_have_longer_chunks),
        cmocka_unit_test(windows_at_the_border_have_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
