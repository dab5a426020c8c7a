// SPDX-License-Identifier: Apache-2.0
// A Resize or Upsample that is being converted, and its numbers. Positions and weights are computed
// in float32, in ONNX Runtime's order.
#ifndef QDQ_GRAPH_FORMATS_ONNX_OPS_RESIZE_ONNX_RESIZE_H
#define QDQ_GRAPH_FORMATS_ONNX_OPS_RESIZE_ONNX_RESIZE_H

#include "graph/formats/onnx/ops/onnx_formula.h"

typedef struct qdq_onnx_resize {
    qdq_onnx_node *node;
    const qdq_onnx_op *row;
    const char *mode, *coordinates, *nearest;
    qdq_shape in, out;
    double ratio[QDQ_MAX_RANK];
    float begin[QDQ_MAX_RANK],
        end[QDQ_MAX_RANK];  // roi: the part of x that tf_crop_and_resize uses
    float cubic_a, extrapolation;
    bool antialias, exclude_outside;
} qdq_onnx_resize;

// Along a dim every element of the result is a sum: tap t adds element index[t * size + o] of x,
// times weight[t * size + o], divided by divisor[o] unless `divisor` is NULL. `size` is the dim's
// size in the result.
typedef struct qdq_onnx_taps {
    size_t count, size;
    double *index, *weight, *divisor;
} qdq_onnx_taps;

static inline double qdq_onnx_clamped(double at, int64_t size) {
    return at < 0.0 ? 0.0 : at > (double)(size - 1) ? (double)(size - 1) : at;
}

// True if the dim is scaled or cropped.
static inline bool qdq_onnx_moves(const qdq_onnx_resize *r, int dim) {
    return r->ratio[dim] != 1.0 || r->begin[dim] != 0.0f || r->end[dim] != 1.0f;
}

// onnx_resize.c: the position in x of element `o` along a dim. NaN for an unknown word.
float qdq_onnx_position(const qdq_onnx_resize *r, int dim, int64_t o);
bool qdq_onnx_crops(const qdq_onnx_resize *r);

// onnx_resize_taps.c: the taps of a dim; false after a refusal, or if memory ran out.
bool qdq_onnx_find_taps(const qdq_onnx_resize *r, int dim, qdq_onnx_taps *taps);

// onnx_resize_sum.c: adds the nodes of a linear or cubic Resize as weighted sums.
void qdq_onnx_resize_by_sums(const qdq_onnx_resize *r);
// Gives positions outside of x along `dim` the extrapolation value; all others keep `value`.
// `last`: the node computes the output.
qdq_value qdq_onnx_extrapolated(const qdq_onnx_resize *r, qdq_value value, int dim, bool last);

#endif
