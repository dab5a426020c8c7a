// SPDX-License-Identifier: Apache-2.0
// Products of many rows with weight codes, whose blocks of rows are joined so that codes are
// decoded once for all of them. Each element is added up in a plain loop: one chain of fma on
// target core, chunks on target onnx (docs/onnx.md), where a dequantized operand is no constant.
#include "ops/gemm/gemm.h"
#include "tests/ops/products.h"
#include "tests/ops/products/runtime_chunks.h"

enum {
    K_BLOCK = QDQ_GEMM_ROW_BYTES / (int)sizeof(float),
    GROUP = 32,  // of k that share a scale
    MOST_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS + 37,
    MOST_DEPTH = 9 * K_BLOCK,
};

typedef struct example {
    int64_t rows, depth, columns;
    qdq_dtype codes, real;
    bool bias;
    float scales[(MOST_DEPTH + GROUP - 1) / GROUP * MOST_COLUMNS];
} example;

static qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    const example *e = self;
    int64_t group[] = {GROUP < e->depth ? GROUP : e->depth, 1};
    size_t count = (size_t)((e->depth + group[0] - 1) / group[0] * e->columns);
    qdq_value w = qdq_dequantize(g, v[1],
                                 (qdq_dequantize_attrs){
                                     .qtype = QDQ_PER_GROUP,
                                     .group_shape = {.data = group, .count = 2},
                                     .scales = {.data = e->scales, .count = count},
                                     .dtype = e->real,
                                 });
    return qdq_matmul(g, v[0], w, (qdq_matmul_attrs){.bias = v[2]});
}

static float rounded(qdq_dtype dtype, float value) {
    const small_format *f = small_format_of(dtype);
    return f ? (float)small_value(f, small_encode(f, (double)value, QDQ_FLOAT_OVERFLOW)) : value;
}

static void expect(const example *e, const char *target, const tensor *in, tensor *y) {
    size_t depth = (size_t)e->depth, columns = (size_t)e->columns;
    bool in_chunks = strcmp(target, "onnx") == 0;
    float *x = oracle_memory(depth * sizeof *x), *w = oracle_memory(depth * sizeof *w);
    for (size_t j = 0; j < columns; j++) {
        for (size_t k = 0; k < depth; k++)
            w[k] = rounded(e->real, (float)tensor_at(&in[1], k * columns + j) *
                                        e->scales[k / GROUP * columns + j]);
        for (size_t r = 0; r < (size_t)e->rows; r++) {
            for (size_t k = 0; k < depth; k++) x[k] = (float)tensor_at(&in[0], r * depth + k);
            float sum = in_chunks ? runtime_sum(x, w, depth, runtime_chunk(columns, depth))
                                  : product_sum(e->real, x, w, NULL, depth);
            if (e->bias) sum += (float)tensor_at(&in[2], j);
            tensor_put(y, r * columns + j, (double)sum);
        }
    }
    free(x), free(w);
}

static void check(example *e, const char *target) {
    uint64_t seed = (uint64_t)(e->rows + e->depth);
    tensor in[3] = {tensor_of("x", e->real, QDQ_SHAPE(e->rows, e->depth)),
                    tensor_of("w", e->codes, QDQ_SHAPE(e->depth, e->columns)),
                    tensor_of("bias", e->real, QDQ_SHAPE(e->columns))};
    tensor want = tensor_of("y", e->real, QDQ_SHAPE(e->rows, e->columns));
    tensor got = tensor_of("out", e->real, want.shape);
    if (!e->bias) in[2].name = NULL;
    for (size_t i = 0; i < tensor_count(&in[0]); i++)
        tensor_put(&in[0], i, (double)(unit_random(&seed) % 2001) / 1000 - 1);
    for (size_t i = 0; i < tensor_count(&in[1]); i++)
        tensor_put(&in[1], i,
                   product_least(e->codes) +
                       (double)(unit_random(&seed) % (uint64_t)product_codes(e->codes)));
    for (size_t i = 0; i < tensor_count(&in[2]); i++) tensor_put(&in[2], i, (double)(i % 7) - 3);
    for (size_t i = 0; i < UNIT_COUNT(e->scales); i++)
        e->scales[i] = 0.001f + (float)(unit_random(&seed) % 1000) * 1e-6f;
    expect(e, target, in, &want);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++)
        for (int threads = 1; threads <= 3 && qdq_isa_get(isa).available; threads += 2) {
            qdq_compile_options options = {.target = target, .isa = qdq_isa_get(isa).name};
            product_run_as(in, 3, ~1u, build, e, &options, threads, &got);
            for (size_t i = 0; i < tensor_count(&want); i++)
                if (tensor_at(&got, i) != tensor_at(&want, i))
                    fail_msg(
                        "%s, %s, %s codes, %s, %d threads, %d x %d x %d, element %zu: got %.9g, "
                        "want %.9g",
                        target, options.isa, qdq_dtype_name(e->codes), qdq_dtype_name(e->real),
                        threads, (int)e->rows, (int)e->depth, (int)e->columns, i,
                        tensor_at(&got, i), tensor_at(&want, i));
        }
    tensors_free(in, 3), free(want.data), free(got.data);
}

// Two and three blocks, the last one with a tile more; joined blocks, two of them and some rows.
static const int64_t rows[] = {QDQ_GEMM_BLOCK_ROWS + 13,
                               2 * QDQ_GEMM_BLOCK_ROWS + QDQ_GEMM_MOST_ROWS,
                               2 * QDQ_GEMM_JOINED_ROWS + 17};
// A k block, k blocks that have room for joined blocks, and more.
static const int64_t depths[] = {K_BLOCK - 3, 3 * K_BLOCK, MOST_DEPTH - 1};

static void rows_of_joined_blocks_have_the_sums_of_a_plain_loop(void **unused) {
    static example e;
    static const int64_t columns[] = {65, 33, 20};  // for chunks of 1, 2 and 4 k blocks
    static const qdq_dtype codes[] = {QDQ_INT4, QDQ_UINT8};
    static const qdq_dtype reals[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    (void)unused;
    for (size_t r = 0; r < UNIT_COUNT(rows); r++)
        for (size_t d = 0; d < UNIT_COUNT(depths); d++) {
            size_t i = r + d;
            if (unit_slow() && r != d) continue;
            e = (example){.rows = rows[r],
                          .depth = depths[d],
                          .columns = i % 2 && d < 2 ? MOST_COLUMNS : columns[d],
                          .codes = codes[i % 2],
                          .real = reals[r],
                          .bias = i % 2 == 0};
            check(&e, "core");
            e.real = QDQ_FLOAT32, e.bias = false;  // a long sum would begin with the bias
            check(&e, "onnx");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_joined_blocks_have_the_sums_of_a_plain_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
