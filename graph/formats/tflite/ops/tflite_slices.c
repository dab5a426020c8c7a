// SPDX-License-Identifier: Apache-2.0
// Converts SLICE, STRIDED_SLICE, SPLIT and SPLIT_V, each part as a Slice.
#include <stdio.h>

#include "graph/formats/tflite/ops/tflite_ops.h"

//---- SLICE ------------------------------------------------------------------

// A size of -1 is the rest of the dim.
void qdq_tflite_slice(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    int64_t begin[QDQ_MAX_RANK], size[QDQ_MAX_RANK], end[QDQ_MAX_RANK];
    size_t count, sizes;
    bool known;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    size_t rank = (size_t)shape.rank;
    if (!known || !qdq_tflite_ints(node, 1, "begin", QDQ_MAX_RANK, begin, &count) ||
        !qdq_tflite_ints(node, 2, "size", QDQ_MAX_RANK, size, &sizes))
        return;
    bool fits = count == rank && sizes == rank;
    for (size_t i = 0; fits && i < rank; i++) {
        int64_t rest = shape.dims[i] - begin[i];
        fits = begin[i] >= 0 && rest >= 0 && size[i] >= -1 && size[i] <= rest;
        end[i] = size[i] == -1 ? shape.dims[i] : begin[i] + size[i];
    }
    if (!fits) {
        qdq_tflite_refuse(
            node, "size", "and begin do not fit",
            TFLITE_TEXT(node, "parts of %s", qdq_shape_text(&node->im->graph->findings, shape)));
        return;
    }
    qdq_tflite_bind(
        node, 0,
        qdq_slice(
            node->im->graph, x,
            (qdq_slice_attrs){.name = node->name, .starts = {begin, rank}, .ends = {end, rank}}));
}

//---- STRIDED_SLICE ----------------------------------------------------------

// Begins, ends and steps of the first dims, and the masks of the options: a bit for each dim.
typedef struct strides {
    int64_t begin[QDQ_MAX_RANK], end[QDQ_MAX_RANK], step[QDQ_MAX_RANK];
    size_t count;
    int64_t begin_mask, end_mask, shrink_mask;
} strides;

static bool read_strides(qdq_tflite_node *node, int rank, strides *s) {
    static const char *const names[] = {"begin", "end", "strides"};
    int64_t *lists[] = {s->begin, s->end, s->step};
    for (size_t i = 0; i < 3; i++) {
        size_t count;
        if (!qdq_tflite_ints(node, i + 1, names[i], (size_t)rank, lists[i], &count)) return false;
        if (i > 0 && count != s->count) {
            qdq_tflite_refuse(node, names[i], TFLITE_TEXT(node, "has %zu numbers", count),
                              TFLITE_TEXT(node, "%zu, as begin", s->count));
            return false;
        }
        s->count = count;
    }
    s->begin_mask = qdq_tflite_int(node, 0, QDQ_FLAT_I32, 0);
    s->end_mask = qdq_tflite_int(node, 1, QDQ_FLAT_I32, 0);
    s->shrink_mask = qdq_tflite_int(node, 4, QDQ_FLAT_I32, 0);
    int64_t ellipsis = qdq_tflite_int(node, 2, QDQ_FLAT_I32, 0);
    int64_t axes = qdq_tflite_int(node, 3, QDQ_FLAT_I32, 0);
    int64_t offset = qdq_tflite_int(node, 5, QDQ_FLAT_I8, 0);
    if (!ellipsis && !axes && !offset) return true;
    qdq_tflite_refuse(node,
                      ellipsis ? "ellipsis_mask"
                      : axes   ? "new_axis_mask"
                               : "offset",
                      "is set", "0");
    return false;
}

// Sets the bounds of a masked dim, and of a dim that is dropped: its element at `begin`. False
// after a refusal.
static bool set_bounds(qdq_tflite_node *node, qdq_shape shape, size_t i, strides *s) {
    bool backwards = s->step[i] < 0;
    int64_t dim = shape.dims[i];
    if (s->shrink_mask >> i & 1) {
        int64_t at = s->begin[i] < 0 ? s->begin[i] + dim : s->begin[i];
        if (s->begin_mask >> i & 1) at = 0;
        if (at < 0 || at >= dim) {
            qdq_tflite_refuse(node, "begin", TFLITE_TEXT(node, "is %lld", (long long)s->begin[i]),
                              TFLITE_TEXT(node, "an index of dim %zu of %lld", i, (long long)dim));
            return false;
        }
        s->begin[i] = at, s->end[i] = at + 1, s->step[i] = 1;
        return true;
    }
    if (s->begin_mask >> i & 1) s->begin[i] = backwards ? dim - 1 : 0;
    if (s->end_mask >> i & 1) s->end[i] = backwards ? -dim - 1 : dim;
    return true;
}

