// SPDX-License-Identifier: Apache-2.0
// SoftMax and LogSoftmax against their formulas in long double, over shapes, axes and dtypes;
// infinities and NaN; attributes and refusals.
#include "ops/reduce/reduce_axes.h"
#include "tests/ops/reduce/slices_model.h"

enum { MOST = 20000 };

static float x[MOST], y[MOST], stats[MOST];

//---- The formula ------------------------------------------------------------

typedef struct softmax_model {
    long double max[MOST], sum[MOST];
} softmax_model;

static softmax_model model;

static void model_softmax(qdq_shape shape, int axis, size_t n) {
    uint32_t within = 1u << axis;
    for (size_t s = 0; s < model_slice_count(shape, within); s++)
        model.max[s] = -INFINITY, model.sum[s] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(shape, within, i);
        model.max[s] = fmaxl(model.max[s], (long double)x[i]);
    }
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(shape, within, i);
        model.sum[s] += expl((long double)x[i] - model.max[s]);
    }
}

static void check_softmax(qdq_shape shape, int axis, qdq_dtype from, qdq_dtype to) {
    size_t n = qdq_shape_count(shape), slices = n / (size_t)shape.dims[axis];
    model_fill(x, n, from, -4, 3, n + (size_t)axis);
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    qdq_value v = qdq_softmax(g, qdq_input(g, "x", from, shape),
                              (qdq_softmax_attrs){.axis = QDQ_INT(axis - (n & 1 ? shape.rank : 0)),
                                                  .dtype = to,
                                                  .keep_stats = QDQ_TRUE});
    qdq_dtype is;
    qdq_shape stats_shape;
    assert_true(qdq_value_type(g, qdq_port(g, v, "stats"), &is, &stats_shape));
    assert_int_equal(is, QDQ_FLOAT32);
    assert_int_equal(stats_shape.dims[axis], 1);
    assert_int_equal(qdq_shape_count(stats_shape), slices);
    qdq_output(g, "y", v);
    qdq_output(g, "stats", qdq_port(g, v, "stats"));
    model_run(g, (model_tensor[]){{"x", x, n}, {0}},
              (model_tensor[]){{"y", y, n}, {"stats", stats, slices}, {0}});
    model_softmax(shape, axis, n);
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(shape, 1u << axis, i);
        long double want = expl((long double)x[i] - model.max[s]) / model.sum[s];
        model_check(y[i], want, to, want * 1e-14L, "y", i);
    }
    for (size_t s = 0; s < slices; s++)
        model_check(stats[s], model.max[s] + logl(model.sum[s]), QDQ_FLOAT32, 1e-14L, "stats", s);
}

static void check_log_softmax(qdq_shape shape, int axis, qdq_dtype dtype) {
    size_t n = qdq_shape_count(shape);
    model_fill(x, n, dtype, -4, 3, n + (size_t)axis);
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    qdq_output(g, "y",
               qdq_log_softmax(g, qdq_input(g, "x", dtype, shape),
                               (qdq_log_softmax_attrs){.axis = QDQ_INT(axis)}));
    model_run(g, (model_tensor[]){{"x", x, n}, {0}}, (model_tensor[]){{"y", y, n}, {0}});
    model_softmax(shape, axis, n);
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(shape, 1u << axis, i);
        model_check(y[i], (long double)x[i] - model.max[s] - logl(model.sum[s]), dtype, 1e-14L, "y",
                    i);
    }
}

// Slices shorter and longer than the buffers, and counts of neighbouring slices that are no
// multiple of a vector.
#define SHAPES                                                                                \
    QDQ_SHAPE(7), QDQ_SHAPE(3, 5), QDQ_SHAPE(1, 16), QDQ_SHAPE(2, 21, 4, 3), QDQ_SHAPE(5, 1), \
        QDQ_SHAPE(2, 300, 17), QDQ_SHAPE(3, 5001), QDQ_SHAPE(2, 2051, 3), QDQ_SHAPE(1000, 2), \
        QDQ_SHAPE(2, 3, 2, 5, 2, 3)

static void softmax_follows_its_formula_along_every_axis(void **state) {
    (void)state;
    const qdq_shape shapes[] = {SHAPES};
    for (size_t k = 0; k < UNIT_COUNT(shapes); k++)
        for (int axis = 0; axis < shapes[k].rank; axis++)
            check_softmax(shapes[k], axis, QDQ_FLOAT32, QDQ_FLOAT32);
}

