// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/kernel.h"

#define ROW(family, x_dtype, y_dtype, fn) \
    { #fn, QDQ_FAMILY_##family, x_dtype, y_dtype, fn }

static const qdq_kernel kernels[] = {
    ROW(QUANTIZE, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, qdq_quantize_tile_portable),
    ROW(DEQUANTIZE, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, qdq_dequantize_tile_portable),
    ROW(REQUANTIZE, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, qdq_requantize_tile_portable),
    ROW(CAST, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, qdq_cast_tile_portable),
};

const qdq_kernel *qdq_kernels(size_t *count) {
    *count = sizeof kernels / sizeof kernels[0];
    return kernels;
}

qdq_tile_fn *qdq_kernel_find(qdq_family family, qdq_dtype x_dtype, qdq_dtype y_dtype) {
    qdq_tile_fn *fn = NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const qdq_kernel *k = &kernels[i];
        if (k->family == family && (!k->x_dtype || k->x_dtype == x_dtype) &&
            (!k->y_dtype || k->y_dtype == y_dtype))
            fn = k->fn;
    }
    return fn;
}
