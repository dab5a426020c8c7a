// SPDX-License-Identifier: Apache-2.0
#include "graph/json_nodes.h"

#include <stdio.h>
#include <string.h>

#include "graph/json_attrs.h"
#include "graph/node_order.h"
#include "runtime/nearest.h"

static bool find_node(const qdq_node_list *list, const char *name, size_t length, uint32_t *index) {
    return qdq_symbols_find(list->names, name, length, index);
}

// The node that makes the value called `name`: "node" or "node.port".
static bool maker_of(const qdq_node_list *list, const char *name, uint32_t *index) {
    if (find_node(list, name, strlen(name), index)) return true;
    const char *dot = strrchr(name, '.');
    return dot && find_node(list, name, (size_t)(dot - name), index);
}

static qdq_status read_text(qdq_node_list *list, const qdq_item *at, qdq_node_text *node) {
    static const char *const keys[] = {"op", "name", "inputs", "attrs", NULL};
    const qdq_reader *r = list->r;
    qdq_item inputs, attrs;
    QDQ_TRY(qdq_item_check_keys(r, at, keys));
    QDQ_TRY(qdq_item_string(r, at, "op", &node->op));
    QDQ_TRY(qdq_item_string(r, at, "name", &node->name));
    QDQ_TRY(qdq_item_member(r, at, "inputs", false, &inputs));
    QDQ_TRY(qdq_item_member(r, at, "attrs", false, &attrs));
    if (inputs.json && !qdq_json_is_object(inputs.json)) return qdq_item_wrong_kind(r, &inputs, "an object");
    if (attrs.json && !qdq_json_is_object(attrs.json)) return qdq_item_wrong_kind(r, &attrs, "an object");
    node->inputs = inputs.json;
    node->attrs = attrs.json;
    QDQ_JSON_EACH(port, node->inputs) if (!qdq_json_text(port)) {
        qdq_item value = {.json = port};
        snprintf(value.where, sizeof value.where, "%.60s.%.30s", inputs.where, qdq_json_name(port));
        return qdq_item_wrong_kind(r, &value, "the name of a value");
    }
    return QDQ_OK;
}

static void found_cycle(void *self, const uint32_t *members, size_t count) {
    const qdq_node_list *list = self;
    qdq_findings *f = &list->r->graph->findings;
    char path[512] = "";
    for (size_t i = 0; i < count && strlen(path) < sizeof path - 80; i++) {
        size_t at = strlen(path);
        snprintf(path + at, sizeof path - at, "'%.64s' <- ", list->nodes[members[i]].name);
    }
    qdq_graph_find_core(list->r->graph, QDQ_RULE_CYCLE,
                        (qdq_subject){.node = list->nodes[members[0]].name},
                        qdq_text(f, "it needs its own result: %s'%.64s'", path,
                                 list->nodes[members[0]].name),
                        NULL);
}

// Nodes sorted so that each comes after those that it needs.
static qdq_status sort_nodes(qdq_node_list *list, uint32_t *order) {
    const qdq_reader *r = list->r;
    size_t edges = 0, capacity = 0;
    for (size_t i = 0; i < list->count; i++)
        capacity += list->nodes[i].inputs ? qdq_json_count(list->nodes[i].inputs) : 0;
    size_t *start = qdq_pool_array(r->pool, list->count + 1, sizeof *start);
    uint32_t *needs = qdq_pool_array(r->pool, capacity, sizeof *needs);
    if (!start || !needs) return qdq_fail_memory(r->err, capacity * sizeof *needs);
    for (size_t i = 0; i < list->count; i++) {
            QDQ_JSON_EACH(port, list->nodes[i].inputs)
            edges += maker_of(list, qdq_json_text(port), &needs[edges]);
        start[i + 1] = edges;
    }
    qdq_needs all = {list->count, start, needs};
    if (!qdq_node_order(&all, order, r->pool, found_cycle, list))
        return qdq_fail_memory(r->err, list->count);
    return QDQ_OK;
}

