// SPDX-License-Identifier: Apache-2.0
// Results of products of float32 that tiles store into y themselves, without an epilogue.
#ifndef QDQ_OPS_GEMM_RESULTS_GEMM_RESULTS_H
#define QDQ_OPS_GEMM_RESULTS_GEMM_RESULTS_H

#include "ops/gemm/gemm.h"

// True if tiles can store the results: float32 in rows of y, or for a sink that only stores them.
bool qdq_gemm_stores_results(const qdq_gemm *gemm, const qdq_tensors *tensors);

// True if the tile that adds the last k block also computes the results. It can continue the chain
// of the sums before or add its own chain to them, but not both.
bool qdq_gemm_last_makes_results(const qdq_gemm *gemm);

// Returns the results of a block: y, and the bias. `bias` has room for its rows.
qdq_gemm_results qdq_gemm_results_of_block(const qdq_gemm *gemm, const qdq_tensors *tensors,
                                           const qdq_gemm_block *block, float *bias);

// Adds the products of the last k block of panel p, and stores the results of the panel. If the
// part has no steps, the sums at part->c are complete.
void qdq_gemm_store_results(const qdq_gemm *gemm, const qdq_tensors *tensors,
                            const qdq_gemm_results *results, const qdq_gemm_block *block, size_t p,
                            size_t k_block, const qdq_gemm_part *part);

#endif
