// SPDX-License-Identifier: Apache-2.0
// Products of float32 whose tiles store results into y: each kind of bias, in the orders of core
// and of ONNX Runtime, in every mode. The elements are small integers, whose sums are exact in any
// order, or products that underflow, whose sums are -0 in any order.
#include "ops/gemm/gemm.h"
#include "tests/ops/large_links.h"

enum {
    K_BLOCK = QDQ_GEMM_ROW_BYTES / (int)sizeof(float),
    M = 2 * QDQ_GEMM_BLOCK_ROWS + QDQ_GEMM_ROWS + 1,
    N = QDQ_GEMM_BLOCK_COLUMNS + QDQ_GEMM_COLUMNS + 5,
};

// Less than a k block; one; two; a last chunk that begins with the last k block; one that does not;
// more than the workspace holds of a block of all rows.
static const size_t depths[] = {
    5, K_BLOCK, K_BLOCK + 5, 2 * K_BLOCK + 7, 3 * K_BLOCK + 7, (QDQ_GEMM_K_BLOCKS + 2) * K_BLOCK};
static const char *const targets[] = {NULL, "onnx"};
static const qdq_shape biases[] = {
    {0}, {1, {N}}, {2, {M, 1}}, {1, {1}}, {2, {M, N}}, {2, {1, N}},
};

// The value of an element: integers, or x and weights whose products underflow with a bias of -0.
static double element(uint64_t *state, bool underflows, size_t operand) {
    static const double tiny[] = {-0x1p-100, 0x1p-100, -0.0};
    return underflows ? tiny[operand] : (double)large_pick(state, 9) - 4;
}

static tensor filled(qdq_shape shape, uint64_t *state, bool underflows, size_t operand) {
    tensor t = tensor_of(NULL, QDQ_FLOAT32, shape);
    for (size_t i = 0; i < tensor_count(&t); i++)
        tensor_put(&t, i, element(state, underflows, operand));
    return t;
}

static tensor result_of(const tensor *x, const tensor *w, const tensor *bias, bool underflows) {
    tensor y = tensor_of(NULL, QDQ_FLOAT32, QDQ_SHAPE(M, N));
    size_t k = (size_t)x->shape.dims[1];
    const float *a = x->data, *b = w->data;
    for (size_t at = 0; at < tensor_count(&y); at++) {
        double sum = underflows ? -0.0 : 0;
        for (size_t i = 0; i < k && !underflows; i++)
            sum += (double)(a[at / N * k + i] * b[i * N + at % N]);
        if (bias) sum += tensor_at(bias, large_broadcast_at(bias->shape, y.shape, at));
        tensor_put(&y, at, sum);
    }
    return y;
}

static qdq_value added(large_graph *c, const tensor *t) {
    tensor *in;
    qdq_value v = large_input(c, QDQ_FLOAT32, t->shape, &in);
    memcpy(in->data, t->data, tensor_count(t) * sizeof(float));
    return v;
}

static void check(size_t depth, const qdq_shape *shape, const char *target, bool constant,
                  bool underflows) {
    large_graph c;
    uint64_t state = large_state(depth);
    tensor x = filled(QDQ_SHAPE(M, (int64_t)depth), &state, underflows, 0);
    tensor w = filled(QDQ_SHAPE((int64_t)depth, N), &state, underflows, 1);
    tensor bias = filled(*shape, &state, underflows, 2);
    large_graph_begin(&c, target ? target : "core");
    large_say(&c, constant ? " constant b " : " b ", w.shape, QDQ_FLOAT32);
    large_say(&c, underflows ? " underflows, bias " : " bias ", *shape, QDQ_FLOAT32);
    c.target = target;
    qdq_value a = added(&c, &x);
    qdq_value b =
        constant ? qdq_constant(c.graph, "w", QDQ_FLOAT32, w.shape, w.data) : added(&c, &w);
    qdq_matmul_attrs attrs = {0};
    if (shape->rank) attrs.bias = added(&c, &bias);
    large_output(&c, qdq_matmul(c.graph, a, b, attrs),
                 result_of(&x, &w, shape->rank ? &bias : NULL, underflows));
    large_graph_check(&c, depth);
    free(x.data), free(w.data), free(bias.data);
}

static void results_are_sums_and_biases(void **unused) {
    (void)unused;
    for (size_t d = 0; d < UNIT_COUNT(depths); d++)
        for (size_t b = 0; b < UNIT_COUNT(biases); b++) {
            if (unit_left_out(d + 7 * b)) continue;
            check(depths[d], &biases[b], targets[(d + b) % 2], (d + b) / 2 % 2, false);
        }
    for (size_t d = 0; d < UNIT_COUNT(depths); d++)
        if (!unit_left_out(d)) check(depths[d], &biases[d % 2], "onnx", true, false);
}

static void sums_that_underflow_keep_their_sign(void **unused) {
    (void)unused;
    for (size_t d = 0; d < UNIT_COUNT(depths); d++)
        for (size_t i = 0; i < 4; i++)
            if (!unit_left_out(4 * d + i))
                check(depths[d], &biases[i / 2], targets[i % 2], i != 1, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_sums_and_biases),
        cmocka_unit_test(sums_that_underflow_keep_their_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
