// SPDX-License-Identifier: Apache-2.0
// Rebuilds a graph from the records of a capture. A tensor that a known op reads, and that no known
// op has written, is an input; if it is older than the capture it keeps its address. A program of
// an unknown op becomes nothing: its results are inputs.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/capture/capture.h"
#include "graph/memory/given_layout.h"

typedef struct builder {
    const qdq_reader *r;
    qdq_graph *graph;
    qdq_capture *capture;
} builder;

//---- Values -----------------------------------------------------------------

static qdq_status wrong_text(const builder *b, const qdq_capture_tensor *t, const char *what,
                             const char *text, const char *wanted) {
    return qdq_fail(b->r->err, QDQ_ERR_PARSE, "[%zu].params.%s is '%.120s', wanted %s", t->counter,
                    what, text, wanted);
}

// Gives a value the place that the capture prints for its tensor.
static qdq_status give_place(const builder *b, const qdq_capture_tensor *t, qdq_value value) {
    qdq_memory_config config;
    if (!qdq_capture_config(t->memory_config, &config))
        return wrong_text(b, t, "memory_config", t->memory_config,
                          "MemoryConfig(memory_layout=..., buffer_type=..., shard_spec=...)");
    if (config.memory_layout != QDQ_INTERLEAVED || config.buffer_type != QDQ_DRAM)
        qdq_set_memory_config(b->graph, value, &config);
    bool rows = strstr(t->layout, "ROW_MAJOR") != NULL;
    if (rows) qdq_set_layout(b->graph, value, QDQ_LAYOUT_ROW_MAJOR);
    bool is_default = t->tile.height == 0 || (t->tile.height == 32 && t->tile.width == 32);
    if (!rows && !is_default) qdq_set_tile(b->graph, value, t->tile);
    return QDQ_OK;
}

static qdq_status read_type(const builder *b, const qdq_capture_tensor *t, qdq_dtype *dtype,
                            qdq_shape *shape) {
    if (!qdq_capture_shape(t->shape, shape))
        return wrong_text(b, t, "shape", t->shape, "Shape([...]) with up to 8 dims");
    if (!qdq_capture_dtype(t->dtype, dtype))
        return wrong_text(b, t, "dtype", t->dtype, "DataType::BFLOAT16, or another dtype of ttnn");
    return QDQ_OK;
}

// Writes the name of a tensor's next value: t11, then t11_1, after a program wrote into it.
static void name_value(qdq_capture_tensor *t, size_t program, char name[64]) {
    if (t->has_name)
        snprintf(name, 64, "t%" PRIu64 "_%zu", t->id, program);
    else
        snprintf(name, 64, "t%" PRIu64, t->id);
    t->has_name = true;
}

// Gives an input the address of its tensor. A tensor that a program of an unknown op has allocated
// appears later than the others.
static qdq_status give_address(const builder *b, const qdq_capture_tensor *t) {
    const qdq_capture *c = b->capture;
    bool late = t->allocation != SIZE_MAX && c->program_count &&
                c->allocations[t->allocation].counter > c->programs[0].counter;
    if (!late && t->address == 0) return QDQ_OK;
    qdq_given_layout *given = qdq_graph_give_layout(b->graph, t->value.id);
    if (!given) return qdq_fail_memory(b->r->err, sizeof *given);
    given->is_late = late;
    given->has_address = t->address != 0;
    given->address = t->address;
    return QDQ_OK;
}

static qdq_status add_input(const builder *b, qdq_capture_tensor *t) {
    qdq_dtype dtype;
    qdq_shape shape;
    char name[64];
    QDQ_TRY(read_type(b, t, &dtype, &shape));
    name_value(t, 0, name);
    t->value = qdq_input(b->graph, name, dtype, shape);
    t->input = t->value.id;
    QDQ_TRY(give_place(b, t, t->value));
    return t->value.id ? give_address(b, t) : QDQ_OK;
}

//---- Nodes ------------------------------------------------------------------

static qdq_status add_node(const builder *b, size_t index) {
    qdq_capture_program *p = &b->capture->programs[index];
    qdq_capture_tensor *out = &b->capture->tensors[p->output];
    qdq_value inputs[2] = {{0}, {0}}, into = out->value;
    qdq_dtype dtype;
    qdq_shape shape;
    char name[64];
    size_t operands = qdq_capture_operands(b->capture, p);
    for (size_t i = 0; i < operands; i++) {
        qdq_capture_tensor *t = &b->capture->tensors[b->capture->inputs[p->first_input + i]];
        if (!t->value.id) QDQ_TRY(add_input(b, t));
        inputs[i] = t->value;
        if (t == out) into = t->value;
    }
    if (!out->value.id && p->input_count > operands && out->allocation == SIZE_MAX) {
        QDQ_TRY(add_input(b, out));
        into = out->value;
    }
    QDQ_TRY(read_type(b, out, &dtype, &shape));
    name_value(out, index, name);
    p->node = b->graph->node_count;
    out->value = qdq_capture_add_op(b->graph, p, inputs, name, dtype, into);
    p->made = out->value.id;
    out->is_result = true;
    return give_place(b, out, out->value);
}

