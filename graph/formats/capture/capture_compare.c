// SPDX-License-Identifier: Apache-2.0
// Compares the records of a capture with a device plan. Buffers and programs of the plan are found
// by the names that capture_graph.c gave to values and nodes.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/capture/capture.h"

typedef struct comparison {
    const qdq_graph *graph;
    const qdq_capture *capture;
    const qdq_device_plan *plan;
    qdq_symbols *buffers, *steps;  // names -> indices
    qdq_capture_see *see;
    void *self;
    qdq_capture_totals *totals;
    // The node, program and subject of the next fields.
    size_t counter;
    const char *program;
    char subject[64];
} comparison;

//---- Fields -----------------------------------------------------------------

static void compare_text(comparison *c, const char *name, const char *captured,
                         const char *planned) {
    qdq_capture_field field = {.counter = c->counter,
                               .program = c->program,
                               .subject = c->subject,
                               .name = name,
                               .captured = captured,
                               .planned = planned,
                               .equal = strcmp(captured, planned) == 0};
    c->totals->fields++;
    c->totals->equal += field.equal;
    if (c->see) c->see(c->self, &field);
}

static void compare_number(comparison *c, const char *name, uint64_t captured, uint64_t planned) {
    char a[24], b[24];
    snprintf(a, sizeof a, "%" PRIu64, captured);
    snprintf(b, sizeof b, "%" PRIu64, planned);
    compare_text(c, name, a, b);
}

// A capture without dispatch has addresses of 0, where no buffer lies.
static void compare_address(comparison *c, uint64_t captured, uint64_t planned) {
    if (captured == 0 && planned != 0)
        c->totals->unrecorded++;
    else
        compare_number(c, "address", captured, planned);
}

//---- Tensors ----------------------------------------------------------------

// Returns the buffer of the value that has the tensor at its node; NULL: the plan has none.
static const qdq_device_buffer *buffer_named(const comparison *c, const char *name) {
    uint32_t index;
    return qdq_symbols_find(c->buffers, name, strlen(name), &index) ? &c->plan->buffers[index]
                                                                    : NULL;
}

static const qdq_device_buffer *buffer_of(const comparison *c, const qdq_capture_tensor *t) {
    char name[64];
    snprintf(name, sizeof name, "t%" PRIu64, t->id);
    return t->has_name ? buffer_named(c, name) : NULL;
}

static uint64_t logical_bytes(const qdq_device_buffer *b) {
    return qdq_shape_count(b->shape) * qdq_dtype_size(b->dtype);
}

