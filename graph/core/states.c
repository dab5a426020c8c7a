// SPDX-License-Identifier: Apache-2.0
// State between runs: inputs that take the elements of an output of the run before.
#include <string.h>

#include "graph/core/copy.h"
#include "graph/core/graph.h"
#include "graph/core/names.h"
#include "include/qdq/exec.h"
#include "runtime/numerics/dtype.h"

static bool is_input(const qdq_graph *graph, qdq_value value) {
    const qdq_graph_value *v = qdq_graph_value_at(graph, value);
    return v && v->kind == QDQ_VALUE_INPUT && v->name;
}

// Returns the output of the name; NULL after a finding.
static const qdq_graph_output *find_output(qdq_graph *graph, qdq_value input, const char *output) {
    size_t index;
    qdq_findings *f = &graph->findings;
    const char *name = is_input(graph, input) ? graph->values[input.id].name : NULL;
    qdq_subject subject = {.node = name, .port = "state", .kind = "input"};
    if (!name) {
        qdq_graph_report_core(graph, QDQ_RULE_VALUE_UNKNOWN, subject, "is no input", "an input");
    } else if (!output || !qdq_graph_find_output(graph, output, &index)) {
        qdq_graph_report_core(graph, QDQ_RULE_VALUE_UNKNOWN, subject,
                              qdq_text(f, "is followed by '%s'", output ? output : ""),
                              "the name of an output");
    } else {
        return &graph->outputs[index];
    }
    return NULL;
}

void qdq_state(qdq_graph *graph, qdq_value input, const char *output, const void *initial) {
    const qdq_graph_output *found = graph ? find_output(graph, input, output) : NULL;
    if (!found) return;
    const qdq_graph_value *from = &graph->values[input.id],
                          *next = qdq_graph_value_at(graph, found->value);
    if (!from->valid || !next || !next->valid) return;
    if (from->type.dtype != next->type.dtype ||
        !qdq_shape_equal(from->type.shape, next->type.shape)) {
        qdq_findings *f = &graph->findings;
        qdq_graph_report_core(graph, QDQ_RULE_SHAPE,
                              (qdq_subject){.node = from->name, .port = "state", .kind = "input"},
                              qdq_text(f, "is followed by '%s', which is %s %s", found->name,
                                       qdq_dtype_name(next->type.dtype),
                                       qdq_shape_text(f, next->type.shape)),
                              qdq_text(f, "%s %s", qdq_dtype_name(from->type.dtype),
                                       qdq_shape_text(f, from->type.shape)));
        return;
    }
    size_t count = qdq_shape_count(from->type.shape), size = qdq_dtype_size(from->type.dtype);
    qdq_state_info *states = qdq_mempool_grow(&graph->mempool, graph->states, graph->state_count,
                                              &graph->state_capacity, sizeof *states);
    if (!states) return;
    graph->states = states;
    states[graph->state_count] = (qdq_state_info){from->name, found->name, NULL};
    if (initial)
        states[graph->state_count].initial =
            qdq_mempool_copy(&graph->mempool, initial, count, size);
    graph->state_count++;
}

size_t qdq_graph_state_count(const qdq_graph *graph) { return graph ? graph->state_count : 0; }

const qdq_state_info *qdq_graph_state(const qdq_graph *graph, size_t index) {
    return index < qdq_graph_state_count(graph) ? &graph->states[index] : NULL;
}

void qdq_copy_states(qdq_graph *to, const qdq_graph *from) {
    for (size_t i = 0; i < from->state_count; i++) {
        const qdq_state_info *state = &from->states[i];
        qdq_state(to, qdq_graph_find(to, state->input), state->output, state->initial);
    }
}

//---- Running ----------------------------------------------------------------

// Sets the input of each state: to its first elements, or to its next ones.
static qdq_status set_states(qdq_exec *exec, const qdq_graph *graph, bool first, qdq_error *err) {
    if (!graph) return qdq_fail_memory(err, 1);
    if (!exec) return qdq_fail(err, QDQ_ERR_ARGUMENT, "there is no exec that has states");
    for (size_t i = 0; i < qdq_graph_state_count(graph); i++) {
        const qdq_state_info *state = &graph->states[i];
        qdq_type type = {0};
        (void)qdq_value_type(graph, qdq_graph_find(graph, state->input), &type.dtype, &type.shape);
        size_t count = qdq_shape_count(type.shape), size = qdq_dtype_size(type.dtype);
        void *elements = qdq_alloc_array(graph->allocator, count, size, 16);
        if (!elements) return qdq_fail_memory(err, count * size);
        memset(elements, 0, count * size);
        qdq_status status = QDQ_OK;
        if (!first)
            status = qdq_exec_read(exec, state->output, type.dtype, elements, count, err);
        else if (state->initial)
            memcpy(elements, state->initial, count * size);
        if (status == QDQ_OK)
            status = qdq_exec_write(exec, state->input, type.dtype, elements, count, err);
        qdq_free_array(graph->allocator, elements, count, size);
        if (status != QDQ_OK) return status;
    }
    return QDQ_OK;
}

qdq_status qdq_exec_first_states(qdq_exec *exec, const qdq_graph *graph, qdq_error *err) {
    return set_states(exec, graph, true, err);
}

qdq_status qdq_exec_next_states(qdq_exec *exec, const qdq_graph *graph, qdq_error *err) {
    return set_states(exec, graph, false, err);
}
