// SPDX-License-Identifier: Apache-2.0
// Computed parameters of DynamicQuantize on target `onnx` for tensors with NaN, against results of
// ONNX Runtime, recorded by tools/peers/onnx_dynamic.py, by rows, by tiles and on threads.
#include "tests/crc32.h"
#include "tests/graph/targets/onnx/onnx_dynamic_1_32_x86.h"
#include "tests/ops/oracle.h"

enum { MOST = 300 * 517, SMALL = 200, PATTERNS = 6 };

static const struct {
    unsigned nan;  // of 256 elements
    float added;
} patterns[PATTERNS] = {{0, 0}, {2, 0}, {40, 200}, {128, 0}, {230, -200}, {255, 0}};

typedef struct dynamic_result {
    uint8_t y[MOST + 5];
    float s;
    uint8_t z;
} dynamic_result;

static void fill(float *x, size_t count, size_t pattern) {
    for (uint64_t i = 0; i < count; i++) {
        x[i] = ((float)(i * 40503 / 16 % 2001) - 1000) * 0.125f + patterns[pattern].added;
        if ((uint32_t)(i * 2654435761u) >> 24 < patterns[pattern].nan) x[i] = NAN;
    }
}

static void run(const char *target, const qdq_compile_options *how, const float *x, qdq_shape shape,
                int threads, dynamic_result *out) {
    qdq_error err = {0};
    size_t count = qdq_shape_count(shape);
    qdq_graph *g = qdq_graph_create("dynamic", NULL);
    qdq_compile_options options = *how;
    options.target = target;
    // A sum in front, which fuses with the reduction where it may: -0 leaves every number.
    static const float zero = -0.0f;
    qdq_value v =
        qdq_add(g, qdq_input(g, "x", QDQ_FLOAT32, shape),
                qdq_constant(g, "zero", QDQ_FLOAT32, QDQ_SHAPE(1), &zero), (qdq_binary_attrs){0});
    v = qdq_dynamic_quantize(g, v, (qdq_dynamic_quantize_attrs){.quantize.dtype = QDQ_UINT8});
    qdq_output(g, "y", v);
    qdq_output(g, "s", qdq_port(g, v, "scale"));
    qdq_output(g, "z", qdq_port(g, v, "zero_point"));
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    qdq_threads *pool = threads > 1 ? qdq_threads_create(threads, NULL, &err) : NULL;
    qdq_exec_options exec_options = {.poison = true, .parallel = qdq_parallel_threads(pool)};
    qdq_exec *exec = qdq_exec_create(plan, &exec_options, &err);
    assert_non_null(exec);
    assert_int_equal(qdq_exec_bind(exec, "x", (void *)(uintptr_t)x, count * sizeof *x, &err), 0);
    assert_int_equal(qdq_exec_bind(exec, "y", out->y, count, &err), 0);
    assert_int_equal(qdq_exec_bind(exec, "s", &out->s, sizeof out->s, &err), 0);
    assert_int_equal(qdq_exec_bind(exec, "z", &out->z, 1, &err), 0);
    qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_threads_destroy(pool);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

static uint32_t crc_of(const char *target, const qdq_compile_options *how, size_t pattern,
                       qdq_shape shape, int threads) {
    static float x[MOST];
    static dynamic_result r;
    size_t count = qdq_shape_count(shape);
    fill(x, count, pattern);
    run(target, how, x, shape, threads, &r);
    uint32_t scale = isnan(r.s) ? 0x7FC00000u : unit_bits_of_float(r.s);
    memcpy(r.y + count, &scale, sizeof scale);
    r.y[count + 4] = r.z;
    return crc32_of(r.y, count + 5);
}

static void check(const char *target, const uint32_t *want) {
    static const qdq_compile_options modes[] = {
        {.layout = QDQ_PLAN_ROWS}, {.layout = QDQ_PLAN_TILES}, {.materialize = true}};
    static uint32_t small[SMALL];
    for (size_t m = 0; m < UNIT_COUNT(modes); m++)
        for (size_t p = 0; p < PATTERNS; p++) {
            for (size_t n = 0; n < SMALL; n++)
                small[n] = crc_of(target, &modes[m], p, QDQ_SHAPE((int64_t)n + 1), 1);
            const uint32_t got[] = {crc32_of(small, sizeof small),
                                    crc_of(target, &modes[m], p, QDQ_SHAPE(37, 61), 1),
                                    crc_of(target, &modes[m], p, QDQ_SHAPE(300, 517), 1)};
            for (size_t i = 0; i < 3; i++)
                if (got[i] != want[3 * p + i])
                    fail_msg("%s, mode %zu, pattern %zu, size %zu: got %08X", target, m, p, i,
                             got[i]);
            if (crc_of(target, &modes[m], p, QDQ_SHAPE(300, 517), 3) != got[2])
                fail_msg("%s, mode %zu, pattern %zu: threads differ", target, m, p);
        }
}

// 1.31.1 gives what 1.32.0 gives.
static void nan_counts_as_in_onnx_runtime(void **state) {
    (void)state;
    check("onnx@1.31-avx2", onnx_dynamic_1_32_x86);
    check("onnx@1.32", onnx_dynamic_1_32_x86);
    check("ort@1.32-vnni", onnx_dynamic_1_32_x86);
}

// MLAS's kernel for aarch64 by hand: four lanes whose minima and maxima keep a NaN, and the
// elements behind the last four, which pass over it.
static void a_nan_in_a_vector_stays_on_aarch64(void **state) {
    (void)state;
    static dynamic_result r;
    float x[6] = {1, 2, 3, 4, NAN, 5};
    run("onnx@1.32-neon", &(qdq_compile_options){0}, x, QDQ_SHAPE(6), 1, &r);
    assert_true(r.s == 5.0f / 255);
    x[2] = NAN, x[4] = 4;
    run("onnx@1.32-neon", &(qdq_compile_options){0}, x, QDQ_SHAPE(6), 1, &r);
    assert_true(isnan(r.s));
    assert_int_equal(r.z, 255);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_counts_as_in_onnx_runtime),
        cmocka_unit_test(a_nan_in_a_vector_stays_on_aarch64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
