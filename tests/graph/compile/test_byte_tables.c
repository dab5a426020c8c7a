// SPDX-License-Identifier: Apache-2.0
// A step that combines what another step made of the same bytes looks its codes up: x * f(x) of a
// dequantized x, with f(x) quantized in between. Expected codes come from float32 arithmetic.
#include "runtime/exec/plan.h"
#include "tests/ops/large_links.h"

static const float scales[] = {0.25f, 0.375f, 0.7f};
static const double zeros[] = {-3, 100, 7};

static float code_of(float x, size_t i) {
    float q = rintf(x / scales[i]) + (float)zeros[i];
    return q < -128 ? -128 : q > 127 ? 127 : q;
}

static float real_of(float code, size_t i) { return (code - (float)zeros[i]) * scales[i]; }

static qdq_quantize_attrs attrs_of(size_t i, qdq_dtype dtype) {
    return (qdq_quantize_attrs){
        .scales = {&scales[i], 1, true}, .zps = {&zeros[i], 1, true}, .dtype = dtype};
}

static qdq_value through_codes(qdq_graph *g, qdq_value x, size_t i) {
    return qdq_dequantize(g, qdq_quantize(g, x, attrs_of(i, QDQ_INT8)), attrs_of(i, QDQ_FLOAT32));
}

// Codes of x + |x| or x * |x|, or of the same with exchanged operands.
typedef struct form {
    bool sum, exchanged;
    bool returns_x, returns_other;  // the floats are outputs too
    bool relu;                      // in front of the last Quantize
} form;

typedef struct built {
    large_graph c;
    qdq_value x, other, y;
    tensor reals, others, codes;
} built;

static void build(built *b, const form *f, qdq_shape shape) {
    tensor *in;
    uint64_t state = large_state(qdq_shape_count(shape));
    large_graph_begin(&b->c, f->sum ? "x + |x|" : "x * |x|");
    qdq_graph *g = b->c.graph;
    qdq_value x = large_input(&b->c, QDQ_FLOAT32, shape, &in);
    b->x = through_codes(g, x, 0);
    b->other = through_codes(g, qdq_abs(g, b->x, (qdq_unary_attrs){0}), 1);
    qdq_value first = f->exchanged ? b->other : b->x, second = f->exchanged ? b->x : b->other;
    qdq_value y = f->sum ? qdq_add(g, first, second, (qdq_binary_attrs){0})
                         : qdq_multiply(g, first, second, (qdq_binary_attrs){0});
    if (f->relu) y = qdq_relu(g, y, (qdq_unary_attrs){0});
    b->y = qdq_quantize(g, y, attrs_of(2, QDQ_INT8));
    b->reals = large_like(in, QDQ_FLOAT32), b->others = large_like(in, QDQ_FLOAT32);
    b->codes = large_like(in, QDQ_INT8);
    for (size_t i = 0; i < tensor_count(in); i++) {
        float v = (float)(int)large_pick(&state, 1024) / 8 - 64;
        large_put(in, i, (double)v);
        v = real_of(code_of(v, 0), 0);
        float w = real_of(code_of(fabsf(v), 1), 1), z = f->sum ? v + w : v * w;
        large_put(&b->reals, i, (double)v), large_put(&b->others, i, (double)w);
        large_put(&b->codes, i, (double)code_of(f->relu ? fmaxf(z, 0) : z, 2));
    }
    large_output(&b->c, b->y, b->codes);
}

// How many values of floats lie in memory.
static size_t floats_in_memory(const built *b, qdq_plan_layout layout) {
    qdq_error err;
    size_t count = 0;
    qdq_compile_options options = {.layout = layout};
    qdq_plan *plan = qdq_graph_compile(b->c.graph, &options, &err);
    assert_non_null(plan);
    for (size_t i = 0; i < qdq_plan_get_stats(plan).value_count; i++)
        count += qdq_plan_get_value(plan, i)->dtype == QDQ_FLOAT32;
    qdq_plan_destroy(plan);
    return count;
}

static void check(const form *f, qdq_shape shape, size_t floats) {
    built b;
    build(&b, f, shape);
    if (f->returns_x)
        large_output(&b.c, b.x, b.reals);
    else
        free(b.reals.data);
    if (f->returns_other)
        large_output(&b.c, b.other, b.others);
    else
        free(b.others.data);
    assert_int_equal(floats_in_memory(&b, QDQ_PLAN_ROWS), floats);
    // The input and outputs of a tiled plan lie in the arena, too, and both operands of a sum
    // without a table, of which rows compute one again.
    assert_int_equal(floats_in_memory(&b, QDQ_PLAN_TILES),
                     2 * floats + 1 + f->returns_x + f->returns_other);
    large_graph_check(&b.c, 0);
}

