// SPDX-License-Identifier: Apache-2.0
// Matrix products of bytes whose pairs saturate, included by the file of an instruction set. AVX2
// without VNNI has no other product of bytes, and multiplies weights by it whose pairs cannot
// saturate.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_part_fn QDQ_ISA_NAME(gemm_saturated_bytes);
qdq_gemm_part_fn QDQ_ISA_NAME(gemm_saturated_codes);

FEW_ROWS(saturated, ints, 4, 2, 2)
MORE_ROWS(saturated, ints)

void QDQ_ISA_NAME(gemm_saturated_bytes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(saturated) MORE_NAMES(saturated)};
    run_tiles(tiles, NULL, p);
}

FEW_ROWS(saturated_codes, ints, 4, 2, 2)
MORE_ROWS(saturated_codes, ints)
NARROW_ROWS(saturated_codes, ints)

void QDQ_ISA_NAME(gemm_saturated_codes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(saturated_codes) MORE_NAMES(saturated_codes)};
    run_all_tiles(tiles, NULL, saturated_codes_narrows, p);
}

#if defined(__AVX2__) && !defined(__AVX512F__)

qdq_gemm_rest_fn QDQ_ISA_NAME(gemm_rest);

void QDQ_ISA_NAME(gemm_rest)(const qdq_gemm_rest *p) {
    enum { VECS = COLUMNS / LANES };
    const uint32_t *end = p->ends;
    for (size_t r = 0; r < p->rows; r++, end += p->ends_stride) {
        const qdq_gemm_rest_step *step = p->steps + end[-1], *last = p->steps + end[0];
        if (step == last && !p->row_start) continue;
        int32_t *c = p->c + r * p->c_stride;
        gemm_ints sum[VECS];
        if (p->row_start)
            UNROLLED for (size_t v = 0; v < VECS; v++) sum[v] = ints_all(p->row_start[r]);
        else
            UNROLLED for (size_t v = 0; v < VECS; v++) sum[v] = ints_load(c + v * LANES);
        for (; step < last; step++) {
            const int32_t *b = (const int32_t *)p->b + step->step * COLUMNS;
            gemm_ints x = ints_all(step->word);
            UNROLLED for (size_t v = 0; v < VECS; v++) sum[v] =
                saturated_codes_madd(sum[v], x, ints_load(b + v * LANES));
        }
        UNROLLED for (size_t v = 0; v < VECS; v++) ints_store(c + v * LANES, sum[v]);
    }
}

#endif
