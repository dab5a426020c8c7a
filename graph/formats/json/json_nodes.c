// SPDX-License-Identifier: Apache-2.0
// Reads the nodes of a graph file, which may be in any order, and adds them in the order of their
// data flow.
#include "graph/formats/json/json_nodes.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/json/json_attrs.h"
#include "graph/formats/json/json_memory_read.h"
#include "graph/formats/json/json_nesting.h"
#include "graph/formats/json/node_order.h"
#include "include/qdq/inspect.h"
#include "runtime/base/did_you_mean.h"

static bool find_node(const qdq_node_list *list, const char *name, size_t length, uint32_t *index) {
    return qdq_symbols_find(list->names, name, length, index);
}

// Finds the node that computes the value called `name`: "node", or "node.port" unless an input or a
// constant has exactly this name.
static bool maker_of(const qdq_node_list *list, const char *name, uint32_t *index) {
    if (find_node(list, name, strlen(name), index)) return true;
    if (!qdq_graph_name_is_free(list->r->graph, name)) return false;
    const char *dot = strrchr(name, '.');
    return dot && find_node(list, name, (size_t)(dot - name), index);
}

// Keeps the node's keys about the memory of its first output.
static qdq_status read_memory(const qdq_reader *r, const qdq_item *at, qdq_node_text *node) {
    qdq_given_layout given;
    const qdq_op *op = qdq_op_find(node->op);
    const qdq_subject subject = {.node = node->name, .op = op ? op->name : NULL};
    QDQ_TRY(qdq_json_read_memory(r, at, subject, &given));
    if (!given.has_config && !given.has_layout && !given.has_tile) return QDQ_OK;
    node->memory = qdq_mempool_copy(r->mempool, &given, 1, sizeof given);
    return node->memory ? QDQ_OK : qdq_fail_memory(r->err, sizeof given);
}

// Names a node that has an empty name by its place in the file, in findings and in the graph.
static qdq_status name_by_place(const qdq_reader *r, const qdq_item *at, qdq_node_text *node) {
    if (*node->name) return QDQ_OK;
    node->name = qdq_mempool_strdup(r->mempool, at->where);
    if (!node->name) return qdq_fail_memory(r->err, strlen(at->where) + 1);
    qdq_graph_report_core(r->graph, QDQ_RULE_NAME_FORM,
                          (qdq_subject){node->name, node->op, "name", NULL}, "is empty",
                          "1 to 255 bytes of UTF-8 without control characters");
    return QDQ_OK;
}

static qdq_status read_text(qdq_node_list *list, const qdq_item *at, qdq_node_text *node) {
    static const char *const keys[] = {"op", "name", "inputs", "attrs", QDQ_JSON_MEMORY_KEYS, NULL};
    const qdq_reader *r = list->r;
    qdq_item inputs, attrs;
    QDQ_TRY(qdq_item_check_keys(r, at, keys));
    QDQ_TRY(qdq_item_string(r, at, "op", &node->op));
    QDQ_TRY(qdq_item_string(r, at, "name", &node->name));
    QDQ_TRY(name_by_place(r, at, node));
    QDQ_TRY(read_memory(r, at, node));
    QDQ_TRY(qdq_item_member(r, at, "inputs", false, &inputs));
    QDQ_TRY(qdq_item_member(r, at, "attrs", false, &attrs));
    if (inputs.json && !qdq_json_is_object(inputs.json))
        return qdq_item_wrong_kind(r, &inputs, "an object");
    if (attrs.json && !qdq_json_is_object(attrs.json))
        return qdq_item_wrong_kind(r, &attrs, "an object");
    node->inputs = inputs.json;
    node->attrs = attrs.json;
    QDQ_JSON_EACH(port, node->inputs) {
        bool legal = qdq_json_text(port) || qdq_json_is_array(port) || qdq_json_is_null(port);
        QDQ_JSON_EACH(item, port) legal = legal && qdq_json_text(item);
        if (legal) continue;
        qdq_item value = {.json = port};
        snprintf(value.where, sizeof value.where, "%.60s.%.30s", inputs.where, qdq_json_name(port));
        return qdq_item_wrong_kind(r, &value, "the name of a value, or an array of names");
    }
    return QDQ_OK;
}

// Counts the names of a port: a name or a list of names; null is no connection.
static size_t count_names(const qdq_json_item *port) {
    if (qdq_json_is_null(port)) return 0;
    return qdq_json_is_array(port) ? qdq_json_count(port) : 1;
}
static const qdq_json_item *first_name(const qdq_json_item *port) {
    return qdq_json_is_array(port) ? qdq_json_first(port) : port;
}

// Returns the attribute of a node that names a value, and the name; NULL if the node has none.
static const qdq_attr_desc *value_attr(const qdq_node_text *node, const char **name) {
    const qdq_op *op = node->attrs ? qdq_op_find(node->op) : NULL;
    for (size_t i = 0; op && i < op->attr_count; i++) {
        if (op->attrs[i].kind != QDQ_ATTR_VALUE) continue;
        const qdq_json_item *json = qdq_json_find(node->attrs, op->attrs[i].name);
        *name = json ? qdq_json_text(json) : NULL;
        return *name ? &op->attrs[i] : NULL;
    }
    return NULL;
}

