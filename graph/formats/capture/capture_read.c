// SPDX-License-Identifier: Apache-2.0
// Reads the nodes of a capture into records. Edges are followed one step at a time, from a buffer
// to its tensors and from a function's end to its results, so that no edge can lead in a circle.
#include <stdio.h>
#include <string.h>

#include "graph/formats/capture/capture.h"

typedef enum node_kind {
    OTHER = 0,
    FUNCTION_START,
    FUNCTION_END,
    TENSOR,
    BUFFER,
    BUFFER_ALLOCATE,
    BUFFER_DEALLOCATE,
    CIRCULAR_ALLOCATE,
} node_kind;

static const struct {
    const char *name;
    node_kind kind;
} kinds[] = {
    {"function_start", FUNCTION_START},
    {"function_end", FUNCTION_END},
    {"tensor", TENSOR},
    {"buffer", BUFFER},
    {"buffer_allocate", BUFFER_ALLOCATE},
    {"buffer_deallocate", BUFFER_DEALLOCATE},
    {"circular_buffer_allocate", CIRCULAR_ALLOCATE},
    {"dataflow_buffer_allocate", CIRCULAR_ALLOCATE},
};

typedef struct raw_node {
    node_kind kind;
    qdq_item at, params;
    const qdq_json_item *connections, *input_tensors, *arguments;  // NULL: none
    size_t tensor;  // of a tensor, or the first one of a buffer; SIZE_MAX: none
} raw_node;

// A function that has begun, and the program that it belongs to.
typedef struct open_function {
    const char *name;
    size_t program;
} open_function;

typedef struct records {
    const qdq_reader *r;
    qdq_capture *out;
    raw_node *nodes;
    size_t count;
    qdq_symbols *ids;  // bytes of a tensor_id -> index
    open_function *open;
    size_t open_count;
} records;

//---- Items ------------------------------------------------------------------

static qdq_status read_text(const records *c, const raw_node *node, const char *key,
                            const char **out) {
    const char *text;
    QDQ_TRY(qdq_item_string(c->r, &node->params, key, &text));
    *out = qdq_mempool_strdup(&c->r->graph->mempool, text);
    return *out ? QDQ_OK : qdq_fail_memory(c->r->err, strlen(text));
}

// The same for a text that may be missing, which sets *out to NULL.
static qdq_status find_text(const records *c, const raw_node *node, const char *key,
                            const char **out) {
    qdq_item at;
    *out = NULL;
    QDQ_TRY(qdq_item_member(c->r, &node->params, key, false, &at));
    return at.json ? read_text(c, node, key, out) : QDQ_OK;
}

static qdq_status read_number(const records *c, const raw_node *node, const char *key,
                              uint64_t *out) {
    qdq_item at;
    QDQ_TRY(qdq_item_member(c->r, &node->params, key, true, &at));
    if (qdq_json_uint64(at.json, out)) return QDQ_OK;
    return qdq_item_wrong_kind(c->r, &at, "a whole number, 0 or above");
}

// Reads a list of numbers of nodes, which follow or precede; *out is NULL if it is missing.
static qdq_status read_edges(const records *c, const qdq_item *node, const char *key,
                             const qdq_json_item **out) {
    qdq_item list;
    QDQ_TRY(qdq_item_array(c->r, node, key, false, &list));
    QDQ_JSON_EACH(edge, list.json) {
        uint64_t to;
        if (!qdq_json_uint64(edge, &to) || to >= c->count)
            return qdq_fail(c->r->err, QDQ_ERR_PARSE,
                            "%s has an entry that is no number of a node, wanted 0 to %zu",
                            list.where, c->count - 1);
    }
    *out = list.json;
    return QDQ_OK;
}

static size_t edge_of(const qdq_json_item *json) {
    uint64_t to = 0;
    qdq_json_uint64(json, &to);
    return (size_t)to;
}

static qdq_status read_raw(records *c, const qdq_json_item *json, size_t index) {
    raw_node *node = &c->nodes[index];
    qdq_item counter, arguments;
    const char *type;
    uint64_t number;
    *node = (raw_node){.at = {.json = json}, .tensor = SIZE_MAX};
    snprintf(node->at.where, sizeof node->at.where, "[%zu]", index);
    if (!qdq_json_is_object(json))
        return qdq_item_wrong_kind(c->r, &node->at, "an object, a node of a ttnn graph capture");
    QDQ_TRY(qdq_item_member(c->r, &node->at, "counter", true, &counter));
    if (!qdq_json_uint64(counter.json, &number) || number != index)
        return qdq_fail(c->r->err, QDQ_ERR_PARSE, "%s is not %zu, the place of its node",
                        counter.where, index);
    QDQ_TRY(qdq_item_string(c->r, &node->at, "node_type", &type));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, type) == 0) node->kind = kinds[i].kind;
    QDQ_TRY(qdq_item_member(c->r, &node->at, "params", node->kind != OTHER, &node->params));
    if (node->params.json && !qdq_json_is_object(node->params.json))
        return qdq_item_wrong_kind(c->r, &node->params, "an object");
    QDQ_TRY(read_edges(c, &node->at, "connections", &node->connections));
    QDQ_TRY(read_edges(c, &node->at, "input_tensors", &node->input_tensors));
    QDQ_TRY(qdq_item_array(c->r, &node->at, "arguments", false, &arguments));
    node->arguments = arguments.json;
    return QDQ_OK;
}

