// SPDX-License-Identifier: Apache-2.0
// A multiply-add of float32 that rounds once, on every target. C libraries may round twice where the
// processor has no instruction for it: musl as emscripten and wasi ship it, newlib for Cortex-M.
#ifndef QDQ_RUNTIME_NUMERICS_FMA_H
#define QDQ_RUNTIME_NUMERICS_FMA_H

#include <stdint.h>
#include <string.h>

// x * y + z, rounded once. The product is exact in double. The sum is rounded to odd: if it is
// inexact, to that of the two doubles around it whose last bit is 1. Rounding this double to float
// gives the result of one rounding (Boldo and Melquiond, 2008). NaN operands give a NaN.
static inline float qdq_fmaf(float x, float y, float z) {
#if defined(__FMA__) || defined(__aarch64__) || defined(__FP_FAST_FMAF)
    return __builtin_fmaf(x, y, z);
#else
    double product = (double)x * (double)y, sum = product + (double)z;
    double part = sum - product, lost = (product - (sum - part)) + ((double)z - part);
    if (sum - sum == 0.0 && lost != 0.0) {
        uint64_t bits;
        memcpy(&bits, &sum, sizeof bits);
        if (!(bits & 1)) bits = (lost > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1;
        memcpy(&sum, &bits, sizeof sum);
    }
    return (float)sum;
#endif
}

#endif
