// SPDX-License-Identifier: Apache-2.0
// Finds the float model's elements for a value: of the value of the same name, or at the same port
// of the node of the same name. A pair of Quantize and Dequantize stands for the value that it
// reads.
#include "tools/lab/explain/accuracy/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/accuracy/constants_match.h"

static qdq_status no_memory(qdq_error *err) {
    err->status = QDQ_ERR_MEMORY;
    snprintf(err->text, sizeof err->text, "no memory to compare with the float model");
    return err->status;
}

bool is_op(const replay *r, size_t node, const char *op) {
    return node < r->node_count && strcmp(qdq_graph_node(r->form.graph, node).op, op) == 0;
}

size_t quantize_of(const replay *r, size_t node) {
    if (!is_op(r, node, "Dequantize")) return SIZE_MAX;
    size_t maker = r->form.makers[qdq_graph_node_input(r->form.graph, node, 0).id];
    return is_op(r, maker, "Quantize") ? maker : SIZE_MAX;
}

const void *reference_of(const reference *ref, qdq_value value) {
    if (ref->truth[value.id]) return ref->truth[value.id];
    if (ref->exact[value.id]) return ref->exact[value.id];
    return ref->quantized->form.makers[value.id] == SIZE_MAX ? ref->quantized->used[value.id]
                                                             : NULL;
}

//---- The float model --------------------------------------------------------

// Returns the elements of value `real` of the float model if it has the type of `v`; else NULL.
static const void *real_data(const reference *ref, qdq_value real, qdq_value v) {
    const qdq_graph *graph = ref->real->form.graph;
    qdq_dtype a, b;
    qdq_shape x, y;
    if (!real.id || !qdq_value_type(graph, real, &a, &x) ||
        !qdq_value_type(ref->quantized->form.graph, v, &b, &y) || a != b || !qdq_dtype_is_real(a) ||
        !qdq_shape_equal(x, y))
        return NULL;
    if (qdq_value_is_constant(graph, real)) return qdq_value_data(graph, real);
    return real.id < ref->real->form.value_count ? ref->real->used[real.id] : NULL;
}

static const char *original(const replay *r, qdq_value value) {
    return qdq_value_original(r->form.graph, qdq_value_name(r->form.graph, value));
}

static qdq_value real_named(const reference *ref, const char *name) {
    const qdq_graph *graph = ref->real->form.graph;
    return qdq_graph_find(graph, qdq_value_name_of(graph, name));
}

qdq_value reference_value(const reference *ref, qdq_value value) {
    return real_named(ref, original(ref->quantized, value));
}

size_t reference_node(const reference *ref, size_t node) {
    const replay *q = ref->quantized, *r = ref->real;
    qdq_node_info info = qdq_graph_node(q->form.graph, node);
    qdq_value made = reference_value(ref, qdq_graph_node_output(q->form.graph, node, 0));
    size_t found = made.id && made.id < r->form.value_count ? r->form.makers[made.id] : SIZE_MAX;
    for (size_t n = 0; found == SIZE_MAX && n < r->node_count; n++)
        if (strcmp(qdq_graph_node(r->form.graph, n).name, info.name) == 0) found = n;
    return is_op(r, found, info.op) ? found : SIZE_MAX;
}

static void note(reference *ref, qdq_value value, const void *data) {
    const qdq_graph *graph = ref->quantized->form.graph;
    if (value.id && data && !ref->truth[value.id] && !qdq_value_is_constant(graph, value))
        ref->truth[value.id] = data;
}

// Notes the limits of a result that an activation of the float model computes, and another op here.
static void note_activation(reference *ref, size_t node, qdq_value value, size_t maker) {
    if (maker == SIZE_MAX || qdq_value_is_constant(ref->quantized->form.graph, value)) return;
    if (!is_op(ref->quantized, node, qdq_graph_node(ref->real->form.graph, maker).op))
        limits_of_activation(ref->real, maker, &ref->limits[value.id]);
}

static void note_node(reference *ref, size_t node) {
    const qdq_graph *graph = ref->quantized->form.graph;
    qdq_node_info info = qdq_graph_node(graph, node);
    size_t same = reference_node(ref, node);
    for (size_t i = 0; i < info.output_count; i++) {
        qdq_value value = qdq_graph_node_output(graph, node, i);
        qdq_value named = reference_value(ref, value);
        const void *data = real_data(ref, named, value);
        note(ref, value, data);
        if (data && named.id < ref->real->form.value_count)
            note_activation(ref, node, value, ref->real->form.makers[named.id]);
    }
    for (size_t i = 0; same != SIZE_MAX && i < info.input_count; i++) {
        qdq_value value = qdq_graph_node_input(graph, node, i);
        if (value.id)
            note(ref, value,
                 real_data(ref, qdq_graph_node_input(ref->real->form.graph, same, i), value));
    }
}

//---- Activations that were left out ----

static void find_possible(reference *ref) {
    const replay *r = ref->quantized;
    for (size_t v = 0; v < r->form.value_count; v++) ref->limits[v].possible = false;
    for (size_t n = 0; n < r->node_count; n++)
        if (is_op(r, n, "Quantize"))
            ref->limits[r->nodes[n].run.inputs[0].value.id].possible = true;
    for (size_t n = 0; n < r->node_count; n++)
        for (size_t i = 0; i < r->nodes[n].run.input_count; i++)
            if (i > 0 || !is_op(r, n, "Quantize"))
                ref->limits[r->nodes[n].run.inputs[i].value.id].possible = false;
}

void reference_limit(const reference *ref, const node_run *run, void *const *outputs) {
    for (size_t i = 0; i < run->output_count; i++) {
        const qdq_tensor_info *info = &run->outputs[i].info;
        if (info->dtype == QDQ_FLOAT32)
            limits_apply(&ref->limits[run->outputs[i].value.id], outputs[i],
                         qdq_shape_count(info->shape));
    }
}