// From 4,096 elements on; 64 are a vector of codes.
static void operands_of_the_same_bytes_are_looked_up(void **state) {
    const form forms[] = {{0}, {.exchanged = true}, {.sum = true}, {.relu = true}};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(forms); i++) {
        check(&forms[i], QDQ_SHAPE(4096), 0);
        check(&forms[i], QDQ_SHAPE(5, 13, 64 + 3), 0);
        check(&forms[i], QDQ_SHAPE(3, 2 * 4096 + 1), 0);
        check(&forms[i], QDQ_SHAPE(4095), 1);
    }
}

// An output has memory of its own, and the table is used all the same.
static void floats_that_are_outputs_stay(void **state) {
    (void)state;
    check(&(form){.returns_x = true}, QDQ_SHAPE(2, 4099), 0);
    check(&(form){.returns_other = true}, QDQ_SHAPE(2, 4099), 0);
    check(&(form){.returns_x = true, .returns_other = true, .exchanged = true}, QDQ_SHAPE(2, 4099),
          0);
}

// A step that reads a float besides the sum still finds it.
static void floats_with_other_readers_are_stored(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++) {
        built b;
        build(&b, &(form){0}, QDQ_SHAPE(70, 65));
        const tensor *reals = which ? &b.others : &b.reals;
        tensor want = tensor_of(NULL, QDQ_FLOAT32, QDQ_SHAPE(65, 70));
        qdq_value turned =
            qdq_transpose(b.c.graph, which ? b.other : b.x, (qdq_transpose_attrs){0});
        for (size_t i = 0; i < tensor_count(&want); i++)
            large_put(&want, i, tensor_at(reals, i % 70 * 65 + i / 70));
        large_output(&b.c, turned, want);
        free(b.reals.data), free(b.others.data);
        assert_int_equal(floats_in_memory(&b, QDQ_PLAN_ROWS), 1);
        assert_int_equal(floats_in_memory(&b, QDQ_PLAN_TILES), 3);  // the input, and an output
        large_graph_check(&b.c, 0);
    }
}

//---- Block floats -----------------------------------------------------------

enum { ROWS = 64, COLUMNS = 128 };

static qdq_value through_blocks(qdq_graph *g, qdq_value x) {
    qdq_value blocks = qdq_cast(g, x, (qdq_cast_attrs){.dtype = QDQ_BFLOAT8_B});
    return qdq_cast(g, blocks, (qdq_cast_attrs){.dtype = QDQ_FLOAT32});
}

// Codes of x * f(x), where f or the product passes through block floats.
static qdq_value with_blocks(qdq_graph *g, qdq_value x, bool between) {
    qdq_value real = qdq_dequantize(g, x, attrs_of(0, QDQ_FLOAT32));
    qdq_value other = between ? through_blocks(g, real) : qdq_abs(g, real, (qdq_unary_attrs){0});
    qdq_value y = qdq_multiply(g, real, other, (qdq_binary_attrs){0});
    if (!between) y = through_blocks(g, y);
    return qdq_quantize(g, y, attrs_of(2, QDQ_INT8));
}

static void run_codes(qdq_graph *g, bool materialize, const int8_t *x, int8_t *y) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.materialize = materialize}, &err);
    if (!plan) fail_msg("%s", err.text);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_non_null(exec);
    assert_int_equal(qdq_exec_bind(exec, "x", (void *)x, ROWS * COLUMNS, &err), QDQ_OK);
    assert_int_equal(qdq_exec_bind(exec, "y", y, ROWS * COLUMNS, &err), QDQ_OK);
    qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
}

// A block float is rounded with the others of its tile, which no table of one byte has. Node by
// node there are no tables.
static void block_floats_are_computed(void **state) {
    (void)state;
    for (int between = 0; between < 2; between++) {
        qdq_graph *g = qdq_graph_create("blocks", NULL);
        static int8_t x[ROWS * COLUMNS], y[2][ROWS * COLUMNS];
        uint64_t random = large_state((uint64_t)between);
        for (size_t i = 0; i < sizeof x; i++) x[i] = (int8_t)((int)large_pick(&random, 256) - 128);
        qdq_value in = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(ROWS, COLUMNS));
        qdq_output(g, "y", with_blocks(g, in, between));
        for (int way = 0; way < 2; way++) run_codes(g, way, x, y[way]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_of_the_same_bytes_are_looked_up),
        cmocka_unit_test(floats_that_are_outputs_stay),
        cmocka_unit_test(floats_with_other_readers_are_stored),
        cmocka_unit_test(block_floats_are_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
