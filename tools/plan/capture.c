// SPDX-License-Identifier: Apache-2.0
// Writes a graph capture. A node's connections name later nodes, so the list of nodes is complete
// before it is written. ttnn does not see buffers that are older than the capture; here inputs and
// constants are allocated at its beginning, so that every free has its allocation.
#include "tools/plan/capture.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/shape_text.h"
#include "tools/common.h"
#include "tools/failure.h"

typedef enum node_kind {
    CAPTURE_START,
    CAPTURE_END,
    FUNCTION_START,
    FUNCTION_END,
    TENSOR,
    BUFFER,
    BUFFER_ALLOCATE,
    BUFFER_DEALLOCATE,
    CIRCULAR_ALLOCATE,
    CIRCULAR_DEALLOCATE_ALL,
} node_kind;

static const char *const kind_names[] = {"capture_start",
                                         "capture_end",
                                         "function_start",
                                         "function_end",
                                         "tensor",
                                         "buffer",
                                         "buffer_allocate",
                                         "buffer_deallocate",
                                         "circular_buffer_allocate",
                                         "circular_buffer_deallocate_all"};

typedef struct capture_node {
    node_kind kind;
    size_t subject;  // a step, a buffer or an event
    size_t first_edge, last_edge;
    size_t input_tensors[2];
    size_t input_count;
    int level;
} capture_node;

typedef struct capture_edge {
    size_t to, next;
} capture_edge;

// Upper bounds: nodes for an event, nodes for a step, edges of a node.
enum { NODES_OF_EVENT = 2, NODES_OF_STEP = 6, EDGES_OF_NODE = 3 };

typedef struct capture {
    const qdq_device_plan *plan;
    capture_node *nodes;
    capture_edge *edges;
    size_t node_count, edge_count;
    size_t *buffer_node;  // [buffer]: its node; SIZE_MAX: none yet
    size_t function, last_function_end;
} capture;

//---- The list ---------------------------------------------------------------

static void connect_nodes(capture *c, size_t from, size_t to) {
    capture_node *node = &c->nodes[from];
    c->edges[c->edge_count] = (capture_edge){to, SIZE_MAX};
    if (node->first_edge == SIZE_MAX)
        node->first_edge = c->edge_count;
    else
        c->edges[node->last_edge].next = c->edge_count;
    node->last_edge = c->edge_count++;
}

static size_t add_node(capture *c, node_kind kind, size_t subject, int level) {
    c->nodes[c->node_count] =
        (capture_node){.kind = kind, .subject = subject, .first_edge = SIZE_MAX, .level = level};
    return c->node_count++;
}

static int level_of(const capture *c) { return c->function ? 1 : 0; }

static size_t buffer_node(capture *c, size_t buffer) {
    const qdq_device_buffer *b = &c->plan->buffers[buffer];
    size_t owner = b->view_of == SIZE_MAX ? buffer : b->view_of;
    if (c->buffer_node[owner] == SIZE_MAX) {
        c->buffer_node[owner] = add_node(c, BUFFER, owner, level_of(c));
        connect_nodes(c, c->function, c->buffer_node[owner]);
    }
    return c->buffer_node[owner];
}

static size_t add_tensor(capture *c, size_t buffer) {
    size_t tensor = add_node(c, TENSOR, buffer, level_of(c));
    connect_nodes(c, buffer_node(c, buffer), tensor);
    return tensor;
}

static void begin_function(capture *c, size_t step) {
    const qdq_device_step *s = &c->plan->steps[step];
    size_t start = add_node(c, FUNCTION_START, step, 1);
    if (c->last_function_end) connect_nodes(c, c->last_function_end, start);
    connect_nodes(c, 0, start);
    c->function = start;
    for (int i = 0; i < 2; i++) {
        if (s->inputs[i] == SIZE_MAX) continue;
        size_t tensor = add_tensor(c, s->inputs[i]);
        connect_nodes(c, tensor, start);
        c->nodes[start].input_tensors[c->nodes[start].input_count++] = tensor;
    }
}

static void end_function(capture *c, size_t step) {
    size_t end = add_node(c, FUNCTION_END, step, 1);
    size_t output = c->plan->steps[step].output;
    connect_nodes(c, c->function, end);
    if (output != SIZE_MAX) connect_nodes(c, end, add_tensor(c, output));
    c->last_function_end = end;
    c->function = 0;
}

