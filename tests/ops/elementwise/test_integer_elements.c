// SPDX-License-Identifier: Apache-2.0
// MultiplyShift, ArithmeticShiftRight, ClampInteger, NegInteger and CountLeadingZeros against sums
// and quotients in 128 bits or double.
#include <math.h>

#include "tests/network.h"

__extension__ typedef __int128 wide;

enum { ROWS = 3, COLUMNS = 13, COUNT = ROWS * COLUMNS };

static const int32_t edges[COLUMNS] = {
    0,       1,          -1,         2,     -2, 3, INT32_MAX, INT32_MIN, INT32_MIN + 1,
    1 << 30, -(1 << 30), 0x55555555, -12345};

static int32_t element(qdq_dtype dtype, const void *x, size_t i) {
    switch ((int)dtype) {
    case QDQ_INT8: return ((const int8_t *)x)[i];
    case QDQ_UINT8: return ((const uint8_t *)x)[i];
    case QDQ_INT16: return ((const int16_t *)x)[i];
    case QDQ_UINT16: return ((const uint16_t *)x)[i];
    default: return ((const int32_t *)x)[i];
    }
}

// Fills [ROWS, COLUMNS] with edges, each row in another order, as elements of a dtype.
static void fill(qdq_dtype dtype, void *x, int32_t *wanted) {
    for (size_t i = 0; i < COUNT; i++) {
        size_t row = i / COLUMNS, column = i % COLUMNS;
        int32_t v = edges[(column * (row + 1) + row) % COLUMNS];
        size_t size = qdq_dtype_size(dtype);
        if (size == 1) ((uint8_t *)x)[i] = (uint8_t)v;
        if (size == 2) ((uint16_t *)x)[i] = (uint16_t)v;
        if (size == 4) ((int32_t *)x)[i] = v;
        wanted[i] = element(dtype, x, i);
    }
}

static wide floor_of(wide a, wide b) { return a / b - (a % b < 0); }

static void products_are_shifted_half_up(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_INT16, QDQ_INT32};
    int32_t a[COUNT], b[COUNT], y[COUNT], wa[COUNT], wb[COUNT];
    (void)state;
    for (size_t t = 0; t < UNIT_COUNT(dtypes); t++)
        for (int shift = 0; shift < 64; shift++) {
            qdq_graph *g = qdq_graph_create("multiply", NULL);
            qdq_value va = qdq_input(g, "a", dtypes[t], QDQ_SHAPE(ROWS, COLUMNS));
            qdq_value vb = qdq_input(g, "b", dtypes[t], QDQ_SHAPE(ROWS, 1));
            qdq_multiply_shift_attrs attrs = {.name = "m", .shift = QDQ_INT(shift)};
            qdq_output(g, "y", qdq_multiply_shift(g, va, vb, attrs));
            fill(dtypes[t], a, wa), fill(dtypes[t], b, wb);
            network_tensor in[] = {{"a", dtypes[t], a, COUNT}, {"b", dtypes[t], b, ROWS}};
            network_run(g, in, 2, (network_tensor){"y", QDQ_INT32, y, COUNT});
            qdq_graph_destroy(g);
            for (int i = 0; i < COUNT; i++) {
                wide two = (wide)1 << shift, half = shift ? two / 2 : 0;
                wide want = floor_of((wide)wa[i] * wb[i / COLUMNS] + half, two);
                assert_int_equal((uint32_t)y[i], (uint32_t)want);
            }
        }
}

