// SPDX-License-Identifier: Apache-2.0
// Large matrix products of all kinds: their operands and their exact results.
#ifndef QDQ_TESTS_OPS_PRODUCTS_LARGE_MATRICES_H
#define QDQ_TESTS_OPS_PRODUCTS_LARGE_MATRICES_H

#include "tests/ops/products/integer_products.h"
#include "tests/ops/products/large_products.h"

enum { OF_BIAS = MATMUL_PORTS, OPERANDS };

typedef struct product {
    const char *name;
    large_kind kind;
    qdq_dtype a, b, real;  // real: the dtype of a float result
    size_t size;           // bytes of an element in the kernel's operands
    large_blocks blocks;
    bool zeros, wide;  // zeros: zero points other than 0; wide: codes of the whole range
    bool ends;         // codes of a are the greatest, of b the least and the greatest
    bool b_shared, transpose_a, transpose_b, bias, by_row, same_scales;
    size_t batch, m, k, n, block_k, block_n;  // batch 0: no batch dim
    large_after after;
    // Made from the fields above.
    tensor in[OPERANDS], want;
    int32_t *of_a, *of_b, *sums;  // rows of of_b and sums are `stride` apart
    size_t stride, count;         // count: parameters of b
    float *scales, a_scale, y_scale;
    double *zps, a_zero;
    int64_t extents[3];
} product;

static inline size_t product_batch(const product *p) { return p->batch ? p->batch : 1; }
static inline size_t product_matrices(const product *p) {
    return p->b_shared ? 1 : product_batch(p);
}

static inline qdq_shape product_shape(size_t batch, size_t rows, size_t columns, bool transposed) {
    int64_t r = (int64_t)(transposed ? columns : rows), c = (int64_t)(transposed ? rows : columns);
    return batch ? QDQ_SHAPE((int64_t)batch, r, c) : QDQ_SHAPE(r, c);
}

//---- Nodes ------------------------------------------------------------------

static inline qdq_dequantize_attrs product_dequantize(const product *p, int axis) {
    bool many = p->blocks != PER_TENSOR && axis >= 0;
    qdq_dequantize_attrs attrs = {
        .dtype = p->real,
        .qtype = many ? QDQ_PER_CHANNEL : QDQ_PER_TENSOR,
        .axis = QDQ_INT(many ? axis : 0),
        .scales = {.data = axis < 0 ? &p->a_scale : p->scales, .count = axis < 0 ? 1 : p->count},
        .zps = {.data = axis < 0 ? &p->a_zero : p->zps, .count = axis < 0 ? 1 : p->count}};
    if (many && p->blocks == PER_BLOCK) {
        attrs.qtype = QDQ_PER_GROUP;
        attrs.group_shape = (qdq_ints){p->extents, (size_t)p->in[B].shape.rank};
    }
    return attrs;
}

static inline qdq_value product_node(qdq_graph *g, const qdq_value *v, const void *self) {
    const product *p = self;
    qdq_value a = v[A], b = v[B];
    if (p->kind == INTEGERS) return large_follow(g, build_matmul_integer(g, v, NULL), &p->after);
    if (p->kind == QLINEAR) return large_follow(g, build_qlinear_matmul(g, v, NULL), &p->after);
    int axis = p->in[B].shape.rank - (p->transpose_b ? 2 : 1);
    if (p->kind == CODES) a = qdq_dequantize(g, a, product_dequantize(p, -1));
    if (p->kind != FLOATS) b = qdq_dequantize(g, b, product_dequantize(p, axis));
    qdq_matmul_attrs attrs = {.name = "y",
                              .bias = v[OF_BIAS],
                              .transpose_a = p->transpose_a ? QDQ_TRUE : QDQ_FALSE,
                              .transpose_b = p->transpose_b ? QDQ_TRUE : QDQ_FALSE};
    return large_follow(g, qdq_matmul(g, a, b, attrs), &p->after);
}

//---- Operands ---------------------------------------------------------------

// Which parameter element [k, j] of b uses.
static inline size_t product_block(const product *p, size_t k, size_t j) {
    if (p->blocks == PER_TENSOR) return 0;
    if (p->blocks == PER_COLUMN) return j;
    size_t along_k = (p->k + p->block_k - 1) / p->block_k;
    size_t along_n = (p->n + p->block_n - 1) / p->block_n;
    return p->transpose_b ? j / p->block_n * along_k + k / p->block_k
                          : k / p->block_k * along_n + j / p->block_n;
}

