// SPDX-License-Identifier: Apache-2.0
// Packs rows of A of a product, as the kernels take them.
#include "ops/products/gemm.h"

enum { DEPTH = QDQ_GEMM_DEPTH };

// Adds 128 to the codes of int8, which makes them unsigned.
static void unsign(qdq_dtype dtype, const void *x, uint8_t *out, size_t n) {
    memcpy(out, x, n);
    for (size_t i = 0; dtype == QDQ_INT8 && i < n; i++) out[i] ^= 0x80;
}

void qdq_gemm_pack_row(const qdq_gemm *g, int32_t zero, const void *raw, size_t n, size_t row,
                       void *a) {
    char *to = (char *)a + row * QDQ_GEMM_ROW_BYTES;
    size_t used = n * qdq_gemm_size(g->kind);
    if (g->kind == QDQ_GEMM_BYTES)
        unsign(g->a_dtype, raw, (uint8_t *)to, n);
    else if (g->kind == QDQ_GEMM_BFLOATS || qdq_gemm_saturates(g->kind))
        memcpy(to, raw, used);
    else if (g->kind == QDQ_GEMM_INTEGERS)
        qdq_gemm_less(g->a_dtype, raw, zero, (int16_t *)(void *)to, n);
    else
        g->kernel->widen(g->a_dtype, raw, (float *)(void *)to, n);
    memset(to + used, 0, qdq_gemm_steps(g->kind, n) * QDQ_GEMM_STEP_BYTES - used);
}

unsigned qdq_gemm_pack_rows(const qdq_gemm *g, const qdq_tensors *tensors,
                            const qdq_gemm_block *block, size_t k, size_t n, void *a,
                            uint16_t (*keep)[QDQ_GEMM_KEEP]) {
    (void)keep;
    size_t size = qdq_dtype_size(g->a_dtype);
    const char *x = (const char *)tensors->x[g->a_port] +
                    (qdq_gemm_at(g, g->batches.a, block->batch) + k * g->a_depth_stride) * size;
    size_t zeros = qdq_gemm_at(g, g->batches.a_zero, block->batch);
    for (size_t r = 0; r < block->rows; r++) {
        size_t row = block->row + r;
        const void *from = x + row * g->a_row_stride * size;
        uint32_t raw[DEPTH];
        if (g->a_depth_stride != 1) {
            qdq_gemm_gather(g->a_dtype, from, g->a_depth_stride, n, raw);
            from = raw;
        }
        int32_t zero = 0;
        if (g->a_zero.port != SIZE_MAX)
            zero = qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors),
                                       zeros + row * g->a_zero.row_stride);
        qdq_gemm_pack_row(g, zero, from, n, r, a);
    }
    return 0;
}