// Without stats, rows of float32 may be computed at once. Exponents up to 2^most: from 2^7 on some
// results are denormal or 0.
static void check_rows(size_t n, int most) {
    size_t rows = 3;
    qdq_shape shape = QDQ_SHAPE((int64_t)rows, (int64_t)n);
    model_fill(x, rows * n, QDQ_FLOAT32, -4, most, n);
    for (size_t i = 5; i < rows * n; i += 50) x[i] = -INFINITY;
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, shape);
    qdq_output(g, "y", qdq_softmax(g, v, (qdq_softmax_attrs){.axis = QDQ_INT(1)}));
    model_run(g, (model_tensor[]){{"x", x, rows * n}, {0}},
              (model_tensor[]){{"y", y, rows * n}, {0}});
    model_softmax(shape, 1, rows * n);
    for (size_t i = 0; i < rows * n; i++) {
        long double want = expl((long double)x[i] - model.max[i / n]) / model.sum[i / n];
        model_check(y[i], want, QDQ_FLOAT32, want * 1e-14L, "y", i);
    }
}

static void rows_of_every_length_follow_the_formula_without_stats(void **state) {
    static const size_t lengths[] = {100, 127, 1000, 4080, 4095, 4096, 4097, 5000};
    (void)state;
    for (size_t n = 1; n <= 50; n++) check_rows(n, 3);
    for (size_t i = 0; i < UNIT_COUNT(lengths); i++) check_rows(lengths[i], i % 2 ? 7 : 3);
}

//---- ONNX Runtime's ---------------------------------------------------------

// e^a as its kernel for AVX-512 computes it, with ldexpf for its scaling instruction.
static float runtime_exp(float a) {
    float v = fmaxf(a, -103.9720840454f);
    float m = rintf(fmaf(v, 1.44269504088896341f, 0x1.8p23f) - 0x1.8p23f);
    float r = fmaf(m, -6.93145752e-1f, v);
    r = fmaf(m, -1.42860677e-6f, r);
    static const float c[] = {0x1.694000p-10f,
                              0x1.125edcp-7f,
                              0x1.555b5ap-5f,
                              0x1.555450p-3f,
                              0x1.fffff6p-2f,
                              1.0f,
                              1.0f};
    float p = c[0];
    for (size_t i = 1; i < UNIT_COUNT(c); i++) p = fmaf(p, r, c[i]);
    return ldexpf(p, (int)m);
}

// Transposes a matrix in place.
static void turn(float *matrix, size_t rows, size_t columns) {
    float *copy = malloc(rows * columns * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, matrix, rows * columns * sizeof *copy);
    for (size_t i = 0; i < rows * columns; i++) matrix[i % columns * rows + i / columns] = copy[i];
    free(copy);
}

// Slices of n elements; `columns`: they lie side by side.
static void check_runtime_row(const char *isa, int threads, size_t rows, size_t n, bool columns) {
    enum { LANES = 16 };
    qdq_compile_options options = {.target = "onnx@1.31-avx512", .isa = isa};
    qdq_exec_options how = {.poison = true, .parallel = qdq_parallel_openmp(threads)};
    qdq_error err = {0};
    how.parallel.least = 1;
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    qdq_shape shape =
        columns ? QDQ_SHAPE((int64_t)n, (int64_t)rows) : QDQ_SHAPE((int64_t)rows, (int64_t)n);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, shape);
    qdq_output(g, "y", qdq_softmax(g, v, (qdq_softmax_attrs){.axis = QDQ_INT(!columns)}));
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, &how, &err);
    if (!exec) fail_msg("%s", err.text);
    assert_int_equal(qdq_exec_bind(exec, "x", x, rows * n * sizeof *x, &err), QDQ_OK);
    assert_int_equal(qdq_exec_bind(exec, "y", y, rows * n * sizeof *y, &err), QDQ_OK);
    if (columns) turn(x, rows, n);
    qdq_exec_run(exec);
    if (columns) turn(x, n, rows), turn(y, n, rows);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    for (size_t row = 0; row < rows; row++) {
        const float *in = x + row * n;
        float lanes[LANES] = {0}, max = in[0];
        for (size_t i = 0; i < n; i++) max = fmaxf(max, in[i]);
        for (size_t i = 0; i < n; i++) lanes[i % LANES] += runtime_exp(in[i] - max);
        for (size_t l = 0; l < LANES / 2; l++) lanes[l] += lanes[l + LANES / 2];
        float low = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        float factor = 1.0f / (low + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])));
        for (size_t i = 0; i < n; i++)
            if (y[row * n + i] != runtime_exp(in[i] - max) * factor)
                fail_msg("%s, %zu elements: %a at %zu, wanted %a", isa, n, (double)y[row * n + i],
                         i, (double)(runtime_exp(in[i] - max) * factor));
    }
}

