// SPDX-License-Identifier: Apache-2.0
// Softmax of a whole slice of float32, with the bits of its definition (ops/reduce/softmax.c).
// Exponentials and their sum are less exact than there, so that a quotient may differ by 2^-42 of
// itself. It is certain unless a point halfway between two floats lies that close.
#ifndef QDQ_OPS_KERNELS_REDUCE_QUICK_SOFTMAX_H
#define QDQ_OPS_KERNELS_REDUCE_QUICK_SOFTMAX_H

#include <float.h>

#include "ops/kernels/elementwise/quick_parts.inc.h"
#include "ops/kernels/reduce/reduce_kernels.h"

#if defined(QDQ_QUICK_VECTORS)

enum { SOFTMAX_WINDOW = 11 };

// A NaN may get lost, but it makes the sum NaN.
static inline float slice_most(const float *x, size_t n) {
    size_t i = 0, rest = n % QUICK_LANES;
    quick_floats most = quick_load_first(x + n - rest, rest, -INFINITY), other = most;
    for (; i + 2 * QUICK_LANES <= n; i += 2 * QUICK_LANES) {
        most = quick_greater(most, quick_load(x + i));
        other = quick_greater(other, quick_load(x + i + QUICK_LANES));
    }
    if (i + QUICK_LANES <= n) most = quick_greater(most, quick_load(x + i));
    return quick_most(quick_greater(most, other));
}

static inline quick_doubles softmax_near(quick_floats x, quick_doubles shift) {
    return quick_close_exp(quick_at_least(quick_subtract(quick_widen(x), shift), -700.0));
}

// The elements behind the last one add e^-700, which the sum loses.
static double softmax_near_sum(const float *x, size_t n, float max, double *e) {
    quick_doubles shift = quick_all((double)max), sums = quick_all(0.0);
    for (; n >= QUICK_LANES; n -= QUICK_LANES, x += QUICK_LANES, e += QUICK_LANES) {
        quick_doubles near = softmax_near(quick_load(x), shift);
        quick_store_doubles(e, near);
        sums = quick_add(sums, near);
    }
    if (n) {
        quick_doubles near = softmax_near(quick_load_first(x, n, -INFINITY), shift);
        quick_store_doubles(e, near);
        sums = quick_add(sums, near);
    }
    return half_sum(sums.low + sums.high);
}

// A NaN or an infinity that is the greatest element makes the sum NaN.
static bool slice_softmax(const float *x, size_t n, double *e, float *y) {
    double sum = softmax_near_sum(x, n, slice_most(x, n), e);
    if (!(sum >= 0.5)) return false;
    quick_doubles factor = quick_all(1.0 / sum);
    quick_mask again = mask_none();
    for (size_t i = 0; i < n; i += QUICK_LANES) {
        quick_doubles near = quick_multiply(quick_load_doubles(e + i), factor);
        quick_floats v = quick_narrow(near);
        again = mask_or(again, mask_or(quick_doubtful(near, SOFTMAX_WINDOW), quick_odd(v)));
        if (i + QUICK_LANES <= n)
            quick_store(y + i, v);
        else
            quick_store_first(y + i, n - i, v);
    }
    return !mask_any(again);
}

#else
#define slice_softmax NULL
#endif

#endif
