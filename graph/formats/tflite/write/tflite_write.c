// SPDX-License-Identifier: Apache-2.0
// Writes a graph as a TensorFlow Lite model: finds the units of its nodes, drafts operators and
// tensors, then encodes them into a file. Everything that the format lacks is found before a file
// is begun.
#include "graph/formats/tflite/write/tflite_write.h"

#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/new_file.h"
#include "graph/formats/tflite/write/tflite_encode.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "graph/memory/given_layout.h"
#include "runtime/base/error.h"

//---- Units ------------------------------------------------------------------

// Counts the nodes that read each value.
static void count_readers(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++) {
            uint32_t value = graph->nodes[i].inputs[k].id;
            draft->reader_counts[value]++;
            draft->reader[value] = i;
        }
}

// Marks the units whose results operators or outputs read, from the last one on.
static void mark_needed(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->output_count; i++)
        draft->needed[graph->outputs[i].value.id] = true;
    for (size_t i = graph->node_count; i-- > 0;) {
        qdq_tflite_unit *u = &draft->units[i];
        for (size_t k = 0; !u->part && k < u->out_count; k++)
            u->needed = u->needed || draft->needed[u->outs[k]];
        for (size_t k = 0; u->needed && k < u->in_count; k++) draft->needed[u->in[k].value] = true;
    }
}

//---- Values -----------------------------------------------------------------

static const char *original_or(const char *original, const char *name) {
    return original && *original ? original : name;
}

// True if the output has the elements of a state for the next run.
static bool is_next_state(const qdq_graph *graph, const char *output) {
    for (size_t i = 0; i < graph->state_count; i++)
        if (strcmp(graph->states[i].output, output) == 0) return true;
    return false;
}

// Takes the names of inputs, which callers bind, then of variables, then of outputs.
static void name_values(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind == QDQ_VALUE_INPUT && !qdq_tflite_is_state(graph, (uint32_t)i))
            draft->names[i] = qdq_tflite_take_name(draft, original_or(v->original, v->name));
    }
    for (size_t i = 0; i < graph->state_count; i++) {
        const char *name = graph->states[i].input;
        const qdq_node node = {.name = name};
        qdq_tflite_writer w = {.draft = draft, .node = &node};
        (void)qdq_tflite_take_name(draft, name);  // of the variable alone
        draft->names[qdq_graph_find(graph, name).id] =
            qdq_tflite_take_name(draft, qdq_tflite_helper_name(&w, "value"));
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        const qdq_graph_output *output = &graph->outputs[i];
        uint32_t id = output->value.id;
        if (graph->values[id].kind == QDQ_VALUE_MADE && !draft->names[id] &&
            !is_next_state(graph, output->name))
            draft->names[id] =
                qdq_tflite_take_name(draft, original_or(output->original, output->name));
    }
}

// Adds the inputs to the model. Constants of the graph are refused where they are read.
static void add_inputs(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind != QDQ_VALUE_INPUT) continue;
        const qdq_node node = {.name = v->name};
        qdq_tflite_writer w = {.draft = draft, .node = &node};
        if (qdq_graph_given_layout(graph, (uint32_t)i))
            qdq_tflite_cannot(&w, NULL, "says where it lies on a device", "nothing of a device");
        int32_t tensor = qdq_tflite_tensor_of(&w, (uint32_t)i, NULL, NULL);
        if (!qdq_tflite_is_state(graph, (uint32_t)i))
            TFLITE_APPEND(draft, draft->main.inputs, int32_t, tensor);
    }
}

static void add_outputs(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->output_count; i++) {
        const qdq_graph_output *output = &graph->outputs[i];
        const qdq_node node = {.name = output->name};
        qdq_tflite_writer w = {.draft = draft, .node = &node};
        if (is_next_state(graph, output->name)) continue;
        int32_t tensor = qdq_tflite_tensor_of(&w, output->value.id, NULL, NULL);
        TFLITE_APPEND(draft, draft->main.outputs, int32_t, tensor);
        TFLITE_APPEND(draft, draft->main.output_names, const char *,
                      original_or(output->original, output->name));
    }
}

//---- The draft --------------------------------------------------------------

