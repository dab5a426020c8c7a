// SPDX-License-Identifier: Apache-2.0
// Adds nodes and constants to the draft of a model.
#include "graph/formats/onnx/write/onnx_draft.h"

#include <stdio.h>
#include <string.h>

#include "runtime/numerics/dtype.h"

//---- Names ------------------------------------------------------------------

bool qdq_onnx_open_names(qdq_onnx_draft *draft, qdq_error *err) {
    draft->taken = qdq_symbols_create(draft->graph->allocator, err);
    draft->taken_nodes = draft->taken ? qdq_symbols_create(draft->graph->allocator, err) : NULL;
    return draft->taken_nodes != NULL;
}

void qdq_onnx_close_names(qdq_onnx_draft *draft) {
    qdq_symbols_destroy(draft->taken);
    qdq_symbols_destroy(draft->taken_nodes);
    draft->taken = draft->taken_nodes = NULL;
}

// Enters a name; false if it is taken, or if memory ran out.
static bool take(const qdq_onnx_draft *draft, qdq_symbols *taken, const char *name) {
    qdq_error err = {0};
    qdq_status status = qdq_symbols_add(taken, name, strlen(name), 0, &err);
    if (status != QDQ_OK && status != QDQ_ERR_ARGUMENT) draft->mempool->failed = true;
    return status == QDQ_OK;
}

static const char *take_name(qdq_onnx_draft *draft, qdq_symbols *taken, const char *wanted) {
    size_t length = strlen(wanted);
    if (draft->mempool->failed || take(draft, taken, wanted)) return wanted;
    char *name = qdq_mempool_array(draft->mempool, length + 32, 1);
    do {  // no number is tried twice
        if (name) snprintf(name, length + 32, "%s~%u", wanted, ++draft->renamed);
    } while (name && !take(draft, taken, name) && !draft->mempool->failed);
    return name ? name : wanted;
}

const char *qdq_onnx_take_name(qdq_onnx_draft *draft, const char *wanted) {
    return take_name(draft, draft->taken, wanted);
}

const char *qdq_onnx_take_node_name(qdq_onnx_draft *draft, const char *wanted) {
    return take_name(draft, draft->taken_nodes, wanted);
}

static const char *natural_name(const qdq_graph_value *v) {
    return v->original && *v->original ? v->original : v->name;
}

// Names inputs first, since callers bind them by name, then outputs, then all others.
bool qdq_onnx_name_values(qdq_onnx_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 1; i < graph->value_count; i++)
        if (graph->values[i].kind == QDQ_VALUE_INPUT)
            draft->names[i] = qdq_onnx_take_name(draft, natural_name(&graph->values[i]));
    for (size_t i = 0; i < graph->output_count; i++) {
        const qdq_graph_output *output = &graph->outputs[i];
        uint32_t id = output->value.id;
        const char *name = output->original ? output->original : output->name;
        if (graph->values[id].kind != QDQ_VALUE_MADE || draft->names[id]) continue;
        draft->names[id] = qdq_onnx_take_name(draft, name);
    }
    for (size_t i = 1; i < graph->value_count; i++)
        if (!draft->names[i] && graph->values[i].name)
            draft->names[i] = qdq_onnx_take_name(draft, natural_name(&graph->values[i]));
    return !draft->mempool->failed;
}

static const char *node_name(const qdq_onnx_writer *w) {
    return w->node->original ? w->node->original : w->node->name;
}

// Returns "y/helper".
static const char *helper_name(const qdq_onnx_writer *w, const char *helper) {
    size_t bytes = strlen(w->node->name) + strlen(helper) + 2;
    char *name = qdq_mempool_array(w->draft->mempool, bytes, 1);
    if (!name) return helper;
    snprintf(name, bytes, "%s/%s", w->node->name, helper);
    return name;
}

//---- Refusals ---------------------------------------------------------------

void qdq_onnx_cannot(qdq_onnx_writer *w, const char *port, const char *found, const char *wanted,
                     const char *hint) {
    w->refused = true;
    qdq_report_add(w->draft->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                   (qdq_subject){.node = w->node->name, .op = w->node->op->name, .port = port},
                   found, wanted, hint ? hint : "docs/onnx.md lists what is written");
}

//---- Nodes ------------------------------------------------------------------

void qdq_onnx_need_opset(qdq_onnx_draft *draft, int since) {
    if (draft->opset < since) draft->opset = since;
}

void qdq_onnx_set_domain(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *domain) {
    const char **domains = w->draft->domains;
    size_t i = 0;
    while (i < QDQ_ONNX_DOMAINS && domains[i] && strcmp(domains[i], domain) != 0) i++;
    if (i < QDQ_ONNX_DOMAINS) domains[i] = domain;
    n->domain = domain;
}

