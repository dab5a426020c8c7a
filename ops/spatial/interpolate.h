// SPDX-License-Identifier: Apache-2.0
// The parameters of a stage of Interpolate.
#ifndef QDQ_OPS_SPATIAL_INTERPOLATE_H
#define QDQ_OPS_SPATIAL_INTERPOLATE_H

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
    bool nearest, align_corners;
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

#endif
