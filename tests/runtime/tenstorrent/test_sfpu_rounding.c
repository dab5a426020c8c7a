// SPDX-License-Identifier: Apache-2.0
// How often a function of Wormhole differs from the correctly rounded one, which other targets
// compute, and how often results are not exact in published tables of silicon.
//
// The 65,024 normal bfloat16 count, except those for which the function is NaN. The function is
// computed in double and rounded to bfloat16, half to even; zeros of both signs are equal. The
// tables take a denormal as zero.
#include <math.h>

#include "runtime/numerics/dtype.h"
#include "tests/runtime/tenstorrent/sfpu_cases.h"

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double gelu(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
static double gelu_of_tables(double x) { return 0.5 * x * (1 + erf(x * 0.70710678118654752440)); }
static double silu(double x) { return x * sigmoid(x); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double reciprocal(double x) { return 1 / x; }
static double elu(double x) { return x >= 0 ? x : expm1(x); }
static double softplus(double x) { return fmax(x, 0) + log1p(exp(-fabs(x))); }
static double mish(double x) { return x * tanh(softplus(x)); }
static double square(double x) { return x * x; }
static double leaky_relu(double x) { return x >= 0 ? x : (double)0.01f * x; }
static double hard_sigmoid(double x) { return fmax(0, fmin(1, x * (double)(1 / 6.0f) + 0.5)); }
static double hard_swish(double x) { return x * hard_sigmoid(x); }
static double sign(double x) { return x > 0 ? 1 : -1; }

static uint16_t rounded(double y) {
    uint32_t bits = qdq_float_bits((float)y);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static uint16_t flushed(uint16_t v) { return v & 0x7F80 ? v : 0; }

static int differing(const qdq_sfpu_program *program, double (*function)(double), bool flushes) {
    int count = 0;
    for (uint32_t x = 0; x < 65536; x++) {
        uint32_t exponent = x >> 7 & 0xFF;
        if (exponent == 0 || exponent == 255) continue;
        double y = function((double)qdq_float_from_bits(x << 16));
        if (y != y) continue;
        uint16_t want = rounded(y), got = qdq_sfpu_bfloat16(program, (uint16_t)x);
        if (flushes) want = flushed(want);
        bool zeros = !((want | got) & 0x7FFF);
        count += want != got && !zeros;
    }
    return count;
}

typedef struct expected {
    qdq_sfpu_op op;
    double (*function)(double);
    int differ, of_silicon;  // -1: not counted
    float a, b;
} expected;

static const expected counts[] = {
    {QDQ_SFPU_SOFTPLUS, softplus, 30552, 30015 + 526, 1, 20},
    {QDQ_SFPU_ERF, erf, 17636, 16162 + 1474, 0, 0},
    {QDQ_SFPU_LEAKY_RELU, leaky_relu, 16181, 15341, 0.01f, 0},
    {QDQ_SFPU_SQUARE, square, 14992, 13970, 0, 0},
    {QDQ_SFPU_HARD_SWISH, hard_swish, 3512, 3256 + 2, 0, 0},
    {QDQ_SFPU_HARD_SIGMOID, hard_sigmoid, 3026, 3026, 0, 0},
    {QDQ_SFPU_RECIPROCAL, reciprocal, 1520, 1008 + 2, 0, 0},
    {QDQ_SFPU_EXP, exp, 1164, 1153, 0, 0},
    {QDQ_SFPU_MISH, mish, 992, 800 + 11, 0, 0},
    {QDQ_SFPU_SIGMOID, sigmoid, 516, 505, 0, 0},
    {QDQ_SFPU_GELU, gelu, 490, -1, 0, 0},
    {QDQ_SFPU_GELU, gelu_of_tables, -1, 42 + 25 + 86, 0, 0},
    {QDQ_SFPU_TANH, tanh, 216, 214 + 2, 0, 0},
    {QDQ_SFPU_LOG, log, 63, 63, 0, 0},
    {QDQ_SFPU_SQRT, sqrt, 0, 0, 0, 0},
    {QDQ_SFPU_ELU, elu, 0, 0, 1, 0},
    {QDQ_SFPU_FLOOR, floor, 0, 0, 0, 0},
    {QDQ_SFPU_CEIL, ceil, 0, 0, 0, 0},
    {QDQ_SFPU_ROUND, nearbyint, 0, 0, 0, 0},
    {QDQ_SFPU_ABS, fabs, 0, 0, 0, 0},
    {QDQ_SFPU_SIGN, sign, 0, 0, 0, 0},
    {QDQ_SFPU_SILU, silu, -1, 454 + 13, 0, 0},
    {QDQ_SFPU_LOG1P, log1p, -1, 109, 0, 0},
    {QDQ_SFPU_RSQRT, rsqrt, -1, 0, 0, 0},
};

static void check_counts(bool of_silicon) {
    int wrong = 0;
    for (size_t i = 0; i < UNIT_COUNT(counts); i++) {
        const expected *e = &counts[i];
        qdq_sfpu_program program = {
            .op = e->op, .chip = QDQ_MULTIPLY_ADD_WORMHOLE, .a = e->a, .b = e->b};
        int want = of_silicon ? e->of_silicon : e->differ;
        int count = differing(&program, e->function, of_silicon);
        if (count == want || want < 0) continue;
        print_error("op %d: %d differ, not %d\n", (int)program.op, count, want);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void results_differ_from_rounded_ones_as_often_as_stated(void **state) {
    (void)state;
    check_counts(false);
}

static void results_are_as_often_exact_as_on_silicon(void **state) {
    (void)state;
    check_counts(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_differ_from_rounded_ones_as_often_as_stated),
        cmocka_unit_test(results_are_as_often_exact_as_on_silicon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
