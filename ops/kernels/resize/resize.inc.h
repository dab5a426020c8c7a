// SPDX-License-Identifier: Apache-2.0
// The kernels of Interpolate in plain C, which compilers turn into vectors.
#include "ops/kernels/each.h"
#include "ops/kernels/resize/resize.h"
#include "runtime/numerics/elementary.h"

static inline float resize_quiet(float v) { return qdq_nan_if(v != v, v); }

static void QDQ_ISA_NAME(resize_mix_each)(const float *restrict a, const float *restrict b,
                                          const double *restrict weights, double *restrict y,
                                          size_t n) {
    for (size_t i = 0; i < n; i++) {
        double mean = (double)a[i] * (1.0 - weights[i]) + (double)b[i] * weights[i];
        y[i] = qdq_pick64(weights[i] == 0.0, (double)a[i], mean);
    }
}

static void QDQ_ISA_NAME(resize_mix)(const double *restrict a, const double *restrict b,
                                     double weight, double *restrict y, size_t n) {
    double other = 1.0 - weight;
    for (size_t i = 0; i < n; i++) y[i] = a[i] * other + b[i] * weight;
}

static void QDQ_ISA_NAME(resize_to_floats)(const double *restrict a, float *restrict y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = resize_quiet((float)a[i]);
}

static void QDQ_ISA_NAME(resize_quiet)(const float *restrict a, float *restrict y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = resize_quiet(a[i]);
}

static void QDQ_ISA_NAME(resize_quiet_twice)(const float *restrict a, float *restrict y,
                                             float *restrict z, size_t n) {
#define DOUBLE(i) y[2 * (i)] = y[2 * (i) + 1] = resize_quiet(a[i]);
#define DOUBLE_ROWS(i) \
    y[2 * (i)] = y[2 * (i) + 1] = z[2 * (i)] = z[2 * (i) + 1] = resize_quiet(a[i]);
    if (!z)
        QDQ_EACH(n, DOUBLE)
    else
        QDQ_EACH(n, DOUBLE_ROWS)
}

static void QDQ_ISA_NAME(resize_gather)(const float *restrict row, const size_t *restrict at,
                                        float *restrict y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = row[at[i]];
}

static void QDQ_ISA_NAME(resize_add_corners)(const float *const *weights, float row, float plane,
                                             const float *const *x, bool fresh,
                                             float *restrict sums, size_t n) {
    const float *restrict u = weights[0], *restrict v = weights[1];
    const float *restrict a = x[0], *restrict b = x[1];
    if (fresh)
        for (size_t i = 0; i < n; i++)
            sums[i] = u[i] * row * plane * a[i] + v[i] * row * plane * b[i];
    else
        for (size_t i = 0; i < n; i++)
            sums[i] = (sums[i] + u[i] * row * plane * a[i]) + v[i] * row * plane * b[i];
}

const qdq_resize_kernels QDQ_ISA_NAME(resize) = {
    QDQ_ISA_NAME(resize_mix_each),    QDQ_ISA_NAME(resize_mix),
    QDQ_ISA_NAME(resize_to_floats),   QDQ_ISA_NAME(resize_quiet),
    QDQ_ISA_NAME(resize_quiet_twice), QDQ_ISA_NAME(resize_gather),
    QDQ_ISA_NAME(resize_add_corners)};
