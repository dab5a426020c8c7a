// SPDX-License-Identifier: Apache-2.0
// Products of matrices as the matrix unit of a Tenstorrent chip computes them: b is SrcA, a is
// SrcB, and each phase of each 16 products is rounded into the accumulator.
#ifndef QDQ_OPS_PRODUCTS_CHIP_MATMUL_H
#define QDQ_OPS_PRODUCTS_CHIP_MATMUL_H

#include "ops/products/gemm.h"

typedef struct qdq_chip_matmul {
    qdq_gemm gemm;  // sizes, strides, operands
    qdq_multiply_add chip;
    int phases;  // 1 to 4
    bool dst32;  // the accumulator has float32, else bfloat16
} qdq_chip_matmul;

// Makes the stage; a unit is one row of one product.
void qdq_chip_matmul_stage(const qdq_chip_matmul *chip, qdq_stage *stage);

#endif
