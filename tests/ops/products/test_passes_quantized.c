// SPDX-License-Identifier: Apache-2.0
// Integer execution: which ops between Dequantize and a product run on quantized values, and what
// prevents it.
#include "tests/ops/products/integer_execution.h"
#include "tests/unit.h"

// The names of the nodes that run on integers, in order.
static const char *on_integers(qdq_graph *g, bool fast) {
    static char names[256];
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = fast}, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    size_t at = 0;
    names[0] = 0;
    for (size_t i = 0; i < qdq_plan_get_stats(plan).step_count; i++) {
        const char *text = qdq_plan_get_step(plan, i)->text, *end = strstr(text, " on codes");
        if (!end) continue;
        const char *begin = end;
        while (begin[-1] != ' ') begin--;
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%.*s", at ? " " : "",
                               (int)(end - begin), begin);
    }
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
    return names;
}

static const float quarter[] = {0.25f}, minus[] = {-0.25f}, third[] = {0.3f};
static qdq_ints ints(const int64_t *data, int n) { return (qdq_ints){data, (size_t)n}; }

static const int64_t ones[] = {1, 1}, twos[] = {2, 2}, none[] = {0, 0};

static qdq_value real(qdq_graph *g, const char *name, const float *scale, qdq_shape shape) {
    return qdq_dequantize(
        g, qdq_input(g, name, QDQ_INT8, shape),
        (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32, .scales = {.data = scale, .count = 1}});
}

static const qdq_pool_attrs halves = {.name = "p",
                                      .kernel = {twos, 2},
                                      .strides = {twos, 2},
                                      .pads_begin = {none, 2},
                                      .pads_end = {none, 2}};

static qdq_value flat(qdq_graph *g, const char *name, qdq_value x, int64_t rows) {
    int64_t shape[] = {rows, -1};
    return qdq_reshape(
        g, x,
        (qdq_reshape_attrs){.name = name, .shape = ints(shape, 2), .special_zero = QDQ_FALSE});
}

static qdq_value product(qdq_graph *g, const char *name, qdq_value a, qdq_value b) {
    return qdq_matmul(g, a, b, (qdq_matmul_attrs){.name = name});
}

// x [1, 4, 4, 2] - MaxPool p - StaticReshape f [1, 8] - MatMul m with w [8, 3].
typedef struct line {
    const float *scale;
    qdq_pool_attrs mempool;
    bool average, pool_is_returned, flat_is_returned, pool_has_reader, flat_has_reader, dead_reader;
    bool per_channel, w_is_real;
} line;

static qdq_graph *graph_of(const line *l) {
    static const float scales[] = {0.25f, 0.5f};
    qdq_graph *g = qdq_graph_create("line", NULL);
    qdq_dequantize_attrs attrs = {.dtype = QDQ_FLOAT32,
                                  .qtype = l->per_channel ? QDQ_PER_CHANNEL : QDQ_PER_TENSOR,
                                  .axis = QDQ_INT(3),
                                  .scales = {.data = l->scale, .count = 1}};
    if (l->per_channel) attrs.scales = (qdq_floats){.data = scales, .count = 2};
    qdq_value x = qdq_dequantize(g, qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 4, 4, 2)), attrs);
    qdq_pool_attrs mempool = l->mempool;
    mempool.exclude_pad = l->average ? QDQ_TRUE : QDQ_UNSET;
    qdq_value p = l->average ? qdq_avg_pool(g, x, mempool) : qdq_max_pool(g, x, mempool);
    qdq_value f = flat(g, "f", p, 1);
    qdq_value w = l->w_is_real ? qdq_input(g, "w", QDQ_FLOAT32, QDQ_SHAPE(8, 3))
                               : real(g, "w", minus, QDQ_SHAPE(8, 3));
    qdq_output(g, "y", product(g, "m", f, w));
    if (l->pool_is_returned) qdq_output(g, "p_out", p);
    if (l->flat_is_returned) qdq_output(g, "f_out", f);
    if (l->pool_has_reader) qdq_output(g, "r", qdq_relu(g, p, (qdq_unary_attrs){.name = "relu"}));
    if (l->flat_has_reader) qdq_output(g, "r", qdq_relu(g, f, (qdq_unary_attrs){.name = "relu"}));
    if (l->dead_reader) qdq_relu(g, p, (qdq_unary_attrs){.name = "dead"});
    return g;
}

static void all_ops_between_run_on_integers(void **state) {
    (void)state;
    line l = {.scale = quarter, .mempool = halves};
    assert_string_equal(on_integers(graph_of(&l), true), "p f m");
    l.dead_reader = true;
    assert_string_equal(on_integers(graph_of(&l), true), "p f m");
    assert_string_equal(on_integers(graph_of(&l), false), "");
}

