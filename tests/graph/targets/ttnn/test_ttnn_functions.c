// SPDX-License-Identifier: Apache-2.0
// Target `ttnn` computes functions of one element as the vector unit of its chip does: all 65,536
// bfloat16 have the checksums of published vectors, in every layout and on every instruction set.
#include <qdq/qdq.h>

#include "tests/runtime/tenstorrent/sfpu_cases.h"

enum { ALL = 65536, FEW = 600 };  // a tensor of FEW elements needs no table

typedef struct function {
    const char *op;
    qdq_sfpu_op program;
    float alpha, beta;
    bool approximate;
} function;

static const function functions[] = {
    {"Abs", QDQ_SFPU_ABS, 0, 0, false},
    {"Ceil", QDQ_SFPU_CEIL, 0, 0, false},
    {"Elu", QDQ_SFPU_ELU, 1, 0, false},
    {"Erf", QDQ_SFPU_ERF, 0, 0, false},
    {"Exp", QDQ_SFPU_EXP, 0, 0, false},
    {"Floor", QDQ_SFPU_FLOOR, 0, 0, false},
    {"GELU", QDQ_SFPU_GELU, 0, 0, false},
    {"HardSigmoid", QDQ_SFPU_HARD_SIGMOID, 1.0f / 6, 0.5f, false},
    {"HardSwish", QDQ_SFPU_HARD_SWISH, 0, 0, false},
    {"LeakyReLU", QDQ_SFPU_LEAKY_RELU, 0.01f, 0, false},
    {"Log", QDQ_SFPU_LOG, 0, 0, false},
    {"Log1p", QDQ_SFPU_LOG1P, 0, 0, false},
    {"Mish", QDQ_SFPU_MISH, 0, 0, false},
    {"Neg", QDQ_SFPU_NEG, 0, 0, false},
    {"ReLU6", QDQ_SFPU_RELU6, 0, 0, false},
    {"Reciprocal", QDQ_SFPU_RECIPROCAL, 0, 0, false},
    {"Round", QDQ_SFPU_ROUND, 0, 0, false},
    {"Rsqrt", QDQ_SFPU_RSQRT, 0, 0, false},
    {"SiLU", QDQ_SFPU_SILU, 0, 0, false},
    {"Sigmoid", QDQ_SFPU_SIGMOID, 0, 0, false},
    {"Sign", QDQ_SFPU_SIGN, 0, 0, false},
    {"Softplus", QDQ_SFPU_SOFTPLUS, 0, 0, false},
    {"Sqrt", QDQ_SFPU_SQRT, 0, 0, false},
    {"Square", QDQ_SFPU_SQUARE, 0, 0, false},
    {"Tanh", QDQ_SFPU_TANH, 0, 0, false},
    {"Trunc", QDQ_SFPU_TRUNC, 0, 0, false},
    {"Exp", QDQ_SFPU_EXP, 0, 0, true},
    {"GELU", QDQ_SFPU_GELU, 0, 0, true},
    {"Rsqrt", QDQ_SFPU_RSQRT, 0, 0, true},
    {"Sqrt", QDQ_SFPU_SQRT, 0, 0, true},
    {"Tanh", QDQ_SFPU_TANH, 0, 0, true},
    {"Log", QDQ_SFPU_LOG, 0, 0, true},
    {"Sigmoid", QDQ_SFPU_SIGMOID, 0, 0, true},
    {"Erf", QDQ_SFPU_ERF, 0, 0, true},
    {"Log1p", QDQ_SFPU_LOG1P, 0, 0, true},
    {"Mish", QDQ_SFPU_MISH, 0, 0, true},
};

static const char *const targets[2] = {"ttnn@wormhole", "ttnn@blackhole"};

static qdq_value add(qdq_graph *g, const function *f, qdq_value x) {
    const qdq_float alpha = QDQ_FLOAT(f->alpha), beta = QDQ_FLOAT(f->beta);
    if (f->program == QDQ_SFPU_HARD_SIGMOID)
        return qdq_hard_sigmoid(g, x, (qdq_hard_sigmoid_attrs){.alpha = alpha, .beta = beta});
    const qdq_bool mode = f->approximate ? QDQ_TRUE : QDQ_UNSET;
    if (f->program == QDQ_SFPU_GELU)
        return qdq_gelu(g, x, (qdq_gelu_attrs){.fast_and_approximate_mode = mode});
    if (f->program == QDQ_SFPU_TANH) {
        qdq_tanh_attrs attrs = {.x = x, .fast_and_approximate_mode = mode};
        return qdq_add_node(g, f->op, &attrs, sizeof attrs);
    }
    if (f->approximate) {
        qdq_approximate_attrs attrs = {.x = x, .fast_and_approximate_mode = mode};
        return qdq_add_node(g, f->op, &attrs, sizeof attrs);
    }
    if (f->alpha != 0) {
        qdq_alpha_attrs attrs = {.x = x, .alpha = alpha};
        return qdq_add_node(g, f->op, &attrs, sizeof attrs);
    }
    qdq_unary_attrs attrs = {.x = x};
    return qdq_add_node(g, f->op, &attrs, sizeof attrs);
}

