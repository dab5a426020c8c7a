// SPDX-License-Identifier: Apache-2.0
// Sums are added in the order that runtime/numerics/sum.h documents, checked against its sentences
// as code and against exact sums.
#include "runtime/numerics/sum.h"
#include "tests/unit.h"

enum { MOST = 1200 };

typedef enum kind { SUM, SQUARES, MAGNITUDES, DEVIATIONS, KINDS } kind;

static double sum_of(kind k, const float *x, size_t n, size_t stride, double mean) {
    switch (k) {
    case SUM: return qdq_sum(x, n, stride);
    case SQUARES: return qdq_sum_of_squares(x, n, stride);
    case MAGNITUDES: return qdq_sum_of_magnitudes(x, n, stride);
    default: return qdq_sum_of_deviations(x, n, stride, mean);
    }
}

static double term_of(kind k, double v, double mean) {
    switch (k) {
    case SUM: return v;
    case SQUARES: return v * v;
    case MAGNITUDES: return v < 0 ? -v : v;
    default: return (v - mean) * (v - mean);
    }
}

// Volatile forces one addition after the other, as written.
static double documented(kind k, const float *x, size_t n, size_t stride, double mean) {
    volatile double a[16];
    for (int l = 0; l < 16; l++) a[l] = 0.0;
    for (size_t i = 0; i < n; i++) a[i % 16] = a[i % 16] + term_of(k, (double)x[i * stride], mean);
    for (int l = 0; l < 8; l++) a[l] = a[l] + a[l + 8];
    for (int l = 0; l < 4; l++) a[l] = a[l] + a[l + 4];
    for (int l = 0; l < 2; l++) a[l] = a[l] + a[l + 2];
    return a[0] + a[1];
}

static bool same_bits(double a, double b) { return qdq_double_bits(a) == qdq_double_bits(b); }

// Magnitudes far apart, so that another order rounds differently.
static void fill(float *x, size_t n) {
    uint64_t random = 7;
    for (size_t i = 0; i < n; i++) {
        uint64_t r = unit_random(&random);
        float mantissa = (float)(int32_t)(r >> 40) - 0x1p23f;
        x[i] = ldexpf(mantissa, (int)(r % 61) - 30);
    }
}

static void sums_go_in_the_documented_order(void **state) {
    (void)state;
    static float x[3 * MOST];
    fill(x, 3 * MOST);
    for (kind k = SUM; k < KINDS; k++)
        for (size_t stride = 1; stride <= 3; stride++)
            for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 113)
                assert_true(
                    same_bits(sum_of(k, x, n, stride, 0.3), documented(k, x, n, stride, 0.3)));
}

// Tests the test: the numbers above tell orders apart.
static void another_order_gives_other_bits(void **state) {
    (void)state;
    static float x[MOST];
    fill(x, MOST);
    double straight = 0;
    for (size_t i = 0; i < MOST; i++) straight += (double)x[i];
    assert_false(same_bits(straight, qdq_sum(x, MOST, 1)));
}

static void sums_of_integers_are_exact(void **state) {
    (void)state;
    static float x[MOST];
    int64_t sum = 0, squares = 0, magnitudes = 0, deviations = 0;
    uint64_t random = 3;
    for (size_t i = 0; i < MOST; i++) {
        int64_t v = (int64_t)(unit_random(&random) >> 44) - (1 << 19);
        x[i] = (float)v;
        sum += v, squares += v * v, magnitudes += v < 0 ? -v : v;
        deviations += (v - 5) * (v - 5);
    }
    assert_true(same_bits(qdq_sum(x, MOST, 1), (double)sum));
    assert_true(same_bits(qdq_sum_of_squares(x, MOST, 1), (double)squares));
    assert_true(same_bits(qdq_sum_of_magnitudes(x, MOST, 1), (double)magnitudes));
    assert_true(same_bits(qdq_sum_of_deviations(x, MOST, 1, 5.0), (double)deviations));
}

