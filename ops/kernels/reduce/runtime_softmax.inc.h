// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's SoftMax of a whole slice of float32 in vectors (ops/reduce/softmax.c): its
// greatest element, exponentials and their sum, and the quotients, without leaving registers
// between them. Short slices take longer in passes, which keep lanes in memory.
#include "ops/kernels/elementwise/runtime_vectors.inc.h"
#include "ops/kernels/reduce/quick_softmax.inc.h"

#if defined(QDQ_QUICK_VECTORS)

static inline quick_floats softmax_exps(const float *x, quick_floats max, bool wide, float *y) {
    quick_floats e = runtime_softmax_exp(quick_load(x) - max, wide);
    quick_store(y, e);
    return e;
}

static inline quick_floats softmax_first_exps(const float *x, size_t n, quick_floats max, bool wide,
                                              float *y) {
    quick_floats e = runtime_softmax_exp(quick_load_first(x, n, -INFINITY) - max, wide);
    quick_store_first(y, n, e);
    return quick_keep_first(e, n);
}

// Makes the exponentials and returns their sum. A vector has all lanes, or half of them.
static inline float softmax_sum(const float *x, size_t n, float greatest, bool wide, float *y) {
    const int odd = wide && (int)QUICK_LANES < (int)QDQ_RUNTIME_WIDE_LANES;
    quick_floats max = quick_same(greatest), sums[2] = {quick_same(0.0f), quick_same(0.0f)};
    for (; n >= 2 * QUICK_LANES; n -= 2 * QUICK_LANES, x += 2 * QUICK_LANES, y += 2 * QUICK_LANES) {
        sums[0] += softmax_exps(x, max, wide, y);
        sums[odd] += softmax_exps(x + QUICK_LANES, max, wide, y + QUICK_LANES);
    }
    if (n >= QUICK_LANES) {
        sums[0] += softmax_exps(x, max, wide, y);
        n -= QUICK_LANES, x += QUICK_LANES, y += QUICK_LANES;
        if (n) sums[odd] += softmax_first_exps(x, n, max, wide, y);
    } else if (n) {
        sums[0] += softmax_first_exps(x, n, max, wide, y);
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
    if (!wide && (int)QUICK_LANES > (int)QDQ_RUNTIME_LANES) return false;
    float max = slice_most(x, n);
    float sum = wide ? softmax_sum(x, n, max, true, y) : softmax_sum(x, n, max, false, y);
    if (!(sum >= 1.0f)) return false;
    softmax_scale(y, n, 1.0f / sum);
    return true;
}

#else
#define slice_runtime_softmax NULL
#endif
