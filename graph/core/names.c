// SPDX-License-Identifier: Apache-2.0
// Checks the names of a graph, enters them into its symbol table and finds values by name.
#include "graph/core/names.h"

#include <stdio.h>
#include <string.h>

#include "include/qdq/inspect.h"
#include "runtime/base/utf8.h"

void qdq_graph_enter_name(qdq_graph *graph, const char *name, uint32_t id, qdq_subject subject) {
    qdq_error err = {0};
    qdq_status status = qdq_symbols_add(graph->symbols, name, strlen(name), id, &err);
    if (status == QDQ_ERR_ARGUMENT)
        qdq_graph_report_core(graph, QDQ_RULE_NAME_DUPLICATE, subject,
                              qdq_text(&graph->findings, "name '%s' is given twice", name), NULL);
    else if (status != QDQ_OK)
        qdq_fail(&graph->broken, status, "%s", err.text);
}

bool qdq_graph_name_is_free(const qdq_graph *graph, const char *name) {
    uint32_t id;
    return !qdq_symbols_find(graph->symbols, name, strlen(name), &id);
}

bool qdq_graph_node_name_is_free(const qdq_graph *graph, const qdq_op *op, const char *name) {
    if (!qdq_graph_name_is_free(graph, name)) return false;
    for (size_t i = 1; i < op->output_count; i++) {
        char full[2 * QDQ_MAX_NAME_BYTES];
        int length = snprintf(full, sizeof full, "%s.%s", name, op->outputs[i].name);
        if (length < (int)sizeof full && !qdq_graph_name_is_free(graph, full)) return false;
    }
    return true;
}

static const char *control_character(const char *name) {
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F ||
            ((unsigned char)*c == 0xC2 && (unsigned char)c[1] >= 0x80 &&
             (unsigned char)c[1] < 0xA0))
            return c;
    return NULL;
}

static bool is_utf8(const char *name) { return qdq_utf8_valid(name, strlen(name)) == strlen(name); }

bool qdq_graph_name_is_legal(const char *name) {
    size_t length = name ? strlen(name) : 0;
    return length >= 1 && length <= QDQ_MAX_NAME_BYTES && !control_character(name) && is_utf8(name);
}

void qdq_graph_check_name(qdq_graph *graph, const char *name, const char *what) {
    size_t length = name ? strlen(name) : 0;
    const char *control = length ? control_character(name) : NULL;
    if (qdq_graph_name_is_legal(name)) return;
    qdq_findings *f = &graph->findings;
    qdq_graph_report_core(graph, QDQ_RULE_NAME_FORM, (qdq_subject){.port = what},
                          control ? qdq_text(f, "'%s' has a control character in its name", name)
                          : length && !is_utf8(name)
                              ? qdq_text(f, "'%s' has a name that is not UTF-8", name)
                          : length ? qdq_text(f, "has a name of %zu bytes", length)
                                   : "has no name",
                          "1 to 255 bytes of UTF-8 without control characters");
}

char *qdq_graph_legal_name(qdq_mempool *mempool, const char *name) {
    enum { KEPT = 200 };
    size_t length = strlen(name) < KEPT ? strlen(name) : KEPT;
    while (length && length == KEPT && ((unsigned char)name[length] & 0xC0) == 0x80) length--;
    char *out = qdq_mempool_array(mempool, length + 32, 1);
    if (!out) return NULL;
    snprintf(out, length + 1, "%.*s", (int)length, name);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7F) out[i] = '_';
    if (!qdq_graph_name_is_legal(out))  // broken UTF-8, or a control character of two bytes
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)out[i] >= 0x80) out[i] = '_';
    if (!length) snprintf(out, 32, "unnamed");
    return out;
}

void qdq_graph_check_own_name(qdq_graph *graph) {
    if (graph->name && !is_utf8(graph->name))
        qdq_graph_report_core(
            graph, QDQ_RULE_NAME_FORM, (qdq_subject){.port = "graph"},
            qdq_text(&graph->findings, "'%s' has a name that is not UTF-8", graph->name), "UTF-8");
}

// Finds an output of a node by "node.port".
static uint32_t find_port(const qdq_graph *graph, const char *name) {
    const char *dot = strrchr(name, '.');
    uint32_t id = 0;
    if (!dot || !qdq_symbols_find(graph->symbols, name, (size_t)(dot - name), &id)) return 0;
    const qdq_graph_value *v = &graph->values[id];
    if (v->kind != QDQ_VALUE_MADE || v->node >= graph->node_count) return 0;
    const qdq_node *node = &graph->nodes[v->node];
    for (size_t i = 0; i < node->output_count; i++)
        if (strcmp(node->op->outputs[i].name, dot + 1) == 0) return node->outputs[i];
    return 0;
}

