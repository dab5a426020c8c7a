// SPDX-License-Identifier: Apache-2.0
// Matrix products of bytes whose pairs saturate, included by the file of an instruction set.
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

void QDQ_ISA_NAME(gemm_saturated_codes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(saturated_codes) MORE_NAMES(saturated_codes)};
    run_tiles(tiles, NULL, p);
}
