// SPDX-License-Identifier: Apache-2.0
// Elementary functions (exp, log, tanh, ...) are nearly always correctly rounded and give the same
// bits on every machine. References: the long double functions of the C library, and mpmath
// (elementary_golden.h).
#include "runtime/numerics/elementary.h"
#include "runtime/numerics/hyperbolic.h"
#include "runtime/numerics/trigonometric.h"
#include "tests/runtime/numerics/elementary_golden.h"
#include "tests/unit.h"

enum { BLOCK = 1024, STEP = 4099 };  // a prime: over 2000 floats of every exponent and sign

static long double sigmoidl(long double x) { return 1 / (1 + expl(-x)); }

static long double silul(long double x) { return x / (1 + expl(-x)); }

static long double rsqrtl(long double x) { return 1 / sqrtl(x); }

static long double softplusl(long double x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }

// The loops in which callers use the functions, and which compilers vectorize.
#define LOOP(name)                                                                     \
    static void name##_of_many(const float *restrict x, float *restrict y, size_t n) { \
        for (size_t i = 0; i < n; i++) y[i] = qdq_##name##f(x[i]);                     \
    }                                                                                  \
    static float name##_of_one(float x) { return qdq_##name##f(x); }
LOOP(exp)
LOOP(expm1)
LOOP(log)
LOOP(log1p)
LOOP(tanh)
LOOP(erf)
LOOP(sigmoid)
LOOP(silu)
LOOP(rsqrt)
LOOP(softplus)
LOOP(sin)
LOOP(cos)
LOOP(tan)
LOOP(asin)
LOOP(acos)
LOOP(atan)
LOOP(sinh)
LOOP(cosh)
LOOP(asinh)
LOOP(acosh)
LOOP(atanh)

