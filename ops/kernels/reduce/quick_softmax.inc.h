// SPDX-License-Identifier: Apache-2.0
// Softmax of a whole slice of float32, with the bits of its definition (ops/reduce/softmax.c).
// Exponentials and their sum are less exact than there, so that a quotient may differ by 2^-42 of
// itself. It is certain unless a point halfway between two floats lies that close.
#include <float.h>
#include <string.h>

#include "ops/kernels/elementwise/quick_parts.inc.h"
#include "ops/kernels/reduce/reduce_kernels.h"

#if defined(QDQ_QUICK_VECTORS)

enum { SOFTMAX_WINDOW = 11 };

static float quick_greatest_of(const float *x, size_t n, const float *last) {
    float lanes[QUICK_LANES];
    quick_floats most = quick_load(last);
    for (size_t i = 0; i + QUICK_LANES <= n; i += QUICK_LANES)
        most = quick_greater(most, quick_load(x + i));
    quick_store(lanes, most);
    for (size_t width = QUICK_LANES / 2; width; width /= 2)
        for (size_t l = 0; l < width; l++)
            lanes[l] = lanes[l] > lanes[l + width] ? lanes[l] : lanes[l + width];
    return lanes[0];
}

static double quick_exps(const float *x, size_t n, const float *last, float max, double *e) {
    double lanes[QUICK_LANES];
    quick_doubles shift = quick_all((double)max), sums = quick_all(0.0);
    for (size_t i = 0; i < n; i += QUICK_LANES) {
        quick_doubles v = quick_widen(quick_load(i + QUICK_LANES <= n ? x + i : last));
        v = quick_close_exp(quick_at_least(quick_subtract(v, shift), -700.0));
        quick_store_doubles(e + i, v);
        sums = quick_add(sums, v);
    }
    quick_store_doubles(lanes, sums);
    for (size_t width = QUICK_LANES / 2; width; width /= 2)
        for (size_t l = 0; l < width; l++) lanes[l] += lanes[l + width];
    return lanes[0];
}

// The last vector is filled up with -Infinity. A NaN or an infinity that is the greatest element
// makes the sum NaN.
static bool slice_softmax(const float *x, size_t n, double *e, float *y) {
    float last[QUICK_LANES];
    size_t rest = n % QUICK_LANES;
    for (size_t l = 0; l < QUICK_LANES; l++) last[l] = l < rest ? x[n - rest + l] : -INFINITY;
    double sum = quick_exps(x, n, last, quick_greatest_of(x, n, last), e);
    if (!(sum >= 0.5)) return false;
    quick_doubles factor = quick_all(1.0 / sum);
    quick_mask again = mask_none();
    for (size_t i = 0; i < n; i += QUICK_LANES) {
        quick_doubles near = quick_multiply(quick_load_doubles(e + i), factor);
        quick_floats v = quick_narrow(near);
        again = mask_or(again, mask_or(quick_doubtful(near, SOFTMAX_WINDOW), quick_odd(v)));
        quick_store(i + QUICK_LANES <= n ? y + i : last, v);
    }
    memcpy(y + n - rest, last, rest * sizeof *y);
    return !mask_any(again);
}

#else
#define slice_softmax NULL
#endif
