// SPDX-License-Identifier: Apache-2.0
// Integer products of bytes: A unsigned, B signed. Let a' and za' be the codes of A and their zero
// point, with 128 added if they are int8. Let b' be the codes of B minus a zero point that leaves
// signed bytes, for example the middle of its dtype. Then
//     sum((a' - za') * b') = sum(a' * b') - za' * sum(b')
// and the last term is known for each column. All of it is modulo 2^32, as sums wrap around.
//
// Saturating products (pairs/pair_sums.h) keep the codes of B, and need their sums.
//
// AVX2 has no exact product of bytes, and widening them in every tile takes longer than reading
// twice the memory: products of many rows take int16_t there, or weights that are split
// (panels/product_stage.c).
#include "ops/gemm/gemm_read.h"
#include "ops/kernels/gemm/weights/gemm_weights.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_DEPTH, FOUR = QDQ_GEMM_STEP_BYTES };

static bool leaves_bytes(const qdq_dtype_info *codes, int32_t zero) {
    return codes->least - zero >= INT8_MIN && codes->greatest - zero <= INT8_MAX;
}

bool qdq_gemm_fits_bytes(const qdq_gemm *g, const void *zeros) {
    const qdq_dtype_info *codes =
        qdq_dtype_get(g->weights.codes ? g->weights.codes : g->weights.dtype);
    if (g->kind != QDQ_GEMM_INTEGERS) return false;
    if (g->a_zero.port != SIZE_MAX && !g->a_zero.known) return false;
    for (size_t matrix = 0; matrix < g->weights.matrices; matrix++) {
        qdq_gemm_source from = {NULL, zeros, matrix, matrix * g->weights.zero_stride, 0, NULL};
        for (size_t j = 0; j < g->columns; j++)
            if (!leaves_bytes(codes, qdq_gemm_column_zero(g, &from, j))) return false;
    }
    return true;
}

bool qdq_gemm_takes_bytes(const qdq_gemm *g, const void *zeros) {
    if (g->kernel->widens_bytes && g->rows >= QDQ_GEMM_WIDE_ROWS) return false;
    return qdq_gemm_fits_bytes(g, zeros);
}

static uint32_t zero_of_a(const qdq_gemm *g) {
    int32_t zero = 0;
    if (g->a_zero.known) zero = qdq_gemm_integer_at(g->a_zero.dtype, g->a_zero.known, 0);
    return (uint32_t)(zero + (g->a_dtype == QDQ_INT8 ? 128 : 0));
}

// Packs some k of a column in a panel that begins with them; returns their sum.
static uint32_t pack_column(const qdq_gemm *g, const qdq_gemm_source *from,
                            const qdq_gemm_part_of_b *part, size_t column, int8_t *panel) {
    int64_t sum = 0;
    size_t j = column % COLUMNS;
    for (size_t done = 0; done < part->n; done += DEPTH) {
        int16_t codes[DEPTH];
        size_t n = part->n - done < DEPTH ? part->n - done : DEPTH;
        qdq_gemm_column(g, from, column, part->k + done, n, codes);
        int8_t *to = panel + done * COLUMNS + j * FOUR;
        for (size_t i = 0; i < n; i++) sum += codes[i];
        for (size_t i = n; i % FOUR; i++) codes[i] = 0;
        for (size_t i = 0; i < n; i += FOUR, to += (size_t)FOUR * COLUMNS)
            for (size_t k = 0; k < FOUR; k++) to[k] = (int8_t)codes[i + k];
    }
    return (uint32_t)(uint64_t)sum;
}

bool qdq_gemm_has_byte_lines(const qdq_gemm *g, const qdq_gemm_source *from,
                             const qdq_gemm_part_of_b *part) {
    const qdq_gemm_weights *w = &g->weights;
    bool lines = w->column_stride == 1 && w->taps == 1 && w->dtype == QDQ_INT8;
    for (size_t j = 0; lines && from->zeros && j < part->columns; j++)
        lines = !qdq_gemm_column_zero(g, from, part->column + j);
    return lines;
}

