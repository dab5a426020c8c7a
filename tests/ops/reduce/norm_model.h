// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of norms: mean and variance of slices in long double, and the y they give.
#ifndef QDQ_TESTS_OPS_REDUCE_NORM_MODEL_H
#define QDQ_TESTS_OPS_REDUCE_NORM_MODEL_H

#include "tests/ops/reduce/slices_model.h"

enum { MOST = 20000 };

static float x[MOST], y[MOST], gammas[MOST], betas[MOST], mean[MOST], variance[MOST];

//---- The formulas -----------------------------------------------------------

static long double model_mean[MOST], model_variance[MOST], model_square[MOST];

static inline void model_stats(qdq_shape shape, uint32_t within) {
    size_t n = qdq_shape_count(shape), slices = model_slice_count(shape, within);
    long double each = (long double)(n / slices);
    for (size_t s = 0; s < slices; s++) model_mean[s] = model_variance[s] = model_square[s] = 0;
    for (size_t i = 0; i < n; i++) {
        long double v = (long double)x[i];
        model_mean[model_slice_of(shape, within, i)] += v / each;
        model_square[model_slice_of(shape, within, i)] += v * v / each;
    }
    for (size_t i = 0; i < n; i++) {
        size_t s = model_slice_of(shape, within, i);
        long double d = (long double)x[i] - model_mean[s];
        model_variance[s] += d * d / each;
    }
}

// Checks an element of y, from the statistics of its slice and its index in gamma and beta.
static inline void check_y(size_t i, size_t s, size_t g, double epsilon, bool affine,
                           qdq_dtype dtype) {
    long double root = sqrtl(model_variance[s] + (long double)(float)epsilon);
    long double want = ((long double)x[i] - model_mean[s]) / root;
    long double size = (fabsl((long double)x[i]) + fabsl(model_mean[s])) / root;
    if (affine) {
        want = want * (long double)gammas[g] + (long double)betas[g];
        size = size * fabsl((long double)gammas[g]) + fabsl((long double)betas[g]);
    }
    model_check(y[i], want, dtype, size * 1e-14L, "y", i);
}

static inline void check_stats(size_t slices, qdq_dtype dtype) {
    for (size_t s = 0; s < slices; s++) {
        model_check(mean[s], model_mean[s], dtype, sqrtl(model_square[s]) * 1e-13L, "mean", s);
        model_check(variance[s], model_variance[s], dtype, model_square[s] * 1e-13L, "variance", s);
    }
}

static inline void fill(qdq_dtype dtype, qdq_dtype aux, size_t n, size_t affine) {
    model_fill(x, n, dtype, -4, 3, n);
    model_fill(gammas, affine, aux, -2, 1, n + 1);
    model_fill(betas, affine, aux, -2, 1, n + 2);
}

static inline qdq_value input(qdq_graph *g, const char *name, qdq_dtype dtype, qdq_shape shape,
                              bool is) {
    return is ? qdq_input(g, name, dtype, shape) : (qdq_value){0};
}

static inline void output_port(qdq_graph *g, qdq_value v, const char *port) {
    qdq_value made = qdq_port(g, v, port);
    assert_true(made.id != 0);
    qdq_output(g, port, made);
}

#define F32 QDQ_FLOAT32
#define F16 QDQ_FLOAT16
#define B16 QDQ_BFLOAT16

//---- Refusals ---------------------------------------------------------------

#define NONE \
    { .rank = -1 }

static inline qdq_value maybe(qdq_graph *g, const char *name, qdq_dtype dtype, qdq_shape shape) {
    return shape.rank < 0 ? (qdq_value){0} : qdq_input(g, name, dtype, shape);
}

#endif
