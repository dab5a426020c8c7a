// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin and TopK: against qsort of the slices, by hand at ties, zeros and NaN, refusals.
#include <math.h>
#include <stdlib.h>

#include "tests/network.h"

enum { ROWS = 3, LENGTH = 700, COLUMNS = 2, COUNT = ROWS * LENGTH * COLUMNS };

typedef struct entry {
    float v;
    int64_t index;
} entry;

static int greatest_first(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->v != y->v) return x->v > y->v ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void run_top(qdq_shape shape, qdq_dtype dtype, void *x, qdq_top_k_attrs attrs, size_t n,
                    void *y, void *indices) {
    size_t count = 1;
    for (int i = 0; i < shape.rank; i++) count *= (size_t)shape.dims[i];
    for (int output = 0; output < 2; output++) {
        qdq_graph *g = qdq_graph_create("top_k", NULL);
        qdq_value v = qdq_top_k(g, qdq_input(g, "x", dtype, shape), attrs);
        qdq_output(g, "y", output ? qdq_port(g, v, "indices") : v);
        network_tensor in = {"x", dtype, x, count};
        network_tensor out = {"y", output ? QDQ_INT64 : dtype, output ? indices : y, n};
        network_run(g, &in, 1, out);
        qdq_graph_destroy(g);
    }
}

static void results_are_those_of_a_sort(void **state) {
    (void)state;
    static float x[COUNT], y[COUNT];
    static int64_t indices[COUNT];
    static entry slice[LENGTH];
    static const int64_t ks[] = {1, 5, 300, LENGTH};
    uint64_t random = 3;
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)(unit_random(&random) % 400) - 200;
    for (size_t c = 0; c < 2 * UNIT_COUNT(ks); c++) {
        size_t k = (size_t)ks[c / 2];
        float sign = c % 2 ? -1 : 1;
        run_top(QDQ_SHAPE(ROWS, LENGTH, COLUMNS), QDQ_FLOAT32, x,
                (qdq_top_k_attrs){
                    .k = QDQ_INT(ks[c / 2]), .axis = QDQ_INT(1), .largest = c % 2 ? QDQ_FALSE : 0},
                ROWS * k * COLUMNS, y, indices);
        for (size_t s = 0; s < ROWS * COLUMNS; s++) {
            size_t row = s / COLUMNS, column = s % COLUMNS;
            for (size_t i = 0; i < LENGTH; i++)
                slice[i] = (entry){sign * x[(row * LENGTH + i) * COLUMNS + column], (int64_t)i};
            qsort(slice, LENGTH, sizeof *slice, greatest_first);
            for (size_t i = 0; i < k; i++) {
                size_t at = (row * k + i) * COLUMNS + column;
                assert_true(y[at] == sign * slice[i].v && indices[at] == slice[i].index);
            }
        }
    }
}

static void nan_is_greatest_and_zeros_are_equal(void **state) {
    (void)state;
    float x[] = {1, NAN, -0.0f, 0.0f, -INFINITY, INFINITY}, y[6];
    int64_t indices[6];
    qdq_top_k_attrs attrs = {.k = QDQ_INT(6)};
    run_top(QDQ_SHAPE(6), QDQ_FLOAT32, x, attrs, 6, y, indices);
    assert_memory_equal(indices, ((int64_t[]){1, 5, 0, 2, 3, 4}), sizeof indices);
    assert_true(isnan(y[0]) && signbit(y[3]) && !signbit(y[4]));
    attrs.largest = QDQ_FALSE;
    run_top(QDQ_SHAPE(6), QDQ_FLOAT32, x, attrs, 6, y, indices);
    assert_memory_equal(indices, ((int64_t[]){4, 2, 3, 0, 5, 1}), sizeof indices);
}