// Packs some k of up to 32 columns that are neighbours in memory and adds up the columns.
static void pack_lines(const qdq_gemm *g, const qdq_gemm_source *from,
                       const qdq_gemm_part_of_b *part, int8_t *panel, uint32_t *sums) {
    size_t offsets[DEPTH], columns = part->columns;
    uint32_t mask = ~0U >> (COLUMNS - columns);
    for (size_t done = 0; done < part->n; done += DEPTH) {
        size_t k = part->k + done, n = part->n - done < DEPTH ? part->n - done : DEPTH;
        const int8_t *x = qdq_gemm_source_at(g, from, k, part->column);
        int32_t own[COLUMNS] = {0};
        for (size_t i = 0; i < n; i++) offsets[i] = i * g->weights.depth_stride;
        qdq_gemm_sum_weight_lines(x, g->weights.depth_stride, n, columns, own);
        for (size_t j = 0; j < columns; j++) sums[j] += (uint32_t)own[j];
        g->kernel->byte_lines(&(qdq_gemm_code_lines){
            .x = (const uint8_t *)x,
            .size = offsets[n - 1] + columns,
            .offsets = offsets,
            .masks = &mask,
            .taps = 1,
            .n = n,
            .out = panel + done * COLUMNS,
        });
    }
}

void qdq_gemm_pack_byte_panel(const qdq_gemm *g, const qdq_gemm_source *from,
                              const qdq_gemm_part_of_b *part, int8_t *panel, uint32_t *sums) {
    memset(sums, 0, COLUMNS * sizeof *sums);
    if (qdq_gemm_has_byte_lines(g, from, part)) {
        pack_lines(g, from, part, panel, sums);
        return;
    }
    for (size_t j = 0; j < part->columns; j++)
        sums[j] = pack_column(g, from, part, part->column + j, panel);
}

// Panels that are packed, and the sums of their columns times `factor`.
typedef struct packing {
    const qdq_gemm *gemm;
    int8_t *packed;
    uint32_t *sums, factor;
} packing;

static void pack_and_add(void *self, const qdq_gemm_source *from, const qdq_gemm_part_of_b *part) {
    const packing *to = self;
    const qdq_gemm *g = to->gemm;
    size_t number = part->matrix * qdq_gemm_panels(g) + part->column / COLUMNS;
    uint32_t sums[COLUMNS];
    qdq_gemm_pack_byte_panel(
        g, from, part, to->packed + number * qdq_gemm_panel_bytes(g) + part->k * COLUMNS, sums);
    for (size_t j = 0; j < COLUMNS; j++) to->sums[number * COLUMNS + j] += to->factor * sums[j];
}

bool qdq_gemm_pack_bytes(qdq_gemm *g, const qdq_gemm_known *all, const qdq_lowering *to) {
    bool saturates = qdq_gemm_saturates(g->kind);
    qdq_gemm_known known = *all;
    if (saturates)
        known.zeros = NULL;
    else
        g->kind = QDQ_GEMM_BYTES;
    size_t count = g->weights.matrices * qdq_gemm_panels(g), bytes = qdq_gemm_panel_bytes(g);
    int8_t *packed = qdq_mempool_array(to->mempool, count, bytes);
    uint32_t *sums = qdq_mempool_array(to->mempool, count, COLUMNS * sizeof *sums);
    if (!packed || !sums) return false;
    g->packed = packed;
    g->packed_bytes = count * (bytes + COLUMNS * sizeof *sums);
    *(saturates ? &g->column_sums : &g->first_sums) = (const int32_t *)sums;
    packing all_panels = {g, packed, sums, saturates ? 1 : 0 - zero_of_a(g)};
    return qdq_gemm_each_panel(g, &known, qdq_dtype_size(g->weights.dtype), to->mempool,
                               to->parallel, pack_and_add, &all_panels);
}