//---- Tensors and buffers ----------------------------------------------------

// Reads the address of a tensor. One that a program reads before its buffer was seen has it only in
// the list of its devices, and one of the host has none.
static qdq_status read_address(const records *c, const raw_node *node, qdq_capture_tensor *t) {
    qdq_item at;
    const char *devices;
    qdq_memory_config config;
    QDQ_TRY(qdq_item_member(c->r, &node->params, "address", false, &at));
    if (at.json) {
        QDQ_TRY(read_number(c, node, "address", &t->address));
        return read_number(c, node, "buffer_type", &t->buffer_type);
    }
    QDQ_TRY(find_text(c, node, "device_tensors", &devices));
    if (devices) t->address = qdq_capture_number(devices, "\"address\":");
    if (t->memory_config && qdq_capture_config(t->memory_config, &config))
        t->buffer_type = (uint64_t)config.buffer_type;
    return QDQ_OK;
}

static qdq_status read_tensor(records *c, size_t index) {
    raw_node *node = &c->nodes[index];
    qdq_capture *out = c->out;
    qdq_capture_tensor *t = &out->tensors[out->tensor_count];
    uint32_t known;
    *t = (qdq_capture_tensor){.counter = index, .allocation = SIZE_MAX, .death = SIZE_MAX};
    QDQ_TRY(read_number(c, node, "tensor_id", &t->id));
    if (qdq_symbols_find(c->ids, (const char *)&t->id, sizeof t->id, &known)) {
        node->tensor = known;
        return QDQ_OK;
    }
    QDQ_TRY(read_number(c, node, "size", &t->size));
    QDQ_TRY(read_text(c, node, "shape", &t->shape));
    QDQ_TRY(read_text(c, node, "dtype", &t->dtype));
    QDQ_TRY(read_text(c, node, "layout", &t->layout));
    QDQ_TRY(find_text(c, node, "memory_config", &t->memory_config));
    QDQ_TRY(read_address(c, node, t));
    QDQ_TRY(qdq_symbols_add(c->ids, (const char *)&t->id, sizeof t->id, (uint32_t)out->tensor_count,
                            c->r->err));
    node->tensor = out->tensor_count++;
    return QDQ_OK;
}

// Connects a buffer with its tensors, which may have nodes before and after it.
static qdq_status read_buffer(records *c, size_t index) {
    raw_node *node = &c->nodes[index];
    const char *layout;
    uint64_t size;
    QDQ_TRY(read_text(c, node, "layout", &layout));
    QDQ_TRY(read_number(c, node, "size", &size));
    QDQ_JSON_EACH(edge, node->connections) {
        const raw_node *to = &c->nodes[edge_of(edge)];
        if (to->kind != TENSOR) continue;
        if (node->tensor == SIZE_MAX) node->tensor = to->tensor;
        qdq_capture_tensor *t = &c->out->tensors[to->tensor];
        if (t->buffer_layout) continue;
        t->buffer_layout = layout;
        t->buffer_size = size;
    }
    return QDQ_OK;
}

static qdq_status read_allocation(records *c, size_t index) {
    const raw_node *node = &c->nodes[index];
    qdq_capture_allocation *a = &c->out->allocations[c->out->allocation_count];
    *a = (qdq_capture_allocation){.counter = index, .tensor = SIZE_MAX};
    QDQ_TRY(read_number(c, node, "address", &a->address));
    QDQ_TRY(read_number(c, node, "size", &a->size));
    QDQ_TRY(read_number(c, node, "page_size", &a->page_size));
    QDQ_TRY(read_number(c, node, "num_cores", &a->num_cores));
    QDQ_TRY(read_number(c, node, "max_size_per_bank", &a->max_size_per_bank));
    QDQ_TRY(read_number(c, node, "buffer_type", &a->buffer_type));
    QDQ_TRY(read_text(c, node, "type", &a->type));
    QDQ_TRY(read_text(c, node, "layout", &a->layout));
    QDQ_JSON_EACH(edge, node->connections) {
        const raw_node *to = &c->nodes[edge_of(edge)];
        if (to->kind == BUFFER && a->tensor == SIZE_MAX) a->tensor = to->tensor;
    }
    if (a->tensor != SIZE_MAX && c->out->tensors[a->tensor].allocation == SIZE_MAX)
        c->out->tensors[a->tensor].allocation = c->out->allocation_count;
    c->out->allocation_count++;
    return QDQ_OK;
}