static bool take_memory(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    qdq_mempool *m = draft->mempool;
    size_t values = graph->value_count;
    draft->units = qdq_mempool_array(m, graph->node_count + 1, sizeof *draft->units);
    draft->reader_counts = qdq_mempool_array(m, values, sizeof *draft->reader_counts);
    draft->reader = qdq_mempool_array(m, values, sizeof *draft->reader);
    draft->needed = qdq_mempool_array(m, values, sizeof *draft->needed);
    draft->params = qdq_mempool_array(m, values, sizeof(qdq_tflite_params *));
    draft->made = qdq_mempool_array(m, values, sizeof(qdq_tflite_new_tensor *));
    draft->names = qdq_mempool_array(m, values, sizeof *draft->names);
    draft->handles = qdq_mempool_array(m, graph->state_count + 1, sizeof *draft->handles);
    return !m->failed;
}

static qdq_status make_draft(qdq_tflite_draft *draft, qdq_error *err) {
    const qdq_graph *graph = draft->graph;
    draft->to = &draft->main;
    draft->main.name = *graph->name ? graph->name : "main";
    draft->initial.name = "first_states";
    if (!take_memory(draft)) return qdq_fail_memory(err, graph->value_count);
    count_readers(draft);
    for (size_t i = 0; i < graph->node_count && !draft->mempool->failed; i++)
        qdq_tflite_find_unit(draft, i);
    if (draft->mempool->failed) return qdq_fail_memory(err, graph->value_count);
    mark_needed(draft);
    qdq_tflite_find_params(draft);
    name_values(draft);
    add_inputs(draft);
    qdq_tflite_write_first_states(draft);
    for (size_t i = 0; i < graph->node_count && !draft->mempool->failed; i++)
        if (draft->units[i].needed) qdq_tflite_write_node(draft, i);
    qdq_tflite_write_next_states(draft);
    add_outputs(draft);
    return draft->mempool->failed ? qdq_fail_memory(err, graph->value_count) : QDQ_OK;
}

// Makes the draft in separate memory, and writes it to a path unless that is NULL or there are
// findings.
static qdq_status draft_and_write(const qdq_graph *graph, qdq_findings *findings, const char *path,
                                  qdq_error *err) {
    qdq_mempool mempool;
    qdq_new_file file;
    qdq_mempool_init(&mempool, graph->allocator);
    qdq_tflite_draft draft = {.graph = graph, .mempool = &mempool, .findings = findings};
    draft.taken = qdq_symbols_create(graph->allocator, err);
    qdq_status status = draft.taken ? make_draft(&draft, err) : err->status;
    if (status == QDQ_OK && path && !findings->errors) {
        status = qdq_new_file_open(&file, path, graph->allocator, err);
        if (status == QDQ_OK)
            status =
                qdq_new_file_close(&file, path, qdq_tflite_encode(&draft, file.stream, err), err);
    }
    qdq_symbols_destroy(draft.taken);
    qdq_mempool_release(&mempool);
    return status;
}

qdq_status qdq_tflite_write_check(const qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    qdq_error own = {0};
    qdq_status status = draft_and_write(graph, findings, NULL, &own);
    return status == QDQ_OK ? QDQ_OK : qdq_fail(err, status, "%s", own.text);
}

static qdq_status refuse(const qdq_findings *f, qdq_error *err) {
    const char *first = f->count ? f->items[0].message : "TensorFlow Lite lacks some of its ops";
    if (f->errors == 1) return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "%s", first);
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "%s; and %zu more", first, f->errors - 1);
}

qdq_status qdq_tflite_write(const qdq_graph *graph, const char *path, qdq_error *err) {
    qdq_mempool report;
    qdq_error own = {0};
    qdq_mempool_init(&report, graph->allocator);
    qdq_findings findings = graph->findings;
    findings.mempool = &report, findings.items = NULL;
    findings.count = findings.capacity = findings.errors = findings.warnings = 0;
    qdq_status status = draft_and_write(graph, &findings, path, &own);
    if (status == QDQ_OK && findings.errors)
        status = refuse(&findings, &own);
    else if (status != QDQ_OK)
        qdq_error_prefix(&own, path);
    if (status != QDQ_OK) qdq_fail(err, status, "%s", own.text);
    qdq_mempool_release(&report);
    return status;
}
