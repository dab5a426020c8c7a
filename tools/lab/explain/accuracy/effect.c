// SPDX-License-Identifier: Apache-2.0
// The effect of a pair is the noise of an output when this pair alone rounds: its result on exact
// inputs takes the place of the exact one, and the nodes behind it run again. Other pairs hand on
// what they read. A walk ends where all values come out as before, so a pair costs the part of the
// graph behind it. `without` is the reverse: all pairs round but this one.
//
// A Quantize whose codes an op other than Dequantize reads rounds in both walks.
//
// Pairs round as the graph is written, also for a target that fuses them with other nodes. The
// effect of such a group is the difference that its one node causes: it runs on the operands of the
// graph as written, and the nodes behind it run again.
#include "tools/lab/explain/accuracy/effect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/compare/noise.h"
#include "tools/lab/explain/accuracy/decisions.h"

typedef struct walk {
    const reference *ref;  // of the graph as written
    const accuracy_graphs *graphs;
    bool others_round;
    bool against_base;  // outputs are compared with the base, not with the float model
    bool *hands_on;     // [node]: a Quantize that only Dequantize nodes of the dtype of its x read
    void **changed;     // [value]: elements that differ from the base; NULL: as in the base
    bool *borrowed;     // [value]: another entry owns the elements
    double *errors;     // [output]: the errors of single pairs, added
    double *signals;    // [output]
} walk;

static const replay *graph_of(const walk *w) { return w->ref->quantized; }

// Returns the elements of a value before the walk.
static const void *base_of(const walk *w, qdq_value value) {
    const replay *r = graph_of(w);
    if (!w->others_round) return reference_of(w->ref, value);
    return r->computed[value.id] ? r->computed[value.id] : r->used[value.id];
}

static const void *now_of(const walk *w, qdq_value value) {
    return w->changed[value.id] ? w->changed[value.id] : base_of(w, value);
}

//---- Pairs ------------------------------------------------------------------

static bool same_type(const qdq_graph *graph, qdq_value a, const qdq_graph *other, qdq_value b) {
    qdq_dtype x, y;
    qdq_shape from, to;
    return qdq_value_type(graph, a, &x, &from) && qdq_value_type(other, b, &y, &to) && x == y &&
           qdq_shape_equal(from, to);
}

// True if a Dequantize gives what the Quantize before it reads when neither rounds.
static bool undoes(const replay *r, size_t node, size_t quantize) {
    const qdq_graph *graph = r->form.graph;
    return quantize_of(r, node) == quantize &&
           same_type(graph, qdq_graph_node_input(graph, quantize, 0), graph,
                     qdq_graph_node_output(graph, node, 0));
}

static void find_pairs(walk *w) {
    const replay *r = graph_of(w);
    for (size_t n = 0; n < r->node_count; n++) w->hands_on[n] = is_op(r, n, "Quantize");
    for (size_t n = 0; n < r->node_count; n++)
        for (size_t i = 0; i < r->nodes[n].run.input_count; i++) {
            size_t maker = r->form.makers[r->nodes[n].run.inputs[i].value.id];
            if (maker != SIZE_MAX && w->hands_on[maker] && !undoes(r, n, maker))
                w->hands_on[maker] = false;
        }
    for (size_t i = 0; i < qdq_plan_output_count(w->graphs->quantized->plan); i++) {
        output_data data;
        if (!find_output(w->graphs, w->ref, i, &data)) continue;
        size_t maker = r->form.makers[data.value.id];
        if (maker != SIZE_MAX && is_op(r, maker, "Quantize")) w->hands_on[maker] = false;
    }
}

//---- A walk -----------------------------------------------------------------

static void forget(walk *w) {
    for (size_t v = 0; v < graph_of(w)->form.value_count; v++) {
        if (!w->borrowed[v]) elements_free(w->changed[v]);
        w->changed[v] = NULL, w->borrowed[v] = false;
    }
}

static void borrow(walk *w, qdq_value value, const void *elements) {
    w->changed[value.id] = (void *)(uintptr_t)elements;  // only read
    w->borrowed[value.id] = true;
}

static bool reads_changed(const walk *w, size_t node) {
    const node_run *run = &graph_of(w)->nodes[node].run;
    for (size_t i = 0; i < run->input_count; i++)
        if (w->changed[run->inputs[i].value.id]) return true;
    return false;
}

// Returns the value that a node hands on instead of computing; id 0: it computes.
static qdq_value handed_on(const walk *w, size_t node) {
    const replay *r = graph_of(w);
    if (w->others_round) return (qdq_value){0};
    size_t quantize = w->hands_on[node] ? node : quantize_of(r, node);
    bool is_pair = quantize != SIZE_MAX && w->hands_on[quantize];
    return is_pair ? qdq_graph_node_input(r->form.graph, node, 0) : (qdq_value){0};
}

