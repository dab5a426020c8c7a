// SPDX-License-Identifier: Apache-2.0
// Writes states as variables: a handle and READ_VARIABLE before the operators, ASSIGN_VARIABLE
// behind them, and a subgraph that CALL_ONCE runs, which assigns the first elements.
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "runtime/numerics/dtype.h"

enum { CALL_ONCE_OPTIONS = 103, HANDLE_OPTIONS = 111, READ_OPTIONS = 112, ASSIGN_OPTIONS = 113 };

// Returns the number of the state whose input a value is; the number of states: none.
static size_t state_of(const qdq_graph *graph, uint32_t value) {
    size_t i = 0;
    if (graph->values[value].kind != QDQ_VALUE_INPUT) return graph->state_count;
    while (i < graph->state_count && qdq_graph_find(graph, graph->states[i].input).id != value) i++;
    return i;
}

bool qdq_tflite_is_state(const qdq_graph *graph, uint32_t value) {
    return state_of(graph, value) < graph->state_count;
}

// Returns a writer for a state, as a node of its name.
static qdq_tflite_writer writer_for(qdq_tflite_draft *draft, qdq_node *node, const char *name) {
    *node = (qdq_node){.name = name};
    return (qdq_tflite_writer){.draft = draft, .node = node};
}

// Adds a VAR_HANDLE, and returns its handle.
static int32_t write_handle(qdq_tflite_writer *w) {
    int32_t handle = qdq_tflite_new_handle(w, qdq_tflite_helper_name(w, "handle"));
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_VAR_HANDLE, HANDLE_OPTIONS);
    qdq_tflite_add_output(w, op, handle);
    qdq_tflite_option_text(op, 1, w->node->name);
    return handle;
}

static void write_assign(qdq_tflite_writer *w, int32_t handle, int32_t value) {
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_ASSIGN_VARIABLE, ASSIGN_OPTIONS);
    qdq_tflite_add_input(w, op, handle);
    qdq_tflite_add_input(w, op, value);
}

// Writes the assignment of a state's first elements, zeros if it gives none, to the subgraph.
static void write_initial(qdq_tflite_draft *draft, const qdq_state_info *state) {
    qdq_node node;
    qdq_tflite_writer w = writer_for(draft, &node, state->input);
    uint32_t id = qdq_graph_find(draft->graph, state->input).id;
    qdq_type type = draft->graph->values[id].type;
    const void *data = state->initial;
    if (!data)
        data = qdq_mempool_array(draft->mempool, qdq_shape_count(type.shape),
                                 qdq_dtype_size(type.dtype));
    draft->to = &draft->initial;
    int32_t handle = write_handle(&w);
    write_assign(&w, handle, qdq_tflite_new_constant(&w, "first", type, data, draft->params[id]));
    draft->to = &draft->main;
}

void qdq_tflite_write_first_states(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    qdq_node node;
    qdq_tflite_writer w = writer_for(draft, &node, graph->name);
    if (!graph->state_count) return;
    qdq_tflite_operator *once = qdq_tflite_emit(&w, TFLITE_CALL_ONCE, CALL_ONCE_OPTIONS);
    qdq_tflite_option_int(once, 0, 1);
    for (size_t i = 0; i < graph->state_count; i++) write_initial(draft, &graph->states[i]);
    for (size_t id = 1; id < graph->value_count; id++) {  // in the order of inputs
        size_t i = state_of(graph, (uint32_t)id);
        if (i == graph->state_count) continue;
        w = writer_for(draft, &node, graph->states[i].input);
        int32_t handle = write_handle(&w);
        int32_t value = qdq_tflite_tensor_of(&w, (uint32_t)id, NULL, NULL);
        qdq_tflite_operator *op = qdq_tflite_emit(&w, TFLITE_READ_VARIABLE, READ_OPTIONS);
        qdq_tflite_add_input(&w, op, handle);
        qdq_tflite_add_output(&w, op, value);
        draft->handles[i] = handle;
    }
}

void qdq_tflite_write_next_states(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->state_count; i++) {
        qdq_node node;
        qdq_tflite_writer w = writer_for(draft, &node, graph->states[i].input);
        uint32_t next = qdq_output_value(graph, graph->states[i].output).id;
        write_assign(&w, draft->handles[i], qdq_tflite_tensor_of(&w, next, NULL, NULL));
    }
}
