// SPDX-License-Identifier: Apache-2.0
// Pow of integers and Mod: results by hand and from the C library, at the ends of the ranges too.
#include <math.h>

#include "tests/network.h"

static void run(const char *op, bool fmod, qdq_dtype dtype, void *a, void *b, void *y, size_t n) {
    qdq_graph *g = qdq_graph_create("binary", NULL);
    qdq_value va = qdq_input(g, "a", dtype, QDQ_SHAPE((int64_t)n));
    qdq_value vb = qdq_input(g, "b", dtype, QDQ_SHAPE((int64_t)n));
    qdq_value v = strcmp(op, "Pow") == 0
                      ? qdq_pow(g, va, vb, (qdq_binary_attrs){0})
                      : qdq_mod(g, va, vb, (qdq_mod_attrs){.fmod = fmod ? QDQ_TRUE : QDQ_FALSE});
    qdq_output(g, "y", v);
    network_tensor inputs[] = {{"a", dtype, a, n}, {"b", dtype, b, n}};
    network_run(g, inputs, 2, (network_tensor){"y", dtype, y, n});
    qdq_graph_destroy(g);
}

static void powers_of_int32_wrap_around(void **state) {
    (void)state;
    int32_t a[] = {2, 2, -2, -2, 3, 0, 0, 1, -1, -1, 7, INT32_MIN, INT32_MIN, 46341};
    int32_t b[] = {30, 31, 31, 32, 4, 0, 5, -3, -3, -4, -1, 2, 3, 2}, y[14];
    // From Python: a ** b modulo 2**32, as a signed number.
    const int32_t wanted[] = {1 << 30, INT32_MIN, INT32_MIN, 0, 81, 1, 0,
                              1,       -1,        1,         0, 0,  0, -2147479015};
    run("Pow", false, QDQ_INT32, a, b, y, 14);
    assert_memory_equal(y, wanted, sizeof y);
}

static void powers_of_wide_integers_wrap_around(void **state) {
    (void)state;
    int64_t a[] = {3, -3, 2, 2, 10, -1, 5}, b[] = {39, 39, 63, 64, 18, INT64_MIN, -1}, y[7];
    const int64_t wanted[] = {INT64_C(4052555153018976267),
                              -INT64_C(4052555153018976267),
                              INT64_MIN,
                              0,
                              INT64_C(1000000000000000000),
                              1,
                              0};
    run("Pow", false, QDQ_INT64, a, b, y, 7);
    assert_memory_equal(y, wanted, sizeof y);
    uint64_t ua[] = {UINT64_MAX, UINT64_MAX, 3}, ub[] = {2, 3, 40}, uy[3];
    run("Pow", false, QDQ_UINT64, ua, ub, uy, 3);
    assert_memory_equal(uy, ((uint64_t[]){1, UINT64_MAX, UINT64_C(12157665459056928801)}), 24);
}

static void remainders_have_the_sign_of_b_or_with_fmod_of_a(void **state) {
    (void)state;
    int32_t a[] = {-4, 7, 5, 4, -7, 8, INT32_MIN, 5}, b[] = {2, -3, 8, -2, 3, 5, -1, 0}, y[8];
    run("Mod", false, QDQ_INT32, a, b, y, 8);
    assert_memory_equal(y, ((int32_t[]){0, -2, 5, 0, 2, 3, 0, 0}), sizeof y);
    run("Mod", true, QDQ_INT32, a, b, y, 8);
    assert_memory_equal(y, ((int32_t[]){0, 1, 5, 0, -1, 3, 0, 0}), sizeof y);
    int8_t sa[] = {-128, -128, 127}, sb[] = {-1, 100, -128}, sy[3];
    run("Mod", false, QDQ_INT8, sa, sb, sy, 3);
    assert_memory_equal(sy, ((int8_t[]){0, 72, -1}), 3);
    int64_t wa[] = {INT64_MIN, INT64_MIN, INT64_MAX}, wb[] = {-1, 10, -10}, wy[3];
    run("Mod", false, QDQ_INT64, wa, wb, wy, 3);
    assert_memory_equal(wy, ((int64_t[]){0, 2, -3}), 24);
    uint64_t ua[] = {UINT64_MAX, 5}, ub[] = {10, 0}, uy[2];
    run("Mod", true, QDQ_UINT64, ua, ub, uy, 2);
    assert_memory_equal(uy, ((uint64_t[]){5, 0}), 16);
}

static void remainders_of_floats_are_those_of_the_c_library(void **state) {
    (void)state;
    enum { COUNT = 500 };
    float a[COUNT], b[COUNT], y[COUNT], of_b[COUNT];
    uint64_t random = 3;
    for (size_t i = 0; i < COUNT; i++) {
        a[i] = unit_float_of_bits((uint32_t)unit_random(&random));
        b[i] = unit_float_of_bits((uint32_t)unit_random(&random));
    }
    a[0] = 5.5f, b[0] = 0, a[1] = 3, b[1] = INFINITY, a[2] = -3, b[2] = INFINITY;
    run("Mod", true, QDQ_FLOAT32, a, b, y, COUNT);
    run("Mod", false, QDQ_FLOAT32, a, b, of_b, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        float rest = fmodf(a[i], b[i]);
        float moved = rest != 0 && signbit(rest) != signbit(b[i]) ? rest + b[i] : rest;
        assert_true(isnan(rest) ? isnan(y[i])
                                : unit_bits_of_float(y[i]) == unit_bits_of_float(rest));
        assert_true(isnan(rest) ? isnan(of_b[i]) : of_b[i] == moved);
    }
    double da[] = {-5.5, 1e300}, db[] = {2, -7}, dy[2];
    run("Mod", false, QDQ_FLOAT64, da, db, dy, 2);
    assert_true(dy[0] == 0.5 && dy[1] == fmod(1e300, 7.0) - 7.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_int32_wrap_around),
        cmocka_unit_test(powers_of_wide_integers_wrap_around),
        cmocka_unit_test(remainders_have_the_sign_of_b_or_with_fmod_of_a),
        cmocka_unit_test(remainders_of_floats_are_those_of_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
