// SPDX-License-Identifier: Apache-2.0
// Products of matrices in the arithmetic of Tenstorrent's matrix unit, a tile of 32 of the depth at
// a time. The portable kernel calls qdq_fpu_mvmul, the definition; all others equal it bit for bit.
#ifndef QDQ_OPS_KERNELS_FPU_FPU_TILE_H
#define QDQ_OPS_KERNELS_FPU_FPU_TILE_H

#include "include/qdq/numerics.h"
#include "ops/kernels/best_row.h"

enum {
    QDQ_FPU_TILE = 32,     // of the depth
    QDQ_FPU_ROWS = 16,     // of a at most
    QDQ_FPU_COLUMNS = 64,  // of b at most
};

typedef struct qdq_fpu_mode {
    qdq_multiply_add chip;
    int phases;  // 1 to 4
    bool dst32;  // sums are float32, else bfloat16
} qdq_fpu_mode;

// Adds the products of one tile of the depth to `rows` x `columns` sums. Elements are patterns of
// float32, zeros where the depth ends. Columns up to the next multiple of 32 are read and written
// as well; their sums mean nothing.
typedef void qdq_fpu_tile_fn(const qdq_fpu_mode *mode, size_t rows, size_t columns,
                             uint32_t (*a)[QDQ_FPU_TILE], uint32_t (*b)[QDQ_FPU_COLUMNS],
                             uint32_t (*sums)[QDQ_FPU_COLUMNS]);

#define QDQ_FPU_DECLARE(ISA, isa) extern qdq_fpu_tile_fn qdq_fpu_tile_##isa;
QDQ_KERNEL_ISAS(QDQ_FPU_DECLARE)

// Returns the best kernel for the instruction sets `isas`.
qdq_fpu_tile_fn *qdq_fpu_tile_find(uint32_t isas);

#endif
