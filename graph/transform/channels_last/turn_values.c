// SPDX-License-Identifier: Apache-2.0
// Values of a copy in both orders of dims.
#include <string.h>

#include "graph/core/copy.h"
#include "graph/core/names.h"
#include "graph/transform/channels_last/turning.h"
#include "include/qdq/ops/movement.h"

static const int64_t to_last[] = {0, 2, 3, 1}, to_first[] = {0, 3, 1, 2};

const char *qdq_turning_name(qdq_turning *t, const char *stem, const char *ending) {
    return qdq_copy_name(&t->mempool, t->from, t->to, stem, ending);
}

bool qdq_is_turned(const qdq_turning *t, uint32_t id) {
    return id && t->turned[id].id && t->from->values[id].type.shape.rank >= QDQ_ROW_RANK;
}

bool qdq_turning_constant(const qdq_turning *t, uint32_t id, const float **data) {
    const qdq_graph_value *v = &t->from->values[id];
    *data = NULL;
    if (id && v->kind == QDQ_VALUE_CONSTANT && v->type.dtype == QDQ_FLOAT32)
        *data = qdq_value_data(t->from, (qdq_value){id});
    return *data != NULL;
}

qdq_shape qdq_turning_image(qdq_shape shape) {
    if (shape.rank != QDQ_ROW_RANK) return shape;
    return (qdq_shape){QDQ_IMAGE_RANK, {shape.dims[0], shape.dims[1], 1, shape.dims[2]}};
}

// Returns the shape with dims of 1 in front up to a rank.
static qdq_shape raised(qdq_shape shape, int rank) {
    qdq_shape more = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        int dim = i - (rank - shape.rank);
        more.dims[i] = dim < 0 ? 1 : shape.dims[dim];
    }
    return more;
}

static qdq_shape turned_shape(qdq_shape image) {
    return (qdq_shape){QDQ_IMAGE_RANK,
                       {image.dims[0], image.dims[2], image.dims[3], image.dims[1]}};
}

// True if an image has the same elements in a row in both orders.
static bool is_flat(qdq_shape image) {
    return image.dims[1] == 1 || image.dims[2] * image.dims[3] == 1;
}

static qdq_value reshaped(qdq_turning *t, qdq_value x, const char *name, qdq_shape shape) {
    return qdq_reshape(t->to, x,
                       (qdq_reshape_attrs){.name = name,
                                           .shape = {shape.dims, (size_t)shape.rank},
                                           .special_zero = QDQ_FALSE});
}

static qdq_value transposed(qdq_turning *t, qdq_value x, const char *name, const int64_t *order,
                            int rank) {
    return qdq_transpose(t->to, x,
                         (qdq_transpose_attrs){.name = name, .order = {order, (size_t)rank}});
}

static const int64_t swap[] = {0, 2, 1};  // channels and columns of rows

// Returns an image in the order of the graph, which has `shape`.
static qdq_value turned_back(qdq_turning *t, qdq_value x, const char *stem, qdq_shape shape) {
    const char *name = qdq_turning_name(t, stem, "_channels_first");
    qdq_shape image = qdq_turning_image(shape);
    if (is_flat(image)) return reshaped(t, x, name, shape);
    if (shape.rank == QDQ_IMAGE_RANK) return transposed(t, x, name, to_first, shape.rank);
    qdq_shape rows = {QDQ_ROW_RANK, {shape.dims[0], shape.dims[2], shape.dims[1]}};
    x = reshaped(t, x, qdq_turning_name(t, stem, "_rows"), rows);
    return transposed(t, x, name, swap, QDQ_ROW_RANK);
}

qdq_value qdq_plain_value(qdq_turning *t, uint32_t id) {
    const qdq_graph_value *v = &t->from->values[id];
    if (!id || t->plain[id].id) return t->plain[id];
    if (v->kind != QDQ_VALUE_MADE) {
        t->plain[id] = qdq_copy_given(t->to, v->name, v);
        if (v->original) qdq_graph_set_original(t->to, t->plain[id], v->original);
    } else if (t->turned[id].id) {
        t->plain[id] = turned_back(t, t->turned[id], v->name, v->type.shape);
    }
    return t->plain[id];
}

// Adds a constant with turned elements.
static qdq_value turned_constant(qdq_turning *t, const char *name, qdq_shape image,
                                 const float *data) {
    qdq_value made = {0};
    qdq_shape shape = turned_shape(image);
    float *to = qdq_graph_add_constant(t->to, name, QDQ_FLOAT32, shape, &made);
    size_t channels = (size_t)image.dims[1], area = (size_t)(image.dims[2] * image.dims[3]);
    for (size_t i = 0; to && i < qdq_shape_count(image); i++) {
        size_t at = i % area, channel = i / area % channels, batch = i / area / channels;
        to[(batch * area + at) * channels + channel] = data[i];
    }
    return made;
}

// Returns a value of the copy, whose shape is `shape`, as a turned image.
static qdq_value turned_image(qdq_turning *t, qdq_value x, const char *stem, qdq_shape shape) {
    const char *name = qdq_turning_name(t, stem, "_channels_last");
    qdq_shape image = qdq_turning_image(shape);
    if (is_flat(image)) return reshaped(t, x, name, turned_shape(image));
    if (shape.rank == QDQ_IMAGE_RANK) return transposed(t, x, name, to_last, shape.rank);
    x = transposed(t, x, qdq_turning_name(t, stem, "_rows"), swap, QDQ_ROW_RANK);
    return reshaped(t, x, name, turned_shape(image));
}

qdq_value qdq_turned_value(qdq_turning *t, uint32_t id) {
    if (!id || t->turned[id].id) return t->turned[id];
    return t->turned[id] = qdq_turned_operand(t, id, t->from->values[id].type.shape.rank);
}

qdq_value qdq_turned_operand(qdq_turning *t, uint32_t id, int rank) {
    const qdq_graph_value *v = &t->from->values[id];
    qdq_shape given = v->type.shape, shape = raised(given, rank);
    const float *data;
    if (given.rank == rank && t->turned[id].id) return t->turned[id];
    if (qdq_turning_constant(t, id, &data))
        return turned_constant(t, qdq_turning_name(t, v->name, "_channels_last"),
                               qdq_turning_image(shape), data);
    qdq_value x = qdq_plain_value(t, id);
    if (given.rank < rank && !is_flat(qdq_turning_image(shape)))
        x = reshaped(t, x, qdq_turning_name(t, v->name, "_image"), shape);
    return turned_image(t, x, v->name, shape);
}

void *qdq_turned_attrs(qdq_turning *t, const qdq_node *node) {
    return qdq_mempool_copy(&t->mempool, node->attrs, node->op->attrs_size, 1);
}

void qdq_add_turned(qdq_turning *t, const qdq_node *node, void *attrs, const qdq_value *inputs,
                    bool last) {
    qdq_node changed = *node;
    if (!attrs || !inputs) return;
    changed.attrs = attrs;
    changed.free_list = NULL;
    (void)qdq_copy_whole_node(t->to, &changed, inputs, last ? t->turned : t->plain);
}