static void compare_type(comparison *c, const qdq_capture_tensor *t, const qdq_device_buffer *b) {
    char text[QDQ_MAX_RANK * 24 + 16] = "Shape([";
    for (int i = 0; i < b->shape.rank; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" PRId64, i ? ", " : "",
                 b->shape.dims[i]);
    snprintf(text + strlen(text), sizeof text - strlen(text), "])");
    compare_text(c, "shape", t->shape, text);
    snprintf(text, sizeof text, "DataType::%s", qdq_dtype_name(b->dtype));
    for (char *at = text + sizeof "DataType::" - 1; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    compare_text(c, "dtype", t->dtype, text);
    compare_text(c, "layout", t->layout,
                 b->layout == QDQ_LAYOUT_TILE ? "Layout::TILE" : "Layout::ROW_MAJOR");
    compare_number(c, "buffer_type", t->buffer_type, (uint64_t)b->pool);
}

// Compares configs up to the keys that newer releases add at their end.
static void compare_config(comparison *c, const char *captured, const qdq_memory_config *config) {
    char text[QDQ_MEMORY_CONFIG_TEXT_BYTES];
    static const char last[] = ",per_core_allocation=0";
    qdq_memory_config_text(config, text);
    const char *end = strstr(captured, last);
    size_t length = strlen(text) - 1;  // without the bracket
    bool equal = end && (size_t)(end - captured) + strlen(last) == length &&
                 strncmp(captured, text, length) == 0;
    compare_text(c, "memory_config", captured, equal ? captured : text);
}

static void compare_tensor(comparison *c, const qdq_capture_tensor *t) {
    const qdq_device_buffer *b = buffer_of(c, t);
    bool is_input = b && b->role == QDQ_ROLE_INPUT;
    if (!b) return;
    c->counter = t->counter;
    snprintf(c->subject, sizeof c->subject, "tensor %" PRIu64, t->id);
    if (is_input && t->allocation == SIZE_MAX)
        c->totals->given++;
    else if (!is_input)
        compare_address(c, t->address, b->address);
    if (!is_input) compare_type(c, t, b);
    compare_number(c, "size", t->size, logical_bytes(b));
    compare_config(c, t->memory_config, b->memory_config);
    if (!t->buffer_layout) return;
    snprintf(c->subject, sizeof c->subject, "buffer of tensor %" PRIu64, t->id);
    compare_number(c, "size", t->buffer_size, b->size);
    compare_text(c, "layout", t->buffer_layout, qdq_memory_layout_name(b->memory_layout));
}

//---- Buffers ----------------------------------------------------------------

static void compare_allocation(comparison *c, const qdq_capture_allocation *a) {
    const qdq_capture_tensor *t = a->tensor == SIZE_MAX ? NULL : &c->capture->tensors[a->tensor];
    const qdq_device_buffer *b = t ? buffer_of(c, t) : NULL;
    if (!t) c->totals->unmodelled++;
    if (!b || b->role == QDQ_ROLE_INPUT) return;
    c->counter = a->counter;
    snprintf(c->subject, sizeof c->subject, "buffer of tensor %" PRIu64, t->id);
    compare_address(c, a->address, b->address);
    compare_number(c, "size", a->size, b->size);
    compare_number(c, "page_size", a->page_size, b->page_bytes);
    compare_number(c, "max_size_per_bank", a->max_size_per_bank, b->bytes_per_bank);
    compare_number(c, "num_cores", a->num_cores, b->cores);
    compare_number(c, "buffer_type", a->buffer_type, (uint64_t)b->pool);
    compare_text(c, "type", a->type, b->pool == QDQ_DRAM || b->pool == QDQ_TRACE ? "DRAM" : "L1");
    compare_text(c, "layout", a->layout, qdq_memory_layout_name(b->memory_layout));
}

//---- Programs ---------------------------------------------------------------

static void compare_circular(comparison *c, const qdq_capture_circular *b,
                             const qdq_device_event *e, size_t number) {
    char cores[QDQ_CORE_RANGES_TEXT_BYTES];
    c->counter = b->counter;
    snprintf(c->subject, sizeof c->subject, "circular buffer %zu", number);
    compare_number(c, "size", b->size, e->bytes);
    compare_address(c, b->address, e->address);
    compare_text(c, "core_range_set", b->cores,
                 qdq_core_ranges_text(e->cores, e->core_ranges, cores));
    compare_text(c, "globally_allocated", b->globally_allocated ? "1" : "0",
                 e->globally_allocated ? "1" : "0");
}

// Returns the node at which a program is compared: its first circular buffer, or its end.
static size_t place_of(const qdq_capture *from, const qdq_capture_program *p) {
    return p->circular_count ? from->circulars[p->first_circular].counter : p->end;
}

static void compare_program(comparison *c, const qdq_capture_program *p) {
    const qdq_capture_circular *captured = &c->capture->circulars[p->first_circular];
    const char *name = c->graph->nodes[p->node].name;
    uint32_t index;
    if (!qdq_symbols_find(c->steps, name, strlen(name), &index)) return;
    const qdq_device_step *step = &c->plan->steps[index];
    size_t planned = 0, seen = 0;
    for (size_t i = 0; i < step->event_count; i++)
        planned += c->plan->events[step->first_event + i].kind == QDQ_EVENT_CIRCULAR_BUFFER;
    c->program = p->name;
    c->counter = place_of(c->capture, p);
    snprintf(c->subject, sizeof c->subject, "program");
    compare_number(c, "circular buffers", p->circular_count, planned);
    for (size_t i = 0; i < step->event_count && seen < p->circular_count; i++) {
        const qdq_device_event *e = &c->plan->events[step->first_event + i];
        if (e->kind != QDQ_EVENT_CIRCULAR_BUFFER) continue;
        compare_circular(c, &captured[seen], e, seen);
        seen++;
    }
    c->program = "";
}

//---- The whole --------------------------------------------------------------

// Walks the records in the order of their nodes; each list is in this order.
static void compare_all(comparison *c) {
    const qdq_capture *from = c->capture;
    size_t t = 0, a = 0, p = 0;
    for (;;) {
        size_t tensor = t < from->tensor_count ? from->tensors[t].counter : SIZE_MAX;
        size_t buffer = a < from->allocation_count ? from->allocations[a].counter : SIZE_MAX;
        size_t program = p < from->program_count ? place_of(from, &from->programs[p]) : SIZE_MAX;
        if (tensor == SIZE_MAX && buffer == SIZE_MAX && program == SIZE_MAX) return;
        if (tensor < buffer && tensor < program) {
            compare_tensor(c, &from->tensors[t++]);
        } else if (buffer < program) {
            compare_allocation(c, &from->allocations[a++]);
        } else {
            const qdq_capture_program *run = &from->programs[p++];
            if (run->node == SIZE_MAX)
                c->totals->unknown++;
            else
                compare_program(c, run);
        }
    }
}

static qdq_status add_name(qdq_symbols *names, const char *name, size_t index, qdq_error *err) {
    if (qdq_symbols_find(names, name, strlen(name), NULL)) return QDQ_OK;
    return qdq_symbols_add(names, name, strlen(name), (uint32_t)index, err);
}

static qdq_status add_names(comparison *c, qdq_error *err) {
    for (size_t i = 0; i < c->plan->buffer_count; i++)
        QDQ_TRY(add_name(c->buffers, c->plan->buffers[i].name, i, err));
    for (size_t i = 0; i < c->plan->step_count; i++)
        QDQ_TRY(add_name(c->steps, c->plan->steps[i].node, i, err));
    return QDQ_OK;
}

bool qdq_graph_is_capture(const qdq_graph *graph) { return graph && graph->capture; }

qdq_status qdq_capture_compare(const qdq_graph *graph, const qdq_plan *plan, qdq_capture_see *see,
                               void *self, qdq_capture_totals *out, qdq_error *err) {
    if (!qdq_graph_is_capture(graph) || !qdq_plan_device(plan) || !out)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "a graph without a capture, or a plan without a device, is compared; "
                        "wanted a graph read from a ttnn graph capture, compiled for a device");
    *out = (qdq_capture_totals){0};
    comparison c = {.graph = graph,
                    .capture = graph->capture,
                    .plan = qdq_plan_device(plan),
                    .see = see,
                    .self = self,
                    .totals = out,
                    .program = ""};
    c.buffers = qdq_symbols_create(graph->allocator, err);
    c.steps = c.buffers ? qdq_symbols_create(graph->allocator, err) : NULL;
    qdq_status status = c.steps ? add_names(&c, err) : QDQ_ERR_MEMORY;
    if (status == QDQ_OK) compare_all(&c);
    qdq_symbols_destroy(c.buffers);
    qdq_symbols_destroy(c.steps);
    return status;
}

const char *qdq_capture_unknown(const qdq_graph *graph, size_t index) {
    if (!qdq_graph_is_capture(graph) || index >= graph->capture->unknown_count) return NULL;
    return graph->capture->unknown[index];
}
