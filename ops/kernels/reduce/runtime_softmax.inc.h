// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's SoftMax of a whole slice of float32 in vectors (ops/reduce/softmax.c): its
// greatest element, exponentials and their sum, and the quotients, without leaving registers
// between them. Short slices take longer in passes, which keep lanes in memory.
#include "ops/kernels/elementwise/runtime_vectors.inc.h"
#include "ops/kernels/reduce/quick_softmax.inc.h"

#if defined(QDQ_QUICK_VECTORS)

// The greatest and the least element. A NaN may get lost, but the sum is NaN then.
typedef struct softmax_range {
    float most, least;
} softmax_range;

static inline softmax_range softmax_range_of(const float *x, size_t n) {
    const size_t rest = n % QUICK_LANES;
    quick_floats most = quick_load_first(x + n - rest, rest, x[0]), least = most;
    for (size_t i = 0; i + QUICK_LANES <= n; i += QUICK_LANES) {
        most = quick_greater(most, quick_load(x + i));
        least = quick_lesser(least, quick_load(x + i));
    }
    return (softmax_range){quick_most(most), -quick_most(-least)};
}

static inline quick_floats softmax_exps(const float *x, quick_floats max, runtime_softmax form,
                                        float *y) {
    quick_floats e = runtime_softmax_exp(quick_load(x) - max, form);
    quick_store(y, e);
    return e;
}

static inline quick_floats softmax_first_exps(const float *x, size_t n, quick_floats max,
                                              runtime_softmax form, float *y) {
    quick_floats first = quick_load_first(x, n, form == RUNTIME_SOFTMAX_NEAR ? x[0] : -INFINITY);
    quick_floats e = runtime_softmax_exp(first - max, form);
    quick_store_first(y, n, e);
    return quick_keep_first(e, n);
}

// Makes the exponentials and returns their sum. A vector has all lanes, or half of them.
static inline float softmax_sum(const float *x, size_t n, float greatest, bool wide,
                                runtime_softmax form, float *y) {
    const int odd = wide && (int)QUICK_LANES < (int)QDQ_RUNTIME_WIDE_LANES;
    quick_floats max = quick_same(greatest), sums[2] = {quick_same(0.0f), quick_same(0.0f)};
    for (; n >= 2 * QUICK_LANES; n -= 2 * QUICK_LANES, x += 2 * QUICK_LANES, y += 2 * QUICK_LANES) {
        sums[0] += softmax_exps(x, max, form, y);
        sums[odd] += softmax_exps(x + QUICK_LANES, max, form, y + QUICK_LANES);
    }
    if (n >= QUICK_LANES) {
        sums[0] += softmax_exps(x, max, form, y);
        n -= QUICK_LANES, x += QUICK_LANES, y += QUICK_LANES;
        if (n) sums[odd] += softmax_first_exps(x, n, max, form, y);
    } else if (n) {
        sums[0] += softmax_first_exps(x, n, max, form, y);
    }
    __m256 lanes = quick_lower(sums[0]);
    if (wide) lanes = _mm256_add_ps(lanes, quick_upper(sums[odd]));
    return quick_sum_pairs(lanes);
}

static void softmax_scale(float *y, size_t n, float by) {
    quick_floats factor = quick_same(by);
    for (; n >= QUICK_LANES; n -= QUICK_LANES, y += QUICK_LANES)
        quick_store(y, quick_load(y) * factor);
    if (n) quick_store_first(y, n, quick_load_first(y, n, 0.0f) * factor);
}

static bool slice_runtime_softmax(const float *x, size_t n, bool wide, float *y) {
    if (n == 0 || (!wide && (int)QUICK_LANES > (int)QDQ_RUNTIME_LANES)) return false;
    softmax_range of = softmax_range_of(x, n);
    float sum;
    if (of.least - of.most >= runtime_softmax_near)
        sum = wide ? softmax_sum(x, n, of.most, true, RUNTIME_SOFTMAX_NEAR, y)
                   : softmax_sum(x, n, of.most, false, RUNTIME_SOFTMAX_NEAR, y);
    else
        sum = wide ? softmax_sum(x, n, of.most, true, RUNTIME_SOFTMAX_WIDE, y)
                   : softmax_sum(x, n, of.most, false, RUNTIME_SOFTMAX_NARROW, y);
    if (!(sum >= 1.0f)) return false;
    softmax_scale(y, n, 1.0f / sum);
    return true;
}

#else
#define slice_runtime_softmax NULL
#endif
