// SPDX-License-Identifier: Apache-2.0
// Walks the nodes of a model: looks up their inputs, and computes, inlines or converts each node.
#include "graph/formats/onnx/onnx_scope.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/onnx/fold/onnx_fold.h"
#include "graph/formats/onnx/ops/onnx_ops.h"

//---- Names ------------------------------------------------------------------

bool qdq_onnx_scope_add(qdq_onnx_scope *scope, const char *name, qdq_onnx_value *value) {
    qdq_onnx_import *im = scope->im;
    qdq_error own = {0};
    qdq_onnx_value **values = qdq_mempool_grow(im->mempool, scope->values, scope->count,
                                               &scope->capacity, sizeof(qdq_onnx_value *));
    if (!values) return false;
    scope->values = values;
    qdq_status status =
        qdq_symbols_add(scope->names, name, strlen(name), (uint32_t)scope->count, &own);
    if (status == QDQ_ERR_ARGUMENT) {
        qdq_findings *f = &im->graph->findings;
        qdq_graph_report_core(im->graph, QDQ_RULE_NAME_DUPLICATE, (qdq_subject){.port = "value"},
                              qdq_text(f, "name '%s' is given twice", name), NULL);
        return true;
    }
    if (status != QDQ_OK) return qdq_fail(im->err, status, "%s", own.text) == QDQ_OK;
    values[scope->count++] = value;
    return true;
}

bool qdq_onnx_scope_find(const qdq_onnx_scope *scope, const char *name, qdq_onnx_value **out) {
    uint32_t at;
    for (; scope; scope = scope->outer)
        if (qdq_symbols_find(scope->names, name, strlen(name), &at)) {
            *out = scope->values[at];
            return true;
        }
    return false;
}

// Returns the full name of a value of this scope; *own is true for a name of the main graph.
static const char *full_name(const qdq_onnx_scope *scope, const char *name, bool *own) {
    *own = !scope->caller;
    if (*own) return name;
    const char *outer = scope->caller->name;
    for (size_t i = 0; i < scope->results->count && i < scope->caller->output_count; i++) {
        const qdq_onnx_value *result = scope->caller->outputs[i];
        if (strcmp(scope->results->items[i], name) != 0 || !result) continue;
        *own = result->own;
        return result->name;
    }
    size_t size = strlen(outer) + strlen(name) + 2;
    char *full = qdq_mempool_array(scope->im->mempool, size, 1);
    if (full) snprintf(full, size, "%s/%s", outer, name);
    return full;
}

// Returns a value with the name that it has in this scope.
static qdq_onnx_value *new_value(const qdq_onnx_scope *scope, const char *name) {
    bool own;
    const char *full = full_name(scope, name, &own);
    qdq_onnx_value *value = full ? qdq_onnx_new_value(scope->im, full) : NULL;
    if (value) value->own = own;
    return value;
}

qdq_status qdq_onnx_add_initializers(qdq_onnx_scope *scope, const qdq_onnx_graph *graph) {
    qdq_onnx_import *im = scope->im;
    qdq_findings *f = &im->graph->findings;
    for (size_t i = 0; i < graph->initializers.count; i++) {
        const qdq_onnx_tensor *tensor = &graph->initializers.items[i];
        qdq_onnx_value *value = new_value(scope, tensor->name);
        if (!value || !qdq_onnx_scope_add(scope, tensor->name, value))
            return qdq_fail_memory(im->err, sizeof *value);
        const char *wrong = qdq_onnx_tensor_shape(im, tensor, &value->shape);
        value->why_not = wrong;
        if (!wrong) value->elem = tensor->elem, value->tensor = tensor;
    }
    if (graph->sparse_initializers)
        qdq_report_add(f, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                       (qdq_subject){.port = "graph"},
                       qdq_text(f, "has %zu sparse initializers", graph->sparse_initializers),
                       "none", "make them dense");
    return QDQ_OK;
}

//---- Attributes -------------------------------------------------------------

static const qdq_onnx_attr *find_among(const qdq_onnx_attr *attrs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, name) == 0) return &attrs[i];
    return NULL;
}

