// SPDX-License-Identifier: Apache-2.0
// A graph and targets by name: creating a graph for a target, and the numerics of its nodes.
#include "graph/core/graph.h"
#include "graph/core/target.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"

static void look_up_own(qdq_graph *graph) {
    qdq_target_version version;
    graph->own = NULL;
    if (graph->own_target && qdq_target_version_find(graph->own_target, &version, NULL))
        graph->own = version.target;
}

qdq_graph *qdq_graph_create(const char *name, const qdq_graph_options *options) {
    qdq_graph *graph = qdq_graph_new(name, options);
    if (graph) look_up_own(graph);
    return graph;
}

void qdq_graph_set_own_target(qdq_graph *graph, const char *target) {
    graph->own_target = qdq_mempool_strdup(&graph->mempool, target);
    if (!graph->own_target) graph->own_target = "core";
    if (!graph->target_given) graph->target = graph->own_target;
    look_up_own(graph);
}

qdq_status qdq_graph_numerics(const qdq_graph *graph, const char *target, size_t index,
                              qdq_numerics *out, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version version;
    const qdq_node *node = NULL;
    if (!out) return qdq_fail(err, QDQ_ERR_ARGUMENT, "there is no qdq_numerics to write to");
    QDQ_TRY(qdq_graph_find_node(graph, index, &node, err));
    if (!qdq_target_version_find(target ? target : graph->target, &version, err))
        return QDQ_ERR_ARGUMENT;
    qdq_findings silent = {0};
    qdq_op_context ctx;
    qdq_graph_context(graph, node, &silent, &ctx);
    *out = qdq_target_numerics(&version, &ctx);
    return QDQ_OK;
}

qdq_target_version qdq_memory_version(const qdq_target_version *version) {
    qdq_target_version found = *version;
    for (size_t i = 0; !found.target->device && qdq_target_at(i); i++)
        if (qdq_target_at(i)->device)
            (void)qdq_target_version_find(qdq_target_at(i)->name, &found, NULL);
    return found;
}
