// SPDX-License-Identifier: Apache-2.0
// Codes of sums on positions as columns. In the last k block the sums of a tile become codes in
// registers and go to y itself, unless a sink takes them: the sums of layers with few channels
// would take longer to store and load than to add up.
#include "ops/conv/panels/conv_panels.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS };

bool qdq_panels_makes_codes(const qdq_panels_job *j) {
    const qdq_gemm *g = &j->p->transposed_gemm;
    return g->kind == QDQ_GEMM_SPLIT_CODES && g->kernel->code_results &&
           g->epilogue == qdq_gemm_epilogue_scaled && g->y.column_stride == 1 && !g->phases &&
           !j->tensors->sink && qdq_gemm_quantizes_sums(g);
}

void qdq_panels_set_codes(qdq_panels_job *j) {
    const qdq_gemm *g = &j->p->transposed_gemm;
    const qdq_stage_quantize *by = g->quantize;
    bool biased = g->bias.port != SIZE_MAX;
    qdq_panels_set_reals(j, true, biased);
    if (!biased) memset(j->w->bias, 0, j->block.rows * sizeof j->w->bias[0]);
    size_t at = qdq_gemm_at(g, g->batches.y, j->block.batch) + j->block.row * g->y.row_stride +
                j->block.column;
    j->codes = (qdq_gemm_code_rows){.scale = j->w->scale,
                                    .bias = j->w->bias,
                                    .fn = by->fn,
                                    .params = by->params,
                                    .views = by->views,
                                    .out = (char *)j->tensors->y[0] + at,
                                    .out_stride = g->y.row_stride};
    g->kernel->code_factors(&j->codes, &j->w->factors);
}

void qdq_panels_add_codes(const qdq_panels_job *j, size_t p, size_t row, size_t columns,
                          const qdq_gemm_part *part) {
    qdq_gemm_code_results results = {*part, j->codes, &j->w->factors};
    results.codes.rows = part->rows;
    results.codes.n = columns;
    results.codes.scale += row;
    results.codes.bias += row;
    results.codes.out = (char *)j->codes.out + row * j->codes.out_stride + p * COLUMNS;
    j->p->conv.gemm.kernel->code_results(&results);
}
