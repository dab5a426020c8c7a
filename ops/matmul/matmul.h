// SPDX-License-Identifier: Apache-2.0
// The shapes (as in numpy's matmul) and strides that all ops on matrices share.
#ifndef QDQ_OPS_MATMUL_MATMUL_H
#define QDQ_OPS_MATMUL_MATMUL_H

#include "ops/gemm/gemm.h"

// The inputs that are matrices, and how they lie.
typedef struct qdq_matmul_ports {
    size_t a, b;
    bool transpose_a, transpose_b;
} qdq_matmul_ports;

// [M, K] x [K, N], with the dims before them broadcast; a vector has no M or no N.
typedef struct qdq_matmul_dims {
    size_t m, n, k;
    bool a_vector, b_vector;
    qdq_shape a_batch, b_batch, batch;
    qdq_shape y;
} qdq_matmul_dims;

// False with a finding if the shapes do not go together. Both inputs are valid.
bool qdq_matmul_dims_of(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                        qdq_matmul_dims *dims);

// Sizes and strides of a, b and y in *gemm.
void qdq_matmul_lay_out(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                        const qdq_matmul_dims *dims, qdq_gemm *gemm);

// Sets the strides of float32 operands that lie in an `order` of dims, or of a b with a `repeat`.
// False if the product cannot read them so, or would take longer. No operand has one: true.
bool qdq_matmul_read_transposed(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                                const qdq_matmul_dims *dims, qdq_gemm *gemm);

// Replaces each `repeat` products that share a matrix of b by one product of all of their rows. It
// keeps the order of sums, which is set before.
void qdq_matmul_join_repeats(size_t repeat, qdq_gemm *gemm);

// Sets the strides of an input that is broadcast onto y.
void qdq_matmul_along(const qdq_op_context *ctx, const qdq_matmul_dims *dims, size_t port,
                      qdq_gemm_along *along, size_t *batch_strides);

// Scales and zero points of the rows of a, or of the columns of b: one element, [M] or [N], or
// [..., M, 1] or [..., 1, N] with the dims of the operand `of`. A finding if it is none of these.
bool qdq_matmul_check_parameter(const qdq_op_context *ctx, const qdq_matmul_dims *dims, size_t port,
                                size_t of, bool rows);
void qdq_matmul_row_parameter(const qdq_op_context *ctx, const qdq_matmul_dims *dims, size_t port,
                              qdq_gemm_along *along, size_t *batch_strides);
void qdq_matmul_column_parameter(const qdq_op_context *ctx, const qdq_matmul_dims *dims,
                                 size_t port, qdq_gemm_along *along, size_t *matrix_stride);

// Returns a product as ONNX Runtime sees it, which packs a matrix B that is a constant of the graph.
// `gemm` has its final rows.
qdq_runtime_product qdq_matmul_product(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                                       const qdq_matmul_dims *dims, const qdq_gemm *gemm);

// True if some sums of a MatMul of float32 have another order in ONNX Runtime with `threads`
// threads than with one.
bool qdq_matmul_depends_on_threads(const qdq_op_context *ctx, size_t threads);

// Replaces a batch of products that share b by one product, if only a and y depend on the batch.
void qdq_matmul_join_batch(const qdq_matmul_ports *ports, const qdq_matmul_dims *dims,
                           qdq_gemm *gemm);

#endif
