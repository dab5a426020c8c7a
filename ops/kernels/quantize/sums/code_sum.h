// SPDX-License-Identifier: Apache-2.0
// The sum of two tensors of codes as codes: Dequantize of both, Add and Quantize in registers, with
// the roundings of each.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_SUMS_CODE_SUM_H
#define QDQ_OPS_KERNELS_QUANTIZE_SUMS_CODE_SUM_H

#include "runtime/exec/plan.h"

// Bytes that stand for fl((code - zero_point) * scale), whose difference is exact.
typedef struct qdq_code_operand {
    qdq_dtype dtype;
    float scale;
    int32_t zero_point;
} qdq_code_operand;

// Parameters of its tile functions: x are the codes of the first operand, and view 0 has the codes
// of the second one, as bytes. The sum has the same dtype.
typedef struct qdq_code_sum {
    qdq_code_operand operands[2];
    qdq_tile_fn *quantize;  // the function, parameters and views of the Quantize of the sum
    const void *params;
    qdq_view views[2];
} qdq_code_sum;

// True if a function of an instruction set supports the arithmetic of these parameters.
typedef bool qdq_code_sum_takes_fn(const qdq_code_sum *sum);

// Returns the function for these parameters; NULL: none is faster than the tile functions one by
// one.
qdq_tile_fn *qdq_code_sum_find(const qdq_code_sum *sum);

#endif
