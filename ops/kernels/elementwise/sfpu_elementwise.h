// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one operand that the vector unit of a Tenstorrent chip (SFPU) computes
// by a program (runtime/tenstorrent/sfpu_ops.h).
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_SFPU_ELEMENTWISE_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_SFPU_ELEMENTWISE_H

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/tenstorrent/sfpu_ops.h"

// The parameters of the functions below.
typedef struct qdq_sfpu_params {
    qdq_sfpu_program program;
    const uint16_t *table;  // the result of every bfloat16, or NULL
} qdq_sfpu_params;

// Finds the program of a function for an operand and a result of this dtype. False: the numerics
// are not a chip's, or no program is known for the dtype or the numbers.
bool qdq_sfpu_program_of(qdq_elementwise function, const qdq_elementwise_numbers *numbers,
                         const qdq_numerics *n, qdq_dtype dtype, qdq_sfpu_program *out);

// Returns the function that runs a program on float32 or bfloat16.
qdq_tile_fn *qdq_sfpu_tile_fn(const qdq_sfpu_params *params, qdq_dtype dtype);

#endif
