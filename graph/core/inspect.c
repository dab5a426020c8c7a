// SPDX-License-Identifier: Apache-2.0
// The public functions that list the nodes and values of a graph.
#include "include/qdq/inspect.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "runtime/base/fp_environment.h"

size_t qdq_graph_node_count(const qdq_graph *graph) { return graph ? graph->node_count : 0; }

static const qdq_node *node_at(const qdq_graph *graph, size_t index) {
    return index < qdq_graph_node_count(graph) ? &graph->nodes[index] : NULL;
}

qdq_node_info qdq_graph_node(const qdq_graph *graph, size_t index) {
    const qdq_node *node = node_at(graph, index);
    if (!node) return (qdq_node_info){0};
    const char *original = node->original ? node->original : node->part_of;
    return (qdq_node_info){node->name, node->op->name, node->input_count, node->output_count,
                           original ? original : node->name};
}

qdq_value qdq_graph_node_input(const qdq_graph *graph, size_t index, size_t port) {
    const qdq_node *node = node_at(graph, index);
    return node && port < node->input_count ? node->inputs[port] : (qdq_value){0};
}

qdq_value qdq_graph_node_output(const qdq_graph *graph, size_t index, size_t port) {
    const qdq_node *node = node_at(graph, index);
    return (qdq_value){node && port < node->output_count ? node->outputs[port] : 0};
}

const void *qdq_graph_node_struct(const qdq_graph *graph, size_t index) {
    const qdq_node *node = node_at(graph, index);
    return node && node->valid ? node->attrs : NULL;
}

qdq_status qdq_graph_find_node(const qdq_graph *graph, size_t index, const qdq_node **node,
                               qdq_error *err) {
    if (!graph) return qdq_fail(err, QDQ_ERR_MEMORY, "there is no graph: out of memory");
    if (index >= graph->node_count)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "there is no node number %zu, wanted less than %zu",
                        index, graph->node_count);
    *node = &graph->nodes[index];
    if ((*node)->valid) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_GRAPH, "node '%s' has errors; see qdq_graph_validate",
                    (*node)->name);
}

size_t qdq_graph_value_count(const qdq_graph *graph) {
    return graph && graph->value_count ? graph->value_count - 1 : 0;  // [0] is not a value
}

qdq_value qdq_graph_get_value(const qdq_graph *graph, size_t index) {
    return (qdq_value){index < qdq_graph_value_count(graph) ? (uint32_t)index + 1 : 0};
}

size_t qdq_graph_output_count(const qdq_graph *graph) { return graph ? graph->output_count : 0; }

const char *qdq_graph_get_output(const qdq_graph *graph, size_t index) {
    return index < qdq_graph_output_count(graph) ? graph->outputs[index].name : NULL;
}

static const qdq_graph_value *value_at(const qdq_graph *graph, qdq_value value) {
    return graph && value.id && value.id < graph->value_count ? &graph->values[value.id] : NULL;
}

const char *qdq_value_name(const qdq_graph *graph, qdq_value value) {
    const qdq_graph_value *v = value_at(graph, value);
    return v && v->name ? v->name : "";
}

const void *qdq_value_data(const qdq_graph *graph, qdq_value value) {
    const qdq_graph_value *v = value_at(graph, value);
    if (!v || !v->stored) return v ? v->data : NULL;
    // This only fills a cache; the graph stays logically const.
    qdq_graph *cache = (qdq_graph *)graph;
    if (!v->valid || !qdq_graph_load_value(cache, &cache->values[value.id])) return NULL;
    return v->data;
}

bool qdq_value_is_constant(const qdq_graph *graph, qdq_value value) {
    const qdq_graph_value *v = value_at(graph, value);
    return v && v->kind == QDQ_VALUE_CONSTANT;
}

bool qdq_value_is_input(const qdq_graph *graph, qdq_value value) {
    const qdq_graph_value *v = value_at(graph, value);
    return v && v->kind == QDQ_VALUE_INPUT;
}

qdq_value_source qdq_graph_source(const qdq_graph *deployed, qdq_value value) {
    const qdq_graph_value *v = value_at(deployed, value);
    return v ? (qdq_value_source){{v->source}, v->source_offset} : (qdq_value_source){{0}, 0};
}

size_t qdq_graph_rewrite_count(const qdq_graph *deployed) {
    return deployed ? deployed->rewrite_count : 0;
}

qdq_rewrite_info qdq_graph_rewrite(const qdq_graph *deployed, size_t index) {
    if (index >= qdq_graph_rewrite_count(deployed)) return (qdq_rewrite_info){0};
    return deployed->rewrites[index];
}
