// SPDX-License-Identifier: Apache-2.0
// Reading qdq/1 files (docs/format.md): bytes, a strict scan, cJSON, then the calls of graph.h. What
// is not such a file stops with an error; what is wrong with the graph in it becomes findings.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graph/graph.h"
#include "graph/json_attrs.h"
#include "graph/json_tree.h"
#include "graph/node_order.h"
#include "graph/open_file.h"
#include "graph/safetensors.h"
#include "graph/target.h"
#include "runtime/dtype.h"
#include "runtime/nearest.h"

typedef struct reader {
    qdq_graph *graph;
    qdq_pool *pool;      // scratch, gone after reading
    const char *folder;  // of constants' files; NULL: none may be named
    qdq_tensor_file *file;  // the one that was opened last
    const char *file_name;
    qdq_error *err;
} reader;

// A JSON value and how to call it: "nodes[3].attrs".
typedef struct item {
    const qdq_json_item *json;
    char where[96];
} item;

//---- Typed access -----------------------------------------------------------

static qdq_status wrong_kind(const reader *r, const item *at, const char *wanted) {
    return qdq_fail(r->err, QDQ_ERR_PARSE, "%s is %s, wanted %s", at->where, qdq_json_kind_text(at->json),
                    wanted);
}

// The member called `key`. A missing one is an error if it is required, else out->json is NULL.
static qdq_status member(const reader *r, const item *object, const char *key, bool required,
                         item *out) {
    out->json = qdq_json_find(object->json, key);
    snprintf(out->where, sizeof out->where, "%.60s%s%.30s", object->where,
             *object->where ? "." : "", key);
    if (out->json || !required) return QDQ_OK;
    return qdq_fail(r->err, QDQ_ERR_PARSE, "%s%skey '%s' is missing", object->where,
                    *object->where ? ": " : "", key);
}

static qdq_status string_member(const reader *r, const item *object, const char *key,
                                const char **out) {
    item value;
    QDQ_TRY(member(r, object, key, true, &value));
    *out = qdq_json_text(value.json);
    return *out ? QDQ_OK : wrong_kind(r, &value, "a string");
}

static qdq_status array_member(const reader *r, const item *object, const char *key, bool required,
                               item *out) {
    QDQ_TRY(member(r, object, key, required, out));
    if (out->json && !qdq_json_is_array(out->json)) return wrong_kind(r, out, "an array");
    return QDQ_OK;
}

// Refuses keys that are not in the NULL-terminated list and do not begin with "x-".
static qdq_status check_keys(const reader *r, const item *object, const char *const *keys) {
    size_t count = 0;
    while (keys[count]) count++;
    if (!qdq_json_is_object(object->json)) return wrong_kind(r, object, "an object");
    QDQ_JSON_EACH(child, object->json) {
        bool known = strncmp(qdq_json_name(child), "x-", 2) == 0;
        for (size_t i = 0; i < count && !known; i++) known = strcmp(qdq_json_name(child), keys[i]) == 0;
        if (known) continue;
        const char *nearest = qdq_nearest(qdq_json_name(child), keys, count);
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s%skey '%.64s' is unknown%s%s%s", object->where,
                        *object->where ? ": " : "", qdq_json_name(child),
                        nearest ? "; did you mean '" : "; keys of your own begin with 'x-'",
                        nearest ? nearest : "", nearest ? "'?" : "");
    }
    return QDQ_OK;
}

// A shape of more than 8 dims keeps its rank, which the graph then refuses.
static qdq_status read_shape(const reader *r, const item *object, qdq_shape *shape) {
    item list;
    QDQ_TRY(array_member(r, object, "shape", true, &list));
    *shape = (qdq_shape){0};
    QDQ_JSON_EACH(dim, list.json) {
        int64_t value;
        if (!qdq_json_whole(dim, &value))
            return qdq_fail(r->err, QDQ_ERR_PARSE, "%s[%d] is %s, wanted a whole number",
                            list.where, shape->rank, qdq_json_kind_text(dim));
        if (shape->rank < QDQ_MAX_RANK) shape->dims[shape->rank] = value;
        shape->rank++;
    }
    return QDQ_OK;
}

//---- Nodes ------------------------------------------------------------------

typedef struct node_text {
    const char *name;
    const char *op;
    const qdq_json_item *inputs, *attrs;  // objects or NULL
} node_text;