// `walk` is the hash (see below) of the correctly rounded results of every STEP'th float from 0 on:
// glibc's in 64-bit long double on x86-64, rounded to float.
#define ROW(name, walk) \
    { #name, name##_of_many, name##_of_one, name##l, walk }
static const struct function {
    const char *name;
    void (*many)(const float *x, float *y, size_t n);
    float (*one)(float x);
    long double (*reference)(long double x);
    uint64_t walk;
} functions[] = {
    ROW(exp, 0xE26EE38C88F0DA64),     ROW(expm1, 0x849ABECAE504FABF),
    ROW(log, 0x7C8959DF3A6A7A51),     ROW(log1p, 0xD5CE368A6078ABCE),
    ROW(tanh, 0x5D9A7B8492E5EF7B),    ROW(erf, 0x09D4DCD9AD748FB5),
    ROW(sigmoid, 0x22DDBB08A8C2AB2B), ROW(softplus, 0xB7920E4FA33F34F8),
    ROW(sin, 0xA56710BB4F188C28),     ROW(cos, 0xE220E47A8E0F4F80),
    ROW(tan, 0x032D1D117C382A98),     ROW(asin, 0xBD450314D5987B63),
    ROW(acos, 0x58752C4715886FCD),    ROW(atan, 0xD2033D2624E9CF34),
    ROW(sinh, 0xC468AB2B82F38AE0),    ROW(cosh, 0x187FEB080D3FE061),
    ROW(asinh, 0x728D97B5B89E47BD),   ROW(acosh, 0x56816834F27FCC7A),
    ROW(atanh, 0xCFF36A8C3854F230),   ROW(silu, 0x6C7EE43FA35D0E42),
    ROW(rsqrt, 0x05A624D3B360D7A3),
};

static const struct function *function_of(const char *name) {
    size_t i = 0;
    while (strcmp(functions[i].name, name) != 0) i++;
    return &functions[i];
}

static uint64_t hashed(uint64_t hash, float y) {
    return (hash ^ qdq_float_bits(y)) * 0x100000001B3u;
}

static size_t next_block(uint64_t *bits, float x[BLOCK]) {
    size_t n = 0;
    for (; n < BLOCK && *bits < (uint64_t)1 << 32; n++, *bits += STEP)
        x[n] = qdq_float_from_bits((uint32_t)*bits);
    return n;
}

static void a_million_floats_give_the_correctly_rounded_bits(void **state) {
    (void)state;
    float x[BLOCK], y[BLOCK];
    for (size_t f = 0; f < UNIT_COUNT(functions); f++) {
        uint64_t hash = 0xCBF29CE484222325u;
        for (uint64_t bits = 0; bits < (uint64_t)1 << 32;) {
            size_t n = next_block(&bits, x);
            functions[f].many(x, y, n);
            for (size_t i = 0; i < n; i++) hash = hashed(hash, y[i]);
        }
        if (hash != functions[f].walk)
            fail_msg("%s: 0x%016llX", functions[f].name, (unsigned long long)hash);
    }
}

static void one_at_a_time_gives_the_bits_of_a_loop(void **state) {
    (void)state;
    float x[BLOCK], y[BLOCK];
    for (size_t f = 0; f < UNIT_COUNT(functions); f++)
        for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 63 * (uint64_t)STEP) {
            size_t n = next_block(&bits, x);
            functions[f].many(x, y, n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(qdq_float_bits(functions[f].one(x[i])), qdq_float_bits(y[i]));
        }
}

// The error in units in the last place of the float next to the true value.
static double error_of(float y, long double truth) {
    int exponent;
    frexpl(truth, &exponent);
    if (exponent < -125) exponent = -125;
    return (double)fabsl(ldexpl((long double)y - truth, 24 - exponent));
}

static void check_error(const struct function *f, float x, float y) {
    long double truth = f->reference((long double)x);
    if (isnan(truth)) {
        assert_int_equal(qdq_float_bits(y), 0x7FC00000);
    } else if (!isfinite((float)truth) || truth == 0) {
        assert_int_equal(qdq_float_bits(y), qdq_float_bits((float)truth));
    } else if (!(error_of(y, truth) <= 0.500001)) {
        fail_msg("%s of %a: %a, %.9f ulp off", f->name, (double)x, (double)y, error_of(y, truth));
    }
}

static void every_error_stays_within_its_bound(void **state) {
    (void)state;
    float x[BLOCK], y[BLOCK];
    for (size_t f = 0; f < UNIT_COUNT(functions); f++)
        for (uint64_t bits = 1; bits < (uint64_t)1 << 32;) {
            size_t n = next_block(&bits, x);
            if (unit_left_out(bits)) continue;
            functions[f].many(x, y, n);
            // long double runs in software
            if (LDBL_MANT_DIG > 64) bits += 15 * (uint64_t)BLOCK * STEP;
            for (size_t i = 0; i < n; i++) check_error(&functions[f], x[i], y[i]);
        }
}

static void results_are_those_of_mpmath(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(elementary_golden); i++) {
        const struct function *f = function_of(elementary_golden[i].function);
        uint32_t y = qdq_float_bits(f->one(qdq_float_from_bits(elementary_golden[i].x)));
        if (y != elementary_golden[i].y)
            fail_msg("%s of %08X: %08X", f->name, elementary_golden[i].x, y);
    }
}

