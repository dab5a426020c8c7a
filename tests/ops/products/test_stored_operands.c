// SPDX-License-Identifier: Apache-2.0
// Products whose operands are float32 in the graph, where some are stored as bfloat16: those that
// other nodes make, while inputs and constants stay float32. The elements are small integers, which
// bfloat16 holds and whose sums are exact in any order.
#include "ops/gemm/gemm.h"
#include "tests/ops/products/convolutions.h"

typedef struct stored {
    const example *convolution;  // NULL: a matrix product
    unsigned made;               // bit i: another node makes operand i
} stored;

static qdq_value build_stored(qdq_graph *g, const qdq_value *v, const void *self) {
    const stored *s = self;
    qdq_value operands[3];
    for (size_t i = 0; i < 3; i++)
        operands[i] = s->made >> i & 1 ? qdq_reorder(g, v[i], (qdq_unary_attrs){0}) : v[i];
    if (s->convolution) return build(g, operands, s->convolution);
    return qdq_matmul(g, operands[0], operands[1], (qdq_matmul_attrs){.bias = operands[2]});
}

static void fill(tensor *t, uint64_t *seed) {
    for (size_t i = 0; i < tensor_count(t); i++)
        tensor_put(t, i, (double)(unit_random(seed) % 9) - 4);
}

// Every set of made operands, with weights that are an input or a constant.
static void check_sets(const example *convolution, const tensor *in, const tensor *want) {
    tensor got = tensor_of("y", QDQ_FLOAT32, want->shape);
    for (unsigned how = 0; how < 16; how++) {
        stored s = {convolution, how & 7};
        qdq_compile_options options = {.float_storage = QDQ_FLOAT_BFLOAT16};
        product_run_as(in, 3, how & 8 ? 2 : 0, build_stored, &s, &options, how % 2 ? 3 : 1, &got);
        for (size_t i = 0; i < tensor_count(want); i++)
            if (tensor_at(&got, i) != tensor_at(want, i))
                fail_msg("operands %u made%s, element %zu: got %.9g, want %.9g", s.made,
                         how & 8 ? ", constant weights" : "", i, tensor_at(&got, i),
                         tensor_at(want, i));
    }
    free(got.data);
}

static void matrices_may_be_stored_in_two_dtypes(void **unused) {
    (void)unused;
    enum {
        BLOCK = QDQ_GEMM_BLOCK_COLUMNS,
        M = 2 * QDQ_GEMM_BLOCK_ROWS + 3,
        K = 2 * QDQ_GEMM_ROW_BYTES / (int)sizeof(float) + 7
    };
    static const size_t sizes[][3] = {{1, 5, 3}, {5, 37, BLOCK + 9}, {M, K, BLOCK + 9}, {M, 7, 1}};
    for (size_t s = 0; s < UNIT_COUNT(sizes); s++) {
        size_t m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
        uint64_t seed = 11;
        tensor in[3] = {tensor_of("a", QDQ_FLOAT32, QDQ_SHAPE((int64_t)m, (int64_t)k)),
                        tensor_of("b", QDQ_FLOAT32, QDQ_SHAPE((int64_t)k, (int64_t)n)),
                        tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE((int64_t)n))};
        tensor want = tensor_of("y", QDQ_FLOAT32, QDQ_SHAPE((int64_t)m, (int64_t)n));
        for (size_t i = 0; i < 3; i++) fill(&in[i], &seed);
        for (size_t i = 0; i < m * n; i++) {
            double sum = tensor_at(&in[2], i % n);
            for (size_t j = 0; j < k; j++)
                sum += tensor_at(&in[0], i / n * k + j) * tensor_at(&in[1], j * n + i % n);
            tensor_put(&want, i, sum);
        }
        check_sets(NULL, in, &want);
        tensors_free(in, 3), free(want.data);
    }
}

// Dense, with few outputs, 1x1, depthwise, grouped, and transposed with and without overlaps.
static const example convolutions[] = {
    {.inputs = 5, .outputs = 37, .groups = 1, .in = {19, 21}, .kernel = {3, 3}, .begin = {1, 1}},
    {.inputs = 7, .outputs = 3, .groups = 1, .in = {19, 21}, .kernel = {3, 3}, .begin = {1, 0}},
    {.inputs = 37, .outputs = 33, .groups = 1, .in = {9, 21}, .kernel = {1, 1}},
    {.inputs = 11, .outputs = 11, .groups = 11, .in = {19, 40}, .kernel = {3, 3}, .begin = {1, 1}},
    {.inputs = 12, .outputs = 24, .groups = 3, .in = {17, 23}, .kernel = {3, 3}, .begin = {1, 1}},
    {.transposed = true, .inputs = 9, .outputs = 5, .groups = 1, .in = {7, 21}, .kernel = {2, 2}},
    {.transposed = true, .inputs = 9, .outputs = 35, .groups = 1, .in = {7, 9}, .kernel = {3, 3}},
};

static void convolutions_may_be_stored_in_two_dtypes(void **unused) {
    (void)unused;
    for (size_t c = 0; c < 4 * UNIT_COUNT(convolutions); c++) {
        example e = convolutions[c / 4];
        e.spatial = 2, e.batch = 2, e.bias = true, e.dtype = QDQ_FLOAT32;
        e.format = c & 1 ? QDQ_NXC : QDQ_NCX, e.spatial_last = !(c & 1);
        for (int d = 0; d < 2; d++) {
            e.strides[d] = e.transposed || c & 2 ? 2 : 1;
            e.dilations[d] = e.transposed && c & 2 ? 2 : 1;
        }
        int64_t begin[DIMS], out[DIMS];
        uint64_t seed = c;
        pads_and_sizes(&e, begin, out);
        tensor in[3] = {tensor_of("x", QDQ_FLOAT32, image(&e, e.inputs, e.in)),
                        tensor_of("w", QDQ_FLOAT32, weights_shape(&e)),
                        tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE(e.outputs))};
        tensor want = tensor_of("y", QDQ_FLOAT32, image(&e, e.outputs, out));
        for (size_t i = 0; i < 3; i++) fill(&in[i], &seed);
        reference(&e, in, begin, out, &want);
        check_sets(&e, in, &want);
        tensors_free(in, 3), free(want.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_may_be_stored_in_two_dtypes),
        cmocka_unit_test(convolutions_may_be_stored_in_two_dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
