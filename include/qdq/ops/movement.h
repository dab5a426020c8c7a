// SPDX-License-Identifier: Apache-2.0
// Ops that move elements and compute nothing. They take any dtype.
#ifndef QDQ_OPS_MOVEMENT_H
#define QDQ_OPS_MOVEMENT_H

#include <qdq/ops/node.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qdq_concat_attrs {
    const char *name;
    qdq_values xs;  // 1 to 64, of one dtype, with equal dims except on the axis
    qdq_int axis;   // required
} qdq_concat_attrs;

static inline qdq_value qdq_concat(qdq_graph *graph, qdq_concat_attrs attrs) {
    return qdq_add_node(graph, "Concat", &attrs, sizeof attrs);
}

typedef struct qdq_reshape_attrs {
    const char *name;
    qdq_value x;
    qdq_ints shape;         // required; one dim may be -1
    qdq_bool special_zero;  // required; true: 0 means the dim of x; false: 0 is refused
} qdq_reshape_attrs;

static inline qdq_value qdq_reshape(qdq_graph *graph, qdq_value x, qdq_reshape_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "StaticReshape", &attrs, sizeof attrs);
}

typedef struct qdq_transpose_attrs {
    const char *name;
    qdq_value x;
    qdq_ints order;  // dim i of y is dim order[i] of x; empty: reversed
} qdq_transpose_attrs;

static inline qdq_value qdq_transpose(qdq_graph *graph, qdq_value x, qdq_transpose_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "StaticTranspose", &attrs, sizeof attrs);
}

QDQ_UNARY_CALL(qdq_reorder, "Reorder")  // y = x: a graph has no memory layouts

// y = x, at another place of a device: say which by qdq_set_memory_config, or for qdq_to_layout by
// qdq_set_layout, about y. A result never depends on them.
QDQ_UNARY_CALL(qdq_to_memory_config, "ToMemoryConfig")
QDQ_UNARY_CALL(qdq_interleaved_to_sharded, "InterleavedToSharded")
QDQ_UNARY_CALL(qdq_sharded_to_interleaved, "ShardedToInterleaved")
QDQ_UNARY_CALL(qdq_reshard, "Reshard")
QDQ_UNARY_CALL(qdq_to_layout, "ToLayout")

typedef struct qdq_gen_index_attrs {
    const char *name;
    qdq_value x;   // its values are not used
    qdq_int axis;  // required
} qdq_gen_index_attrs;

// y = the index of each element on the axis, int32.
static inline qdq_value qdq_gen_index(qdq_graph *graph, qdq_value x, qdq_gen_index_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "GenIndex", &attrs, sizeof attrs);
}

typedef struct qdq_slice_attrs {
    const char *name;
    qdq_value x;
    qdq_ints starts, ends;  // required; negative: from the end; clamped to the dim
    qdq_ints axes;          // empty: the first dims
    qdq_ints steps;         // empty: 1; negative: backwards
} qdq_slice_attrs;

// y = the indices of x from starts to ends (exclusive), in steps. A split is a slice for each part.
static inline qdq_value qdq_slice(qdq_graph *graph, qdq_value x, qdq_slice_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Slice", &attrs, sizeof attrs);
}

// The elements that Pad adds: a number; x mirrored at its edge; the edge; x from its other end.
typedef enum qdq_pad_mode {
    QDQ_PAD_CONSTANT = 0,
    QDQ_PAD_REFLECT,
    QDQ_PAD_EDGE,
    QDQ_PAD_WRAP,
} qdq_pad_mode;

typedef struct qdq_pad_attrs {
    const char *name;
    qdq_value x;
    qdq_value value;  // mode constant: one element of the dtype of x; none: 0
    qdq_ints pads;    // required: before each of the axes, then after; negative: indices removed
    qdq_ints axes;    // empty: all dims
    qdq_pad_mode mode;
} qdq_pad_attrs;

static inline qdq_value qdq_pad(qdq_graph *graph, qdq_value x, qdq_pad_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Pad", &attrs, sizeof attrs);
}

typedef struct qdq_expand_attrs {
    const char *name;
    qdq_value x;
    qdq_ints shape;  // x and this shape are broadcast to each other
} qdq_expand_attrs;

static inline qdq_value qdq_expand(qdq_graph *graph, qdq_value x, qdq_expand_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Expand", &attrs, sizeof attrs);
}

typedef struct qdq_tile_attrs {
    const char *name;
    qdq_value x;
    qdq_ints repeats;  // required, one for each dim
} qdq_tile_attrs;

// y = x, repeated along its dims.
static inline qdq_value qdq_tile(qdq_graph *graph, qdq_value x, qdq_tile_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Tile", &attrs, sizeof attrs);
}

typedef struct qdq_gather_attrs {
    const char *name;
    qdq_value x;
    qdq_value indices;  // int32, int64, uint32 or uint64; negative: from the end
    qdq_int axis;       // default 0
} qdq_gather_attrs;

// Gather: y[i, j, k] = x[i, indices[j], k] for axis 1; `indices` may have any number of dims.
static inline qdq_value qdq_gather(qdq_graph *graph, qdq_value x, qdq_value indices,
                                   qdq_gather_attrs attrs) {
    attrs.x = x, attrs.indices = indices;
    return qdq_add_node(graph, "Gather", &attrs, sizeof attrs);
}

