// SPDX-License-Identifier: Apache-2.0
// Sums and results of float32 on positions as columns. A tile adds its chain to the sums of the
// chunks before; in the last k block its sums become results in registers and go to y itself, with
// bias, the other operand of a sum and bounds, unless a sink takes them or the sums next to a
// border are yet to be mended.
#include "ops/conv/panels/conv_panels.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, NARROW = QDQ_GEMM_NARROW, GROUP = QDQ_PANELS_GROUP };

typedef qdq_panels_params panels_params;
typedef qdq_panels_job job;

void qdq_panels_set_reals(const job *j, bool scaled, bool biased) {
    const qdq_gemm *g = &j->p->transposed_gemm;
    qdq_gemm_block part = j->block;
    for (size_t r = 0; r < j->block.rows; r += part.rows, part.row += part.rows) {
        part.rows = j->block.rows - r < GROUP ? j->block.rows - r : GROUP;
        qdq_gemm_row_reals(g, j->tensors, &part, scaled ? j->w->scale + r : NULL,
                           biased ? j->w->bias + r : NULL);
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
    if (j->results.bias) qdq_panels_set_reals(j, false, true);
    if (!finish || !finish->finishes) return;
    j->results.addend = finish->adds ? j->tensors->addend + at : NULL;
    j->results.addend_stride = g->y.row_stride;
    j->results.bounds = finish->bounded ? &finish->bounds : NULL;
}

// Returns the number of columns of some panels that are positions.
static size_t columns_of(const job *j, size_t p, size_t count) {
    return (count - 1) * COLUMNS + qdq_panels_columns(j, p + count - 1);
}

// Narrows the results of the block to some rows of `count` panels.
static void set_results(const job *j, size_t p, size_t count, size_t row, size_t rows,
                        qdq_gemm_results *part) {
    size_t at = row * part->y_stride + p * COLUMNS;
    part->rows = rows;
    part->columns = columns_of(j, p, count);
    part->y += at;
    if (part->addend) part->addend += at;
    if (part->bias) part->bias += row;
}

// Weights that were codes are decoded; in the last k block, tiles of others share their rows.
static void set_a(const job *j, size_t k_block, size_t row, qdq_gemm_results *part) {
    const panels_params *p = j->p;
    size_t first = j->block.row + row, tile = first / QDQ_GEMM_ROWS;
    if (p->weights->scales) {
        part->a = j->w->decoded + row % GROUP * QDQ_PANELS_CODE_ROW_BYTES;
        return;
    }
    part->a = qdq_panels_row(p, j->matrix, k_block, first);
    if (p->ways == 1 || k_block + 1 < qdq_panels_k_blocks(&p->conv)) return;
    part->ways = p->ways, part->way = tile % p->ways;
    part->a = (const char *)part->a - part->way * (p->row_bytes / p->ways);
}

// A panel is packed, or lies in x.
static void set_b(const job *j, size_t p, size_t k_block, qdq_gemm_results *part) {
    const qdq_conv *c = &j->p->conv;
    part->b = j->w->b[p];
    part->b_step = COLUMNS, part->b_panel = sizeof j->w->b[p] / sizeof(float);
    if (!qdq_panels_in_place(j, p)) return;
    size_t first = k_block * qdq_gemm_depth(&c->gemm) * c->channel_stride;
    part->b = (const float *)(const void *)j->x + first + j->block.column + p * COLUMNS;
    part->b_step = c->channel_stride, part->b_panel = COLUMNS;
}

// Cuts a panel where a row of y ends: planes are read row by row.
static void add_from_planes(const job *j, size_t p, size_t k_block, qdq_gemm_results *part) {
    const qdq_conv *c = &j->p->conv;
    size_t columns = part->columns;
    part->b_at = j->p->planes.at + k_block * qdq_gemm_depth(&c->gemm);
    for (size_t i = 0; i < columns; i += part->columns) {
        const float *first;
        size_t run = qdq_panels_plane_run(j, p * COLUMNS + i, &first);
        part->b = first;
        part->columns = run < columns - i ? run : columns - i;
        c->gemm.kernel->results(part);
        part->y += part->columns;
        if (part->before) part->before += part->columns;
        if (part->addend) part->addend += part->columns;
        part->ahead_bytes = 0;
    }
}

// Rows of y and of its addend are read and written in runs that are as long as L1 has room for B:
// pieces of 128 bytes, a row apart, take twice as long to come from the L3 cache.
size_t qdq_panels_at_once(const job *j, size_t p, size_t k_block, size_t panels) {
    enum { L1_BYTES = 1 << 15, LINE_BYTES = COLUMNS * sizeof(float) };
    size_t most = L1_BYTES / (LINE_BYTES * qdq_panels_k(&j->p->conv, k_block)), count = 1;
    bool in_place = qdq_panels_in_place(j, p);
    if (j->p->planes.at) return 1;
    while (count < most && p + count < panels && qdq_panels_in_place(j, p + count) == in_place)
        count++;
    return count;
}

void qdq_panels_add_floats(const job *j, size_t p, size_t count, size_t k_block, size_t row,
                           size_t rows, qdq_panels_ahead ahead) {
    const qdq_conv *c = &j->p->conv;
    float *sums = j->w->sums + row * j->p->stride + p * COLUMNS;
    bool last = k_block + 1 == qdq_panels_k_blocks(c);
    qdq_gemm_results part = j->results;
    if (last && part.y && !j->p->leaves_out) {
        set_results(j, p, count, row, rows, &part);
    } else {
        part.rows = rows;
        part.columns = columns_of(j, p, count);
        if (!j->p->planes.at) part.columns = (part.columns + NARROW - 1) / NARROW * NARROW;
        part.y = sums, part.y_stride = j->p->stride;
        part.bias = part.addend = NULL, part.bounds = NULL;
    }
    set_a(j, k_block, row, &part);
    part.steps = qdq_panels_k(c, k_block);
    part.before = k_block ? sums : NULL;
    part.before_stride = j->p->stride;
    part.ahead = ahead.at, part.ahead_bytes = ahead.bytes;
    part.adds = c->gemm.order.sums == QDQ_SUM_CHUNKS;
    if (j->p->planes.at) {
        add_from_planes(j, p, k_block, &part);
        return;
    }
    set_b(j, p, k_block, &part);
    c->gemm.kernel->results(&part);
}

void qdq_panels_finish(const job *j, size_t panels) {
    for (size_t p = 0; p < panels; p++) {
        qdq_gemm_results part = j->results;
        set_results(j, p, 1, 0, j->block.rows, &part);
        part.a = qdq_panels_row(j->p, j->matrix, 0, j->block.row);  // no step is taken
        part.b = j->w->b[p], part.b_step = COLUMNS;
        part.before = j->w->sums + p * COLUMNS;
        part.before_stride = j->p->stride;
        j->p->conv.gemm.kernel->results(&part);
    }
}
