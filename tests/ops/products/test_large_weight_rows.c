// SPDX-License-Identifier: Apache-2.0
// A row of floats times weights that are kept as codes: each element is the sum that core, or ONNX
// Runtime, computes of the dequantized weights, bit for bit; with `fast` it is the sum in
// fixed point. Depths cross k blocks twice and leave one, two and three k over; columns
// cross panels and blocks of panels.
#include <math.h>

#include "ops/gemm/gemm.h"
#include "runtime/numerics/dtype.h"
#include "tests/ops/fixed_row.h"
#include "tests/ops/large_graph.h"

typedef enum granularity { PER_TENSOR, PER_COLUMN, PER_K, PER_BLOCK, GRANULARITIES } granularity;

typedef struct row_case {
    qdq_dtype dtype;
    granularity by;
    int64_t depth, columns, block;  // block: k that share a scale
    float *x, *scales, *reals;      // reals: depth x columns
    double *zeros;
    unsigned char *codes;
} row_case;

static float some(uint64_t *state, float most) {
    return ((float)(int)large_pick(state, 2000001) / 1e6f - 1.0f) * most;
}

static size_t block_count(const row_case *c) {
    size_t columns = (size_t)c->columns, blocks = (size_t)((c->depth + c->block - 1) / c->block);
    size_t counts[GRANULARITIES] = {1, columns, blocks, blocks * columns};
    return counts[c->by];
}

static size_t block_of(const row_case *c, size_t k, size_t j) {
    size_t columns = (size_t)c->columns, row = k / (size_t)c->block;
    size_t blocks[GRANULARITIES] = {0, j, row, row * columns + j};
    return blocks[c->by];
}

static void fill(row_case *c, uint64_t *state) {
    size_t depth = (size_t)c->depth, columns = (size_t)c->columns, blocks = block_count(c);
    bool half = c->dtype == QDQ_INT4 || c->dtype == QDQ_UINT4;
    bool sign = c->dtype == QDQ_INT4 || c->dtype == QDQ_INT8;
    int codes = half ? 16 : 256, least = sign ? -codes / 2 : 0;
    c->x = oracle_memory(depth * sizeof *c->x);
    c->scales = oracle_memory(blocks * sizeof *c->scales);
    c->zeros = oracle_memory(blocks * sizeof *c->zeros);
    c->reals = oracle_memory(depth * columns * sizeof *c->reals);
    c->codes = oracle_memory(depth * columns);
    for (size_t i = 0; i < depth; i++) c->x[i] = some(state, 3);
    for (size_t i = 0; i < blocks; i++) {
        c->scales[i] = fabsf(some(state, 0.1f)) + 1e-3f;
        c->zeros[i] = least + (int)large_pick(state, (size_t)codes);
    }
    for (size_t i = 0; i < depth * columns; i++) {
        int code = least + (int)large_pick(state, (size_t)codes);
        size_t block = block_of(c, i / columns, i % columns);
        c->codes[i] = (unsigned char)code;
        c->reals[i] = (float)(code - c->zeros[block]) * c->scales[block];
    }
}

static qdq_graph *graph_of(const row_case *c) {
    qdq_graph *g = qdq_graph_create("row", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, c->depth));
    qdq_value w = qdq_constant(g, "w", c->dtype, QDQ_SHAPE(c->depth, c->columns), c->codes);
    int64_t group[2] = {c->block, 1};
    qdq_dequantize_attrs attrs = {.scales = {c->scales, block_count(c), c->by == PER_TENSOR},
                                  .zps = {c->zeros, block_count(c), c->by == PER_TENSOR},
                                  .dtype = QDQ_FLOAT32};
    if (c->by == PER_COLUMN || c->by == PER_K)
        attrs.qtype = QDQ_PER_CHANNEL, attrs.axis = QDQ_INT(c->by == PER_COLUMN);
    if (c->by == PER_BLOCK) attrs.qtype = QDQ_PER_GROUP, attrs.group_shape = (qdq_ints){group, 2};
    w = qdq_dequantize(g, w, attrs);
    qdq_output(g, "y", qdq_matmul(g, x, w, (qdq_matmul_attrs){0}));
    return g;
}

