// SPDX-License-Identifier: Apache-2.0
// The elements and weights that a linear or cubic Resize sums up along a dim, with the roundings of
// ONNX Runtime: float32 throughout.
#include <math.h>
#include <string.h>

#include "graph/formats/onnx/ops/resize/onnx_resize.h"

enum { LINEAR_TAPS = 2, CUBIC_TAPS = 4, MOST_TAPS = 512, MOST_WEIGHTS = 1 << 22 };

static bool is_cubic(const qdq_onnx_resize *r) { return strcmp(r->mode, "cubic") == 0; }

static bool allocate(const qdq_onnx_resize *r, int dim, qdq_onnx_taps *taps, size_t count) {
    *taps = (qdq_onnx_taps){.count = count, .size = (size_t)r->out.dims[dim]};
    if (count > MOST_TAPS || count * taps->size > MOST_WEIGHTS) {
        qdq_onnx_refuse(r->node, "scales",
                        ONNX_TEXT(r->node, "sums %zu elements for each of %zu", count, taps->size),
                        ONNX_TEXT(r->node, "at most %d", MOST_TAPS));
        return false;
    }
    taps->index = qdq_mempool_array(r->node->im->mempool, count * taps->size, sizeof(double));
    taps->weight = qdq_mempool_array(r->node->im->mempool, count * taps->size, sizeof(double));
    return taps->index && taps->weight;
}

//---- Linear -----------------------------------------------------------------

// Both weights are 1/2 where the last element is read twice.
static void linear_taps(const qdq_onnx_resize *r, int dim, qdq_onnx_taps *taps, size_t o) {
    int64_t size = r->in.dims[dim];
    float at = (float)qdq_onnx_clamped((double)qdq_onnx_position(r, dim, (int64_t)o), size);
    int64_t first = (int64_t)at, second = first + 1 < size ? first + 1 : size - 1;
    taps->index[o] = (double)first;
    taps->index[taps->size + o] = (double)second;
    taps->weight[o] = first == second ? 0.5 : (double)fabsf(at - (float)second);
    taps->weight[taps->size + o] = first == second ? 0.5 : (double)fabsf(at - (float)first);
}

//---- Cubic ------------------------------------------------------------------

// Sets the weights of the elements before the position (two) and after it, at distance s from the
// second.
static void cubic_weights(float a, float s, float w[CUBIC_TAPS]) {
    w[0] = ((a * (s + 1.0f) - 5.0f * a) * (s + 1.0f) + 8.0f * a) * (s + 1.0f) - 4.0f * a;
    w[1] = ((a + 2.0f) * s - (a + 3.0f)) * s * s + 1.0f;
    w[2] = ((a + 2.0f) * (1.0f - s) - (a + 3.0f)) * (1.0f - s) * (1.0f - s) + 1.0f;
    w[3] = ((a * (2.0f - s) - 5.0f * a) * (2.0f - s) + 8.0f * a) * (2.0f - s) - 4.0f * a;
}

static void cubic_taps(const qdq_onnx_resize *r, int dim, qdq_onnx_taps *taps, size_t o) {
    float at = qdq_onnx_position(r, dim, (int64_t)o), floor = floorf(at), w[CUBIC_TAPS], sum = 0;
    int64_t size = r->in.dims[dim];
    cubic_weights(r->cubic_a, at - floor, w);
    for (int t = 0; t < CUBIC_TAPS; t++) {
        double index = (double)floor - 1.0 + t;
        if (r->exclude_outside && (index < 0.0 || index >= (double)size)) w[t] = 0.0f;
        sum += w[t];
        taps->index[(size_t)t * taps->size + o] = qdq_onnx_clamped(index, size);
    }
    bool divides = r->exclude_outside && !taps->divisor;
    for (size_t t = 0; t < CUBIC_TAPS; t++)
        taps->weight[t * taps->size + o] = (double)(divides ? w[t] / sum : w[t]);
    if (taps->divisor) taps->divisor[o] = (double)sum;
}

