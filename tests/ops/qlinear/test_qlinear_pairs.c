// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul for each CPU: results of ONNX Runtime that were measured, formulas in
// exact arithmetic, broadcasting, refusals.
#include <math.h>

#include "tests/ops/oracle.h"
#include "tests/ops/qlinear/qlinear_run.h"

enum { CODES = 256, PAIRS = CODES * CODES, SOME = 4096 + 333 };

typedef struct scaled {
    float scale;
    int zero;
} scaled;

typedef struct triple {
    scaled a, b, y;
} triple;

static qdq_graph *pair_graph(bool add, qdq_dtype dtype, triple t, qdq_shape a, qdq_shape b) {
    qdq_graph *g = qdq_graph_create("pairs", NULL);
    qdq_qlinear_binary_attrs attrs = {.a = qdq_input(g, "a", dtype, a),
                                      .a_scale = qlinear_scale(g, "as", t.a.scale),
                                      .a_zero_point = qlinear_zero(g, "az", dtype, t.a.zero),
                                      .b = qdq_input(g, "b", dtype, b),
                                      .b_scale = qlinear_scale(g, "bs", t.b.scale),
                                      .b_zero_point = qlinear_zero(g, "bz", dtype, t.b.zero),
                                      .y_scale = qlinear_scale(g, "ys", t.y.scale),
                                      .y_zero_point = qlinear_zero(g, "yz", dtype, t.y.zero)};
    qdq_output(g, "y", add ? qdq_qlinear_add(g, attrs) : qdq_qlinear_mul(g, attrs));
    return g;
}

static void run_pairs(qdq_qlinear_form form, bool add, qdq_dtype dtype, triple t, const uint8_t *a,
                      const uint8_t *b, uint8_t *y, size_t n) {
    qdq_shape shape = QDQ_SHAPE((int64_t)n);
    const network_tensor in[] = {{"a", dtype, (void *)a, n}, {"b", dtype, (void *)b, n}};
    qdq_graph *g = pair_graph(add, dtype, t, shape, shape);
    qlinear_run(g, form, in, 2, (network_tensor){"y", dtype, y, n});
    qdq_graph_destroy(g);
}

//---- Measured results -------------------------------------------------------

static void ties_are_those_of_each_cpu(void **state) {
    static const uint8_t odd[] = {1, 3, 5, 7}, none[] = {0, 0, 0, 0}, one[] = {1, 1, 1, 1};
    static const uint8_t x86[] = {2, 2, 4, 4}, arm[] = {2, 3, 4, 5};
    const triple sum = {{0.5f, 0}, {1, 0}, {1, 1}}, product = {{0.5f, 0}, {1, 0}, {1, 1}};
    uint8_t y[4];
    (void)state;
    run_pairs(QDQ_QLINEAR_FMA, true, QDQ_UINT8, sum, odd, none, y, 4);
    assert_memory_equal(y, x86, 4);
    run_pairs(QDQ_QLINEAR_ARM, true, QDQ_UINT8, sum, odd, none, y, 4);
    assert_memory_equal(y, arm, 4);
    for (int form = QDQ_QLINEAR_FMA; form <= QDQ_QLINEAR_ARM; form++) {
        run_pairs((qdq_qlinear_form)form, false, QDQ_UINT8, product, odd, one, y, 4);
        assert_memory_equal(y, x86, 4);
    }
}

