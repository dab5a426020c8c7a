// SPDX-License-Identifier: Apache-2.0
// The parameters of a stage of Interpolate.
#ifndef QDQ_OPS_SPATIAL_INTERPOLATE_H
#define QDQ_OPS_SPATIAL_INTERPOLATE_H

#include "include/qdq/ops/spatial.h"
#include "ops/op.h"
#include "ops/spatial/window.h"

struct qdq_resize_kernels;

// A position between element at[0] and element at[1]; `weight` is the weight of at[1]. Weight 0:
// at[0] alone.
typedef struct qdq_position {
    size_t at[2];
    double weight;
} qdq_position;

typedef struct qdq_interpolate_params {
    qdq_dtype x_dtype, y_dtype;
    bool nearest;
    qdq_coordinates coordinates;
    bool codes;       // the dtypes are of a byte, which is copied
    size_t channels;  // neighbours in memory: 1 unless they are last
    const struct qdq_resize_kernels *kernels;
    size_t in[QDQ_MAX_SPATIAL], out[QDQ_MAX_SPATIAL];  // missing dims are 1
    const qdq_position *at[QDQ_MAX_SPATIAL];           // positions along each dim
    // Along the last dim, if channels are not neighbours: the same as arrays.
    const size_t *before, *after;
    const double *weights;
    bool twice;  // positions 2 * i and 2 * i + 1 of the last dim are element before[0] + i
} qdq_interpolate_params;

// Returns the position in x of element `o` along a dim, in float32, as ONNX Runtime computes it;
// `scale` is given, or out / in.
static inline float qdq_interpolate_position(qdq_coordinates coordinates, float scale, size_t in,
                                             size_t out, size_t o) {
    if (scale == 1.0f) return (float)o;
    if (coordinates == QDQ_ASYMMETRIC_POSITIONS) return (float)o / scale;
    if (coordinates == QDQ_HALF_PIXEL) return ((float)o + 0.5f) / scale - 0.5f;
    return out == 1 ? 0.0f : (float)o * (float)(in - 1) / (float)(out - 1);
}

// True if a node is computed by qdq_interpolate_corners_stage.
bool qdq_interpolate_adds_corners(const qdq_op_context *ctx, const qdq_numerics *numerics);

// Writes the stage of a linear Interpolate of float32 as ONNX Runtime computes it. `sizes` has the
// dims, channels and coordinates. False when memory runs out.
bool qdq_interpolate_corners_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                                   const qdq_interpolate_params *sizes, qdq_stage *stage);

#endif