//---- The sums ---------------------------------------------------------------

// One chain of multiply-adds in the order of k.
static float chain(const row_case *c, size_t j) {
    float sum = 0;
    for (size_t k = 0; k < (size_t)c->depth; k++)
        sum = fmaf(c->x[k], c->reals[k * (size_t)c->columns + j], sum);
    return sum;
}

static float product(const row_case *c, size_t k, size_t j) {
    volatile float rounded = c->x[k] * c->reals[k * (size_t)c->columns + j];
    return rounded;
}

// ONNX Runtime's kernel for a row (docs/onnx.md, Bits of float ops): fours, then two, then one.
static float fours(const row_case *c, size_t j) {
    size_t k = 0, depth = (size_t)c->depth;
    float sum = 0;
    for (; k + 4 <= depth; k += 4)
        sum += ((product(c, k, j) + product(c, k + 1, j)) + product(c, k + 2, j)) +
               product(c, k + 3, j);
    if (k + 2 <= depth) sum += product(c, k, j) + product(c, k + 1, j), k += 2;
    if (k < depth) sum += product(c, k, j);
    return sum;
}

static void weights_of(const row_case *c, size_t j, fixed_weight *w) {
    bool sign = c->dtype == QDQ_INT4 || c->dtype == QDQ_INT8;
    for (size_t k = 0; k < (size_t)c->depth; k++) {
        size_t at = k * (size_t)c->columns + j, block = block_of(c, k, j);
        int code = sign ? (signed char)c->codes[at] : c->codes[at];
        w[k] = (fixed_weight){block, code - (int)c->zeros[block], c->scales[block], c->reals[at]};
    }
}

static bool is_fixed(const row_case *c) {
    fixed_weight *w = oracle_memory((size_t)c->depth * sizeof *w);
    weights_of(c, 0, w);
    bool fixed = fixed_row_applies(w, (size_t)c->depth);
    free(w);
    return fixed;
}

static double largest(const float *x, size_t n) {
    float most = 0;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(x[i]));
    return (double)most;
}

// --fast, in fixed point. The sum is within the documented bound of the exact sum.
static float fixed(const row_case *c, size_t j) {
    size_t depth = (size_t)c->depth;
    double exact = 0, bound = 0, most = largest(c->x, depth);
    fixed_weight *w = oracle_memory(depth * sizeof *w);
    weights_of(c, j, w);
    float sum = fixed_row_sum(c->x, w, depth);
    for (size_t k = 0; k < depth; k++) {
        double real = (double)w[k].code_less_zero * (double)w[k].scale;
        exact += (double)c->x[k] * real;
        bound += fabs(real) * most;
    }
    double groups = (double)depth / 8 + 1;
    if (isfinite(exact) && fabs((double)sum - exact) > (groups + 6) * 0x1p-24 * bound)
        fail_msg("column %zu: %.9g is far from %.17g", j, (double)sum, exact);
    free(w);
    return sum;
}

//---- Cases ------------------------------------------------------------------

