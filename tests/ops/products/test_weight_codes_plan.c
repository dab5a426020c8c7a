// SPDX-License-Identifier: Apache-2.0
// Plans of products with constant dequantized weights: the Dequantize is replaced by packed codes,
// or by floats computed when the graph is compiled.
#include "tests/ops/oracle.h"

// x [3, 64] times weights [64, 48], dequantized from codes in one of several ways.
typedef struct pattern {
    qdq_dtype codes, real;
    bool zero_is_float, quantized, transposed, returned, added;
    size_t scales;  // 1, 48 for columns, or 64 / 32 * 48 for groups
} pattern;

enum { K = 64, N = 48 };

static qdq_graph *graph_of(const pattern *p) {
    static float scales[96], reals[K * N];
    static double zps[1] = {0.25};
    static uint8_t codes[K * N];
    static const int64_t groups[] = {32, 1}, order[] = {1, 0};
    for (size_t i = 0; i < 96; i++) scales[i] = 0.01f * (float)(i + 1);
    for (size_t i = 0; i < sizeof codes; i++) codes[i] = (uint8_t)(i * 7 % 8);
    for (size_t i = 0; i < sizeof codes; i++) reals[i] = (float)(i * 7 % 80) * 0.1f;
    qdq_graph *g = qdq_graph_create("pattern", NULL);
    qdq_value x = qdq_input(g, "x", p->real, QDQ_SHAPE(3, K)), w;
    qdq_shape shape = p->transposed ? QDQ_SHAPE(N, K) : QDQ_SHAPE(K, N);
    if (p->quantized)
        w = qdq_quantize(g, qdq_constant(g, "r", QDQ_FLOAT32, shape, reals),
                         (qdq_quantize_attrs){.name = "q",
                                              .scales = {.data = scales, .count = 1},
                                              .dtype = p->codes});
    else
        w = qdq_constant(g, "w", p->codes, shape, codes);
    qdq_dequantize_attrs attrs = {
        .name = "real", .dtype = p->real, .scales = {.data = scales, .count = p->scales}};
    if (p->scales > 1) attrs.qtype = QDQ_PER_CHANNEL;
    if (p->scales > N) attrs.qtype = QDQ_PER_GROUP, attrs.group_shape = (qdq_ints){groups, 2};
    if (p->zero_is_float) {
        attrs.zero_point_domain = QDQ_DOMAIN_FLOAT;
        attrs.zps = (qdq_numbers){.data = zps, .count = 1};
    }
    qdq_value real = qdq_dequantize(g, w, attrs), b = real;
    if (p->transposed)
        b = qdq_transpose(g, real,
                          (qdq_transpose_attrs){.name = "t", .order = {.data = order, .count = 2}});
    qdq_output(g, "y", qdq_matmul(g, x, b, (qdq_matmul_attrs){.name = "m"}));
    if (p->returned) qdq_output(g, "r2", real);
    if (p->added) qdq_output(g, "sum", qdq_relu(g, real, (qdq_unary_attrs){.name = "o"}));
    return g;
}