static qdq_status run_node(walk *w, size_t node, qdq_error *err) {
    const replay *r = graph_of(w);
    const node_run *run = &r->nodes[node].run;
    void **outputs = replay_outputs(r, node);
    void **inputs = calloc(run->input_count + 1, sizeof *inputs);
    qdq_status status = inputs && outputs ? QDQ_OK : replay_no_memory(err);
    for (size_t i = 0; status == QDQ_OK && i < run->input_count; i++) {
        inputs[i] = (void *)(uintptr_t)now_of(w, run->inputs[i].value);
        if (!inputs[i]) status = replay_no_memory(err);
    }
    if (status == QDQ_OK) status = replay_compute(r, node, inputs, outputs, err);
    for (size_t i = 0; status == QDQ_OK && i < run->output_count; i++) {
        uint32_t id = run->outputs[i].value.id;
        const void *before = w->others_round ? r->computed[id] : w->ref->exact[id];
        if (before && memcmp(before, outputs[i], run->outputs[i].info.bytes) == 0) continue;
        w->changed[id] = outputs[i];
        outputs[i] = NULL;
    }
    replay_free_outputs(r, node, outputs);
    free(inputs);
    return status;
}

// Runs the nodes behind `node`, whose result has changed.
static qdq_status run_behind(walk *w, size_t node, qdq_error *err) {
    const replay *r = graph_of(w);
    qdq_status status = QDQ_OK;
    for (size_t n = node + 1; status == QDQ_OK && n < r->node_count; n++) {
        if (!reads_changed(w, n)) continue;
        qdq_value from = handed_on(w, n);
        if (from.id)
            borrow(w, qdq_graph_node_output(r->form.graph, n, 0), now_of(w, from));
        else
            status = run_node(w, n, err);
    }
    return status;
}

//---- Outputs ----------------------------------------------------------------

// What a walk does to the worst output.
typedef struct outcome {
    double ratio, alike;
} outcome;

// Compares an output with the base of the walk, or with the float model's.
static qdq_status measure_output(walk *w, size_t index, outcome *worst, qdq_error *err) {
    output_data data;
    if (!find_output(w->graphs, w->ref, index, &data)) return QDQ_OK;
    const void *now = now_of(w, data.value);
    const void *wanted = w->against_base ? base_of(w, data.value) : data.real;
    qdq_dtype dtype = w->against_base ? data.dtypes[0] : data.dtypes[1];
    if (!now || !wanted || (w->against_base && !w->changed[data.value.id])) return QDQ_OK;
    double *a = elements_take_numbers(graph_of(w)->exec_options.allocator, 2 * data.count);
    if (!a) return replay_no_memory(err);
    noise_sum sum = {0};
    to_doubles(dtype, wanted, data.count, a);
    to_doubles(data.dtypes[0], now, data.count, a + data.count);
    noise_sum_add(&sum, a, a + data.count, data.count);
    double ratio = noise_sum_decibels(&sum);
    double alike = decisions_alike(a, a + data.count, data.shape);
    if (ratio < worst->ratio) worst->ratio = ratio;
    if (alike < worst->alike) worst->alike = alike;
    if (!w->others_round) w->errors[index] += sum.error, w->signals[index] = sum.signal;
    elements_free(a);
    return QDQ_OK;
}

static qdq_status measure_outputs(walk *w, outcome *out, qdq_error *err) {
    qdq_status status = QDQ_OK;
    *out = (outcome){INFINITY, 1};
    for (size_t i = 0; status == QDQ_OK && i < qdq_plan_output_count(w->graphs->quantized->plan);
         i++)
        status = measure_output(w, i, out, err);
    return status;
}

//---- Rows -------------------------------------------------------------------

// Returns the elements that the Dequantize of a pair has without rounding; NULL: not known.
static const void *unrounded(const walk *w, size_t node) {
    const replay *r = graph_of(w);
    qdq_value y = qdq_graph_node_output(r->form.graph, node, 0);
    size_t quantize = quantize_of(r, node);
    if (quantize == SIZE_MAX || !undoes(r, node, quantize)) return w->ref->truth[y.id];
    qdq_value x = qdq_graph_node_input(r->form.graph, quantize, 0);
    return qdq_value_is_constant(r->form.graph, x) ? w->ref->truth[y.id] : base_of(w, x);
}

// Lets one pair round alone, or all but this one.
static qdq_status walk_from(walk *w, const node_accuracy *n, outcome *out, qdq_error *err) {
    const replay *r = graph_of(w);
    qdq_value y = qdq_graph_node_output(r->form.graph, n->node, 0);
    const void *start = w->others_round ? unrounded(w, n->node) : w->ref->exact[y.id];
    *out = (outcome){NAN, NAN};
    if (!start || !base_of(w, y)) return QDQ_OK;
    borrow(w, y, start);
    qdq_status status = run_behind(w, n->node, err);
    if (status == QDQ_OK) status = measure_outputs(w, out, err);
    forget(w);
    return status;
}

static double summed(const walk *w, const accuracy *a) {
    double worst = INFINITY;
    for (size_t i = 0; i < a->output_count; i++)
        if (w->errors[i] > 0) {
            double ratio = 10 * log10(w->signals[i] / w->errors[i]);
            if (ratio < worst) worst = ratio;
        }
    return worst;
}

