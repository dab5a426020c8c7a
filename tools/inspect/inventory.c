// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/inventory.h"

#include <stdlib.h>
#include <string.h>

uint64_t tensor_bytes(qdq_dtype dtype, qdq_shape shape) {
    return (uint64_t)qdq_shape_count(shape) * qdq_dtype_size(dtype);
}

static int by_count(const void *a, const void *b) {
    const op_count *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return strcmp(x->op, y->op);
}

// Ops are few: each node searches those found so far.
static bool count_ops(inventory *out, const qdq_graph *graph) {
    size_t nodes = qdq_graph_node_count(graph);
    out->ops = calloc(nodes + 1, sizeof *out->ops);
    if (!out->ops) return false;
    for (size_t i = 0; i < nodes; i++) {
        const char *op = qdq_graph_node(graph, i).op;
        size_t at = 0;
        while (at < out->op_count && strcmp(out->ops[at].op, op) != 0) at++;
        if (at == out->op_count) out->ops[out->op_count++].op = op;
        out->ops[at].count++;
    }
    qsort(out->ops, out->op_count, sizeof *out->ops, by_count);
    return true;
}

static void count_value(dtype_count *count, bool constant, uint64_t bytes) {
    if (constant)
        count->constants++, count->constant_bytes += bytes;
    else
        count->computed++, count->computed_bytes += bytes;
}

bool inventory_take(inventory *out, const qdq_graph *graph) {
    *out = (inventory){0};
    for (size_t i = 0; i < qdq_graph_value_count(graph); i++) {
        qdq_value value = qdq_graph_get_value(graph, i);
        qdq_dtype dtype;
        qdq_shape shape;
        if (!qdq_value_type(graph, value, &dtype, &shape)) continue;
        bool constant = qdq_value_is_constant(graph, value);
        uint64_t bytes = tensor_bytes(dtype, shape);
        count_value(&out->dtypes[dtype], constant, bytes);
        count_value(&out->all, constant, bytes);
    }
    return count_ops(out, graph);
}

void inventory_release(inventory *of) {
    free(of->ops);
    *of = (inventory){0};
}
