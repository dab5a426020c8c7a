// SPDX-License-Identifier: Apache-2.0
// Integer products whose kernel takes bytes as they are: A without a sign, B with one. With a' and
// za' the codes of A and their zero point with 128 added where they are int8, and b' those of B
// less the zero point, such as the middle of its dtype, that leaves bytes with a sign,
//     sum((a' - za') * b') = sum(a' * b') - za' * sum(b')
// and what leaves is known for each column. All of it modulo 2^32, as sums wrap around.
#include "ops/gemm.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_DEPTH };

static bool leaves_bytes(const qdq_dtype_info *codes, int32_t zero) {
    return codes->least - zero >= INT8_MIN && codes->greatest - zero <= INT8_MAX;
}

bool qdq_gemm_takes_bytes(const qdq_gemm *g, const void *zeros) {
    const qdq_dtype_info *codes =
        qdq_dtype_get(g->weights.codes ? g->weights.codes : g->weights.dtype);
    if (g->kind != QDQ_GEMM_INTEGERS) return false;
    if (g->a_zero.port != SIZE_MAX && !g->a_zero.known) return false;
    for (size_t matrix = 0; matrix < g->weights.matrices; matrix++) {
        qdq_gemm_source from = {NULL, zeros, matrix, matrix * g->weights.zero_stride};
        for (size_t j = 0; j < g->columns; j++)
            if (!leaves_bytes(codes, qdq_gemm_column_zero(g, &from, j))) return false;
    }
    return true;
}

static uint32_t zero_of_a(const qdq_gemm *g) {
    int32_t zero = 0;
    if (g->a_zero.known) zero = qdq_gemm_integer_at(g->a_zero.dtype, g->a_zero.known, 0);
    return (uint32_t)(zero + (g->a_dtype == QDQ_INT8 ? 128 : 0));
}

// Column j of a panel; returns the sum of it.
static uint32_t pack_column(const qdq_gemm *g, const qdq_gemm_source *from, size_t column,
                            int8_t *panel, size_t j) {
    int64_t sum = 0;
    for (size_t k = 0; k < g->depth; k += DEPTH) {
        int16_t codes[DEPTH];
        size_t n = g->depth - k < DEPTH ? g->depth - k : DEPTH;
        qdq_gemm_column(g, from, column, k, n, codes);
        for (size_t i = 0; i < n; i++) {
            panel[(k + i) / 4 * 4 * COLUMNS + j * 4 + (k + i) % 4] = (int8_t)codes[i];
            sum += codes[i];
        }
    }
    return (uint32_t)(uint64_t)sum;
}

bool qdq_gemm_pack_bytes(qdq_gemm *g, const void *data, const void *zeros, qdq_pool *pool) {
    g->kind = QDQ_GEMM_BYTES;
    size_t count = g->weights.matrices * qdq_gemm_panels(g), bytes = qdq_gemm_panel_bytes(g);
    int8_t *packed = qdq_pool_array(pool, count, bytes);
    int32_t *first_sums = qdq_pool_array(pool, count, COLUMNS * sizeof *first_sums);
    if (!packed || !first_sums) return false;
    for (size_t p = 0; p < count; p++) {
        size_t matrix = p / qdq_gemm_panels(g), column = p % qdq_gemm_panels(g) * COLUMNS;
        qdq_gemm_source from = {data, zeros, matrix, matrix * g->weights.zero_stride};
        for (size_t j = 0; j < COLUMNS && column + j < g->columns; j++) {
            uint32_t sum = pack_column(g, &from, column + j, packed + p * bytes, j);
            first_sums[p * COLUMNS + j] = (int32_t)(0 - zero_of_a(g) * sum);
        }
    }
    g->packed = packed;
    g->packed_bytes = count * (bytes + COLUMNS * sizeof *first_sums);
    g->first_sums = first_sums;
    return true;
}