// Runs a function on `count` elements of a dtype.
static void run(const function *f, qdq_dtype dtype, const qdq_compile_options *options,
                const void *x, void *y, size_t count) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("one", NULL);
    qdq_shape shape = count == ALL ? QDQ_SHAPE(512, 128) : QDQ_SHAPE(FEW / 40, 40);
    qdq_value in = qdq_input(g, "x", dtype, shape);
    qdq_output(g, "y", add(g, f, in));
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    if (!plan) print_error("%s\n", err.text);
    assert_non_null(plan);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_non_null(exec);
    assert_int_equal(qdq_exec_write(exec, "x", dtype, x, count, &err), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", dtype, y, count, &err), QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

//---- bfloat16 ---------------------------------------------------------------

static uint64_t checksum_of(const uint16_t *y) {
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < ALL; i++) {
        sum = (sum ^ (y[i] & 0xFF)) * 0x100000001B3u;
        sum = (sum ^ (y[i] >> 8)) * 0x100000001B3u;
    }
    return sum;
}

// True if ttnn has the mode and one kernel for both.
static bool ignores_mode(const function *f) {
    return f->program == QDQ_SFPU_ERF || f->program == QDQ_SFPU_LOG1P ||
           f->program == QDQ_SFPU_MISH;
}

// Returns the case of a function with its usual parameters on a chip.
static const sfpu_case *case_of(const function *f, int chip) {
    bool approximate = f->approximate && !ignores_mode(f);
    for (int i = 0; i < SFPU_CASES; i++) {
        const sfpu_case *c = &sfpu_cases[i];
        if ((c->vectors || c->approximate) && c->op == f->program &&
            c->approximate == approximate && c->generation == TABLES && c->checksum[chip])
            return c;
    }
    return NULL;
}

static uint16_t x[ALL], y[ALL], few[FEW];

static void check(const function *f, int chip, qdq_compile_options options) {
    const sfpu_case *c = case_of(f, chip);
    assert_non_null(c);
    options.target = targets[chip];
    for (size_t i = 0; i < ALL; i++) x[i] = (uint16_t)i;
    run(f, QDQ_BFLOAT16, &options, x, y, ALL);
    if (checksum_of(y) != c->checksum[chip]) fail_msg("%s on %s differs", f->op, targets[chip]);
    for (size_t i = 0; i < FEW; i++) x[i] = (uint16_t)(i * 109);
    run(f, QDQ_BFLOAT16, &options, x, few, FEW);
    for (size_t i = 0; i < FEW; i++)
        if (few[i] != y[x[i]])
            fail_msg("%s on %s of %04X: %04X without a table, %04X with one", f->op, targets[chip],
                     (unsigned)x[i], (unsigned)few[i], (unsigned)y[x[i]]);
}

static void all_bfloat16_have_the_published_results(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(functions); i++)
        for (int chip = 0; chip < 2; chip++) {
            check(&functions[i], chip, (qdq_compile_options){0});
            check(&functions[i], chip, (qdq_compile_options){.layout = QDQ_PLAN_TILES});
            check(&functions[i], chip, (qdq_compile_options){.materialize = true});
        }
    for (size_t k = 0; qdq_isa_get(k).name; k++)
        if (qdq_isa_get(k).available)
            check(&functions[0], 0, (qdq_compile_options){.isa = qdq_isa_get(k).name});
}

//---- float32 ---------------------------------------------------------------

// Samples of the published vectors.
static void float32_goes_through_the_wide_destination(void **state) {
    (void)state;
    static const struct {
        function f;
        uint32_t x, want[2];
    } samples[] = {
        {{"Exp", QDQ_SFPU_EXP, 0, 0, false}, 0x3FFACC94, {0x40E308F5, 0x40E308F5}},
        {{"Exp", QDQ_SFPU_EXP, 0, 0, false}, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {{"Sigmoid", QDQ_SFPU_SIGMOID, 0, 0, false}, 0x3FFACC94, {0x3F605FFB, 0x3F605FFA}},
        {{"Tanh", QDQ_SFPU_TANH, 0, 0, false}, 0xBE65B07E, {0xBE61E9CB, 0xBE61E9CB}},
    };
    static uint32_t in[FEW], out[FEW];
    for (size_t k = 0; k < UNIT_COUNT(samples); k++)
        for (int chip = 0; chip < 2; chip++) {
            qdq_compile_options options = {.target = targets[chip]};
            for (size_t i = 0; i < FEW; i++) in[i] = samples[k].x;
            run(&samples[k].f, QDQ_FLOAT32, &options, in, out, FEW);
            assert_int_equal(out[0], samples[k].want[chip]);
            assert_int_equal(out[FEW - 1], samples[k].want[chip]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bfloat16_have_the_published_results),
        cmocka_unit_test(float32_goes_through_the_wide_destination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