// Adds the node of an event, with an edge from the current function. An event of a buffer also gets
// an edge to the buffer's node; circular buffers have none.
static void add_event(capture *c, size_t event) {
    static const node_kind kinds[] = {BUFFER_ALLOCATE, BUFFER_DEALLOCATE, CIRCULAR_ALLOCATE};
    const qdq_device_event *e = &c->plan->events[event];
    if (e->kind != QDQ_EVENT_CIRCULAR_BUFFER && e->bytes == 0) return;  // a view
    size_t of = e->kind == QDQ_EVENT_CIRCULAR_BUFFER ? SIZE_MAX : buffer_node(c, e->buffer);
    size_t node = add_node(c, kinds[e->kind], event, level_of(c));
    if (of != SIZE_MAX) connect_nodes(c, node, of);
    connect_nodes(c, c->function, node);
}

static void add_circular_events(capture *c, size_t step, size_t begin, size_t end) {
    size_t all = add_node(c, CIRCULAR_DEALLOCATE_ALL, step, 1);
    connect_nodes(c, all, c->function);
    connect_nodes(c, c->function, all);
    for (size_t i = begin; i < end; i++)
        if (c->plan->events[i].kind == QDQ_EVENT_CIRCULAR_BUFFER) add_event(c, i);
}

static void add_step(capture *c, size_t step) {
    const qdq_device_step *s = &c->plan->steps[step];
    size_t end = s->first_event + s->event_count;
    begin_function(c, step);
    for (size_t i = s->first_event; i < end; i++)
        if (c->plan->events[i].kind == QDQ_EVENT_ALLOCATE) add_event(c, i);
    add_circular_events(c, step, s->first_event, end);
    end_function(c, step);
    for (size_t i = s->first_event; i < end; i++)
        if (c->plan->events[i].kind == QDQ_EVENT_FREE) add_event(c, i);
}

static void list_nodes(capture *c) {
    const qdq_device_plan *p = c->plan;
    size_t before = p->step_count ? p->steps[0].first_event : p->event_count;
    add_node(c, CAPTURE_START, 0, 0);
    for (size_t i = 0; i < before; i++) add_event(c, i);
    for (size_t i = 0; i < p->step_count; i++) add_step(c, i);
    size_t end = add_node(c, CAPTURE_END, 0, 0);
    connect_nodes(c, c->last_function_end, end);
}

//---- JSON -------------------------------------------------------------------

static void upper(const char *text, char *out, size_t capacity) {
    size_t i = 0;
    for (; text[i] && i + 1 < capacity; i++) out[i] = (char)toupper((unsigned char)text[i]);
    out[i] = '\0';
}

static const char *memory_text(const qdq_device_buffer *b) {
    return b->pool == QDQ_DRAM || b->pool == QDQ_TRACE ? "DRAM" : "L1";
}

static void buffer_params(qdq_json *json, const qdq_device_buffer *b, bool is_event) {
    json_uint_key(json, "size", b->size);
    json_string_key(json, "type", memory_text(b));
    json_uint_key(json, "buffer_type", (size_t)b->pool);
    json_string_key(json, "layout", qdq_memory_layout_name(b->memory_layout));
    json_uint_key(json, "device_id", 0);
    if (!is_event) return;
    json_uint_key(json, "address", b->address);
    json_uint_key(json, "page_size", b->page_bytes);
    json_uint_key(json, "num_cores", b->cores);
    json_uint_key(json, "max_size_per_bank", b->bytes_per_bank);
}

static void tensor_params(qdq_json *json, const qdq_device_buffer *b, size_t number) {
    char shape[QDQ_SHAPE_TEXT_BYTES], text[QDQ_SHAPE_TEXT_BYTES + 16], dtype[64] = "DataType::";
    snprintf(text, sizeof text, "Shape(%s)", qdq_write_shape(b->shape, shape, sizeof shape));
    json_string_key(json, "shape", text);
    json_uint_key(json, "tensor_id", number);
    upper(qdq_dtype_name(b->dtype), dtype + strlen(dtype), sizeof dtype - strlen(dtype));
    json_string_key(json, "dtype", dtype);
    json_string_key(json, "layout",
                    b->layout == QDQ_LAYOUT_TILE ? "Layout::TILE" : "Layout::ROW_MAJOR");
    json_uint_key(json, "size", qdq_shape_count(b->shape) * qdq_dtype_size(b->dtype));
    json_string_key(json, "storage_type", "DEVICE");
    json_uint_key(json, "buffer_type", (size_t)b->pool);
    json_uint_key(json, "address", b->address);
    json_uint_key(json, "device_id", 0);
    json_string_key(json, "x-name", b->name);
}