typedef struct node_list {
    const reader *r;
    node_text *nodes;
    size_t count;
    qdq_symbols *names;  // node name -> index
} node_list;

static bool find_node(const node_list *list, const char *name, size_t length, uint32_t *index) {
    return qdq_symbols_find(list->names, name, length, index);
}

// The node that makes the value called `name`: "node" or "node.port".
static bool maker_of(const node_list *list, const char *name, uint32_t *index) {
    if (find_node(list, name, strlen(name), index)) return true;
    const char *dot = strrchr(name, '.');
    return dot && find_node(list, name, (size_t)(dot - name), index);
}

static qdq_status read_node_text(node_list *list, const item *at, node_text *node) {
    static const char *const keys[] = {"op", "name", "inputs", "attrs", NULL};
    const reader *r = list->r;
    item inputs, attrs;
    QDQ_TRY(check_keys(r, at, keys));
    QDQ_TRY(string_member(r, at, "op", &node->op));
    QDQ_TRY(string_member(r, at, "name", &node->name));
    QDQ_TRY(member(r, at, "inputs", false, &inputs));
    QDQ_TRY(member(r, at, "attrs", false, &attrs));
    if (inputs.json && !qdq_json_is_object(inputs.json)) return wrong_kind(r, &inputs, "an object");
    if (attrs.json && !qdq_json_is_object(attrs.json)) return wrong_kind(r, &attrs, "an object");
    node->inputs = inputs.json;
    node->attrs = attrs.json;
    QDQ_JSON_EACH(port, node->inputs) if (!qdq_json_text(port)) {
        item value = {.json = port};
        snprintf(value.where, sizeof value.where, "%.60s.%.30s", inputs.where, qdq_json_name(port));
        return wrong_kind(r, &value, "the name of a value");
    }
    return QDQ_OK;
}

