// SPDX-License-Identifier: Apache-2.0
// Products of bytes for any machine: the definition of what the other kernels do.
#include <string.h>

#include "ops/kernels/gemm.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, ROW_BYTES = QDQ_GEMM_ROW_BYTES };

static const void *row_of(const qdq_gemm_part *p, size_t r) {
    return (const char *)p->a + r * ROW_BYTES;
}

// The sums of a row, as they begin.
static void *sums_of(const qdq_gemm_part *p, size_t r) {
    char *c = (char *)p->c + r * p->c_stride * 4;
    if (p->start) memcpy(c, p->start, COLUMNS * (size_t)4);
    return c;
}

// Sums wrap around, so they are unsigned.
void qdq_gemm_bytes_portable(const qdq_gemm_part *p) {
    const int8_t *b = p->b;
    for (size_t r = 0; r < p->rows; r++) {
        const uint8_t *a = row_of(p, r);
        int32_t *c = sums_of(p, r);
        for (size_t k = 0; k < p->steps * 4; k += 4)
            for (size_t j = 0; j < COLUMNS; j++) {
                const int8_t *four = b + k * COLUMNS + j * 4;
                int32_t sum =
                    a[k] * four[0] + a[k + 1] * four[1] + a[k + 2] * four[2] + a[k + 3] * four[3];
                c[j] = (int32_t)((uint32_t)c[j] + (uint32_t)sum);
            }
    }
}