static void found_cycle(void *self, const uint32_t *members, size_t count) {
    const qdq_node_list *list = self;
    const char *names[QDQ_CYCLE_SHOWN] = {""};
    for (size_t i = 0; i < count && i < QDQ_CYCLE_SHOWN; i++)
        names[i] = list->nodes[members[i]].name;
    qdq_report_cycle(list->r->graph, names, count);
}

// Sorts the nodes so that each follows the nodes it needs.
static qdq_status sort_nodes(qdq_node_list *list, uint32_t *order) {
    const qdq_reader *r = list->r;
    size_t edges = 0, capacity = 0;
    for (size_t i = 0; i < list->count; i++) {
        capacity++;  // for an attribute that names a value
        QDQ_JSON_EACH(port, list->nodes[i].inputs) capacity += count_names(port);
    }
    size_t *start = qdq_mempool_array(r->mempool, list->count + 1, sizeof *start);
    uint32_t *needs = qdq_mempool_array(r->mempool, capacity, sizeof *needs);
    if (!start || !needs) return qdq_fail_memory(r->err, capacity * sizeof *needs);
    for (size_t i = 0; i < list->count; i++) {
        QDQ_JSON_EACH(port, list->nodes[i].inputs) {
            const qdq_json_item *name = first_name(port);
            for (size_t n = count_names(port); n--; name = qdq_json_next(name))
                edges += maker_of(list, qdq_json_text(name), &needs[edges]);
        }
        const char *named;
        if (value_attr(&list->nodes[i], &named)) edges += maker_of(list, named, &needs[edges]);
        start[i + 1] = edges;
    }
    qdq_needs all = {list->count, start, needs};
    if (!qdq_node_order(&all, order, r->mempool, found_cycle, list))
        return qdq_fail_memory(r->err, list->count);
    return QDQ_OK;
}

// each suggestion compares all candidates
static const char *nearest_value(const qdq_node_list *list, const char *name) {
    enum { CANDIDATES = 1000, SUGGESTIONS = 100 };  // candidates compared for each suggestion
    const qdq_graph *graph = list->r->graph;
    const char *names[CANDIDATES];
    size_t count = 0;
    if (graph->findings.errors >= SUGGESTIONS) return NULL;
    for (size_t i = 1; i < graph->value_count && count < CANDIDATES; i++)
        if (graph->values[i].name && *graph->values[i].name) names[count++] = graph->values[i].name;
    for (size_t i = 0; i < list->count && count < CANDIDATES; i++)
        names[count++] = list->nodes[i].name;
    return qdq_did_you_mean(name, names, count);
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
        list->nodes[maker].used = true;
        if (made.id) qdq_graph_note_use(graph, made);
        if (!made.id || !qdq_value_type(graph, made, &dtype, &shape))
            return qdq_graph_add_invalid(graph, NULL);
    }
    qdq_report_near(&graph->findings, QDQ_RULE_VALUE_UNKNOWN, subject,
                    qdq_text(&graph->findings, "names '%s', which does not exist", name), NULL,
                    nearest_value(list, name));
    return qdq_graph_add_invalid(graph, NULL);
}

static void unknown_port(const qdq_node_list *list, const qdq_op *op, const char *node,
                         const char *port) {
    qdq_findings *f = &list->r->graph->findings;
    const char *names[QDQ_MAX_PORTS];
    for (size_t i = 0; i < op->input_count; i++) names[i] = op->inputs[i].name;
    qdq_find_unknown(f, QDQ_RULE_PORT_UNKNOWN, (qdq_subject){.node = node, .op = op->name},
                     qdq_text(f, "port '%s' is unknown", port), port, names, op->input_count);
}

static const qdq_port_desc *find_port(const qdq_op *op, const char *name) {
    for (size_t i = 0; op && i < op->input_count; i++)
        if (strcmp(op->inputs[i].name, name) == 0) return &op->inputs[i];
    return NULL;
}

// Returns the values that a port names, as an array of `count`.
static qdq_value *resolve_port(const qdq_node_list *list, const qdq_json_item *json,
                               qdq_subject subject, size_t count) {
    qdq_value *values = qdq_mempool_array(list->r->mempool, count, sizeof *values);
    const qdq_json_item *name = first_name(json);
    for (size_t i = 0; values && i < count; i++, name = qdq_json_next(name))
        values[i] = qdq_json_resolve(list, qdq_json_text(name), subject);
    return values;
}

// Reports a list for a port that takes one value, or a single name for a port that takes a list.
static bool check_list(const qdq_node_list *list, bool variadic, const qdq_json_item *json,
                       qdq_subject subject) {
    bool is_list = qdq_json_is_array(json);
    if (is_list == variadic) return true;
    qdq_graph_report_core(list->r->graph, QDQ_RULE_PORT_COUNT, subject,
                          is_list ? "names a list of values" : "names a single value",
                          is_list ? "one value" : "an array of names");
    return false;
}

