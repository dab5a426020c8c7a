// SPDX-License-Identifier: Apache-2.0
// Sums and results of float32 on positions as columns. A tile adds its chain to the sums of the
// chunks before; in the last k block its sums become results in registers and go to y itself, with
// bias, the other operand of a sum and bounds, unless a sink takes them or the sums next to a
// border are yet to be mended.
#include "ops/products/panels/conv_panels.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS };

typedef qdq_panels_job job;

static void set_bias(const job *j) {
    enum { MOST = QDQ_GEMM_BLOCK_COLUMNS };
    const qdq_gemm *g = &j->p->conv.gemm;
    for (size_t r = 0; r < j->block.rows; r += MOST) {
        size_t left = j->block.rows - r;
        qdq_gemm_block part = {.batch = j->block.batch,
                               .rows = 1,
                               .column = j->block.row + r,
                               .columns = left < MOST ? left : MOST};
        qdq_gemm_begin_with_bias(g, j->tensors, &part, j->w->bias + r, 0);
    }
}

bool qdq_panels_makes_results(const job *j) {
    const qdq_gemm *g = &j->p->transposed_gemm;
    return g->kind == QDQ_GEMM_FLOATS && g->y.dtype == QDQ_FLOAT32 && !j->tensors->sink &&
           !g->phases && g->epilogue == qdq_gemm_epilogue_float && !qdq_gemm_quantizes(g);
}

void qdq_panels_set_results(job *j) {
    const qdq_gemm *g = &j->p->transposed_gemm;
    const qdq_stage_finish *finish = g->finish;
    size_t at = qdq_gemm_at(g, g->batches.y, j->block.batch) + j->block.row * g->y.row_stride +
                j->block.column;
    j->results = (qdq_gemm_results){.bias = g->bias.port == SIZE_MAX ? NULL : j->w->bias,
                                    .y = (float *)j->tensors->y[0] + at,
                                    .y_stride = g->y.row_stride};
    if (j->results.bias) set_bias(j);
    if (!finish || !finish->finishes) return;
    j->results.addend = finish->adds ? j->tensors->addend + at : NULL;
    j->results.addend_stride = g->y.row_stride;
    j->results.bounds = finish->bounded ? &finish->bounds : NULL;
}

// The columns of a panel that are positions.
static size_t columns_of(const job *j, size_t p) {
    size_t left = j->block.columns - p * COLUMNS;
    return left < COLUMNS ? left : COLUMNS;
}

// Rows of a panel that become results.
static qdq_gemm_results results_of(const job *j, size_t p, size_t row, size_t rows) {
    qdq_gemm_results part = j->results;
    size_t at = row * part.y_stride + p * COLUMNS;
    part.rows = rows;
    part.columns = columns_of(j, p);
    part.y += at;
    if (part.addend) part.addend += at;
    if (part.bias) part.bias += row;
    return part;
}

void qdq_panels_add_floats(const job *j, size_t p, size_t k_block, size_t row, size_t rows) {
    const qdq_conv *c = &j->p->conv;
    float *sums = j->w->sums + row * j->p->stride + p * COLUMNS;
    bool last = k_block + 1 == qdq_panels_k_blocks(c);
    qdq_gemm_results part = {.rows = rows,
                             .columns = columns_of(j, p) > COLUMNS / 2 ? COLUMNS : COLUMNS / 2,
                             .y = sums,
                             .y_stride = j->p->stride};
    if (last && j->results.y && !j->p->leaves_out) part = results_of(j, p, row, rows);
    part.a =
        j->p->weights->scales
            ? (const void *)(j->w->decoded + row % QDQ_PANELS_GROUP * QDQ_PANELS_CODE_ROW_BYTES)
            : qdq_panels_row(j->p, j->matrix, k_block, j->block.row + row);
    part.b = j->w->b[p];
    part.steps = qdq_panels_k(c, k_block);
    part.before = k_block ? sums : NULL;
    part.before_stride = j->p->stride;
    part.adds = c->gemm.order.sums == QDQ_SUM_CHUNKS;
    c->gemm.kernel->results(&part);
}

void qdq_panels_finish(const job *j, size_t panels) {
    for (size_t p = 0; p < panels; p++) {
        qdq_gemm_results part = results_of(j, p, 0, j->block.rows);
        part.a = qdq_panels_row(j->p, j->matrix, 0, j->block.row);  // of which no step is taken
        part.b = j->w->b[p];
        part.before = j->w->sums + p * COLUMNS;
        part.before_stride = j->p->stride;
        j->p->conv.gemm.kernel->results(&part);
    }
}
