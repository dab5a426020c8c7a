// SPDX-License-Identifier: Apache-2.0
// Elementwise results of oneDNN Graph 3.13.2 on x86-64 for zeros of both signs, NaN and subnormals,
// the same with SSE4.1, AVX2 and AVX-512.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { MOST = 9 };

static bool same_number(float a, float b) {
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

// Runs a graph with inputs a and b of n elements, and compares output y.
static void check(qdq_graph *g, const float *a, const float *b, size_t n, const float *seen) {
    qdq_error err = {0};
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_compile_options options = {.target = "onednn", .materialize = materialize};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        if (!exec) fail_msg("%s", err.text);
        qdq_exec_write(exec, "a", QDQ_FLOAT32, a, n, &err);
        if (b) qdq_exec_write(exec, "b", QDQ_FLOAT32, b, n, &err);
        qdq_exec_run(exec);
        float y[MOST];
        qdq_exec_read(exec, "y", QDQ_FLOAT32, y, n, &err);
        if (err.status) fail_msg("%s", err.text);
        for (size_t i = 0; i < n; i++)
            if (!same_number(y[i], seen[i]))
                fail_msg("element %zu: %g, seen %g", i, (double)y[i], (double)seen[i]);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

static const float ones[MOST] = {NAN, 1, NAN, 0.0f, -0.0f, -0.0f, INFINITY, 2, -1e-40f};
static const float twos[MOST] = {1, NAN, NAN, -0.0f, 0.0f, -0.0f, NAN, 1, 1e-45f};

static void the_second_operand_is_taken_unless_the_first_is_greater(void **state) {
    static const float greatest[MOST] = {1, NAN, NAN, -0.0f, 0.0f, -0.0f, NAN, 2, 1e-45f};
    static const float least[MOST] = {1, NAN, NAN, -0.0f, 0.0f, -0.0f, NAN, 1, -1e-40f};
    (void)state;
    for (int max = 0; max < 2; max++) {
        qdq_graph *g = qdq_graph_create("pairs", NULL);
        qdq_value a = qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(MOST));
        qdq_value b = qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(MOST));
        qdq_output(g, "y",
                   max ? qdq_maximum(g, a, b, (qdq_binary_attrs){0})
                       : qdq_minimum(g, a, b, (qdq_binary_attrs){0}));
        check(g, ones, twos, MOST, max ? greatest : least);
    }
}

static const float points[MOST] = {NAN, -0.0f, 0.0f, -1, 1, INFINITY, -INFINITY, 1e-40f, -1e-40f};

static void relu_of_nan_is_0(void **state) {
    static const float seen[MOST] = {0, 0, 0, 0, 1, INFINITY, 0, 1e-40f, 0};
    qdq_graph *g = qdq_graph_create("relu", NULL);
    (void)state;
    qdq_value a = qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(MOST));
    qdq_output(g, "y", qdq_relu(g, a, (qdq_unary_attrs){0}));
    check(g, points, NULL, MOST, seen);
}

static void clamp_of_nan_is_the_lower_bound_and_of_a_zero_bound_the_bound(void **state) {
    static const struct {
        double min, max;
        float seen[MOST];
    } rows[] = {
        {-1, 1, {-1, -0.0f, 0.0f, -1, 1, 1, -1, 1e-40f, -1e-40f}},
        {0, 6, {0, 0, 0, 0, 1, 6, 0, 1e-40f, 0}},
        {-1, -0.0, {-1, -0.0f, -0.0f, -1, -0.0f, -0.0f, -1, -0.0f, -1e-40f}},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_graph *g = qdq_graph_create("clamp", NULL);
        qdq_clamp_attrs attrs = {.min = QDQ_FLOAT(rows[i].min),
                                 .max = QDQ_FLOAT(rows[i].max)};
        qdq_value a = qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(MOST));
        qdq_output(g, "y", qdq_clamp(g, a, attrs));
        check(g, points, NULL, MOST, rows[i].seen);
    }
}

static void leaky_relu_without_a_slope_is_relu(void **state) {
    static const float seen[MOST] = {0, 0, 0, 0, 1, INFINITY, 0, 1e-40f, 0};
    qdq_graph *g = qdq_graph_create("leaky", NULL);
    (void)state;
    qdq_value a = qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(MOST));
    qdq_output(g, "y", qdq_leaky_relu(g, a, (qdq_alpha_attrs){.alpha = QDQ_FLOAT(0)}));
    check(g, points, NULL, MOST, seen);
}

// float16 on either side; a number that rounds to zero keeps its sign.
static void minus_zero_of_float16_becomes_zero(void **state) {
    static const float x[3] = {-0.0f, -1e-10f, -2}, seen[3] = {0.0f, -0.0f, -2};
    (void)state;
    qdq_graph *g = qdq_graph_create("to", NULL);
    qdq_value half = qdq_cast(g, qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(3)),
                              (qdq_cast_attrs){.dtype = QDQ_FLOAT16});
    qdq_output(g, "y", half);
    check(g, x, NULL, 3, seen);
    g = qdq_graph_create("from", NULL);
    qdq_output(g, "y", qdq_cast(g, qdq_input(g, "a", QDQ_FLOAT16, QDQ_SHAPE(3)),
                                (qdq_cast_attrs){.dtype = QDQ_FLOAT32}));
    check(g, (float[]){-0.0f, 0, -2}, NULL, 3, (float[]){0, 0, -2});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_operand_is_taken_unless_the_first_is_greater),
        cmocka_unit_test(relu_of_nan_is_0),
        cmocka_unit_test(leaky_relu_without_a_slope_is_relu),
        cmocka_unit_test(clamp_of_nan_is_the_lower_bound_and_of_a_zero_bound_the_bound),
        cmocka_unit_test(minus_zero_of_float16_becomes_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