void qdq_tflite_strided_slice(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    strides s = {0};
    bool known;
    qdq_graph *graph = node->im->graph;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !read_strides(node, shape.rank, &s)) return;
    for (size_t i = 0; i < s.count; i++)
        if (!set_bounds(node, shape, i, &s)) return;
    bool shrinks = (s.shrink_mask & ((1 << s.count) - 1)) != 0;
    qdq_value y =
        qdq_slice(graph, x,
                  (qdq_slice_attrs){.name = shrinks ? qdq_tflite_helper(node, "slice") : node->name,
                                    .starts = {s.begin, s.count},
                                    .ends = {s.end, s.count},
                                    .steps = {s.step, s.count}});
    qdq_shape cut = qdq_tflite_shape(node, y, &known), kept = {0};
    if (!shrinks) qdq_tflite_bind(node, 0, y);
    if (!shrinks || !known) return;
    for (int i = 0; i < cut.rank; i++)
        if ((size_t)i >= s.count || !(s.shrink_mask >> i & 1)) kept.dims[kept.rank++] = cut.dims[i];
    qdq_tflite_bind(node, 0,
                    qdq_reshape(graph, y,
                                (qdq_reshape_attrs){.name = node->name,
                                                    .shape = {kept.dims, (size_t)kept.rank},
                                                    .special_zero = QDQ_FALSE}));
}

//---- Splits -----------------------------------------------------------------

// Binds output i to `size` indices of an axis from `first` on.
static void bind_part(qdq_tflite_node *node, size_t i, qdq_value x, int axis, int64_t first,
                      int64_t size) {
    const qdq_tflite_tensor *out = node->outputs[i];
    const int64_t axes[] = {axis}, starts[] = {first}, ends[] = {first + size};
    if (!out || node->refused) return;
    qdq_tflite_bind(node, i,
                    qdq_slice(node->im->graph, x,
                              (qdq_slice_attrs){.name = out->name,
                                                .starts = {starts, 1},
                                                .ends = {ends, 1},
                                                .axes = {axes, 1}}));
}

// Reads the axis of a split at an input. False after a refusal.
static bool split_axis(qdq_tflite_node *node, size_t input, qdq_shape shape, int *axis) {
    int64_t given;
    size_t count;
    if (!qdq_tflite_ints(node, input, "axis", 1, &given, &count)) return false;
    if (count == 1) return qdq_tflite_axis(node, given, shape.rank, axis);
    qdq_tflite_refuse(node, "axis", "has no element", "one");
    return false;
}

void qdq_tflite_split(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    bool known;
    int axis;
    qdq_value x = qdq_tflite_ref(node, 1, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !split_axis(node, 0, shape, &axis)) return;
    int64_t parts = (int64_t)node->output_count, dim = shape.dims[axis];
    if (dim % parts) {
        qdq_tflite_refuse(node, "num_splits", TFLITE_TEXT(node, "is %lld", (long long)parts),
                          TFLITE_TEXT(node, "a divisor of %lld", (long long)dim));
        return;
    }
    for (int64_t i = 0; i < parts; i++)
        bind_part(node, (size_t)i, x, axis, i * (dim / parts), dim / parts);
}

// The parts have the sizes of the second input, of which one may be -1: the rest.
void qdq_tflite_split_v(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    bool known;
    int axis;
    int64_t sizes[64], sum = 0, first = 0;
    size_t count, open = SIZE_MAX;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !split_axis(node, 2, shape, &axis) ||
        !qdq_tflite_ints(node, 1, "size_splits", 64, sizes, &count))
        return;
    bool fits = count == node->output_count;
    for (size_t i = 0; fits && i < count; i++) {
        bool rest = sizes[i] == -1 && open == SIZE_MAX;
        if (rest) open = i;
        fits = rest || (sizes[i] >= 1 && sizes[i] <= shape.dims[axis]);
        sum += rest ? 0 : sizes[i];
    }
    if (fits && open != SIZE_MAX) sizes[open] = shape.dims[axis] - sum, sum += sizes[open];
    if (!fits || sum != shape.dims[axis] || (open != SIZE_MAX && sizes[open] < 1)) {
        qdq_tflite_refuse(node, "size_splits", "do not fit",
                          TFLITE_TEXT(node, "%zu sizes whose sum is %lld", node->output_count,
                                      (long long)shape.dims[axis]));
        return;
    }
    for (size_t i = 0; i < count; first += sizes[i++]) bind_part(node, i, x, axis, first, sizes[i]);
}
