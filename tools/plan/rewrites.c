// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/rewrites.h"

#include <qdq/inspect.h>

//---- Text -------------------------------------------------------------------

// Prints "  groups         q15: QLinearConv of c11, q15".
static void print_formed(const qdq_rewrite_info *w) {
    printf("  %-14s %s: %s of ", w->pass, w->result, w->group);
    for (size_t i = 0; i < w->node_count; i++) printf("%s%s", i ? ", " : "", w->nodes[i]);
    printf("\n");
}

void print_rewrites(const qdq_graph *deployed) {
    size_t count = qdq_graph_rewrite_count(deployed), refused = 0;
    for (size_t i = 0; i < count; i++) refused += qdq_graph_rewrite(deployed, i).reason != NULL;
    if (count > refused) printf("\nrewritten before it runs\n");
    for (size_t i = 0; i < count; i++) {
        qdq_rewrite_info w = qdq_graph_rewrite(deployed, i);
        if (!w.reason) print_formed(&w);
    }
    if (refused) printf("\nnot formed\n");
    for (size_t i = 0; i < count; i++) {
        qdq_rewrite_info w = qdq_graph_rewrite(deployed, i);
        if (w.reason) printf("  %-14s %s: no %s: %s\n", w.pass, w.node, w.group, w.reason);
    }
}

//---- JSON -------------------------------------------------------------------

static void json_text_or_null(qdq_json *json, const char *key, const char *text) {
    if (text) {
        json_string_key(json, key, text);
        return;
    }
    qdq_json_key(json, key);
    qdq_json_null(json);
}

void json_rewrites(qdq_json *json, const qdq_graph *deployed) {
    qdq_json_key(json, "rewrites");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_graph_rewrite_count(deployed); i++) {
        qdq_rewrite_info w = qdq_graph_rewrite(deployed, i);
        qdq_json_begin_object(json);
        json_string_key(json, "pass", w.pass);
        json_string_key(json, "group", w.group);
        qdq_json_key(json, "nodes");
        qdq_json_begin_array(json);
        for (size_t k = 0; k < w.node_count; k++) qdq_json_string(json, w.nodes[k]);
        qdq_json_end_array(json);
        json_text_or_null(json, "result", w.result);
        json_text_or_null(json, "reason", w.reason);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}
