// SPDX-License-Identifier: Apache-2.0
// Converts ONNX's ops that move elements, and ops without effect.
#include <string.h>

#include "graph/formats/onnx/ops/onnx_ops.h"

bool qdq_onnx_axis(qdq_onnx_node *node, int64_t axis, int rank, int *out) {
    *out = (int)(axis < 0 ? axis + rank : axis);
    if (axis >= -rank && axis < rank) return true;
    *out = 0;
    qdq_onnx_refuse(node, "axis", ONNX_TEXT(node, "is %lld", (long long)axis),
                    ONNX_TEXT(node, "%d to %d", -rank, rank - 1));
    return false;
}

bool qdq_onnx_list_of(qdq_onnx_node *node, size_t i, const char *name, qdq_ints *out) {
    qdq_onnx_value *value = qdq_onnx_input(node, i);
    *out = (qdq_ints){0};
    if (!value) {
        (void)qdq_onnx_int_list(node, name, out);
        return true;
    }
    if (!qdq_onnx_known(node->im, value) || !value->ints) {
        qdq_onnx_refuse(
            node, name,
            ONNX_TEXT(node, "are '%.128s', %s", value->name, qdq_onnx_why_unknown(node, value)),
            "whole numbers that are known before a run");
        return false;
    }
    *out = (qdq_ints){value->ints, qdq_onnx_count(value->shape)};
    return true;
}

// Parts without elements are left out, unless all are.
void qdq_onnx_concat(qdq_onnx_node *node, const qdq_onnx_op *row) {
    (void)row;
    bool some = false;
    size_t count = 0;
    qdq_value *parts = qdq_mempool_array(node->im->mempool, node->input_count, sizeof *parts);
    for (size_t i = 0; i < node->input_count; i++)
        some = some || (node->inputs[i] && qdq_onnx_count(node->inputs[i]->shape) > 0);
    for (size_t i = 0; parts && i < node->input_count; i++) {
        qdq_onnx_value *part = node->inputs[i];
        if (part && (!some || qdq_onnx_count(part->shape) > 0))
            parts[count++] = qdq_onnx_ref(node, part);
    }
    if (parts)
        qdq_onnx_bind(node, 0,
                      qdq_onnx_join(node, NULL, parts, count, qdq_onnx_int(node, "axis", 1)));
}

//---- Shapes -----------------------------------------------------------------

// Fills in a dim of 0 from x (without allowzero), and -1 from the number of elements left.
static bool reshape_shape(qdq_onnx_node *node, qdq_shape *out) {
    qdq_shape x = node->inputs[0]->shape;
    qdq_ints dims;
    size_t total = qdq_onnx_count(x), others = 1;
    int open = -1;
    if (!qdq_onnx_list_of(node, 1, "shape", &dims)) return false;
    bool fine = dims.count <= QDQ_MAX_RANK, zero = qdq_onnx_int(node, "allowzero", 0) == 0;
    for (size_t i = 0; fine && i < dims.count; i++) {
        int64_t dim = dims.data[i];
        if (dim == 0 && zero) {
            fine = i < (size_t)x.rank;
            dim = fine ? x.dims[i] : 0;
        }
        if (dim == -1) {
            fine = fine && open < 0;
            open = (int)i;
        } else {
            fine = fine && dim >= 0 && !__builtin_mul_overflow(others, (size_t)dim, &others);
        }
        out->dims[i] = dim;
    }
    out->rank = fine ? (int)dims.count : 0;
    if (fine && open >= 0) {
        fine = others > 0 && total % others == 0;
        out->dims[open] = fine ? (int64_t)(total / others) : 0;
    }
    if (fine && qdq_onnx_count(*out) == total) return true;
    qdq_findings *f = &node->im->graph->findings;
    qdq_onnx_refuse(node, "shape", "does not fit",
                    qdq_text(f, "as many elements as %s", qdq_shape_text(f, x)));
    return false;
}

static bool flatten_shape(qdq_onnx_node *node, qdq_shape *out) {
    qdq_shape x = node->inputs[0]->shape;
    int64_t given = qdq_onnx_int(node, "axis", 1);
    int axis = x.rank;
    if (given != x.rank && !qdq_onnx_axis(node, given, x.rank, &axis)) return false;
    *out = (qdq_shape){2, {1, 1}};
    for (int i = 0; i < x.rank; i++) out->dims[i >= axis] *= x.dims[i];
    return true;
}

