// SPDX-License-Identifier: Apache-2.0
// Copies one node of a graph, with its operands, into a new graph.
#include <stdio.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/core/names.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"

typedef struct extraction {
    const qdq_graph *from;
    const qdq_node *node;
    qdq_graph *to;
    size_t tried[QDQ_MAX_PORTS];  // numbers that names of an operand of this port have had
} extraction;

static const char *output_name(const extraction *e, size_t port) {
    const char *name = e->from->values[e->node->outputs[port]].name;
    return strlen(name) <= QDQ_MAX_NAME_BYTES ? name : e->node->op->outputs[port].name;
}

// True if a name is free: inputs and outputs are bound by name to memory, so an operand may use
// neither an input's nor an output's name.
static bool is_free(const extraction *e, const char *name) {
    for (size_t i = 0; i < e->node->output_count; i++)
        if (strcmp(output_name(e, i), name) == 0) return false;
    return strlen(name) <= QDQ_MAX_NAME_BYTES && qdq_graph_name_is_free(e->to, name);
}

// Returns the operand's name if it is legal and still free, otherwise a name derived from the port.
static const char *operand_name(extraction *e, const char *own, const qdq_port_desc *port,
                                char buffer[QDQ_MAX_NAME_BYTES + 1]) {
    size_t *tried = &e->tried[port - e->node->op->inputs];
    const char *name = own;
    while (!is_free(e, name)) {
        if (*tried)
            snprintf(buffer, QDQ_MAX_NAME_BYTES + 1, "%s_%zu", port->name, *tried);
        else
            snprintf(buffer, QDQ_MAX_NAME_BYTES + 1, "%s", port->name);
        name = buffer;
        ++*tried;
    }
    return name;
}

static qdq_value copy_operand(extraction *e, size_t input) {
    const qdq_graph_value *v = &e->from->values[e->node->inputs[input].id];
    char buffer[QDQ_MAX_NAME_BYTES + 1];
    const char *name = operand_name(e, v->name, qdq_op_port(e->node->op, input), buffer);
    return qdq_copy_given(e->to, name, v);
}

// Copies the operands; a shared operand is copied once.
static bool copy_operands(extraction *e, qdq_value *copies) {
    const qdq_node *node = e->node;
    const size_t *first = qdq_first_reads(&e->to->mempool, node);
    for (size_t i = 0; first && i < node->input_count; i++)
        if (node->inputs[i].id) copies[i] = first[i] < i ? copies[first[i]] : copy_operand(e, i);
    return first != NULL;
}

static void name_outputs(const extraction *e, qdq_value first) {
    for (size_t i = 0; i < e->node->output_count; i++)
        qdq_output(e->to, output_name(e, i), qdq_port(e->to, first, e->node->op->outputs[i].name));
}

static void extract(extraction *e) {
    qdq_value *copies = qdq_mempool_array(&e->to->mempool, e->node->input_count, sizeof *copies);
    if (copies && copy_operands(e, copies))
        name_outputs(e, qdq_copy_node(e->to, e->node, NULL, copies));
}

qdq_graph *qdq_graph_extract(const qdq_graph *graph, size_t index, const qdq_graph_options *options,
                             qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    extraction e = {.from = graph};
    if (qdq_graph_find_node(graph, index, &e.node, err) != QDQ_OK) return NULL;
    qdq_graph_options same = {.allocator = graph->allocator,
                              .log = graph->log,
                              .limits = graph->limits,
                              .target = graph->target};
    e.to = qdq_graph_create(e.node->name, options ? options : &same);
    if (e.to) qdq_copy_own_target(e.to, graph);
    if (e.to) extract(&e);
    if (e.to && !e.to->mempool.failed && e.to->broken.status == QDQ_OK) return e.to;
    bool told = e.to && e.to->broken.status;
    if (told) (void)qdq_fail(err, e.to->broken.status, "%s", e.to->broken.text);
    qdq_graph_destroy(e.to);
    if (told) return NULL;
    (void)qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while taking node '%s' out of its graph",
                   e.node->name);
    return NULL;
}
