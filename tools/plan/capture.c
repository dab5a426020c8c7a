// SPDX-License-Identifier: Apache-2.0
// Writes a graph capture. A node's connections name later nodes, so the list of nodes is complete
// before it is written. ttnn does not see buffers that are older than the capture; here inputs and
// constants are allocated at its beginning, so that every free has its allocation.
#include "tools/plan/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/plan/capture_names.h"

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

// The functions of a program, from the outside in; their number is the stacking level.
typedef enum function_kind {
    NO_FUNCTION = 0,
    CALL,           // "ttnn.add"
    PROGRAM,        // "BinaryNgDeviceOperation"
    CREATE_TENSOR,  // its output, or an intermediate
    DEALLOCATE,     // a tensor dies: at the level of a call
} function_kind;

enum { MOST_INPUTS = 3 };

typedef struct capture_node {
    node_kind kind;
    function_kind function;
    size_t subject;  // a step, a buffer or an event
    size_t first_edge, last_edge;
    size_t input_tensors[MOST_INPUTS];
    size_t input_count;
    int level;
} capture_node;

typedef struct capture_edge {
    size_t to, next;
} capture_edge;

// Upper bounds: nodes for an event, nodes for a step, edges of a node.
enum { NODES_OF_EVENT = 6, NODES_OF_STEP = 14, EDGES_OF_NODE = 3 };