static void sums_in_parts_equal_sums_at_once(void **state) {
    (void)state;
    static float x[MOST];
    fill(x, MOST);
    for (size_t part = 16; part <= 1024; part *= 4)
        for (size_t n = 1; n <= MOST; n += 109) {
            double lanes[4][QDQ_SUM_LANES] = {0};
            for (size_t at = 0; at < n; at += part) {
                size_t count = n - at < part ? n - at : part;
                qdq_sum_add(lanes[SUM], x + at, count, 1);
                qdq_sum_add_squares(lanes[SQUARES], x + at, count, 1);
                qdq_sum_add_magnitudes(lanes[MAGNITUDES], x + at, count, 1);
                qdq_sum_add_deviations(lanes[DEVIATIONS], x + at, count, 1, 0.3);
            }
            for (kind k = SUM; k < KINDS; k++)
                assert_true(same_bits(qdq_sum_lanes(lanes[k]), documented(k, x, n, 1, 0.3)));
        }
}

static void doubles_are_added_in_the_same_order(void **state) {
    (void)state;
    static float x[MOST];
    static double wide[MOST];
    fill(x, MOST);
    for (size_t i = 0; i < MOST; i++) wide[i] = (double)x[i];
    for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 113) {
        double lanes[QDQ_SUM_LANES] = {0};
        qdq_sum_add64(lanes, wide, n);
        assert_true(same_bits(qdq_sum_lanes(lanes), documented(SUM, x, n, 1, 0)));
    }
}

static void products_go_in_the_order_of_sums(void **state) {
    (void)state;
    static float x[MOST];
    fill(x, MOST);
    for (size_t i = 0; i < MOST; i++) x[i] = 1 + x[i] * 0x1p-40f;
    for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 113) {
        volatile double a[16];
        double lanes[QDQ_SUM_LANES];
        for (int l = 0; l < 16; l++) a[l] = lanes[l] = 1;
        for (size_t i = 0; i < n; i++) a[i % 16] = a[i % 16] * (double)x[i];
        for (int half = 8; half; half /= 2)
            for (int l = 0; l < half; l++) a[l] = a[l] * a[l + half];
        qdq_product_multiply(lanes, x, n, 1);
        assert_true(same_bits(qdq_product_lanes(lanes), a[0]));
    }
}

static void empty_sums_and_negative_zeros_are_zero(void **state) {
    (void)state;
    static const float zeros[3] = {-0.0f, -0.0f, -0.0f};
    for (kind k = SUM; k < KINDS; k++)
        for (size_t n = 0; n <= 3; n++) assert_true(same_bits(sum_of(k, zeros, n, 1, 0.0), 0.0));
}

static void infinities_and_nan_pass_through(void **state) {
    (void)state;
    const double infinity = qdq_double_from_bits(0x7FF0000000000000u);
    const double nan = qdq_double_from_bits(0x7FF8000000000000u);
    static float x[40];
    x[17] = -INFINITY;
    assert_true(same_bits(qdq_sum(x, 40, 1), -infinity));
    assert_true(same_bits(qdq_sum_of_magnitudes(x, 40, 1), infinity));
    x[20] = INFINITY;
    assert_true(same_bits(qdq_sum(x, 40, 1), nan));
    assert_true(same_bits(qdq_sum_of_squares(x, 40, 1), infinity));
    x[39] = qdq_float_from_bits(0xFFC12345u);
    for (kind k = SUM; k < KINDS; k++) assert_true(same_bits(sum_of(k, x, 40, 1, 0.0), nan));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_go_in_the_documented_order),
        cmocka_unit_test(another_order_gives_other_bits),
        cmocka_unit_test(sums_of_integers_are_exact),
        cmocka_unit_test(sums_in_parts_equal_sums_at_once),
        cmocka_unit_test(doubles_are_added_in_the_same_order),
        cmocka_unit_test(products_go_in_the_order_of_sums),
        cmocka_unit_test(empty_sums_and_negative_zeros_are_zero),
        cmocka_unit_test(infinities_and_nan_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
