// SPDX-License-Identifier: Apache-2.0
// Results of products of float32 that tiles store into y themselves. An epilogue would read the
// sums again, and copy the results to y: half as long as a product of depth 64 takes.
#include "ops/gemm/results/gemm_results.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS };

// A bias of the columns is a row of addends, which are read in place.
static bool takes_bias(const qdq_gemm *g) {
    return g->bias.port == SIZE_MAX || g->order.bias_first || !g->bias.column_stride ||
           (g->bias.column_stride == 1 && g->bias.dtype == QDQ_FLOAT32 && g->shared <= 1);
}

bool qdq_gemm_stores_results(const qdq_gemm *g, const qdq_tensors *tensors) {
    return g->kind == QDQ_GEMM_FLOATS && g->y.dtype == QDQ_FLOAT32 && g->y.column_stride == 1 &&
           (!tensors->sink || tensors->expect) && !g->phases &&
           g->epilogue == qdq_gemm_epilogue_float && !qdq_gemm_quantizes(g) && takes_bias(g);
}

bool qdq_gemm_last_makes_results(const qdq_gemm *g) {
    size_t blocks = qdq_gemm_k_blocks(g), last = blocks ? blocks - 1 : 0;
    if (g->pack_a != qdq_gemm_pack_rows || g->weight_codes) return false;
    if (g->order.sums == QDQ_SUM_CHAIN) return true;
    if (g->order.sums != QDQ_SUM_CHUNKS) return false;
    size_t chunk = qdq_gemm_chunk_blocks(g);
    return last % chunk == 0 || (last < chunk && !g->order.bias_first);
}

static size_t place_of(const qdq_gemm *g, const qdq_gemm_block *block) {
    return qdq_gemm_at(g, g->batches.y, block->batch) + block->row * g->y.row_stride +
           block->column;
}

qdq_gemm_results qdq_gemm_results_of_block(const qdq_gemm *g, const qdq_tensors *tensors,
                                           const qdq_gemm_block *block, float *bias) {
    const qdq_gemm_along *b = &g->bias;
    qdq_gemm_results results = {.y_stride = g->y.row_stride};
    if (!tensors->sink) results.y = (float *)tensors->y[0] + place_of(g, block);
    if (b->port == SIZE_MAX || g->order.bias_first) return results;
    if (!b->column_stride) {
        qdq_gemm_row_reals(g, tensors, block, NULL, bias);
        results.bias = bias;
        return results;
    }
    size_t first = qdq_gemm_at(g, g->batches.bias, block->batch) + block->row * b->row_stride;
    results.addend = (const float *)qdq_gemm_numbers(b, tensors) + first + block->column;
    results.addend_stride = b->row_stride;
    return results;
}

// Adding no product to a sum of -0 would give +0, so nothing is added without steps.
void qdq_gemm_store_results(const qdq_gemm *g, const qdq_tensors *tensors,
                            const qdq_gemm_results *results, const qdq_gemm_block *block, size_t p,
                            size_t k_block, const qdq_gemm_part *part) {
    float panel[QDQ_GEMM_JOINED_ROWS * COLUMNS];
    qdq_gemm_results to = *results;
    const qdq_gemm_order *order = &g->order;
    size_t left = block->columns - p * COLUMNS, chunk = qdq_gemm_chunk_blocks(g);
    to.a = part->a, to.b = part->b, to.b_step = COLUMNS;
    to.steps = part->steps;
    to.rows = block->rows;
    to.columns = left < COLUMNS ? left : COLUMNS;
    if (k_block || order->bias_first) to.before = part->c;
    to.before_stride = part->c_stride;
    to.adds =
        part->steps && order->sums == QDQ_SUM_CHUNKS && (order->bias_first || k_block >= chunk);
    if (to.addend) to.addend += p * COLUMNS;
    if (!tensors->sink) {
        to.y += p * COLUMNS;
        g->kernel->results(&to);
        return;
    }
    qdq_chunk made = {place_of(g, block) + p * COLUMNS, to.columns, to.rows, g->y.row_stride,
                       panel};
    to.y = panel, to.y_stride = to.columns;
    tensors->expect(tensors->sink_self, &made);
    g->kernel->results(&to);
    qdq_gemm_put_chunk(g, tensors, &made);
}