// Fills in the attributes of a node of a function, with the function's attributes in place of
// references to them.
static bool fill_attrs(const qdq_onnx_scope *scope, qdq_onnx_node *node) {
    const qdq_onnx_attrs *own = &node->proto->attrs;
    bool refers = false;
    node->attrs = own->items, node->attr_count = own->count;
    for (size_t i = 0; i < own->count; i++) refers |= *own->items[i].ref != '\0';
    if (!refers) return true;
    while (scope && !scope->function) scope = scope->outer;
    const qdq_onnx_node *caller = scope ? scope->caller : NULL;
    qdq_onnx_attr *filled = qdq_mempool_array(node->im->mempool, own->count, sizeof *filled);
    if (!filled) return false;
    size_t count = 0;
    for (size_t i = 0; i < own->count; i++) {
        const qdq_onnx_attr *attr = &own->items[i], *meant = attr;
        if (*attr->ref) {
            meant = NULL;
            if (caller) meant = find_among(caller->attrs, caller->attr_count, attr->ref);
            if (caller && !meant)
                meant = find_among(scope->function->defaults.items, scope->function->defaults.count,
                                   attr->ref);
        }
        if (!meant) continue;  // neither given nor has it a default: the op's own default counts
        filled[count] = *meant;
        filled[count++].name = attr->name;
    }
    node->attrs = filled, node->attr_count = count;
    return true;
}

static bool check_attrs(qdq_onnx_node *node) {
    for (size_t i = 0; i < node->attr_count; i++) {
        const qdq_onnx_attr *attr = &node->attrs[i];
        bool graph = attr->g && strcmp(node->proto->op, "If") != 0;
        if (!graph && !attr->has_others) continue;
        qdq_onnx_refuse(node, attr->name,
                        graph ? "is a graph" : "is a list of tensors or graphs, or sparse", NULL);
        return false;
    }
    return true;
}

//---- Nodes ------------------------------------------------------------------

static bool find_inputs(const qdq_onnx_scope *scope, qdq_onnx_node *node) {
    const qdq_onnx_strings *names = &node->proto->inputs;
    bool found = true;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->items[i];
        if (!*name || qdq_onnx_scope_find(scope, name, &node->inputs[i])) continue;
        found = false;
        if (scope->im->has_cycle && !scope->caller) continue;  // it is part of the cycle
        qdq_findings *f = &node->im->graph->findings;
        qdq_report_add(f, "core", &qdq_core_rules[QDQ_RULE_VALUE_UNKNOWN],
                       (qdq_subject){.node = node->name, .op = node->proto->op},
                       qdq_text(f, "reads '%s', which nothing before it makes", name), NULL, NULL);
    }
    while (node->input_count && !node->inputs[node->input_count - 1]) node->input_count--;
    return found;
}

static bool add_outputs(qdq_onnx_scope *scope, qdq_onnx_node *node) {
    const qdq_onnx_strings *names = &node->proto->outputs;
    for (size_t i = 0; i < names->count; i++) {
        if (!*names->items[i]) continue;
        node->outputs[i] = new_value(scope, names->items[i]);
        if (!node->outputs[i] || !qdq_onnx_scope_add(scope, names->items[i], node->outputs[i]))
            return false;
    }
    return true;
}

static bool start_node(qdq_onnx_scope *scope, const qdq_onnx_proto *proto, qdq_onnx_node *node) {
    qdq_onnx_import *im = scope->im;
    *node = (qdq_onnx_node){.im = im,
                            .proto = proto,
                            .inner = scope->caller != NULL,
                            .input_count = proto->inputs.count,
                            .output_count = proto->outputs.count};
    node->inputs = qdq_mempool_array(im->mempool, node->input_count, sizeof(qdq_onnx_value *));
    node->outputs = qdq_mempool_array(im->mempool, node->output_count, sizeof(qdq_onnx_value *));
    const char *first = node->output_count ? proto->outputs.items[0] : "";
    if (!*first) first = *proto->name ? proto->name : proto->op;
    bool own;
    const char *full = full_name(scope, first, &own);
    node->name = full ? qdq_onnx_free_name(im, full, own) : NULL;
    for (size_t i = 0; i < scope->opsets->count; i++) {
        const char *domain = scope->opsets->items[i].domain, *wanted = proto->domain;
        if (strcmp(domain, "ai.onnx") == 0) domain = "";
        if (strcmp(wanted, "ai.onnx") == 0) wanted = "";
        if (strcmp(domain, wanted) == 0) node->opset = scope->opsets->items[i].version;
    }
    return node->inputs && node->outputs && node->name && fill_attrs(scope, node);
}

