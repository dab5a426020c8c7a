// SPDX-License-Identifier: Apache-2.0
// Splits packed int8 weights, so that no pair of them saturates
// (ops/kernels/gemm/weights/gemm_weights.c).
#include "ops/conv/panels/conv_panels.h"
#include "ops/kernels/gemm/weights/gemm_weights.h"

_Static_assert(QDQ_GEMM_ROW_BYTES / QDQ_CONV_PANELS_WAYS % QDQ_GEMM_WEIGHTS_STRETCH == 0,
               "a row of a shared slot ends with a stretch");

// Splits all rows, or counts at least their steps. The steps of k block b of row r end at number
// r * blocks + b + 1 of `ends`.
static size_t split_rows(const qdq_panels_params *p, qdq_gemm_rest_step *to, uint32_t *ends) {
    const qdq_gemm *g = &p->conv.gemm;
    size_t blocks = qdq_panels_k_blocks(&p->conv), count = 0, row = 0;
    ends[0] = 0;
    for (size_t matrix = 0; matrix < g->weights.matrices; matrix++)
        for (size_t column = 0; column < g->columns; column++)
            for (size_t block = 0; block < blocks; block++) {
                int8_t *codes = (int8_t *)qdq_panels_row(p, matrix, block, column);
                size_t n = qdq_panels_k(&p->conv, block);
                count +=
                    to ? qdq_gemm_split_row(codes, n, to + count) : qdq_gemm_count_rest(codes, n);
                ends[++row] = (uint32_t)count;
            }
    return count;
}

bool qdq_panels_split(const qdq_panels_params *p, qdq_panels_weights *weights, qdq_mempool *mempool,
                      size_t *bytes) {
    const qdq_gemm *g = &p->conv.gemm;
    size_t rows = g->weights.matrices * g->columns * qdq_panels_k_blocks(&p->conv);
    uint32_t *ends = qdq_mempool_array(mempool, rows + 1, sizeof *ends);
    if (!ends) return false;
    size_t count = split_rows(p, NULL, ends);
    qdq_gemm_rest_step *steps = qdq_mempool_array(mempool, count + 1, sizeof *steps);
    if (!steps) return false;
    split_rows(p, steps, ends);
    weights->rest = steps;
    weights->rest_ends = ends;
    *bytes += rows * sizeof *ends + count * sizeof *steps;
    return true;
}