static void found_cycle(void *self, const uint32_t *members, size_t count) {
    const node_list *list = self;
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
static qdq_status sort_nodes(node_list *list, uint32_t *order) {
    const reader *r = list->r;
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

// The value called `name`. What is wrong elsewhere already gives an invalid value without a word.
static qdq_value resolve(const node_list *list, const char *name, qdq_subject subject) {
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

static bool read_ports(const node_list *list, const qdq_op *op, const node_text *node,
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
        qdq_value value = resolve(list, qdq_json_text(json), subject);
        memcpy(fields + op->inputs[i].offset, &value, sizeof value);
    }
    return fine;
}

static qdq_status add_node(const node_list *list, const node_text *node) {
    const reader *r = list->r;
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

static qdq_status read_nodes(node_list *list, const item *top) {
    const reader *r = list->r;
    item at;
    QDQ_TRY(array_member(r, top, "nodes", false, &at));
    list->count = at.json ? qdq_json_count(at.json) : 0;
    list->nodes = qdq_pool_array(r->pool, list->count, sizeof *list->nodes);
    uint32_t *order = qdq_pool_array(r->pool, list->count, sizeof *order);
    if (!list->nodes || !order) return qdq_fail_memory(r->err, list->count * sizeof *list->nodes);
    size_t i = 0;
    QDQ_JSON_EACH(json, at.json) {
        item node = {.json = json};
        snprintf(node.where, sizeof node.where, "nodes[%zu]", i);
        QDQ_TRY(read_node_text(list, &node, &list->nodes[i]));
        const char *name = list->nodes[i].name;
        if (!find_node(list, name, strlen(name), NULL))  // the graph tells of a second one
            QDQ_TRY(qdq_symbols_add(list->names, name, strlen(name), (uint32_t)i, r->err));
        i++;
    }
    QDQ_TRY(sort_nodes(list, order));
    for (i = 0; i < list->count; i++) QDQ_TRY(add_node(list, &list->nodes[order[i]]));
    return QDQ_OK;
}

//---- Inputs, constants, outputs ---------------------------------------------

typedef struct declaration {
    const char *name;
    qdq_dtype dtype;
    qdq_shape shape;
} declaration;

static qdq_status read_declaration(const reader *r, const item *at, declaration *out) {
    const char *dtype;
    QDQ_TRY(string_member(r, at, "name", &out->name));
    QDQ_TRY(string_member(r, at, "dtype", &dtype));
    QDQ_TRY(read_shape(r, at, &out->shape));
    out->dtype = qdq_json_read_dtype(r->graph, dtype, (qdq_subject){.node = out->name, .port = "dtype"});
    return QDQ_OK;
}

static qdq_status read_input(reader *r, const item *at) {
    static const char *const keys[] = {"name", "dtype", "shape", NULL};
    declaration d;
    QDQ_TRY(check_keys(r, at, keys));
    QDQ_TRY(read_declaration(r, at, &d));
    if (d.dtype == QDQ_DTYPE_NONE) (void)qdq_graph_add_invalid(r->graph, d.name);
    else (void)qdq_input(r->graph, d.name, d.dtype, d.shape);
    return QDQ_OK;
}

static void bad_data(const reader *r, const declaration *d, const char *found, const char *wanted) {
    qdq_graph_find_core(r->graph, QDQ_RULE_CONSTANT_DATA, (qdq_subject){d->name, NULL, "data"},
                        found, wanted);
}

// One number of a constant; false with a finding if the dtype does not hold it.
static bool store_number(const reader *r, const declaration *d, const qdq_json_item *json, size_t i,
                         char *out) {
    const qdq_dtype_info *info = qdq_dtype_get(d->dtype);
    qdq_findings *f = &r->graph->findings;
    double number;
    if (!qdq_json_any_number(json, &number)) {
        bad_data(r, d, qdq_text(f, "has %s at index %zu", qdq_json_kind_text(json), i), "a number");
        return false;
    }
    if (info->kind == QDQ_KIND_FLOAT) {
        float real = (float)number;
        qdq_encode_float(d->dtype, &real, out, 1, QDQ_BFLOAT16_HALF_EVEN);
        return true;
    }
    if (!(number >= (double)info->least && number <= (double)info->greatest) ||
        number != floor(number)) {
        bad_data(r, d, qdq_text(f, "has %.17g at index %zu", number, i),
                 qdq_text(f, "whole numbers from %lld to %lld of %s", (long long)info->least,
                          (long long)info->greatest, info->name));
        return false;
    }
    int32_t whole = (int32_t)number;
    qdq_encode_int(d->dtype, &whole, out, 1);
    return true;
}

static void read_inline(const reader *r, const declaration *d, const qdq_json_item *data) {
    size_t count = qdq_json_count(data), wanted = qdq_shape_count(d->shape), i = 0;
    qdq_findings *f = &r->graph->findings;
    qdq_value value;
    char *memory = qdq_graph_add_constant(r->graph, d->name, d->dtype, d->shape, &value);
    if (!memory) return;
    if (count != wanted || count > QDQ_MAX_INLINE_ELEMENTS) {
        bad_data(r, d, qdq_text(f, "has %zu elements", count),
                 count != wanted ? qdq_text(f, "%zu, as many as the shape", wanted)
                                 : "at most 4096; more go to a .safetensors file");
        return;
    }
    QDQ_JSON_EACH(json, data) {
        if (!store_number(r, d, json, i, memory + i * qdq_dtype_size(d->dtype))) return;
        i++;
    }
}

static qdq_status open_tensors(reader *r, const char *name) {
    if (r->file && strcmp(r->file_name, name) == 0) return QDQ_OK;
    if (!r->folder)
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "a graph that is read from memory without a folder cannot name files");
    qdq_tensor_file_close(r->file);
    r->file_name = name;
    r->file = qdq_tensor_file_open_beneath(r->folder, name, r->graph->allocator, r->err);
    return r->file ? QDQ_OK : r->err->status;
}

static bool same_shape(qdq_shape a, qdq_shape b) {
    bool same = a.rank == b.rank;
    for (int i = 0; same && i < a.rank; i++) same = a.dims[i] == b.dims[i];
    return same;
}

static qdq_status read_file_constant(reader *r, const item *at, const declaration *d) {
    const char *file, *tensor;
    QDQ_TRY(string_member(r, at, "file", &file));
    QDQ_TRY(string_member(r, at, "tensor", &tensor));
    QDQ_TRY(open_tensors(r, file));
    const qdq_tensor_info *info = qdq_tensor_file_find(r->file, tensor);
    if (!info)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "file '%.200s' has no tensor '%.200s'", file, tensor);
    const char *held = qdq_dtype_get(d->dtype)->safetensors;
    if (strcmp(qdq_tensor_file_dtype(r->file, info), held) != 0 || !same_shape(info->shape, d->shape))
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "tensor '%.200s' of file '%.200s' has another dtype (%s) or shape than "
                        "constant '%.200s' declares (%s)",
                        tensor, file, qdq_tensor_file_dtype(r->file, info), d->name, held);
    qdq_value value;
    void *memory = qdq_graph_add_constant(r->graph, d->name, d->dtype, d->shape, &value);
    return memory ? qdq_tensor_file_read(r->file, info, memory, r->err) : QDQ_OK;
}

