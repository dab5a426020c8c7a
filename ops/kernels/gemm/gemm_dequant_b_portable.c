// SPDX-License-Identifier: Apache-2.0
// Decodes weight codes of B to floats on any machine: the definition that other kernels equal.
#include "ops/kernels/gemm/gemm.h"
#include "runtime/numerics/dtype.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, HALF = COLUMNS / 2 };

static unsigned code_at(const qdq_gemm_weight_part *part, size_t row, size_t column) {
    if (!part->halves) return part->codes[row * COLUMNS + column];
    unsigned both = part->codes[row * HALF + column % HALF];
    return column < HALF ? both & 15 : both >> 4;
}

void qdq_gemm_decode_portable(const qdq_gemm_weight_part *part) {
    for (size_t r = 0; r < part->rows; r++)
        for (size_t j = 0; j < COLUMNS; j++) {
            size_t at = part->by_row ? r : j;
            float v = ((float)code_at(part, r, j) - part->zero[at]) * part->scale[at];
            part->b[r * COLUMNS + j] = qdq_round_to_dtype(part->dtype, v, NULL);
        }
}