qdq_onnx_new_node *qdq_onnx_emit(qdq_onnx_writer *w, const char *op, int since,
                                 const char *helper) {
    qdq_onnx_draft *draft = w->draft;
    qdq_onnx_new_node *node = QDQ_MEMPOOL_NEW(draft->mempool, qdq_onnx_new_node);
    qdq_onnx_new_node **nodes =
        qdq_mempool_grow(draft->mempool, draft->nodes.items, draft->nodes.count,
                         &draft->nodes.capacity, sizeof(qdq_onnx_new_node *));
    if (!node || !nodes) return &draft->spare;
    draft->nodes.items = nodes;
    nodes[draft->nodes.count++] = node;
    node->name = helper ? helper_name(w, helper) : node_name(w);
    if (node->name) node->name = qdq_onnx_take_node_name(draft, node->name);
    node->op = op;
    qdq_onnx_need_opset(draft, since);
    return node;
}

static void add_name(const qdq_onnx_writer *w, qdq_onnx_strings *list, const char *name) {
    const char **items = qdq_mempool_grow(w->draft->mempool, list->items, list->count,
                                          &list->capacity, sizeof *items);
    if (!items) return;
    list->items = items;
    items[list->count++] = name ? name : "";
}

void qdq_onnx_add_input(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *input) {
    add_name(w, &n->inputs, input);
}

void qdq_onnx_add_port(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *port) {
    add_name(w, &n->inputs, qdq_onnx_port_name(w, port));
}

void qdq_onnx_yield(qdq_onnx_writer *w, qdq_onnx_new_node *n, size_t port) {
    add_name(w, &n->outputs, w->draft->names[w->node->outputs[port]]);
}

const char *qdq_onnx_part(qdq_onnx_writer *w, qdq_onnx_new_node *n) {
    const char *name = qdq_onnx_take_name(w->draft, n->name ? n->name : "");
    add_name(w, &n->outputs, name);
    return name;
}

//---- Attributes -------------------------------------------------------------

static qdq_onnx_attr *new_attr(const qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *name,
                               qdq_onnx_attr_type type) {
    static qdq_onnx_attr unused;
    qdq_onnx_attr *items = qdq_mempool_grow(w->draft->mempool, n->attrs.items, n->attrs.count,
                                            &n->attrs.capacity, sizeof *items);
    if (!items) return NULL;
    n->attrs.items = items;
    items[n->attrs.count] = unused;
    items[n->attrs.count].name = name;
    items[n->attrs.count].type = (int)type;
    return &items[n->attrs.count++];
}

void qdq_onnx_add_int(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr, int64_t number) {
    qdq_onnx_attr *made = new_attr(w, n, attr, ONNX_ATTR_INT);
    if (made) made->i = number;
}

void qdq_onnx_add_real(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr, double number) {
    qdq_onnx_attr *made = new_attr(w, n, attr, ONNX_ATTR_FLOAT);
    if (made) made->f = (float)number;
}

void qdq_onnx_add_word(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr,
                       const char *word) {
    qdq_onnx_attr *made = new_attr(w, n, attr, ONNX_ATTR_STRING);
    if (made) made->s = word;
}

void qdq_onnx_add_ints(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr, qdq_ints list) {
    qdq_onnx_attr *made = new_attr(w, n, attr, ONNX_ATTR_INTS);
    int64_t *copy = qdq_mempool_copy(w->draft->mempool, list.data, list.count, sizeof *copy);
    if (!made || !copy) return;
    made->ints.items = copy;
    made->ints.count = list.count;
}

//---- Constants --------------------------------------------------------------

const char *qdq_onnx_new_constant(qdq_onnx_writer *w, const char *helper, qdq_type type,
                                  const void *data) {
    qdq_onnx_draft *draft = w->draft;
    size_t size = qdq_dtype_size(type.dtype), count = qdq_shape_count(type.shape);
    void *copy = qdq_mempool_copy(draft->mempool, data, count, size);
    qdq_onnx_constant *items =
        qdq_mempool_grow(draft->mempool, draft->constants.items, draft->constants.count,
                         &draft->constants.capacity, sizeof *items);
    if (!copy || !items) return NULL;
    draft->constants.items = items;
    const char *name = qdq_onnx_take_name(draft, helper_name(w, helper));
    items[draft->constants.count++] = (qdq_onnx_constant){.name = name, .type = type, .data = copy};
    return name;
}

const char *qdq_onnx_new_ints(qdq_onnx_writer *w, const char *helper, qdq_ints list) {
    static const int64_t none = 0;
    qdq_type type = {QDQ_INT64, {1, {(int64_t)list.count}}};
    return qdq_onnx_new_constant(w, helper, type, list.count ? list.data : &none);
}

const char *qdq_onnx_new_int(qdq_onnx_writer *w, const char *helper, int64_t number) {
    return qdq_onnx_new_constant(w, helper, (qdq_type){QDQ_INT64, {0}}, &number);
}

