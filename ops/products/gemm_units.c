// SPDX-License-Identifier: Apache-2.0
// Which block of a product a unit is, and where its product of the batch lies. Units are ordered so
// that shared operands are read from memory as rarely as possible: rows of A serve all columns,
// unless B is large and rows are cheap to pack again.
#include "ops/products/gemm_read.h"

enum {
    BLOCK_ROWS = QDQ_GEMM_BLOCK_ROWS,
    MOST_ROWS = QDQ_GEMM_MOST_ROWS,
    BLOCK_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS,
};

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