// Differences of up to 130 make denormal results and zeros. Lengths cross 16 lanes with each
// remainder and a part of 4,096.
static void float32_on_target_onnx_has_the_lanes_of_avx512(void **state) {
    static const size_t lengths[] = {1, 15, 16, 17, 31, 32, 33, 47, 100, 4095, 4096, 4097, 8213};
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(lengths); k++) {
        size_t n = lengths[k], rows = n > 5000 ? 2 : 4;
        model_fill(x, rows * n, QDQ_FLOAT32, -4, k % 2 ? 6 : 3, n);
        for (size_t isa = 0; qdq_isa_get(isa).name; isa++)
            for (int threads = 1; qdq_isa_get(isa).available && threads <= 3; threads += 2)
                check_runtime_row(qdq_isa_get(isa).name, threads, rows, n, false);
    }
}

// The same for slices side by side, of which 16 or fewer are walked together, with a rest.
static void columns_on_target_onnx_have_the_lanes_of_avx512(void **state) {
    static const size_t lengths[] = {1, 5, 16, 17, 33, 255, 256, 257, 1030, 4097};
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(lengths); k++) {
        size_t n = lengths[k], columns = n > 1000 ? 3 : 2 * QDQ_SLICES_AT_ONCE + 5;
        model_fill(x, columns * n, QDQ_FLOAT32, -4, k % 2 ? 6 : 3, n);
        for (size_t isa = 0; qdq_isa_get(isa).name; isa++)
            for (int threads = 1; qdq_isa_get(isa).available && threads <= 3; threads += 2)
                check_runtime_row(qdq_isa_get(isa).name, threads, columns, n, true);
    }
}

static void softmax_follows_its_formula_for_every_pair_of_dtypes(void **state) {
    (void)state;
    for (size_t from = 0; from < 3; from++)
        for (size_t to = 0; to < 3; to++) {
            if (from != to && from != 0 && to != 0) continue;
            check_softmax(QDQ_SHAPE(3, 2, 37), 2, model_floats[from], model_floats[to]);
            check_softmax(QDQ_SHAPE(3, 37, 2), 1, model_floats[from], model_floats[to]);
            check_softmax(QDQ_SHAPE(2, 2500), 1, model_floats[from], model_floats[to]);
            check_softmax(QDQ_SHAPE(200, 19), 0, model_floats[from], model_floats[to]);
        }
}

static void log_softmax_follows_its_formula(void **state) {
    (void)state;
    const qdq_shape shapes[] = {SHAPES};
    for (size_t k = 0; k < UNIT_COUNT(shapes); k++)
        for (int axis = 0; axis < shapes[k].rank; axis++)
            check_log_softmax(shapes[k], axis, model_floats[(k + (size_t)axis) % 3]);
}

//---- Known numbers ----------------------------------------------------------

// Runs [rows, n] along the last dim.
static void run_rows(qdq_softmax_mode mode, size_t rows, size_t n) {
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)rows, (int64_t)n));
    v = qdq_softmax(g, v, (qdq_softmax_attrs){.mode = mode, .keep_stats = QDQ_TRUE});
    qdq_output(g, "y", v);
    qdq_output(g, "stats", qdq_port(g, v, "stats"));
    model_run(g, (model_tensor[]){{"x", x, rows * n}, {0}},
              (model_tensor[]){{"y", y, rows * n}, {"stats", stats, rows}, {0}});
}

static void equal_elements_give_one_over_their_count(void **state) {
    (void)state;
    for (size_t n = 1; n <= 5000; n = n * 3 + 1) {
        for (size_t i = 0; i < n; i++) x[i] = -123.25f;
        run_rows(QDQ_SOFTMAX_NONE, 1, n);
        for (size_t i = 0; i < n; i++) assert_true(y[i] == (float)(1.0 / (double)n));
        assert_true(stats[0] == (float)(log((double)n) - 123.25));
    }
}

static void elements_far_below_the_greatest_give_denormals_and_zero(void **state) {
    (void)state;
    const float row[6] = {0, -88, -100, -104, -200, -FLT_MAX};
    memcpy(x, row, sizeof row);
    run_rows(QDQ_SOFTMAX_NONE, 1, 6);
    assert_true(y[0] == 1 && y[4] == 0 && y[5] == 0 && !signbit(y[5]));
    for (int i = 1; i < 4; i++) assert_true(y[i] == (float)exp((double)row[i]));
    assert_true(y[2] > 0 && y[2] < FLT_MIN);
}

