// SPDX-License-Identifier: Apache-2.0
// Softmax of a whole slice of float32, with the bits of its definition (ops/reduce/softmax.c).
// Exponentials and their sum are less exact than there, so that a quotient may differ by 2^-42 of
// itself. It is certain unless a point halfway between two floats lies that close.
#ifndef QDQ_OPS_KERNELS_REDUCE_QUICK_SOFTMAX_INC_H
#define QDQ_OPS_KERNELS_REDUCE_QUICK_SOFTMAX_INC_H

#include <float.h>

#include "ops/kernels/elementwise/quick_parts.inc.h"
#include "ops/kernels/reduce/reduce_kernels.h"

#if defined(QDQ_QUICK_VECTORS)

enum { SOFTMAX_WINDOW = 11 };

// A NaN may get lost, but the sum is NaN then.
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

static inline quick_doubles softmax_near(quick_two x, quick_doubles shift) {
    return quick_close_exp(quick_at_least(quick_subtract(quick_widen(x), shift), -700.0));
}

// The elements behind the last one add e^-700, which the sum loses.
static double softmax_near_sum(const float *x, size_t n, float max, double *e) {
    quick_doubles shift = quick_all((double)max), sums = quick_all(0.0);
    for (; n >= QUICK_TWO; n -= QUICK_TWO, x += QUICK_TWO, e += QUICK_TWO) {
        quick_doubles near = softmax_near(two_load(x), shift);
        quick_store_doubles(e, near);
        sums = quick_add(sums, near);
    }
    if (n) {
        quick_doubles near = softmax_near(two_load_first(x, n, -INFINITY), shift);
        wide_store(e, near.a);
        if (n > QUICK_LANES) wide_store(e + QUICK_LANES, near.b);
        sums = quick_add(sums, near);
    }
    return half_sum((sums.a.low + sums.a.high) + (sums.b.low + sums.b.high));
}

// Stores the quotients of the first n elements of a vector; returns which of them are uncertain.
static inline quick_mask softmax_end(quick_wide near, size_t n, float *y) {
    quick_floats v = wide_narrow(near);
    if (n >= QUICK_LANES)
        quick_store(y, v);
    else
        quick_store_first(y, n, v);
    return mask_or(quick_doubtful(near, SOFTMAX_WINDOW), quick_odd(v));
}

// The sum is NaN if the greatest element is a NaN or an infinity.
static bool slice_softmax(const float *x, size_t n, double *e, float *y) {
    double sum = softmax_near_sum(x, n, slice_most(x, n), e);
    if (!(sum >= 0.5)) return false;
    quick_doubles factor = quick_all(1.0 / sum);
    quick_mask again = mask_none();
    for (; n >= QUICK_TWO; n -= QUICK_TWO, e += QUICK_TWO, y += QUICK_TWO) {
        quick_doubles near = quick_multiply(quick_load_doubles(e), factor);
        again = mask_or(again, softmax_end(near.a, QUICK_LANES, y));
        again = mask_or(again, softmax_end(near.b, QUICK_LANES, y + QUICK_LANES));
    }
    while (n) {
        const size_t part = n < QUICK_LANES ? n : QUICK_LANES;
        quick_wide near = wide_load(e);
        near = (quick_wide){near.low * factor.a.low, near.high * factor.a.high};
        again = mask_or(again, softmax_end(near, part, y));
        n -= part, e += part, y += part;
    }
    return !mask_any(again);
}

#else
#define slice_softmax NULL
#endif

#endif
