// SPDX-License-Identifier: Apache-2.0
// Tile functions of the ops. The portable one of a family takes every dtype and all numerics and is
// the definition; others take hot combinations and equal it bit for bit.
#ifndef QDQ_OPS_KERNELS_KERNEL_H
#define QDQ_OPS_KERNELS_KERNEL_H

#include "ops/quant.h"

typedef enum qdq_family {
    QDQ_FAMILY_QUANTIZE,
    QDQ_FAMILY_DEQUANTIZE,
    QDQ_FAMILY_REQUANTIZE,
    QDQ_FAMILY_CAST,
} qdq_family;

typedef struct qdq_kernel {
    const char *name;  // of the function, for tests and benchmarks
    qdq_family family;
    qdq_dtype x_dtype, y_dtype;  // QDQ_DTYPE_NONE: any
    qdq_tile_fn *fn;
} qdq_kernel;

// All kernels of this build, from the plainest to the most special.
const qdq_kernel *qdq_kernels(size_t *count);

// The last row that fits.
qdq_tile_fn *qdq_kernel_find(qdq_family family, qdq_dtype x_dtype, qdq_dtype y_dtype);

// Params of these: qdq_quant_params.
qdq_tile_fn qdq_quantize_tile_portable;
qdq_tile_fn qdq_dequantize_tile_portable;
qdq_tile_fn qdq_requantize_tile_portable;

// `numerics.float_overflow` is the op's `saturate`.
typedef struct qdq_cast_params {
    qdq_numerics numerics;
    qdq_dtype x_dtype, y_dtype;
    qdq_round_mode round_mode;
} qdq_cast_params;

// Params: qdq_cast_params; no views.
qdq_tile_fn qdq_cast_tile_portable;

#endif
