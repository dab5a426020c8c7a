// SPDX-License-Identifier: Apache-2.0
// Copies a graph with codes in place of values where nodes read them.
#include <stdio.h>
#include <string.h>

#include "graph/compile/validate.h"
#include "graph/core/copy.h"
#include "graph/core/names.h"
#include "include/qdq/coding.h"
#include "runtime/base/fp_environment.h"

typedef struct copying {
    const qdq_graph *from;
    qdq_graph *to;
    const qdq_coding *codings;
    size_t count;
    size_t *first;  // by node: its first entry in `coded`, which has an entry for each input port
    size_t *coded;  // 1 + the coding that the port reads; 0: none
    qdq_value *reals;   // by coding: the Dequantize in the new graph; none yet: 0
    qdq_value *copies;  // by value: the value of the new graph
    qdq_mempool mempool;
} copying;

//---- Checking ---------------------------------------------------------------

static bool is_float(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16;
}

static qdq_status check_reader(copying *c, size_t coding, qdq_node_port at, qdq_error *err) {
    const qdq_graph *g = c->from;
    if (at.node >= g->node_count || at.port >= g->nodes[at.node].input_count)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "coding %zu: port %zu of node %zu is a reader, but there is none", coding,
                        at.port, at.node);
    uint32_t id = c->codings[coding].value.id;
    if (!id && g->nodes[at.node].inputs[at.port].id)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "coding %zu: has no value, but port %zu of node '%s' reads one", coding,
                        at.port, g->nodes[at.node].name);
    if (g->nodes[at.node].inputs[at.port].id != id)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "coding %zu: port %zu of node '%s' does not read value '%s'", coding,
                        at.port, g->nodes[at.node].name, g->values[id].name);
    size_t *coded = &c->coded[c->first[at.node] + at.port];
    if (*coded)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "codings %zu and %zu are both for port %zu of node '%s'", *coded - 1,
                        coding, at.port, g->nodes[at.node].name);
    *coded = coding + 1;
    return QDQ_OK;
}

static qdq_status check_coding(copying *c, size_t index, qdq_error *err) {
    const qdq_coding *coding = &c->codings[index];
    const qdq_graph *g = c->from;
    uint32_t id = coding->value.id;
    bool is_new = !id && coding->codes;
    if (id >= g->value_count || (!is_new && (!id || !is_float(g->values[id].type.dtype))))
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "coding %zu: the value is no float of the graph: give float32, float16 or "
                        "bfloat16",
                        index);
    if (id && coding->codes && g->values[id].kind != QDQ_VALUE_CONSTANT)
        return qdq_fail(
            err, QDQ_ERR_ARGUMENT,
            "coding %zu: codes are given, but value '%s' is no constant: leave them out", index,
            g->values[id].name);
    for (size_t i = 0; i < coding->reader_count; i++)
        QDQ_TRY(check_reader(c, index, coding->readers[i], err));
    return QDQ_OK;
}

static qdq_status prepare(copying *c, qdq_error *err) {
    const qdq_graph *g = c->from;
    size_t ports = 0;
    c->first = qdq_mempool_array(&c->mempool, g->node_count + 1, sizeof *c->first);
    for (size_t i = 0; c->first && i < g->node_count; i++) {
        c->first[i] = ports;
        ports += g->nodes[i].input_count;
    }
    c->coded = qdq_mempool_array(&c->mempool, ports + 1, sizeof *c->coded);
    c->reals = qdq_mempool_array(&c->mempool, c->count + 1, sizeof *c->reals);
    c->copies = qdq_mempool_array(&c->mempool, g->value_count, sizeof *c->copies);
    c->to = qdq_copy_empty(g);
    if (c->mempool.failed || !c->to)
        return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while quantizing the graph");
    for (size_t i = 0; i < c->count; i++) QDQ_TRY(check_coding(c, i, err));
    return QDQ_OK;
}

//---- Copying ----------------------------------------------------------------

static void keep_name(copying *c, uint32_t id) {
    const char *original = c->from->values[id].original;
    if (original && c->copies[id].id) qdq_graph_set_original(c->to, c->copies[id], original);
}

static qdq_value copy_value(copying *c, uint32_t id) {
    const qdq_graph_value *v = &c->from->values[id];
    if (!id || c->copies[id].id || v->kind == QDQ_VALUE_MADE) return c->copies[id];
    c->copies[id] = qdq_copy_given(c->to, v->name, v);
    keep_name(c, id);
    return c->copies[id];
}

static const char *new_name(copying *c, const char *stem, const char *ending) {
    return qdq_copy_name(&c->mempool, c->from, c->to, stem, ending);
}

