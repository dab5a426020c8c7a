// SPDX-License-Identifier: Apache-2.0
// For tests of large shapes: the elements of each slice (elements reduced together), the order of
// sums from docs/ops_neural_network.md, and softmax by its formula.
#ifndef QDQ_TESTS_OPS_REDUCE_LARGE_SLICES_H
#define QDQ_TESTS_OPS_REDUCE_LARGE_SLICES_H

#include "runtime/numerics/elementary64.h"
#include "tests/ops/large_links.h"

//---- Slices -----------------------------------------------------------------

// The elements of slice s in row-major order are index[s * n + i].
typedef struct slices {
    size_t n, count, *index;
} slices;

static slices slices_of(qdq_shape shape, uint32_t within) {
    slices s = {.n = 1, .count = 1};
    size_t total = qdq_shape_count(shape);
    for (int i = 0; i < shape.rank; i++)
        *(within >> i & 1 ? &s.n : &s.count) *= (size_t)shape.dims[i];
    s.index = oracle_memory(total * sizeof *s.index);
    size_t *taken = oracle_memory(s.count * sizeof *taken);
    memset(taken, 0, s.count * sizeof *taken);
    for (size_t at = 0; at < total; at++) {
        size_t slice = 0;
        for (int i = 0; i < shape.rank; i++)
            if (!(within >> i & 1))
                slice = slice * (size_t)shape.dims[i] + large_index(shape, i, at);
        s.index[slice * s.n + taken[slice]++] = at;
    }
    free(taken);
    return s;
}

// Section 5 of docs/ops_neural_network.md: element i goes to lane i mod 16, then the lanes are
// folded.
static double fold(const double *terms, size_t n, bool product) {
    double lanes[16];
    for (int l = 0; l < 16; l++) lanes[l] = product;
    for (size_t i = 0; i < n; i++) {
        double *lane = &lanes[i % 16];
        *lane = product ? *lane * terms[i] : *lane + terms[i];
    }
    for (int width = 8; width; width /= 2)
        for (int l = 0; l < width; l++)
            lanes[l] = product ? lanes[l] * lanes[l + width] : lanes[l] + lanes[l + width];
    return lanes[0];
}

//---- A node -----------------------------------------------------------------

typedef enum kind {
    SOFTMAX,
    LOG_SOFTMAX,
    LAYER_NORM,
    RMS_NORM,
    GROUP_NORM,
    BATCH_NORM,
    BATCH_TRAINING,
    REDUCE_L1,
    REDUCE_L2,
    REDUCE_MAX,
    REDUCE_MEAN,
    REDUCE_MIN,
    REDUCE_PROD,
    REDUCE_SUM,
    KINDS
} kind;

static const char *const names[KINDS] = {
    "SoftMax",
    "LogSoftmax",
    "LayerNorm",
    "RMSNorm",
    "GroupNorm",
    "BatchNormInference",
    "BatchNormForwardTraining",
    "ReduceL1",
    "ReduceL2",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
};

// Passed to the functions below: x, its slices, and buffers for one of them.
typedef struct node {
    large_graph c;
    uint64_t *state;
    tensor *x, y;
    qdq_value input;
    slices s;
    double *v, *t;  // the elements of a slice, and n more numbers
    bool whole;     // x holds small integers
} node;

static const size_t *begin_slice(node *p, size_t s) {
    const size_t *index = p->s.index + s * p->s.n;
    for (size_t i = 0; i < p->s.n; i++) p->v[i] = tensor_at(p->x, index[i]);
    return index;
}

// NaN if any element is NaN.
static double greatest(const double *v, size_t n) {
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (!(v[i] <= most)) most = v[i];
    return most;
}

static tensor column(qdq_dtype dtype, qdq_shape shape) { return tensor_of(NULL, dtype, shape); }

// Adds an optional result to the wanted outputs, or frees it.
static inline void output_maybe(node *p, bool is_there, qdq_value y, const char *port, tensor t) {
    if (is_there && large_pick(p->state, 4))
        large_output(&p->c, qdq_port(p->c.graph, y, port), t);
    else
        free(t.data);
}

//---- Softmax ----------------------------------------------------------------

static double exponential(double v) {
    return isnan(v) ? (double)NAN : qdq_exp_near64(v < -700 ? -700 : v);
}

static void softmax_slice(node *p, size_t s, bool is_log, bool inf_as_zero, tensor *stats) {
    const size_t *index = begin_slice(p, s);
    size_t n = p->s.n;
    double max = greatest(p->v, n);
    for (size_t i = 0; i < n; i++) p->t[i] = exponential(p->v[i] - max);
    double sum = fold(p->t, n, false), part = 1 / sum;
    bool zeros = inf_as_zero && max == -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double y = is_log ? (p->v[i] - max) - qdq_log64(sum) : p->t[i] * part;
        large_put(&p->y, index[i], zeros ? 0 : y);
    }
    if (stats) large_put(stats, s, zeros ? 0 : max + qdq_log64(sum));
}

// Makes all elements of one slice -inf, and some elements of another.
static void put_infinities(node *p) {
    for (size_t i = 0; i < p->s.n; i++) {
        large_put(p->x, p->s.index[i], -INFINITY);
        if (p->s.count > 1 && i % 3) large_put(p->x, p->s.index[p->s.n + i], -INFINITY);
    }
}

static qdq_value make_softmax(node *p, kind k, int axis) {
    qdq_graph *g = p->c.graph;
    bool is_log = k == LOG_SOFTMAX, zeros = large_pick(p->state, 2);
    if (!large_pick(p->state, 3)) put_infinities(p);
    if (is_log) {
        for (size_t s = 0; s < p->s.count; s++) softmax_slice(p, s, true, false, NULL);
        return qdq_log_softmax(g, p->input, (qdq_log_softmax_attrs){.axis = QDQ_INT(axis)});
    }
    qdq_softmax_attrs attrs = {.axis = QDQ_INT(axis),
                               .mode = zeros ? QDQ_SOFTMAX_INF_AS_ZERO : QDQ_SOFTMAX_NONE,
                               .keep_stats = large_pick(p->state, 4) ? QDQ_TRUE : QDQ_UNSET,
                               .dtype = p->y.dtype};
    qdq_value y = qdq_softmax(g, p->input, attrs);
    tensor stats = column(QDQ_FLOAT32, p->x->shape);
    stats.shape.dims[axis] = 1;
    for (size_t s = 0; s < p->s.count; s++) softmax_slice(p, s, false, zeros, &stats);
    output_maybe(p, attrs.keep_stats == QDQ_TRUE, y, "stats", stats);
    return y;
}

#endif
