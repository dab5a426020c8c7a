// SPDX-License-Identifier: Apache-2.0
// The rows of A and of sums in a part of a product, for the portable kernels.
#ifndef QDQ_OPS_KERNELS_GEMM_GEMM_PORTABLE_H
#define QDQ_OPS_KERNELS_GEMM_GEMM_PORTABLE_H

#include <string.h>

#include "ops/kernels/gemm/gemm.h"

static inline const void *qdq_gemm_row(const qdq_gemm_part *p, size_t r) {
    return (const char *)p->a + r * QDQ_GEMM_ROW_BYTES;
}

// Returns the sums of row r, set to `start` if it is given.
static inline void *qdq_gemm_sums(const qdq_gemm_part *p, size_t r) {
    char *c = (char *)p->c + r * p->c_stride * 4;
    if (p->start) memcpy(c, p->start, QDQ_GEMM_COLUMNS * (size_t)4);
    return c;
}

#endif
