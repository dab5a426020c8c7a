// SPDX-License-Identifier: Apache-2.0
// A graph as a target runs it: with the fused groups of its patterns.
#include <stdio.h>
#include <string.h>

#include "graph/compile/validate.h"
#include "graph/core/target.h"
#include "graph/rewrite/rewrite.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"

// Sets the target of a deployed graph without its patterns, so that the graph is not rewritten
// again.
static void set_target(qdq_graph *graph, const char *target, const char *as_is) {
    size_t length = strlen(target) + (as_is ? strlen(as_is) : 0) + 1;
    char *text = qdq_mempool_array(&graph->mempool, length, 1);
    if (text) snprintf(text, length, "%s%s", target, as_is ? as_is : "");
    if (text) graph->target = text;
    for (size_t i = 0; i < graph->node_count; i++) {
        qdq_op_context ctx;
        qdq_node *node = &graph->nodes[i];
        qdq_graph_context(graph, node, &graph->findings, &ctx);
        node->dtype_kept |= qdq_target_keep_dtype(&ctx, node->attrs);
    }
}

qdq_graph *qdq_graph_deployed(qdq_graph *graph, const char *target, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version version;
    if (!qdq_target_version_find(target ? target : qdq_graph_target(graph), &version, err) ||
        qdq_graph_check(graph, &version, NULL, err) != QDQ_OK)
        return NULL;
    qdq_graph *deployed;
    if (qdq_rewrite(graph, &version, NULL, &deployed, err) == QDQ_OK)
        set_target(deployed, target ? target : qdq_graph_target(graph), version.target->as_is);
    return deployed;
}

qdq_graph *qdq_graph_deployed_between(qdq_graph *graph, const char *a, const char *b,
                                      const char *const *causes, size_t count, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version from, to;
    if (!qdq_target_version_find(a ? a : qdq_graph_target(graph), &from, err) ||
        !qdq_target_version_find(b ? b : qdq_graph_target(graph), &to, err) ||
        qdq_graph_check(graph, &from, NULL, err) != QDQ_OK ||
        qdq_graph_check(graph, &to, NULL, err) != QDQ_OK)
        return NULL;
    qdq_rewrite_choice choice = {&from, &to, causes, causes ? count : 0};
    qdq_graph *deployed;
    (void)qdq_rewrite_between(graph, &choice, NULL, &deployed, err);
    return deployed;
}
