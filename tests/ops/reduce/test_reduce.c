// SPDX-License-Identifier: Apache-2.0
// Reductions against long double, over sets of axes, shapes and dtypes; exact results; infinities
// and NaN; refusals.
#include "ops/blocking.h"
#include "ops/reduce/reduce_axes.h"
#include "tests/network.h"
#include "tests/ops/reduce/slices_model.h"
#include "tests/small_floats.h"

enum { MOST = 30000 };

typedef enum kind { L1, L2, MAX, MEAN, MIN, PROD, SUM, KINDS } kind;

static const char *const names[] = {"ReduceL1",  "ReduceL2",   "ReduceMax", "ReduceMean",
                                    "ReduceMin", "ReduceProd", "ReduceSum"};

static float x[MOST], y[MOST];
static long double wanted[MOST], size_of[MOST];
static size_t count_of[MOST];

//---- The formulas -----------------------------------------------------------

static void model_reduce(kind k, qdq_shape shape, uint32_t within) {
    size_t n = qdq_shape_count(shape), slices = model_slice_count(shape, within);
    for (size_t s = 0; s < slices; s++) {
        wanted[s] = k == MAX ? -INFINITY : k == MIN ? INFINITY : k == PROD ? 1 : 0;
        size_of[s] = 0, count_of[s] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(shape, within, i);
        long double v = (long double)x[i];
        count_of[s]++;
        size_of[s] += k == L2 ? v * v : fabsl(v);
        switch (k) {
        case L1: wanted[s] += fabsl(v); break;
        case L2: wanted[s] += v * v; break;
        case MAX: wanted[s] = fmaxl(wanted[s], v); break;
        case MIN: wanted[s] = fminl(wanted[s], v); break;
        case PROD: wanted[s] *= v; break;
        default: wanted[s] += v;
        }
    }
    for (size_t s = 0; s < slices; s++) {
        if (k == PROD) size_of[s] = fabsl(wanted[s]) * (long double)count_of[s];
        if (k == MEAN)
            wanted[s] /= (long double)count_of[s], size_of[s] /= (long double)count_of[s];
        if (k == L2) wanted[s] = sqrtl(wanted[s]), size_of[s] = wanted[s];
        if (k == MAX || k == MIN) size_of[s] = 0;
    }
}

static qdq_value reduce(qdq_graph *g, kind k, qdq_value v, qdq_reduce_attrs attrs) {
    attrs.x = v;
    return qdq_add_node(g, names[k], &attrs, sizeof attrs);
}

// The dims of a mask as axes, in reverse order, every second one counted from the end.
static qdq_ints axes_of(uint32_t within, int rank, int64_t out[QDQ_MAX_RANK]) {
    qdq_ints axes = {out, 0};
    for (int i = rank; i-- > 0;)
        if (within >> i & 1) out[axes.count++] = i & 1 ? i - rank : i;
    return axes;
}

static void run(kind k, qdq_shape shape, uint32_t within, qdq_dtype dtype) {
    int64_t list[QDQ_MAX_RANK];
    size_t n = qdq_shape_count(shape), slices = model_slice_count(shape, within);
    bool keep = n & 1;
    qdq_graph *g = qdq_graph_create("reduce", NULL);
    qdq_value v = reduce(g, k, qdq_input(g, "x", dtype, shape),
                         (qdq_reduce_attrs){.axes = axes_of(within, shape.rank, list),
                                            .keep_dims = keep ? QDQ_TRUE : QDQ_UNSET});
    qdq_dtype is;
    qdq_shape got, want = {0};
    for (int i = 0; i < shape.rank; i++) {
        if (!(within >> i & 1)) want.dims[want.rank++] = shape.dims[i];
        if ((within >> i & 1) && keep) want.dims[want.rank++] = 1;
    }
    assert_true(qdq_value_type(g, v, &is, &got));
    assert_true(qdq_shape_equal(got, want));
    assert_int_equal(is, dtype);
    qdq_output(g, "y", v);
    model_run(g, (model_tensor[]){{"x", x, n}, {0}}, (model_tensor[]){{"y", y, slices}, {0}});
}