static const qdq_onnx_function *find_function(const qdq_onnx_import *im,
                                              const qdq_onnx_proto *proto) {
    char key[700];
    uint32_t at;
    if (!im->model.functions.count) return NULL;
    int length = snprintf(key, sizeof key, "%.200s\n%.200s\n%.200s", proto->domain, proto->op,
                          proto->overload);
    bool found = qdq_symbols_find(im->functions, key, (size_t)length, &at);
    return found ? &im->model.functions.items[at] : NULL;
}

// True if all inputs of the node are known; a value that nothing can read is refused.
static bool inputs_are_known(qdq_onnx_node *node) {
    bool known = true;
    for (size_t i = 0; i < node->input_count; i++) {
        const qdq_onnx_value *value = node->inputs[i];
        if (!value || value->elem != ONNX_UNDEFINED) continue;
        known = false;
        if (value->why_not)
            qdq_onnx_refuse(
                node, NULL,
                ONNX_TEXT(node, "reads '%.128s', which %s", value->name, value->why_not), NULL);
    }
    return known;
}

// Marks further outputs that were not bound: they cannot be read.
static void mark_outputs(qdq_onnx_node *node) {
    for (size_t i = 1; i < node->output_count; i++) {
        qdq_onnx_value *out = node->outputs[i];
        if (out && out->elem == ONNX_UNDEFINED && !out->why_not)
            out->why_not =
                ONNX_TEXT(node, "is output %zu of %.64s and is not computed", i, node->proto->op);
    }
}

static bool check_count(qdq_onnx_node *node, size_t least) {
    size_t wanted = least == QDQ_ONNX_ALL ? node->input_count : least;
    if (least == QDQ_ONNX_ALL && wanted == 0) wanted = 1;
    for (size_t i = 0; i < wanted; i++) {
        if (qdq_onnx_input(node, i)) continue;
        qdq_onnx_refuse(node, NULL, ONNX_TEXT(node, "lacks input %zu", i), NULL);
        return false;
    }
    return true;
}

// Refuses ops whose results have as many elements as their inputs' values say.
static bool refuse_open_result(qdq_onnx_node *node) {
    static const char *const ops[] = {"NonZero", "NonMaxSuppression", "Unique", "Compress"};
    bool open = false;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        open |= !*node->proto->domain && strcmp(node->proto->op, ops[i]) == 0;
    if (!open) return false;
    const qdq_onnx_value *x = qdq_onnx_input(node, 0);
    bool made = x && x->ref.id && node->im->graph->values[x->ref.id].kind == QDQ_VALUE_MADE;
    qdq_onnx_refuse_hint(
        node, NULL, "makes a shape that depends on values", "fixed shapes",
        made ? ONNX_TEXT(node, "--until '%.200s' ends the model at what it reads", x->name)
             : "docs/onnx.md lists what is read");
    return true;
}

// Drops constants without elements where an input may be absent; Reshape takes them for the shape
// of a scalar.
static void drop_empty_inputs(qdq_onnx_node *node, size_t least) {
    if (least == QDQ_ONNX_ALL || strcmp(node->proto->op, "Reshape") == 0) return;
    for (size_t i = least; i < node->input_count; i++) {
        const qdq_onnx_value *value = node->inputs[i];
        if (value && qdq_onnx_count(value->shape) == 0) node->inputs[i] = NULL;
    }
}

