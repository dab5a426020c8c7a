// SPDX-License-Identifier: Apache-2.0
// Lists the rows of a report: which nodes have one, and of what kind.
#include <math.h>
#include <string.h>

#include "tools/lab/explain/accuracy/accuracy.h"

const char *const accuracy_kind_names[ACCURACY_KINDS] = {"activations", "weights", "operation",
                                                         "group"};

static accuracy_kind kind_of(const replay *r, size_t node) {
    if (!is_op(r, node, "Dequantize")) return KIND_OPERATION;
    qdq_value x = qdq_graph_node_input(r->form.graph, node, 0);
    size_t maker = quantize_of(r, node);
    if (maker != SIZE_MAX) x = qdq_graph_node_input(r->form.graph, maker, 0);
    return qdq_value_is_constant(r->form.graph, x) ? KIND_WEIGHTS : KIND_ACTIVATIONS;
}

// Describes a node, without its errors.
static node_accuracy row_of(const reference *ref, size_t node, accuracy_kind kind) {
    qdq_node_info info = qdq_graph_node(ref->quantized->form.graph, node);
    size_t quantize = quantize_of(ref->quantized, node);
    const char *codes_of =
        quantize == SIZE_MAX ? "" : qdq_graph_node(ref->quantized->form.graph, quantize).name;
    return (node_accuracy){.node = node,
                           .name = info.name,
                           .op = info.op,
                           .codes_of = codes_of,
                           .kind = kind,
                           .own = NAN,
                           .inherited = NAN,
                           .total = NAN,
                           .effect = NAN,
                           .without = NAN,
                           .alike = NAN,
                           .mended = NAN};
}

// True if the exact value of the node's float output is known.
static bool is_measured(const reference *ref, size_t node) {
    const node_run *run = &ref->quantized->nodes[node].run;
    if (!run->output_count || !qdq_dtype_is_real(run->outputs[0].info.dtype)) return false;
    qdq_value value = run->outputs[0].value;
    return reference_of(ref, value) && ref->exact[value.id] && ref->quantized->computed[value.id];
}

static bool lacks_truth(const reference *ref, size_t node) {
    return !ref->truth[ref->quantized->nodes[node].run.outputs[0].value.id];
}

// True if a node of the deployed form is no node of the graph: the one that computes its first
// result there has another op, or there is none.
static bool is_group(const accuracy_forms *forms, size_t node) {
    const replay *runs = forms->deployed->quantized, *written = forms->written->quantized;
    qdq_value y = replay_source(runs, qdq_graph_node_output(runs->form.graph, node, 0));
    if (!y.id || y.id >= written->given->ids) return true;
    size_t maker = written->form.makers[written->form.own[y.id].id];
    return !is_op(written, maker, qdq_graph_node(runs->form.graph, node).op);
}

size_t accuracy_rows(const accuracy_forms *forms, node_accuracy *out) {
    const reference *written = forms->written, *runs = forms->deployed;
    bool same = written == runs;
    size_t count = 0;
    for (size_t n = 0; n < written->quantized->node_count; n++) {
        accuracy_kind kind = kind_of(written->quantized, n);
        if (!is_measured(written, n) || (kind == KIND_OPERATION && !same)) continue;
        out[count] = row_of(written, n, kind);
        out[count++].unmatched = kind == KIND_WEIGHTS && lacks_truth(written, n);
    }
    for (size_t n = 0; !same && n < runs->quantized->node_count; n++)
        if (kind_of(runs->quantized, n) == KIND_OPERATION && is_measured(runs, n) &&
            !is_group(forms, n))
            out[count++] = row_of(runs, n, KIND_OPERATION);
    for (size_t n = 0; !same && n < runs->quantized->node_count; n++)
        if (kind_of(runs->quantized, n) == KIND_OPERATION && is_group(forms, n))
            out[count++] = row_of(runs, n, KIND_GROUP);
    return count;
}

const reference *row_reference(const accuracy_forms *forms, const node_accuracy *row) {
    return row->kind < KIND_OPERATION ? forms->written : forms->deployed;
}
