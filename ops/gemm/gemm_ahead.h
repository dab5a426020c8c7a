// SPDX-License-Identifier: Apache-2.0
// Prefetches operands of a product while its tiles compute.
#ifndef QDQ_OPS_GEMM_GEMM_AHEAD_H
#define QDQ_OPS_GEMM_GEMM_AHEAD_H

#include "ops/gemm/gemm.h"

// Brings share number `share` of `shares` of k..k + n of the rows of a block into the L2 cache.
// Packing copies 512 bytes of one row after the other, and would wait for each row that lies
// farther away.
void qdq_gemm_ask_for_rows(const qdq_gemm *gemm, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, size_t k, size_t n, size_t share,
                           size_t shares);

#endif
