// SPDX-License-Identifier: Apache-2.0
// Decodes weight codes of B to floats, and multiplies them, on any machine: the definition that
// other kernels equal.

#include "ops/kernels/gemm/gemm.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fma.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, HALF = COLUMNS / 2 };

static unsigned code_at(const qdq_gemm_weight_part *part, size_t row, size_t column) {
    if (!part->halves) return part->codes[row * COLUMNS + column];
    unsigned both = part->codes[row * HALF + column % HALF];
    return column < HALF ? both & 15 : both >> 4;
}

static float real_at(const qdq_gemm_weight_part *part, size_t row, size_t column) {
    size_t at = part->by_row ? row : column;
    return ((float)code_at(part, row, column) - part->zero[at]) * part->scale[at];
}

void qdq_gemm_decode_portable(const qdq_gemm_weight_part *part) {
    for (size_t r = 0; r < part->rows; r++)
        for (size_t j = 0; j < COLUMNS; j++)
            part->b[r * COLUMNS + j] = qdq_round_to_dtype(part->dtype, real_at(part, r, j), NULL);
}

// Returns the next sum of a column after product r, or after the next products if fours begin
// there.
static size_t add_products(const qdq_gemm_weight_part *p, size_t r, size_t j, float *sum) {
    size_t n = p->rows - r;
    if (p->order == QDQ_CODES_CHAIN) {
        *sum = qdq_fmaf(p->a[r], real_at(p, r, j), *sum);
        return 1;
    }
    n = n >= 4 ? 4 : n >= 2 ? 2 : 1;
    float all = p->a[r] * real_at(p, r, j);
    for (size_t i = 1; i < n; i++) all = all + p->a[r + i] * real_at(p, r + i, j);
    *sum = all + *sum;
    return n;
}

void qdq_gemm_multiply_codes_portable(const qdq_gemm_weight_part *part) {
    for (size_t j = 0; j < COLUMNS; j++) {
        float *sum = &part->sums[j];
        for (size_t r = 0; r < part->rows;) r += add_products(part, r, j, sum);
    }
}