// A row has the results for +0, -0, +infinity and -infinity.
static void special_values_have_these_bits(void **state) {
    (void)state;
    static const uint32_t x[4] = {0x00000000, 0x80000000, 0x7F800000, 0xFF800000};
    static const struct {
        const char *function;
        uint32_t y[4];
    } rows[] = {
        {"exp", {0x3F800000, 0x3F800000, 0x7F800000, 0x00000000}},
        {"expm1", {0x00000000, 0x80000000, 0x7F800000, 0xBF800000}},
        {"log", {0xFF800000, 0xFF800000, 0x7F800000, 0x7FC00000}},
        {"log1p", {0x00000000, 0x80000000, 0x7F800000, 0x7FC00000}},
        {"tanh", {0x00000000, 0x80000000, 0x3F800000, 0xBF800000}},
        {"erf", {0x00000000, 0x80000000, 0x3F800000, 0xBF800000}},
        {"sigmoid", {0x3F000000, 0x3F000000, 0x3F800000, 0x00000000}},
        {"softplus", {0x3F317218, 0x3F317218, 0x7F800000, 0x00000000}},
        {"silu", {0x00000000, 0x80000000, 0x7F800000, 0x80000000}},
        {"rsqrt", {0x7F800000, 0xFF800000, 0x00000000, 0x7FC00000}},
        {"sin", {0, 0x80000000, 0x7FC00000, 0x7FC00000}},
        {"cos", {0x3F800000, 0x3F800000, 0x7FC00000, 0x7FC00000}},
        {"tan", {0, 0x80000000, 0x7FC00000, 0x7FC00000}},
        {"asin", {0, 0x80000000, 0x7FC00000, 0x7FC00000}},
        {"acos", {0x3FC90FDB, 0x3FC90FDB, 0x7FC00000, 0x7FC00000}},
        {"atan", {0, 0x80000000, 0x3FC90FDB, 0xBFC90FDB}},
        {"sinh", {0, 0x80000000, 0x7F800000, 0xFF800000}},
        {"cosh", {0x3F800000, 0x3F800000, 0x7F800000, 0x7F800000}},
        {"asinh", {0, 0x80000000, 0x7F800000, 0xFF800000}},
        {"acosh", {0x7FC00000, 0x7FC00000, 0x7F800000, 0x7FC00000}},
        {"atanh", {0, 0x80000000, 0x7FC00000, 0x7FC00000}},
    };
    static const uint32_t nans[] = {0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF812345, 0xFFFFFFFF};
    for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
        const struct function *f = function_of(rows[r].function);
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(qdq_float_bits(f->one(qdq_float_from_bits(x[k]))), rows[r].y[k]);
        for (size_t k = 0; k < UNIT_COUNT(nans); k++)
            assert_int_equal(qdq_float_bits(f->one(qdq_float_from_bits(nans[k]))), 0x7FC00000);
    }
    assert_int_equal(qdq_float_bits(qdq_logf(1.0f)), 0);
    assert_int_equal(qdq_float_bits(qdq_log1pf(-1.0f)), 0xFF800000);
    assert_int_equal(qdq_float_bits(qdq_log1pf(-0x1.000002p0f)), 0x7FC00000);
    assert_int_equal(qdq_float_bits(qdq_logf(-0x1p-149f)), 0x7FC00000);
}

// Random arguments against powl, and the limits of C's pow.
static void powers_are_rounded_and_have_the_limits_of_c(void **state) {
    (void)state;
    static const float limits[] = {0.0f,      -0.0f,   1.0f,           -1.0f,    0.5f,      -2.0f,
                                   3.0f,      -3.0f,   2.5f,           INFINITY, -INFINITY, NAN,
                                   0x1p-140f, 0x1p24f, 0x1.fffffep23f, -0x1p127f};
    uint64_t random = 7;
    for (size_t i = 0; i < UNIT_COUNT(limits) * UNIT_COUNT(limits); i++) {
        float x = limits[i / UNIT_COUNT(limits)], y = limits[i % UNIT_COUNT(limits)];
        float wanted = (float)pow((double)x, (double)y);
        uint32_t bits = isnan(wanted) ? 0x7FC00000 : qdq_float_bits(wanted);
        if (qdq_float_bits(qdq_powf(x, y)) != bits) fail_msg("%a^%a", (double)x, (double)y);
    }
    for (int i = 0; i < 200000; i++) {
        uint32_t a = (uint32_t)unit_random(&random), b = (uint32_t)unit_random(&random);
        float x = unit_float_of_bits((a & 0x007FFFFF) | (100 + a % 56) << 23);
        float y = i % 3 ? unit_float_of_bits((b & 0x807FFFFF) | (117 + b % 16) << 23)
                        : (float)((int)(b % 9) - 4);
        long double truth = powl((long double)x, (long double)y);
        if (truth > 0x1p-126L && truth < 0x1p127L && !(error_of(qdq_powf(x, y), truth) <= 0.50001))
            fail_msg("%a^%a", (double)x, (double)y);
    }
    assert_true(qdq_powf(0x1.001p0f, 2.0f) == 0x1.002p0f);  // halfway: to even
}

