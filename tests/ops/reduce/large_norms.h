// SPDX-License-Identifier: Apache-2.0
// For tests of large shapes: layer, group, batch and RMS norms by the formulas of
// docs/ops_neural_network.md.
#ifndef QDQ_TESTS_OPS_REDUCE_LARGE_NORMS_H
#define QDQ_TESTS_OPS_REDUCE_LARGE_NORMS_H

#include "tests/ops/reduce/large_slices.h"

//---- Norms ------------------------------------------------------------------

typedef struct norm {
    double epsilon;
    bool rms, given;       // rms: the mean counts as 0; given: mean and variance are inputs
    tensor *gamma, *beta;  // NULL: absent
    // the index in gamma and beta of element i of slice s
    size_t (*place)(const node *p, size_t s, size_t i);
    tensor mean, variance;    // inputs or results; without data: absent
    size_t pixels, channels;  // of an image, used by place
} norm;

static norm current;

static size_t place_in_slice(const node *p, size_t s, size_t i) {
    (void)p, (void)s;
    return i;
}

// The index of the channel: `pixels` is 1 if the channels are last.
static size_t place_of_channel(const node *p, size_t s, size_t i) {
    return p->s.index[s * p->s.n + i] / current.pixels % current.channels;
}

static void norm_slice(node *p, size_t s) {
    const size_t *index = begin_slice(p, s);
    size_t n = p->s.n;
    double mean = current.rms ? 0 : fold(p->v, n, false) / (double)n, variance;
    if (current.given) mean = tensor_at(&current.mean, s);
    for (size_t i = 0; i < n; i++) p->t[i] = (p->v[i] - mean) * (p->v[i] - mean);
    variance = current.given ? tensor_at(&current.variance, s) : fold(p->t, n, false) / (double)n;
    double scale = 1 / sqrt(variance + current.epsilon);
    for (size_t i = 0; i < n; i++) {
        double y = (p->v[i] - mean) * scale;
        if (current.gamma) y = y * tensor_at(current.gamma, current.place(p, s, i));
        if (current.beta) y = y + tensor_at(current.beta, current.place(p, s, i));
        large_put(&p->y, index[i], y);
    }
    p->t[0] = mean, p->t[1] = variance;
}

static qdq_value parameter(node *p, qdq_dtype dtype, qdq_shape shape, bool positive, tensor **t) {
    qdq_value v = large_input(&p->c, dtype, shape, t);
    large_fill_reals(*t, p->state);
    for (size_t i = 0; positive && i < tensor_count(*t); i++)
        large_put(*t, i, fabs(tensor_at(*t, i)));
    return v;
}

// Makes y, and the statistics of each slice in shape `stats`.
static void norm_slices(node *p, qdq_dtype dtype, qdq_shape stats) {
    current.mean = column(dtype, stats), current.variance = column(dtype, stats);
    for (size_t s = 0; s < p->s.count; s++) {
        norm_slice(p, s);
        large_put(&current.mean, s, p->t[0]);
        large_put(&current.variance, s, p->t[1]);
    }
}

static void output_stats(node *p, qdq_bool keep, qdq_value y) {
    output_maybe(p, keep != QDQ_FALSE, y, "mean", current.mean);
    output_maybe(p, keep != QDQ_FALSE, y, "variance", current.variance);
}

static qdq_bool keep_somehow(const node *p) { return (qdq_bool)large_pick(p->state, 3); }

static qdq_dtype parameter_dtype(node *p) {
    return p->x->dtype == QDQ_BFLOAT16 && large_pick(p->state, 2) ? QDQ_BFLOAT16 : QDQ_FLOAT32;
}

static qdq_value make_layer_norm(node *p, kind k, int axis) {
    qdq_shape x = p->x->shape, rest = {.rank = x.rank - axis}, before = x;
    qdq_dtype dtype = parameter_dtype(p);
    bool affine = large_pick(p->state, 4);
    before.rank = axis;
    for (int i = 0; i < rest.rank; i++) rest.dims[i] = x.dims[axis + i];
    if (large_pick(p->state, 2)) rest = QDQ_SHAPE((int64_t)qdq_shape_count(rest));
    current = (norm){.epsilon = (double)1e-5f, .rms = k == RMS_NORM, .place = place_in_slice};
    qdq_value gamma = {0}, beta = {0};
    if (affine) gamma = parameter(p, dtype, rest, false, &current.gamma);
    if (affine && k == LAYER_NORM) beta = parameter(p, dtype, rest, false, &current.beta);
    norm_slices(p, affine ? dtype : QDQ_FLOAT32, before);
    if (k == RMS_NORM) {
        free(current.mean.data), free(current.variance.data);
        return qdq_rms_norm(p->c.graph, p->input,
                            (qdq_rms_norm_attrs){.gamma = gamma, .begin_norm_axis = QDQ_INT(axis)});
    }
    qdq_layer_norm_attrs attrs = {.gamma = gamma, .beta = beta, .begin_norm_axis = QDQ_INT(axis)};
    attrs.keep_stats = keep_somehow(p);
    qdq_value y = qdq_layer_norm(p->c.graph, p->input, attrs);
    output_stats(p, attrs.keep_stats, y);
    return y;
}