static void check(kind k, qdq_shape shape, uint32_t within, qdq_dtype dtype) {
    size_t n = qdq_shape_count(shape);
    model_fill(x, n, dtype, k == PROD ? -1 : -4, k == PROD ? 0 : 3, n + within);
    run(k, shape, within, dtype);
    model_reduce(k, shape, within);
    for (size_t s = 0; s < model_slice_count(shape, within); s++)
        model_check(y[s], wanted[s], dtype, size_of[s] * (long double)count_of[s] * 0x1p-52L,
                    names[k], s);
}

static void every_reduction_follows_its_formula_over_every_set_of_axes(void **state) {
    (void)state;
    const qdq_shape shapes[] = {QDQ_SHAPE(3, 4, 5, 7), QDQ_SHAPE(2, 17, 3), QDQ_SHAPE(1, 5, 1)};
    for (kind k = L1; k < KINDS; k++)
        for (size_t i = 0; i < UNIT_COUNT(shapes); i++)
            for (uint32_t within = 1; within < 1u << shapes[i].rank; within++)
                check(k, shapes[i], within, QDQ_FLOAT32);
}

static void every_reduction_follows_its_formula_for_every_dtype(void **state) {
    (void)state;
    for (kind k = L1; k < KINDS; k++)
        for (size_t d = 0; d < 3; d++) {
            check(k, QDQ_SHAPE(300, 7), 2, model_floats[d]);
            check(k, QDQ_SHAPE(7, 33), 1, model_floats[d]);
            check(k, QDQ_SHAPE(4, 3, 5), 5, model_floats[d]);
        }
}

// The product of many numbers overflows.
static void long_slices_are_reduced_in_parts(void **state) {
    (void)state;
    for (kind k = L1; k < KINDS; k++) {
        if (k == PROD) continue;
        check(k, QDQ_SHAPE(3, 5000), 2, QDQ_FLOAT32);
        check(k, QDQ_SHAPE(5000, 3), 1, QDQ_FLOAT32);
        check(k, QDQ_SHAPE(3, 2, 2501), 5, QDQ_FLOAT32);
        check(k, QDQ_SHAPE(29999), 1, QDQ_BFLOAT16);
    }
}

//---- Exact results ----------------------------------------------------------

static void reductions_of_integers_are_exact(void **state) {
    (void)state;
    int64_t sum = 0, squares = 0, magnitudes = 0;
    for (size_t i = 0; i < 4000; i++) {
        int64_t v = (int64_t)(i * 7919 % 4001) - 2000;
        x[i] = (float)v, sum += v, squares += v * v, magnitudes += v < 0 ? -v : v;
    }
    x[4000] = 24000, sum += 24000, squares += 24000 * 24000, magnitudes += 24000;
    const float want[] = {(float)magnitudes, (float)sqrt((double)squares), 24000, (float)sum / 4001,
                          -2000};
    for (kind k = L1; k <= MIN; k++) {
        run(k, QDQ_SHAPE(4001), 1, QDQ_FLOAT32);
        assert_true(y[0] == (k == MEAN ? (float)((double)sum / 4001) : want[k]));
    }
    run(SUM, QDQ_SHAPE(4001), 1, QDQ_FLOAT32);
    assert_true(y[0] == (float)sum);
}

// float32 cannot hold 2^24 + 1, neither as an element nor as an intermediate sum.
static void intermediate_sums_are_exact(void **state) {
    (void)state;
    memcpy(x, (float[]){0x1p24f, 1, 1, -0x1p24f}, 4 * sizeof *x);
    run(SUM, QDQ_SHAPE(4), 1, QDQ_FLOAT32);
    assert_true(y[0] == 2);
    memcpy(x, (float[]){0x1p100f, 0x1p100f, 0x1p-100f, 0x1p-100f}, 4 * sizeof *x);
    run(PROD, QDQ_SHAPE(4), 1, QDQ_FLOAT32);
    assert_true(y[0] == 1);
    memcpy(x, (float[]){1e38f, 2e38f, 0, 0}, 4 * sizeof *x);
    run(L2, QDQ_SHAPE(4), 1, QDQ_FLOAT32);
    assert_true(y[0] == (float)sqrt((double)x[0] * (double)x[0] + (double)x[1] * (double)x[1]));
}

