// SPDX-License-Identifier: Apache-2.0
// Rounding of weights by second moments: an example by hand, the definition in long double (normal
// equations for the weights that are still free), and the error against rounding to nearest.
#include <math.h>

#include "tests/unit.h"
#include "tools/lab/quantize/correct_rounding.h"

enum { MOST = 24, N = ROUNDED_CHANNELS };

typedef struct layer {
    size_t depth, rows;
    double x[64 * MOST], w[MOST * N], scales[MOST * N], errors[MOST * N], moments[MOST * MOST];
    int32_t codes[MOST * N];
} layer;

static double draw(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

// Makes inputs whose columns depend on each other, and weights that use all codes.
static void make(layer *l, size_t depth, size_t rows, uint32_t seed) {
    *l = (layer){.depth = depth, .rows = rows};
    for (size_t r = 0; r < rows; r++) {
        double common = draw(&seed);
        for (size_t i = 0; i < depth; i++) l->x[r * depth + i] = common + 0.5 * draw(&seed);
    }
    for (size_t i = 0; i < depth * N; i++) {
        l->scales[i] = 1.0 / (double)(4 + i % N);
        l->w[i] = draw(&seed);
    }
}

static bool correct(layer *l, double damping, double least, double greatest) {
    const rounded_block block = {l->w, l->scales, l->errors, l->codes, least, greatest};
    moments_add(l->moments, l->depth, l->x, l->rows);
    if (!moments_factor(l->moments, l->depth, damping)) return false;
    round_by_moments(l->moments, l->depth, &block);
    return true;
}

//---- The definition -----------------------------------------------------------

static void damped(const layer *l, long double damping, long double h[MOST][MOST]) {
    long double mean = 0;
    for (size_t i = 0; i < l->depth; i++)
        for (size_t j = 0; j < l->depth; j++) {
            h[i][j] = 0;
            for (size_t r = 0; r < l->rows; r++)
                h[i][j] += (long double)l->x[r * l->depth + i] * l->x[r * l->depth + j];
            if (i == j) mean += h[i][i] / l->depth;
        }
    for (size_t i = 0; i < l->depth; i++) h[i][i] += damping * mean;
}

// Solves a x = b of `n` unknowns by elimination with pivots; x replaces b.
static void solve(long double a[MOST][MOST], long double *b, size_t n) {
    for (size_t p = 0; p < n; p++) {
        size_t best = p;
        for (size_t i = p + 1; i < n; i++)
            if (fabsl(a[i][p]) > fabsl(a[best][p])) best = i;
        for (size_t j = 0; j < n; j++) {
            long double t = a[p][j];
            a[p][j] = a[best][j], a[best][j] = t;
        }
        long double t = b[p];
        b[p] = b[best], b[best] = t;
        for (size_t i = 0; i < n; i++) {
            if (i == p) continue;
            long double times = a[i][p] / a[p][p];
            for (size_t j = p; j < n; j++) a[i][j] -= times * a[p][j];
            b[i] -= times * b[p];
        }
    }
    for (size_t p = 0; p < n; p++) b[p] /= a[p][p];
}

// Returns the weight of column j that, with the errors of columns before it, gives the least error
// when all later weights are free: errors of columns j and later solve H22 e = -H21 (errors
// before).
static long double free_weight(layer *l, long double h[MOST][MOST], size_t c, size_t j) {
    long double a[MOST][MOST], b[MOST];
    size_t n = l->depth - j;
    for (size_t i = 0; i < n; i++) {
        b[i] = 0;
        for (size_t k = 0; k < n; k++) a[i][k] = h[j + i][j + k];
        for (size_t k = 0; k < j; k++) {
            size_t at = k * N + c;
            b[i] -= h[j + i][k] * ((long double)l->w[at] - l->codes[at] * l->scales[at]);
        }
    }
    solve(a, b, n);
    return l->w[j * N + c] - b[0];
}

static long double error_of(const layer *l, long double h[MOST][MOST], const int32_t *codes) {
    long double sum = 0;
    for (size_t c = 0; c < N; c++)
        for (size_t i = 0; i < l->depth; i++)
            for (size_t j = 0; j < l->depth; j++) {
                size_t a = i * N + c, b = j * N + c;
                sum += (l->w[a] - codes[a] * l->scales[a]) * h[i][j] *
                       (l->w[b] - codes[b] * l->scales[b]);
            }
    return sum;
}

//---- Tests ------------------------------------------------------------------

static void two_weights_by_hand(void **state) {
    (void)state;
    // X'X is [[2, 1], [1, 2]]. 0.4 becomes 0, with an error of 0.4, so the second weight should be
    // 0.4 + 0.4 * 1 / 2 = 0.6 and becomes 1: the error falls from 0.96 to 0.56.
    static layer l;
    const double rows[] = {1, 1, 1, 0, 0, 1};
    l = (layer){.depth = 2, .rows = 3};
    memcpy(l.x, rows, sizeof rows);
    for (size_t i = 0; i < 2 * N; i++) l.w[i] = i % N ? 0.1 : 0.4, l.scales[i] = 1;
    assert_true(correct(&l, 0, -127, 127));
    assert_int_equal(l.codes[0], 0);
    assert_int_equal(l.codes[N], 1);
    assert_int_equal(l.codes[1], 0);
    assert_int_equal(l.codes[N + 1], 0);
    assert_true(l.moments[0] * l.moments[0] > 1.4999 && l.moments[0] * l.moments[0] < 1.5001);
}

static void codes_are_those_of_the_definition(void **state) {
    (void)state;
    static layer l;
    static const size_t depths[] = {1, 2, 3, 7, 8, 9, 16, 23, 24};
    for (size_t d = 0; d < UNIT_COUNT(depths); d++)
        for (uint32_t seed = 1; seed <= 4; seed++) {
            long double h[MOST][MOST];
            // Rows fewer than columns too, for which only damping gives H an inverse.
            make(&l, depths[d], seed == 1 ? 5 : 30 + seed, seed);
            damped(&l, 0.01L, h);
            assert_true(correct(&l, 0.01, -3, 3));
            for (size_t c = 0; c < N; c++)
                for (size_t j = 0; j < l.depth; j++) {
                    size_t at = j * N + c;
                    long double wanted = free_weight(&l, h, c, j) / l.scales[at];
                    if (fabsl(wanted - floorl(wanted) - 0.5L) < 1e-6L) continue;
                    wanted = fminl(fmaxl(roundl(wanted), -3), 3);
                    assert_int_equal(l.codes[at], (int)wanted);
                    assert_true(fabs(l.errors[at] - (l.w[at] - l.codes[at] * l.scales[at])) <
                                1e-15);
                }
        }
}

static void the_error_is_far_below_that_of_nearest_codes(void **state) {
    (void)state;
    static layer l;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        long double h[MOST][MOST];
        int32_t nearest[MOST * N];
        make(&l, MOST, 60, seed);
        damped(&l, 0, h);
        assert_true(correct(&l, 0.01, -127, 127));
        for (size_t i = 0; i < MOST * N; i++) nearest[i] = (int32_t)lrint(l.w[i] / l.scales[i]);
        assert_true(error_of(&l, h, l.codes) < 0.7L * error_of(&l, h, nearest));
    }
}

