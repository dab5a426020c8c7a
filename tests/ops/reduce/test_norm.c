// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm: their formulas in long double, exact results, attributes and refusals.
#include "tests/ops/reduce/norm_model.h"

//---- LayerNorm and RMSNorm --------------------------------------------------

typedef struct layer_case {
    qdq_dtype dtype, aux;
    bool affine, flat, stats, rms;
    qdq_float epsilon;
} layer_case;

static uint32_t dims_from(int axis, int rank) { return (1u << rank) - (1u << axis); }

static qdq_value add_layer(qdq_graph *g, layer_case c, qdq_shape shape, int axis, qdq_shape rest) {
    qdq_value v = qdq_input(g, "x", c.dtype, shape);
    qdq_value a = input(g, "gamma", c.aux, rest, c.affine);
    if (c.rms)
        return qdq_rms_norm(g, v,
                            (qdq_rms_norm_attrs){.gamma = a,
                                                 .begin_norm_axis = QDQ_INT(axis - shape.rank),
                                                 .epsilon = c.epsilon});
    return qdq_layer_norm(g, v,
                          (qdq_layer_norm_attrs){.gamma = a,
                                                 .beta = input(g, "beta", c.aux, rest, c.affine),
                                                 .begin_norm_axis = QDQ_INT(axis),
                                                 .epsilon = c.epsilon,
                                                 .use_affine = c.flat ? QDQ_FALSE : QDQ_UNSET,
                                                 .keep_stats = c.stats ? QDQ_UNSET : QDQ_FALSE});
}

static void check_layer(layer_case c, qdq_shape shape, int axis) {
    size_t n = qdq_shape_count(shape);
    uint32_t within = dims_from(axis, shape.rank);
    size_t slices = model_slice_count(shape, within), each = n / slices;
    qdq_shape rest = {.rank = shape.rank - axis};
    for (int i = 0; i < rest.rank; i++) rest.dims[i] = shape.dims[axis + i];
    if (c.flat) rest = QDQ_SHAPE((int64_t)each);
    fill(c.dtype, c.aux, n, each);
    if (c.rms) memset(betas, 0, each * sizeof *betas);
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = add_layer(g, c, shape, axis, rest);
    qdq_output(g, "y", v);
    if (c.stats) {
        qdq_dtype is;
        qdq_shape stats;
        output_port(g, v, "mean"), output_port(g, v, "variance");
        assert_true(qdq_value_type(g, qdq_port(g, v, "mean"), &is, &stats));
        assert_int_equal(stats.rank, axis);
        assert_int_equal(is, c.affine ? c.aux : QDQ_FLOAT32);
    }
    model_run(g,
              (model_tensor[]){{"x", x, n},
                               {"gamma", c.affine ? gammas : NULL, each},
                               {"beta", c.affine && !c.rms ? betas : NULL, each},
                               {0}},
              (model_tensor[]){{"y", y, n},
                               {"mean", c.stats ? mean : NULL, slices},
                               {"variance", c.stats ? variance : NULL, slices},
                               {0}});
    model_stats(shape, within);
    if (!each) return;
    if (c.stats) check_stats(slices, c.affine ? c.aux : QDQ_FLOAT32);
    for (size_t s = 0; c.rms && s < slices; s++)
        model_mean[s] = 0, model_variance[s] = model_square[s];
    for (size_t i = 0; i < n; i++)
        check_y(i, i / each, i % each, c.epsilon.set != 0 ? c.epsilon.value : 1e-5, c.affine,
                c.dtype);
}

static void norms_follow_their_formulas_from_every_axis_on(void **state) {
    (void)state;
    const qdq_shape shapes[] = {QDQ_SHAPE(3, 37),   QDQ_SHAPE(2, 3, 5, 7), QDQ_SHAPE(2, 1, 4096),
                                QDQ_SHAPE(3, 5001), QDQ_SHAPE(9, 1),       QDQ_SHAPE(19)};
    for (size_t k = 0; k < UNIT_COUNT(shapes); k++)
        for (int axis = 0; axis < shapes[k].rank; axis++)
            for (int bits = 0; bits < 16; bits++)
                check_layer((layer_case){.dtype = QDQ_FLOAT32,
                                         .aux = QDQ_FLOAT32,
                                         .affine = bits & 1,
                                         .flat = bits & 2,
                                         .rms = bits & 4,
                                         .stats = (bits & 12) == 8,
                                         .epsilon = bits & 8 ? QDQ_FLOAT(0.0625) : (qdq_float){0}},
                            shapes[k], axis);
}

