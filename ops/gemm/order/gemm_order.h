// SPDX-License-Identifier: Apache-2.0
// The order in which the products of a float sum are added. The core has one chain of fma for all
// k. ONNX Runtime chooses among four by the sizes of the product, which gemm_order.c has as rules.
#ifndef QDQ_OPS_GEMM_ORDER_GEMM_ORDER_H
#define QDQ_OPS_GEMM_ORDER_GEMM_ORDER_H

#include "ops/op.h"

typedef enum qdq_sum_order {
    QDQ_SUM_CHAIN,   // a chain of fma from 0, or from the sums of bytes; no product beyond a border
    QDQ_SUM_CHUNKS,  // a chain of fma for each chunk of k, added to the sum in order
    QDQ_SUM_FOURS,   // rounded products of four k, added to each other and then to the sum
    // Rounded products in lane k % 8; then the lanes are added, in one of three ways that depends
    // on the number of the row or column.
    QDQ_SUM_EIGHTS,
    QDQ_SUM_FIXED,  // --fast, a row of A, B as weight codes (ops/kernels/gemm/gemm_fixed.h)
} qdq_sum_order;

typedef struct qdq_gemm_order {
    qdq_sum_order sums;
    size_t chunk;     // k of a chunk
    bool by_rows;     // EIGHTS: the number of the row decides, not the number of the column
    size_t count;     // EIGHTS: the number of rows or columns
    bool bias_first;  // sums begin with the bias
    // A transposed convolution adds the input channels of each tap in this order, and then the sums
    // of its taps, from 0 on.
    bool by_taps;
    // Input channels of a convolution that are one chunk, whose k are taps, then channels; 0: k are
    // channels, then taps.
    size_t block;
} qdq_gemm_order;

// A product as ONNX Runtime sees it: [m, k] x [k, n].
typedef struct qdq_runtime_product {
    size_t m, n, k;
    bool transpose_a, transpose_b;
    bool packed;         // B is a constant that the runtime packs
    bool column_vector;  // B has one dim
    bool together;       // elements of a column of B lie together if B has one column
    bool m_is_columns;   // our columns are its m, as in convolutions
    bool biased;         // its sums begin with a bias
} qdq_runtime_product;

// Returns the order of ONNX Runtime.
qdq_gemm_order qdq_gemm_order_of(const qdq_runtime_product *product);

// True if a node with these inputs as operands adds as ONNX Runtime does.
bool qdq_adds_as_runtime(const qdq_op_context *ctx, const qdq_lowering *to, size_t a, size_t b);

// Returns the sum of the lanes of a column, which are `stride` apart, by the number of its row or
// column.
float qdq_gemm_fold_eights(const float *lanes, size_t stride, size_t number, size_t count);

#endif
