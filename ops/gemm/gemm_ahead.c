// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm_ahead.h"

#include "ops/operand.h"

void qdq_gemm_ask_for_rows(const qdq_gemm *g, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, size_t k, size_t n, size_t share,
                           size_t shares) {
    enum { LINE = 64 };
    size_t size = qdq_dtype_size(g->a_dtype), row = block->rows * share / shares;
    if (g->pack_a != qdq_gemm_pack_rows || g->a_depth_stride != 1 ||
        qdq_operand_tiling(tensors, g->a_port))
        return;
    const char *x = (const char *)tensors->x[g->a_port] +
                    (qdq_gemm_at(g, g->batches.a, block->batch) + k) * size;
    for (; row < block->rows * (share + 1) / shares; row++) {
        const char *from = x + (block->row + row) * g->a_row_stride * size;
        for (size_t i = 0; i < n * size; i += LINE) __builtin_prefetch(from + i, 0, 2);
    }
}