// GatherElements: y[i, j, k] = x[i, indices[i, j, k], k] for axis 1.
static inline qdq_value qdq_gather_elements(qdq_graph *graph, qdq_value x, qdq_value indices,
                                            qdq_gather_attrs attrs) {
    attrs.x = x, attrs.indices = indices;
    return qdq_add_node(graph, "GatherElements", &attrs, sizeof attrs);
}

typedef struct qdq_gather_nd_attrs {
    const char *name;
    qdq_value x;
    qdq_value indices;  // int32, int64, uint32 or uint64; the last dim has the indices of one place
    qdq_int batch_dims;  // default 0
} qdq_gather_nd_attrs;

// GatherND: y[i, j] = x[indices[i, 0], indices[i, 1], j] for a last dim of 2.
static inline qdq_value qdq_gather_nd(qdq_graph *graph, qdq_value x, qdq_value indices,
                                      qdq_gather_nd_attrs attrs) {
    attrs.x = x, attrs.indices = indices;
    return qdq_add_node(graph, "GatherND", &attrs, sizeof attrs);
}

// How Scatter ops combine an update with the element at its place.
typedef enum qdq_reduction {
    QDQ_REDUCTION_NONE = 0,  // the update replaces it; the last one counts
    QDQ_REDUCTION_ADD,
    QDQ_REDUCTION_MUL,
    QDQ_REDUCTION_MAX,
    QDQ_REDUCTION_MIN,
} qdq_reduction;

typedef struct qdq_scatter_attrs {
    const char *name;
    qdq_value x;
    qdq_value indices;  // int32, int64, uint32 or uint64; negative: from the end
    qdq_value updates;  // of the dtype of x
    qdq_int axis;       // of ScatterElements; default 0
    qdq_reduction reduction;
} qdq_scatter_attrs;

// ScatterElements: y = x, then y[i, indices[i, j, k], k] = updates[i, j, k] for axis 1.
static inline qdq_value qdq_scatter_elements(qdq_graph *graph, qdq_value x, qdq_value indices,
                                             qdq_value updates, qdq_scatter_attrs attrs) {
    attrs.x = x, attrs.indices = indices, attrs.updates = updates;
    return qdq_add_node(graph, "ScatterElements", &attrs, sizeof attrs);
}

// ScatterND: y = x, then y[indices[i, 0], indices[i, 1], j] = updates[i, j] for a last dim of 2.
static inline qdq_value qdq_scatter_nd(qdq_graph *graph, qdq_value x, qdq_value indices,
                                       qdq_value updates, qdq_scatter_attrs attrs) {
    attrs.x = x, attrs.indices = indices, attrs.updates = updates;
    return qdq_add_node(graph, "ScatterND", &attrs, sizeof attrs);
}

// The order of the channels of DepthToSpace: which pixel of the block, then channel of y; or the
// reverse.
typedef enum qdq_depth_mode { QDQ_DEPTH_DCR = 0, QDQ_DEPTH_CRD } qdq_depth_mode;

typedef struct qdq_blocks_attrs {
    const char *name;
    qdq_value x;          // [N, C, H, W]
    qdq_int blocksize;    // required
    qdq_depth_mode mode;  // of DepthToSpace
} qdq_blocks_attrs;

// DepthToSpace: [N, C, H, W] to [N, C / b^2, H * b, W * b].
static inline qdq_value qdq_depth_to_space(qdq_graph *graph, qdq_value x, qdq_blocks_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "DepthToSpace", &attrs, sizeof attrs);
}

// SpaceToDepth: [N, C, H, W] to [N, C * b^2, H / b, W / b], the reverse of mode DCR.
static inline qdq_value qdq_space_to_depth(qdq_graph *graph, qdq_value x, qdq_blocks_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "SpaceToDepth", &attrs, sizeof attrs);
}

typedef struct qdq_trilu_attrs {
    const char *name;
    qdq_value x;
    qdq_bool upper;  // default true
    qdq_int k;       // default 0, the main diagonal; 1: right of it
} qdq_trilu_attrs;

// y = x on the diagonal and above it (or below), else 0.
static inline qdq_value qdq_trilu(qdq_graph *graph, qdq_value x, qdq_trilu_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Trilu", &attrs, sizeof attrs);
}

typedef struct qdq_eye_attrs {
    const char *name;
    qdq_value x;      // its values are not used
    qdq_dtype dtype;  // default: that of x
    qdq_int k;        // default 0, the main diagonal; 1: right of it
} qdq_eye_attrs;

// y = 1 on the diagonal, else 0.
static inline qdq_value qdq_eye_like(qdq_graph *graph, qdq_value x, qdq_eye_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "EyeLike", &attrs, sizeof attrs);
}

typedef struct qdq_one_hot_attrs {
    const char *name;
    qdq_value indices;  // int32, int64, uint32 or uint64; negative: from the end; out of range: no
                        // element is on
    qdq_value values;   // [off value, on value]
    qdq_int depth;      // required: the size of the new dim
    qdq_int axis;       // default -1: the new dim is the last
} qdq_one_hot_attrs;

static inline qdq_value qdq_one_hot(qdq_graph *graph, qdq_value indices, qdq_value values,
                                    qdq_one_hot_attrs attrs) {
    attrs.indices = indices, attrs.values = values;
    return qdq_add_node(graph, "OneHot", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
