// SPDX-License-Identifier: Apache-2.0
// Turns nodes that take images in either order: they follow their operands.
#include "graph/transform/channels_last/turning.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/reduce.h"
#include "runtime/base/words.h"

#define ELEMENTWISE                                                                            \
    "ReLU ReLU6 Clamp Sigmoid Tanh HardSwish HardSigmoid LeakyReLU Elu GELU Exp Abs Sqrt Add " \
    "Subtract Multiply Divide Maximum Minimum"

static qdq_shape shape_of(const qdq_turning *t, uint32_t id) {
    return t->from->values[id].type.shape;
}

// True if a node reads a turned image of a rank.
static bool reads_turned(const qdq_turning *t, const qdq_node *node, int rank) {
    for (size_t i = 0; i < node->input_count; i++)
        if (qdq_is_turned(t, node->inputs[i].id) && shape_of(t, node->inputs[i].id).rank == rank)
            return true;
    return false;
}

static qdq_value *new_inputs(qdq_turning *t, const qdq_node *node) {
    return qdq_mempool_array(&t->mempool, node->input_count, sizeof(qdq_value));
}

// Adds a node of one image; its further inputs stay unchanged.
static void add_one(qdq_turning *t, const qdq_node *node, void *attrs, bool last) {
    qdq_value *inputs = new_inputs(t, node);
    for (size_t i = 0; inputs && i < node->input_count; i++)
        inputs[i] =
            i ? qdq_plain_value(t, node->inputs[i].id) : qdq_turned_value(t, node->inputs[i].id);
    qdq_add_turned(t, node, attrs, inputs, last);
}

bool qdq_turn_elements(qdq_turning *t, const qdq_node *node) {
    int rank = shape_of(t, node->outputs[0]).rank;
    if (!qdq_has_word(ELEMENTWISE, node->op->name) || !reads_turned(t, node, rank)) return false;
    qdq_value *inputs = new_inputs(t, node);
    for (size_t i = 0; inputs && i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        bool one = qdq_shape_count(shape_of(t, id)) == 1 && !qdq_is_turned(t, id);
        inputs[i] = one                            ? qdq_plain_value(t, id)
                    : shape_of(t, id).rank == rank ? qdq_turned_value(t, id)
                                                   : qdq_turned_operand(t, id, rank);
    }
    qdq_add_turned(t, node, qdq_turned_attrs(t, node), inputs, true);
    return true;
}

// Returns the axis of a turned image for an axis of the first operand.
static qdq_int turned_axis(const qdq_turning *t, const qdq_node *node, qdq_int axis,
                           int otherwise) {
    int rank = shape_of(t, node->inputs[0].id).rank;
    int64_t given = axis.set == 0 ? otherwise : axis.value;
    return QDQ_INT(qdq_turned_dim(rank, (int)(given < 0 ? given + rank : given)));
}

bool qdq_turn_concat(qdq_turning *t, const qdq_node *node) {
    if (!reads_turned(t, node, shape_of(t, node->outputs[0]).rank)) return false;
    qdq_concat_attrs *attrs = qdq_turned_attrs(t, node);
    qdq_value *inputs = new_inputs(t, node);
    for (size_t i = 0; inputs && i < node->input_count; i++)
        inputs[i] = qdq_turned_value(t, node->inputs[i].id);
    if (attrs) attrs->axis = turned_axis(t, node, attrs->axis, 0);
    qdq_add_turned(t, node, attrs, inputs, true);
    return true;
}

// Returns axes of a turned image for a list of the operand's, or for its first `count`.
static qdq_ints turned_axes(qdq_turning *t, const qdq_node *node, qdq_ints axes, size_t count) {
    int rank = shape_of(t, node->inputs[0].id).rank;
    if (axes.count) count = axes.count;
    int64_t *all = qdq_mempool_array(&t->mempool, count, sizeof *all);
    for (size_t i = 0; all && i < count; i++) {
        int64_t axis = axes.count ? axes.data[i] : (int64_t)i;
        all[i] = qdq_turned_dim(rank, (int)(axis < 0 ? axis + rank : axis));
    }
    return (qdq_ints){all, all ? count : 0};
}

bool qdq_turn_slice(qdq_turning *t, const qdq_node *node) {
    qdq_slice_attrs *attrs =
        qdq_is_turned(t, node->inputs[0].id) ? qdq_turned_attrs(t, node) : NULL;
    if (!attrs) return false;
    attrs->axes = turned_axes(t, node, attrs->axes, attrs->starts.count);
    add_one(t, node, attrs, true);
    return true;
}

bool qdq_turn_pad(qdq_turning *t, const qdq_node *node) {
    qdq_pad_attrs *attrs = qdq_is_turned(t, node->inputs[0].id) ? qdq_turned_attrs(t, node) : NULL;
    if (!attrs) return false;
    qdq_ints axes = turned_axes(t, node, attrs->axes, (size_t)shape_of(t, node->inputs[0].id).rank);
    int64_t *pads = qdq_mempool_array(&t->mempool, 2 * QDQ_IMAGE_RANK, sizeof *pads);
    for (size_t i = 0; pads && i < axes.count; i++) {
        pads[axes.data[i]] = attrs->pads.data[i];
        pads[QDQ_IMAGE_RANK + axes.data[i]] = attrs->pads.data[axes.count + i];
    }
    attrs->axes = (qdq_ints){0};
    attrs->pads = (qdq_ints){pads, 2 * QDQ_IMAGE_RANK};
    add_one(t, node, attrs, true);
    return true;
}

