// SPDX-License-Identifier: Apache-2.0
// Units of a product: the block of a unit, and where its product of the batch lies. Units are
// ordered so that shared operands are read from memory as rarely as possible: rows of A serve all
// columns, unless B is large, decoded or packed again, and rows are cheap to pack again. Every other
// row of blocks is walked backwards, so that it begins with the operand that was read last.
#include "ops/gemm/gemm_read.h"

enum {
    BLOCK_ROWS = QDQ_GEMM_BLOCK_ROWS,
    MOST_ROWS = QDQ_GEMM_MOST_ROWS,
    BLOCK_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS,
};

//---- Units ------------------------------------------------------------------

size_t qdq_gemm_at(const qdq_gemm *gemm, const size_t *strides, size_t batch) {
    const qdq_gemm_batches *b = &gemm->batches;
    size_t at = 0;
    for (int i = b->rank; i-- > 0; batch /= b->dims[i]) at += batch % b->dims[i] * strides[i];
    return at;
}

size_t qdq_gemm_row_blocks(const qdq_gemm *g) {
    size_t count = g->rows / BLOCK_ROWS, left = g->rows % BLOCK_ROWS;
    return count && left <= MOST_ROWS - BLOCK_ROWS ? count : count + 1;
}
size_t qdq_gemm_column_blocks(const qdq_gemm *g) {
    return (g->columns + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
}

qdq_gemm_block qdq_gemm_block_of(const qdq_gemm *g, size_t unit) {
    size_t rows = qdq_gemm_row_blocks(g), columns = qdq_gemm_column_blocks(g);
    size_t inner = g->columns_outer ? rows : columns, outer = g->columns_outer ? columns : rows;
    size_t i = unit % inner, o = unit / inner % outer;
    if (o % 2) i = inner - 1 - i;
    size_t number = g->columns_outer ? i : o, row = number * BLOCK_ROWS;
    size_t column = (g->columns_outer ? o : i) * BLOCK_COLUMNS;
    return (qdq_gemm_block){
        .batch = unit / (rows * columns),
        .row = row,
        .rows = number == rows - 1 ? g->rows - row : BLOCK_ROWS,
        .column = column,
        .columns = g->columns - column < BLOCK_COLUMNS ? g->columns - column : BLOCK_COLUMNS,
    };
}

//---- k blocks ---------------------------------------------------------------

static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }

size_t qdq_gemm_chunk_blocks(const qdq_gemm *g) { return parts(g->order.chunk, qdq_gemm_depth(g)); }

size_t qdq_gemm_k_blocks(const qdq_gemm *g) {
    size_t chunk = g->order.chunk ? g->order.chunk : SIZE_MAX;
    return g->depth / chunk * qdq_gemm_chunk_blocks(g) + parts(g->depth % chunk, qdq_gemm_depth(g));
}

size_t qdq_gemm_k_begin(const qdq_gemm *g, size_t k_block) {
    size_t blocks = qdq_gemm_chunk_blocks(g);
    if (!blocks) return k_block * qdq_gemm_depth(g);
    return k_block / blocks * g->order.chunk + k_block % blocks * qdq_gemm_depth(g);
}

size_t qdq_gemm_k_count(const qdq_gemm *g, size_t k_block) {
    size_t k = qdq_gemm_k_begin(g, k_block), left = g->depth - k, most = qdq_gemm_depth(g);
    size_t in_chunk = g->order.chunk ? g->order.chunk - k % g->order.chunk : left;
    if (left > in_chunk) left = in_chunk;
    return left < most ? left : most;
}

//---- Stage ------------------------------------------------------------------

void qdq_gemm_init(qdq_gemm *g, const qdq_lowering *to, bool integer) {
    const qdq_gemm_along none = {.port = SIZE_MAX};
    g->kernel = qdq_gemm_kernel_find(to->isas);
    g->orders = qdq_gemm_orders_find(to->isas);
    g->kind = integer ? QDQ_GEMM_INTEGERS : QDQ_GEMM_FLOATS;
    g->batch = 1;
    g->weights.taps = g->weights.matrices = 1;
    g->y = g->bias = g->a_zero = g->b_zero = none;
    g->a_scale = g->b_scale = g->y_scale = g->y_zero = none;
    g->alpha = 1;
}

static void swap(size_t *a, size_t *b) {
    size_t was = *a;
    *a = *b, *b = was;
}

qdq_gemm qdq_gemm_transposed(const qdq_gemm *g) {
    qdq_gemm t = *g;
    swap(&t.rows, &t.columns);
    swap(&t.y.row_stride, &t.y.column_stride);
    swap(&t.bias.row_stride, &t.bias.column_stride);
    swap(&t.a_scale.row_stride, &t.a_scale.column_stride);
    swap(&t.b_scale.row_stride, &t.b_scale.column_stride);
    return t;
}
