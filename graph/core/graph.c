// SPDX-License-Identifier: Apache-2.0
// Begins and ends graphs, adds inputs, constants and outputs, and reports the errors of each;
// graph_nodes.c adds nodes.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/core/names.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/utf8.h"
#include "runtime/numerics/dtype.h"

//---- Life -------------------------------------------------------------------

bool qdq_graph_is_healthy(qdq_graph *graph) {
    if (graph->mempool.failed)
        qdq_fail(&graph->broken, QDQ_ERR_MEMORY, "out of memory while building the graph");
    return graph->broken.status == QDQ_OK;
}

static void set_up(qdq_graph *graph, const char *name, const qdq_graph_options *options) {
    const char *target = options ? options->target : NULL;
    graph->limits = qdq_limits_or_default(options ? &options->limits : NULL);
    if (options) graph->log = options->log;
    graph->name = qdq_mempool_strdup(&graph->mempool, name ? name : "");
    graph->target_given = target != NULL;
    graph->target = qdq_mempool_strdup(&graph->mempool, target ? target : "core");
    graph->own_target = graph->target;
    graph->file = "";
    graph->findings = (qdq_findings){.mempool = &graph->mempool,
                                     .file = "",
                                     .most = graph->limits.findings,
                                     .original = qdq_value_original,
                                     .output_original = qdq_output_original,
                                     .graph = graph};
    qdq_graph_check_own_name(graph);
    graph->symbols = qdq_symbols_create(graph->allocator, &graph->broken);
    graph->values =
        qdq_mempool_grow(&graph->mempool, NULL, 0, &graph->value_capacity, sizeof(qdq_graph_value));
    graph->value_count = 1;
}

qdq_graph *qdq_graph_new(const char *name, const qdq_graph_options *options) {
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    qdq_graph *graph = qdq_alloc_array(allocator, 1, sizeof *graph, 64);
    if (!graph) return NULL;
    *graph = (qdq_graph){.allocator = allocator};
    qdq_mempool_init(&graph->mempool, allocator);
    qdq_mempool_init(&graph->report_pool, allocator);
    set_up(graph, name, options);
    if (qdq_graph_is_healthy(graph)) return graph;
    qdq_graph_destroy(graph);
    return NULL;
}

void qdq_graph_destroy(qdq_graph *graph) {
    if (!graph) return;
    const qdq_allocator *allocator = graph->allocator;
    qdq_release_files(graph);
    qdq_symbols_destroy(graph->symbols);
    qdq_mempool_release(&graph->report_pool);
    qdq_mempool_release(&graph->mempool);
    qdq_free_array(allocator, graph, 1, sizeof *graph);
}

const char *qdq_graph_name(const qdq_graph *graph) { return graph ? graph->name : ""; }

const char *qdq_graph_target(const qdq_graph *graph) { return graph ? graph->target : "core"; }

void qdq_graph_tell(const qdq_graph *graph, const char *format, ...) {
    if (!graph->log.write) return;
    char text[1024], shown[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    graph->log.write(graph->log.self, qdq_utf8_show(shown, sizeof shown, text, strlen(text)));
}

void qdq_graph_report_core(qdq_graph *graph, qdq_core_rule rule, qdq_subject subject,
                           const char *found, const char *wanted) {
    qdq_report_core(&graph->findings, rule, subject, found, wanted);
}

//---- Values -----------------------------------------------------------------

uint32_t qdq_graph_add_value(qdq_graph *graph, qdq_graph_value value) {
    qdq_graph_value *values = qdq_mempool_grow(&graph->mempool, graph->values, graph->value_count,
                                               &graph->value_capacity, sizeof *values);
    if (!values || graph->value_count >= UINT32_MAX) {
        (void)qdq_graph_is_healthy(graph);
        return 0;
    }
    graph->values = values;
    values[graph->value_count] = value;
    return (uint32_t)graph->value_count++;
}

static qdq_value add_named(qdq_graph *graph, const char *name, qdq_graph_value value,
                           const char *what) {
    if (!qdq_graph_is_healthy(graph)) return (qdq_value){0};
    qdq_graph_check_name(graph, name, what);
    value.name = qdq_mempool_string(&graph->mempool, name ? name : "", name ? strlen(name) : 0);
    uint32_t id = qdq_graph_add_value(graph, value);
    if (id && value.name && *value.name)
        qdq_graph_enter_name(graph, value.name, id, (qdq_subject){.port = what});
    return (qdq_value){qdq_graph_is_healthy(graph) ? id : 0};
}

qdq_value qdq_input(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape) {
    QDQ_FIXED_ENVIRONMENT;
    if (!graph) return (qdq_value){0};
    qdq_graph_value value = {.kind = QDQ_VALUE_INPUT, .type = {dtype, shape}};
    value.valid = qdq_graph_check_given(graph, value.type, name, "input");
    return add_named(graph, name, value, "input");
}

qdq_value qdq_graph_declare_constant(qdq_graph *graph, const char *name, qdq_type type,
                                     const qdq_stored *stored) {
    qdq_graph_value constant = {
        .kind = QDQ_VALUE_CONSTANT, .type = type, .constant = true, .stored = stored};
    constant.valid = qdq_graph_check_given(graph, type, name, "constant");
    return add_named(graph, name, constant, "constant");
}

void *qdq_graph_add_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                             qdq_value *value) {
    qdq_graph_value constant = {
        .kind = QDQ_VALUE_CONSTANT, .type = {dtype, shape}, .constant = true};
    constant.valid = qdq_graph_check_given(graph, constant.type, name, "constant");
    void *data = NULL;
    if (constant.valid)
        data = qdq_mempool_array(&graph->mempool, qdq_shape_count(shape), qdq_dtype_size(dtype));
    constant.data = data;
    *value = add_named(graph, name, constant, "constant");
    return data;
}