static void shifts_round_down_or_half_up(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_INT16, QDQ_INT32};
    int32_t a[COUNT], y[COUNT], wa[COUNT];
    uint32_t b[COLUMNS];
    (void)state;
    for (size_t t = 0; t < UNIT_COUNT(dtypes); t++)
        for (int half = 0; half < 2; half++) {
            int width = 8 << t;
            qdq_graph *g = qdq_graph_create("shift", NULL);
            qdq_value va = qdq_input(g, "a", dtypes[t], QDQ_SHAPE(ROWS, COLUMNS));
            qdq_value vb = qdq_input(g, "b", dtypes[t], QDQ_SHAPE(COLUMNS));
            qdq_arithmetic_shift_right_attrs attrs = {.round = half ? QDQ_TRUE : QDQ_FALSE};
            qdq_output(g, "y", qdq_arithmetic_shift_right(g, va, vb, attrs));
            fill(dtypes[t], a, wa);
            for (int i = 0; i < COLUMNS; i++) {
                int v = i == 0 ? -1 : i * width / (COLUMNS - 1);  // below 0, and up to the width
                if (width == 8) ((int8_t *)b)[i] = (int8_t)v;
                if (width == 16) ((int16_t *)b)[i] = (int16_t)v;
                if (width == 32) b[i] = (uint32_t)v;
            }
            network_tensor in[] = {{"a", dtypes[t], a, COUNT}, {"b", dtypes[t], b, COLUMNS}};
            network_run(g, in, 2, (network_tensor){"y", dtypes[t], y, COUNT});
            qdq_graph_destroy(g);
            for (int i = 0; i < COUNT; i++) {
                int by = i % COLUMNS * width / (COLUMNS - 1);
                if (by >= width) by = width - 1;
                double want = floor(ldexp(wa[i], -by) + (half && by ? 0.5 : 0));
                assert_true(element(dtypes[t], y, (size_t)i) == want);
            }
        }
}

static void codes_are_clamped(void **state) {
    static const struct {
        qdq_dtype dtype;
        int32_t least, most;
    } rows[] = {{QDQ_INT8, -128, 127},
                {QDQ_INT8, -2, 1},
                {QDQ_UINT8, 1, 200},
                {QDQ_INT16, -300, -300},
                {QDQ_UINT16, 2, 60000},
                {QDQ_INT32, INT32_MIN, 5},
                {QDQ_INT32, -16777217, INT32_MAX}};
    int32_t x[COUNT], y[COUNT], wx[COUNT];
    (void)state;
    for (size_t t = 0; t < UNIT_COUNT(rows); t++) {
        qdq_graph *g = qdq_graph_create("clamp", NULL);
        qdq_value v = qdq_input(g, "x", rows[t].dtype, QDQ_SHAPE(ROWS, COLUMNS));
        qdq_clamp_integer_attrs attrs = {.min = QDQ_INT(rows[t].least),
                                         .max = QDQ_INT(rows[t].most)};
        qdq_output(g, "y", qdq_clamp_integer(g, v, attrs));
        fill(rows[t].dtype, x, wx);
        network_tensor in = {"x", rows[t].dtype, x, COUNT};
        network_run(g, &in, 1, (network_tensor){"y", rows[t].dtype, y, COUNT});
        qdq_graph_destroy(g);
        for (int i = 0; i < COUNT; i++) {
            int32_t want = wx[i] < rows[t].least  ? rows[t].least
                           : wx[i] > rows[t].most ? rows[t].most
                                                  : wx[i];
            assert_int_equal(element(rows[t].dtype, y, (size_t)i), want);
        }
    }
}

// Runs NegInteger on the edges. `given`: with both zero points.
static void negate(qdq_dtype dtype, bool given, int32_t x_zero, int32_t y_zero) {
    bool is_signed = dtype == QDQ_INT8 || dtype == QDQ_INT16;
    int32_t codes = dtype == QDQ_INT8 || dtype == QDQ_UINT8 ? 256 : 65536;
    int32_t least = is_signed ? -codes / 2 : 0, most = least + codes - 1;
    int32_t x[COUNT], y[COUNT], wx[COUNT];
    qdq_graph *g = qdq_graph_create("neg", NULL);
    qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE(ROWS, COLUMNS));
    qdq_neg_integer_attrs attrs = {.name = "n"};
    if (given) {
        attrs.x_zero_point = qdq_constant(g, "xz", dtype, QDQ_SHAPE(1), &x_zero);
        attrs.y_zero_point = qdq_constant(g, "yz", dtype, QDQ_SHAPE(1), &y_zero);
    }
    qdq_output(g, "y", qdq_neg_integer(g, v, attrs));
    fill(dtype, x, wx);
    network_tensor in = {"x", dtype, x, COUNT};
    network_run(g, &in, 1, (network_tensor){"y", dtype, y, COUNT});
    qdq_graph_destroy(g);
    for (int i = 0; i < COUNT; i++) {
        int32_t want = given ? y_zero + x_zero - wx[i] : -wx[i];
        if (want < least) want = least;
        if (want > most) want = most;
        assert_int_equal(element(dtype, y, (size_t)i), want);
    }
}

