// SPDX-License-Identifier: Apache-2.0
// Elementwise ops on block floats without a chip: every operand is rounded before the op sees it,
// also one that a step reads beside its x, and float32 results are rounded as the host packs them.
// Wanted values come from tests/block_floats.h.
#include <math.h>

#include "include/qdq/qdq.h"
#include "tests/block_floats.h"
#include "tests/unit.h"

enum { MOST = 2304 };

static const qdq_dtype dtypes[2] = {QDQ_BFLOAT8_B, QDQ_BFLOAT4_B};

static const qdq_shape shapes[] = {{1, {40}},     {2, {3, 5}},    {2, {1, 17}},
                                   {2, {33, 65}}, {3, {2, 3, 7}}, {4, {2, 1, 33, 20}}};

static const qdq_plan_layout layouts[] = {QDQ_PLAN_DEFAULT, QDQ_PLAN_ROWS, QDQ_PLAN_TILES};

// Where the second operand comes from.
typedef enum origin { INPUT, CONSTANT, RESULT, ORIGINS } origin;

static void fill(uint64_t *random, float *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float unit = (float)((int64_t)(unit_random(random) % 2000003) - 1000001) / 1000003.0f;
        x[i] = ldexpf(unit, (int)(unit_random(random) % 7) - 3);
    }
}

static void round_rows(float *x, qdq_shape shape, qdq_dtype dtype) {
    size_t cols = (size_t)shape.dims[shape.rank - 1];
    block_round_rows(x, qdq_shape_count(shape) / cols, cols, dtype == QDQ_BFLOAT8_B ? 7 : 3);
}

// Numbers of x + b, the float32 of (x + b) - b, and b * (x + b), all with the shape of x; b is as
// large as x, or is repeated along the dims but the last.
typedef struct numbers {
    float x[MOST], b[MOST], sum[MOST], difference[MOST], product[MOST];
} numbers;

static void compute(numbers *n, qdq_shape shape, qdq_shape of_b, qdq_dtype dtype, bool negates) {
    static float x[MOST], b[MOST];
    size_t count = qdq_shape_count(shape), repeat = qdq_shape_count(of_b);
    memcpy(x, n->x, sizeof x), memcpy(b, n->b, sizeof b);
    round_rows(x, shape, dtype), round_rows(b, of_b, dtype);
    for (size_t i = 0; negates && i < repeat; i++) b[i] = b[i] == 0 ? 0 : -b[i];
    for (size_t i = 0; i < count; i++) n->sum[i] = x[i] + b[i % repeat];
    round_rows(n->sum, shape, dtype);
    for (size_t i = 0; i < count; i++) n->difference[i] = n->sum[i] - b[i % repeat];
    for (size_t i = 0; i < count; i++) n->product[i] = b[i % repeat] * n->sum[i];
    round_rows(n->product, shape, dtype);
}

static qdq_graph *build(const numbers *n, qdq_shape shape, qdq_shape of_b, qdq_dtype dtype,
                        origin from) {
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", dtype, shape);
    qdq_value b =
        from == CONSTANT ? qdq_constant(g, "b", dtype, of_b, n->b) : qdq_input(g, "b", dtype, of_b);
    if (from == RESULT) b = qdq_neg(g, b, (qdq_unary_attrs){0});
    qdq_value sum = qdq_add(g, x, b, (qdq_binary_attrs){0});
    qdq_output(g, "sum", sum);
    qdq_output(g, "difference", qdq_subtract(g, sum, b, (qdq_binary_attrs){.dtype = QDQ_FLOAT32}));
    qdq_output(g, "product", qdq_multiply(g, b, sum, (qdq_binary_attrs){0}));
    if (qdq_shape_equal(shape, of_b)) qdq_output(g, "b", b);
    return g;
}

static void check_output(const qdq_exec *exec, const char *name, qdq_dtype dtype,
                         const float *wanted, size_t count) {
    static float got[MOST];
    assert_int_equal(qdq_exec_read(exec, name, dtype, got, count, NULL), QDQ_OK);
    assert_memory_equal(got, wanted, count * sizeof *got);
}

static void check(qdq_graph *g, const numbers *n, qdq_shape shape, qdq_shape of_b, qdq_dtype dtype,
                  bool has_b) {
    size_t count = qdq_shape_count(shape);
    for (size_t i = 0; i < 2 * UNIT_COUNT(layouts); i++) {
        qdq_error err = {0};
        qdq_compile_options options = {.layout = layouts[i / 2], .keep_all = i % 2 != 0};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
        assert_string_equal(err.text, "");
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, n->x, count, &err), QDQ_OK);
        if (has_b) (void)qdq_exec_write(exec, "b", QDQ_FLOAT32, n->b, qdq_shape_count(of_b), &err);
        assert_string_equal(err.text, "");
        qdq_exec_run(exec);
        check_output(exec, "sum", dtype, n->sum, count);
        check_output(exec, "difference", QDQ_FLOAT32, n->difference, count);
        check_output(exec, "product", dtype, n->product, count);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

static void every_operand_is_rounded_first(void **state) {
    (void)state;
    uint64_t random = 5;
    static numbers n;
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++)
        for (int i = 0; i < 4 * ORIGINS; i++) {
            qdq_shape shape = shapes[s];
            qdq_shape of_b = i & 1 ? shape : QDQ_SHAPE(shape.dims[shape.rank - 1]);
            qdq_dtype dtype = dtypes[i >> 1 & 1];
            origin from = (origin)(i / 4);
            fill(&random, n.x, qdq_shape_count(shape)), fill(&random, n.b, qdq_shape_count(of_b));
            compute(&n, shape, of_b, dtype, from == RESULT);
            check(build(&n, shape, of_b, dtype, from), &n, shape, of_b, dtype, from != CONSTANT);
        }
}

// An op with two operands is not computed in tiles if both are broadcast.
static void mistakes_are_findings(void **state) {
    (void)state;
    static const struct {
        qdq_dtype a, y;
        qdq_shape of_a, of_b;
        const char *wanted;
    } rows[] = {
        {QDQ_BFLOAT8_B,
         QDQ_DTYPE_NONE,
         {2, {4, 1}},
         {2, {1, 5}},
         "a has the shape [4, 1], wanted [4, 5], the shape of y, for a or b, as y is bfloat8_b"},
        {QDQ_FLOAT32, QDQ_BFLOAT4_B, {2, {4, 5}}, {2, {4, 5}}, "dtype is bfloat4_b, wanted"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value a = qdq_input(g, "a", rows[i].a, rows[i].of_a);
        qdq_value b = qdq_input(g, "b", QDQ_BFLOAT8_B, rows[i].of_b);
        qdq_output(g, "y", qdq_add(g, a, b, (qdq_binary_attrs){.dtype = rows[i].y}));
        assert_null(qdq_graph_compile(g, NULL, &err));
        if (!strstr(err.text, rows[i].wanted)) fail_msg("%s", err.text);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operand_is_rounded_first),
        cmocka_unit_test(mistakes_are_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