static void integers_of_64_bits_are_compared_exactly(void **state) {
    (void)state;
    int64_t x[] = {INT64_MIN, (INT64_C(1) << 53) + 1, INT64_C(1) << 53, -1, INT64_MAX}, y[5];
    uint64_t u[] = {0, UINT64_MAX, UINT64_C(1) << 63, 5, UINT64_MAX - 1}, uy[5];
    int64_t indices[5];
    qdq_top_k_attrs attrs = {.k = QDQ_INT(5)};
    run_top(QDQ_SHAPE(5), QDQ_INT64, x, attrs, 5, y, indices);
    assert_memory_equal(indices, ((int64_t[]){4, 1, 2, 3, 0}), sizeof indices);
    run_top(QDQ_SHAPE(5), QDQ_UINT64, u, attrs, 5, uy, indices);
    assert_memory_equal(indices, ((int64_t[]){1, 4, 2, 3, 0}), sizeof indices);
}

static void values_stored_as_bfloat16_are_numbers_of_the_result(void **state) {
    (void)state;
    float x[] = {-1.5f, 2, 0.25f, 8}, y[2];
    qdq_graph *g = qdq_graph_create("top_k", NULL);
    qdq_value v = qdq_abs(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4)), (qdq_unary_attrs){0});
    qdq_output(g, "y", qdq_top_k(g, v, (qdq_top_k_attrs){.k = QDQ_INT(2)}));
    qdq_compile_options options = {.float_storage = QDQ_FLOAT_BFLOAT16};
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 4, NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 2, NULL), QDQ_OK);
    assert_memory_equal(y, ((float[]){8, 2}), sizeof y);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static int64_t run_arg(bool least, qdq_bool last, void *x, size_t n) {
    int64_t y;
    qdq_graph *g = qdq_graph_create("arg", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)n, 1));
    qdq_arg_attrs attrs = {.axis = QDQ_INT(-2), .select_last_index = last};
    qdq_output(g, "y", least ? qdq_arg_min(g, v, attrs) : qdq_arg_max(g, v, attrs));
    network_tensor in = {"x", QDQ_FLOAT32, x, n};
    network_run(g, &in, 1, (network_tensor){"y", QDQ_INT64, &y, 1});
    qdq_graph_destroy(g);
    return y;
}

static void the_first_or_last_of_equal_elements_counts(void **state) {
    (void)state;
    float x[] = {3, -0.0f, 7, 0.0f, 7, 2, 0.0f}, with_nan[] = {INFINITY, NAN, -1, NAN, -INFINITY};
    assert_int_equal(run_arg(false, QDQ_FALSE, x, 7), 2);
    assert_int_equal(run_arg(false, QDQ_TRUE, x, 7), 4);
    assert_int_equal(run_arg(true, QDQ_FALSE, x, 7), 1);
    assert_int_equal(run_arg(true, QDQ_TRUE, x, 7), 6);
    assert_int_equal(run_arg(false, QDQ_FALSE, with_nan, 5), 1);
    assert_int_equal(run_arg(true, QDQ_TRUE, with_nan, 5), 3);
}

static void more_than_there_are_is_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("top_k", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3));
    qdq_output(g, "y", qdq_top_k(g, v, (qdq_top_k_attrs){.k = QDQ_INT(4)}));
    network_refuses(g, "core/attr-value", "k is 4, wanted 1 to 3, the size of dim 1");
    g = qdq_graph_create("arg", NULL);
    v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3));
    qdq_output(g, "y", qdq_arg_max(g, v, (qdq_arg_attrs){.axis = QDQ_INT(2)}));
    network_refuses(g, "core/axis-range", "ArgMax: axis is 2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_a_sort),
        cmocka_unit_test(nan_is_greatest_and_zeros_are_equal),
        cmocka_unit_test(integers_of_64_bits_are_compared_exactly),
        cmocka_unit_test(values_stored_as_bfloat16_are_numbers_of_the_result),
        cmocka_unit_test(the_first_or_last_of_equal_elements_counts),
        cmocka_unit_test(more_than_there_are_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