// Returns a value that holds an open size, [1]: a dim of an input.
static const char *open_size(qdq_onnx_writer *w, size_t index) {
    qdq_onnx_draft *draft = w->draft;
    const qdq_free_place *place = &draft->graph->free_sizes[index].places[0];
    const int64_t dim = place->dim;
    if (draft->sizes[index]) return draft->sizes[index];
    qdq_onnx_new_node *shape = qdq_onnx_emit(w, "Shape", 1, "sizes");
    qdq_onnx_add_input(w, shape, draft->names[qdq_graph_find(draft->graph, place->input).id]);
    const char *sizes = qdq_onnx_part(w, shape);
    const char *at = qdq_onnx_new_ints(w, "dim", (qdq_ints){&dim, 1});
    qdq_onnx_new_node *size = qdq_onnx_emit(w, "Gather", 1, "size");
    qdq_onnx_add_input(w, size, sizes);
    qdq_onnx_add_input(w, size, at);
    return draft->sizes[index] = qdq_onnx_part(w, size);
}

const char *qdq_onnx_new_sizes(qdq_onnx_writer *w, const char *helper, qdq_ints list,
                               const qdq_size_list *free) {
    const qdq_onnx_draft *draft = w->draft;
    const char *parts[QDQ_MAX_RANK] = {NULL};
    bool open = false;
    for (size_t i = 0; free && i < free->count && i < QDQ_MAX_RANK; i++) {
        unsigned index = free->entries[i].free;
        if (!index || !draft->open[index - 1]) continue;
        open = true;
        parts[i] = open_size(w, index - 1);
    }
    if (!open) return qdq_onnx_new_ints(w, helper, list);
    for (size_t i = 0; i < list.count; i++)
        if (!parts[i]) parts[i] = qdq_onnx_new_ints(w, helper, (qdq_ints){&list.data[i], 1});
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Concat", 11, helper);
    for (size_t i = 0; i < list.count; i++) qdq_onnx_add_input(w, n, parts[i]);
    qdq_onnx_add_int(w, n, "axis", 0);
    return qdq_onnx_part(w, n);
}

bool qdq_onnx_repeats(const qdq_onnx_draft *draft, const qdq_graph_value *v) {
    bool open = false;
    for (size_t i = 0; v->free_dims && i < v->free_dims->count; i++) {
        unsigned index = v->free_dims->entries[i].free;
        open |= index && draft->open[index - 1];
    }
    return open;
}

static void repeat_elements(qdq_onnx_draft *draft, size_t id) {
    const qdq_graph_value *v = &draft->graph->values[id];
    const qdq_node node = {.name = v->original ? v->original : v->name};
    qdq_onnx_writer w = {.draft = draft, .node = &node};
    const qdq_type few = {v->type.dtype, qdq_repeated_shape(v->free_dims)};
    const char *elements = qdq_onnx_new_constant(&w, "elements", few, v->free_dims->elements);
    const char *sizes = qdq_onnx_new_sizes(
        &w, "shape", (qdq_ints){v->type.shape.dims, (size_t)v->type.shape.rank}, v->free_dims);
    qdq_onnx_new_node *n = qdq_onnx_emit(&w, "Expand", 13, "repeated");
    qdq_onnx_add_input(&w, n, elements);
    qdq_onnx_add_input(&w, n, sizes);
    add_name(&w, &n->outputs, draft->names[id]);
}

void qdq_onnx_repeat_elements(qdq_onnx_draft *draft) {
    for (size_t i = 1; i < draft->graph->value_count; i++)
        if (draft->graph->values[i].uses && qdq_onnx_repeats(draft, &draft->graph->values[i]))
            repeat_elements(draft, i);
}

const char *qdq_onnx_new_fill(qdq_onnx_writer *w, const char *helper, qdq_type type,
                              double number) {
    size_t size = qdq_dtype_size(type.dtype), count = qdq_shape_count(type.shape);
    char *data = qdq_mempool_array(w->draft->mempool, count, size);
    if (!data) return NULL;
    for (size_t i = 0; i < count; i++) {
        char *at = data + i * size;
        if (type.dtype == QDQ_FLOAT64) {
            memcpy(at, &number, size);
        } else if (qdq_dtype_is_real(type.dtype)) {
            const float real = (float)number;
            qdq_encode_float(type.dtype, &real, at, 1, NULL);
        } else {
            const int64_t whole = (int64_t)number;
            qdq_encode_wide(type.dtype, &whole, at, 1);
        }
    }
    return qdq_onnx_new_constant(w, helper, type, data);
}

//---- Nodes before a node ----------------------------------------------------

const char *qdq_onnx_with_shape(qdq_onnx_writer *w, const char *x, const char *helper,
                                qdq_shape shape) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Reshape", 1, helper);
    qdq_onnx_add_input(w, n, x);
    qdq_onnx_add_input(w, n,
                       qdq_onnx_new_ints(w, "shape", (qdq_ints){shape.dims, (size_t)shape.rank}));
    return qdq_onnx_part(w, n);
}

const char *qdq_onnx_with_order(qdq_onnx_writer *w, const char *x, const char *helper,
                                const int64_t *order, int rank) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Transpose", 1, helper);
    qdq_onnx_add_input(w, n, x);
    qdq_onnx_add_ints(w, n, "perm", (qdq_ints){order, (size_t)rank});
    return qdq_onnx_part(w, n);
}
