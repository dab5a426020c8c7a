// SPDX-License-Identifier: Apache-2.0
// Reads the key "originals": the names that values, outputs and nodes have in the file that a graph
// was converted from, and the operators that nodes stand for.
#include "graph/formats/json/json_originals.h"

#include <stdio.h>

#include "graph/core/names.h"

static bool note_value(qdq_graph *graph, const char *name, const char *original) {
    qdq_value value = qdq_graph_find(graph, name);
    if (value.id) qdq_graph_set_original(graph, value, original);
    return value.id != 0;
}

static bool note_output(qdq_graph *graph, const char *name, const char *original) {
    size_t index;
    bool found = qdq_graph_find_output(graph, name, &index);
    if (found) qdq_graph_set_output_original(graph, index, original);
    return found;
}

static bool note_node(qdq_graph *graph, const char *name, const char *original) {
    qdq_value value = qdq_graph_find(graph, name);
    const qdq_graph_value *v = &graph->values[value.id];
    bool found = value.id && v->kind == QDQ_VALUE_MADE;
    if (found && v->node < graph->node_count)  // else the node has errors
        qdq_graph_set_node_original(graph, v->node, original);
    return found;
}

static bool note_operator(qdq_graph *graph, const char *name, const char *original) {
    qdq_value value = qdq_graph_find(graph, name);
    const qdq_graph_value *v = &graph->values[value.id];
    bool found = value.id && v->kind == QDQ_VALUE_MADE;
    if (found && v->node < graph->node_count)
        graph->nodes[v->node].original_op = qdq_mempool_strdup(&graph->mempool, original);
    return found;
}

static qdq_status read_names(const qdq_reader *r, const qdq_item *all, const char *key,
                             bool (*note)(qdq_graph *graph, const char *name,
                                          const char *original)) {
    qdq_item names, at;
    QDQ_TRY(qdq_item_member(r, all, key, false, &names));
    if (names.json && !qdq_json_is_object(names.json))
        return qdq_item_wrong_kind(r, &names, "an object");
    QDQ_JSON_EACH(json, names.json) {
        const char *original = qdq_json_text(json), *name = qdq_json_name(json);
        at.json = json;
        snprintf(at.where, sizeof at.where, "%.40s.%.50s", names.where, name);
        if (!original) return qdq_item_wrong_kind(r, &at, "a string");
        if (!note(r->graph, name, original))
            return qdq_fail(r->err, QDQ_ERR_PARSE, "%s: the graph has no '%.200s'", names.where,
                            name);
    }
    return QDQ_OK;
}

qdq_status qdq_json_read_originals(const qdq_reader *r, const qdq_item *top) {
    static const char *const keys[] = {"values", "outputs", "nodes", "operators", NULL};
    qdq_item all;
    QDQ_TRY(qdq_item_member(r, top, "originals", false, &all));
    if (!all.json || r->graph->mempool.failed) return QDQ_OK;
    if (!qdq_json_is_object(all.json)) return qdq_item_wrong_kind(r, &all, "an object");
    QDQ_TRY(qdq_item_check_keys(r, &all, keys));
    QDQ_TRY(read_names(r, &all, "values", note_value));
    QDQ_TRY(read_names(r, &all, "outputs", note_output));
    QDQ_TRY(read_names(r, &all, "nodes", note_node));
    return read_names(r, &all, "operators", note_operator);
}