static void a_reader_of_reals_makes_all_ops_between_literal(void **state) {
    (void)state;
    const line plain = {.scale = quarter, .mempool = halves};
    line l = plain;
    l.pool_is_returned = true;
    assert_string_equal(on_integers(graph_of(&l), true), "");
    l = plain, l.flat_is_returned = true;
    assert_string_equal(on_integers(graph_of(&l), true), "");
    l = plain, l.pool_has_reader = true;
    assert_string_equal(on_integers(graph_of(&l), true), "");
    l = plain, l.flat_has_reader = true;
    assert_string_equal(on_integers(graph_of(&l), true), "");
    l = plain, l.w_is_real = true;
    assert_string_equal(on_integers(graph_of(&l), true), "");
    l = plain, l.average = true;
    assert_string_equal(on_integers(graph_of(&l), true), "");
    l = plain, l.per_channel = true;
    assert_string_equal(on_integers(graph_of(&l), true), "");
}

// A negative scale would make the greatest code the least real.
static void pooling_needs_a_positive_scale(void **state) {
    (void)state;
    line l = {.scale = minus, .mempool = halves};
    assert_string_equal(on_integers(graph_of(&l), true), "");
    qdq_graph *g = qdq_graph_create("negative", NULL);
    qdq_value f = flat(g, "f", real(g, "x", minus, QDQ_SHAPE(1, 4, 2)), 1);
    qdq_output(g, "y", product(g, "m", f, real(g, "w", quarter, QDQ_SHAPE(8, 3))));
    assert_string_equal(on_integers(g, true), "f m");
}

// An empty window gives the lowest float, which has no code.
static void pooling_needs_an_element_in_each_window(void **state) {
    (void)state;
    static const int64_t three[] = {3, 3}, fives[] = {5, 5};
    line l = {.scale = quarter, .mempool = halves};
    l.mempool.pads_begin = ints(ones, 2), l.mempool.pads_end = ints(ones, 2);
    l.mempool.kernel = ints(three, 2);
    l.mempool.strides = ints(three, 2);
    assert_string_equal(on_integers(graph_of(&l), true), "p f m");
    // With 4 elements, the windows have elements -2 and 3, -1 and 4, 0 and 5: the second window is
    // empty.
    l.mempool.kernel = ints(twos, 2), l.mempool.strides = ints(ones, 2);
    l.mempool.dilations = ints(fives, 2);
    l.mempool.pads_begin = ints(twos, 2), l.mempool.pads_end = ints(ones, 2);
    l.mempool.name = "q";
    assert_string_equal(on_integers(graph_of(&l), true), "");
}

static void concat_needs_equal_parameters(void **state) {
    (void)state;
    for (int other = 0; other < 3; other++) {
        qdq_graph *g = qdq_graph_create("joined", NULL);
        qdq_value x = real(g, "x", quarter, QDQ_SHAPE(2, 4));
        qdq_value xs[] = {x, other == 2 ? qdq_input(g, "z", QDQ_FLOAT32, QDQ_SHAPE(2, 4))
                                        : real(g, "z", other ? third : quarter, QDQ_SHAPE(2, 4))};
        qdq_value c = qdq_concat(
            g, (qdq_concat_attrs){.name = "c", .xs = {.data = xs, .count = 2}, .axis = QDQ_INT(1)});
        qdq_output(g, "y", product(g, "m", c, real(g, "w", minus, QDQ_SHAPE(8, 3))));
        assert_string_equal(on_integers(g, true), other ? "" : "c m");
    }
}

static qdq_value channels(qdq_graph *g, qdq_shape shape, int64_t axis) {
    static const float scales[] = {0.25f, -0.5f, 0.125f, 0.5f};
    return qdq_dequantize(
        g, qdq_input(g, "w", QDQ_INT8, shape),
        (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32,
                               .qtype = QDQ_PER_CHANNEL,
                               .axis = QDQ_INT(axis),
                               .scales = {.data = scales, .count = (size_t)shape.dims[axis]}});
}

