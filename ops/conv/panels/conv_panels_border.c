// SPDX-License-Identifier: Apache-2.0
// A panel has zeros for elements beyond the border, but a chain of fma leaves their products out.
// With finite weights the difference is the sign of a sum of 0: only the underflow of a product can
// give -0, and adding the product of a zero then gives +0. Therefore sums of 0 next to a border are
// computed again without these products, if an element under the window is small enough.
#include <math.h>

#include "ops/conv/panels/conv_panels.h"
#include "runtime/numerics/fma.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_ROW_BYTES / sizeof(float) };

typedef qdq_panels_job job;

// True if an element under the window at a position may have a product that underflows.
static bool may_underflow(const job *j, size_t position) {
    const qdq_conv *c = &j->p->conv;
    const float *x = (const float *)(const void *)j->x;
    for (size_t k = 0; k < c->gemm.depth; k += DEPTH) {
        size_t from[DEPTH], n = qdq_panels_k(c, k / DEPTH);
        qdq_conv_sources(c, position, k, n, from);
        for (size_t i = 0; i < n; i++) {
            if (from[i] == SIZE_MAX || x[from[i]] == 0) continue;
            if (fabs((double)x[from[i]]) * j->p->weights->least < 0x1p-149) return true;
        }
    }
    return false;
}

// Returns the sum of the products inside of x.
static float sum_inside(const job *j, size_t row, size_t position) {
    const qdq_conv *c = &j->p->conv;
    const float *x = (const float *)(const void *)j->x;
    float sum = 0;
    for (size_t k = 0; k < c->gemm.depth; k += DEPTH) {
        float decoded[DEPTH];
        const float *by = decoded;
        if (j->p->weights->scales)
            qdq_panels_decode(j->p, j->matrix, k / DEPTH, row, 1, decoded);
        else
            by = (const float *)(const void *)qdq_panels_row(j->p, j->matrix, k / DEPTH, row);
        size_t from[DEPTH], n = qdq_panels_k(c, k / DEPTH);
        qdq_conv_sources(c, position, k, n, from);
        for (size_t i = 0; i < n; i++)
            if (from[i] != SIZE_MAX) sum = qdq_fmaf(by[i], x[from[i]], sum);
    }
    return sum;
}

static void mend_column(const job *j, size_t column) {
    bool finite = j->p->weights->finite, checked = !finite;
    for (size_t r = 0; r < j->block.rows; r++) {
        float *sum = &j->w->sums[r * j->p->stride + column];
        if (finite && *sum != 0) continue;
        if (!checked && !may_underflow(j, j->block.column + column)) return;
        checked = true;
        *sum = sum_inside(j, j->block.row + r, j->block.column + column);
    }
}

// Returns the columns of a panel with a sum that is 0.
static uint32_t columns_of_zeros(const job *j, size_t p) {
    uint32_t zeros[COLUMNS] = {0}, bits = 0;
    for (size_t r = 0; r < j->block.rows; r++)
        for (size_t i = 0; i < COLUMNS; i++)
            zeros[i] |= j->w->sums[r * j->p->stride + p * COLUMNS + i] == 0;
    for (size_t i = 0; i < COLUMNS; i++) bits |= zeros[i] << i;
    return bits;
}

void qdq_panels_mend_zeros(const job *j, size_t panels) {
    for (size_t p = 0; p < panels; p++) {
        uint32_t border = ~j->w->panels[p].inside;
        if (border && j->p->weights->finite) border &= columns_of_zeros(j, p);
        for (size_t i = 0; border && i < COLUMNS && p * COLUMNS + i < j->block.columns; i++)
            if (border >> i & 1) mend_column(j, p * COLUMNS + i);
    }
}