static void codes_are_negated_around_their_zero_points(void **state) {
    (void)state;
    negate(QDQ_INT8, false, 0, 0);
    negate(QDQ_INT8, true, -128, 127);
    negate(QDQ_UINT8, true, 128, 100);
    negate(QDQ_INT16, false, 0, 0);
    negate(QDQ_UINT16, true, 32768, 32768);
}

static void zeros_before_the_first_bit_are_counted(void **state) {
    int32_t x[COUNT], y[COUNT], wx[COUNT];
    (void)state;
    qdq_graph *g = qdq_graph_create("clz", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT32, QDQ_SHAPE(ROWS, COLUMNS));
    qdq_output(g, "y", qdq_count_leading_zeros(g, v, (qdq_count_leading_zeros_attrs){0}));
    fill(QDQ_INT32, x, wx);
    network_tensor in = {"x", QDQ_INT32, x, COUNT};
    network_run(g, &in, 1, (network_tensor){"y", QDQ_INT32, y, COUNT});
    qdq_graph_destroy(g);
    for (int i = 0; i < COUNT; i++) {
        int bits;
        (void)frexp((double)(uint32_t)wx[i], &bits);
        assert_int_equal(y[i], 32 - bits);
    }
}

static void other_shifts_and_bounds_are_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("multiply", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT32, QDQ_SHAPE(2, 3));
    qdq_output(g, "y",
               qdq_multiply_shift(g, v, v, (qdq_multiply_shift_attrs){.shift = QDQ_INT(64)}));
    network_refuses(g, "core/attr-value", "shift is 64, wanted 0 to 63");
    g = qdq_graph_create("multiply", NULL);
    v = qdq_input(g, "x", QDQ_INT32, QDQ_SHAPE(2, 3));
    qdq_value other = qdq_input(g, "b", QDQ_INT32, QDQ_SHAPE(2));
    qdq_output(g, "y", qdq_multiply_shift(g, v, other, (qdq_multiply_shift_attrs){0}));
    network_refuses(g, "core/port-shape", "b has the shape [2]");
    g = qdq_graph_create("clamp", NULL);
    v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(2, 3));
    qdq_clamp_integer_attrs clamp = {.min = QDQ_INT(-129), .max = QDQ_INT(3)};
    qdq_output(g, "y", qdq_clamp_integer(g, v, clamp));
    network_refuses(g, "core/attr-value", "min is -129, wanted -128 to 127");
    g = qdq_graph_create("clamp", NULL);
    v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(2, 3));
    clamp = (qdq_clamp_integer_attrs){.min = QDQ_INT(4), .max = QDQ_INT(3)};
    qdq_output(g, "y", qdq_clamp_integer(g, v, clamp));
    network_refuses(g, "core/attr-value", "max is 3, wanted 4 to 127");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_shifted_half_up),
        cmocka_unit_test(shifts_round_down_or_half_up),
        cmocka_unit_test(codes_are_clamped),
        cmocka_unit_test(codes_are_negated_around_their_zero_points),
        cmocka_unit_test(zeros_before_the_first_bit_are_counted),
        cmocka_unit_test(other_shifts_and_bounds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
