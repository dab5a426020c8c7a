// SPDX-License-Identifier: Apache-2.0
// The order in which ONNX Runtime's kernels of MatMulNBits add the products of a row and a column
// which k a lane takes, and how lanes are added in the end.
#ifndef QDQ_OPS_MATMUL_FUSED_NBITS_LANES_H
#define QDQ_OPS_MATMUL_FUSED_NBITS_LANES_H

#include <stdbool.h>

#include "ops/kernels/gemm/gemm_nbits.h"

typedef struct qdq_nbits_order {
    size_t rows, columns, block, blocks;  // of the product; k of a block; blocks of a column
    int bits;                             // 2 bits: blocks of 32, 64 or 128
    bool wide;      // 16 lanes, as AVX-512 with VNNI adds; else the 8 lanes of AVX2
    bool inside;    // zero points are subtracted from codes
    bool has_zero;  // the product has zero points
    bool floats;    // products of floats, in `lanes` lanes
    size_t lanes;
} qdq_nbits_order;

// Returns the number of k in the step from k on.
size_t qdq_nbits_step_size(const qdq_nbits_order *p, size_t k);
// Chooses which k each lane takes of a step of `size` k.
void qdq_nbits_lay_lanes(const qdq_nbits_order *p, size_t size, qdq_nbits_step *s);
// Returns the number of the first columns of `columns` from `column` on whose lanes take blocks one
// after another in a row of codes of 2 bits. Other columns add the sums of four blocks, blocks 0
// and 2, and 1 and 3.
size_t qdq_nbits_chained(const qdq_nbits_order *p, size_t row, size_t column, size_t columns);
// True if the 16 lanes of a column become 8 before its blocks that fill no step.
bool qdq_nbits_halves_early(const qdq_nbits_order *p);
// Adds the upper lanes of all columns to the lower ones.
void qdq_nbits_halve(float *lanes);
// Returns the sum of the lanes of a column of a row. `l` points to the first of them.
float qdq_nbits_sum(const qdq_nbits_order *p, float *l, size_t row, size_t column);

#endif
