// SPDX-License-Identifier: Apache-2.0
// Converts ONNX's ops that reduce, order or normalize slices of a tensor: Softmax of old versions,
// reductions, global pooling, TopK, Hardmax.
#include <float.h>
#include <string.h>

#include "graph/formats/onnx/ops/onnx_formula.h"

//---- Softmax of old versions, reductions ------------------------------------

// Before opset 13 the dims from `axis` on, 1 by default, are one slice.
void qdq_onnx_softmax(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_value *x = node->inputs[0];
    qdq_shape flat = {2, {1, 1}};
    qdq_onnx_call call;
    int axis, rank = x->shape.rank;
    int64_t given = qdq_onnx_int(node, "axis", 1);
    if (given == rank)
        axis = rank;
    else if (!qdq_onnx_axis(node, given, rank, &axis))
        return;
    for (int i = 0; i < rank; i++) flat.dims[i >= axis] *= x->shape.dims[i];
    bool same = axis == rank - 1;
    qdq_onnx_begin(&call, node, row->ours, same ? NULL : "slices");
    if (same)
        qdq_onnx_port(&call, "x", x);
    else
        qdq_onnx_port_made(&call, "x", qdq_onnx_reshaped(node, x, "flat", flat));
    qdq_onnx_set_int(&call, "axis", -1);
    qdq_value y = qdq_onnx_end(&call);
    if (!same) {
        qdq_onnx_begin(&call, node, "StaticReshape", NULL);
        qdq_onnx_port_made(&call, "x", y);
        qdq_onnx_set_ints(&call, "shape", x->shape.dims, (size_t)rank);
        qdq_onnx_set_bool(&call, "special_zero", false);
        y = qdq_onnx_end(&call);
    }
    qdq_onnx_bind(node, 0, y);
}

void qdq_onnx_reduce(qdq_onnx_node *node, const qdq_onnx_op *row) {
    static const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    qdq_ints axes;
    qdq_onnx_call call;
    if (!qdq_onnx_list_of(node, 1, "axes", &axes)) return;
    bool none = axes.count == 0;
    if (none &&
        (qdq_onnx_int(node, "noop_with_empty_axes", 0) || node->inputs[0]->shape.rank == 0)) {
        qdq_onnx_refuse(node, "axes", "are empty", "at least one axis");
        return;
    }
    if (none) axes = (qdq_ints){all, (size_t)node->inputs[0]->shape.rank};
    bool keep = qdq_onnx_int(node, "keepdims", 1) != 0;
    if (strchr(row->ours, '(')) {
        const qdq_onnx_term terms[] = {{.name = "axes", .ints = axes},
                                       {.name = "keep", .number = keep ? 1.0 : 0.0},
                                       {.name = "least", .number = -(double)FLT_MAX},
                                       {.name = "greatest", .number = (double)FLT_MAX}};
        qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, row->ours, terms, 4));
        return;
    }
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_ints(&call, "axes", axes.data, axes.count);
    qdq_onnx_set_bool(&call, "keep_dims", keep);
    qdq_onnx_finish(&call);
}

void qdq_onnx_global_pool(qdq_onnx_node *node, const qdq_onnx_op *row) {
    static const int64_t spatial[] = {2, 3, 4, 5, 6, 7};
    int rank = node->inputs[0]->shape.rank;
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_ints(&call, "axes", spatial, rank > 2 ? (size_t)rank - 2 : 0);
    qdq_onnx_set_bool(&call, "keep_dims", true);
    if (strcmp(row->ours, "ReduceMean") == 0) qdq_onnx_set_bool(&call, "global_pool", true);
    qdq_onnx_finish(&call);
}

//---- The greatest elements --------------------------------------------------

void qdq_onnx_top_k(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int64_t k = qdq_onnx_int(node, "k", 0);
    qdq_onnx_call call;
    if (!qdq_onnx_int_at_input(node, 1, "k", &k)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_int(&call, "k", k);
    qdq_onnx_set_int(&call, "axis", qdq_onnx_int(node, "axis", -1));
    qdq_onnx_set_bool(&call, "largest", qdq_onnx_int(node, "largest", 1) != 0);
    qdq_value made = qdq_onnx_end(&call);
    qdq_onnx_bind(node, 0, made);
    qdq_onnx_bind(node, 1, qdq_port(node->im->graph, made, "indices"));
}

// 1 at the first greatest element of a slice, 0 elsewhere. Before opset 13 the dims from `axis` on,
// 1 by default, are one slice.
void qdq_onnx_hardmax(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const qdq_onnx_value *x = node->inputs[0];
    bool flat = node->opset < 13;
    qdq_shape rows = {2, {1, 1}};
    int axis, rank = x->shape.rank;
    if (!qdq_onnx_axis(node, qdq_onnx_int(node, "axis", flat ? 1 : -1), rank, &axis)) return;
    for (int i = 0; i < rank; i++) rows.dims[i >= axis] *= x->shape.dims[i];
    const double numbers[] = {0, 1};
    const qdq_onnx_term terms[] = {
        {.name = "values", .input = qdq_onnx_list_value(node, "values", x->elem, numbers, 2)},
        {.name = "depth", .number = (double)(flat ? rows.dims[1] : x->shape.dims[axis])},
        {.name = "axis", .number = flat ? 1 : axis},
        {.name = "rows", .ints = {rows.dims, 2}},
        {.name = "dims", .ints = {x->shape.dims, (size_t)rank}}};
    qdq_onnx_bind(
        node, 0,
        qdq_onnx_formula(
            node, row,
            flat ? "StaticReshape(OneHot(ArgMax(StaticReshape(x, shape: rows, special_zero: 0), "
                   "axis: axis), values, depth: depth), shape: dims, special_zero: 0)"
                 : "OneHot(ArgMax(x, axis: axis), values, depth: depth, axis: axis)",
            terms, 5));
}
