// SPDX-License-Identifier: Apache-2.0
// A row of A in fixed point times weight codes, on any machine: the definition that other kernels
// equal.
#include <math.h>
#include <string.h>

#include "ops/kernels/gemm/gemm.h"
#include "runtime/numerics/fma.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS };

void qdq_gemm_fix_portable(const float *a, size_t n, qdq_gemm_fixed_block *block) {
    double most = 0, unit = 0x1p-149;
    memset(block, 0, sizeof *block);
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(a[k])) return;
        most = fmax(most, fabs((double)a[k]));
    }
    while (most > QDQ_GEMM_FIXED_MOST * unit) unit *= 2;
    block->unit = (float)unit;
    for (size_t k = 0; k < n; k++) {
        long left = lrint((double)a[k] / unit);
        for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++) {
            long digit = ((left + 128) & 255) - 128;
            block->digits[i][k] = (int8_t)digit;
            int16_t *sum = &block->sums[i][k / QDQ_GEMM_EIGHTH];
            *sum = (int16_t)(*sum + digit);
            left = (left - digit) / 256;
        }
    }
}

static int32_t code_at(const qdq_gemm_fixed_row *r, const uint8_t *codes, size_t k, size_t j) {
    if (!r->halves) return codes[k / 4 * QDQ_GEMM_LINE_BYTES + j * 4 + k % 4];
    uint8_t both = codes[k / 8 * QDQ_GEMM_LINE_BYTES + j * 4 + k % 4];
    return k % 8 < 4 ? both & 15 : both >> 4;
}

static void add_group(const qdq_gemm_fixed_row *r, const qdq_gemm_fixed_group *g,
                      const uint8_t *codes, size_t j) {
    int32_t zero = r->zeros[g->zero * r->zero_columns + j % r->zero_columns];
    int32_t sums[QDQ_GEMM_DIGITS] = {0};
    for (size_t k = 0; k < (size_t)g->lines * (r->halves ? 8 : 4); k++)
        for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++)
            sums[i] += g->block->digits[i][g->first + k] * (code_at(r, codes, k, j) - zero);
    float value = qdq_fmaf((float)sums[2], 65536, qdq_fmaf((float)sums[1], 256, (float)sums[0]));
    float scale = r->scales[g->scale * r->scale_columns + j % r->scale_columns];
    r->sums[j] = qdq_fmaf(scale, value * g->block->unit, r->sums[j]);
}

void qdq_gemm_fixed_portable(const qdq_gemm_fixed_row *r) {
    const uint8_t *codes = r->codes;
    for (const qdq_gemm_fixed_group *g = r->groups; g < r->groups + r->count; g++) {
        for (size_t j = 0; j < COLUMNS; j++) add_group(r, g, codes, j);
        codes += (size_t)g->lines * QDQ_GEMM_LINE_BYTES;
    }
}