// At the last finite result, where polynomials meet, and around zero.
static void results_are_monotonic(void **state) {
    (void)state;
    static const struct {
        const char *function;
        float from;
    } rows[] = {
        {"exp", 88.7f},        {"exp", -103.97f},        {"exp", -87.34f},
        {"exp", 0.3465f},      {"expm1", 88.7f},         {"expm1", -17.4f},
        {"expm1", 0.3465f},    {"expm1", -0.3466f},      {"log", 1.4141f},
        {"log", 0.70705f},     {"log", 0.99999f},        {"log", 0x1p-126f},
        {"log1p", 0.41415f},   {"log1p", -0.293f},       {"log1p", -0.99999f},
        {"tanh", 9.0f},        {"tanh", 0.1732f},        {"tanh", -9.02f},
        {"erf", 3.91f},        {"erf", -3.93f},          {"sigmoid", 17.3f},
        {"sigmoid", -103.97f}, {"sigmoid", -0x1p-20f},   {"softplus", -103.97f},
        {"softplus", 17.3f},   {"softplus", -0x1p-140f}, {"atan", 0.41421f},
        {"atan", 0.9999f},     {"atan", 2.4142f},        {"asin", 0.70705f},
        {"asin", 0.99f},       {"asinh", 0.3535f},       {"sinh", 89.4f},
        {"atanh", 0.17157f},
    };
    for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
        const struct function *f = function_of(rows[r].function);
        float x = rows[r].from, y = f->one(x);
        for (int k = 0; k < 20000; k++) {
            x = nextafterf(x, INFINITY);
            float next = f->one(x);
            if (!(next >= y)) fail_msg("%s falls at %a", f->name, (double)x);
            y = next;
        }
    }
}

// The error in units in the last place of a double.
static double error64_of(double y, long double truth) {
    int exponent;
    frexpl(truth, &exponent);
    if (exponent < -1021) exponent = -1021;
    return (double)fabsl(ldexpl((long double)y - truth, 53 - exponent));
}

static void check_double(double x) {
    long double power = expl((long double)x), logarithm = logl((long double)fabs(x));
    if (power <= DBL_MAX) assert_true(error64_of(qdq_exp64(x), power) <= 1.1);
    if (x != 0 && fabs(x) != 1) assert_true(error64_of(qdq_log64(fabs(x)), logarithm) <= 1.0);
}

static void in_double_the_error_is_about_one_unit(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int k = 0; k < 100000; k++) {
        double unit = (double)(unit_random(&random) >> 11) * 0x1p-53;
        check_double(unit * 1455.0 - 745.2);
        check_double((unit - 0.5) * 8.0);
        check_double(1.0 + (unit - 0.5) * 0x1p-8);
        check_double(qdq_double_from_bits(unit_random(&random) % 0x7FF0000000000000u));
        check_double(unit * 0x1p-1022);
    }
}

static uint64_t exp64_bits(double x) { return qdq_double_bits(qdq_exp64(x)); }

static uint64_t log64_bits(double x) { return qdq_double_bits(qdq_log64(x)); }

static void special_doubles_have_these_bits(void **state) {
    (void)state;
    const uint64_t infinite = 0x7FF0000000000000u, nan = 0x7FF8000000000000u;
    double infinity = qdq_double_from_bits(infinite);
    double negative_nan = qdq_double_from_bits(0xFFF8000000000123u);
    assert_true(exp64_bits(0.0) == 0x3FF0000000000000u);
    assert_true(exp64_bits(-0.0) == 0x3FF0000000000000u);
    assert_true(exp64_bits(-infinity) == 0);
    assert_true(exp64_bits(-746.0) == 0);
    assert_true(exp64_bits(-745.0) == 1);  // e^-745 = 1.01 * 2^-1074
    assert_true(exp64_bits(710.0) == infinite);
    assert_true(exp64_bits(infinity) == infinite);
    assert_true(exp64_bits(negative_nan) == nan);
    assert_true(log64_bits(1.0) == 0);
    assert_true(log64_bits(0.0) == (infinite | 0x8000000000000000u));
    assert_true(log64_bits(-0.0) == (infinite | 0x8000000000000000u));
    assert_true(log64_bits(infinity) == infinite);
    assert_true(log64_bits(-1.0) == nan);
    assert_true(log64_bits(-infinity) == nan);
    assert_true(log64_bits(negative_nan) == nan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_floats_give_the_correctly_rounded_bits),
        cmocka_unit_test(one_at_a_time_gives_the_bits_of_a_loop),
        cmocka_unit_test(every_error_stays_within_its_bound),
        cmocka_unit_test(results_are_those_of_mpmath),
        cmocka_unit_test(special_values_have_these_bits),
        cmocka_unit_test(powers_are_rounded_and_have_the_limits_of_c),
        cmocka_unit_test(results_are_monotonic),
        cmocka_unit_test(in_double_the_error_is_about_one_unit),
        cmocka_unit_test(special_doubles_have_these_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