static void find_limits(reference *ref, const node_run *run) {
    for (size_t i = 0; i < run->output_count; i++) {
        const node_value *v = &run->outputs[i];
        value_limits *limits = &ref->limits[v->value.id];
        const float *truth = ref->truth[v->value.id], *exact = ref->exact[v->value.id];
        if (v->info.dtype != QDQ_FLOAT32 || !truth) limits->possible = false;
        if (truth && exact) limits_find(limits, truth, exact, qdq_shape_count(v->info.shape));
    }
}

//---- Exact inputs -----------------------------------------------------------

// Notes that the result of a pair stands for the value that the pair reads.
static void note_pair(reference *ref, size_t node) {
    const qdq_graph *graph = ref->quantized->form.graph;
    size_t quantize = quantize_of(ref->quantized, node);
    if (quantize == SIZE_MAX) return;
    qdq_value x = qdq_graph_node_input(graph, quantize, 0);
    qdq_value y = qdq_graph_node_output(graph, node, 0);
    qdq_dtype a, b;
    qdq_shape shape;
    if (qdq_value_type(graph, x, &a, &shape) && qdq_value_type(graph, y, &b, &shape) && a == b &&
        !qdq_value_is_constant(graph, x))
        note(ref, y, reference_of(ref, x));
}

// Notes the float constant that codes of a constant stand for, if the value's names do not lead to
// it.
static void note_constant(reference *ref, size_t node) {
    const qdq_graph *graph = ref->quantized->form.graph;
    if (!is_op(ref->quantized, node, "Dequantize")) return;
    size_t quantize = quantize_of(ref->quantized, node);
    qdq_value x = qdq_graph_node_input(graph, quantize == SIZE_MAX ? node : quantize, 0);
    qdq_value y = qdq_graph_node_output(graph, node, 0);
    if (ref->truth[y.id] || !ref->exact[y.id] || !qdq_value_is_constant(graph, x)) return;
    // A pair may also read the float constant itself.
    qdq_value found = real_named(ref, original(ref->quantized, x));
    if (quantize == SIZE_MAX || !real_data(ref, found, y))
        found = constant_of_codes(ref->quantized, ref->real, node, ref->exact[y.id]);
    if (found.id) note(ref, y, real_data(ref, found, y));
}

static qdq_status run_exact(const reference *ref, size_t node, void *const *outputs,
                            qdq_error *err) {
    const replay_node *n = &ref->quantized->nodes[node];
    void **inputs = calloc(n->run.input_count + 1, sizeof *inputs);
    if (!inputs || !outputs) {
        free(inputs);
        return no_memory(err);
    }
    qdq_status status = QDQ_OK;
    for (size_t i = 0; status == QDQ_OK && i < n->run.input_count; i++) {
        // The run only reads it.
        inputs[i] = (void *)(uintptr_t)reference_of(ref, n->run.inputs[i].value);
        if (!inputs[i]) status = no_memory(err);
    }
    if (status == QDQ_OK) status = replay_compute(ref->quantized, node, inputs, outputs, err);
    free(inputs);
    return status;
}

static qdq_status open_exact(reference *ref, size_t node, qdq_error *err) {
    const node_run *run = &ref->quantized->nodes[node].run;
    void **outputs = replay_outputs(ref->quantized, node);
    qdq_status status = run_exact(ref, node, outputs, err);
    for (size_t i = 0; outputs && i < run->output_count; i++)
        ref->exact[run->outputs[i].value.id] = outputs[i];
    if (status == QDQ_OK) find_limits(ref, run);
    if (status == QDQ_OK) reference_limit(ref, run, outputs);
    free(outputs);
    return status;
}

qdq_status reference_again(reference *ref, qdq_error *err) {
    qdq_status status = QDQ_OK;
    for (size_t n = 0; status == QDQ_OK && n < ref->quantized->node_count; n++) {
        const node_run *run = &ref->quantized->nodes[n].run;
        void **outputs = calloc(run->output_count + 1, sizeof *outputs);
        for (size_t i = 0; outputs && i < run->output_count; i++)
            outputs[i] = ref->exact[run->outputs[i].value.id];
        status = run_exact(ref, n, outputs, err);
        if (status == QDQ_OK) find_limits(ref, run);
        if (status == QDQ_OK) reference_limit(ref, run, outputs);
        free(outputs);
    }
    return status;
}

qdq_status reference_open(reference *ref, const replay *quantized, const replay *real,
                          qdq_error *err) {
    size_t values = quantized->form.value_count;
    *ref = (reference){.quantized = quantized, .real = real};
    ref->truth = calloc(values, sizeof *ref->truth);
    ref->exact = calloc(values, sizeof *ref->exact);
    ref->limits = calloc(values, sizeof *ref->limits);
    if (!ref->truth || !ref->exact || !ref->limits) return no_memory(err);
    find_possible(ref);
    for (size_t n = 0; n < quantized->node_count; n++) note_node(ref, n);
    qdq_status status = QDQ_OK;
    for (size_t n = 0; status == QDQ_OK && n < quantized->node_count; n++) {
        status = open_exact(ref, n, err);
        note_pair(ref, n);
        if (status == QDQ_OK) note_constant(ref, n);
    }
    return status;
}

void reference_close(reference *ref) {
    for (size_t v = 0; ref->exact && v < ref->quantized->form.value_count; v++)
        elements_free(ref->exact[v]);
    free(ref->exact);
    free((void *)(uintptr_t)ref->truth);
    free(ref->limits);
    *ref = (reference){0};
}
