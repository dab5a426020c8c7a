// SPDX-License-Identifier: Apache-2.0
// Transposes blocks of elements: rows become columns.
#ifndef QDQ_OPS_KERNELS_TRANSPOSE_BLOCK_H
#define QDQ_OPS_KERNELS_TRANSPOSE_BLOCK_H

#include "include/qdq/base.h"

// Sets y[j * stride + i] = x[i][j] for i < rows and j < n. Elements have 1, 2, 4 or 8 bytes. The
// rows may lie anywhere outside of y.
void qdq_transpose_block(size_t size, const void *const *x, size_t rows, size_t n, void *y,
                         size_t stride);

#endif
