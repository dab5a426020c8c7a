// SPDX-License-Identifier: Apache-2.0
// Elementwise ops on float64, IsNaN and IsInf; Select on every dtype; chains and refusals of wide
// dtypes.
#include <math.h>

#include "tests/ops/typed_elements.h"

//---- float64 ----------------------------------------------------------------

static uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// Results of Python's floats, as float.hex() prints them.
static void float64_is_computed_in_double(void **state) {
    static const struct {
        const char *op;
        double a, b, y;
    } rows[] = {
        {"Add", 0.1, 0.2, 0x1.3333333333334p-2},
        {"Add", 0x1p53, 1, 0x1p53},
        {"Subtract", 1, 0x1p-60, 1},
        {"Multiply", 1e200, 1e200, (double)INFINITY},
        {"Multiply", 0.1, 0.1, 0x1.47ae147ae147cp-7},
        {"Divide", 1, 3, 0x1.5555555555555p-2},
        {"Divide", -1, 0, -(double)INFINITY},
        {"Minimum", 0.0, -0.0, -0.0},
        {"Maximum", -0.0, 0.0, 0.0},
        {"Minimum", 1, (double)NAN, (double)NAN},
        {"Maximum", (double)NAN, 1, (double)NAN},
        {"Divide", 0, 0, (double)NAN},
    };
    static const join one = {D(1), D(1), D(1)};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        memcpy(a_data, &rows[i].a, 8), memcpy(b_data, &rows[i].b, 8);
        run(rows[i].op, &one, QDQ_FLOAT64, QDQ_FLOAT64);
        uint64_t wanted = isnan(rows[i].y) ? UINT64_C(0x7FF8000000000000) : bits_of(rows[i].y);
        if (y_data[0] != wanted) fail_msg("%s, row %zu", rows[i].op, i);
    }
}

static void float64_is_negated_and_cut_in_double(void **state) {
    static const double x[] = {0.0, -0.0, 0x1.fffffffffffffp51, -2.75, 0x1p60, 0x1p-1074};
    static const double cut[] = {0.0, -0.0, 0x1.ffffffffffffep51, -2, 0x1p60, 0};
    double y[UNIT_COUNT(x)];
    (void)state;
    run_unary("Neg", QDQ_FLOAT64, QDQ_FLOAT64, x, y, UNIT_COUNT(x));
    for (size_t i = 0; i < UNIT_COUNT(x); i++) assert_true(bits_of(y[i]) == bits_of(-x[i]));
    run_unary("Trunc", QDQ_FLOAT64, QDQ_FLOAT64, x, y, UNIT_COUNT(x));
    assert_memory_equal(y, cut, sizeof y);
}

static void float64_compares_and_broadcasts_as_the_shapes_say(void **state) {
    static const char *const compares[] = {"Equal", "Greater", "GreaterEqual", "Less",
                                           "LessOrEqual"};
    static const double odd[] = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0x1p53,
                                 0x1p53 + 2,
                                 (double)INFINITY,
                                 -(double)INFINITY,
                                 (double)NAN,
                                 0x1.0000000000001p0};
    double *a = (double *)(void *)a_data, *b = (double *)(void *)b_data;
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        a[i] = odd[i % UNIT_COUNT(odd)], b[i] = odd[i / 7 % UNIT_COUNT(odd)];
    for (size_t k = 0; k < UNIT_COUNT(compares) * UNIT_COUNT(joins); k++) {
        const join *j = &joins[k % UNIT_COUNT(joins)];
        size_t op = k / UNIT_COUNT(joins);
        run(compares[op], j, QDQ_FLOAT64, QDQ_BOOL);
        for (size_t i = 0; i < qdq_shape_count(j->y); i++) {
            double x = a[source(j->y, j->a, i)], z = b[source(j->y, j->b, i)];
            bool wanted = op == 0   ? x == z
                          : op == 1 ? x > z
                          : op == 2 ? x >= z
                          : op == 3 ? x < z
                                    : x <= z;
            assert_int_equal(((uint8_t *)y_data)[i], wanted);
        }
    }
}

static void nan_and_infinities_are_told_apart(void **state) {
    static const float x[] = {0, -1, NAN, -NAN, INFINITY, -INFINITY, 3.4028234e38f, 1e-45f};
    static const uint8_t nan[] = {0, 0, 1, 1, 0, 0, 0, 0}, inf[] = {0, 0, 0, 0, 1, 1, 0, 0};
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT64, QDQ_BFLOAT16, QDQ_FLOAT8_E5M2};
    double wide[UNIT_COUNT(x)];
    uint8_t y[UNIT_COUNT(x)];
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(x); i++) wide[i] = (double)x[i];
    run_unary("IsNaN", QDQ_FLOAT64, QDQ_BOOL, wide, y, UNIT_COUNT(x));
    assert_memory_equal(y, nan, sizeof y);
    for (size_t k = 0; k < 4 * UNIT_COUNT(dtypes); k++) {
        qdq_dtype dtype = dtypes[k / 4];
        size_t count = UNIT_COUNT(x) - (dtype == QDQ_BFLOAT16 || dtype == QDQ_FLOAT8_E5M2 ? 2 : 0);
        const void *data = dtype == QDQ_FLOAT64 ? (const void *)wide : x;
        qdq_dtype given = dtype == QDQ_FLOAT64 ? dtype : QDQ_FLOAT32;
        qdq_graph *g = qdq_graph_create("inf", NULL);
        qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE((int64_t)count));
        qdq_is_inf_attrs attrs = {.detect_negative = k & 1 ? QDQ_FALSE : QDQ_UNSET,
                                  .detect_positive = k & 2 ? QDQ_FALSE : QDQ_TRUE};
        qdq_output(g, "y", qdq_is_inf(g, v, attrs));
        network_tensor input = {"x", given, (void *)(uintptr_t)data, count};
        network_run(g, &input, 1, (network_tensor){"y", QDQ_BOOL, y, count});
        qdq_graph_destroy(g);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(y[i], inf[i] && !(k & 1 && x[i] < 0) && !(k & 2 && x[i] > 0));
        if (dtype == QDQ_FLOAT32) {
            run_unary("IsNaN", dtype, QDQ_BOOL, x, y, count);
            assert_memory_equal(y, nan, count);
        }
    }
}