qdq_value qdq_json_resolve(const qdq_node_list *list, const char *name, qdq_subject subject) {
    qdq_graph *graph = list->r->graph;
    qdq_value value = qdq_graph_find(graph, name);
    uint32_t maker;
    if (value.id) return value;
    if (maker_of(list, name, &maker)) {
        qdq_value made = qdq_graph_find(graph, list->nodes[maker].name);
        qdq_dtype dtype;
        qdq_shape shape;
        if (!made.id || !qdq_value_type(graph, made, &dtype, &shape))
            return qdq_graph_add_invalid(graph, NULL);
    }
    qdq_find_near(&graph->findings, QDQ_RULE_VALUE_UNKNOWN, subject,
                  qdq_text(&graph->findings, "names '%.255s', which nothing makes", name), NULL,
                  qdq_graph_nearest(graph, name));
    return qdq_graph_add_invalid(graph, NULL);
}

static bool read_ports(const qdq_node_list *list, const qdq_op *op, const qdq_node_text *node,
                       char *fields) {
    qdq_graph *graph = list->r->graph;
    bool fine = true;
    QDQ_JSON_EACH(json, node->inputs) {
        const char *names[QDQ_MAX_PORTS];
        size_t i = 0;
        for (; i < op->input_count && strcmp(op->inputs[i].name, qdq_json_name(json)) != 0; i++)
            names[i] = op->inputs[i].name;
        qdq_subject subject = {node->name, op->name, qdq_json_name(json)};
        if (i == op->input_count) {
            subject.port = NULL;
            qdq_find_near(&graph->findings, QDQ_RULE_PORT_UNKNOWN, subject,
                          qdq_text(&graph->findings, "port '%.64s' is unknown", qdq_json_name(json)), NULL,
                          qdq_nearest(qdq_json_name(json), names, op->input_count));
            fine = false;
            continue;
        }
        qdq_value value = qdq_json_resolve(list, qdq_json_text(json), subject);
        memcpy(fields + op->inputs[i].offset, &value, sizeof value);
    }
    return fine;
}

static qdq_status add_node(const qdq_node_list *list, const qdq_node_text *node) {
    const qdq_reader *r = list->r;
    const qdq_op *op = qdq_op_find(node->op);
    if (!op) {
        (void)qdq_add(r->graph, node->op, &node->name, sizeof node->name);
        return QDQ_OK;
    }
    char *fields = qdq_pool_array(r->pool, op->attrs_size, 1);
    if (!fields) return qdq_fail_memory(r->err, op->attrs_size);
    memcpy(fields, &node->name, sizeof node->name);
    bool fine = read_ports(list, op, node, fields);
    fine = qdq_json_read_attrs(r->graph, r->pool, op, node->name, node->attrs, fields) && fine;
    if (r->pool->failed) return qdq_fail_memory(r->err, 1);
    if (fine) (void)qdq_graph_add_node(r->graph, op, fields, op->attrs_size);
    else (void)qdq_graph_add_invalid(r->graph, node->name);
    return QDQ_OK;
}

qdq_status qdq_json_read_nodes(qdq_node_list *list, const qdq_item *top) {
    const qdq_reader *r = list->r;
    qdq_item at;
    QDQ_TRY(qdq_item_array(r, top, "nodes", false, &at));
    list->count = at.json ? qdq_json_count(at.json) : 0;
    list->nodes = qdq_pool_array(r->pool, list->count, sizeof *list->nodes);
    uint32_t *order = qdq_pool_array(r->pool, list->count, sizeof *order);
    if (!list->nodes || !order) return qdq_fail_memory(r->err, list->count * sizeof *list->nodes);
    size_t i = 0;
    QDQ_JSON_EACH(json, at.json) {
        qdq_item node = {.json = json};
        snprintf(node.where, sizeof node.where, "nodes[%zu]", i);
        QDQ_TRY(read_text(list, &node, &list->nodes[i]));
        const char *name = list->nodes[i].name;
        if (!find_node(list, name, strlen(name), NULL))  // the graph tells of a second one
            QDQ_TRY(qdq_symbols_add(list->names, name, strlen(name), (uint32_t)i, r->err));
        i++;
    }
    QDQ_TRY(sort_nodes(list, order));
    for (i = 0; i < list->count; i++) QDQ_TRY(add_node(list, &list->nodes[order[i]]));
    return QDQ_OK;
}