// Returns the name of a coding's value, or a name for a constant that a port gets.
static const char *stem_of(copying *c, const qdq_coding *coding) {
    if (coding->value.id) return c->from->values[coding->value.id].name;
    qdq_node_port at = coding->readers[0];
    const qdq_node *node = &c->from->nodes[at.node];
    char ending[64];
    snprintf(ending, sizeof ending, "_%s", qdq_op_port(node->op, at.port)->name);
    return new_name(c, node->name, ending);
}

static const double no_offset;

// Adds the nodes of a coding, once.
static qdq_value decoded(copying *c, size_t index) {
    const qdq_coding *coding = &c->codings[index];
    const qdq_graph_value *v = &c->from->values[coding->value.id];
    if (c->reals[index].id) return c->reals[index];
    const char *stem = stem_of(c, coding);
    qdq_dtype dtype = coding->value.id ? v->type.dtype : QDQ_FLOAT32;
    qdq_shape shape = coding->value.id ? v->type.shape : coding->shape;
    if (!stem) return (qdq_value){0};
    if (coding->codes && coding->attrs.dtype == dtype) {
        const char *name = coding->value.id ? new_name(c, stem, "_changed") : stem;
        return c->reals[index] = qdq_constant(c->to, name, dtype, shape, coding->codes);
    }
    qdq_quantize_attrs attrs = coding->attrs;
    attrs.scale = attrs.zero_point = attrs.output_tensor = (qdq_value){0};
    attrs.name = new_name(c, stem, "_quantized");
    // Said, because ONNX Runtime takes codes without a zero point for uint8
    // (ort/zero-point-missing).
    if (!coding->codes && !attrs.zps.count && attrs.dtype == QDQ_INT8)
        attrs.zps = (qdq_numbers){&no_offset, 1, true};
    qdq_value codes = coding->codes
                          ? qdq_constant(c->to, attrs.name, attrs.dtype, shape, coding->codes)
                          : qdq_quantize(c->to, copy_value(c, coding->value.id), attrs);
    attrs.name = new_name(c, stem, "_dequantized");
    attrs.dtype = dtype;
    return c->reals[index] = qdq_dequantize(c->to, codes, attrs);
}

static qdq_value operand(copying *c, size_t node, size_t port) {
    size_t coding = c->coded[c->first[node] + port];
    return coding ? decoded(c, coding - 1) : copy_value(c, c->from->nodes[node].inputs[port].id);
}

static void copy_node(copying *c, size_t index) {
    const qdq_node *node = &c->from->nodes[index];
    qdq_value *inputs = qdq_mempool_array(&c->mempool, node->input_count, sizeof *inputs);
    for (size_t i = 0; inputs && i < node->input_count; i++) inputs[i] = operand(c, index, i);
    if (!inputs || !qdq_copy_whole_node(c->to, node, inputs, c->copies)) return;
    for (size_t i = 0; i < node->output_count; i++) keep_name(c, node->outputs[i]);
}

static qdq_status copy(copying *c, qdq_error *err) {
    const qdq_graph *g = c->from;
    for (uint32_t id = 1; id < g->value_count; id++)
        if (g->values[id].kind == QDQ_VALUE_INPUT) (void)copy_value(c, id);
    for (size_t i = 0; i < g->node_count; i++) copy_node(c, i);
    for (size_t i = 0; i < g->output_count; i++) {
        const qdq_graph_output *out = &g->outputs[i];
        qdq_output(c->to, out->name, copy_value(c, out->value.id));
        if (out->original) qdq_graph_set_output_original(c->to, i, out->original);
    }
    if (c->to->broken.status) return qdq_fail(err, c->to->broken.status, "%s", c->to->broken.text);
    if (c->to->findings.errors)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "%s", c->to->findings.items[0].message);
    if (c->mempool.failed || c->to->mempool.failed)
        return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while quantizing the graph");
    return QDQ_OK;
}

qdq_graph *qdq_graph_quantized(qdq_graph *graph, const qdq_coding *codings, size_t count,
                               qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version core;
    qdq_error own = {0};
    copying c = {.from = graph, .codings = codings, .count = count};
    if (!err) err = &own;
    if (!qdq_target_version_find("core", &core, err) ||
        qdq_graph_check(graph, &core, NULL, err) != QDQ_OK)
        return NULL;
    qdq_mempool_init(&c.mempool, graph->allocator);
    qdq_status status = prepare(&c, err);
    if (status == QDQ_OK) status = copy(&c, err);
    qdq_mempool_release(&c.mempool);
    if (status == QDQ_OK) return c.to;
    qdq_graph_destroy(c.to);
    return NULL;
}
