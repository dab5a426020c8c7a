// SPDX-License-Identifier: Apache-2.0
// Target `ttnn` computes elementwise ops as its chip does, in every mode and on every instruction
// set: worked examples, on both chips and with IEEE arithmetic.
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { REPEATS = 700 };  // more than a part of a kernel

static const char *const targets[] = {"ttnn@wormhole", "ttnn@blackhole", "ttnn@ieee"};

// Patterns of float32 or bfloat16; the results on Wormhole, on Blackhole, and by IEEE.
typedef struct example {
    const char *op;
    qdq_dtype dtype;
    uint32_t a, b, want[3];
} example;

static const example examples[] = {
    {"Add", QDQ_FLOAT32, 0x80000000, 0x80000000, {0, 0x80000000, 0x80000000}},
    {"Add", QDQ_FLOAT32, 0xFFC00000, 0x3F800000, {0xFF800001, 0x7FC00000, 0x7FC00000}},
    {"Subtract", QDQ_FLOAT32, 0x80000000, 0, {0, 0x80000000, 0x80000000}},
    {"Multiply", QDQ_FLOAT32, 0x80800000, 0x3F000000, {0, 0x80000000, 0x80400000}},
    {"Divide", QDQ_FLOAT32, 0x3F800000, 0x7F800000, {0, 0, 0}},
    {"Minimum", QDQ_FLOAT32, 0x3F800000, 0x7FC00000, {0x3F800000, 0x3F800000, 0x7FC00000}},
    {"Maximum", QDQ_FLOAT32, 0x3F800000, 0xFFC00000, {0x3F800000, 0x3F800000, 0x7FC00000}},
    {"BiasAdd", QDQ_FLOAT32, 0x80000000, 0x80000000, {0, 0x80000000, 0x80000000}},
    {"ReLU", QDQ_FLOAT32, 0xFFC00000, 0, {0, 0, 0x7FC00000}},
    {"Reciprocal", QDQ_FLOAT32, 0x3CF5C28F, 0, {0x42055555, 0x42055555, 0x42055556}},
    {"Add", QDQ_BFLOAT16, 0x3F80, 0x3B80, {0x3F81, 0x3F81, 0x3F80}},
    {"Multiply", QDQ_BFLOAT16, 0x7F80, 0x0000, {0, 0, 0x7FC0}},
    {"ReLU", QDQ_BFLOAT16, 0x7FC0, 0, {0x7F80, 0x7F80, 0x7FC0}},
};

static qdq_value add_op(qdq_graph *g, const example *e, qdq_value a, qdq_value b) {
    if (strcmp(e->op, "BiasAdd") == 0) return qdq_bias_add(g, a, b, (qdq_bias_add_attrs){0});
    if (strcmp(e->op, "ReLU") == 0 || strcmp(e->op, "Reciprocal") == 0) {
        qdq_unary_attrs attrs = {.x = a};
        return qdq_add_node(g, e->op, &attrs, sizeof attrs);
    }
    qdq_binary_attrs attrs = {.a = a, .b = b};
    return qdq_add_node(g, e->op, &attrs, sizeof attrs);
}

// One column, so that BiasAdd has a single channel.
static qdq_graph *graph_of(const example *e) {
    qdq_graph *g = qdq_graph_create("one", NULL);
    bool bias = strcmp(e->op, "BiasAdd") == 0;
    qdq_value a = qdq_input(g, "a", e->dtype, QDQ_SHAPE(REPEATS, 1));
    qdq_value b = qdq_input(g, "b", e->dtype, bias ? QDQ_SHAPE(1) : QDQ_SHAPE(REPEATS, 1));
    qdq_output(g, "y", add_op(g, e, a, b));
    return g;
}

static void store(qdq_dtype dtype, uint32_t bits, void *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (dtype == QDQ_FLOAT32)
            ((uint32_t *)out)[i] = bits;
        else
            ((uint16_t *)out)[i] = (uint16_t)bits;
}

static void run(qdq_graph *g, const qdq_compile_options *options, const example *e, void *y) {
    static uint32_t x[REPEATS];
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    if (!plan) print_error("%s\n", err.text);
    assert_non_null(plan);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_non_null(exec);
    size_t b_count = strcmp(e->op, "BiasAdd") == 0 ? 1 : REPEATS;
    store(e->dtype, e->a, x, REPEATS);
    assert_int_equal(qdq_exec_write(exec, "a", e->dtype, x, REPEATS, &err), QDQ_OK);
    store(e->dtype, e->b, x, b_count);
    assert_int_equal(qdq_exec_write(exec, "b", e->dtype, x, b_count, &err), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", e->dtype, y, REPEATS, &err), QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

static void check(const example *e, int target, qdq_compile_options options) {
    static uint32_t y[REPEATS], want[REPEATS];
    qdq_graph *g = graph_of(e);
    options.target = targets[target];
    run(g, &options, e, y);
    store(e->dtype, e->want[target], want, REPEATS);
    size_t size = qdq_dtype_size(e->dtype);
    if (memcmp(y, want, size * REPEATS) != 0)
        fail_msg("%s of %08X and %08X on %s: got %08X, want %08X", e->op, (unsigned)e->a,
                 (unsigned)e->b, targets[target], (unsigned)y[0], (unsigned)want[0]);
    qdq_graph_destroy(g);
}

static void worked_examples_hold_in_every_mode(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(examples); i++)
        for (int t = 0; t < 3; t++) {
            check(&examples[i], t, (qdq_compile_options){0});
            check(&examples[i], t, (qdq_compile_options){.layout = QDQ_PLAN_TILES});
            check(&examples[i], t, (qdq_compile_options){.materialize = true});
            for (size_t k = 0; qdq_isa_get(k).name; k++)
                if (qdq_isa_get(k).available)
                    check(&examples[i], t, (qdq_compile_options){.isa = qdq_isa_get(k).name});
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_examples_hold_in_every_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