// Products with w [k, n], made from weights with one scale for each index of a dim.
static void scales_must_stay_along_the_columns(void **state) {
    (void)state;
    for (int way = 0; way < 6; way++) {
        static const char *const want[] = {"w2 m", "", "", "w2 m", "", ""};
        qdq_graph *g = qdq_graph_create("channels", NULL);
        qdq_value w = {0}, ws[2];
        qdq_concat_attrs twice = {.name = "w2", .xs = {.data = ws, .count = 2}};
        switch (way) {
        case 0: w = flat(g, "w2", channels(g, QDQ_SHAPE(2, 3, 4), 2), 6); break;  // [6, 4]
        case 1: w = flat(g, "w2", channels(g, QDQ_SHAPE(4, 3, 2), 0), 6); break;  // [6, 4]
        case 2: w = flat(g, "w2", channels(g, QDQ_SHAPE(6, 4), 1), 3); break;     // [3, 8]
        case 3: twice.axis = QDQ_INT(0), w = channels(g, QDQ_SHAPE(3, 4), 1); break;
        case 4: twice.axis = QDQ_INT(1), w = channels(g, QDQ_SHAPE(3, 4), 1); break;
        default:
            w = qdq_max_pool(g, channels(g, QDQ_SHAPE(1, 4, 4, 4), 3), halves);
            w = flat(g, "w2", w, 4);
        }
        ws[0] = ws[1] = w;
        if (twice.axis.set != 0) w = qdq_concat(g, twice);
        static const int64_t depth[] = {6, 6, 3, 6, 3, 4};
        qdq_output(g, "y", product(g, "m", real(g, "x", quarter, QDQ_SHAPE(5, depth[way])), w));
        assert_string_equal(on_integers(g, true), want[way]);
    }
}

// Two products read p. One of them has another operand that must be real, so p must be real, and
// then the other product stays literal too, except for operands it shares with no other node.
static void an_operand_that_must_be_real_makes_its_partners_real(void **state) {
    (void)state;
    for (int needs_real = 0; needs_real < 2; needs_real++) {
        qdq_graph *g = qdq_graph_create("partners", NULL);
        qdq_value p = flat(g, "p", real(g, "x", quarter, QDQ_SHAPE(8)), 1);
        qdq_value q = flat(g, "q", real(g, "z", quarter, QDQ_SHAPE(16)), 8);
        qdq_value o = flat(g, "o", real(g, "v", quarter, QDQ_SHAPE(8)), 1);
        qdq_output(g, "y", product(g, "m", p, real(g, "w", minus, QDQ_SHAPE(8, 3))));
        qdq_output(g, "u", product(g, "n", p, q));
        qdq_output(g, "t", product(g, "k", o, real(g, "s", minus, QDQ_SHAPE(8, 3))));
        if (needs_real) qdq_output(g, "r", qdq_relu(g, q, (qdq_unary_attrs){.name = "relu"}));
        assert_string_equal(on_integers(g, true), needs_real ? "o k" : "p q o m n k");
    }
}

// The same value is an operand, which may stay quantized, and the bias, which may not.
static void a_bias_must_be_real(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("bias", NULL);
    qdq_value p = flat(g, "p", real(g, "x", quarter, QDQ_SHAPE(8)), 1);
    qdq_value w = real(g, "w", minus, QDQ_SHAPE(8, 8));
    qdq_output(g, "y", qdq_matmul(g, p, w, (qdq_matmul_attrs){.name = "m", .bias = p}));
    assert_string_equal(on_integers(g, true), "");
}

// 10,000 nodes: compiling neither recurses nor takes a pass for each node.
static void chains_may_be_long(void **state) {
    (void)state;
    enum { LENGTH = 10000 };
    qdq_graph *g = qdq_graph_create("long", NULL);
    qdq_value x = real(g, "x", quarter, QDQ_SHAPE(2, 4));
    for (int i = 0; i < LENGTH; i++) x = flat(g, NULL, x, i % 2 ? 2 : 4);
    qdq_output(g, "y", product(g, "m", x, real(g, "w", minus, QDQ_SHAPE(4, 3))));
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = true}, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    assert_int_equal(qdq_plan_get_stats(plan).step_count, LENGTH + 1);
    for (size_t i = 0; i <= LENGTH; i++)
        assert_non_null(strstr(qdq_plan_get_step(plan, i)->text, " on codes"));
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