static void convert(qdq_onnx_node *node) {
    bool exists;
    const qdq_onnx_op *row =
        qdq_onnx_find_op(node->proto->domain, node->proto->op, node->opset, &exists);
    bool computes = qdq_onnx_folds(node->proto->op) && !*node->proto->domain;
    if (!row && !computes && refuse_open_result(node)) return;
    if (!row && !computes) {
        qdq_onnx_refuse(node, NULL, exists ? "is of an opset that is not read" : "is not read",
                        exists ? ONNX_TEXT(node, "a newer one than %lld", (long long)node->opset)
                               : NULL);
        return;
    }
    if (!inputs_are_known(node)) return;
    qdq_onnx_check_opset(node);
    if (row) drop_empty_inputs(node, row->least);
    if (computes && qdq_onnx_fold(node, row != NULL)) return;
    if (node->refused) return;
    if (!row && node->unfolded) {
        qdq_onnx_refuse(node, NULL, node->unfolded,
                        ONNX_TEXT(node, "at most %d of a value, and %d of all",
                                  QDQ_ONNX_MOST_NUMBERS, QDQ_ONNX_MOST_IN_ALL));
        return;
    }
    if (!row) {
        qdq_onnx_refuse(node, NULL, "is read only where its inputs are known before a run", NULL);
        return;
    }
    if (!check_count(node, row->least)) return;
    if (row->convert) {
        row->convert(node, row);
    } else {
        qdq_onnx_call call;
        qdq_onnx_begin_row(&call, node, row);
        qdq_onnx_finish(&call);
    }
    if (!node->refused) mark_outputs(node);
}

// Notes the inputs of a node that is not converted as used.
static void note_uses(const qdq_onnx_node *node) {
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] && node->inputs[i]->ref.id)
            qdq_graph_note_use(node->im->graph, node->inputs[i]->ref);
}

// Marks the nodes from number `first` on, which stand for one node of the model, if they are
// several. A product that stands for an Einsum adds in another order than MatMul.
static void note_expansion(qdq_graph *graph, size_t first, const char *op) {
    bool several = graph->node_count > first + 1 || strcmp(op, "Einsum") == 0;
    for (size_t i = first; several && i < graph->node_count; i++) graph->nodes[i].expanded = true;
}

static bool is_made(const qdq_onnx_node *node) {
    return node->output_count && node->outputs[0] && node->outputs[0]->elem != ONNX_UNDEFINED;
}

static qdq_status add_node(qdq_onnx_scope *scope, const qdq_onnx_proto *proto) {
    qdq_onnx_import *im = scope->im;
    qdq_onnx_node node;
    const size_t most = qdq_onnx_most_nodes(im);
    if (++im->nodes > most)
        return qdq_fail(im->err, QDQ_ERR_LIMIT,
                        "the model has more than %zu nodes with functions inlined, wanted at most "
                        "that number",
                        most);
    if (!start_node(scope, proto, &node)) return qdq_fail_memory(im->err, sizeof node);
    bool found = find_inputs(scope, &node);
    if (!add_outputs(scope, &node)) return qdq_fail_memory(im->err, sizeof node);
    if (!found || !check_attrs(&node)) {
        note_uses(&node);
        return im->err->status;
    }
    const qdq_onnx_function *function = find_function(im, proto);
    bool standard = !*proto->domain || strcmp(proto->domain, "ai.onnx") == 0;
    size_t before = im->graph->node_count;
    if (function) return qdq_onnx_inline_function(scope, &node, function);
    if (standard && strcmp(proto->op, "If") == 0) return qdq_onnx_convert_if(scope, &node);
    if (standard && strcmp(proto->op, "Constant") == 0)
        qdq_onnx_convert_constant(&node);
    else
        convert(&node);
    if (!node.stepwise) note_expansion(im->graph, before, proto->op);
    if (!is_made(&node)) note_uses(&node);
    return im->err->status;
}

qdq_status qdq_onnx_add_nodes(qdq_onnx_scope *scope, const qdq_onnx_protos *nodes) {
    for (size_t i = 0; i < nodes->count; i++) {
        QDQ_TRY(add_node(scope, &nodes->items[i]));
        if (scope->im->mempool->failed || scope->im->graph->mempool.failed)
            return qdq_fail_memory(scope->im->err, 1);
    }
    return QDQ_OK;
}
