// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/best_row.h"

const void *qdq_best_row(const void *rows, size_t count, size_t size, uint32_t isas,
                         qdq_row_fits_fn *fits, const void *wanted) {
    for (size_t i = count; i-- > 0;) {
        const void *row = (const char *)rows + i * size;
        const qdq_isa *isa = row;
        if (isas >> *isa & 1 && (!fits || fits(row, wanted))) return row;
    }
    return NULL;
}