static qdq_status read_constant(reader *r, const item *at) {
    static const char *const keys[] = {"name", "dtype", "shape", "data", "file", "tensor", NULL};
    declaration d;
    item data, file;
    QDQ_TRY(check_keys(r, at, keys));
    QDQ_TRY(read_declaration(r, at, &d));
    QDQ_TRY(array_member(r, at, "data", false, &data));
    QDQ_TRY(member(r, at, "file", !data.json, &file));
    if (data.json && file.json)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s has both data and file, wanted one of the two",
                        at->where);
    if (d.dtype == QDQ_DTYPE_NONE) {
        (void)qdq_graph_add_invalid(r->graph, d.name);
        return QDQ_OK;
    }
    if (file.json) QDQ_TRY(read_file_constant(r, at, &d));
    else read_inline(r, &d, data.json);
    if (r->err->status) qdq_error_prefix(r->err, at->where);
    return QDQ_OK;
}

static qdq_status read_output(const node_list *list, const item *at) {
    static const char *const keys[] = {"name", "value", NULL};
    const char *name, *value;
    QDQ_TRY(check_keys(list->r, at, keys));
    QDQ_TRY(string_member(list->r, at, "name", &name));
    QDQ_TRY(string_member(list->r, at, "value", &value));
    qdq_output(list->r->graph, name,
               resolve(list, value, (qdq_subject){.port = qdq_text(&list->r->graph->findings,
                                                                   "output '%.255s'", name)}));
    return QDQ_OK;
}

//---- The whole --------------------------------------------------------------

static qdq_status read_list(reader *r, const item *top, const char *key,
                            qdq_status (*read)(reader *r, const item *at)) {
    item list, at;
    QDQ_TRY(array_member(r, top, key, false, &list));
    size_t i = 0;
    QDQ_JSON_EACH(json, list.json) {
        at.json = json;
        snprintf(at.where, sizeof at.where, "%s[%zu]", key, i++);
        QDQ_TRY(read(r, &at));
    }
    return QDQ_OK;
}

static qdq_status read_outputs(const node_list *list, const item *top) {
    item outputs, at;
    QDQ_TRY(array_member(list->r, top, "outputs", true, &outputs));
    size_t i = 0;
    QDQ_JSON_EACH(json, outputs.json) {
        at.json = json;
        snprintf(at.where, sizeof at.where, "outputs[%zu]", i++);
        QDQ_TRY(read_output(list, &at));
    }
    return QDQ_OK;
}

static qdq_status read_names(reader *r, const item *top) {
    qdq_graph *graph = r->graph;
    const char *format;
    item name, target;
    QDQ_TRY(string_member(r, top, "format", &format));
    if (strcmp(format, "qdq/1") != 0)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "format is '%.64s', wanted 'qdq/1'", format);
    QDQ_TRY(member(r, top, "name", false, &name));
    QDQ_TRY(member(r, top, "target", false, &target));
    if (name.json && !qdq_json_text(name.json)) return wrong_kind(r, &name, "a string");
    if (target.json && !qdq_json_text(target.json)) return wrong_kind(r, &target, "a string");
    if (name.json) graph->name = qdq_pool_strdup(&graph->pool, qdq_json_text(name.json));
    if (!target.json || graph->target_given) return QDQ_OK;
    qdq_error unknown = {0};
    if (!qdq_target_find(qdq_json_text(target.json), &unknown))
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s", unknown.text);
    graph->target = qdq_pool_strdup(&graph->pool, qdq_json_text(target.json));
    return QDQ_OK;
}

