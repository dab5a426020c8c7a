// SPDX-License-Identifier: Apache-2.0
// The kernels of Interpolate: weighted means of two lines, in double, and sums of corners.
#ifndef QDQ_OPS_KERNELS_RESIZE_RESIZE_H
#define QDQ_OPS_KERNELS_RESIZE_RESIZE_H

#include "include/qdq/base.h"
#include "ops/kernels/best_row.h"

typedef struct qdq_resize_kernels {
    // y[i] = a[i] * (1 - weights[i]) + b[i] * weights[i]; weight 0: a[i] alone.
    void (*mix_each)(const float *a, const float *b, const double *weights, double *y, size_t n);
    // y[i] = a[i] * (1 - weight) + b[i] * weight
    void (*mix)(const double *a, const double *b, double weight, double *y, size_t n);
    // Floats, NaN as 0x7FC00000.
    void (*to_floats)(const double *a, float *y, size_t n);
    void (*quiet)(const float *a, float *y, size_t n);
    // y[2 * i] = y[2 * i + 1] = a[i], NaN as 0x7FC00000, and the same to z unless it is NULL.
    void (*quiet_twice)(const float *a, float *y, float *z, size_t n);
    // y[i] = row[at[i]]
    void (*gather)(const float *row, const size_t *at, float *y, size_t n);
    // Adds weights[k][i] * row * plane * x[k][i] for k = 0 and 1 to sums[i], in float32; `fresh`:
    // the first product replaces it.
    void (*add_corners)(const float *const *weights, float row, float plane, const float *const *x,
                        bool fresh, float *sums, size_t n);
} qdq_resize_kernels;

#define QDQ_RESIZE_DECLARE(ISA, isa) extern const qdq_resize_kernels qdq_resize_##isa;
QDQ_KERNEL_ISAS(QDQ_RESIZE_DECLARE)

// Returns the best kernels for the instruction sets `isas`; all give the same bits.
const qdq_resize_kernels *qdq_resize_find(uint32_t isas);

#endif
