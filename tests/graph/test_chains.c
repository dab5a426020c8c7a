// SPDX-License-Identifier: Apache-2.0
// Chains whose links are run in strips of several blocks, or two as one table.
#include <qdq/qdq.h>

#include "tests/unit.h"

// x -> Quantize -> Dequantize and so on, with other scales each time, then a DynamicQuantize. With
// `seen` what the second Dequantize makes is an output too.
static qdq_graph *long_chain(int64_t count, qdq_dtype middle, bool seen) {
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(count));
    for (int i = 0; i < 4; i++) {
        float scale = 0.3f + 0.17f * (float)i;
        qdq_quantize_attrs q = {.scales = QDQ_SCALE(scale), .zps = QDQ_ZP(i), .dtype = QDQ_INT8};
        qdq_dequantize_attrs d = {.scales = QDQ_SCALE(scale), .zps = QDQ_ZP(i), .dtype = middle};
        if (i == 2) q.dtype = QDQ_UINT8;
        v = qdq_quantize(g, v, q);
        v = qdq_dequantize(g, v, d);
        if (i == 1 && seen) qdq_output(g, "seen", v);
    }
    qdq_dynamic_quantize_attrs dynamic = {.quantize = {.dtype = QDQ_INT8}};
    qdq_value y = qdq_dynamic_quantize(g, v, dynamic);
    qdq_output(g, "v", v), qdq_output(g, "y", y), qdq_output(g, "scale", qdq_port(g, y, "scale"));
    return g;
}

// Rounding happens link by link, whatever links are run as one and in what strips.
static void long_chains_give_the_bits_of_their_single_nodes(void **state) {
    static const int64_t counts[] = {1, 1023, 1025, 4095, 4096, 4097, 9001};
    static const qdq_dtype middles[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    static float x[9001];
    static unsigned char got[2][4][9001 * 4];
    (void)state;
    uint64_t random = 5;
    for (size_t i = 0; i < UNIT_COUNT(x); i++)
        x[i] = (float)((int64_t)(unit_random(&random) % 4001) - 2000) / 32.0f;
    for (size_t i = 0; i < UNIT_COUNT(counts) * 3 * 2; i++) {
        int64_t count = counts[i / 6];
        qdq_graph *g = long_chain(count, middles[i % 3], i / 3 % 2 == 1);
        for (int k = 0; k < 2; k++) {
            qdq_compile_options options = {.materialize = k == 1};
            qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
            qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
            assert_non_null(exec);
            qdq_exec_write(exec, "x", QDQ_FLOAT32, x, (size_t)count, NULL);
            qdq_exec_run(exec);
            for (size_t o = 0; o < qdq_plan_output_count(plan); o++) {
                const qdq_tensor_info *info = qdq_plan_output(plan, o);
                size_t n = info->bytes / qdq_dtype_size(info->dtype);
                qdq_exec_read(exec, info->name, info->dtype, got[k][o], n, NULL);
            }
            qdq_exec_destroy(exec), qdq_plan_destroy(plan);
        }
        assert_memory_equal(got[0], got[1], sizeof got[0]);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_chains_give_the_bits_of_their_single_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
