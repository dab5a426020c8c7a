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
    qdq_value *codes;   // by coding: the codes in the new graph; none yet: 0
    qdq_value *copies;  // by value: the value of the new graph
    size_t *moved;      // by value: 1 + the coding whose codes a node moves; 0: none
    size_t *returned;   // by value: 1 + the coding that outputs of the graph read; 0: none
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

// Checks the codings of a value that a node moves, that another coding precedes, or that is read by
// outputs of the graph.
static qdq_status check_source(copying *c, size_t index, qdq_error *err) {
    const qdq_coding *coding = &c->codings[index];
    uint32_t id = coding->value.id;
    const qdq_graph_value *v = &c->from->values[id];
    size_t source = coding->source;
    bool another = source && source <= c->count && source != index + 1 && !coding->codes &&
                   c->codings[source - 1].value.id == id && !c->codings[source - 1].source;
    if (source && !another)
        return qdq_fail(
            err, QDQ_ERR_ARGUMENT,
            "coding %zu: its source is %zu, wanted another coding of the value, counted "
            "from 1, that has none",
            index, source);
    if (coding->moved && (v->kind != QDQ_VALUE_MADE || v->port || source || c->moved[id]))
        return qdq_fail(
            err, QDQ_ERR_ARGUMENT,
            "coding %zu: is moved, but value '%s' is not the first result of a node, or "
            "has another source",
            index, id ? v->name : "");
    if (coding->moved) c->moved[id] = index + 1;
    if (coding->outputs) c->returned[id] = index + 1;
    return QDQ_OK;
}

// Checks that a node which moves codes has a coding for each operand in float.
static qdq_status check_moved(const copying *c, size_t index, qdq_error *err) {
    const qdq_coding *coding = &c->codings[index];
    if (!coding->moved) return QDQ_OK;
    size_t n = c->from->values[coding->value.id].node;
    const qdq_node *node = &c->from->nodes[n];
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        size_t coded = c->coded[c->first[n] + i];
        bool codes = coded && c->codings[coded - 1].attrs.dtype == coding->attrs.dtype;
        if (coded ? codes : !id || !is_float(c->from->values[id].type.dtype)) continue;
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "coding %zu: is moved, but port %zu of node '%s' reads no codes of its "
                        "dtype",
                        index, i, node->name);
    }
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
    QDQ_TRY(check_source(c, index, err));
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
    c->codes = qdq_mempool_array(&c->mempool, c->count + 1, sizeof *c->codes);
    c->moved = qdq_mempool_array(&c->mempool, g->value_count, sizeof *c->moved);
    c->returned = qdq_mempool_array(&c->mempool, g->value_count, sizeof *c->returned);
    c->copies = qdq_mempool_array(&c->mempool, g->value_count, sizeof *c->copies);
    c->to = qdq_copy_empty(g);
    if (c->mempool.failed || !c->to)
        return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while quantizing the graph");
    for (size_t i = 0; i < c->count; i++) QDQ_TRY(check_coding(c, i, err));
    for (size_t i = 0; i < c->count; i++) QDQ_TRY(check_moved(c, i, err));
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

// Converts the codes of another coding of the value.
static qdq_value requantized(copying *c, const qdq_coding *coding, const char *name) {
    const qdq_quantize_attrs *in = &c->codings[coding->source - 1].attrs, *out = &coding->attrs;
    qdq_requantize_attrs attrs = {.name = name,
                                  .in_scales = in->scales,
                                  .in_zps = in->zps,
                                  .out_scales = out->scales,
                                  .out_zps = out->zps,
                                  .dtype = out->dtype};
    return qdq_requantize(c->to, c->codes[coding->source - 1], attrs);
}

// Adds the codes of a coding. No value if memory runs out.
static qdq_value new_codes(copying *c, const qdq_coding *coding, const char *stem,
                           qdq_shape shape) {
    qdq_quantize_attrs attrs = coding->attrs;
    attrs.scale = attrs.zero_point = attrs.output_tensor = (qdq_value){0};
    attrs.name = new_name(c, stem, "_quantized");
    if (coding->codes) return qdq_constant(c->to, attrs.name, attrs.dtype, shape, coding->codes);
    if (coding->source) return requantized(c, coding, attrs.name);
    // Said, because ONNX Runtime takes codes without a zero point for uint8
    // (ort/zero-point-missing).
    if (!attrs.zps.count && attrs.dtype == QDQ_INT8) attrs.zps = (qdq_numbers){&no_offset, 1, true};
    return qdq_quantize(c->to, copy_value(c, coding->value.id), attrs);
}

