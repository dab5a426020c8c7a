// SPDX-License-Identifier: Apache-2.0
// GroupNorm and the batch norms: their formulas in long double, attributes and refusals.
#include "tests/ops/reduce/norm_model.h"

static float running_mean[MOST], running_variance[MOST], old_mean[MOST], old_variance[MOST];

//---- GroupNorm --------------------------------------------------------------

typedef struct group_case {
    qdq_dtype dtype, aux;
    size_t batch, groups, each, pixels;  // each: channels in a group
    bool affine, first;                  // first: channels come first
} group_case;

static void check_group(group_case c) {
    size_t channels = c.groups * c.each, n = c.batch * channels * c.pixels;
    qdq_shape shape = c.first
                          ? QDQ_SHAPE((int64_t)c.batch, (int64_t)channels, (int64_t)c.pixels, 1)
                          : QDQ_SHAPE((int64_t)c.batch, 1, (int64_t)c.pixels, (int64_t)channels);
    qdq_shape parts =
        c.first
            ? QDQ_SHAPE((int64_t)c.batch, (int64_t)c.groups, (int64_t)c.each, (int64_t)c.pixels)
            : QDQ_SHAPE((int64_t)c.batch, (int64_t)c.pixels, (int64_t)c.groups, (int64_t)c.each);
    uint32_t within = c.first ? 1 << 2 | 1 << 3 : 1 << 1 | 1 << 3;
    fill(c.dtype, c.aux, n, channels);
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_shape list = QDQ_SHAPE((int64_t)channels);
    qdq_value v = qdq_input(g, "x", c.dtype, shape);
    v = qdq_group_norm(g, v,
                       (qdq_group_norm_attrs){.gamma = input(g, "gamma", c.aux, list, c.affine),
                                              .beta = input(g, "beta", c.aux, list, c.affine),
                                              .groups = QDQ_INT((int64_t)c.groups),
                                              .data_format = c.first ? QDQ_NCX : QDQ_NXC});
    qdq_dtype is;
    qdq_shape stats;
    assert_true(qdq_value_type(g, qdq_port(g, v, "variance"), &is, &stats));
    assert_true(qdq_shape_equal(stats, QDQ_SHAPE((int64_t)c.batch, (int64_t)c.groups)));
    qdq_output(g, "y", v);
    output_port(g, v, "mean"), output_port(g, v, "variance");
    model_run(g,
              (model_tensor[]){{"x", x, n},
                               {"gamma", c.affine ? gammas : NULL, channels},
                               {"beta", c.affine ? betas : NULL, channels},
                               {0}},
              (model_tensor[]){{"y", y, n},
                               {"mean", mean, c.batch * c.groups},
                               {"variance", variance, c.batch * c.groups},
                               {0}});
    model_stats(parts, within);
    check_stats(c.batch * c.groups, c.affine ? c.aux : QDQ_FLOAT32);
    for (size_t i = 0; i < n; i++)
        check_y(i, model_slice_of(parts, within, i),
                c.first ? i / c.pixels % channels : i % channels, 1e-5, c.affine, c.dtype);
}

static void group_norm_follows_its_formula_with_channels_first_and_last(void **state) {
    (void)state;
    const size_t sizes[][4] = {{2, 3, 5, 7}, {1, 1, 4, 33},  {2, 40, 1, 3},
                               {3, 2, 8, 1}, {1, 2, 9, 501}, {2, 5, 1, 1}};
    for (size_t k = 0; k < UNIT_COUNT(sizes); k++)
        for (int bits = 0; bits < 4; bits++)
            for (size_t d = 0; d < 4; d++) {
                const size_t *s = sizes[k];
                check_group((group_case){d < 3 ? model_floats[d] : QDQ_BFLOAT16,
                                         d < 3 ? QDQ_FLOAT32 : QDQ_BFLOAT16, s[0], s[1], s[2], s[3],
                                         bits & 1, bits & 2});
            }
}

//---- BatchNorm --------------------------------------------------------------

typedef struct batch_case {
    qdq_dtype dtype, aux;
    qdq_shape shape;
    bool first, affine;
    qdq_float momentum;
} batch_case;

static size_t prepare_batch(const batch_case *c, uint32_t *within) {
    int dim = c->first ? 1 : c->shape.rank - 1;
    size_t channels = (size_t)c->shape.dims[dim];
    *within = ((1u << c->shape.rank) - 1) & ~(1u << dim);
    fill(c->dtype, c->aux, qdq_shape_count(c->shape), channels);
    model_fill(old_mean, channels, c->aux, -2, 1, 5);
    model_fill(old_variance, channels, c->aux, -2, 1, 6);
    for (size_t i = 0; i < channels; i++) old_variance[i] = fabsf(old_variance[i]);
    return channels;
}