static void layer_norms_accept_every_dtype(void **state) {
    (void)state;
    for (size_t d = 0; d < 3; d++)
        for (int bits = 0; bits < 8; bits++) {
            qdq_dtype dtype = model_floats[d];
            bool rms = bits & 1;
            layer_case c = {.dtype = dtype, .aux = QDQ_FLOAT32, .affine = bits & 4, .rms = rms};
            if (bits & 2) {
                if (dtype == QDQ_FLOAT16 && !rms) continue;
                c.aux = dtype;
            }
            c.stats = !rms;
            check_layer(c, QDQ_SHAPE(5, 77), 1);
            check_layer(c, QDQ_SHAPE(2, 2500), 1);
        }
}

//---- Exact results ----------------------------------------------------------

// Normalizes [rows, n] along the last dim.
static void run_rows(size_t rows, size_t n, double epsilon) {
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)rows, (int64_t)n));
    v = qdq_layer_norm(g, v, (qdq_layer_norm_attrs){.epsilon = QDQ_FLOAT(epsilon)});
    qdq_output(g, "y", v);
    output_port(g, v, "mean"), output_port(g, v, "variance");
    model_run(g, (model_tensor[]){{"x", x, rows * n}, {0}},
              (model_tensor[]){
                  {"y", y, rows * n}, {"mean", mean, rows}, {"variance", variance, rows}, {0}});
}

static void two_values_become_minus_one_and_one(void **state) {
    (void)state;
    for (size_t n = 2; n < 5000; n = n * 3 + 2) {
        for (size_t i = 0; i < n; i++) x[i] = i % 2 ? 11 : 3;
        run_rows(1, n / 2 * 2, 0);
        for (size_t i = 0; i < n / 2 * 2; i++) assert_true(y[i] == (i % 2 ? 1 : -1));
        assert_true(mean[0] == 7 && variance[0] == 16);
    }
}

// In float32 the difference of the squares would lose all digits.
static void a_large_mean_costs_no_digits(void **state) {
    (void)state;
    for (size_t i = 0; i < 64; i++) x[i] = 0x1p23f + (float)(i % 2);
    run_rows(1, 64, 0);
    for (size_t i = 0; i < 64; i++) assert_true(y[i] == (i % 2 ? 1 : -1));
    assert_true(variance[0] == 0.25f);
}

static void equal_elements_give_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < 100; i++) x[i] = 3;
    run_rows(2, 50, 1e-5);
    for (size_t i = 0; i < 100; i++) assert_true(y[i] == 0);
    run_rows(2, 50, 0);
    for (size_t i = 0; i < 100; i++) assert_true(isnan(y[i]));
}

static void nan_or_infinity_makes_its_slice_nan(void **state) {
    (void)state;
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < 60; i++) x[i] = i == 23 ? bad[k] : (float)i;
        run_rows(3, 20, 1e-5);
        for (size_t i = 0; i < 60; i++) assert_true(isnan(y[i]) == (i / 20 == 1));
        assert_true(isnan(variance[1]) && !isnan(variance[0]) && !isnan(variance[2]));
    }
}

//---- Refusals ---------------------------------------------------------------

typedef struct refusal {
    qdq_shape x, gamma, beta;  // rank -1: not connected
    qdq_dtype x_dtype, gamma_dtype, beta_dtype;
    const char *sentence;
} refusal;

static void refuse_layer(refusal r, qdq_layer_norm_attrs attrs) {
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = qdq_input(g, "x", r.x_dtype, r.x);
    attrs.name = "n";
    attrs.gamma = maybe(g, "gamma", r.gamma_dtype, r.gamma);
    attrs.beta = maybe(g, "beta", r.beta_dtype, r.beta);
    qdq_output(g, "y", qdq_layer_norm(g, v, attrs));
    model_refused(g, r.sentence);
}