static qdq_status read_death(records *c, size_t index) {
    QDQ_JSON_EACH(edge, c->nodes[index].connections) {
        const raw_node *to = &c->nodes[edge_of(edge)];
        if (to->kind == BUFFER && to->tensor != SIZE_MAX) c->out->tensors[to->tensor].death = index;
    }
    return QDQ_OK;
}

//---- Programs ---------------------------------------------------------------

static bool runs_a_program(const char *name) {
    static const char ending[] = "DeviceOperation";
    size_t length = strlen(name), end = sizeof ending - 1;
    return length >= end && strcmp(name + length - end, ending) == 0;
}

// Gives each tensor that the second argument prints its tile.
static void read_tiles(const records *c, const qdq_capture_program *p, const char *text) {
    static const char key[] = "tensor_spec=", tile_key[] = "tile_shape={";
    const char *at = text ? strstr(text, key) : NULL, *tile = at ? strstr(at, tile_key) : NULL;
    for (size_t i = 0; i < p->input_count && at; i++) {
        const char *next = strstr(at + 1, key);
        while (tile && tile < at) tile = strstr(tile + 1, tile_key);
        if (tile && (!next || tile < next))
            (void)qdq_capture_tile(tile, &c->out->tensors[c->out->inputs[p->first_input + i]].tile);
        at = next;
    }
}

static const char *argument(const raw_node *node, size_t index) {
    size_t i = 0;
    QDQ_JSON_EACH(json, node->arguments)
    if (i++ == index) return qdq_json_text(json);
    return NULL;
}

static qdq_status read_operands(const records *c, const raw_node *node, qdq_capture_program *p) {
    p->first_input = c->out->input_count;
    QDQ_JSON_EACH(edge, node->input_tensors) {
        const raw_node *from = &c->nodes[edge_of(edge)];
        if (from->kind != TENSOR)
            return qdq_fail(c->r->err, QDQ_ERR_PARSE,
                            "%s.input_tensors names node %zu, which is no tensor", node->at.where,
                            edge_of(edge));
        c->out->inputs[c->out->input_count++] = from->tensor;
    }
    p->input_count = c->out->input_count - p->first_input;
    return QDQ_OK;
}

static qdq_status begin_function(records *c, size_t index) {
    const raw_node *node = &c->nodes[index];
    qdq_capture *out = c->out;
    open_function *f = &c->open[c->open_count];
    QDQ_TRY(read_text(c, node, "name", &f->name));
    f->program = c->open_count ? f[-1].program : SIZE_MAX;
    c->open_count++;
    if (!runs_a_program(f->name)) return QDQ_OK;
    qdq_capture_program *p = &out->programs[out->program_count];
    const char *attributes = argument(node, 0);
    *p = (qdq_capture_program){.counter = index,
                               .end = index,
                               .name = f->name,
                               .output = SIZE_MAX,
                               .node = SIZE_MAX,
                               .first_circular = out->circular_count};
    p->arguments = qdq_mempool_strdup(&c->r->graph->mempool, attributes ? attributes : "");
    if (!p->arguments) return qdq_fail_memory(c->r->err, 1);
    QDQ_TRY(read_operands(c, node, p));
    read_tiles(c, p, argument(node, 1));
    f->program = out->program_count++;
    return QDQ_OK;
}

static qdq_status end_function(records *c, size_t index) {
    const raw_node *node = &c->nodes[index];
    const char *name;
    QDQ_TRY(read_text(c, node, "name", &name));
    if (c->open_count == 0 || strcmp(c->open[c->open_count - 1].name, name) != 0)
        return qdq_fail(c->r->err, QDQ_ERR_PARSE, "%s ends the function '%.80s', and %s%.80s%s",
                        node->at.where, name, c->open_count ? "'" : "none has begun",
                        c->open_count ? c->open[c->open_count - 1].name : "",
                        c->open_count ? "' began last" : "");
    const open_function *f = &c->open[--c->open_count];
    if (f->program == SIZE_MAX || !runs_a_program(f->name)) return QDQ_OK;
    qdq_capture_program *p = &c->out->programs[f->program];
    p->end = index;
    QDQ_JSON_EACH(edge, node->connections) {
        const raw_node *to = &c->nodes[edge_of(edge)];
        if (to->kind == TENSOR && p->output == SIZE_MAX) p->output = to->tensor;
    }
    return QDQ_OK;
}

