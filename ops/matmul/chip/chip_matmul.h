// SPDX-License-Identifier: Apache-2.0
// Products of matrices as the matrix unit of a Tenstorrent chip computes them: b is SrcA, a is
// SrcB, and each phase of each 16 products is rounded into the accumulator.
#ifndef QDQ_OPS_MATMUL_CHIP_CHIP_MATMUL_H
#define QDQ_OPS_MATMUL_CHIP_CHIP_MATMUL_H

#include "ops/gemm/gemm.h"
#include "ops/kernels/fpu/fpu_tile.h"

typedef struct qdq_chip_matmul {
    qdq_gemm gemm;  // sizes, strides, operands
    qdq_fpu_mode mode;
    qdq_fpu_tile_fn *tile;
} qdq_chip_matmul;

// True if the matrix unit is known to add a bias to sums of 16 bits: in the product's kernel and in
// an Add after it the bits are the same.
bool qdq_chip_matmul_adds(qdq_dtype y, qdq_dtype bias, bool dst32);

// Makes the stage; a unit is a block of one product.
void qdq_chip_matmul_stage(const qdq_chip_matmul *chip, qdq_stage *stage);

#endif
