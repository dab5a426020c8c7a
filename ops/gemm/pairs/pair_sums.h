// SPDX-License-Identifier: Apache-2.0
// Integer products whose pairs saturate (QDQ_PAIR_SUMS_SATURATE, runtime/numerics/pair_sum.h): the
// codes of A and B are multiplied without subtracting zero points, which are removed from the
// finished sums.
//
// Constant weights without a pair that can saturate are multiplied exactly, by any form of the
// product.
#ifndef QDQ_OPS_GEMM_PAIRS_PAIR_SUMS_H
#define QDQ_OPS_GEMM_PAIRS_PAIR_SUMS_H

#include "ops/gemm/gemm_read.h"

// Lets a product of an op with zero points saturate if numerics and dtypes ask for it. `swapped`:
// of uint8 weights and int8 A instead of uint8 A and int8 weights. Called when A and B are laid
// out.
void qdq_pair_sums_init(qdq_gemm *gemm, const qdq_lowering *to, bool swapped);

// Changes the kind of a product that may saturate to a saturating kind, unless its weights are
// constant and none of their pairs can saturate. The order of k is final. False when memory runs
// out or B cannot be read.
bool qdq_pair_sums_choose(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to);

// The pairs of constant weights that can saturate.
typedef struct qdq_pair_count {
    size_t pairs, columns;  // columns: output columns (of all matrices) with these pairs
    size_t of_columns;      // all output columns
    size_t most, worst;     // the most pairs of a column, and its number
} qdq_pair_count;

// Counts them; `mempool` has room for a part of B. False when memory runs out or B cannot be read.
bool qdq_pair_sums_count(const qdq_gemm *gemm, const qdq_gemm_known *known,
                         const qdq_mempool *mempool, qdq_pair_count *count);

// The same for constant int8 weights of an operand: a matrix [..., K, N], or [..., N, K] if it is
// transposed, or [O, I, spatial...] with the order of k that QLinearConv has. Other weights have no
// pairs that can saturate.
bool qdq_pair_sums_count_matrix(const qdq_operand *b, bool transposed, const qdq_mempool *mempool,
                                qdq_pair_count *count);
bool qdq_pair_sums_count_window(const qdq_operand *w, const qdq_operand *zero, size_t groups,
                                const qdq_mempool *mempool, qdq_pair_count *count);

// True if QLinearConv multiplies without pairs: if each group has one channel of x and of y, and
// its weights have one zero point.
bool qdq_pair_sums_none(size_t group_inputs, size_t group_outputs, const qdq_operand *zero);

//---- Zero points ------------------------------------------------------------

// The sums of the codes of a block, modulo 2^32: of rows of A and of columns of B.
typedef struct qdq_pair_zeros {
    uint32_t rows[QDQ_GEMM_MOST_ROWS];
    uint32_t columns[QDQ_GEMM_BLOCK_COLUMNS];
} qdq_pair_zeros;

// Adds n k of packed rows to their sums, which it clears before if these are the `first` k.
void qdq_pair_zeros_add_rows(const qdq_gemm *gemm, size_t rows, size_t n, bool first, const void *a,
                             qdq_pair_zeros *zeros);

// Packs k..k + n of a panel of B that is not constant, and adds to the sums of its columns, which
// it clears before if k is 0.
void qdq_pair_zeros_pack(const qdq_gemm *gemm, const qdq_gemm_source *from, size_t column, size_t k,
                         size_t n, void *panel, uint32_t *sums);

// Removes the zero points from the sums of a block.
void qdq_pair_zeros_remove(const qdq_gemm *gemm, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, const qdq_pair_zeros *zeros, int32_t *sums,
                           size_t stride);

#endif
