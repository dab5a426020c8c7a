// SPDX-License-Identifier: Apache-2.0
// The kernels of gemm_orders.h in plain C, which compilers turn into vectors.
#include "ops/kernels/gemm/gemm_nbits.inc.h"
#include "ops/kernels/gemm/gemm_orders.h"

enum { ORDER_COLUMNS = QDQ_GEMM_COLUMNS, ORDER_ROW = QDQ_GEMM_ROW_BYTES / sizeof(float) };

// Adds the products of `a`, whose elements lie `a_step` apart in k and `a_lane` in columns.
#define ORDER_FOURS(a_step, a_lane)                                                      \
    float own[ORDER_COLUMNS];                                                            \
    size_t k = 0;                                                                        \
    for (size_t j = 0; j < ORDER_COLUMNS; j++) own[j] = start[j];                        \
    for (; k + 4 <= depth; k += 4)                                                       \
        for (size_t j = 0; j < ORDER_COLUMNS; j++) {                                     \
            const float *x = a + k * (a_step) + j * (a_lane);                            \
            const float *w = b + k * ORDER_COLUMNS + j;                                  \
            float four = x[0] * w[0] + x[a_step] * w[ORDER_COLUMNS];                     \
            four = four + x[2 * (a_step)] * w[2 * ORDER_COLUMNS];                        \
            four = four + x[3 * (a_step)] * w[3 * ORDER_COLUMNS];                        \
            own[j] = four + own[j];                                                      \
        }                                                                                \
    if (k + 2 <= depth) {                                                                \
        for (size_t j = 0; j < ORDER_COLUMNS; j++) {                                     \
            const float *x = a + k * (a_step) + j * (a_lane);                            \
            const float *w = b + k * ORDER_COLUMNS + j;                                  \
            own[j] = (x[0] * w[0] + x[a_step] * w[ORDER_COLUMNS]) + own[j];              \
        }                                                                                \
        k += 2;                                                                          \
    }                                                                                    \
    if (k < depth)                                                                       \
        for (size_t j = 0; j < ORDER_COLUMNS; j++)                                       \
            own[j] = a[k * (a_step) + j * (a_lane)] * b[k * ORDER_COLUMNS + j] + own[j]; \
    for (size_t j = 0; j < ORDER_COLUMNS; j++) c[j] = own[j];

static void order_fours_row(const float *a, const float *b, const float *start, float *c,
                            size_t depth) {
    ORDER_FOURS(1, 0)
}

static void order_fours(const qdq_gemm_part *p) {
    for (size_t r = 0; r < p->rows; r++) {
        float *c = (float *)p->c + r * p->c_stride;
        order_fours_row((const float *)p->a + r * ORDER_ROW, p->b, p->start ? p->start : c, c,
                        p->steps);
    }
}

static void order_lane_fours(const float *a, const float *b, float *c, size_t depth) {
    const float *start = c;
    ORDER_FOURS(ORDER_COLUMNS, 1)
}

static void order_eights(const qdq_gemm_part *p) {
    const float *b = p->b;
    for (size_t r = 0; r < p->rows; r++) {
        const float *a = (const float *)p->a + r * ORDER_ROW;
        float *lanes = (float *)p->c + r * p->c_stride;
        for (size_t k = 0; k < p->steps; k++) {
            float *own = lanes + k % QDQ_GEMM_EIGHTS * ORDER_COLUMNS;
            for (size_t j = 0; j < ORDER_COLUMNS; j++)
                own[j] = a[k] * b[k * ORDER_COLUMNS + j] + own[j];
        }
    }
}

static void order_add(float *sums, size_t stride, const float *more, size_t rows) {
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < ORDER_COLUMNS; j++)
            sums[r * stride + j] += more[r * ORDER_COLUMNS + j];
}

const qdq_gemm_orders QDQ_ISA_NAME(gemm_orders) = {
    order_fours, order_eights, order_lane_fours, order_add, nbits_step, nbits_zero, nbits_floats};

#undef ORDER_FOURS