// Compiles for rows, unless the plan is materialized.
static qdq_plan *plan_of(const pattern *p, const qdq_compile_options *options) {
    qdq_error err = {0};
    qdq_graph *g = graph_of(p);
    qdq_compile_options in_rows = options ? *options : (qdq_compile_options){0};
    if (!in_rows.materialize) in_rows.layout = QDQ_PLAN_ROWS;
    qdq_plan *plan = qdq_graph_compile(g, &in_rows, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    qdq_graph_destroy(g);
    return plan;
}

// Checks the number of steps and the text of step `index`.
static void check_plan(const pattern *p, const qdq_compile_options *options, size_t steps,
                       size_t index, const char *text) {
    qdq_plan *plan = plan_of(p, options);
    assert_int_equal(qdq_plan_get_stats(plan).step_count, steps);
    assert_string_equal(qdq_plan_get_step(plan, index)->text, text);
    qdq_plan_destroy(plan);
}

static const pattern plain = {.codes = QDQ_INT4, .real = QDQ_FLOAT32, .scales = 96};

static void a_plan_has_no_dequantize_of_weights(void **state) {
    static const char on_integers[] = "x, w -> MatMul m on codes of b -> output y";
    static const char folded[] = "x, real -> MatMul m on folded b -> output y";
    qdq_numerics rounds = {.dequantize_step_dtype = QDQ_BFLOAT16};
    qdq_numerics stores = {.bfloat16_store = QDQ_BFLOAT16_TRUNCATE};
    (void)state;
    pattern p = plain;
    check_plan(&p, NULL, 1, 0, on_integers);
    p.real = QDQ_BFLOAT16, p.codes = QDQ_UINT8, p.scales = 48;
    check_plan(&p, NULL, 1, 0, on_integers);
    check_plan(&p, &(qdq_compile_options){.numerics = &rounds}, 1, 0, folded);
    check_plan(&p, &(qdq_compile_options){.numerics = &stores}, 1, 0, folded);
    p = plain, p.zero_is_float = true;
    check_plan(&p, NULL, 1, 0, folded);
    p = plain, p.codes = QDQ_FLOAT8_E4M3FN;
    check_plan(&p, NULL, 1, 0, folded);
    p = plain, p.quantized = true;
    check_plan(&p, NULL, 1, 0, "x, q -> MatMul m on codes of b -> output y");
    p.transposed = true, p.scales = 1;
    check_plan(&p, NULL, 1, 0, "x, t -> MatMul m on folded b -> output y");
}

static void weights_that_other_nodes_read_are_dequantized(void **state) {
    static const char on_integers[] = "x, w -> MatMul m on codes of b -> output y";
    (void)state;
    pattern p = plain;
    p.returned = true;
    check_plan(&p, NULL, 2, 1, on_integers);
    p = plain, p.added = true;  // few weights are dequantized when the graph is compiled
    check_plan(&p, NULL, 2, 0, on_integers);
}

static void a_materialized_plan_runs_every_node(void **state) {
    static const char text[] = "x, real -> MatMul m -> output y";
    (void)state;
    check_plan(&plain, &(qdq_compile_options){.float_storage = QDQ_FLOAT_BFLOAT16}, 2, 1, text);
    qdq_plan *plan = plan_of(&plain, &(qdq_compile_options){.materialize = true});
    assert_int_equal(qdq_plan_get_stats(plan).step_count, 5);
    qdq_plan_destroy(plan);
}

// 4 bits a code and a scale for each 32 of them: 2 panels of 32 columns, a zero point, two groups
// along k.
static void packed_codes_take_the_bytes_of_codes(void **state) {
    (void)state;
    qdq_plan *plan = plan_of(&plain, NULL);
    assert_int_equal(qdq_plan_get_stats(plan).constant_bytes,
                     K * 64 / 2 + 2 * 64 * sizeof(float) + 2 + 2 * 12);
    assert_int_equal(qdq_plan_get_stats(plan).arena_bytes, 0);
    assert_int_equal(qdq_plan_get_step(plan, 0)->read_bytes, 3 * K * 4 + K * N / 2);
    qdq_plan_destroy(plan);
}

// 2,800 x 2,800 floats take 31 MB. Folding them takes three times as much while the plan is made,
// which may have 64 MB besides the limit of bytes.
static void weights_that_have_no_room_to_fold_are_dequantized_in_a_run(void **state) {
    (void)state;
    enum { SIDE = 2800 };
    static uint8_t codes[SIDE * SIDE];
    for (size_t limited = 0; limited < 2; limited++) {
        qdq_error err = {0};
        qdq_limits limits = {.bytes = limited ? (size_t)48 << 20 : (size_t)1 << 30};
        qdq_graph *g = qdq_graph_create(NULL, &(qdq_graph_options){.limits = limits});
        qdq_value w = qdq_constant(g, "w", QDQ_FLOAT8_E4M3FN, QDQ_SHAPE(SIDE, SIDE), codes);
        w = qdq_dequantize(g, w,
                           (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32});
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, SIDE));
        qdq_output(g, "y", qdq_matmul(g, x, w, (qdq_matmul_attrs){.name = "m"}));
        qdq_compile_options rows = {.layout = QDQ_PLAN_ROWS};
        qdq_plan *plan = qdq_graph_compile(g, &rows, &err);
        if (!plan) fail_msg("compile: %s", err.text);
        assert_int_equal(qdq_plan_get_stats(plan).step_count, limited ? 2 : 1);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// Packed floats are not kept a second time as they were.
static void folded_weights_are_kept_once(void **state) {
    (void)state;
    pattern p = plain;
    p.zero_is_float = true;
    qdq_plan *plan = plan_of(&p, NULL);
    assert_int_equal(qdq_plan_get_stats(plan).constant_bytes, K * 64 * sizeof(float));
    qdq_plan_destroy(plan);
}

// All modes give the same bits for every pattern.
static void folding_changes_no_bits(void **state) {
    static float x[3 * K], y[2][3 * N], real[2][K * N];
    (void)state;
    for (size_t i = 0; i < 3 * K; i++) x[i] = (float)((int)(i * 37 % 101) - 50) * 0.037f;
    for (int way = 0; way < 16; way++) {
        pattern p = plain;
        p.zero_is_float = way & 1, p.quantized = way & 2, p.transposed = way & 4;
        p.returned = way & 8;
        if (p.transposed) p.scales = 1;
        for (int stored = 0; stored < 2; stored++) {
            qdq_graph *g = graph_of(&p);
            oracle_bound bound[] = {{"x", x, sizeof x},
                                    {"y", y[stored], sizeof y[0]},
                                    {"r2", real[stored], sizeof real[0]}};
            oracle_run(g, &(qdq_compile_options){.materialize = stored}, bound, p.returned ? 3 : 2);
            qdq_graph_destroy(g);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(real[0], real[1], sizeof real[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_has_no_dequantize_of_weights),
        cmocka_unit_test(weights_that_other_nodes_read_are_dequantized),
        cmocka_unit_test(a_materialized_plan_runs_every_node),
        cmocka_unit_test(packed_codes_take_the_bytes_of_codes),
        cmocka_unit_test(weights_that_have_no_room_to_fold_are_dequantized_in_a_run),
        cmocka_unit_test(folded_weights_are_kept_once),
        cmocka_unit_test(folding_changes_no_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