static inline void product_parameters(product *p, uint64_t *state) {
    p->count = 1 + product_block(p, p->k - 1, p->n - 1);
    p->extents[0] = -1;
    int rows = p->in[B].shape.rank - 2;
    p->extents[rows + p->transpose_b] = (int64_t)p->block_k;
    p->extents[rows + !p->transpose_b] = (int64_t)p->block_n;
    p->scales = oracle_memory(p->count * sizeof *p->scales);
    p->zps = oracle_memory(p->count * sizeof *p->zps);
    p->a_scale = p->kind == QLINEAR ? 1.0f : 0.25f;
    int codes = product_codes(p->b);
    for (size_t i = 0; i < p->count; i++) {
        p->scales[i] = p->same_scales ? 2.0f : (float)(1 << (i % 13 % 3));
        p->zps[i] =
            p->zeros && codes ? product_least(p->b) + (int)large_pick(state, (size_t)codes) : 0;
    }
    p->a_zero = p->zeros && product_codes(p->a) ? product_least(p->a) + 37 : 0;
}

static inline int product_row_zero(const product *p, size_t row) {
    return (int)p->a_zero + (p->by_row && p->zeros ? (int)(row % 5) : 0);
}

static inline void product_fill_a(product *p, uint64_t *state) {
    size_t batch = product_batch(p), size = p->m * p->k;
    p->in[A] = tensor_of("a", p->a, product_shape(p->batch, p->m, p->k, p->transpose_a));
    p->of_a = oracle_memory(batch * size * sizeof *p->of_a);
    for (size_t i = 0; i < batch * size; i++) {
        size_t r = i / p->k % p->m, k = i % p->k;
        int zero = product_row_zero(p, r);
        int x = p->ends ? product_least(p->a) + product_codes(p->a) - 1
                        : large_number(state, p->a, zero, p->wide ? 255 : 3);
        large_put(&p->in[A], p->transpose_a ? i / size * size + k * p->m + r : i, x);
        p->of_a[i] = x - zero;
    }
}

// Weights use only as many codes as keep sums within 24 bits.
static inline void product_fill_b(product *p, uint64_t *state) {
    size_t size = p->k * p->n, matrices = product_matrices(p);
    int reach = p->wide ? 255 : 3;
    if (p->kind == WEIGHTS) reach = (int)((1 << 20) / p->k) + 1;
    p->stride = (p->n + 15) / 16 * 16;
    p->of_b = calloc(matrices * p->k * p->stride, sizeof *p->of_b);
    assert_non_null(p->of_b);
    for (size_t i = 0; i < matrices * size; i++) {
        size_t k = i / p->n % p->k, j = i % p->n, block = product_block(p, k, j);
        int zero = (int)p->zps[block], scale = p->kind == WEIGHTS ? (int)p->scales[block] : 1;
        int x = large_number(state, p->b, zero, reach > 255 ? 255 : reach);
        if (p->ends) x = product_least(p->b) + (large_pick(state, 2) ? product_codes(p->b) - 1 : 0);
        large_put(&p->in[B], p->transpose_b ? i / size * size + j * p->k + k : i, x);
        p->of_b[(i / p->n) * p->stride + j] = (x - zero) * scale;
    }
}

//---- Results ----------------------------------------------------------------

static inline void product_sum_up(product *p) {
    size_t rows = product_batch(p) * p->m;
    p->sums = calloc(rows * p->stride, sizeof *p->sums);
    assert_non_null(p->sums);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < p->k; k++) {
            size_t matrix = p->b_shared ? 0 : r / p->m;
            int32_t by = p->of_a[r * p->k + k], *sums = p->sums + r * p->stride;
            const int32_t *b = p->of_b + (matrix * p->k + k) * p->stride;
            for (size_t j = 0; j < p->stride; j += 16)
                for (size_t i = 0; i < 16; i++) sums[j + i] += by * b[j + i];
        }
}

static inline double product_result(const product *p, size_t row, size_t j) {
    int32_t sum = p->sums[row * p->stride + j];
    double bias = p->bias ? tensor_at(&p->in[OF_BIAS], j) : 0;
    float scale = p->scales[p->blocks == PER_COLUMN ? j : 0] * p->a_scale;
    if (p->kind == INTEGERS) return sum;
    if (p->kind == CODES) return (double)((float)sum * scale + (float)bias);
    if (p->kind != QLINEAR) return large_round(p->real, sum + (int64_t)bias);
    if (p->by_row) scale *= (float)(1 << (row % p->m % 13 % 2));
    return large_requantized(p->a, sum, scale / p->y_scale);
}

static inline qdq_dtype product_dtype(const product *p) {
    return p->kind == INTEGERS ? QDQ_INT32 : p->kind == QLINEAR ? p->a : p->real;
}

static inline void product_expect(product *p) {
    size_t rows = product_batch(p) * p->m;
    p->want = tensor_of("want", large_dtype(product_dtype(p), &p->after),
                        product_shape(p->batch, p->m, p->n, false));
    for (size_t i = 0; i < rows * p->n; i++)
        large_put(&p->want, i, large_followed(product_result(p, i / p->n, i % p->n), &p->after));
}

static inline void product_free(product *p) {
    tensors_free(p->in, OPERANDS);
    free(p->want.data), free(p->of_a), free(p->of_b), free(p->sums), free(p->scales), free(p->zps);
}

#endif