static qdq_status measure_pairs(walk *w, accuracy *a, qdq_error *err) {
    qdq_status status = QDQ_OK;
    outcome out;
    find_pairs(w);
    w->against_base = true;
    for (size_t i = 0; status == QDQ_OK && i < a->count; i++) {
        if (a->nodes[i].kind >= KIND_OPERATION) continue;
        status = walk_from(w, &a->nodes[i], &out, err);
        a->nodes[i].effect = out.ratio, a->nodes[i].alike = out.alike;
    }
    a->summed = summed(w, a);
    size_t list[WITHOUT_NODES], count = accuracy_by_effect(a, list, WITHOUT_NODES);
    w->others_round = true, w->against_base = false;
    for (size_t i = 0; status == QDQ_OK && i < count; i++) {
        status = walk_from(w, &a->nodes[list[i]], &out, err);
        a->nodes[list[i]].without = out.ratio;
    }
    return status;
}

//---- Groups -----------------------------------------------------------------

// Returns the value as written that a value of the deployed form stands for, with the same codes;
// id 0: none.
static qdq_value as_written(const walk *w, const replay *runs, qdq_value value) {
    const qdq_value_source *source = &runs->form.sources[value.id];
    uint32_t id = source->value.id;
    if (!id || id >= graph_of(w)->given->ids || source->offset) return (qdq_value){0};
    qdq_value own = graph_of(w)->form.own[id];
    return own.id && same_type(graph_of(w)->form.graph, own, runs->form.graph, value)
               ? own
               : (qdq_value){0};
}

// Runs the node of a group on the operands as written. *known is false if one of them is no value
// of the graph.
static qdq_status run_group(const walk *w, const replay *runs, size_t node, void *const *outputs,
                            bool *known, qdq_error *err) {
    const node_run *run = &runs->nodes[node].run;
    void **inputs = calloc(run->input_count + 1, sizeof *inputs);
    if (!inputs || !outputs) {
        free(inputs);
        return replay_no_memory(err);
    }
    for (size_t i = 0; i < run->input_count; i++) {
        qdq_value from = as_written(w, runs, run->inputs[i].value);
        inputs[i] = from.id ? (void *)(uintptr_t)base_of(w, from) : NULL;
        *known = *known && inputs[i];
    }
    qdq_status status = *known ? replay_compute(runs, node, inputs, outputs, err) : QDQ_OK;
    free(inputs);
    return status;
}

static qdq_status measure_group(walk *w, const replay *runs, node_accuracy *n, qdq_error *err) {
    const node_run *run = &runs->nodes[n->node].run;
    void **outputs = replay_outputs(runs, n->node);
    qdq_value y = as_written(w, runs, run->outputs[0].value);
    bool known = y.id && base_of(w, y);
    qdq_status status = run_group(w, runs, n->node, outputs, &known, err);
    outcome out = {NAN, NAN};
    if (status == QDQ_OK && known) {
        borrow(w, y, outputs[0]);
        size_t maker = graph_of(w)->form.makers[y.id];
        if (maker != SIZE_MAX) status = run_behind(w, maker, err);
        if (status == QDQ_OK) status = measure_outputs(w, &out, err);
        forget(w);
    }
    replay_free_outputs(runs, n->node, outputs);
    n->effect = out.ratio, n->alike = out.alike;
    return status;
}

static qdq_status measure_groups(walk *w, const replay *runs, accuracy *a, qdq_error *err) {
    qdq_status status = QDQ_OK;
    w->others_round = w->against_base = true;
    for (size_t i = 0; status == QDQ_OK && i < a->count; i++)
        if (a->nodes[i].kind == KIND_GROUP) status = measure_group(w, runs, &a->nodes[i], err);
    return status;
}

//---- Entry ------------------------------------------------------------------

qdq_status effects_measure(const accuracy_forms *forms, const accuracy_graphs *graphs, accuracy *a,
                           qdq_error *err) {
    const replay *written = forms->written->quantized;
    size_t values = written->form.value_count;
    walk w = {.ref = forms->written,
              .graphs = graphs,
              .hands_on = calloc(written->node_count + 1, sizeof *w.hands_on),
              .changed = calloc(values + 1, sizeof *w.changed),
              .borrowed = calloc(values + 1, sizeof *w.borrowed),
              .errors = calloc(a->output_count + 1, sizeof *w.errors),
              .signals = calloc(a->output_count + 1, sizeof *w.signals)};
    bool fits = w.hands_on && w.changed && w.borrowed && w.errors && w.signals;
    qdq_status status = fits ? measure_pairs(&w, a, err) : replay_no_memory(err);
    if (status == QDQ_OK) status = measure_groups(&w, forms->deployed->quantized, a, err);
    if (w.changed && w.borrowed) forget(&w);
    free(w.signals), free(w.errors), free(w.borrowed), free(w.changed), free(w.hands_on);
    return status;
}