// Quantize(Dequantize(a) + Dequantize(b)).
static void literal_sums(triple t, const uint8_t *a, const uint8_t *b, uint8_t *y) {
    for (size_t i = 0; i < PAIRS; i++) {
        double x = oracle_mul(t.a.scale, a[i] - t.a.zero),
               z = oracle_mul(t.b.scale, b[i] - t.b.zero);
        double v = oracle_div(oracle_add(x, z), t.y.scale);
        int64_t code = oracle_to_integer(v, QDQ_ROUND_HALF_EVEN) + t.y.zero;
        y[i] = (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
    }
}

static size_t differences(const uint8_t *a, const uint8_t *b) {
    size_t count = 0;
    for (size_t i = 0; i < PAIRS; i++) count += a[i] != b[i];
    return count;
}

static void all_pairs_differ_from_the_formula_as_often_as_measured(void **state) {
    static const struct {
        triple t;
        size_t fma_from_literal, arm_from, from_fma;
    } rows[] = {{{{0.067f, 19}, {0.034f, 4}, {0.014f, 44}}, 61, 120, true},
                {{{0.02f, 100}, {0.03f, 3}, {0.04f, 7}}, 13213, 8003, false}};
    static uint8_t a[PAIRS], b[PAIRS], literal[PAIRS], fma_sums[PAIRS], arm_sums[PAIRS];
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) a[i] = (uint8_t)(i / CODES), b[i] = (uint8_t)(i % CODES);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        literal_sums(rows[r].t, a, b, literal);
        run_pairs(QDQ_QLINEAR_FMA, true, QDQ_UINT8, rows[r].t, a, b, fma_sums, PAIRS);
        run_pairs(QDQ_QLINEAR_ARM, true, QDQ_UINT8, rows[r].t, a, b, arm_sums, PAIRS);
        assert_int_equal(differences(fma_sums, literal), rows[r].fma_from_literal);
        assert_int_equal(differences(arm_sums, rows[r].from_fma ? fma_sums : literal),
                         rows[r].arm_from);
        if (r) continue;
        assert_int_equal(literal[82], 143);
        assert_int_equal(fma_sums[82], 142);
        assert_int_equal(arm_sums[82], 143);
    }
}

//---- Formulas in exact arithmetic -------------------------------------------

static int64_t saturated(int64_t v, qdq_dtype dtype) {
    int64_t least = dtype == QDQ_INT8 ? -128 : 0;
    return v < least ? least : v > least + 255 ? least + 255 : v;
}

// Half away from zero of a sum in units of 2^-shift.
static int64_t fixed_sum(triple t, int a, int b) {
    double x = oracle_div(t.a.scale, t.y.scale), z = oracle_div(t.b.scale, t.y.scale);
    int exponent;
    (void)frexp(x > z ? x : z, &exponent);
    int shift = 21 - (exponent - 1);
    int64_t sum = (a - t.a.zero) * oracle_to_integer(ldexp(x, shift), QDQ_ROUND_HALF_EVEN) +
                  (b - t.b.zero) * oracle_to_integer(ldexp(z, shift), QDQ_ROUND_HALF_EVEN);
    int64_t size = ((sum < 0 ? -sum : sum) + (INT64_C(1) << (shift - 1))) >> shift;
    return sum < 0 ? -size : size;
}

static int64_t wanted_sum(qdq_qlinear_form form, triple t, int a, int b) {
    double x = oracle_div(t.a.scale, t.y.scale), z = oracle_div(t.b.scale, t.y.scale), v;
    double b_zero = oracle_mul(z, t.b.zero);
    if (form == QDQ_QLINEAR_ARM) return fixed_sum(t, a, b) + t.y.zero;
    if (form == QDQ_QLINEAR_SSE) {
        double zeros = oracle_add(oracle_mul(x, t.a.zero), b_zero);
        double fixed = oracle_add(t.y.zero, -zeros);
        v = oracle_add(oracle_add(fixed, oracle_mul(a, x)), oracle_mul(b, z));
    } else {
        double fixed = oracle_add(t.y.zero, -oracle_fma(x, t.a.zero, b_zero));
        v = oracle_fma(a, x, oracle_fma(b, z, fixed));
    }
    return oracle_to_integer(v, QDQ_ROUND_HALF_EVEN);
}

static int64_t wanted_product(qdq_qlinear_form form, triple t, int a, int b) {
    double ratio = oracle_div(oracle_mul(t.a.scale, t.b.scale), t.y.scale);
    double p = (double)(a - t.a.zero) * (b - t.b.zero);
    double v = form == QDQ_QLINEAR_ARM ? oracle_fma(p, ratio, t.y.zero)
                                       : oracle_add(oracle_mul(p, ratio), t.y.zero);
    return oracle_to_integer(v, QDQ_ROUND_HALF_EVEN);
}