// Rounding to float32 first would make it a tie: 1 + 2^-8 + 2^-40 in bfloat16.
static void narrow_results_are_rounded_once(void **state) {
    (void)state;
    memcpy(x, (float[]){1, 0x1p-8f, 0x1p-40f, 0}, 4 * sizeof *x);
    run(SUM, QDQ_SHAPE(4), 1, QDQ_BFLOAT16);
    assert_true(y[0] == 1 + 0x1p-7f);
    x[2] = 0;
    run(SUM, QDQ_SHAPE(4), 1, QDQ_BFLOAT16);
    assert_true(y[0] == 1);
    memcpy(x, (float[]){1 + 0x1p-10f, 0x1p-11f, -0x1p-24f, 0}, 4 * sizeof *x);
    run(SUM, QDQ_SHAPE(4), 1, QDQ_FLOAT16);
    assert_true(y[0] == 1 + 0x1p-10f);
    // just below the overflow to infinity
    memcpy(x, (float[]){65504, 8, 4, 3.99609375f}, 4 * sizeof *x);
    run(SUM, QDQ_SHAPE(4), 1, QDQ_FLOAT16);
    assert_true(y[0] == 65504);
    x[3] = 4;
    run(SUM, QDQ_SHAPE(4), 1, QDQ_FLOAT16);
    assert_true(y[0] == INFINITY);
}

//---- Codes ------------------------------------------------------------------

enum { MOST_CODES = 90000 };

// ReduceMax and ReduceMin of int8 or uint8 over the dims of `within`.
// Sums of few small integers are exact in every order, so that the order of the target does not
// matter. Most are odd numbers above 256, which bfloat16 rounds.
static void check_stored(kind k, qdq_shape shape, int64_t axis, size_t slices) {
    const small_format *f = small_format_of(QDQ_BFLOAT16);
    qdq_graph *g = qdq_graph_create("storage", NULL);
    qdq_reduce_attrs attrs = {.axes = {&axis, 1}, .keep_dims = QDQ_TRUE};
    int64_t spatial[] = {2, 3};
    if (shape.rank == 4) attrs.axes = (qdq_ints){spatial, 2};
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, shape);
    qdq_output(g, "y", qdq_reorder(g, reduce(g, k, v, attrs), (qdq_unary_attrs){0}));
    for (size_t i = 0; i < qdq_shape_count(shape); i++) x[i] = (float)(200 + i * 7 % 61);
    model_reduce(k, shape, shape.rank == 4 ? 12 : 1u << axis);
    network_tensor in = {"x", QDQ_FLOAT32, x, qdq_shape_count(shape)};
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_compile_options options = {
            .target = "onnx", .float_storage = QDQ_FLOAT_BFLOAT16, .materialize = materialize};
        network_run_once(g, &options, NULL, &in, 1, &(network_tensor){"y", QDQ_FLOAT32, y, slices});
        for (size_t s = 0; s < slices; s++) {
            float sum = (float)wanted[s];
            double want = small_value(f, small_encode(f, sum, QDQ_FLOAT_OVERFLOW));
            if ((double)y[s] != want)
                fail_msg("%s over dim %d, slice %zu: got %.9g, want %.9g", names[k], (int)axis, s,
                         y[s], want);
        }
    }
    qdq_graph_destroy(g);
}

// Each order in which target onnx adds: rows, columns, rows within columns, images.
static void sums_of_a_target_have_the_dtype_of_their_storage(void **state) {
    (void)state;
    for (kind k = MEAN; k <= SUM; k += SUM - MEAN) {
        check_stored(k, QDQ_SHAPE(37, 9), 1, 37);
        check_stored(k, QDQ_SHAPE(9, 37), 0, 37);
        check_stored(k, QDQ_SHAPE(5, 9, 7), 1, 35);
        check_stored(k, QDQ_SHAPE(3, 5, 3, 3), 0, 15);
    }
}

