// SPDX-License-Identifier: Apache-2.0
// Reductions in Tenstorrent's matrix unit, one result at a time: sums over a tile, and the greatest
// element (docs/device_arithmetic.md 10).
#ifndef QDQ_RUNTIME_TENSTORRENT_FPU_REDUCE_H
#define QDQ_RUNTIME_TENSTORRENT_FPU_REDUCE_H

#include "runtime/tenstorrent/fpu.h"

enum { QDQ_FPU_SLICE = 2 * QDQ_FPU_DEPTH };  // elements of a slice in one tile

typedef struct qdq_fpu_reduction {
    qdq_multiply_add chip;
    int phases;       // 1 to 4
    bool dst32;       // the accumulator is float32, else bfloat16
    uint32_t scaler;  // a factor of every element
} qdq_fpu_reduction;

// Return dst plus the n elements of a slice in one tile; the rest of the slice is zero. Row: MVMUL,
// whose activations are elements. Column: GAPOOL, whose weights are elements.
uint32_t qdq_fpu_add_row(const qdq_fpu_reduction *r, uint32_t dst, const uint32_t *x, size_t n);
uint32_t qdq_fpu_add_column(const qdq_fpu_reduction *r, uint32_t dst, const uint32_t *x, size_t n);

// GMPOOL: the greater of dst and an element in the order of SFPSWAP. Zeros and denormals are +0.
uint32_t qdq_fpu_greater(uint32_t dst, uint32_t v);

#endif
