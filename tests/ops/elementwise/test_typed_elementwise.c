// SPDX-License-Identifier: Apache-2.0
// Elementwise ops on integers and bool: arithmetic, comparison, logic, bits and shifts, against
// arithmetic in 128 bits, at shapes that cross the blocks.
#include "tests/ops/typed_elements.h"

//---- A model in 128 bits ----------------------------------------------------

// Integers wrap around, as in numpy, PyTorch and ONNX Runtime.
static big fitted(qdq_dtype dtype, big_bits v) {
    big least = least_of(dtype), greatest = greatest_of(dtype);
    big_bits count = (big_bits)(greatest - least) + 1;
    big_bits low = v % count;
    return low > (big_bits)greatest ? (big)(low - count) : (big)low;
}

static big quotient(big a, big b) { return b == 0 ? 0 : a / b; }

typedef big model(qdq_dtype dtype, big a, big b);

static big add(qdq_dtype d, big a, big b) { return fitted(d, (big_bits)a + (big_bits)b); }
static big subtract(qdq_dtype d, big a, big b) { return fitted(d, (big_bits)a - (big_bits)b); }
static big multiply(qdq_dtype d, big a, big b) { return fitted(d, (big_bits)a * (big_bits)b); }
static big divide(qdq_dtype d, big a, big b) { return fitted(d, (big_bits)quotient(a, b)); }
static big minimum(qdq_dtype d, big a, big b) { return (void)d, a < b ? a : b; }
static big maximum(qdq_dtype d, big a, big b) { return (void)d, a < b ? b : a; }
static big equal(qdq_dtype d, big a, big b) { return (void)d, a == b; }
static big greater(qdq_dtype d, big a, big b) { return (void)d, a > b; }
static big greater_equal(qdq_dtype d, big a, big b) { return (void)d, !(a < b); }
static big less(qdq_dtype d, big a, big b) { return (void)d, a < b; }
static big less_or_equal(qdq_dtype d, big a, big b) { return (void)d, !(a > b); }
static big both(qdq_dtype d, big a, big b) { return (void)d, a && b; }
static big either(qdq_dtype d, big a, big b) { return (void)d, a || b; }
static big differ(qdq_dtype d, big a, big b) { return (void)d, a != b; }
static big bits_and(qdq_dtype d, big a, big b) { return (void)d, a & b; }
static big bits_or(qdq_dtype d, big a, big b) { return (void)d, a | b; }
static big bits_xor(qdq_dtype d, big a, big b) { return (void)d, a ^ b; }

static const struct {
    const char *op;
    model *wanted;
    unsigned dtypes;
    bool compares;
} ops[] = {
    {"Add", add, SUMMED, false},
    {"Subtract", subtract, SUMMED, false},
    {"Multiply", multiply, SUMMED, false},
    {"Divide", divide, SUMMED, false},
    {"Minimum", minimum, SUMMED, false},
    {"Maximum", maximum, SUMMED, false},
    {"Equal", equal, ALL_INTS | QDQ_BIT(BOOL), true},
    {"Greater", greater, ALL_INTS, true},
    {"GreaterEqual", greater_equal, ALL_INTS, true},
    {"Less", less, ALL_INTS, true},
    {"LessOrEqual", less_or_equal, ALL_INTS, true},
    {"And", both, QDQ_BIT(BOOL), true},
    {"Or", either, QDQ_BIT(BOOL), true},
    {"Xor", differ, QDQ_BIT(BOOL), true},
    {"BitwiseAnd", bits_and, BITS, false},
    {"BitwiseOr", bits_or, BITS, false},
    {"BitwiseXor", bits_xor, BITS, false},
};

//---- Integers ---------------------------------------------------------------

static void integers_are_exact_at_every_shape(void **state) {
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(ops); k++)
        for (qdq_dtype in = QDQ_FLOAT32; in < QDQ_DTYPE_COUNT; in++) {
            if (!(ops[k].dtypes >> in & 1)) continue;
            qdq_dtype out = ops[k].compares ? QDQ_BOOL : in;
            fill(in, a_data, MOST, 3 * k + 1), fill(in, b_data, MOST, 5 * k + 2);
            for (size_t s = 0; s < UNIT_COUNT(joins); s++) {
                const join *j = &joins[s];
                run(ops[k].op, j, in, out);
                for (size_t i = 0; i < qdq_shape_count(j->y); i++) {
                    big a = value_of(in, a_data, source(j->y, j->a, i));
                    big b = value_of(in, b_data, source(j->y, j->b, i));
                    if (value_of(out, y_data, i) != ops[k].wanted(in, a, b))
                        fail_msg("%s of %s, shape %zu: %lld and %lld gave %lld", ops[k].op,
                                 qdq_dtype_name(in), s, (long long)a, (long long)b,
                                 (long long)value_of(out, y_data, i));
                }
            }
        }
}

