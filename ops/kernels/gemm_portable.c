// SPDX-License-Identifier: Apache-2.0
// Matrix products for any machine: the definition of what the other kernels do.
#include <math.h>

#include "ops/kernels/gemm.h"
#include "runtime/dtype.h"

enum { ROWS = QDQ_GEMM_ROWS, COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_DEPTH };

void qdq_gemm_tile_portable(const float *a, const float *b, float *c, size_t rows, size_t depth,
                            const uint16_t *keep) {
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < depth; k++) {
            if (keep && !(keep[k] >> r & 1)) continue;
            float x = a[r * DEPTH + k];
            for (size_t j = 0; j < COLUMNS; j++)
                c[r * COLUMNS + j] = fmaf(x, b[k * COLUMNS + j], c[r * COLUMNS + j]);
        }
}

// Sums wrap around, so they are unsigned.
static void add_to(int32_t *sum, int32_t product) {
    *sum = (int32_t)((uint32_t)*sum + (uint32_t)product);
}

void qdq_gemm_integer_portable(const int16_t *a, const int16_t *b, int32_t *c, size_t rows,
                               size_t depth) {
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < depth; k += 2) {
            int32_t x0 = a[r * DEPTH + k], x1 = a[r * DEPTH + k + 1];
            const int16_t *pairs = b + k * COLUMNS;
            for (size_t j = 0; j < COLUMNS; j++)
                add_to(&c[r * COLUMNS + j], x0 * pairs[2 * j] + x1 * pairs[2 * j + 1]);
        }
}

void qdq_gemm_lanes_portable(const float *a, const float *b, float *c, size_t depth) {
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < COLUMNS; j++)
            c[j] = fmaf(a[k * COLUMNS + j], b[k * COLUMNS + j], c[j]);
}

void qdq_gemm_integer_lanes_portable(const int16_t *a, const int16_t *b, int32_t *c, size_t depth) {
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < COLUMNS; j++) add_to(&c[j], a[k * COLUMNS + j] * b[k * COLUMNS + j]);
}

void qdq_gemm_widen_portable(qdq_dtype dtype, const void *x, float *out, size_t n) {
    qdq_decode_float(dtype, x, out, n);
}

void qdq_gemm_narrow_portable(qdq_dtype dtype, const float *x, void *out, size_t n) {
    qdq_encode_float(dtype, x, out, n, NULL);
}
