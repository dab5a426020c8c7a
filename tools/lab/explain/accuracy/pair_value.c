// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/pair_value.h"

bool types_equal(const qdq_graph *graph, qdq_value a, const qdq_graph *other, qdq_value b) {
    qdq_dtype x, y;
    qdq_shape from, to;
    return qdq_value_type(graph, a, &x, &from) && qdq_value_type(other, b, &y, &to) && x == y &&
           qdq_shape_equal(from, to);
}

bool pair_undoes(const replay *r, size_t node, size_t quantize) {
    const qdq_graph *graph = r->form.graph;
    return quantize_of(r, node) == quantize &&
           types_equal(graph, qdq_graph_node_input(graph, quantize, 0), graph,
                       qdq_graph_node_output(graph, node, 0));
}

qdq_value pair_value(const replay *r, size_t node) {
    size_t quantize = quantize_of(r, node);
    if (quantize == SIZE_MAX || !pair_undoes(r, node, quantize)) return (qdq_value){0};
    qdq_value x = qdq_graph_node_input(r->form.graph, quantize, 0);
    return qdq_value_is_constant(r->form.graph, x) ? (qdq_value){0} : x;
}
