// SPDX-License-Identifier: Apache-2.0
// Products of few codes that become codes of a Quantize in registers: a 1x1 convolution with so few
// input channels that packing panels and storing sums would take longer than adding up.
#ifndef QDQ_OPS_KERNELS_GEMM_CODES_FEW_CODES_H
#define QDQ_OPS_KERNELS_GEMM_CODES_FEW_CODES_H

#include "ops/kernels/gemm/gemm.h"

enum {
    QDQ_FEW_CODES_DEPTH = 64,       // most k
    QDQ_FEW_CODES_POSITIONS = 256,  // most positions
    QDQ_FEW_CODES_GROUP = 64,       // positions that are computed together
};

typedef struct qdq_few_codes {
    const uint8_t *x;  // uint8, or int8 with `flip`; the positions of a k are neighbours
    size_t x_stride, depth;
    uint8_t flip;  // the bits that turn a code into uint8
    // For each row of results its weights, int8 with zeros up to a multiple of four, and the first
    // number of its sums.
    const char *const *weights;
    const int32_t *row_start;
    qdq_gemm_code_rows codes;  // rows, n, scale and bias of each row, fn, params, views, out
} qdq_few_codes;

// False: the kernel does not support the arithmetic of the Quantize, and does nothing.
typedef bool qdq_few_codes_fn(const qdq_few_codes *few);

// Returns the kernel whose instruction set has this function of a Quantize; NULL: none.
qdq_few_codes_fn *qdq_few_codes_find(qdq_tile_fn *quantize);

#endif
