// SPDX-License-Identifier: Apache-2.0
#include "graph/memory/given_layout.h"

#include <string.h>

const qdq_given_layout *qdq_graph_given_layout(const qdq_graph *graph, uint32_t id) {
    return id < graph->given_layout_count ? graph->given_layouts[id] : NULL;
}

// Makes the table long enough for every value that the graph has room for now.
static bool make_room(qdq_graph *graph) {
    size_t count = graph->value_capacity;
    qdq_given_layout **table = qdq_mempool_array(&graph->mempool, count, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < graph->given_layout_count; i++) table[i] = graph->given_layouts[i];
    graph->given_layouts = table;
    graph->given_layout_count = count;
    return true;
}

qdq_given_layout *qdq_graph_give_layout(qdq_graph *graph, uint32_t id) {
    if (id >= graph->given_layout_count && !make_room(graph)) return NULL;
    qdq_given_layout **given = &graph->given_layouts[id];
    if (!*given) *given = QDQ_MEMPOOL_NEW(&graph->mempool, qdq_given_layout);
    return *given;
}