// Turns a mean whose remaining dims keep their order, as [N, C] does.
bool qdq_turn_mean(qdq_turning *t, const qdq_node *node) {
    uint32_t x = node->inputs[0].id;
    qdq_reduce_attrs *attrs = qdq_is_turned(t, x) ? qdq_turned_attrs(t, node) : NULL;
    if (!attrs || !attrs->axes.count) return false;
    bool gone[QDQ_IMAGE_RANK] = {false}, keeps = attrs->keep_dims == QDQ_TRUE;
    qdq_ints axes = turned_axes(t, node, attrs->axes, 0);
    for (size_t i = 0; i < axes.count; i++) gone[axes.data[i]] = true;
    if (!keeps && shape_of(t, x).rank == QDQ_ROW_RANK) gone[1] = true;  // it has no rows
    if (!keeps && !gone[3] && !(gone[1] && gone[2])) return false;
    int64_t *all = qdq_mempool_array(&t->mempool, QDQ_IMAGE_RANK, sizeof *all);
    size_t count = 0;
    for (int i = 0; all && i < QDQ_IMAGE_RANK; i++)
        if (gone[i]) all[count++] = i;
    attrs->axes = (qdq_ints){all, count};
    attrs->global_pool = QDQ_UNSET;
    add_one(t, node, attrs, keeps);
    return true;
}

bool qdq_turn_softmax(qdq_turning *t, const qdq_node *node) {
    qdq_softmax_attrs *attrs =
        qdq_is_turned(t, node->inputs[0].id) ? qdq_turned_attrs(t, node) : NULL;
    if (!attrs || node->output_count != 1) return false;
    attrs->axis = turned_axis(t, node, attrs->axis, 1);
    add_one(t, node, attrs, true);
    return true;
}

// Turns a Gather of rows, columns or channels, as a resize by nearest elements has them.
bool qdq_turn_gather(qdq_turning *t, const qdq_node *node) {
    qdq_gather_attrs *attrs =
        qdq_is_turned(t, node->inputs[0].id) ? qdq_turned_attrs(t, node) : NULL;
    if (!attrs || shape_of(t, node->inputs[1].id).rank != 1) return false;
    attrs->axis = turned_axis(t, node, attrs->axis, 0);
    add_one(t, node, attrs, true);
    return true;
}

// A transpose between both orders is left out; another one transposes the turned image.
bool qdq_turn_transpose(qdq_turning *t, const qdq_node *node) {
    const qdq_transpose_attrs *given = node->attrs;
    uint32_t x = node->inputs[0].id, y = node->outputs[0];
    if (shape_of(t, x).rank != QDQ_IMAGE_RANK || given->order.count != QDQ_IMAGE_RANK) return false;
    int64_t *order = qdq_mempool_array(&t->mempool, QDQ_IMAGE_RANK, sizeof *order);
    bool to_first = true, to_last = true;
    for (int i = 0; order && i < QDQ_IMAGE_RANK; i++) {
        int dim = (int)given->order.data[i];
        to_first &= dim == qdq_turned_dim(QDQ_IMAGE_RANK, i);
        order[i] = qdq_turned_dim(QDQ_IMAGE_RANK, dim);
        to_last &= order[i] == i;
    }
    if (!order) return false;
    if (to_first && !qdq_is_turned(t, x)) t->turned[y] = qdq_plain_value(t, x);
    if (!qdq_is_turned(t, x)) return to_first;
    if (to_last) t->plain[y] = t->turned[x];
    if (to_last) return true;
    qdq_transpose_attrs *attrs = qdq_turned_attrs(t, node);
    if (attrs) attrs->order = (qdq_ints){order, QDQ_IMAGE_RANK};
    add_one(t, node, attrs, false);
    return true;
}

// A reshape of an image whose elements have the same order in a row reads it as it is.
bool qdq_turn_reshape(qdq_turning *t, const qdq_node *node) {
    uint32_t x = node->inputs[0].id;
    if (!qdq_is_turned(t, x) || t->plain[x].id) return false;
    qdq_shape image = qdq_turning_image(shape_of(t, x)), y = shape_of(t, node->outputs[0]);
    qdq_reshape_attrs *attrs = qdq_turned_attrs(t, node);
    if (!attrs || (image.dims[1] != 1 && image.dims[2] * image.dims[3] != 1)) return false;
    int64_t *dims = qdq_mempool_copy(&t->mempool, y.dims, (size_t)y.rank + 1, sizeof *dims);
    attrs->shape = (qdq_ints){dims, dims ? (size_t)y.rank : 0};
    attrs->special_zero = QDQ_FALSE;
    add_one(t, node, attrs, false);
    return true;
}