//---- Select, chains, refusals -----------------------------------------------

static void select_keeps_the_bits_of_every_dtype(void **state) {
    static uint8_t condition[MOST];
    (void)state;
    for (size_t i = 0; i < MOST; i++) condition[i] = i % 3 == 0;
    for (qdq_dtype dtype = QDQ_FLOAT32; dtype < QDQ_DTYPE_COUNT; dtype++) {
        bool bits = (ALL_INTS | QDQ_BIT(BOOL)) >> dtype & 1;
        if (!bits && dtype != QDQ_FLOAT64 && dtype != QDQ_FLOAT32) continue;
        size_t size = qdq_dtype_size(dtype);
        fill(bits ? dtype : QDQ_UINT64, a_data, MOST, 1),
            fill(bits ? dtype : QDQ_UINT64, b_data, MOST, 2);
        qdq_graph *g = qdq_graph_create("select", NULL);
        qdq_value c = qdq_input(g, "c", QDQ_BOOL, QDQ_SHAPE(MOST));
        qdq_value a = qdq_input(g, "a", dtype, QDQ_SHAPE(MOST));
        qdq_value b = qdq_input(g, "b", dtype, QDQ_SHAPE(MOST));
        qdq_output(g, "y", qdq_select(g, c, a, b, (qdq_select_attrs){0}));
        network_tensor inputs[] = {{"c", QDQ_BOOL, condition, MOST},
                                   {"a", dtype, a_data, MOST},
                                   {"b", dtype, b_data, MOST}};
        network_run(g, inputs, 3, (network_tensor){"y", dtype, y_data, MOST});
        qdq_graph_destroy(g);
        for (size_t i = 0; i < MOST; i++)
            assert_memory_equal((char *)y_data + i * size,
                                (char *)(condition[i] ? a_data : b_data) + i * size, size);
    }
}

// A shape's product in int64, compared, and chosen: links follow a tensor op of 64 bits.
static void links_follow_an_op_of_64_bits(void **state) {
    static float y[MOST];
    (void)state;
    for (size_t i = 0; i < MOST; i++) a_data[i] = i, b_data[i] = MOST - i;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value a = qdq_input(g, "a", QDQ_INT64, QDQ_SHAPE(MOST));
    qdq_value b = qdq_input(g, "b", QDQ_INT64, QDQ_SHAPE(MOST));
    qdq_value v = qdq_multiply(g, a, b, (qdq_binary_attrs){0});
    v = qdq_abs(g, v, (qdq_unary_attrs){0});
    v = qdq_cast(g, v, (qdq_cast_attrs){.dtype = QDQ_FLOAT32});
    qdq_output(g, "y", qdq_relu(g, v, (qdq_unary_attrs){0}));
    network_tensor inputs[] = {{"a", QDQ_INT64, a_data, MOST}, {"b", QDQ_INT64, b_data, MOST}};
    network_run(g, inputs, 2, (network_tensor){"y", QDQ_FLOAT32, y, MOST});
    qdq_graph_destroy(g);
    for (size_t i = 0; i < MOST; i++) assert_true((double)y[i] == (double)(float)(i * (MOST - i)));
}

static void dtypes_of_64_bits_do_not_mix_with_others(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("mixed", NULL);
    qdq_value a = qdq_input(g, "a", QDQ_INT64, QDQ_SHAPE(2));
    qdq_value b = qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(2));
    qdq_output(g, "y", qdq_add(g, a, b, (qdq_binary_attrs){0}));
    network_refuses(g, "core/port-dtype", "Add: b is float32, wanted int64");
    g = qdq_graph_create("mixed", NULL);
    a = qdq_input(g, "a", QDQ_FLOAT64, QDQ_SHAPE(2));
    qdq_output(g, "y", qdq_multiply(g, a, a, (qdq_binary_attrs){.dtype = QDQ_FLOAT32}));
    network_refuses(g, "core/dtype-result", "Multiply: dtype is float32, wanted float64");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float64_is_computed_in_double),
        cmocka_unit_test(float64_is_negated_and_cut_in_double),
        cmocka_unit_test(float64_compares_and_broadcasts_as_the_shapes_say),
        cmocka_unit_test(nan_and_infinities_are_told_apart),
        cmocka_unit_test(select_keeps_the_bits_of_every_dtype),
        cmocka_unit_test(links_follow_an_op_of_64_bits),
        cmocka_unit_test(dtypes_of_64_bits_do_not_mix_with_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