static void minus_infinity_contributes_nothing(void **state) {
    (void)state;
    float without[4];
    for (int mode = 0; mode < 2; mode++) {
        memcpy(x, (float[]){1, 2, -3, 0.5f}, sizeof without);
        run_rows((qdq_softmax_mode)mode, 1, 4);
        memcpy(without, y, sizeof without);
        memcpy(x, (float[]){1, -INFINITY, 2, -3, -INFINITY, 0.5f}, 6 * sizeof(float));
        run_rows((qdq_softmax_mode)mode, 1, 6);
        assert_true(y[0] == without[0] && y[2] == without[1] && y[3] == without[2]);
        assert_true(y[5] == without[3] && y[1] == 0 && y[4] == 0);
    }
}

// A slice of nothing but -inf among others, taken at once and in parts.
static void minus_infinities_alone_give_zeros_or_nan_by_mode(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 3, 33, 2500};
    for (size_t k = 0; k < UNIT_COUNT(lengths); k++)
        for (int mode = 0; mode < 2; mode++) {
            size_t n = lengths[k];
            for (size_t i = 0; i < 3 * n; i++) x[i] = i / n == 1 ? -INFINITY : 0;
            run_rows((qdq_softmax_mode)mode, 3, n);
            for (size_t i = 0; i < 3 * n; i++) {
                if (i / n != 1)
                    assert_true(y[i] == (float)(1.0 / (double)n));
                else if (mode)
                    assert_true(y[i] == 0 && !signbit(y[i]));
                else
                    assert_true(isnan(y[i]));
            }
            assert_true(stats[0] == (float)log((double)n) && stats[2] == stats[0]);
            assert_true(mode ? stats[1] == 0 : isnan(stats[1]));
        }
}

static void nan_or_infinity_makes_its_slice_nan(void **state) {
    (void)state;
    const float bad[] = {NAN, -NAN, INFINITY};
    for (size_t k = 0; k < 3; k++)
        for (size_t at = 0; at < 20; at++) {
            for (size_t i = 0; i < 60; i++) x[i] = i == 20 + at ? bad[k] : 0;
            run_rows(QDQ_SOFTMAX_INF_AS_ZERO, 3, 20);
            for (size_t i = 0; i < 60; i++) assert_true(i / 20 == 1 ? isnan(y[i]) : y[i] == 0.05f);
            assert_true(isnan(stats[1]) && !isnan(stats[0]) && !isnan(stats[2]));
        }
}

// Read back as float32, the codes show the NaN's payload.
static void nan_is_the_quiet_one_in_every_dtype(void **state) {
    (void)state;
    const float quiet[] = {NAN, -INFINITY, 0, 1};
    for (size_t d = 0; d < 3; d++) {
        qdq_graph *g = qdq_graph_create("softmax", NULL);
        qdq_value v = qdq_input(g, "x", model_floats[d], QDQ_SHAPE(9, 4));
        qdq_output(g, "y", qdq_softmax(g, v, (qdq_softmax_attrs){0}));
        for (size_t i = 0; i < 36; i++) x[i] = i % 8 < 4 ? -quiet[i % 4] : -INFINITY;
        model_run(g, (model_tensor[]){{"x", x, 36}, {0}}, (model_tensor[]){{"y", y, 36}, {0}});
        for (size_t i = 0; i < 36; i++) {
            uint32_t bits;
            memcpy(&bits, &y[i], sizeof bits);
            assert_int_equal(bits, 0x7FC00000);
        }
    }
}

static void log_softmax_of_minus_infinity_is_minus_infinity(void **state) {
    (void)state;
    const float rows[3][3] = {
        {0, -INFINITY, 0}, {-INFINITY, -INFINITY, -INFINITY}, {1, INFINITY, 2}};
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    memcpy(x, rows, sizeof rows);
    qdq_output(g, "y",
               qdq_log_softmax(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3, 3)),
                               (qdq_log_softmax_attrs){0}));
    model_run(g, (model_tensor[]){{"x", x, 9}, {0}}, (model_tensor[]){{"y", y, 9}, {0}});
    assert_true(y[0] == (float)-log(2.0) && y[1] == -INFINITY && y[2] == y[0]);
    for (int i = 3; i < 9; i++) assert_true(isnan(y[i]));
}

//---- Attributes and refusals ------------------------------------------------