//---- Antialias --------------------------------------------------------------

static float filter(const qdq_onnx_resize *r, float x) {
    float a = r->cubic_a;
    x = fabsf(x);
    if (!is_cubic(r)) return x < 1.0f ? 1.0f - x : 0.0f;
    if (x < 1.0f) return ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
    return x < 2.0f ? (((x - 5.0f) * x + 8.0f) * x - 4.0f) * a : 0.0f;
}

// A filter that is stretched where the result is smaller than x.
typedef struct antialias {
    float support, shrink;
} antialias;

static antialias filter_of(const qdq_onnx_resize *r, int dim) {
    float scale = 1.0f / (float)r->ratio[dim], support = is_cubic(r) ? 2.0f : 1.0f;
    return (antialias){scale >= 1.0f ? support * scale : support,
                       scale >= 1.0f ? 1.0f / scale : 1.0f};
}

// Sets the taps with antialias: elements outside of x count as elements at its border, or are left
// out. The weights of a border are added in this order.
static void antialias_taps(const qdq_onnx_resize *r, int dim, qdq_onnx_taps *taps, size_t o) {
    antialias f = filter_of(r, dim);
    int64_t size = r->in.dims[dim];
    float center = 0.5f + qdq_onnx_position(r, dim, (int64_t)o), w[MOST_TAPS + 1], sum = 0.0f;
    int64_t begin = (int64_t)floorf(center - f.support + 0.5f);
    int64_t end = (int64_t)floorf(center + f.support + 0.5f);
    int64_t low = begin > 0 ? begin : 0, high = end < size ? end : size;
    if (r->exclude_outside) begin = low, end = high;
    size_t n = 0;
    for (int64_t x = begin; x < end && n < MOST_TAPS; x++, n++) {
        w[n] = filter(r, ((float)x - center + 0.5f) * f.shrink);
        sum += w[n];
    }
    if (high <= low) high = low + 1;
    size_t before = begin < 0 ? (size_t)-begin : 0, after = end > size ? (size_t)(end - size) : 0;
    for (size_t i = 0; i < before && before < n; i++) w[before] += w[i];
    for (size_t i = n - after; after && after < n && i < n; i++) w[n - after - 1] += w[i];
    float inverse = sum == 0.0f ? 1.0f : 1.0f / sum;
    for (size_t t = 0; t < taps->count; t++) {
        bool used = (int64_t)t < high - low && before + t < n;
        taps->index[t * taps->size + o] =
            qdq_onnx_clamped((double)(low + (used ? (int64_t)t : 0)), size);
        taps->weight[t * taps->size + o] = used ? (double)(w[before + t] * inverse) : 0.0;
    }
}

// Leaves out the last taps if all their weights are 0.
static void trim(qdq_onnx_taps *taps) {
    for (; taps->count > 1; taps->count--)
        for (size_t o = 0; o < taps->size; o++)
            if (taps->weight[(taps->count - 1) * taps->size + o] != 0.0) return;
}

bool qdq_onnx_find_taps(const qdq_onnx_resize *r, int dim, qdq_onnx_taps *taps) {
    float width = 2.0f * ceilf(filter_of(r, dim).support) + 1.0f;
    size_t window = width > (float)MOST_TAPS ? MOST_TAPS + 1 : (size_t)width;
    size_t count = r->antialias ? window : is_cubic(r) ? CUBIC_TAPS : LINEAR_TAPS;
    if (!allocate(r, dim, taps, count)) return false;
    if (r->exclude_outside && !r->antialias && dim + 1 < r->in.rank) {
        taps->divisor = qdq_mempool_array(r->node->im->mempool, taps->size, sizeof(double));
        if (!taps->divisor) return false;
    }
    for (size_t o = 0; o < taps->size; o++) {
        if (r->antialias)
            antialias_taps(r, dim, taps, o);
        else if (is_cubic(r))
            cubic_taps(r, dim, taps, o);
        else
            linear_taps(r, dim, taps, o);
    }
    if (r->antialias) trim(taps);
    return true;
}