static void check_inference(batch_case c) {
    uint32_t within;
    size_t n = qdq_shape_count(c.shape), channels = prepare_batch(&c, &within);
    qdq_shape list = QDQ_SHAPE((int64_t)channels);
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_output(g, "y",
               qdq_batch_norm(g, qdq_input(g, "x", c.dtype, c.shape),
                              (qdq_batch_norm_attrs){
                                  .gamma = qdq_input(g, "gamma", c.aux, list),
                                  .beta = qdq_input(g, "beta", c.aux, list),
                                  .mean = qdq_input(g, "mean", c.aux, list),
                                  .variance = qdq_input(g, "variance", c.aux, list),
                                  .epsilon = QDQ_FLOAT(0.001),
                                  .data_format = c.first ? QDQ_NCX : QDQ_NXC,
                              }));
    model_run(g,
              (model_tensor[]){{"x", x, n},
                               {"gamma", gammas, channels},
                               {"beta", betas, channels},
                               {"mean", old_mean, channels},
                               {"variance", old_variance, channels},
                               {0}},
              (model_tensor[]){{"y", y, n}, {0}});
    for (size_t s = 0; s < channels; s++) {
        model_mean[s] = (long double)old_mean[s];
        model_variance[s] = (long double)old_variance[s];
    }
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(c.shape, within, i);
        check_y(i, s, s, 0.001, true, c.dtype);
    }
}

static void check_running(const float *got, const float *old, const long double *batch,
                          const batch_case *c, size_t channels, const char *what) {
    long double momentum = c->momentum.set != 0 ? (long double)(float)c->momentum.value : 0.5L;
    for (size_t s = 0; s < channels; s++) {
        long double want = momentum * (long double)old[s] + (1 - momentum) * batch[s];
        model_check(got[s], want, c->aux, (fabsl((long double)old[s]) + 100) * 1e-13L, what, s);
    }
}

static void check_training(batch_case c) {
    uint32_t within;
    size_t n = qdq_shape_count(c.shape), channels = prepare_batch(&c, &within);
    qdq_shape list = QDQ_SHAPE((int64_t)channels);
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = qdq_input(g, "x", c.dtype, c.shape);
    v = qdq_batch_norm_training(g, v,
                                (qdq_batch_norm_training_attrs){
                                    .mean = qdq_input(g, "mean", c.aux, list),
                                    .variance = qdq_input(g, "variance", c.aux, list),
                                    .gamma = input(g, "gamma", c.aux, list, c.affine),
                                    .beta = input(g, "beta", c.aux, list, c.affine),
                                    .epsilon = QDQ_FLOAT(0.5),
                                    .momentum = c.momentum,
                                    .data_format = c.first ? QDQ_NCX : QDQ_NXC,
                                });
    qdq_output(g, "y", v);
    output_port(g, v, "running_mean"), output_port(g, v, "running_variance");
    output_port(g, v, "batch_mean"), output_port(g, v, "batch_variance");
    model_run(g,
              (model_tensor[]){{"x", x, n},
                               {"gamma", c.affine ? gammas : NULL, channels},
                               {"beta", c.affine ? betas : NULL, channels},
                               {"mean", old_mean, channels},
                               {"variance", old_variance, channels},
                               {0}},
              (model_tensor[]){{"y", y, n},
                               {"running_mean", running_mean, channels},
                               {"running_variance", running_variance, channels},
                               {"batch_mean", mean, channels},
                               {"batch_variance", variance, channels},
                               {0}});
    model_stats(c.shape, within);
    check_stats(channels, c.aux);
    check_running(running_mean, old_mean, model_mean, &c, channels, "running_mean");
    check_running(running_variance, old_variance, model_variance, &c, channels, "running_variance");
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(c.shape, within, i);
        check_y(i, s, s, 0.5, c.affine, c.dtype);
    }
}

static void batch_norms_follow_their_formulas(void **state) {
    (void)state;
    const qdq_shape shapes[] = {QDQ_SHAPE(5, 3),          QDQ_SHAPE(2, 17, 9),
                                QDQ_SHAPE(3, 4, 5, 6),    QDQ_SHAPE(2, 3, 2, 3, 4),
                                QDQ_SHAPE(1, 2, 2500, 1), QDQ_SHAPE(400, 33),
                                QDQ_SHAPE(2, 1, 7)};
    const qdq_float momenta[] = {{0}, QDQ_FLOAT(0.9), QDQ_FLOAT(0)};
    for (size_t k = 0; k < UNIT_COUNT(shapes); k++)
        for (size_t d = 0; d < 4; d++)
            for (int bits = 0; bits < 4; bits++) {
                batch_case c = {.dtype = d < 3 ? model_floats[d] : QDQ_BFLOAT16,
                                .aux = d < 3 ? QDQ_FLOAT32 : QDQ_BFLOAT16,
                                .shape = shapes[k],
                                .first = bits & 1,
                                .affine = bits & 2,
                                .momentum = momenta[(k + d) % 3]};
                check_training(c);
                if (c.affine) check_inference(c);
            }
}

