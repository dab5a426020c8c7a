// SPDX-License-Identifier: Apache-2.0
// Ops over the spatial dims of images: pooling and interpolation.
#ifndef QDQ_OPS_SPATIAL_H
#define QDQ_OPS_SPATIAL_H

#include <qdq/ops/node.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qdq_pool_rounding { QDQ_POOL_ROUND_FLOOR = 0, QDQ_POOL_ROUND_CEIL } qdq_pool_rounding;

typedef struct qdq_pool_attrs {
    const char *name;
    qdq_value x;
    qdq_ints strides, kernel;       // one per spatial dim; required
    qdq_ints pads_begin, pads_end;  // required; empty: zeros
    qdq_ints dilations;             // MaxPool only; default 1
    qdq_bool exclude_pad;           // AvgPool only; required; true: divide by the elements inside x
    qdq_pool_rounding rounding_type;
    qdq_auto_pad auto_pad;
    qdq_data_format data_format;
    qdq_bool columns_first;  // AvgPool only; targets onnx and ort, float32: as ONNX Runtime's
                             // AveragePool before opset 19. Default false
} qdq_pool_attrs;

static inline qdq_value qdq_avg_pool(qdq_graph *graph, qdq_value x, qdq_pool_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "AvgPool", &attrs, sizeof attrs);
}

// Padding is never the maximum; a NaN always is.
static inline qdq_value qdq_max_pool(qdq_graph *graph, qdq_value x, qdq_pool_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "MaxPool", &attrs, sizeof attrs);
}

typedef enum qdq_interpolate_mode {
    QDQ_NEAREST = 0,
    QDQ_LINEAR,
    QDQ_BILINEAR,  // the last two mean the same as linear
    QDQ_TRILINEAR,
} qdq_interpolate_mode;

// A mode that may be left out: QDQ_MODE(QDQ_LINEAR).
typedef struct qdq_maybe_interpolate_mode {
    float set;  // 0 or QDQ_GIVEN
    qdq_interpolate_mode value;
} qdq_maybe_interpolate_mode;

#ifndef __cplusplus
#define QDQ_MODE(v) ((qdq_maybe_interpolate_mode){QDQ_GIVEN, (v)})
#else
#define QDQ_MODE(v) (qdq_maybe_interpolate_mode{QDQ_GIVEN, (v)})
#endif

// The position in x of element o of y, of `out` elements, along a dim of `in` elements.
typedef enum qdq_coordinates {
    QDQ_HALF_PIXEL = 0,        // (o + 0.5) * in / out - 0.5
    QDQ_ALIGN_CORNERS,         // o * (in - 1) / (out - 1); 0 if out is 1
    QDQ_ASYMMETRIC_POSITIONS,  // o * in / out
} qdq_coordinates;

typedef struct qdq_interpolate_attrs {
    const char *name;
    qdq_value x;
    qdq_maybe_interpolate_mode mode;  // required
    qdq_ints sizes;                   // one per spatial dim; give either sizes or scales
    qdq_floats scales;                // one per spatial dim; the dim of y is trunc(in * scale)
    qdq_coordinates coordinate_transformation_mode;
    qdq_data_format data_format;
} qdq_interpolate_attrs;

static inline qdq_value qdq_interpolate(qdq_graph *graph, qdq_value x,
                                        qdq_interpolate_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Interpolate", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
