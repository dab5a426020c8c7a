// SPDX-License-Identifier: Apache-2.0
// Table: the result of every code, for each dtype of codes and results, and refusals.
#include <math.h>

#include "tests/network.h"

enum { CODES = 256, COUNT = 3 * CODES };

// Returns y = table[x] of constants, for each mode the same.
static void table(qdq_dtype x_dtype, void *x, qdq_dtype y_dtype, const void *results, void *y) {
    qdq_graph *g = qdq_graph_create("table", NULL);
    qdq_value v = qdq_input(g, "x", x_dtype, QDQ_SHAPE(3, CODES));
    qdq_value t = qdq_constant(g, "results", y_dtype, QDQ_SHAPE(CODES), results);
    qdq_output(g, "y", qdq_table(g, v, t, (qdq_table_attrs){.name = "t"}));
    network_tensor in = {"x", x_dtype, x, COUNT};
    network_run(g, &in, 1, (network_tensor){"y", y_dtype, y, COUNT});
    qdq_graph_destroy(g);
}

static void bytes_are_looked_up_from_the_least_code_on(void **state) {
    uint8_t x[COUNT], results[CODES], y[COUNT];
    (void)state;
    for (int i = 0; i < CODES; i++) results[i] = (uint8_t)(i * 7 + 3);
    for (int i = 0; i < COUNT; i++) x[i] = (uint8_t)(i * 5);
    table(QDQ_UINT8, x, QDQ_INT8, results, y);
    for (int i = 0; i < COUNT; i++) assert_int_equal(y[i], results[x[i]]);
    table(QDQ_INT8, x, QDQ_UINT8, results, y);
    for (int i = 0; i < COUNT; i++) assert_int_equal(y[i], results[(int8_t)x[i] + 128]);
}

static void results_may_be_wider(void **state) {
    int8_t x[COUNT];
    int16_t halves[CODES], y16[COUNT];
    int32_t words[CODES], y32[COUNT];
    float floats[CODES], y[COUNT];
    (void)state;
    for (int i = 0; i < CODES; i++) {
        halves[i] = (int16_t)(i * 251 - 32000);
        words[i] = (i - 128) * 16777213;
        floats[i] = (float)i / 3;
    }
    for (int i = 0; i < COUNT; i++) x[i] = (int8_t)(i % CODES - 128);
    table(QDQ_INT8, x, QDQ_INT16, halves, y16);
    table(QDQ_INT8, x, QDQ_INT32, words, y32);
    table(QDQ_INT8, x, QDQ_FLOAT32, floats, y);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(y16[i], halves[i % CODES]);
        assert_int_equal(y32[i], words[i % CODES]);
        assert_true(y[i] == floats[i % CODES]);
    }
}

static void a_table_may_be_computed(void **state) {
    uint8_t x[CODES], y[CODES], by[CODES];
    (void)state;
    qdq_graph *g = qdq_graph_create("table", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(CODES));
    qdq_value t = qdq_input(g, "results", QDQ_UINT8, QDQ_SHAPE(CODES));
    qdq_output(g, "y", qdq_table(g, v, t, (qdq_table_attrs){.name = "t"}));
    for (int i = 0; i < CODES; i++) x[i] = (uint8_t)(i * 3), by[i] = (uint8_t)(255 - i);
    network_tensor in[] = {{"x", QDQ_UINT8, x, CODES}, {"results", QDQ_UINT8, by, CODES}};
    network_run(g, in, 2, (network_tensor){"y", QDQ_UINT8, y, CODES});
    for (int i = 0; i < CODES; i++) assert_int_equal(y[i], 255 - x[i]);
    qdq_graph_destroy(g);
}

// 128 times the line between the points around x, in double.
static void codes_of_16_bits_lie_on_lines(void **state) {
    enum { POINTS = 513, ALL = 65536 };
    static int16_t x[ALL], points[POINTS];
    static int32_t y[ALL];
    (void)state;
    for (int i = 0; i < ALL; i++) x[i] = (int16_t)(i * 3 - 32768);
    for (int i = 0; i < POINTS; i++)
        points[i] = (int16_t)(i % 3 == 0 ? INT16_MIN : i % 3 == 1 ? INT16_MAX : i * 61 - 15000);
    qdq_graph *g = qdq_graph_create("table", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT16, QDQ_SHAPE(4, ALL / 4));
    qdq_value t = qdq_constant(g, "results", QDQ_INT16, QDQ_SHAPE(POINTS), points);
    qdq_output(g, "y", qdq_table(g, v, t, (qdq_table_attrs){.name = "t"}));
    network_tensor in = {"x", QDQ_INT16, x, ALL};
    network_run(g, &in, 1, (network_tensor){"y", QDQ_INT32, y, ALL});
    qdq_graph_destroy(g);
    for (int i = 0; i < ALL; i++) {
        double at = (x[i] + 32768) / 128.0, left = floor(at);
        const int16_t *line = points + (int)left;
        assert_true(y[i] == 128 * (line[0] + (at - left) * (line[1] - line[0])));
    }
}

static void other_sizes_and_dtypes_are_refused(void **state) {
    static const uint8_t results[CODES] = {0};
    (void)state;
    qdq_graph *g = qdq_graph_create("table", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(4));
    qdq_value t = qdq_constant(g, "results", QDQ_UINT8, QDQ_SHAPE(255), results);
    qdq_output(g, "y", qdq_table(g, v, t, (qdq_table_attrs){.name = "t"}));
    network_refuses(g, "core/port-shape", "table has the shape [255], wanted [256]");
    g = qdq_graph_create("table", NULL);
    v = qdq_input(g, "x", QDQ_INT16, QDQ_SHAPE(4));
    t = qdq_constant(g, "results", QDQ_UINT8, QDQ_SHAPE(CODES), results);
    qdq_output(g, "y", qdq_table(g, v, t, (qdq_table_attrs){.name = "t"}));
    network_refuses(g, "core/port-dtype", "table is uint8");
    g = qdq_graph_create("table", NULL);
    v = qdq_input(g, "x", QDQ_INT32, QDQ_SHAPE(4));
    t = qdq_constant(g, "results", QDQ_UINT8, QDQ_SHAPE(CODES), results);
    qdq_output(g, "y", qdq_table(g, v, t, (qdq_table_attrs){.name = "t"}));
    network_refuses(g, "core/port-dtype", "x is int32");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_looked_up_from_the_least_code_on),
        cmocka_unit_test(results_may_be_wider),
        cmocka_unit_test(a_table_may_be_computed),
        cmocka_unit_test(codes_of_16_bits_lie_on_lines),
        cmocka_unit_test(other_sizes_and_dtypes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