// Any allocation fails in turn while 64 KB of weights are folded, alone or with all that follow.
static void a_failed_allocation_is_an_error(void **state) {
    (void)state;
    static int8_t weights[256 * 256];
    size_t failed = 0;
    for (size_t n = 2;; n++) {
        unit_memory memory;
        qdq_error err = {0};
        size_t fail_at = n / 2;
        qdq_graph_options options = {.allocator = unit_memory_init(&memory, fail_at)};
        memory.once = n % 2;
        qdq_graph *g = qdq_graph_create("memory", &options);
        if (!g) continue;
        qdq_value p = flat(g, "p", real(g, "x", quarter, QDQ_SHAPE(256)), 1);
        qdq_value w = qdq_dequantize(
            g, qdq_constant(g, "w", QDQ_INT8, QDQ_SHAPE(256, 256), weights),
            (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32, .scales = {.data = minus, .count = 1}});
        w = qdq_transpose(g, w, (qdq_transpose_attrs){.name = "t"});
        qdq_output(g, "y", product(g, "m", p, w));
        qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = true}, &err);
        if (!plan) assert_int_equal(err.status, QDQ_ERR_MEMORY), failed++;
        bool done = memory.calls < fail_at;
        if (done) assert_non_null(plan);
        qdq_plan_destroy(plan);
        qdq_graph_destroy(g);
        unit_memory_check(&memory);
        if (done) break;
    }
    assert_true(failed > 3);
}

static qdq_value moved_constant(qdq_graph *g, const char *name, const int8_t *codes) {
    qdq_value c = qdq_constant(g, name, QDQ_INT8, QDQ_SHAPE(3, 3), codes);
    c = qdq_dequantize(g, c, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32});
    return qdq_transpose(g, c, (qdq_transpose_attrs){0});
}

// A product reads the codes of both constants, which move while the graph is compiled, and another
// product reads the result: x * (a^T * b^T), in whole numbers.
static void a_product_of_moved_constants_may_be_an_operand(void **state) {
    (void)state;
    static const int8_t a[9] = {1, -2, 3, 4, 5, -6, 7, 8, 9}, b[9] = {2, 3, 5, 7, -1, 0, 4, -4, 6};
    static const float x[9] = {1, 2, 3, 0, -1, 5, 2, 2, -3};
    for (int fast = 0; fast < 2; fast++) {
        float y[9];
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3, 3));
        qdq_value inner = product(g, "inner", moved_constant(g, "a", a), moved_constant(g, "b", b));
        qdq_output(g, "y", product(g, "outer", in, inner));
        qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = fast == 1}, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        assert_int_equal(qdq_plan_get_stats(plan).step_count, fast ? 2 : 1);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 9, &err), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 9, &err), QDQ_OK);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                int sum = 0;
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++)
                        sum += (int)x[3 * r + i] * a[3 * k + i] * b[3 * c + k];
                assert_true(y[3 * r + c] == (float)sum);
            }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// The codes of weights are computed while the graph is compiled: 2.6 / 0.25 is rounded to 10, and
// -9 / 0.25 is -36.
static void weights_that_a_quantize_makes_are_read_as_codes(void **state) {
    (void)state;
    static const float reals[6] = {2.6F, -9, 0.1F, 0.5F, 1, 3};
    static const int8_t codes[6] = {10, -36, 0, 2, 4, 12}, x[3] = {3, -5, 100};
    for (int fast = 0; fast < 2; fast++) {
        float y[2];
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_quantize_attrs attrs = {.scales = {.data = quarter, .count = 1}, .dtype = QDQ_INT8};
        qdq_value w = qdq_constant(g, "w", QDQ_FLOAT32, QDQ_SHAPE(3, 2), reals);
        w = qdq_quantize(g, w, attrs);
        attrs.dtype = QDQ_FLOAT32;
        w = qdq_dequantize(g, w, attrs);
        qdq_output(g, "y", product(g, "m", real(g, "x", quarter, QDQ_SHAPE(1, 3)), w));
        qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = fast == 1}, &err);
        if (!plan) fail_msg("compile: %s", err.text);
        assert_int_equal(qdq_plan_get_stats(plan).step_count, fast ? 1 : 2);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_INT8, x, 3, &err), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 2, &err), QDQ_OK);
        for (int c = 0; c < 2; c++) {
            int sum = x[0] * codes[c] + x[1] * codes[2 + c] + x[2] * codes[4 + c];
            assert_true(y[c] == (float)sum / 16);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ops_between_run_on_integers),
        cmocka_unit_test(a_reader_of_reals_makes_all_ops_between_literal),
        cmocka_unit_test(pooling_needs_a_positive_scale),
        cmocka_unit_test(pooling_needs_an_element_in_each_window),
        cmocka_unit_test(concat_needs_equal_parameters),
        cmocka_unit_test(scales_must_stay_along_the_columns),
        cmocka_unit_test(an_operand_that_must_be_real_makes_its_partners_real),
        cmocka_unit_test(a_bias_must_be_real),
        cmocka_unit_test(chains_may_be_long),
        cmocka_unit_test(a_failed_allocation_is_an_error),
        cmocka_unit_test(a_product_of_moved_constants_may_be_an_operand),
        cmocka_unit_test(weights_that_a_quantize_makes_are_read_as_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
