// SPDX-License-Identifier: Apache-2.0
// A row of floats in fixed point times weight codes (QDQ_SUM_FIXED).
#ifndef QDQ_OPS_GEMM_WEIGHT_CODES_GEMM_FIXED_H
#define QDQ_OPS_GEMM_WEIGHT_CODES_GEMM_FIXED_H

#include "ops/gemm/gemm.h"

// Blocks of a row of A, which are k blocks, and the groups of their k.
typedef struct qdq_gemm_fixed {
    qdq_gemm_fixed_block blocks[QDQ_GEMM_MOST_K_BLOCKS];
    qdq_gemm_fixed_group groups[QDQ_GEMM_MOST_K_BLOCKS * QDQ_GEMM_FIXED_EIGHTHS];
    size_t begins[QDQ_GEMM_MOST_K_BLOCKS + 1];  // the first group of each block
} qdq_gemm_fixed;

// Sets blocks and groups to k..k + n of a row, at most QDQ_GEMM_MOST_K_BLOCKS from a k block on.
void qdq_gemm_fix(const qdq_gemm *gemm, size_t k, size_t n, const float *a, qdq_gemm_fixed *fixed);
// Adds the products of these k and a panel to 32 sums; panels of all matrices are counted.
void qdq_gemm_multiply_fixed(const qdq_gemm *gemm, size_t panel, size_t k, size_t n, const float *a,
                             const qdq_gemm_fixed *fixed, float *sums);

#endif