// Connects all ports in the op's struct. If the op (NULL) or a port is unknown, values are only
// counted as used.
static bool read_ports(const qdq_node_list *list, const qdq_op *op, const qdq_node_text *node,
                       char *fields) {
    bool fine = op != NULL;
    QDQ_JSON_EACH(json, node->inputs) {
        const char *name = qdq_json_name(json);
        qdq_subject subject = {node->name, op ? op->name : node->op, name, NULL};
        size_t count = count_names(json);
        if (qdq_json_is_null(json) && find_port(op, name)) continue;
        qdq_value *values = resolve_port(list, json, subject, count);
        if (!values) return false;
        const qdq_port_desc *port = find_port(op, name);
        bool variadic = op && port && qdq_port_is_variadic(op, port);
        if (port && fields && check_list(list, variadic, json, subject)) {
            qdq_values all = {values, count};
            if (variadic)
                memcpy(fields + port->offset, &all, sizeof all);
            else
                memcpy(fields + port->offset, values, sizeof *values);
            continue;
        }
        for (size_t i = 0; i < count; i++) qdq_graph_note_use(list->r->graph, values[i]);
        if (op && !port) unknown_port(list, op, node->name, name);
        fine = false;
    }
    return fine;
}

// Notes the values of the known ports of a node with errors as used, so they are not reported as
// unused.
static void note_uses(const qdq_node_list *list, const qdq_op *op, const char *fields) {
    for (size_t i = 0; i < op->input_count; i++) {
        const char *field = fields + op->inputs[i].offset;
        qdq_values values = {(const qdq_value *)(const void *)field, 1};
        if (qdq_port_is_variadic(op, &op->inputs[i])) memcpy(&values, field, sizeof values);
        for (size_t k = 0; k < values.count; k++)
            qdq_graph_note_use(list->r->graph, values.data[k]);
    }
}

static qdq_status add_node(const qdq_node_list *list, const qdq_node_text *node) {
    const qdq_reader *r = list->r;
    const qdq_op *op = qdq_op_find(node->op);
    if (!op) {
        (void)read_ports(list, NULL, node, NULL);
        (void)qdq_add_node(r->graph, node->op, &node->name, sizeof node->name);
    } else {
        char *fields = qdq_mempool_array(r->mempool, op->attrs_size, 1);
        if (!fields) return qdq_fail_memory(r->err, op->attrs_size);
        memcpy(fields, &node->name, sizeof node->name);
        bool fine = read_ports(list, op, node, fields);
        fine =
            qdq_json_read_attrs(r->graph, r->mempool, op, node->name, node->attrs, fields) && fine;
        const char *named;
        const qdq_attr_desc *attr = value_attr(node, &named);
        if (attr) {
            qdq_value value = qdq_json_resolve(
                list, named, (qdq_subject){node->name, op->name, attr->name, NULL});
            memcpy(fields + attr->offset, &value, sizeof value);
        }
        if (r->mempool->failed) return qdq_fail_memory(r->err, op->attrs_size);
        if (fine) {
            qdq_json_infer_blocks(r->graph, r->mempool, op, node->attrs, fields);
            qdq_json_check_nesting(r->graph, op, node->name, node->attrs, fields);
            qdq_value y = qdq_graph_add_node(r->graph, op, fields, op->attrs_size);
            qdq_json_check_qtype(r->graph, y, node->attrs);
            if (node->memory) qdq_json_give_memory(r->graph, y, node->memory);
        } else {
            note_uses(list, op, fields);
            (void)qdq_graph_add_invalid(r->graph, node->name);
        }
    }
    if (node->used) qdq_graph_note_use(r->graph, qdq_graph_find(r->graph, node->name));
    return QDQ_OK;
}

qdq_status qdq_json_read_nodes(qdq_node_list *list, const qdq_item *top) {
    const qdq_reader *r = list->r;
    qdq_item at;
    QDQ_TRY(qdq_item_array(r, top, "nodes", false, &at));
    list->count = at.json ? qdq_json_count(at.json) : 0;
    list->nodes = qdq_mempool_array(r->mempool, list->count, sizeof *list->nodes);
    uint32_t *order = qdq_mempool_array(r->mempool, list->count, sizeof *order);
    if (!list->nodes || !order) return qdq_fail_memory(r->err, list->count * sizeof *list->nodes);
    size_t i = 0;
    QDQ_JSON_EACH(json, at.json) {
        qdq_item node = {.json = json};
        snprintf(node.where, sizeof node.where, "nodes[%zu]", i);
        QDQ_TRY(read_text(list, &node, &list->nodes[i]));
        const char *name = list->nodes[i].name;
        if (!find_node(list, name, strlen(name), NULL))  // the graph reports a second use of a name
            QDQ_TRY(qdq_symbols_add(list->names, name, strlen(name), (uint32_t)i, r->err));
        i++;
    }
    QDQ_TRY(sort_nodes(list, order));
    for (i = 0; i < list->count; i++) QDQ_TRY(add_node(list, &list->nodes[order[i]]));
    return QDQ_OK;
}
