// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/coding_list.h"

#include <qdq/inspect.h>
#include <stdlib.h>

void *coding_list_memory(coding_list *list, size_t count, size_t size) {
    if (list->owned_count == list->owned_capacity) {
        size_t capacity = list->owned_capacity ? 2 * list->owned_capacity : 64;
        void **more = realloc(list->owned, capacity * sizeof *more);
        if (!more) list->failed = true;
        if (!more) return NULL;
        list->owned = more, list->owned_capacity = capacity;
    }
    void *memory = calloc(count ? count : 1, size);
    if (!memory) list->failed = true;
    if (memory) list->owned[list->owned_count++] = memory;
    return memory;
}

static void note_values(coding_list *list, size_t node, bool outputs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        qdq_value v = outputs ? qdq_graph_node_output(list->graph, node, i)
                              : qdq_graph_node_input(list->graph, node, i);
        if (v.id >= list->values) list->values = v.id + 1;
    }
}

// Sorts the input ports of all nodes by the values that they read.
static void sort_readers(coding_list *list, size_t ports) {
    const qdq_graph *graph = list->graph;
    size_t nodes = qdq_graph_node_count(graph);
    list->first_reader = coding_list_memory(list, list->values + 1, sizeof(size_t));
    list->readers = coding_list_memory(list, ports, sizeof(qdq_node_port));
    size_t *next = coding_list_memory(list, list->values + 1, sizeof *next);
    if (list->failed) return;
    for (size_t n = 0; n < nodes; n++)
        for (size_t i = 0; i < qdq_graph_node(graph, n).input_count; i++)
            list->first_reader[qdq_graph_node_input(graph, n, i).id + 1]++;
    for (size_t v = 0; v < list->values; v++)
        next[v + 1] = list->first_reader[v + 1] += list->first_reader[v];
    for (size_t n = 0; n < nodes; n++)
        for (size_t i = 0; i < qdq_graph_node(graph, n).input_count; i++)
            list->readers[next[qdq_graph_node_input(graph, n, i).id]++] = (qdq_node_port){n, i};
}

bool coding_list_open(coding_list *list, const qdq_graph *graph, const qdq_plan *plan) {
    size_t nodes = qdq_graph_node_count(graph), ports = 0;
    *list = (coding_list){.graph = graph, .values = 1};
    list->first = coding_list_memory(list, nodes, sizeof *list->first);
    for (size_t n = 0; list->first && n < nodes; n++) {
        qdq_node_info info = qdq_graph_node(graph, n);
        list->first[n] = ports;
        ports += info.input_count;
        note_values(list, n, false, info.input_count);
        note_values(list, n, true, info.output_count);
    }
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        qdq_value v = qdq_output_value(graph, qdq_plan_output(plan, i)->name);
        if (v.id >= list->values) list->values = v.id + 1;
    }
    list->coded = coding_list_memory(list, ports, sizeof *list->coded);
    list->of_value = coding_list_memory(list, list->values, sizeof *list->of_value);
    list->returned = coding_list_memory(list, list->values, sizeof *list->returned);
    list->maker = coding_list_memory(list, list->values, sizeof *list->maker);
    sort_readers(list, ports);
    if (list->failed) return false;
    for (size_t i = 0; i < list->values; i++) list->maker[i] = SIZE_MAX;
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        list->returned[qdq_output_value(graph, qdq_plan_output(plan, i)->name).id] = true;
    for (size_t n = 0; n < nodes; n++)
        for (size_t i = 0; i < qdq_graph_node(graph, n).output_count; i++)
            list->maker[qdq_graph_node_output(graph, n, i).id] = n;
    return true;
}

void coding_list_release(coding_list *list) {
    for (size_t i = 0; i < list->owned_count; i++) free(list->owned[i]);
    free(list->owned);
    free(list->codings);
    *list = (coding_list){0};
}

size_t coding_list_add(coding_list *list, qdq_coding coding) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        qdq_coding *more = realloc(list->codings, capacity * sizeof *more);
        if (!more) list->failed = true;
        if (!more) return 0;
        list->codings = more, list->capacity = capacity;
    }
    list->codings[list->count] = coding;
    return list->count++;
}

void coding_list_read(coding_list *list, size_t coding, size_t node, size_t port) {
    size_t *at = &list->coded[list->first[node] + port];
    if (!*at) *at = coding + 1;
}

const qdq_coding *coding_list_at(const coding_list *list, size_t node, size_t port) {
    size_t coding = list->coded[list->first[node] + port];
    return coding ? &list->codings[coding - 1] : NULL;
}

void coding_list_close(coding_list *list) {
    size_t nodes = qdq_graph_node_count(list->graph), ports = 0;
    for (size_t n = 0; n < nodes; n++) ports += qdq_graph_node(list->graph, n).input_count;
    for (size_t i = 0; i < ports; i++)
        if (list->coded[i]) list->codings[list->coded[i] - 1].reader_count++;
    qdq_node_port **readers = coding_list_memory(list, list->count, sizeof(qdq_node_port *));
    if (!readers) return;
    for (size_t c = 0; c < list->count; c++) {
        readers[c] = coding_list_memory(list, list->codings[c].reader_count, sizeof **readers);
        list->codings[c].readers = readers[c];
        list->codings[c].reader_count = 0;
    }
    for (size_t n = 0; !list->failed && n < nodes; n++)
        for (size_t port = 0; port < qdq_graph_node(list->graph, n).input_count; port++) {
            size_t coding = list->coded[list->first[n] + port];
            if (!coding) continue;
            size_t *count = &list->codings[coding - 1].reader_count;
            readers[coding - 1][(*count)++] = (qdq_node_port){n, port};
        }
}
