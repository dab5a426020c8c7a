// SPDX-License-Identifier: Apache-2.0
// Quantize with constant scales for each column gives the bits of the portable kernel, which takes
// row by row, for rows that fill several groups and parts of one, short and long ones, few and
// many, on every instruction set, with results in the cache and past it.
#include <string.h>

#include "runtime/numerics/dtype.h"
#include "tests/ops/oracle.h"

enum { SKEW = 16 };  // y begins at a cache line, or so many bytes later

static qdq_graph *graph_of(size_t rows, size_t cols, qdq_dtype x, qdq_dtype y, bool zero_points) {
    float *scales = malloc(cols * sizeof *scales);
    double *zps = malloc(cols * sizeof *zps);
    assert_non_null(scales);
    assert_non_null(zps);
    for (size_t i = 0; i < cols; i++) {
        scales[i] = (float)(1 + i * 7919 % 1000) * 0x1p-12f;
        zps[i] = (double)(i * 31 % 100);
    }
    qdq_graph *g = qdq_graph_create("rows", NULL);
    qdq_value in = qdq_input(g, "x", x, QDQ_SHAPE((int64_t)rows, (int64_t)cols));
    qdq_quantize_attrs attrs = {
        .dtype = y, .qtype = QDQ_PER_CHANNEL, .axis = QDQ_INT(1), .scales = {scales, cols, false}};
    if (zero_points) attrs.zps = (qdq_numbers){zps, cols, false};
    qdq_output(g, "y", qdq_quantize(g, in, attrs));
    free(scales), free(zps);
    return g;
}

static void run(qdq_graph *g, const char *isa, void *x, size_t x_bytes, uint8_t *y, size_t n) {
    oracle_bound bound[] = {{"x", x, x_bytes}, {"y", y, n}};
    oracle_run(g, &(qdq_compile_options){.isa = isa, .layout = QDQ_PLAN_ROWS}, bound, 2);
}

// Every seventh element is a tie, k + 1/2 steps.
static void *numbers(size_t rows, size_t cols, qdq_dtype dtype) {
    float *x = malloc(rows * cols * sizeof *x);
    uint64_t random = 1;
    assert_non_null(x);
    for (size_t i = 0; i < rows * cols; i++) {
        float scale = (float)(1 + i % cols * 7919 % 1000) * 0x1p-12f;
        random = random * 6364136223846793005u + 1442695040888963407u;
        float steps = (float)(int32_t)(random >> 32) * 0x1p-23f;
        x[i] = scale * (i % 7 ? steps : 0.5f + (float)(int32_t)steps);
    }
    if (dtype == QDQ_BFLOAT16)
        for (size_t i = 0; i < rows * cols; i++)
            ((uint16_t *)(void *)x)[i] = (uint16_t)(qdq_float_bits(x[i]) >> 16);
    return x;
}

static void check_size(size_t rows, size_t cols, qdq_dtype from, qdq_dtype to, bool zero_points) {
    size_t n = rows * cols, x_bytes = n * qdq_dtype_size(from);
    qdq_graph *g = graph_of(rows, cols, from, to, zero_points);
    void *x = numbers(rows, cols, from);
    uint8_t *want = malloc(n), *memory = aligned_alloc(64, (n + 127) / 64 * 64);
    assert_non_null(want);
    assert_non_null(memory);
    run(g, "portable", x, x_bytes, want, n);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++)
        for (size_t skew = 0; skew <= SKEW; skew += SKEW) {
            if (!qdq_isa_get(isa).available) continue;
            memset(memory, 0xA5, n + SKEW);
            run(g, qdq_isa_get(isa).name, x, x_bytes, memory + skew, n);
            for (size_t i = 0; memcmp(want, memory + skew, n) != 0 && i < n; i++)
                if (memory[skew + i] != want[i])
                    fail_msg("%zu x %zu, %s, element %zu: got %#x, want %#x", rows, cols,
                             qdq_isa_get(isa).name, i, memory[skew + i], want[i]);
        }
    free(x), free(want), free(memory);
    qdq_graph_destroy(g);
}

static void rows_have_the_bits_of_the_portable_kernel(void **state) {
    static const size_t sizes[][2] = {{1, 64},   {2, 64},    {3, 100},   {9, 32},    {17, 129},
                                      {70, 200}, {300, 64},  {5, 1024},  {33, 1000}, {8, 2048},
                                      {9, 4096}, {19, 2050}, {130, 511}, {1000, 5}};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
        for (int k = 0; k < 8; k++)
            check_size(sizes[i][0], sizes[i][1], k & 1 ? QDQ_BFLOAT16 : QDQ_FLOAT32,
                       k & 2 ? QDQ_UINT8 : QDQ_INT8, k & 4);
}

// Results of 16 MiB or more.
static void rows_past_the_cache_have_the_bits_of_the_portable_kernel(void **state) {
    (void)state;
    check_size(4107, 4096, QDQ_FLOAT32, QDQ_INT8, true);
    check_size(8390, 2000, QDQ_FLOAT32, QDQ_UINT8, true);
    check_size(8193, 2112, QDQ_BFLOAT16, QDQ_INT8, false);
    check_size(174763, 96, QDQ_FLOAT32, QDQ_INT8, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_bits_of_the_portable_kernel),
        cmocka_unit_test(rows_past_the_cache_have_the_bits_of_the_portable_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
