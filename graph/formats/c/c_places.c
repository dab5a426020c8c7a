// SPDX-License-Identifier: Apache-2.0
// Decides where calls of emitted C find values: in parameters, constants or the arena.
#include "graph/formats/c/c_graph.h"

size_t qdq_c_bytes_of(const qdq_graph *graph, size_t id) {
    qdq_type type = graph->values[id].type;
    return qdq_shape_count(type.shape) * qdq_dtype_size(type.dtype);
}

bool qdq_c_is_run(const qdq_c_draft *d, const qdq_node *node) {
    return !d->graph->values[node->outputs[0]].constant;
}

//---- Places -----------------------------------------------------------------

static const char *parameter(qdq_c_draft *d, const char *name, const char *otherwise) {
    const char *identifier = qdq_c_identifier(&d->given, name, otherwise);
    return qdq_c_give(&d->given, identifier) ? identifier : otherwise;
}

static void place_io(qdq_c_draft *d) {
    const qdq_graph *graph = d->graph;
    for (size_t i = 1; i < graph->value_count; i++) {
        if (graph->values[i].kind != QDQ_VALUE_INPUT) continue;
        d->values[i] = (qdq_c_place){.kind = QDQ_C_INPUT, .number = d->input_count};
        d->input_ids[d->input_count] = i;
        d->inputs[d->input_count] = parameter(d, graph->values[i].name, "x");
        d->input_count++;
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        qdq_c_place *place = &d->values[graph->outputs[i].value.id];
        d->outputs[i] = parameter(d, graph->outputs[i].name, "y");
        const qdq_graph_value *v = &graph->values[graph->outputs[i].value.id];
        if (v->kind == QDQ_VALUE_MADE && !v->constant && place->kind == QDQ_C_UNUSED)
            *place = (qdq_c_place){.kind = QDQ_C_OUTPUT, .number = i};
    }
}

size_t qdq_c_add_lifetime(qdq_c_draft *d, size_t step, size_t bytes) {
    d->lifetimes[d->lifetime_count] = (qdq_lifetime){step, step, bytes, QDQ_NOT_IN_PLACE, 0};
    return d->lifetime_count++;
}

// Places the results of a node in the arena, and keeps its operands there until their last reader.
static void place_node(qdq_c_draft *d, size_t index) {
    const qdq_node *node = &d->graph->nodes[index];
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_c_place *place = &d->values[node->outputs[i]];
        if (place->kind != QDQ_C_UNUSED) continue;
        *place = (qdq_c_place){.kind = QDQ_C_ARENA};
        place->number = qdq_c_add_lifetime(d, index, qdq_c_bytes_of(d->graph, node->outputs[i]));
    }
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        qdq_c_place *place = &d->values[id];
        if (!id) continue;
        if (place->kind == QDQ_C_ARENA) d->lifetimes[place->number].last_step = index;
        if (place->kind == QDQ_C_UNUSED) place->kind = QDQ_C_CONSTANT;
    }
}

bool qdq_c_place_values(qdq_c_draft *d) {
    const qdq_graph *graph = d->graph;
    size_t most = graph->value_count + graph->node_count;
    d->values = qdq_mempool_array(d->mempool, graph->value_count, sizeof *d->values);
    d->inputs = qdq_mempool_array(d->mempool, graph->value_count, sizeof *d->inputs);
    d->reads = qdq_mempool_array(d->mempool, graph->value_count, sizeof *d->reads);
    d->input_ids = qdq_mempool_array(d->mempool, graph->value_count, sizeof *d->input_ids);
    d->outputs = qdq_mempool_array(d->mempool, graph->output_count, sizeof *d->outputs);
    d->lifetimes = qdq_mempool_array(d->mempool, most, sizeof *d->lifetimes);
    d->scratch = qdq_mempool_array(d->mempool, graph->node_count, sizeof *d->scratch);
    if (d->mempool->failed) return false;
    place_io(d);
    for (size_t i = 0; i < graph->node_count; i++) {
        d->scratch[i] = SIZE_MAX;
        if (qdq_c_is_run(d, &graph->nodes[i])) place_node(d, i);
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        qdq_c_place *place = &d->values[graph->outputs[i].value.id];
        if (place->kind == QDQ_C_UNUSED) place->kind = QDQ_C_CONSTANT;
    }
    return true;
}