//---- Refusals ---------------------------------------------------------------

static void refuse_group(qdq_shape shape, qdq_shape gamma_shape, qdq_group_norm_attrs attrs,
                         const char *sentence) {
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = qdq_input(g, "x", F32, shape);
    attrs.name = "n";
    attrs.gamma = attrs.beta = maybe(g, "gamma", F32, gamma_shape);
    qdq_output(g, "y", qdq_group_norm(g, v, attrs));
    model_refused(g, sentence);
}

static void unsupported_group_norms_are_refused(void **state) {
    (void)state;
    const qdq_shape none = NONE, image = QDQ_SHAPE(2, 6, 5);
    refuse_group(image, none, (qdq_group_norm_attrs){0},
                 "node 'n': GroupNorm: groups is missing; see `qdq ops GroupNorm`");
    refuse_group(image, none, (qdq_group_norm_attrs){.groups = QDQ_INT(3)},
                 "node 'n': GroupNorm: groups is 3, wanted a divisor of the channels of x: 5; see "
                 "`qdq ops GroupNorm`");
    refuse_group(image, none, (qdq_group_norm_attrs){.groups = QDQ_INT(0)},
                 "node 'n': GroupNorm: groups is 0, wanted a divisor of the channels of x: 5; see "
                 "`qdq ops GroupNorm`");
    refuse_group(QDQ_SHAPE(6), none, (qdq_group_norm_attrs){.groups = QDQ_INT(3)},
                 "node 'n': GroupNorm: x has the shape [6], wanted a batch and channels: 2 dims or "
                 "more; see docs/ops_neural_network.md");
    refuse_group(image, QDQ_SHAPE(3),
                 (qdq_group_norm_attrs){.groups = QDQ_INT(3), .data_format = QDQ_NCX},
                 "node 'n': GroupNorm: gamma has the shape [3], wanted [6]: the channels of x; see "
                 "docs/ops_neural_network.md");
}

static void refuse_batch(bool has_mean, qdq_float epsilon, const char *sentence) {
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = qdq_input(g, "x", F32, QDQ_SHAPE(2, 3)), c = qdq_input(g, "c", F32, QDQ_SHAPE(3));
    qdq_output(g, "y",
               qdq_batch_norm(g, v,
                              (qdq_batch_norm_attrs){.name = "n",
                                                     .gamma = c,
                                                     .beta = c,
                                                     .mean = has_mean ? c : (qdq_value){0},
                                                     .variance = c,
                                                     .epsilon = epsilon}));
    model_refused(g, sentence);
}

static void unsupported_batch_norms_are_refused(void **state) {
    (void)state;
    refuse_batch(true, (qdq_float){0},
                 "node 'n': BatchNormInference: epsilon is missing; see `qdq ops "
                 "BatchNormInference`");
    refuse_batch(false, QDQ_FLOAT(1),
                 "node 'n': BatchNormInference: mean is not connected; connect it under "
                 "\"inputs\"");
    qdq_graph *g = qdq_graph_create("norm", NULL);
    qdq_value v = qdq_input(g, "x", F32, QDQ_SHAPE(2, 3)), c = qdq_input(g, "c", F32, QDQ_SHAPE(3));
    v = qdq_batch_norm_training(
        g, v,
        (qdq_batch_norm_training_attrs){
            .name = "n", .mean = c, .variance = c, .gamma = c, .epsilon = QDQ_FLOAT(1)});
    qdq_output(g, "y", v);
    model_refused(g, "node 'n': BatchNormForwardTraining: beta is not connected, wanted both gamma "
                     "and beta, or none; connect it under \"inputs\"");
}

static void stats_are_kept_unless_keep_stats_is_false(void **state) {
    (void)state;
    for (int keep = QDQ_UNSET; keep <= QDQ_FALSE; keep++) {
        qdq_graph *g = qdq_graph_create("norm", NULL);
        qdq_value v = qdq_input(g, "x", F32, QDQ_SHAPE(2, 3));
        qdq_value group = qdq_group_norm(
            g, v, (qdq_group_norm_attrs){.groups = QDQ_INT(1), .keep_stats = (qdq_bool)keep});
        assert_int_equal(qdq_port(g, group, "variance").id != 0, keep != QDQ_FALSE);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_norm_follows_its_formula_with_channels_first_and_last),
        cmocka_unit_test(batch_norms_follow_their_formulas),
        cmocka_unit_test(unsupported_group_norms_are_refused),
        cmocka_unit_test(unsupported_batch_norms_are_refused),
        cmocka_unit_test(stats_are_kept_unless_keep_stats_is_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