static void check_codes(qdq_shape shape, uint32_t within, bool is_signed) {
    static uint8_t stored[MOST_CODES], got[2][MOST_CODES];
    static int most[MOST_CODES], least[MOST_CODES];
    int64_t list[QDQ_MAX_RANK];
    qdq_dtype dtype = is_signed ? QDQ_INT8 : QDQ_UINT8;
    size_t n = qdq_shape_count(shape), slices = model_slice_count(shape, within);
    uint64_t random = n + within;
    assert_true(n <= MOST_CODES);
    for (size_t s = 0; s < slices; s++) most[s] = -1000, least[s] = 1000;
    for (size_t i = 0; i < n; i++) {
        // Long slices have most codes near 0, so that a few decide.
        uint64_t r = unit_random(&random) >> 20;
        stored[i] = (uint8_t)(r % 1024 < 3 ? r >> 10 : (is_signed ? 0 : 100) + (r >> 10) % 9);
        int code = is_signed ? (int8_t)stored[i] : stored[i];
        size_t s = model_slice_of(shape, within, i);
        if (code > most[s]) most[s] = code;
        if (code < least[s]) least[s] = code;
    }
    network_tensor input = {"x", dtype, stored, n};
    for (int min = 0; min < 2; min++) {
        qdq_graph *g = qdq_graph_create("codes", NULL);
        qdq_value v = reduce(g, min ? MIN : MAX, qdq_input(g, "x", dtype, shape),
                             (qdq_reduce_attrs){.axes = axes_of(within, shape.rank, list)});
        qdq_output(g, "y", v);
        network_run(g, &input, 1, (network_tensor){"y", dtype, got[min], slices});
        qdq_graph_destroy(g);
    }
    for (size_t s = 0; s < slices; s++) {
        assert_int_equal(is_signed ? (int8_t)got[0][s] : got[0][s], most[s]);
        assert_int_equal(is_signed ? (int8_t)got[1][s] : got[1][s], least[s]);
    }
}

// Around the sizes of parts of slices, and of groups of neighbouring slices.
static void codes_are_reduced_as_they_are(void **state) {
    (void)state;
    enum { PART = QDQ_SLICE_PART, GROUP = QDQ_SLICES_AT_ONCE, ROWS = QDQ_SLICE_ROWS };
    const qdq_shape shapes[] = {QDQ_SHAPE(3, 4, 5, 7),       QDQ_SHAPE(2, 17, 3),
                                QDQ_SHAPE(1, 5, 1),          QDQ_SHAPE(3, 2 * PART + 5),
                                QDQ_SHAPE(PART + 9, 3),      QDQ_SHAPE(ROWS + 1, GROUP + 3, 2),
                                QDQ_SHAPE(2, 300, GROUP + 1)};
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++)
        for (uint32_t within = 1; within < 1u << shapes[i].rank; within++) {
            check_codes(shapes[i], within, true);
            check_codes(shapes[i], within, false);
        }
}

//---- Infinities, zeros and NaN ----------------------------------------------

static void run_row(kind k, size_t n) { run(k, QDQ_SHAPE((int64_t)n), 1, QDQ_FLOAT32); }

static void nan_wins_at_every_place(void **state) {
    (void)state;
    for (kind k = L1; k < KINDS; k++)
        for (size_t n = 1; n < 40; n++)
            for (size_t at = 0; at < n; at += 3) {
                for (size_t i = 0; i < n; i++) x[i] = i % 2 ? INFINITY : 1;
                x[at] = n % 2 ? NAN : -NAN;
                run_row(k, n);
                assert_true(isnan(y[0]) && !signbit(y[0]));
            }
}

