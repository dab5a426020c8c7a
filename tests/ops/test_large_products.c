// SPDX-License-Identifier: Apache-2.0
// Products of matrices larger than every block, chunk and panel that they are cut into. Operands are
// small whole numbers, so every order of summation is exact and the result is compared for equality
// with integer arithmetic.
#include "products.h"

typedef struct sizes {
    size_t rows, depth, columns;
} sizes;

static qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    (void)self;
    return qdq_matmul(g, v[0], v[1], (qdq_matmul_attrs){.name = "y"});
}

static void fill(tensor *t, uint64_t *seed) {
    for (size_t i = 0; i < tensor_count(t); i++)
        tensor_put(t, i, (int)(oracle_random(seed) >> 20 & 7) - 3);
}

static void multiply(const tensor *a, const tensor *b, const sizes *s, tensor *y) {
    int64_t *sums = oracle_memory(s->columns * sizeof *sums);
    for (size_t r = 0; r < s->rows; r++) {
        memset(sums, 0, s->columns * sizeof *sums);
        for (size_t k = 0; k < s->depth; k++) {
            int64_t factor = (int64_t)tensor_at(a, r * s->depth + k);
            for (size_t c = 0; c < s->columns; c++)
                sums[c] += factor * (int64_t)tensor_at(b, k * s->columns + c);
        }
        for (size_t c = 0; c < s->columns; c++)
            tensor_put(y, r * s->columns + c, (double)sums[c]);
    }
    free(sums);
}

// The last block of rows is partial and fits in the workspace where whole blocks do not, and B
// exceeds the cache, so that all rows are visited again for the next columns.
static void test_rows_are_packed_again_for_the_next_columns(void **state) {
    (void)state;
    const sizes s = {112, 1160, 320};
    uint64_t seed = 1;
    tensor in[] = {
        tensor_of("a", QDQ_FLOAT32, QDQ_SHAPE((int64_t)s.rows, (int64_t)s.depth)),
        tensor_of("b", QDQ_FLOAT32, QDQ_SHAPE((int64_t)s.depth, (int64_t)s.columns)),
    };
    tensor want = tensor_of("y", QDQ_FLOAT32, QDQ_SHAPE((int64_t)s.rows, (int64_t)s.columns));
    for (size_t i = 0; i < 2; i++) fill(&in[i], &seed);
    multiply(&in[0], &in[1], &s, &want);
    product_check("112x1160x320", in, 2, build, NULL, &want);
    tensors_free(in, 2);
    free(want.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_packed_again_for_the_next_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