static void circular_params(qdq_json *json, const qdq_device_event *e) {
    char cores[QDQ_CORE_RANGES_TEXT_BYTES];
    json_uint_key(json, "size", e->bytes);
    json_uint_key(json, "address", e->address);
    json_string_key(json, "core_range_set", qdq_core_ranges_text(e->cores, e->core_ranges, cores));
    json_string_key(json, "globally_allocated", e->globally_allocated ? "1" : "0");
    json_uint_key(json, "device_id", 0);
}

static void function_params(qdq_json *json, const qdq_device_step *s, const capture_node *node) {
    char name[64];
    snprintf(name, sizeof name, "ttnn::%s", s->program);
    json_string_key(json, "name", name);
    if (node->kind == FUNCTION_START) json_uint_key(json, "inputs", node->input_count);
    json_string_key(json, "x-node", s->node);
}

static void params(qdq_json *json, const capture *c, const capture_node *node) {
    const qdq_device_plan *p = c->plan;
    switch (node->kind) {
    case CAPTURE_START:
    case CAPTURE_END: return;
    case FUNCTION_START:
    case FUNCTION_END: function_params(json, &p->steps[node->subject], node); return;
    case TENSOR: tensor_params(json, &p->buffers[node->subject], node->subject); return;
    case BUFFER: buffer_params(json, &p->buffers[node->subject], false); return;
    case BUFFER_ALLOCATE:
    case BUFFER_DEALLOCATE:
        buffer_params(json, &p->buffers[p->events[node->subject].buffer], true);
        return;
    case CIRCULAR_ALLOCATE: circular_params(json, &p->events[node->subject]); return;
    case CIRCULAR_DEALLOCATE_ALL: json_uint_key(json, "device_id", 0); return;
    }
}

static void write_node(qdq_json *json, const capture *c, size_t counter) {
    const capture_node *node = &c->nodes[counter];
    qdq_json_begin_object(json);
    json_uint_key(json, "counter", counter);
    json_string_key(json, "node_type", kind_names[node->kind]);
    qdq_json_key(json, "params");
    qdq_json_begin_object(json);
    params(json, c, node);
    qdq_json_end_object(json);
    qdq_json_key(json, "arguments");
    qdq_json_begin_line(json);
    qdq_json_end_array(json);
    qdq_json_key(json, "connections");
    qdq_json_begin_line(json);
    for (size_t e = node->first_edge; e != SIZE_MAX; e = c->edges[e].next)
        qdq_json_uint(json, c->edges[e].to);
    qdq_json_end_array(json);
    qdq_json_key(json, "input_tensors");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < node->input_count; i++) qdq_json_uint(json, node->input_tensors[i]);
    qdq_json_end_array(json);
    json_uint_key(json, "stacking_level", (size_t)node->level);
    qdq_json_end_object(json);
}

//---- The file ---------------------------------------------------------------

static void to_file(void *self, const char *bytes, size_t count) { fwrite(bytes, 1, count, self); }

static void write_list(const capture *c, FILE *file) {
    qdq_json json;
    qdq_json_init(&json, to_file, file, 2);
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < c->node_count; i++) write_node(&json, c, i);
    qdq_json_end_array(&json);
    fputc('\n', file);
}

static bool open_capture(capture *c, const qdq_device_plan *plan) {
    size_t most = NODES_OF_EVENT * plan->event_count + NODES_OF_STEP * plan->step_count + 2;
    *c = (capture){.plan = plan};
    c->nodes = calloc(most, sizeof *c->nodes);
    c->edges = calloc(most * EDGES_OF_NODE, sizeof *c->edges);
    c->buffer_node = malloc((plan->buffer_count + 1) * sizeof *c->buffer_node);
    if (!c->nodes || !c->edges || !c->buffer_node) return false;
    for (size_t i = 0; i < plan->buffer_count; i++) c->buffer_node[i] = SIZE_MAX;
    list_nodes(c);
    return true;
}

int capture_write(const qdq_device_plan *plan, const char *path) {
    capture c;
    int code = EXIT_OK;
    FILE *file = fopen(path, "w");
    if (!file) return tell_failure(QDQ_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (open_capture(&c, plan))
        write_list(&c, file);
    else
        code = tell_failure(QDQ_ERR_MEMORY, "no memory for the trace");
    free(c.nodes), free(c.edges), free(c.buffer_node);
    bool broken = ferror(file);
    if ((fclose(file) != 0 || broken) && code == EXIT_OK)
        code = tell_failure(QDQ_ERR_IO, "%s: cannot be written", path);
    return code;
}