static qdq_status read_circular(records *c, size_t index) {
    const raw_node *node = &c->nodes[index];
    size_t program = c->open_count ? c->open[c->open_count - 1].program : SIZE_MAX;
    if (program == SIZE_MAX) return QDQ_OK;
    qdq_capture_program *p = &c->out->programs[program];
    if (p->circular_count == 0) p->first_circular = c->out->circular_count;
    if (p->first_circular + p->circular_count != c->out->circular_count) return QDQ_OK;
    qdq_capture_circular *b = &c->out->circulars[c->out->circular_count];
    qdq_item dataflow;
    const char *backed;
    *b = (qdq_capture_circular){.counter = index};
    QDQ_TRY(read_number(c, node, "size", &b->size));
    QDQ_TRY(read_number(c, node, "address", &b->address));
    QDQ_TRY(read_text(c, node, "core_range_set", &b->cores));
    QDQ_TRY(qdq_item_member(c->r, &node->params, "borrows_memory", false, &dataflow));
    QDQ_TRY(qdq_item_string(c->r, &node->params,
                            dataflow.json ? "borrows_memory" : "globally_allocated", &backed));
    b->globally_allocated = strcmp(backed, "1") == 0;
    c->out->circular_count++;
    p->circular_count++;
    return QDQ_OK;
}

//---- The list ---------------------------------------------------------------

static qdq_status each(records *c, node_kind kind, qdq_status (*read)(records *, size_t)) {
    for (size_t i = 0; i < c->count; i++)
        if (c->nodes[i].kind == kind) QDQ_TRY(read(c, i));
    return QDQ_OK;
}

static qdq_status read_programs(records *c) {
    for (size_t i = 0; i < c->count; i++) {
        node_kind kind = c->nodes[i].kind;
        if (kind == FUNCTION_START) QDQ_TRY(begin_function(c, i));
        if (kind == FUNCTION_END) QDQ_TRY(end_function(c, i));
        if (kind == CIRCULAR_ALLOCATE) QDQ_TRY(read_circular(c, i));
    }
    return QDQ_OK;
}

// Makes room for the records: one for each node, and one for each tensor that a function reads.
static bool make_room(records *c, const qdq_json_item *json) {
    qdq_mempool *mempool = &c->r->graph->mempool;
    qdq_capture *out = c->out;
    size_t edges = 0;
    QDQ_JSON_EACH(node, json) {
        const qdq_json_item *list = qdq_json_find(node, "input_tensors");
        if (list && qdq_json_is_array(list)) edges += qdq_json_count(list);
    }
    size_t count = c->count;
    c->nodes = qdq_mempool_array(c->r->mempool, count, sizeof *c->nodes);
    c->open = qdq_mempool_array(c->r->mempool, count, sizeof *c->open);
    out->tensors = qdq_mempool_array(mempool, count, sizeof *out->tensors);
    out->programs = qdq_mempool_array(mempool, count, sizeof *out->programs);
    out->inputs = qdq_mempool_array(mempool, edges + 1, sizeof *out->inputs);
    out->allocations = qdq_mempool_array(mempool, count, sizeof *out->allocations);
    out->circulars = qdq_mempool_array(mempool, count, sizeof *out->circulars);
    return c->nodes && c->open && out->tensors && out->programs && out->inputs &&
           out->allocations && out->circulars;
}

static qdq_status read_all(records *c, const qdq_json_item *json) {
    size_t index = 0;
    QDQ_JSON_EACH(node, json) QDQ_TRY(read_raw(c, node, index++));
    QDQ_TRY(each(c, TENSOR, read_tensor));
    QDQ_TRY(each(c, BUFFER, read_buffer));
    QDQ_TRY(each(c, BUFFER_ALLOCATE, read_allocation));
    QDQ_TRY(each(c, BUFFER_DEALLOCATE, read_death));
    return read_programs(c);
}

qdq_status qdq_capture_read_records(const qdq_reader *r, const qdq_json_item *json,
                                    qdq_capture *out) {
    records c = {.r = r, .out = out, .count = qdq_json_count(json)};
    if (c.count == 0)
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "the file is an empty list, wanted an object, or the nodes of a ttnn graph "
                        "capture");
    if (!make_room(&c, json)) return qdq_fail_memory(r->err, c.count * sizeof(raw_node));
    c.ids = qdq_symbols_create(r->graph->allocator, r->err);
    qdq_status status = c.ids ? read_all(&c, json) : r->err->status;
    qdq_symbols_destroy(c.ids);
    return status;
}