typedef struct capture {
    const qdq_device_plan *plan;
    capture_node *nodes;
    capture_edge *edges;
    size_t node_count, edge_count;
    size_t *buffer_node;      // [buffer]: its node; SIZE_MAX: none yet
    size_t open[DEALLOCATE];  // functions that have begun: open[level]
    int level;
    size_t last_call;  // the end of the last call; 0: none
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

static size_t add_node(capture *c, node_kind kind, size_t subject) {
    c->nodes[c->node_count] =
        (capture_node){.kind = kind, .subject = subject, .first_edge = SIZE_MAX, .level = c->level};
    return c->node_count++;
}

static size_t function_of(const capture *c) { return c->open[c->level]; }

static size_t begin_function(capture *c, function_kind function, size_t subject) {
    size_t around = function_of(c);
    c->level++;
    size_t start = add_node(c, FUNCTION_START, subject);
    c->nodes[start].function = function;
    if (c->level == 1 && c->last_call) connect_nodes(c, c->last_call, start);
    connect_nodes(c, around, start);
    c->open[c->level] = start;
    return start;
}

static size_t end_function(capture *c) {
    size_t start = function_of(c), end = add_node(c, FUNCTION_END, c->nodes[start].subject);
    c->nodes[end].function = c->nodes[start].function;
    connect_nodes(c, start, end);
    if (c->level == 1) c->last_call = end;
    c->level--;
    return end;
}

static size_t owner_of(const capture *c, size_t buffer) {
    const qdq_device_buffer *b = &c->plan->buffers[buffer];
    return b->view_of == SIZE_MAX ? buffer : b->view_of;
}

static size_t buffer_node(capture *c, size_t buffer) {
    size_t owner = owner_of(c, buffer);
    if (c->buffer_node[owner] == SIZE_MAX) {
        c->buffer_node[owner] = add_node(c, BUFFER, owner);
        connect_nodes(c, function_of(c), c->buffer_node[owner]);
    }
    return c->buffer_node[owner];
}

static size_t add_tensor(capture *c, size_t buffer) {
    size_t tensor = add_node(c, TENSOR, buffer);
    connect_nodes(c, buffer_node(c, buffer), tensor);
    return tensor;
}

static void add_input(capture *c, size_t program, size_t buffer) {
    if (buffer == SIZE_MAX) return;
    size_t tensor = add_tensor(c, buffer);
    connect_nodes(c, tensor, program);
    c->nodes[program].input_tensors[c->nodes[program].input_count++] = tensor;
}

// Adds the node of an event of a buffer, with an edge from the current function and one to the
// buffer. A view has no such events.
static void add_buffer_event(capture *c, node_kind kind, size_t event) {
    const qdq_device_event *e = &c->plan->events[event];
    size_t of = buffer_node(c, e->buffer), node = add_node(c, kind, event);
    connect_nodes(c, node, of);
    connect_nodes(c, function_of(c), node);
}

static bool happens(const capture *c, size_t event, qdq_event_kind kind) {
    const qdq_device_event *e = &c->plan->events[event];
    return e->kind == kind && (e->bytes || kind == QDQ_EVENT_CIRCULAR_BUFFER);
}

static void create_tensor(capture *c, size_t event) {
    size_t buffer = c->plan->events[event].buffer;
    begin_function(c, CREATE_TENSOR, buffer);
    add_buffer_event(c, BUFFER_ALLOCATE, event);
    size_t end = end_function(c);
    c->level++;
    connect_nodes(c, end, add_tensor(c, buffer));
    c->level--;
}

static void deallocate(capture *c, size_t event) {
    begin_function(c, DEALLOCATE, c->plan->events[event].buffer);
    add_buffer_event(c, BUFFER_DEALLOCATE, event);
    end_function(c);
}

static void run_program(capture *c, size_t step) {
    const qdq_device_step *s = &c->plan->steps[step];
    size_t last = s->first_event + s->event_count, program = begin_function(c, PROGRAM, step);
    bool into = s->output != SIZE_MAX && c->plan->buffers[s->output].view_of != SIZE_MAX;
    for (int i = 0; i < 2; i++) add_input(c, program, s->inputs[i]);
    if (into) add_input(c, program, s->output);
    for (size_t i = s->first_event; i < last; i++)
        if (happens(c, i, QDQ_EVENT_ALLOCATE)) create_tensor(c, i);
    size_t all = add_node(c, CIRCULAR_DEALLOCATE_ALL, step);
    connect_nodes(c, all, program);
    connect_nodes(c, program, all);
    for (size_t i = s->first_event; i < last; i++)
        if (happens(c, i, QDQ_EVENT_CIRCULAR_BUFFER))
            connect_nodes(c, program, add_node(c, CIRCULAR_ALLOCATE, i));
    size_t end = end_function(c);
    c->level++;
    if (s->output != SIZE_MAX) connect_nodes(c, end, add_tensor(c, s->output));
    c->level--;
}

static void add_step(capture *c, size_t step) {
    const qdq_device_step *s = &c->plan->steps[step];
    begin_function(c, CALL, step);
    run_program(c, step);
    end_function(c);
    for (size_t i = s->first_event; i < s->first_event + s->event_count; i++)
        if (happens(c, i, QDQ_EVENT_FREE)) deallocate(c, i);
}

static void list_nodes(capture *c) {
    const qdq_device_plan *p = c->plan;
    size_t before = p->step_count ? p->steps[0].first_event : p->event_count;
    add_node(c, CAPTURE_START, 0);
    for (size_t i = 0; i < before; i++)
        if (happens(c, i, QDQ_EVENT_ALLOCATE)) add_buffer_event(c, BUFFER_ALLOCATE, i);
    for (size_t i = 0; i < p->step_count; i++) add_step(c, i);
    size_t end = add_node(c, CAPTURE_END, 0);
    connect_nodes(c, c->last_call, end);
}

//---- JSON -------------------------------------------------------------------

enum { MESH = 1, CHIP = 0 };  // device_id of buffers and of circular buffers

static const char *memory_text(const qdq_device_buffer *b) {
    return b->pool == QDQ_DRAM || b->pool == QDQ_TRACE ? "DRAM" : "L1";
}

static void buffer_params(qdq_json *json, const qdq_device_buffer *b, bool is_event) {
    if (is_event) json_uint_key(json, "address", b->address);
    json_uint_key(json, "buffer_type", (size_t)b->pool);
    json_uint_key(json, "device_id", MESH);
    json_string_key(json, "layout", qdq_memory_layout_name(b->memory_layout));
    if (is_event) {
        json_uint_key(json, "max_size_per_bank", b->bytes_per_bank);
        json_uint_key(json, "num_cores", b->cores);
        json_uint_key(json, "page_size", b->page_bytes);
    }
    json_uint_key(json, "size", b->size);
    json_string_key(json, "type", memory_text(b));
}

static void tensor_params(qdq_json *json, const qdq_device_buffer *b, size_t number) {
    char shape[CAPTURE_SHAPE_BYTES], dtype[CAPTURE_DTYPE_BYTES], devices[96];
    char config[QDQ_MEMORY_CONFIG_TEXT_BYTES];
    snprintf(devices, sizeof devices,
             "[{\"address\":%" PRIu64 ",\"device_id\":%d,\"mesh_device_id\":%d}]", b->address, CHIP,
             MESH);
    json_uint_key(json, "address", b->address);
    json_uint_key(json, "buffer_type", (size_t)b->pool);
    json_uint_key(json, "device_id", MESH);
    json_string_key(json, "device_tensors", devices);
    json_string_key(json, "dtype", capture_dtype(b, dtype));
    json_string_key(json, "layout", capture_layout(b));
    json_string_key(json, "memory_config", qdq_memory_config_text(b->memory_config, config));
    json_string_key(json, "shape", capture_shape(b, shape));
    json_uint_key(json, "size", qdq_shape_count(b->shape) * qdq_dtype_size(b->dtype));
    json_uint_key(json, "tensor_id", number);
    json_string_key(json, "x-name", b->name);
}

static void circular_params(qdq_json *json, const qdq_device_event *e) {
    char cores[QDQ_CORE_RANGES_TEXT_BYTES];
    json_uint_key(json, "address", e->address);
    json_string_key(json, "core_range_set", qdq_core_ranges_text(e->cores, e->core_ranges, cores));
    json_uint_key(json, "device_id", CHIP);
    json_string_key(json, "globally_allocated", e->globally_allocated ? "1" : "0");
    json_uint_key(json, "size", e->bytes);
}

static void function_params(qdq_json *json, const capture *c, const capture_node *node) {
    static const char *const inputs[] = {"0", "0", "2", "4", "0"};
    bool is_step = node->function == CALL || node->function == PROGRAM;
    const qdq_device_step *s = is_step ? &c->plan->steps[node->subject] : NULL;
    capture_names names = {.word = NULL};
    if (is_step) names = capture_names_of(c->plan, s);
    const char *const texts[] = {"", names.function, names.device,
                                 "tt::tt_metal::create_device_tensor", "Tensor::deallocate"};
    if (node->kind == FUNCTION_START) json_string_key(json, "inputs", inputs[node->function]);
    json_string_key(json, "name", texts[node->function]);
    if (is_step) json_string_key(json, "x-node", s->node);
}

static void params(qdq_json *json, const capture *c, const capture_node *node) {
    const qdq_device_plan *p = c->plan;
    switch (node->kind) {
    case CAPTURE_START:
    case CAPTURE_END: return;
    case FUNCTION_START:
    case FUNCTION_END: function_params(json, c, node); return;
    case TENSOR:
        tensor_params(json, &p->buffers[node->subject], owner_of(c, node->subject));
        return;
    case BUFFER: buffer_params(json, &p->buffers[node->subject], false); return;
    case BUFFER_ALLOCATE:
    case BUFFER_DEALLOCATE:
        buffer_params(json, &p->buffers[p->events[node->subject].buffer], true);
        return;
    case CIRCULAR_ALLOCATE: circular_params(json, &p->events[node->subject]); return;
    case CIRCULAR_DEALLOCATE_ALL: json_uint_key(json, "device_id", MESH); return;
    }
}

static void write_params(qdq_json *json, const capture *c, const capture_node *node) {
    qdq_json_key(json, "params");
    if (node->kind == CAPTURE_START || node->kind == CAPTURE_END) {
        qdq_json_null(json);
        return;
    }
    qdq_json_begin_object(json);
    params(json, c, node);
    qdq_json_end_object(json);
}

static void write_arguments(qdq_json *json, const capture *c, const capture_node *node) {
    qdq_json_key(json, "arguments");
    qdq_json_begin_array(json);
    if (node->kind == FUNCTION_START && node->function == PROGRAM)
        capture_arguments(json, c->plan, &c->plan->steps[node->subject]);
    if (node->kind == FUNCTION_START && node->function == CREATE_TENSOR)
        capture_tensor_arguments(json, &c->plan->buffers[node->subject]);
    qdq_json_end_array(json);
}

// Writes a node with its keys sorted, as ttnn does. A plan takes no time.
static void write_node(qdq_json *json, const capture *c, size_t counter) {
    const capture_node *node = &c->nodes[counter];
    qdq_json_begin_object(json);
    write_arguments(json, c, node);
    qdq_json_key(json, "connections");
    qdq_json_begin_line(json);
    for (size_t e = node->first_edge; e != SIZE_MAX; e = c->edges[e].next)
        qdq_json_uint(json, c->edges[e].to);
    qdq_json_end_array(json);
    json_uint_key(json, "counter", counter);
    if (node->kind == FUNCTION_END || node->kind == CAPTURE_END)
        json_uint_key(json, "duration_ns", 0);
    qdq_json_key(json, "input_tensors");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < node->input_count; i++) qdq_json_uint(json, node->input_tensors[i]);
    qdq_json_end_array(json);
    json_string_key(json, "node_type", kind_names[node->kind]);
    write_params(json, c, node);
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