static void find_channels(const node *p, qdq_data_format format) {
    qdq_shape x = p->x->shape;
    int dim = format == QDQ_NCX ? 1 : x.rank - 1;
    current.place = place_of_channel;
    current.channels = (size_t)x.dims[dim], current.pixels = 1;
    for (int i = dim + 1; i < x.rank; i++) current.pixels *= (size_t)x.dims[i];
}

// Slices of a shape that has the groups as a dim.
static qdq_value make_group_norm(node *p, qdq_data_format format) {
    qdq_shape x = p->x->shape, cut = {.rank = x.rank + 1};
    int dim = format == QDQ_NCX ? 1 : x.rank - 1;
    int64_t groups = 1 + (int64_t)large_pick(p->state, (size_t)x.dims[dim]);
    while (x.dims[dim] % groups) groups--;
    for (int i = 0; i < x.rank; i++) cut.dims[i + (i > dim)] = x.dims[i];
    cut.dims[dim] = groups, cut.dims[dim + 1] = x.dims[dim] / groups;
    free(p->s.index);
    p->s = slices_of(cut, ~(1u | 1u << dim));
    qdq_dtype dtype = parameter_dtype(p);
    current = (norm){.epsilon = (double)1e-5f};
    find_channels(p, format);
    qdq_shape channels = QDQ_SHAPE(x.dims[dim]);
    qdq_group_norm_attrs attrs = {.groups = QDQ_INT(groups), .data_format = format};
    attrs.keep_stats = keep_somehow(p);
    attrs.gamma = parameter(p, dtype, channels, false, &current.gamma);
    attrs.beta = parameter(p, dtype, channels, false, &current.beta);
    norm_slices(p, dtype, QDQ_SHAPE(x.dims[0], groups));
    qdq_value y = qdq_group_norm(p->c.graph, p->input, attrs);
    output_stats(p, attrs.keep_stats, y);
    return y;
}

static qdq_value make_batch_norm(node *p, qdq_data_format format) {
    qdq_shape channels = QDQ_SHAPE((int64_t)p->s.count);
    qdq_dtype dtype = parameter_dtype(p);
    tensor *mean, *variance;
    current = (norm){.epsilon = 0.25, .given = true};
    find_channels(p, format);
    qdq_batch_norm_attrs attrs = {.epsilon = QDQ_FLOAT(0.25), .data_format = format};
    attrs.gamma = parameter(p, dtype, channels, false, &current.gamma);
    attrs.beta = parameter(p, dtype, channels, false, &current.beta);
    attrs.mean = parameter(p, dtype, channels, false, &mean);
    attrs.variance = parameter(p, dtype, channels, true, &variance);
    current.mean = *mean, current.variance = *variance;
    for (size_t s = 0; s < p->s.count; s++) norm_slice(p, s);
    return qdq_batch_norm(p->c.graph, p->input, attrs);
}

// Computed in double with a float32 momentum.
static void output_running(node *p, qdq_value y, const char *port, const tensor *old,
                           const double *batch) {
    tensor t = column(old->dtype, old->shape);
    double momentum = (double)0.9f;
    for (size_t s = 0; s < p->s.count; s++)
        large_put(&t, s, momentum * tensor_at(old, s) + (1 - momentum) * batch[s]);
    large_output(&p->c, qdq_port(p->c.graph, y, port), t);
}

static qdq_value make_batch_training(node *p, qdq_data_format format) {
    qdq_shape channels = QDQ_SHAPE((int64_t)p->s.count);
    qdq_dtype dtype = parameter_dtype(p);
    tensor *old_mean, *old_variance;
    current = (norm){.epsilon = 0.25};
    find_channels(p, format);
    qdq_batch_norm_training_attrs attrs = {
        .epsilon = QDQ_FLOAT(0.25), .momentum = QDQ_FLOAT(0.9), .data_format = format};
    attrs.mean = parameter(p, dtype, channels, false, &old_mean);
    attrs.variance = parameter(p, dtype, channels, true, &old_variance);
    attrs.gamma = parameter(p, dtype, channels, false, &current.gamma);
    attrs.beta = parameter(p, dtype, channels, false, &current.beta);
    qdq_value y = qdq_batch_norm_training(p->c.graph, p->input, attrs);
    current.mean = column(dtype, channels), current.variance = column(dtype, channels);
    double *means = oracle_memory(2 * p->s.count * sizeof *means), *rest = means + p->s.count;
    for (size_t s = 0; s < p->s.count; s++) {
        norm_slice(p, s);
        large_put(&current.mean, s, means[s] = p->t[0]);
        large_put(&current.variance, s, rest[s] = p->t[1]);
    }
    large_output(&p->c, qdq_port(p->c.graph, y, "batch_mean"), current.mean);
    large_output(&p->c, qdq_port(p->c.graph, y, "batch_variance"), current.variance);
    output_running(p, y, "running_mean", old_mean, means);
    output_running(p, y, "running_variance", old_variance, rest);
    free(means);
    return y;
}

#endif