static void unsupported_layer_norms_are_refused(void **state) {
    (void)state;
    const qdq_shape none = NONE, x23 = QDQ_SHAPE(2, 3), three = QDQ_SHAPE(3), two = QDQ_SHAPE(2);
    const qdq_layer_norm_attrs plain = {0};
    refuse_layer((refusal){x23, none, none, F32, F32, F32,
                           "node 'n': LayerNorm: begin_norm_axis is 2, wanted -2 to 1; count dims "
                           "from 0, or from the end with -1"},
                 (qdq_layer_norm_attrs){.begin_norm_axis = QDQ_INT(2)});
    refuse_layer((refusal){{0},
                           none,
                           none,
                           F32,
                           F32,
                           F32,
                           "node 'n': LayerNorm: begin_norm_axis is -1, wanted an x with dims: "
                           "this one has none; count dims from 0, or from the end with -1"},
                 plain);
    refuse_layer((refusal){x23, none, none, F32, F32, F32,
                           "node 'n': LayerNorm: epsilon is -0.5, wanted 0 or more, as a float32; "
                           "see `qdq ops LayerNorm`"},
                 (qdq_layer_norm_attrs){.epsilon = QDQ_FLOAT(-0.5)});
    refuse_layer((refusal){x23, three, none, F32, F32, F32,
                           "node 'n': LayerNorm: beta is not connected, wanted both gamma and "
                           "beta, or none; connect it under \"inputs\""},
                 plain);
    refuse_layer((refusal){x23, none, three, F32, F32, F32,
                           "node 'n': LayerNorm: gamma is not connected, wanted both gamma and "
                           "beta, or none; connect it under \"inputs\""},
                 plain);
    refuse_layer((refusal){x23, three, two, F32, F32, F32,
                           "node 'n': LayerNorm: beta has the shape [2], wanted [3]: the dims of x "
                           "from begin_norm_axis on; see docs/ops_neural_network.md"},
                 plain);
    refuse_layer((refusal){x23, three, three, F16, B16, B16,
                           "node 'n': LayerNorm: gamma is bfloat16, wanted float32: x is float16; "
                           "see `qdq ops LayerNorm`"},
                 plain);
    refuse_layer((refusal){x23, three, three, F16, F16, F32,
                           "node 'n': LayerNorm: gamma is float16, wanted one of: float32, "
                           "bfloat16; see `qdq ops LayerNorm`"},
                 plain);
    refuse_layer(
        (refusal){x23, three, three, B16, B16, F32,
                  "node 'n': LayerNorm: beta is float32, wanted bfloat16, as gamma is; see "
                  "`qdq ops LayerNorm`"},
        plain);
}

static void unsupported_rms_norms_are_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = qdq_input(g, "x", B16, QDQ_SHAPE(2, 3));
    v = qdq_rms_norm(
        g, v, (qdq_rms_norm_attrs){.name = "n", .gamma = qdq_input(g, "g", F16, QDQ_SHAPE(3))});
    qdq_output(g, "y", v);
    model_refused(g, "node 'n': RMSNorm: gamma is float16, wanted float32, or bfloat16 as x is; "
                     "see `qdq ops RMSNorm`");
}

static void stats_are_kept_unless_keep_stats_is_false(void **state) {
    (void)state;
    for (int keep = QDQ_UNSET; keep <= QDQ_FALSE; keep++) {
        qdq_graph *g = qdq_graph_create("norm", NULL);
        qdq_value v = qdq_input(g, "x", F32, QDQ_SHAPE(2, 3));
        qdq_value layer =
            qdq_layer_norm(g, v, (qdq_layer_norm_attrs){.keep_stats = (qdq_bool)keep});
        assert_int_equal(qdq_port(g, layer, "mean").id != 0, keep != QDQ_FALSE);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_follow_their_formulas_from_every_axis_on),
        cmocka_unit_test(layer_norms_accept_every_dtype),
        cmocka_unit_test(two_values_become_minus_one_and_one),
        cmocka_unit_test(a_large_mean_costs_no_digits),
        cmocka_unit_test(equal_elements_give_zero),
        cmocka_unit_test(nan_or_infinity_makes_its_slice_nan),
        cmocka_unit_test(unsupported_layer_norms_are_refused),
        cmocka_unit_test(unsupported_rms_norms_are_refused),
        cmocka_unit_test(stats_are_kept_unless_keep_stats_is_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