static void softmax_goes_along_dim_1_and_log_softmax_along_the_last(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3, 5));
    memset(x, 0, 30 * sizeof *x);
    qdq_output(g, "y", qdq_softmax(g, v, (qdq_softmax_attrs){0}));
    qdq_output(g, "stats", qdq_log_softmax(g, v, (qdq_log_softmax_attrs){0}));
    model_run(g, (model_tensor[]){{"x", x, 30}, {0}},
              (model_tensor[]){{"y", y, 30}, {"stats", stats, 30}, {0}});
    assert_true(y[0] == (float)(1.0 / 3) && stats[0] == (float)-log(5.0));
}

static void stats_are_kept_if_keep_stats_is_true(void **state) {
    (void)state;
    for (int keep = QDQ_UNSET; keep <= QDQ_FALSE; keep++) {
        qdq_graph *g = qdq_graph_create("softmax", NULL);
        qdq_value v = qdq_softmax(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3)),
                                  (qdq_softmax_attrs){.keep_stats = (qdq_bool)keep});
        assert_int_equal(qdq_port(g, v, "stats").id != 0, keep == QDQ_TRUE);
        qdq_graph_destroy(g);
    }
}

static void stats_alone_may_be_the_output(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    qdq_value v = qdq_softmax(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 4)),
                              (qdq_softmax_attrs){.keep_stats = QDQ_TRUE});
    memset(x, 0, 8 * sizeof *x);
    qdq_output(g, "stats", qdq_port(g, v, "stats"));
    model_run(g, (model_tensor[]){{"x", x, 8}, {0}}, (model_tensor[]){{"stats", stats, 2}, {0}});
    assert_true(stats[0] == (float)log(4.0) && stats[1] == stats[0]);
}

static void refuse(qdq_dtype dtype, qdq_shape shape, qdq_softmax_attrs attrs,
                   const char *sentence) {
    qdq_graph *g = qdq_graph_create("softmax", NULL);
    attrs.name = "s";
    qdq_output(g, "y", qdq_softmax(g, qdq_input(g, "x", dtype, shape), attrs));
    model_refused(g, sentence);
}

static void unsupported_softmaxes_are_refused(void **state) {
    (void)state;
    refuse(QDQ_FLOAT32, QDQ_SHAPE(4), (qdq_softmax_attrs){0},
           "node 's': SoftMax: axis is 1, wanted -1 to 0; count dims from 0, or from the end with "
           "-1");
    refuse(QDQ_FLOAT32, (qdq_shape){0}, (qdq_softmax_attrs){.axis = QDQ_INT(-1)},
           "node 's': SoftMax: axis is -1, wanted an x with dims: this one has none; count dims "
           "from 0, or from the end with -1");
    refuse(QDQ_INT32, QDQ_SHAPE(4, 4), (qdq_softmax_attrs){0},
           "node 's': SoftMax: x is int32, wanted one of: float32, float16, bfloat16; see `qdq ops "
           "SoftMax`");
    refuse(QDQ_BFLOAT16, QDQ_SHAPE(4, 4), (qdq_softmax_attrs){.dtype = QDQ_FLOAT16},
           "node 's': SoftMax: dtype is float16, wanted float32, or bfloat16 as x is; see `qdq ops "
           "SoftMax`");
    refuse(QDQ_FLOAT32, QDQ_SHAPE(4, 4), (qdq_softmax_attrs){.dtype = QDQ_INT8},
           "node 's': SoftMax: dtype is int8, wanted float32, float16 or bfloat16; see `qdq ops "
           "SoftMax`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_follows_its_formula_along_every_axis),
        cmocka_unit_test(rows_of_every_length_follow_the_formula_without_stats),
        cmocka_unit_test(softmax_follows_its_formula_for_every_pair_of_dtypes),
        cmocka_unit_test(float32_on_target_onnx_has_the_lanes_of_avx512),
        cmocka_unit_test(columns_on_target_onnx_have_the_lanes_of_avx512),
        cmocka_unit_test(log_softmax_follows_its_formula),
        cmocka_unit_test(equal_elements_give_one_over_their_count),
        cmocka_unit_test(elements_far_below_the_greatest_give_denormals_and_zero),
        cmocka_unit_test(minus_infinity_contributes_nothing),
        cmocka_unit_test(minus_infinities_alone_give_zeros_or_nan_by_mode),
        cmocka_unit_test(nan_or_infinity_makes_its_slice_nan),
        cmocka_unit_test(nan_is_the_quiet_one_in_every_dtype),
        cmocka_unit_test(log_softmax_of_minus_infinity_is_minus_infinity),
        cmocka_unit_test(softmax_goes_along_dim_1_and_log_softmax_along_the_last),
        cmocka_unit_test(stats_are_kept_if_keep_stats_is_true),
        cmocka_unit_test(stats_alone_may_be_the_output),
        cmocka_unit_test(unsupported_softmaxes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
