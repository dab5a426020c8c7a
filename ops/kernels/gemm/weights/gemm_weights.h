// SPDX-License-Identifier: Apache-2.0
// Sums and rests of int8 weights, which packing finds.
#ifndef QDQ_OPS_KERNELS_GEMM_WEIGHTS_GEMM_WEIGHTS_H
#define QDQ_OPS_KERNELS_GEMM_WEIGHTS_GEMM_WEIGHTS_H

#include "ops/kernels/gemm/gemm.h"

enum { QDQ_GEMM_WEIGHTS_STRETCH = 64 };  // bytes that are split together

// Returns the sum of n weights, at most 2^24.
int32_t qdq_gemm_sum_weights(const int8_t *x, size_t n);

// Adds `rows` lines of weights, at most 2^24, to the sums of their columns. Lines are `stride`
// apart and have at most 32 columns.
void qdq_gemm_sum_weight_lines(const int8_t *x, size_t stride, size_t rows, size_t columns,
                               int32_t *sums);

// Returns at least the number of steps that qdq_gemm_split_row finds among at most
// QDQ_GEMM_ROW_BYTES weights. The last step ends with zeros.
size_t qdq_gemm_count_rest(const int8_t *row, size_t n);

// Splits n weights of a row (gemm_weights.c) and returns the number of steps that have a rest.
// Zeros follow them, up to a multiple of QDQ_GEMM_WEIGHTS_STRETCH.
size_t qdq_gemm_split_row(int8_t *row, size_t n, qdq_gemm_rest_step *rest);

#endif