qdq_value qdq_graph_find(const qdq_graph *graph, const char *name) {
    uint32_t id = 0;
    if (!graph || !name) return (qdq_value){0};
    if (!qdq_symbols_find(graph->symbols, name, strlen(name), &id)) id = find_port(graph, name);
    return (qdq_value){id};
}

//---- Sets of names ----------------------------------------------------------

// Outputs have a set of names of their own, and original names have two: they enter the table after
// a byte that no other name begins with.
enum { OUTPUT_MARK = '\0', VALUE_ORIGINAL_MARK = '\1', OUTPUT_ORIGINAL_MARK = '\2' };

static qdq_status enter_marked(qdq_graph *graph, char mark, const char *name, uint32_t number) {
    char buffer[QDQ_MAX_NAME_BYTES + 2], *key = buffer;
    size_t length = strlen(name);
    qdq_error err = {0};
    if (length + 2 > sizeof buffer) key = qdq_mempool_array(&graph->mempool, length + 2, 1);
    if (!key) return QDQ_ERR_MEMORY;  // which the pool remembers
    key[0] = mark;
    memcpy(key + 1, name, length + 1);
    qdq_status status = qdq_symbols_add(graph->symbols, key, length + 1, number, &err);
    if (status != QDQ_OK && status != QDQ_ERR_ARGUMENT)
        qdq_fail(&graph->broken, status, "%s", err.text);
    return status;
}

static bool find_marked(const qdq_graph *graph, char mark, const char *name, uint32_t *number) {
    char key[4096] = {mark};
    size_t length = strlen(name);
    if (length + 2 > sizeof key) return false;
    memcpy(key + 1, name, length + 1);
    return qdq_symbols_find(graph->symbols, key, length + 1, number);
}

void qdq_graph_enter_output_name(qdq_graph *graph, const char *name) {
    if (strlen(name) > QDQ_MAX_NAME_BYTES) return;  // already reported as a finding
    if (enter_marked(graph, OUTPUT_MARK, name, (uint32_t)graph->output_count) == QDQ_ERR_ARGUMENT)
        qdq_graph_report_core(graph, QDQ_RULE_NAME_DUPLICATE, (qdq_subject){.port = "output"},
                              qdq_text(&graph->findings, "name '%s' is given twice", name), NULL);
}

bool qdq_graph_find_output(const qdq_graph *graph, const char *name, size_t *index) {
    uint32_t number = 0;
    bool found = find_marked(graph, OUTPUT_MARK, name, &number) && number < graph->output_count;
    *index = number;
    return found;
}

//---- Original names ---------------------------------------------------------

void qdq_graph_set_original(qdq_graph *graph, qdq_value value, const char *original) {
    qdq_graph_value *v = &graph->values[value.id];
    v->original = qdq_mempool_strdup(&graph->mempool, original);
    if (v->original) (void)enter_marked(graph, VALUE_ORIGINAL_MARK, original, value.id);
}

void qdq_graph_set_output_original(qdq_graph *graph, size_t output, const char *original) {
    graph->outputs[output].original = qdq_mempool_strdup(&graph->mempool, original);
    (void)enter_marked(graph, OUTPUT_ORIGINAL_MARK, original, (uint32_t)output);
}

void qdq_graph_set_node_original(qdq_graph *graph, size_t node, const char *original) {
    graph->nodes[node].original = qdq_mempool_strdup(&graph->mempool, original);
}

const char *qdq_value_name_of(const qdq_graph *graph, const char *original) {
    uint32_t id;
    if (!graph || !original || !find_marked(graph, VALUE_ORIGINAL_MARK, original, &id))
        return original;
    return graph->values[id].name;
}

const char *qdq_output_name_of(const qdq_graph *graph, const char *original) {
    uint32_t index;
    if (!graph || !original || !find_marked(graph, OUTPUT_ORIGINAL_MARK, original, &index))
        return original;
    return graph->outputs[index].name;
}

const char *qdq_value_original(const qdq_graph *graph, const char *name) {
    qdq_value value = qdq_graph_find(graph, name);
    return value.id && graph->values[value.id].original ? graph->values[value.id].original : name;
}

qdq_value qdq_output_value(const qdq_graph *graph, const char *name) {
    size_t index;
    if (!graph || !name || !qdq_graph_find_output(graph, name, &index)) return (qdq_value){0};
    return graph->outputs[index].value;
}

const char *qdq_output_original(const qdq_graph *graph, const char *name) {
    size_t index;
    if (!graph || !name || !qdq_graph_find_output(graph, name, &index)) return name;
    return graph->outputs[index].original ? graph->outputs[index].original : name;
}
