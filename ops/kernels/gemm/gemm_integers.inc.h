// SPDX-License-Identifier: Apache-2.0
// Matrix products of integers and of bytes, included by the file of an instruction set.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_part_fn QDQ_ISA_NAME(gemm_integers);
qdq_gemm_part_fn QDQ_ISA_NAME(gemm_bytes);

FEW_ROWS(pairs, ints, 4, 2, 2)
MORE_ROWS(pairs, ints)
NARROW_ROWS(pairs, ints)

void QDQ_ISA_NAME(gemm_integers)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(pairs) MORE_NAMES(pairs)};
    run_all_tiles(tiles, NULL, pairs_narrows, p);
}

FEW_ROWS(fours, ints, 4, 2, 2)
MORE_ROWS(fours, ints)

#if defined(__ARM_FEATURE_DOTPROD)

// Adds the part that tiles leave out, because they multiply A - 128: 128 times the column sums of
// B.
static void add_missing(const qdq_gemm_part *p, int32_t *start) {
    enum { VECS = COLUMNS / LANES };
    gemm_ints sum[VECS];
    for (size_t v = 0; v < VECS; v++) sum[v] = ints_all(0);
    for (size_t k = 0; k < p->steps; k++) UNROLLED for (size_t v = 0; v < VECS; v++) {
            gemm_ints b = ints_load((const int32_t *)p->b + k * COLUMNS + v * LANES);
            sum[v] = vdotq_s32(sum[v], vreinterpretq_s8_s32(b), vdupq_n_s8(1));
        }
    for (size_t v = 0; v < VECS; v++) sum[v] = vshlq_n_s32(sum[v], 7);
    for (size_t r = 0; r < (start ? 1 : p->rows); r++) {
        const int32_t *from = start ? p->start : (int32_t *)p->c + r * p->c_stride;
        int32_t *to = start ? start : (int32_t *)p->c + r * p->c_stride;
        for (size_t v = 0; v < VECS; v++)
            ints_store(to + v * LANES, ints_add(ints_load(from + v * LANES), sum[v]));
    }
}

void QDQ_ISA_NAME(gemm_bytes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(fours) MORE_NAMES(fours)};
    int32_t start[COLUMNS];
    qdq_gemm_part part = *p;
    add_missing(p, p->start ? start : NULL);
    if (p->start) part.start = start;
    run_tiles(tiles, NULL, &part);
}

#else

void QDQ_ISA_NAME(gemm_bytes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(fours) MORE_NAMES(fours)};
    run_tiles(tiles, NULL, p);
}

#endif

#if defined(CODES_MADD)

qdq_gemm_part_fn QDQ_ISA_NAME(gemm_codes);

FEW_ROWS(codes, ints, 4, 2, 2)
MORE_ROWS(codes, ints)
HALF_ROWS(codes, ints)

void QDQ_ISA_NAME(gemm_codes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(codes) MORE_NAMES(codes)};
    run_tiles(tiles, codes_halves, p);
}

#if defined(__AVX512F__)

qdq_gemm_code_columns_fn QDQ_ISA_NAME(gemm_code_columns);

void QDQ_ISA_NAME(gemm_code_columns)(const qdq_gemm_code_columns *p) {
    enum { BYTES = LANES * QDQ_GEMM_STEP_BYTES };
    size_t depth = p->steps * QDQ_GEMM_STEP_BYTES;
    for (size_t r = 0; r < p->rows; r++)
        for (size_t j = 0; j < p->columns; j++) {
            const char *a = (const char *)p->a + r * QDQ_GEMM_ROW_BYTES;
            const char *b = (const char *)p->b + j * QDQ_GEMM_ROW_BYTES;
            int32_t *c = p->c + r * p->c_stride + j;
            gemm_ints sum = ints_all(0);
            for (size_t k = 0; k < depth; k += BYTES)
                sum = codes_madd(sum, ints_load(a + k), ints_load(b + k));
            uint32_t start = (uint32_t)(p->row_start ? p->row_start[r] : *c);
            *c = (int32_t)(start + (uint32_t)_mm512_reduce_add_epi32(sum));
        }
}

#endif

#endif
