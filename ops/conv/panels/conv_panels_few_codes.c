// SPDX-License-Identifier: Apache-2.0
// 1x1 convolutions of codes with few input channels, whose results are codes: they need neither
// panels nor sums in memory (ops/kernels/gemm/codes/few_codes.h).
#include "ops/conv/panels/conv_panels.h"
#include "ops/kernels/gemm/codes/few_codes.h"

enum { ROWS = QDQ_PANELS_SUMS / QDQ_GEMM_COLUMNS, GROUP = QDQ_FEW_CODES_GROUP };

// True if few sums are computed in vain, at the end of the last group of positions.
static bool fills_groups(size_t positions) {
    size_t whole = (positions + GROUP - 1) / GROUP * GROUP;
    return whole - positions <= positions / 8;
}

// True if positions of x are neighbours and have all k of a sum, and results are rows of y.
static bool suits(const qdq_panels_job *j) {
    const qdq_panels_params *p = j->p;
    const qdq_gemm *g = &p->transposed_gemm;
    return g->kind == QDQ_GEMM_CODES && !g->kernel->signs_codes && p->conv.offsets &&
           p->conv.taps == 1 && p->linear && !p->bordered && g->depth <= QDQ_FEW_CODES_DEPTH &&
           qdq_panels_k_blocks(&p->conv) == 1 && g->epilogue == qdq_gemm_epilogue_scaled &&
           g->y.column_stride == 1 && !g->phases && !j->tensors->sink && fills_groups(g->columns) &&
           qdq_gemm_quantizes_sums(g);
}

bool qdq_panels_run_few(const qdq_panels_job *j) {
    const qdq_gemm *g = &j->p->transposed_gemm;
    const qdq_stage_quantize *by = g->quantize;
    const char *weights[ROWS];
    if (!suits(j)) return false;
    qdq_few_codes_fn *fn = qdq_few_codes_find(by->fn);
    if (!fn) return false;
    bool biased = g->bias.port != SIZE_MAX;
    qdq_panels_set_reals(j, true, biased);
    if (!biased) memset(j->w->bias, 0, j->block.rows * sizeof j->w->bias[0]);
    for (size_t r = 0; r < j->block.rows; r++)
        weights[r] = qdq_panels_row(j->p, j->matrix, 0, j->block.row + r);
    size_t at = qdq_gemm_at(g, g->batches.y, j->block.batch) + j->block.row * g->y.row_stride +
                j->block.column;
    size_t first = j->matrix * j->p->conv.gemm.columns + j->block.row;
    return fn(&(qdq_few_codes){.x = (const uint8_t *)j->x + j->block.column,
                               .x_stride = j->p->conv.channel_stride,
                               .depth = j->p->conv.gemm.depth,
                               .flip = g->a_dtype == QDQ_INT8 ? 0x80 : 0,
                               .weights = weights,
                               .row_start = (const int32_t *)j->p->weights->first_sums + first,
                               .codes = {.rows = j->block.rows,
                                         .n = j->block.columns,
                                         .scale = j->w->scale,
                                         .bias = j->w->bias,
                                         .fn = by->fn,
                                         .params = by->params,
                                         .views = by->views,
                                         .out = (char *)j->tensors->y[0] + at,
                                         .out_stride = g->y.row_stride}});
}