static void infinities_are_greatest_and_least(void **state) {
    (void)state;
    memcpy(x, (float[]){-INFINITY, 5, INFINITY, -7}, 4 * sizeof *x);
    const float want[] = {INFINITY, INFINITY, INFINITY, NAN, -INFINITY, INFINITY, NAN};
    for (kind k = L1; k < KINDS; k++) {
        run_row(k, 4);
        assert_true(isnan(want[k]) ? isnan(y[0]) : y[0] == want[k]);
    }
    for (size_t i = 0; i < 4; i++) x[i] = -INFINITY;
    run_row(MAX, 4);
    assert_true(y[0] == -INFINITY);
}

static void zero_is_greater_than_minus_zero(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        x[swap] = 0.0f, x[!swap] = -0.0f;
        run_row(MAX, 2);
        assert_true(y[0] == 0 && !signbit(y[0]));
        run_row(MIN, 2);
        assert_true(y[0] == 0 && signbit(y[0]));
        run_row(SUM, 2);
        assert_true(y[0] == 0 && !signbit(y[0]));
        run_row(PROD, 2);
        assert_true(y[0] == 0 && signbit(y[0]));
    }
}

static void one_element_is_itself(void **state) {
    (void)state;
    x[0] = -3.5f;
    for (kind k = L1; k < KINDS; k++) {
        run(k, QDQ_SHAPE(1, 1), 2, QDQ_FLOAT32);
        assert_true(y[0] == (k == L1 || k == L2 ? 3.5f : -3.5f));
    }
}

//---- Refusals ---------------------------------------------------------------

static void refuse(qdq_dtype dtype, qdq_shape shape, qdq_ints axes, const char *sentence) {
    qdq_graph *g = qdq_graph_create("reduce", NULL);
    qdq_output(g, "y",
               reduce(g, SUM, qdq_input(g, "x", dtype, shape),
                      (qdq_reduce_attrs){.name = "r", .axes = axes}));
    model_refused(g, sentence);
}

static void axes_that_are_no_dims_are_refused(void **state) {
    (void)state;
    refuse(QDQ_FLOAT32, QDQ_SHAPE(2, 3), (qdq_ints){0},
           "node 'r': ReduceSum: axes is missing; see `qdq ops ReduceSum`");
    refuse(QDQ_FLOAT32, QDQ_SHAPE(2, 3), QDQ_INTS(0, 2),
           "node 'r': ReduceSum: axes is 2, wanted -2 to 1; count dims from 0, or from the end "
           "with -1");
    refuse(QDQ_FLOAT32, QDQ_SHAPE(2, 3), QDQ_INTS(1, -1),
           "node 'r': ReduceSum: axes has dim 1 twice, wanted each dim once; see `qdq ops "
           "ReduceSum`");
    refuse(QDQ_FLOAT32, (qdq_shape){0}, QDQ_INTS(0),
           "node 'r': ReduceSum: axes is 0, wanted an x with dims: this one has none; count dims "
           "from 0, or from the end with -1");
    refuse(QDQ_INT8, QDQ_SHAPE(2, 3), QDQ_INTS(0),
           "node 'r': ReduceSum: x is int8, wanted one of: float32, float16, bfloat16; see `qdq "
           "ops ReduceSum`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_reduced_as_they_are),
        cmocka_unit_test(every_reduction_follows_its_formula_over_every_set_of_axes),
        cmocka_unit_test(every_reduction_follows_its_formula_for_every_dtype),
        cmocka_unit_test(long_slices_are_reduced_in_parts),
        cmocka_unit_test(reductions_of_integers_are_exact),
        cmocka_unit_test(intermediate_sums_are_exact),
        cmocka_unit_test(narrow_results_are_rounded_once),
        cmocka_unit_test(sums_of_a_target_have_the_dtype_of_their_storage),
        cmocka_unit_test(nan_wins_at_every_place),
        cmocka_unit_test(infinities_are_greatest_and_least),
        cmocka_unit_test(zero_is_greater_than_minus_zero),
        cmocka_unit_test(one_element_is_itself),
        cmocka_unit_test(axes_that_are_no_dims_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