static qdq_shape shape_of(const copying *c, const qdq_coding *coding) {
    return coding->value.id ? c->from->values[coding->value.id].type.shape : coding->shape;
}

// Returns the codes of a coding, which are added once.
static qdq_value codes_of(copying *c, size_t index) {
    const qdq_coding *coding = &c->codings[index];
    if (c->codes[index].id) return c->codes[index];
    const char *stem = stem_of(c, coding);
    if (!stem) return (qdq_value){0};
    if (coding->source) (void)codes_of(c, coding->source - 1);
    return c->codes[index] = new_codes(c, coding, stem, shape_of(c, coding));
}

// Returns the Dequantize of a coding, or the elements in its place, which are added once.
static qdq_value decoded(copying *c, size_t index) {
    const qdq_coding *coding = &c->codings[index];
    const qdq_graph_value *v = &c->from->values[coding->value.id];
    if (c->reals[index].id) return c->reals[index];
    const char *stem = stem_of(c, coding);
    qdq_dtype dtype = coding->value.id ? v->type.dtype : QDQ_FLOAT32;
    if (!stem) return (qdq_value){0};
    if (coding->codes && coding->attrs.dtype == dtype) {
        const char *name = coding->value.id ? new_name(c, stem, "_changed") : stem;
        qdq_shape shape = shape_of(c, coding);
        return c->reals[index] = qdq_constant(c->to, name, dtype, shape, coding->codes);
    }
    qdq_value codes = codes_of(c, index);
    qdq_quantize_attrs attrs = coding->attrs;
    attrs.scale = attrs.zero_point = attrs.output_tensor = (qdq_value){0};
    attrs.name = new_name(c, stem, "_dequantized");
    attrs.dtype = dtype;
    if (!coding->codes && !attrs.zps.count && coding->attrs.dtype == QDQ_INT8)
        attrs.zps = (qdq_numbers){&no_offset, 1, true};
    return c->reals[index] = qdq_dequantize(c->to, codes, attrs);
}

// Returns a value in float.
static qdq_value real_value(copying *c, uint32_t id) {
    return c->moved[id] ? decoded(c, c->moved[id] - 1) : copy_value(c, id);
}

// Returns what a port of a node reads. `codes`: the node moves codes.
static qdq_value operand(copying *c, size_t node, size_t port, bool codes) {
    size_t coding = c->coded[c->first[node] + port];
    if (coding) return codes ? codes_of(c, coding - 1) : decoded(c, coding - 1);
    return real_value(c, c->from->nodes[node].inputs[port].id);
}

static void copy_node(copying *c, size_t index) {
    const qdq_node *node = &c->from->nodes[index];
    qdq_value *inputs = qdq_mempool_array(&c->mempool, node->input_count, sizeof *inputs);
    size_t moved = c->moved[node->outputs[0]];
    for (size_t i = 0; inputs && i < node->input_count; i++)
        inputs[i] = operand(c, index, i, moved != 0);
    if (!inputs || !qdq_copy_whole_node(c->to, node, inputs, c->copies)) return;
    if (moved) c->codes[moved - 1] = c->copies[node->outputs[0]];
    for (size_t i = 0; i < node->output_count; i++) keep_name(c, node->outputs[i]);
}

static qdq_status copy(copying *c, qdq_error *err) {
    const qdq_graph *g = c->from;
    for (uint32_t id = 1; id < g->value_count; id++)
        if (g->values[id].kind == QDQ_VALUE_INPUT) (void)copy_value(c, id);
    for (size_t i = 0; i < g->node_count; i++) copy_node(c, i);
    for (size_t i = 0; i < g->output_count; i++) {
        const qdq_graph_output *out = &g->outputs[i];
        size_t coding = c->returned[out->value.id];
        qdq_output(c->to, out->name,
                   coding ? decoded(c, coding - 1) : real_value(c, out->value.id));
        if (out->original) qdq_graph_set_output_original(c->to, i, out->original);
    }
    qdq_copy_states(c->to, g);
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
