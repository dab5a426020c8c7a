// SPDX-License-Identifier: Apache-2.0
// The portable kernel of products in a Tenstorrent chip's arithmetic, and the table of all of them.
#include "ops/kernels/fpu/fpu_tile.h"

#include "runtime/tenstorrent/fpu.h"

void qdq_fpu_tile_portable(const qdq_fpu_mode *mode, size_t rows, size_t columns,
                           uint32_t (*a)[QDQ_FPU_TILE], uint32_t (*b)[QDQ_FPU_COLUMNS],
                           uint32_t (*sums)[QDQ_FPU_COLUMNS]) {
    qdq_fpu_operand activations[QDQ_FPU_ROWS][QDQ_FPU_TILE], weights[QDQ_FPU_TILE];
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < QDQ_FPU_TILE; i++)
            activations[row][i] = qdq_fpu_activation(a[row][i]);
    for (size_t column = 0; column < columns; column++) {
        for (size_t i = 0; i < QDQ_FPU_TILE; i++) weights[i] = qdq_fpu_weight(b[i][column]);
        for (size_t row = 0; row < rows; row++)
            for (int phase = 0; phase < mode->phases; phase++)
                for (size_t half = 0; half < QDQ_FPU_TILE; half += QDQ_FPU_DEPTH)
                    sums[row][column] =
                        qdq_fpu_mvmul(mode->chip, mode->dst32, phase, sums[row][column],
                                      weights + half, activations[row] + half);
    }
}

typedef struct row {
    qdq_isa isa;
    qdq_fpu_tile_fn *fn;
} row;

#define ROW(ISA, isa) {QDQ_ISA_##ISA, qdq_fpu_tile_##isa},
static const row rows[] = {QDQ_KERNEL_ISAS(ROW)};

qdq_fpu_tile_fn *qdq_fpu_tile_find(uint32_t isas) {
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return best->fn;
}