static qdq_status read_graph(reader *r, const qdq_json_item *json) {
    static const char *const keys[] = {"format",    "name",  "target",  "inputs",
                                       "constants", "nodes", "outputs", NULL};
    item top = {.json = json, .where = ""};
    node_list list = {.r = r};
    if (!qdq_json_is_object(json))
        return qdq_fail(r->err, QDQ_ERR_PARSE, "the file is %s, wanted an object", qdq_json_kind_text(json));
    QDQ_TRY(check_keys(r, &top, keys));
    QDQ_TRY(read_names(r, &top));
    QDQ_TRY(read_list(r, &top, "inputs", read_input));
    QDQ_TRY(read_list(r, &top, "constants", read_constant));
    list.names = qdq_symbols_create(r->graph->allocator, r->err);
    if (!list.names) return r->err->status;
    qdq_status status = read_nodes(&list, &top);
    if (status == QDQ_OK) status = read_outputs(&list, &top);
    qdq_symbols_destroy(list.names);
    return status;
}

// Reads `text`, which has a NUL behind its `length` bytes, into a new graph.
static qdq_status read_text(qdq_graph *graph, const char *text, size_t length, const char *folder,
                            qdq_error *err) {
    qdq_json_item *json =
        qdq_json_tree_parse(text, length, graph->allocator, graph->limits.json_values, err);
    if (!json) return err->status;
    qdq_pool scratch;
    qdq_pool_init(&scratch, graph->allocator);
    reader r = {.graph = graph, .pool = &scratch, .folder = folder, .err = err};
    qdq_status status = read_graph(&r, json);
    qdq_tensor_file_close(r.file);
    qdq_pool_release(&scratch);
    qdq_json_tree_free(json);
    if (status == QDQ_OK && graph->pool.failed) status = qdq_fail_memory(err, 1);
    if (status == QDQ_OK && graph->broken.status)
        status = qdq_fail(err, graph->broken.status, "%s", graph->broken.text);
    return status;
}

qdq_graph *qdq_graph_parse(const char *text, size_t length, const char *name, const char *folder,
                           const qdq_graph_options *options, qdq_error *err) {
    qdq_error own = {0};
    qdq_graph *graph = qdq_graph_create(NULL, options);
    if (!graph) {
        qdq_fail_memory(err, sizeof *graph);
        return NULL;
    }
    const char *file = qdq_pool_strdup(&graph->pool, name ? name : "");
    graph->file = graph->findings.file = file ? file : "";
    char *copy = NULL;
    if (length > graph->limits.file_bytes)
        qdq_fail(&own, QDQ_ERR_LIMIT, "the file has %zu bytes, wanted at most %zu", length,
                 graph->limits.file_bytes);
    else if (!(copy = qdq_alloc_array(graph->allocator, length + 1, 1, 16)))
        qdq_fail_memory(&own, length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        (void)read_text(graph, copy, length, folder, &own);
        qdq_free_array(graph->allocator, copy, length + 1, 1);
    }
    if (own.status == QDQ_OK) return graph;
    if (*graph->file) qdq_error_prefix(&own, graph->file);
    qdq_fail(err, own.status, "%s", own.text);
    qdq_graph_destroy(graph);
    return NULL;
}

// The folder that a path lies in, "." for none.
static const char *folder_of(const char *path, char *out, size_t capacity) {
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    snprintf(out, capacity, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return out;
}

qdq_graph *qdq_graph_load(const char *path, const qdq_graph_options *options, qdq_error *err) {
    qdq_error own = {0};
    qdq_open_file file = {.descriptor = -1};
    qdq_limits limits = qdq_limits_or_default(options ? &options->limits : NULL);
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    qdq_graph *graph = NULL;
    char folder[4096], *text = NULL;
    if (qdq_open_path(path, &file, &own) != QDQ_OK) goto done;
    if (file.bytes > limits.file_bytes) {
        qdq_fail(&own, QDQ_ERR_LIMIT, "the file has %llu bytes, wanted at most %zu",
                 (unsigned long long)file.bytes, limits.file_bytes);
        goto done;
    }
    text = qdq_alloc_array(allocator, (size_t)file.bytes + 1, 1, 16);
    if (!text) qdq_fail_memory(&own, (size_t)file.bytes + 1);
    else qdq_open_file_read(file.descriptor, text, (size_t)file.bytes, 0, &own);
done:
    if (file.descriptor >= 0) close(file.descriptor);
    if (own.status == QDQ_OK) {
        graph = qdq_graph_parse(text, (size_t)file.bytes, path,
                                folder_of(path, folder, sizeof folder), options, err);
    } else {
        qdq_error_prefix(&own, path);
        qdq_fail(err, own.status, "%s", own.text);
    }
    if (text) qdq_free_array(allocator, text, (size_t)file.bytes + 1, 1);
    return graph;
}