static void columns_without_inputs_are_rounded_to_nearest(void **state) {
    (void)state;
    static layer l;
    make(&l, 9, 40, 3);
    for (size_t r = 0; r < l.rows; r++) l.x[r * 9 + 4] = 0;
    assert_true(correct(&l, 0.01, -127, 127));
    for (size_t c = 0; c < N; c++)
        assert_int_equal(l.codes[4 * N + c], (int)nearbyint(l.w[4 * N + c] / l.scales[4 * N + c]));
}

static void inputs_of_zeros_or_without_bounds_are_refused(void **state) {
    (void)state;
    static layer l;
    make(&l, 5, 10, 1);
    memset(l.x, 0, sizeof l.x);
    assert_false(correct(&l, 0.01, -127, 127));
    make(&l, 5, 10, 1);
    l.x[7] = INFINITY;
    assert_false(correct(&l, 0.01, -127, 127));
}

static void sums_do_not_depend_on_the_count_of_rows_in_a_call(void **state) {
    (void)state;
    static layer a, b;
    make(&a, 13, 31, 5);
    make(&b, 13, 31, 5);
    moments_add(a.moments, 13, a.x, 31);
    for (size_t r = 0; r < 31; r += 3) moments_add(b.moments, 13, b.x + r * 13, r + 3 > 31 ? 1 : 3);
    assert_memory_equal(a.moments, b.moments, sizeof a.moments);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_weights_by_hand),
        cmocka_unit_test(codes_are_those_of_the_definition),
        cmocka_unit_test(the_error_is_far_below_that_of_nearest_codes),
        cmocka_unit_test(columns_without_inputs_are_rounded_to_nearest),
        cmocka_unit_test(inputs_of_zeros_or_without_bounds_are_refused),
        cmocka_unit_test(sums_do_not_depend_on_the_count_of_rows_in_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