// From Python: (a * b) % 2**64, and the same as a signed number.
static void products_beyond_64_bits_wrap_around(void **state) {
    static const join one = {D(1), D(1), D(1)};
    (void)state;
    a_data[0] = UINT64_C(12345678901234567890), b_data[0] = UINT64_C(9876543210987654321);
    run("Multiply", &one, QDQ_UINT64, QDQ_UINT64);
    assert_true(y_data[0] == UINT64_C(133124662968603442));
    a_data[0] = (uint64_t)INT64_MIN, b_data[0] = (uint64_t)-1;
    run("Divide", &one, QDQ_INT64, QDQ_INT64);
    assert_true((int64_t)y_data[0] == INT64_MIN);
    a_data[0] = (uint64_t)-7, b_data[0] = 2;
    run("Divide", &one, QDQ_INT64, QDQ_INT64);
    assert_true((int64_t)y_data[0] == -3);
    b_data[0] = 0;
    run("Divide", &one, QDQ_INT64, QDQ_INT64);
    assert_true(y_data[0] == 0);
}

static void shifts_by_the_width_or_more_give_0(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_UINT8, QDQ_UINT16, QDQ_UINT32, QDQ_UINT64};
    (void)state;
    for (size_t k = 0; k < 2 * UNIT_COUNT(dtypes); k++) {
        qdq_dtype dtype = dtypes[k / 2];
        size_t size = qdq_dtype_size(dtype), bits = 8 * size;
        fill(dtype, a_data, MOST, k);
        memset(b_data, 0, sizeof b_data);
        for (size_t i = 0; i < MOST; i++) {
            uint64_t by =
                i % (bits + 3) == bits + 2 ? (uint64_t)greatest_of(dtype) : i % (bits + 3);
            memcpy((char *)b_data + i * size, &by, size);
        }
        qdq_graph *g = qdq_graph_create("shift", NULL);
        qdq_value a = qdq_input(g, "a", dtype, QDQ_SHAPE(MOST));
        qdq_value b = qdq_input(g, "b", dtype, QDQ_SHAPE(MOST));
        qdq_bit_shift_attrs attrs = {.direction = k % 2 ? QDQ_SHIFT_RIGHT : QDQ_SHIFT_LEFT};
        qdq_output(g, "y", qdq_bit_shift(g, a, b, attrs));
        network_tensor inputs[] = {{"a", dtype, a_data, MOST}, {"b", dtype, b_data, MOST}};
        network_run(g, inputs, 2, (network_tensor){"y", dtype, y_data, MOST});
        qdq_graph_destroy(g);
        for (size_t i = 0; i < MOST; i++) {
            big x = value_of(dtype, a_data, i), by = value_of(dtype, b_data, i), power = 1;
            for (big n = 0; n < by && n < 64; n++) power *= 2;
            big wanted = k % 2 ? x / power : (big)fitted(dtype, (big_bits)x * (big_bits)power);
            assert_true(value_of(dtype, y_data, i) == wanted);
        }
    }
}

static void one_integer_gives_its_magnitude_negative_or_complement(void **state) {
    (void)state;
    for (qdq_dtype dtype = QDQ_FLOAT32; dtype < QDQ_DTYPE_COUNT; dtype++) {
        if (!(BITS >> dtype & 1)) continue;
        fill(dtype, a_data, MOST, 9);
        run_unary("BitwiseNot", dtype, dtype, a_data, y_data, MOST);
        for (size_t i = 0; i < MOST; i++) {
            big x = value_of(dtype, a_data, i);
            big wanted = least_of(dtype) < 0 ? -1 - x : greatest_of(dtype) - x;
            assert_true(value_of(dtype, y_data, i) == wanted);
        }
        if (!(SUMMED >> dtype & 1)) continue;
        run_unary("Abs", dtype, dtype, a_data, y_data, MOST);
        for (size_t i = 0; i < MOST; i++) {
            big x = value_of(dtype, a_data, i);
            assert_true(value_of(dtype, y_data, i) == fitted(dtype, (big_bits)(x < 0 ? -x : x)));
        }
        run_unary("Neg", dtype, dtype, a_data, y_data, MOST);
        for (size_t i = 0; i < MOST; i++)
            assert_true(value_of(dtype, y_data, i) ==
                        fitted(dtype, (big_bits)-value_of(dtype, a_data, i)));
    }
    fill(QDQ_BOOL, a_data, MOST, 9);
    run_unary("Not", QDQ_BOOL, QDQ_BOOL, a_data, y_data, MOST);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(((uint8_t *)y_data)[i], !((uint8_t *)a_data)[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact_at_every_shape),
        cmocka_unit_test(products_beyond_64_bits_wrap_around),
        cmocka_unit_test(shifts_by_the_width_or_more_give_0),
        cmocka_unit_test(one_integer_gives_its_magnitude_negative_or_complement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