// Makes outputs of the values that no node reads, so that every program runs.
static void add_outputs(const builder *b) {
    qdq_graph *graph = b->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        uint32_t id = graph->nodes[i].outputs[0];
        if (graph->values[id].uses == 0)
            qdq_output(graph, graph->nodes[i].name, (qdq_value){.id = id});
    }
}

//---- Lives ------------------------------------------------------------------

// Says of a value after which node its tensor dies: the last program before.
static qdq_status give_life(const builder *b, uint32_t id, const qdq_capture_tensor *t,
                            size_t last_program) {
    if (!id) return QDQ_OK;
    qdq_given_layout *given = qdq_graph_give_layout(b->graph, id);
    if (!given) return qdq_fail_memory(b->r->err, sizeof *given);
    given->has_life = true;
    given->dies_after = t->death == SIZE_MAX ? QDQ_NEVER : last_program;
    return QDQ_OK;
}

// Returns the node of the last known program that begins before node `counter` of the capture; the
// first one if there is none. `known` has for each program the last known one up to it.
static size_t node_before(const qdq_capture *c, const size_t *known, size_t counter) {
    size_t low = 0, high = c->program_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->programs[middle].counter < counter)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? known[low - 1] : 0;
}

static qdq_status give_lives(const builder *b) {
    const qdq_capture *c = b->capture;
    size_t *known = qdq_mempool_array(b->r->mempool, c->program_count, sizeof *known);
    if (!known) return qdq_fail_memory(b->r->err, c->program_count * sizeof *known);
    for (size_t i = 0; i < c->program_count; i++)
        known[i] = c->programs[i].node != SIZE_MAX ? c->programs[i].node : i ? known[i - 1] : 0;
    for (size_t i = 0; i < c->tensor_count; i++)
        QDQ_TRY(give_life(b, c->tensors[i].input, &c->tensors[i],
                          node_before(c, known, c->tensors[i].death)));
    for (size_t i = 0; i < c->program_count; i++) {
        if (c->programs[i].node == SIZE_MAX) continue;
        const qdq_capture_tensor *t = &c->tensors[c->programs[i].output];
        QDQ_TRY(give_life(b, c->programs[i].made, t, node_before(c, known, t->death)));
    }
    return QDQ_OK;
}

//---- The chip ---------------------------------------------------------------

static qdq_status refuse_unknown(const builder *b) {
    const qdq_capture *c = b->capture;
    if (c->program_count == 0)
        return qdq_fail(b->r->err, QDQ_ERR_PARSE,
                        "the capture has no function_start whose name ends with DeviceOperation, "
                        "wanted the nodes of ttnn.graph.end_graph_capture");
    return qdq_fail(b->r->err, QDQ_ERR_UNSUPPORTED,
                    "the capture has no op that qdq knows: its first is '%.100s'",
                    c->programs[0].name);
}

static qdq_status note_unknown(const builder *b, qdq_symbols *seen) {
    qdq_capture *c = b->capture;
    c->unknown = qdq_mempool_array(&b->graph->mempool, c->program_count + 1, sizeof *c->unknown);
    if (!c->unknown) return qdq_fail_memory(b->r->err, c->program_count);
    for (size_t i = 0; i < c->program_count; i++) {
        const char *name = c->programs[i].name;
        if (qdq_capture_operands(c, &c->programs[i])) continue;
        if (qdq_symbols_find(seen, name, strlen(name), NULL)) continue;
        QDQ_TRY(qdq_symbols_add(seen, name, strlen(name), 0, b->r->err));
        c->unknown[c->unknown_count++] = name;
    }
    return QDQ_OK;
}

static qdq_status list_unknown(const builder *b) {
    qdq_symbols *seen = qdq_symbols_create(b->graph->allocator, b->r->err);
    qdq_status status = seen ? note_unknown(b, seen) : b->r->err->status;
    qdq_symbols_destroy(seen);
    return status;
}

qdq_status qdq_capture_build(const qdq_reader *r, qdq_capture *capture) {
    builder b = {r, r->graph, capture};
    qdq_device device;
    size_t known = 0;
    r->graph->capture = capture;
    bool found = qdq_capture_device(r->graph, &device, NULL) == QDQ_OK;
    qdq_graph_set_own_target(r->graph,
                             found && device.arch == QDQ_BLACKHOLE ? "ttnn@blackhole" : "ttnn");
    for (size_t i = 0; i < capture->program_count; i++) {
        if (!qdq_capture_operands(capture, &capture->programs[i])) continue;
        QDQ_TRY(add_node(&b, i));
        known++;
    }
    if (!known) return refuse_unknown(&b);
    add_outputs(&b);
    QDQ_TRY(give_lives(&b));
    return list_unknown(&b);
}

bool qdq_json_is_capture(const qdq_json_item *json) { return qdq_json_is_array(json); }

qdq_status qdq_json_read_capture(const qdq_reader *r, const qdq_json_item *json) {
    qdq_capture *capture = QDQ_MEMPOOL_NEW(&r->graph->mempool, qdq_capture);
    if (!capture) return qdq_fail_memory(r->err, sizeof *capture);
    QDQ_TRY(qdq_capture_read_records(r, json, capture));
    return qdq_capture_build(r, capture);
}