static void check_formulas(qdq_qlinear_form form, bool add, qdq_dtype dtype, triple t,
                           uint64_t *seed) {
    static uint8_t a[SOME], b[SOME], y[SOME];
    bool is_signed = dtype == QDQ_INT8;
    for (size_t i = 0; i < SOME; i++)
        a[i] = (uint8_t)(unit_random(seed) >> 20), b[i] = (uint8_t)(unit_random(seed) >> 20);
    run_pairs(form, add, dtype, t, a, b, y, SOME);
    for (size_t i = 0; i < SOME; i++) {
        int x = is_signed ? (int8_t)a[i] : a[i], z = is_signed ? (int8_t)b[i] : b[i];
        int64_t code =
            saturated(add ? wanted_sum(form, t, x, z) : wanted_product(form, t, x, z), dtype);
        if (y[i] != (uint8_t)code)
            print_error("form %d add %d: %d and %d give %d, wanted %d\n", (int)form, add, x, z,
                        y[i], (int)code);
        assert_int_equal(y[i], (uint8_t)code);
    }
}

static void results_are_those_of_exact_arithmetic(void **state) {
    static const triple rows[] = {{{0.02f, 100}, {0.03f, 3}, {0.04f, 7}},
                                  {{0.5f, 1}, {0.25f, 2}, {1, 3}},
                                  {{0.067f, 19}, {0.034f, 4}, {0.014f, 44}},
                                  {{0.0078125f, 0}, {3.1f, 127}, {0.9f, 0}}};
    uint64_t seed = 7;
    (void)state;
    for (int form = QDQ_QLINEAR_FMA; form <= QDQ_QLINEAR_ARM; form++)
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
            for (int add = 0; add < 2; add++) {
                check_formulas((qdq_qlinear_form)form, add, QDQ_UINT8, rows[r], &seed);
                check_formulas((qdq_qlinear_form)form, add, QDQ_INT8, rows[r], &seed);
            }
}

// x86 makes INT32_MIN of what int32 cannot hold, aarch64 saturates.
static void numbers_beyond_int32_are_those_of_each_cpu(void **state) {
    static const uint8_t a[] = {0, 1, 2, 255}, b[] = {1, 1, 1, 1};
    static const uint8_t least[] = {7, 0, 0, 0}, most[] = {7, 255, 255, 255};
    const triple t = {{1e9f, 0}, {1, 0}, {1e-3f, 7}};
    uint8_t y[4];
    (void)state;
    run_pairs(QDQ_QLINEAR_FMA, false, QDQ_UINT8, t, a, b, y, 4);
    assert_memory_equal(y, least, 4);
    run_pairs(QDQ_QLINEAR_ARM, false, QDQ_UINT8, t, a, b, y, 4);
    assert_memory_equal(y, most, 4);
}

//---- Broadcasting -----------------------------------------------------------

static size_t index_in(qdq_shape shape, qdq_shape y, size_t at) {
    size_t index = 0, stride = 1;
    for (int i = 1; i <= y.rank; i++) {
        size_t dim = (size_t)y.dims[y.rank - i], place = at % dim;
        at /= dim;
        if (i > shape.rank) continue;
        index += shape.dims[shape.rank - i] > 1 ? place * stride : 0;
        stride *= (size_t)shape.dims[shape.rank - i];
    }
    return index;
}

