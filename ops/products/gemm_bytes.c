// SPDX-License-Identifier: Apache-2.0
// Integer products of bytes: A unsigned, B signed. Let a' and za' be the codes of A and their zero
// point, with 128 added if they are int8. Let b' be the codes of B minus a zero point that leaves
// signed bytes, such as the middle of its dtype. Then
//     sum((a' - za') * b') = sum(a' * b') - za' * sum(b')
// and the last term is known for each column. All of it is modulo 2^32, as sums wrap around.
//
// AVX2 has no exact product of bytes, and widening them in every tile takes longer than reading
// twice the memory: products of many rows take int16_t there.
#include "ops/products/gemm_read.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_DEPTH };

static bool leaves_bytes(const qdq_dtype_info *codes, int32_t zero) {
    return codes->least - zero >= INT8_MIN && codes->greatest - zero <= INT8_MAX;
}

bool qdq_gemm_takes_bytes(const qdq_gemm *g, const void *zeros) {
    const qdq_dtype_info *codes =
        qdq_dtype_get(g->weights.codes ? g->weights.codes : g->weights.dtype);
    if (g->kind != QDQ_GEMM_INTEGERS) return false;
    if (g->kernel->widens_bytes && g->rows >= QDQ_GEMM_WIDE_ROWS) return false;
    if (g->a_zero.port != SIZE_MAX && !g->a_zero.known) return false;
    for (size_t matrix = 0; matrix < g->weights.matrices; matrix++) {
        qdq_gemm_source from = {NULL, zeros, matrix, matrix * g->weights.zero_stride, 0};
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

// Packs some k of a column of a panel; returns their sum.
static uint32_t pack_column(const qdq_gemm *g, const qdq_gemm_source *from,
                            const qdq_gemm_part_of_b *part, size_t column, int8_t *panel) {
    int64_t sum = 0;
    size_t j = column % COLUMNS;
    for (size_t done = 0; done < part->n; done += DEPTH) {
        int16_t codes[DEPTH];
        size_t n = part->n - done < DEPTH ? part->n - done : DEPTH;
        qdq_gemm_column(g, from, column, part->k + done, n, codes);
        for (size_t i = 0, k = part->k + done; i < n; i++, k++) {
            panel[k / 4 * 4 * COLUMNS + j * 4 + k % 4] = (int8_t)codes[i];
            sum += codes[i];
        }
    }
    return (uint32_t)(uint64_t)sum;
}

// Subtracts the term of the k that are packed from `first_sums`.
static void pack_part(const qdq_gemm *g, const qdq_gemm_source *from,
                      const qdq_gemm_part_of_b *part, int8_t *packed, uint32_t *first_sums) {
    for (size_t column = part->column; column < part->column + part->columns; column++) {
        size_t panel = part->matrix * qdq_gemm_panels(g) + column / COLUMNS;
        uint32_t sum = pack_column(g, from, part, column, packed + panel * qdq_gemm_panel_bytes(g));
        first_sums[panel * COLUMNS + column % COLUMNS] -= zero_of_a(g) * sum;
    }
}

bool qdq_gemm_pack_bytes(qdq_gemm *g, const qdq_gemm_known *known, qdq_mempool *mempool) {
    g->kind = QDQ_GEMM_BYTES;
    size_t count = g->weights.matrices * qdq_gemm_panels(g), bytes = qdq_gemm_panel_bytes(g);
    int8_t *packed = qdq_mempool_array(mempool, count, bytes);
    uint32_t *first_sums = qdq_mempool_array(mempool, count, COLUMNS * sizeof *first_sums);
    if (!packed || !first_sums) return false;
    qdq_gemm_reader reader = qdq_gemm_reader_of(known, qdq_dtype_size(g->weights.dtype), mempool);
    qdq_gemm_part_of_b part = {0};
    while (qdq_gemm_reader_next(&reader, g, &part)) {
        qdq_gemm_source from = qdq_gemm_reader_source(&reader, g, known, part.matrix);
        pack_part(g, &from, &part, packed, first_sums);
    }
    qdq_gemm_reader_close(&reader);
    g->packed = packed;
    g->packed_bytes = count * (bytes + COLUMNS * sizeof *first_sums);
    g->first_sums = (const int32_t *)first_sums;
    return !reader.failed;
}
