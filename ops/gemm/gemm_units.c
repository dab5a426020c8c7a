// SPDX-License-Identifier: Apache-2.0
// The stage of a product: which block a unit is, and where its product of the batch lies. Units are
// ordered so that shared operands are read from memory as rarely as possible: rows of A serve all
// columns, unless B is large or decoded, and rows are cheap to pack again. Every other row of
// blocks is walked backwards, so that it begins with the operand that was read last.
#include "ops/gemm/gemm_read.h"
#include "ops/gemm/pairs/pair_sums.h"
#include "ops/gemm/weight_codes/gemm_fixed.h"

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

bool qdq_gemm_choose_kind(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to) {
    if (!to->plain && qdq_gemm_takes_bfloats(g)) g->kind = QDQ_GEMM_BFLOATS;
    return qdq_pair_sums_choose(g, ctx, to);
}

bool qdq_gemm_stage(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to,
                    qdq_stage *stage) {
    if (to->plain) {
        *stage = (qdq_stage){.params = g};
        return true;
    }
    if (!qdq_gemm_pack_constant(g, ctx, to)) return false;
    if (qdq_gemm_sums_fixed(g)) g->order = (qdq_gemm_order){.sums = QDQ_SUM_FIXED};
    // The bytes that each order reads.
    size_t b_bytes = qdq_gemm_panels(g) * qdq_gemm_panel_bytes(g);
    size_t a_bytes = g->rows * g->depth * qdq_gemm_size(g->kind);
    bool large = b_bytes > QDQ_GEMM_CACHE_BYTES &&
                 b_bytes * qdq_gemm_row_blocks(g) > a_bytes * qdq_gemm_column_blocks(g);
    g->columns_outer = g->pack_a == qdq_gemm_pack_rows && (large || g->weight_codes);
    *stage = (qdq_stage){.params = g,
                         .tensor_op = qdq_gemm_run_units,
                         .quantize = qdq_gemm_offer_quantize(g, to->mempool),
                         .chunks = true,
                         .units = g->batch * qdq_gemm_row_blocks(g) * qdq_gemm_column_blocks(g),
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)(g->packed || g->weight_codes) << g->weights.port,
                         .scales_later = g->order.sums == QDQ_SUM_FIXED,
                         .packed_bytes = g->packed_bytes};
    return true;
}