// Marks the axes of a list, of `rank` dims.
static bool mark_axes(qdq_onnx_node *node, qdq_ints axes, int rank, bool marked[QDQ_MAX_RANK]) {
    for (size_t i = 0; i < axes.count; i++) {
        int axis;
        if (!qdq_onnx_axis(node, axes.data[i], rank, &axis)) return false;
        if (marked[axis]) {
            qdq_onnx_refuse(node, "axes", "name a dim twice", "each once");
            return false;
        }
        marked[axis] = true;
    }
    return true;
}

static bool squeeze_shape(qdq_onnx_node *node, qdq_shape *out) {
    qdq_shape x = node->inputs[0]->shape;
    bool marked[QDQ_MAX_RANK] = {false};
    qdq_ints axes;
    if (!qdq_onnx_list_of(node, 1, "axes", &axes) || !mark_axes(node, axes, x.rank, marked))
        return false;
    bool given = qdq_onnx_input(node, 1) || qdq_onnx_attr_find(node, "axes");
    *out = (qdq_shape){0};
    for (int i = 0; i < x.rank; i++) {
        bool drop = given ? marked[i] : x.dims[i] == 1;
        if (drop && x.dims[i] != 1) {
            qdq_onnx_refuse(node, "axes",
                            ONNX_TEXT(node, "name dim %d, which is %lld", i, (long long)x.dims[i]),
                            "dims of 1");
            return false;
        }
        if (!drop) out->dims[out->rank++] = x.dims[i];
    }
    return true;
}

static bool unsqueeze_shape(qdq_onnx_node *node, qdq_shape *out) {
    qdq_shape x = node->inputs[0]->shape;
    bool marked[QDQ_MAX_RANK] = {false};
    qdq_ints axes;
    if (!qdq_onnx_list_of(node, 1, "axes", &axes)) return false;
    if (axes.count > QDQ_MAX_RANK || x.rank + (int)axes.count > QDQ_MAX_RANK) {
        qdq_onnx_refuse(node, "axes", ONNX_TEXT(node, "make %zu dims", (size_t)x.rank + axes.count),
                        "at most 8");
        return false;
    }
    out->rank = x.rank + (int)axes.count;
    if (!mark_axes(node, axes, out->rank, marked)) return false;
    for (int i = 0, from = 0; i < out->rank; i++) out->dims[i] = marked[i] ? 1 : x.dims[from++];
    return true;
}

bool qdq_onnx_new_shape(qdq_onnx_node *node, qdq_shape *out) {
    const char *op = node->proto->op;
    *out = (qdq_shape){0};
    return strcmp(op, "Reshape") == 0   ? reshape_shape(node, out)
           : strcmp(op, "Flatten") == 0 ? flatten_shape(node, out)
           : strcmp(op, "Squeeze") == 0 ? squeeze_shape(node, out)
                                        : unsqueeze_shape(node, out);
}

void qdq_onnx_reshape(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_shape shape;
    qdq_onnx_call call;
    if (!qdq_onnx_new_shape(node, &shape)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_ints(&call, "shape", shape.dims, (size_t)shape.rank);
    qdq_onnx_set_bool(&call, "special_zero", false);
    qdq_onnx_finish(&call);
}

void qdq_onnx_transpose(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_ints perm;
    int64_t turned[QDQ_MAX_RANK];
    int rank = node->inputs[0]->shape.rank;
    qdq_onnx_call call;
    if (rank == 0) {
        qdq_onnx_alias(node, 0, node->inputs[0]);
        return;
    }
    if (!qdq_onnx_int_list(node, "perm", &perm) || !perm.count) {
        for (int i = 0; i < rank; i++) turned[i] = rank - 1 - i;
        perm = (qdq_ints){turned, (size_t)rank};
    }
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_ints(&call, "order", perm.data, perm.count);
    qdq_onnx_finish(&call);
}

void qdq_onnx_identity(qdq_onnx_node *node, const qdq_onnx_op *row) {
    (void)row;
    qdq_onnx_alias(node, 0, node->inputs[0]);
}

void qdq_onnx_dropout(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_value *training = qdq_onnx_input(node, 2);
    if (training && (!qdq_onnx_known(node->im, training) || qdq_onnx_int_at(training, 0))) {
        qdq_onnx_refuse(node, "training_mode", "is not false", "inference");
        return;
    }
    qdq_onnx_identity(node, row);
}
