// SPDX-License-Identifier: Apache-2.0
// Requantize as two tile functions with bfloat16 between them: Dequantize, then Quantize. Each may
// be a vector kernel.
#include "ops/kernels/kernel.h"

enum { PART = 1024 };  // elements of bfloat16 that lie in the L1 cache

static qdq_view view_from(qdq_view view, size_t at) {
    return (qdq_view){view.data + at * view.step, view.step};
}

void qdq_requantize_pair_tile(const void *params, const qdq_view *views, const void *x, void *y,
                              size_t n) {
    const qdq_pair_params *p = params;
    size_t x_size = qdq_dtype_size(p->first.x_dtype), y_size = qdq_dtype_size(p->second.y_dtype);
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        uint16_t real[PART];
        qdq_view v[4];
        for (int k = 0; k < 4; k++) v[k] = view_from(views[k], at);
        p->dequantize(&p->first, v, (const char *)x + at * x_size, real, part);
        p->quantize(&p->second, v + 2, real, (char *)y + at * y_size, part);
    }
}
