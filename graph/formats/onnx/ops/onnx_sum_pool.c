// SPDX-License-Identifier: Apache-2.0
// Pools by adding slices of padded x, one for each place of the window.
#include "graph/formats/onnx/ops/onnx_sum_pool.h"

enum { MOST_PLACES = 256 };

// Returns the number of windows along a spatial dim; 0 if the window is larger than the padded dim.
static int64_t windows_of(const qdq_onnx_sum_pool *p, size_t d) {
    int64_t size = p->node->inputs[0]->shape.dims[d + 2];
    int64_t room = size + p->begin[d] + p->end[d] - (p->kernel[d] - 1) * p->dilations[d] - 1;
    return room < 0 || p->strides[d] < 1 ? 0 : room / p->strides[d] + 1;
}

static bool check(const qdq_onnx_sum_pool *p) {
    int64_t places = 1;
    for (size_t d = 0; d < p->spatial && places > 0 && places <= MOST_PLACES; d++)
        places = windows_of(p, d) > 0 && p->kernel[d] > 0 && p->dilations[d] > 0 &&
                         p->kernel[d] <= MOST_PLACES && p->begin[d] >= 0 && p->end[d] >= 0
                     ? places * p->kernel[d]
                     : 0;
    if (places == 0)
        qdq_onnx_refuse(p->node, "kernel_shape", "does not fit", "a window within padded x");
    else if (places > MOST_PLACES)
        qdq_onnx_refuse(p->node, "kernel_shape",
                        ONNX_TEXT(p->node, "has %lld places", (long long)places),
                        ONNX_TEXT(p->node, "at most %d with dilations", MOST_PLACES));
    return places > 0 && places <= MOST_PLACES;
}

static qdq_value padded(const qdq_onnx_sum_pool *p, qdq_value x) {
    int64_t pads[2 * QDQ_MAX_RANK], axes[QDQ_MAX_RANK], any = 0;
    for (size_t d = 0; d < p->spatial; d++) {
        axes[d] = (int64_t)d + 2;
        pads[d] = p->begin[d], pads[p->spatial + d] = p->end[d];
        any += p->begin[d] + p->end[d];
    }
    const qdq_onnx_term terms[] = {{.name = "sums", .value = x},
                                   {.name = "pads", .ints = {pads, 2 * p->spatial}},
                                   {.name = "axes", .ints = {axes, p->spatial}}};
    return any ? qdq_onnx_formula(p->node, p->row, "padded = Pad(sums, pads: pads, axes: axes)",
                                  terms, 3)
               : x;
}

qdq_value qdq_onnx_sum_windows(const qdq_onnx_sum_pool *p, qdq_value x) {
    int64_t starts[QDQ_MAX_RANK], ends[QDQ_MAX_RANK], axes[QDQ_MAX_RANK], place[QDQ_MAX_RANK] = {0};
    qdq_value sum = {0};
    if (!check(p) || !x.id) return sum;
    x = padded(p, x);
    for (bool more = true; more && x.id && !p->node->refused;) {
        for (size_t d = 0; d < p->spatial; d++) {
            axes[d] = (int64_t)d + 2;
            starts[d] = place[d] * p->dilations[d];
            ends[d] = starts[d] + (windows_of(p, d) - 1) * p->strides[d] + 1;
        }
        const qdq_onnx_term terms[] = {{.name = "padded", .value = x},
                                       {.name = "so_far", .value = sum},
                                       {.name = "starts", .ints = {starts, p->spatial}},
                                       {.name = "ends", .ints = {ends, p->spatial}},
                                       {.name = "axes", .ints = {axes, p->spatial}},
                                       {.name = "steps", .ints = {p->strides, p->spatial}}};
        sum = qdq_onnx_formula(
            p->node, p->row,
            sum.id ? "sum = Add(so_far, Slice(padded, starts: starts, ends: ends, axes: axes, "
                     "steps: steps))"
                   : "sum = Slice(padded, starts: starts, ends: ends, axes: axes, steps: steps)",
            terms, 6);
        size_t d = p->spatial;
        while (d > 0 && ++place[d - 1] == p->kernel[d - 1]) place[--d] = 0;
        more = d > 0;
    }
    return sum;
}

// Returns the number of counted places along a dim, for each window.
static qdq_onnx_value *counts_of(const qdq_onnx_sum_pool *p, size_t d) {
    int64_t size = p->node->inputs[0]->shape.dims[d + 2], count = windows_of(p, d);
    int64_t low = p->exclude ? 0 : -p->begin[d], high = size + (p->exclude ? 0 : p->counted[d]);
    double *counts = qdq_mempool_array(p->node->im->mempool, (size_t)count, sizeof *counts);
    for (int64_t o = 0; counts && o < count; o++)
        for (int64_t k = 0; k < p->kernel[d]; k++) {
            int64_t at = o * p->strides[d] + k * p->dilations[d] - p->begin[d];
            counts[o] += at >= low && at < high;
        }
    for (int64_t o = 0; counts && o < count; o++)
        if (counts[o] == 0) counts[o] = 1;  // a window without elements has the mean 0
    qdq_onnx_value *value =
        counts ? qdq_onnx_list_value(p->node, "counts", ONNX_FLOAT, counts, (size_t)count) : NULL;
    for (size_t i = d + 1; value && i < p->spatial; i++) value->shape.dims[value->shape.rank++] = 1;
    return value;
}

// Sums begin at 0, so a sum of -0 is 0.
void qdq_onnx_bind_mean(const qdq_onnx_sum_pool *p) {
    qdq_onnx_term terms[] = {{.name = "x", .input = p->node->inputs[0]},
                             {.name = "sum"},
                             {.name = "counts"},
                             {.name = "more"},
                             {.name = "zero", .number = 0}};
    if (!check(p)) return;
    terms[1].value = qdq_onnx_sum_windows(
        p, qdq_onnx_formula(p->node, p->row, "wide = Add(Cast(x, dtype: float32), zero)", terms,
                            sizeof terms / sizeof *terms));
    for (size_t d = 0; d < p->spatial; d++) {
        qdq_onnx_value *counts = counts_of(p, d);
        if (!counts || !terms[1].value.id) return;
        terms[3].value = qdq_onnx_ref(p->node, counts);
        terms[2].value =
            d ? qdq_onnx_formula(p->node, p->row, "counts = Multiply(counts, more)", terms, 4)
              : terms[3].value;
    }
    qdq_onnx_bind(
        p->node, 0,
        qdq_onnx_formula(p->node, p->row, "Cast(Divide(sum, counts), dtype: x)", terms, 3));
}
