// SPDX-License-Identifier: Apache-2.0
// How large shapes, tensors and graphs may be.
#include <stdio.h>

#include "graph/graph.h"
#include "runtime/dtype.h"

static const char *shape_text(qdq_graph *graph, qdq_shape shape) {
    char text[256];
    size_t at = 0;
    for (int i = 0; i < shape.rank && i < QDQ_MAX_RANK && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", i ? ", " : "",
                               (long long)shape.dims[i]);
    return qdq_text(&graph->findings, "[%s]", at ? text : "");
}

static bool check_shape(qdq_graph *graph, qdq_shape shape, qdq_subject subject) {
    bool legal = shape.rank >= 0 && shape.rank <= QDQ_MAX_RANK;
    for (int i = 0; legal && i < shape.rank; i++) legal = shape.dims[i] >= 1;
    if (!legal) {
        qdq_graph_find_core(graph, QDQ_RULE_SHAPE, subject,
                            shape.rank > QDQ_MAX_RANK
                                ? qdq_text(&graph->findings, "has rank %d", shape.rank)
                                : qdq_text(&graph->findings, "is %s", shape_text(graph, shape)),
                            "at most 8 dims, each at least 1");
        return false;
    }
    size_t count = 1;
    for (int i = 0; i < shape.rank; i++)
        if (__builtin_mul_overflow(count, (size_t)shape.dims[i], &count)) count = SIZE_MAX;
    if (count <= graph->limits.elements) return true;
    qdq_graph_find_core(graph, QDQ_RULE_SIZE, subject,
                        qdq_text(&graph->findings, "is %s", shape_text(graph, shape)),
                        qdq_text(&graph->findings, "at most %zu elements", graph->limits.elements));
    return false;
}

// The least tiles that hold a tensor row-major, which may be folded at any of its dims.
static size_t folded_tiles(qdq_shape shape) {
    size_t least = qdq_tiling_of(shape).tiles;
    for (int fold = 1; fold < shape.rank; fold++) {
        qdq_shape folded = {.rank = 2, .dims = {1, 1}};
        for (int i = 0; i < shape.rank; i++) folded.dims[i >= fold] *= shape.dims[i];
        size_t tiles = qdq_tiling_of(folded).tiles;
        if (tiles < least) least = tiles;
    }
    return least;
}

bool qdq_graph_check_bytes(qdq_graph *graph, qdq_type type, bool made, qdq_subject subject) {
    size_t bytes, size = qdq_tile_bytes(type.dtype);
    size_t parts = made ? qdq_tiling_of(type.shape).tiles : folded_tiles(type.shape);
    if (__builtin_mul_overflow(parts, size, &bytes) ||
        __builtin_add_overflow(graph->bytes, bytes, &graph->bytes))
        graph->bytes = SIZE_MAX;
    if (graph->bytes <= graph->limits.bytes) return true;
    qdq_graph_find_core(graph, QDQ_RULE_SIZE, subject,
                        qdq_text(&graph->findings,
                                 "brings all values to %zu bytes, padding included", graph->bytes),
                        qdq_text(&graph->findings, "at most %zu", graph->limits.bytes));
    return false;
}

bool qdq_graph_check_type(qdq_graph *graph, qdq_type type, const char *name, const char *kind) {
    bool legal = qdq_dtype_get(type.dtype) != NULL;
    if (!legal)
        qdq_graph_find_core(graph, QDQ_RULE_DTYPE_UNKNOWN, (qdq_subject){name, NULL, "dtype", kind},
                            qdq_text(&graph->findings, "is %d", (int)type.dtype), "a dtype");
    legal &= check_shape(graph, type.shape, (qdq_subject){name, NULL, "shape", kind});
    return legal &&
           qdq_graph_check_bytes(graph, type, false, (qdq_subject){name, NULL, "shape", kind});
}
