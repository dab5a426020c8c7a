// SPDX-License-Identifier: Apache-2.0
#include "tools/check/unchecked.h"

#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/deployed.h"

// Marks the nodes that have an error. `makers`: by value, the node that computes it.
static void mark_errors(const qdq_graph *graph, const qdq_report *report, const size_t *makers,
                        size_t ids, bool *has_error) {
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        uint32_t id = f->severity == QDQ_SEVERITY_ERROR ? qdq_graph_find(graph, f->node).id : 0;
        if (id && id < ids && makers[id] != SIZE_MAX) has_error[makers[id]] = true;
    }
}

static void list_makers(const qdq_graph *graph, size_t *makers, size_t ids) {
    for (size_t id = 0; id < ids; id++) makers[id] = SIZE_MAX;
    for (size_t n = 0; n < qdq_graph_node_count(graph); n++)
        for (size_t i = 0; i < qdq_graph_node(graph, n).output_count; i++)
            makers[qdq_graph_node_output(graph, n, i).id] = n;
}

// True if there are errors of other rules than a target's own.
static bool has_other_errors(const qdq_report *report, const char *target) {
    size_t length = strcspn(target, "@:");
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        if (f->severity == QDQ_SEVERITY_ERROR &&
            (strlen(f->target) != length || strncmp(f->target, target, length) != 0))
            return true;
    }
    return false;
}

// True if a node is invalid: it has errors, or reads a node with errors.
static bool is_invalid(const qdq_graph *graph, size_t node) {
    return !qdq_value_type(graph, qdq_graph_node_output(graph, node, 0), NULL, NULL);
}

bool unchecked_find(const qdq_graph *graph, const qdq_report *report, const char *target,
                    unchecked_nodes *out) {
    size_t nodes = qdq_graph_node_count(graph), ids = count_values(graph);
    *out = (unchecked_nodes){0};
    if (!report->errors) return true;
    bool *has_error = calloc(nodes + 1, sizeof *has_error);
    bool all = qdq_target_rewrites(target) && has_other_errors(report, target);
    size_t *makers = malloc(ids * sizeof *makers);
    out->items = malloc((nodes + 1) * sizeof *out->items);
    bool done = has_error && makers && out->items;
    if (done) list_makers(graph, makers, ids);
    if (done) mark_errors(graph, report, makers, ids, has_error);
    for (size_t n = 0; done && n < nodes; n++)
        if (!has_error[n] && (all || is_invalid(graph, n))) out->items[out->count++] = n;
    free(has_error);
    free(makers);
    return done;
}

void unchecked_release(unchecked_nodes *nodes) {
    free(nodes->items);
    *nodes = (unchecked_nodes){0};
}

void unchecked_json(qdq_json *json, const qdq_graph *graph, const unchecked_nodes *nodes) {
    qdq_json_begin_array(json);
    for (size_t i = 0; i < nodes->count; i++)
        qdq_json_string(json, qdq_graph_node(graph, nodes->items[i]).name);
    qdq_json_end_array(json);
}