qdq_value qdq_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                       const void *data) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_value value = {0};
    if (!graph) return value;
    void *memory = qdq_graph_add_constant(graph, name, dtype, shape, &value);
    if (memory && qdq_graph_check_data(graph, name, dtype, data, qdq_shape_count(shape)))
        memcpy(memory, data, qdq_shape_count(shape) * qdq_dtype_size(dtype));
    return value;
}

qdq_value qdq_graph_add_invalid(qdq_graph *graph, const char *name) {
    qdq_graph_value value = {.kind = QDQ_VALUE_MADE, .valid = false, .node = SIZE_MAX};
    if (name) return add_named(graph, name, value, "node");
    return (qdq_value){qdq_graph_add_value(graph, value)};
}

bool qdq_value_type(const qdq_graph *graph, qdq_value value, qdq_dtype *dtype, qdq_shape *shape) {
    const qdq_graph_value *v = graph ? qdq_graph_value_at(graph, value) : NULL;
    if (!v || !v->valid) return false;
    if (dtype) *dtype = v->type.dtype;
    if (shape) *shape = v->type.shape;
    return true;
}

qdq_value qdq_port(qdq_graph *graph, qdq_value value, const char *port) {
    const qdq_graph_value *v = graph ? qdq_graph_value_at(graph, value) : NULL;
    if (!port || !v || v->kind != QDQ_VALUE_MADE || !v->name) return (qdq_value){0};
    const qdq_node *node = v->node < graph->node_count ? &graph->nodes[v->node] : NULL;
    for (size_t i = 0; node && i < node->output_count; i++)
        if (strcmp(node->op->outputs[i].name, port) == 0) return (qdq_value){node->outputs[i]};
    return (qdq_value){0};
}

void qdq_output(qdq_graph *graph, const char *name, qdq_value value) {
    QDQ_FIXED_ENVIRONMENT;
    if (!graph || !qdq_graph_is_healthy(graph)) return;
    qdq_graph_check_name(graph, name, "output");
    if (name) qdq_graph_enter_output_name(graph, name);
    qdq_graph_value *v = qdq_graph_value_at(graph, value);
    if (!v) {
        qdq_graph_report_core(graph, QDQ_RULE_VALUE_UNKNOWN, (qdq_subject){.port = "output"},
                              qdq_text(&graph->findings, "'%s' has no value", name ? name : ""),
                              "a value of this graph");
        return;
    }
    qdq_graph_output *outputs =
        qdq_mempool_grow(&graph->mempool, graph->outputs, graph->output_count,
                         &graph->output_capacity, sizeof *outputs);
    if (!outputs) return;
    if (v->valid)
        (void)qdq_graph_charge(graph, v->type, (qdq_subject){name, NULL, "shape", "output"});
    v->uses++;
    v->returned = true;
    graph->outputs = outputs;
    outputs[graph->output_count] = (qdq_graph_output){
        .name = qdq_mempool_strdup(&graph->mempool, name ? name : ""), .value = value};
    if (outputs[graph->output_count].name) graph->output_count++;
}

void qdq_graph_note_use(qdq_graph *graph, qdq_value value) {
    qdq_graph_value *v = qdq_graph_value_at(graph, value);
    if (v) v->uses++;
}
