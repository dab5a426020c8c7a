// SPDX-License-Identifier: Apache-2.0
// The order in which ONNX Runtime adds a product of float32, by docs/onnx.md.
#ifndef QDQ_TESTS_OPS_PRODUCTS_RUNTIME_CHUNKS_H
#define QDQ_TESTS_OPS_PRODUCTS_RUNTIME_CHUNKS_H

#include <math.h>
#include <stddef.h>

// The k of a chunk, of weights [m, k] that are not transposed by x [k, n].
static inline size_t runtime_chunk(size_t n, size_t k) {
    if (n >= k || n > 64) return 128;
    return n > 32 ? 256 : n > 16 ? 512 : 1024;
}

static inline float runtime_sum(const float *x, const float *w, size_t k, size_t chunk) {
    float sum = 0;
    for (size_t i = 0; i < k; i += chunk) {
        float own = 0;
        for (size_t j = i; j < k && j < i + chunk; j++) own = fmaf(x[j], w[j], own);
        sum = i ? sum + own : own;
    }
    return sum;
}

#endif
