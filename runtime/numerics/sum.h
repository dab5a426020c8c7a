// SPDX-License-Identifier: Apache-2.0
// Sums, and products, of float32 in double, in one order on every instruction set:
//
// The term of element i is added to lane i % 16, in order of i; the 16 lanes begin as +0. Then lane
// l + 8 is added to lane l for l from 0 to 7, lane l + 4 for l from 0 to 3, lane l + 2 for l 0 and
// 1, and lane 1 to lane 0, which is the sum. The sum of no elements is +0. A NaN result has neither
// sign nor payload.
//
// Element i is x[i * stride]. A long sum may be computed in parts, all but the last with a multiple
// of 16 elements: the lanes begin as {0}, qdq_sum_add or a function like it adds each part to them,
// and qdq_sum_lanes finishes. Elements of other dtypes are widened one part after the other, so
// that the order is the same as for float32.
//
// The lanes are explicit so that compilers may hold them in vectors. Needs the default
// floating-point environment and -ffp-contract=off, as quantize_one.h does.
#ifndef QDQ_RUNTIME_NUMERICS_SUM_H
#define QDQ_RUNTIME_NUMERICS_SUM_H

#include "runtime/numerics/elementary64.h"

enum { QDQ_SUM_LANES = 16 };

static inline double qdq_sum_lanes(double lanes[QDQ_SUM_LANES]) {
    for (size_t width = QDQ_SUM_LANES / 2; width; width /= 2)
        for (size_t l = 0; l < width; l++) lanes[l] += lanes[l + width];
    return qdq_pick64(lanes[0] != lanes[0], qdq_double_from_bits(0x7FF8000000000000u), lanes[0]);
}

// Multiplies the lanes of a product, which begin as 1, in the order in which qdq_sum_lanes adds.
static inline double qdq_product_lanes(double lanes[QDQ_SUM_LANES]) {
    for (size_t width = QDQ_SUM_LANES / 2; width; width /= 2)
        for (size_t l = 0; l < width; l++) lanes[l] *= lanes[l + width];
    return qdq_pick64(lanes[0] != lanes[0], qdq_double_from_bits(0x7FF8000000000000u), lanes[0]);
}

static inline double qdq_square64(double v) { return v * v; }

// The loop over full rounds of the lanes. With a constant step of 1 compilers use vector loads.
#define QDQ_SUM_ROUNDS(CHANGE, step)                        \
    for (; i + QDQ_SUM_LANES <= n; i += QDQ_SUM_LANES)      \
        for (size_t l = 0; l < QDQ_SUM_LANES; l++) {        \
            double v = (double)x[(i + l) * (size_t)(step)]; \
            own[l] CHANGE(v);                               \
        }

// Works on a copy of the lanes, which compilers hold in registers.
#define QDQ_SUM(CHANGE)                                                   \
    double own[QDQ_SUM_LANES];                                            \
    size_t i = 0;                                                         \
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) own[l] = lanes[l];         \
    if (stride == 1) QDQ_SUM_ROUNDS(CHANGE, 1) /* leaves no full round */ \
    QDQ_SUM_ROUNDS(CHANGE, stride)                                        \
    for (size_t l = 0; l < n % QDQ_SUM_LANES; l++) {                      \
        double v = (double)x[(i + l) * stride];                           \
        own[l] CHANGE(v);                                                 \
    }                                                                     \
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) lanes[l] = own[l];

#define QDQ_SUM_SELF(v) += (v)
#define QDQ_SUM_SQUARE(v) += qdq_square64(v)
#define QDQ_SUM_MAGNITUDE(v) += fabs(v)
#define QDQ_SUM_DEVIATION(v) += qdq_square64((v) - (mean))
#define QDQ_SUM_FACTOR(v) *= (v)

static inline void qdq_sum_add(double lanes[QDQ_SUM_LANES], const float *x, size_t n,
                               size_t stride) {
    QDQ_SUM(QDQ_SUM_SELF)
}

// For elements that are double already.
static inline void qdq_sum_add64(double lanes[QDQ_SUM_LANES], const double *x, size_t n) {
    const size_t stride = 1;
    QDQ_SUM(QDQ_SUM_SELF)
}

static inline void qdq_sum_add_squares(double lanes[QDQ_SUM_LANES], const float *x, size_t n,
                                       size_t stride) {
    QDQ_SUM(QDQ_SUM_SQUARE)
}

static inline void qdq_sum_add_magnitudes(double lanes[QDQ_SUM_LANES], const float *x, size_t n,
                                          size_t stride) {
    QDQ_SUM(QDQ_SUM_MAGNITUDE)
}

static inline void qdq_sum_add_deviations(double lanes[QDQ_SUM_LANES], const float *x, size_t n,
                                          size_t stride, double mean) {
    QDQ_SUM(QDQ_SUM_DEVIATION)
}

static inline void qdq_product_multiply(double lanes[QDQ_SUM_LANES], const float *x, size_t n,
                                        size_t stride) {
    QDQ_SUM(QDQ_SUM_FACTOR)
}

static inline double qdq_sum(const float *x, size_t n, size_t stride) {
    double lanes[QDQ_SUM_LANES] = {0};
    qdq_sum_add(lanes, x, n, stride);
    return qdq_sum_lanes(lanes);
}

// The squares are exact.
static inline double qdq_sum_of_squares(const float *x, size_t n, size_t stride) {
    double lanes[QDQ_SUM_LANES] = {0};
    qdq_sum_add_squares(lanes, x, n, stride);
    return qdq_sum_lanes(lanes);
}

static inline double qdq_sum_of_magnitudes(const float *x, size_t n, size_t stride) {
    double lanes[QDQ_SUM_LANES] = {0};
    qdq_sum_add_magnitudes(lanes, x, n, stride);
    return qdq_sum_lanes(lanes);
}

// Sums (x - mean)^2; the difference and the square are each rounded to double.
static inline double qdq_sum_of_deviations(const float *x, size_t n, size_t stride, double mean) {
    double lanes[QDQ_SUM_LANES] = {0};
    qdq_sum_add_deviations(lanes, x, n, stride, mean);
    return qdq_sum_lanes(lanes);
}

#undef QDQ_SUM_ROUNDS
#undef QDQ_SUM
#undef QDQ_SUM_SELF
#undef QDQ_SUM_SQUARE
#undef QDQ_SUM_MAGNITUDE
#undef QDQ_SUM_DEVIATION
#undef QDQ_SUM_FACTOR
#endif
