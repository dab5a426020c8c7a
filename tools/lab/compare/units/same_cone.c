// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/units/same_cone.h"

#include <stdlib.h>
#include <string.h>

static bool same_constant(const qdq_graph *a, qdq_value x, const qdq_graph *b, qdq_value y) {
    qdq_dtype dtypes[2];
    qdq_shape shapes[2];
    if (!qdq_value_is_constant(a, x) || !qdq_value_is_constant(b, y))
        return qdq_value_is_constant(a, x) == qdq_value_is_constant(b, y);
    if (!qdq_value_type(a, x, &dtypes[0], &shapes[0]) ||
        !qdq_value_type(b, y, &dtypes[1], &shapes[1]) || dtypes[0] != dtypes[1] ||
        !qdq_shape_equal(shapes[0], shapes[1]))
        return false;
    const void *first = qdq_value_data(a, x), *other = qdq_value_data(b, y);
    return first && other &&
           memcmp(first, other, qdq_shape_count(shapes[0]) * qdq_dtype_size(dtypes[0])) == 0;
}

static char *attrs_of(const qdq_graph *graph, size_t node) {
    size_t length = qdq_graph_node_attrs(graph, node, 0, NULL, 0);
    char *text = malloc(length + 1);
    if (text) (void)qdq_graph_node_attrs(graph, node, 0, text, length + 1);
    return text;
}

static bool same_attrs(const qdq_graph *a, size_t m, const qdq_graph *b, size_t n) {
    char *first = attrs_of(a, m), *other = attrs_of(b, n);
    bool same = first && other && strcmp(first, other) == 0;
    free(first);
    free(other);
    return same;
}

static bool same_node(const qdq_graph *a, size_t m, const qdq_graph *b, size_t n) {
    qdq_node_info x = qdq_graph_node(a, m), y = qdq_graph_node(b, n);
    bool same = strcmp(x.op, y.op) == 0 && x.input_count == y.input_count && same_attrs(a, m, b, n);
    for (size_t i = 0; same && i < x.input_count; i++)
        same = same_constant(a, qdq_graph_node_input(a, m, i), b, qdq_graph_node_input(b, n, i));
    return same;
}

bool same_cone(const deployed *a, const deployed *b, const bool *cut, const qdq_value *outputs,
               size_t count) {
    cone x, y = {0};
    bool same = cone_find(a, cut, outputs, count, &x) && cone_find(b, cut, outputs, count, &y) &&
                x.node_count == y.node_count;
    for (size_t i = 0; same && i < x.node_count; i++)
        same = same_node(a->graph, x.nodes[i], b->graph, y.nodes[i]);
    cone_release(&x);
    cone_release(&y);
    return same;
}