// Scales of 1, so that products are exact.
static void check_shapes(qdq_shape a, qdq_shape b, qdq_shape y, bool add) {
    size_t a_count = qdq_shape_count(a), b_count = qdq_shape_count(b), n = qdq_shape_count(y);
    int8_t *x = malloc(a_count), *z = malloc(b_count), *out = malloc(n);
    const triple t = {{1, 0}, {1, 0}, {1, 0}};
    assert_true(x && z && out);
    for (size_t i = 0; i < a_count; i++) x[i] = (int8_t)((int)(i * 7 % 23) - 11);
    for (size_t i = 0; i < b_count; i++) z[i] = (int8_t)((int)(i * 5 % 19) - 9);
    qdq_graph *g = pair_graph(add, QDQ_INT8, t, a, b);
    const network_tensor in[] = {{"a", QDQ_INT8, x, a_count}, {"b", QDQ_INT8, z, b_count}};
    qlinear_run(g, QDQ_QLINEAR_FMA, in, 2, (network_tensor){"y", QDQ_INT8, out, n});
    for (size_t i = 0; i < n; i++) {
        int v = (int)x[index_in(a, y, i)], w = (int)z[index_in(b, y, i)];
        assert_int_equal((int)out[i], add ? v + w : v * w);
    }
    qdq_graph_destroy(g);
    free(x), free(z), free(out);
}

static void operands_are_broadcast_both_ways(void **state) {
    const qdq_shape image = QDQ_SHAPE(2, 3, 47, 31), channels = QDQ_SHAPE(3, 1, 1);
    const qdq_shape rows = QDQ_SHAPE(2, 1, 47, 1), columns = QDQ_SHAPE(31), one = {0};
    const qdq_shape crossed = QDQ_SHAPE(70, 1), across = QDQ_SHAPE(1, 90), both = QDQ_SHAPE(70, 90);
    (void)state;
    for (int add = 0; add < 2; add++) {
        const qdq_shape others[] = {image, channels, rows, columns, one};
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            check_shapes(image, others[i], image, add);
            check_shapes(others[i], image, image, add);
        }
        check_shapes(crossed, across, both, add);
        check_shapes(across, crossed, both, add);
        check_shapes(one, one, one, add);
    }
}

//---- Refusals ---------------------------------------------------------------

static qdq_graph *refused(qdq_dtype b_dtype, qdq_shape b, qdq_dtype zero, qdq_shape scale) {
    static const float ones[2] = {1, 1};
    qdq_graph *g = qdq_graph_create("refused", NULL);
    qdq_value one = qlinear_scale(g, "one", 1);
    qdq_value s = qdq_constant(g, "s", QDQ_FLOAT32, scale, ones);
    qdq_qlinear_binary_attrs attrs = {.a = qdq_input(g, "a", QDQ_INT8, QDQ_SHAPE(2, 3)),
                                      .a_scale = s,
                                      .a_zero_point = qlinear_zero(g, "z", zero, 0),
                                      .b = qdq_input(g, "b", b_dtype, b),
                                      .b_scale = one,
                                      .y_scale = one};
    qdq_output(g, "y", qdq_qlinear_add(g, attrs));
    return g;
}

static void operands_that_do_not_fit_are_refused(void **state) {
    const qdq_shape one = {0}, fits = QDQ_SHAPE(3);
    (void)state;
    network_refuses(refused(QDQ_UINT8, fits, QDQ_INT8, one), "core/port-dtype",
                    "b is uint8, wanted int8, as a is");
    network_refuses(refused(QDQ_INT8, QDQ_SHAPE(2), QDQ_INT8, one), "core/port-shape",
                    "b has the shape [2], wanted one that can be broadcast with [2, 3]");
    network_refuses(refused(QDQ_INT8, fits, QDQ_UINT8, one), "core/port-dtype",
                    "a_zero_point is uint8, wanted int8, as a is");
    network_refuses(refused(QDQ_INT8, fits, QDQ_INT8, QDQ_SHAPE(2)), "core/port-shape",
                    "a_scale has the shape [2], wanted one element");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_are_those_of_each_cpu),
        cmocka_unit_test(all_pairs_differ_from_the_formula_as_often_as_measured),
        cmocka_unit_test(results_are_those_of_exact_arithmetic),
        cmocka_unit_test(numbers_beyond_int32_are_those_of_each_cpu),
        cmocka_unit_test(operands_are_broadcast_both_ways),
        cmocka_unit_test(operands_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