static void run(const row_case *c, const char *target, const char *isa, int threads, bool fast,
                float *y) {
    qdq_graph *g = graph_of(c);
    qdq_error err = {0};
    qdq_compile_options options = {.target = target, .isa = isa, .fast = fast};
    qdq_exec_options how = {.poison = true, .parallel = qdq_parallel_openmp(threads)};
    how.parallel.least = 1;
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    if (!plan) fail_msg("%s", err.text);
    assert_int_equal(qdq_plan_get_step(plan, 0)->scales_later, fast && is_fixed(c));
    qdq_exec *exec = qdq_exec_create(plan, &how, &err);
    if (!exec) fail_msg("%s", err.text);
    assert_int_equal(qdq_exec_bind(exec, "x", c->x, (size_t)c->depth * sizeof *c->x, &err), QDQ_OK);
    assert_int_equal(qdq_exec_bind(exec, "y", y, (size_t)c->columns * sizeof *y, &err), QDQ_OK);
    qdq_exec_run(exec);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void check(const row_case *c, const char *target, bool fast,
                  float (*sum)(const row_case *, size_t)) {
    float *y = oracle_memory((size_t)c->columns * sizeof *y);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++) {
        if (!qdq_isa_get(isa).available) continue;
        for (int threads = 1; threads <= 3; threads++) {
            run(c, target, qdq_isa_get(isa).name, threads, fast, y);
            for (size_t j = 0; j < (size_t)c->columns; j++) {
                float want = sum(c, j);
                if (isnan(want)) want = qdq_float_from_bits(0x7FC00000);
                if (qdq_float_bits(y[j]) != qdq_float_bits(want))
                    fail_msg("%s, scales %d, [%lld, %lld], block %lld, %s, %s, %d threads: "
                             "column %zu is %.9g, wanted %.9g",
                             qdq_dtype_name(c->dtype), (int)c->by, (long long)c->depth,
                             (long long)c->columns, (long long)c->block, target,
                             qdq_isa_get(isa).name, threads, j, (double)y[j], (double)want);
            }
        }
    }
    free(y);
}

static void check_all(row_case *c, uint64_t *state, size_t odd) {
    fill(c, state);
    for (size_t i = 0; i < odd; i++) {
        static const uint32_t bits[] = {0x7F800000, 0xFF800000, 0x7FC00000};
        c->x[large_pick(state, (size_t)c->depth)] = qdq_float_from_bits(bits[i % 3]);
    }
    check(c, "core", false, chain);
    check(c, "onnx", false, fours);
    check(c, "core", true, is_fixed(c) ? fixed : chain);
    check(c, "onnx", true, is_fixed(c) ? fixed : fours);
    free(c->x), free(c->scales), free(c->zeros), free(c->reals), free(c->codes);
}

static const qdq_dtype dtypes[] = {QDQ_INT4, QDQ_UINT4, QDQ_INT8, QDQ_UINT8};

static void a_row_adds_as_its_target_does(void **unused) {
    static const int64_t blocks[] = {32, 128, 6, 33, 8, 72, 256};  // two end within fours
    (void)unused;
    for (uint64_t i = 0; i < 56; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        row_case c = {
            .dtype = dtypes[i % 4],
            .by = (granularity)(i / 4 % GRANULARITIES),
            .depth = 2 * (int64_t)QDQ_GEMM_DEPTH + 4 * (int64_t)(i % 3) + (int64_t)(i % 5),
            .columns =
                (int64_t)large_across(&state, i % 2 ? QDQ_GEMM_COLUMNS : QDQ_GEMM_BLOCK_COLUMNS),
            .block = blocks[i / 8 % 7]};
        if (c.by == PER_K) c.block = 1;
        check_all(&c, &state, 0);
    }
}

// More k blocks than are kept in fixed point.
static void a_long_row_adds_part_by_part(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t state = large_state(100 + i);
        int64_t most = (int64_t)QDQ_GEMM_MOST_K_BLOCKS * QDQ_GEMM_FIXED_DEPTH;
        row_case c = {.dtype = dtypes[i],
                      .by = i % 2 ? PER_COLUMN : PER_BLOCK,
                      .depth = (i > 1 ? 2 * most : most) + (int64_t)(i * 5),
                      .columns = QDQ_GEMM_COLUMNS + 3,
                      .block = 64};
        check_all(&c, &state, 0);
    }
}

static void blocks_that_are_not_finite_are_added_as_written(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t state = large_state(200 + i);
        row_case c = {.dtype = dtypes[i % 4],
                      .by = PER_BLOCK,
                      .depth = 6 * QDQ_GEMM_FIXED_DEPTH + 3 * (int64_t)i,
                      .columns = 2 * QDQ_GEMM_COLUMNS - 1,
                      .block = 32};
        check_all(&c, &state, 1 + i % 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_adds_as_its_target_does),
        cmocka_unit_test(a_long_row_adds_part_by_part),
        cmocka_unit_test(blocks_that_are_not_finite_are_added_as_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
