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

#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/accuracy/pair_value.h"

static const reference *written(const effects *w) { return w->forms.written; }
static const replay *graph_of(const effects *w) { return written(w)->quantized; }

// Returns the elements of a value before the walk.
static const void *base_of(const effects *w, qdq_value value) {
    const replay *r = graph_of(w);
    if (!w->others_round)
        return w->unrounded[value.id] ? w->unrounded[value.id] : reference_of(written(w), value);
    return r->computed[value.id] ? r->computed[value.id] : r->used[value.id];
}

static const void *now_of(const effects *w, qdq_value value) {
    return w->changed[value.id] ? w->changed[value.id] : base_of(w, value);
}

//---- Pairs ------------------------------------------------------------------

static void find_pairs(effects *w) {
    const replay *r = graph_of(w);
    for (size_t n = 0; n < r->node_count; n++) w->hands_on[n] = is_op(r, n, "Quantize");
    for (size_t n = 0; n < r->node_count; n++)
        for (size_t i = 0; i < r->nodes[n].run.input_count; i++) {
            size_t maker = r->form.makers[r->nodes[n].run.inputs[i].value.id];
            if (maker != SIZE_MAX && w->hands_on[maker] && !pair_undoes(r, n, maker))
                w->hands_on[maker] = false;
        }
    for (size_t i = 0; i < qdq_plan_output_count(w->graphs.quantized->plan); i++) {
        output_data data;
        if (!find_output(&w->graphs, written(w), i, &data)) continue;
        size_t maker = r->form.makers[data.value.id];
        if (maker != SIZE_MAX && is_op(r, maker, "Quantize")) w->hands_on[maker] = false;
    }
}

//---- A walk -----------------------------------------------------------------

static void forget(effects *w) {
    memset(w->changed, 0, graph_of(w)->form.value_count * sizeof *w->changed);
}

// Returns memory for the results of a node, which each walk uses again; NULL if memory runs out.
static void *room_for(effects *w, const node_value *v) {
    void **room = &w->rooms[v->value.id];
    if (!*room) *room = elements_take(graph_of(w)->exec_options.allocator, v->info.bytes);
    return *room;
}

static bool reads_changed(const effects *w, size_t node) {
    const node_run *run = &graph_of(w)->nodes[node].run;
    for (size_t i = 0; i < run->input_count; i++)
        if (w->changed[run->inputs[i].value.id]) return true;
    return false;
}

// Returns the value that a node hands on instead of computing; id 0: it computes.
static qdq_value handed_on(const effects *w, size_t node) {
    const replay *r = graph_of(w);
    if (w->others_round) return (qdq_value){0};
    size_t quantize = w->hands_on[node] ? node : quantize_of(r, node);
    bool is_pair = quantize != SIZE_MAX && w->hands_on[quantize];
    return is_pair ? qdq_graph_node_input(r->form.graph, node, 0) : (qdq_value){0};
}

static qdq_status run_node(effects *w, size_t node, qdq_error *err) {
    const replay *r = graph_of(w);
    const node_run *run = &r->nodes[node].run;
    void **outputs = calloc(run->output_count + run->input_count + 1, sizeof *outputs);
    void **inputs = outputs ? outputs + run->output_count : NULL;
    bool fits = outputs != NULL;
    for (size_t i = 0; fits && i < run->output_count; i++)
        fits = (outputs[i] = room_for(w, &run->outputs[i])) != NULL;
    for (size_t i = 0; fits && i < run->input_count; i++) {
        inputs[i] = (void *)(uintptr_t)now_of(w, run->inputs[i].value);  // only read
        fits = inputs[i] != NULL;
    }
    qdq_status status =
        fits ? replay_compute(r, node, inputs, outputs, err) : replay_no_memory(err);
    if (status == QDQ_OK && !w->others_round) reference_limit(written(w), run, outputs);
    for (size_t i = 0; status == QDQ_OK && i < run->output_count; i++) {
        uint32_t id = run->outputs[i].value.id;
        const void *before = w->others_round    ? r->computed[id]
                             : w->unrounded[id] ? w->unrounded[id]
                                                : written(w)->exact[id];
        if (!before || memcmp(before, outputs[i], run->outputs[i].info.bytes) != 0)
            w->changed[id] = outputs[i];
    }
    free(outputs);
    return status;
}

// Runs the nodes behind `node`, whose result has changed.
static qdq_status run_behind(effects *w, size_t node, qdq_error *err) {
    const replay *r = graph_of(w);
    qdq_status status = QDQ_OK;
    for (size_t n = node + 1; status == QDQ_OK && n < r->node_count; n++) {
        if (!reads_changed(w, n)) continue;
        qdq_value from = handed_on(w, n);
        if (from.id)
            w->changed[qdq_graph_node_output(r->form.graph, n, 0).id] = now_of(w, from);
        else
            status = run_node(w, n, err);
    }
    return status;
}

//---- Outputs ----------------------------------------------------------------

static bool is_against_base(const effect_walk *walk) {
    return !walk->without || (walk->row && walk->row->kind == KIND_GROUP);
}

// Hands out the numbers of an output.
static qdq_status hand_output(const effects *w, const effect_walk *walk, const effect_taker *taker,
                              size_t index, qdq_error *err) {
    output_data data;
    if (!find_output(&w->graphs, written(w), index, &data)) return QDQ_OK;
    bool against_base = is_against_base(walk);
    const void *now = now_of(w, data.value);
    const void *wanted = against_base ? base_of(w, data.value) : data.real;
    effect_result out = {.walk = walk, .output = index, .shape = data.shape};
    if (!now || !wanted) return QDQ_OK;
    if (against_base && !w->changed[data.value.id]) {
        taker->take(taker->with, &out);
        return QDQ_OK;
    }
    double *numbers = elements_take_numbers(graph_of(w)->exec_options.allocator, 2 * data.count);
    if (!numbers) return replay_no_memory(err);
    to_doubles(data.dtypes[against_base ? 0 : 1], wanted, data.count, numbers);
    to_doubles(data.dtypes[0], now, data.count, numbers + data.count);
    out.wanted = numbers, out.now = numbers + data.count, out.count = data.count;
    taker->take(taker->with, &out);
    elements_free(numbers);
    return QDQ_OK;
}

static qdq_status hand_outputs(const effects *w, const effect_walk *walk, const effect_taker *taker,
                               qdq_error *err) {
    qdq_status status = QDQ_OK;
    size_t count = qdq_plan_output_count(w->graphs.quantized->plan);
    for (size_t i = 0; status == QDQ_OK && i < count; i++)
        status = hand_output(w, walk, taker, i, err);
    return status;
}

//---- Pairs and groups -------------------------------------------------------

// Lets a pair hand on what it reads among pairs that round, within the limits of an activation that
// the graph leaves to its codes.
static qdq_status hand_on(effects *w, size_t node, qdq_error *err) {
    const node_value *y = &graph_of(w)->nodes[node].run.outputs[0];
    qdq_value x = pair_value(graph_of(w), node);
    const void *from = x.id ? now_of(w, x) : written(w)->truth[y->value.id];
    if (!from) return QDQ_OK;
    const value_limits *limits = &written(w)->limits[x.id];
    bool computed = x.id && graph_of(w)->form.makers[x.id] != SIZE_MAX;
    if (!computed || y->info.dtype != QDQ_FLOAT32 || !limits_exist(limits)) {
        w->changed[y->value.id] = from;
        return QDQ_OK;
    }
    float *within = room_for(w, y);
    if (!within) return replay_no_memory(err);
    memcpy(within, from, y->info.bytes);
    limits_apply(limits, within, qdq_shape_count(y->info.shape));
    w->changed[y->value.id] = within;
    return QDQ_OK;
}

// Notes the elements that a node computes without rounding, unless they are the exact ones.
static qdq_status note_unrounded(effects *w, size_t node, qdq_error *err) {
    const node_run *run = &graph_of(w)->nodes[node].run;
    qdq_status status = run_node(w, node, err);
    for (size_t i = 0; status == QDQ_OK && i < run->output_count; i++) {
        uint32_t id = run->outputs[i].value.id;
        size_t bytes = run->outputs[i].info.bytes;
        if (!w->changed[id]) continue;
        if (!w->unrounded_rooms[id])
            w->unrounded_rooms[id] = elements_take(graph_of(w)->exec_options.allocator, bytes);
        if (!w->unrounded_rooms[id]) return replay_no_memory(err);
        memcpy(w->unrounded_rooms[id], w->changed[id], bytes);
        w->unrounded[id] = w->unrounded_rooms[id];
        w->changed[id] = NULL;
    }
    return status;
}

// Lets a Dequantize hand on what its pair reads, or the float model's constant. False if it has
// neither.
static bool note_pair(effects *w, size_t node) {
    if (!is_op(graph_of(w), node, "Dequantize")) return false;
    qdq_value y = qdq_graph_node_output(graph_of(w)->form.graph, node, 0);
    qdq_value x = pair_value(graph_of(w), node);
    if (x.id && w->unrounded[x.id]) w->unrounded[y.id] = w->unrounded[x.id];
    return x.id || written(w)->truth[y.id];
}

static bool reads_unrounded(const effects *w, size_t node) {
    const node_run *run = &graph_of(w)->nodes[node].run;
    for (size_t i = 0; i < run->input_count; i++)
        if (w->unrounded[run->inputs[i].value.id]) return true;
    return false;
}

// Notes results on exact inputs that are not the float model's.
static void note_exact(effects *w, const node_run *run) {
    for (size_t i = 0; i < run->output_count; i++) {
        uint32_t id = run->outputs[i].value.id;
        const void *truth = written(w)->truth[id], *exact = written(w)->exact[id];
        if (truth && exact && memcmp(truth, exact, run->outputs[i].info.bytes) != 0)
            w->unrounded[id] = exact;
    }
}

qdq_status effects_begin(effects *e, qdq_error *err) {
    const replay *r = graph_of(e);
    qdq_status status = QDQ_OK;
    memset(e->unrounded, 0, r->form.value_count * sizeof *e->unrounded);
    e->others_round = false;
    for (size_t n = 0; status == QDQ_OK && n < r->node_count; n++) {
        if (note_pair(e, n) || e->hands_on[n]) continue;
        if (reads_unrounded(e, n))
            status = note_unrounded(e, n, err);
        else
            note_exact(e, &r->nodes[n].run);
    }
    forget(e);
    return status;
}

// Returns the result of a pair on numbers without rounding: the exact one if these are exact.
static const void *rounded(effects *w, size_t node, qdq_error *err) {
    qdq_value y = qdq_graph_node_output(graph_of(w)->form.graph, node, 0);
    qdq_value x = pair_value(graph_of(w), node);
    size_t quantize = quantize_of(graph_of(w), node);
    if (!x.id || !w->unrounded[x.id]) return written(w)->exact[y.id];
    qdq_status status = run_node(w, quantize, err);
    if (status == QDQ_OK) status = run_node(w, node, err);
    const void *result = w->changed[y.id] ? w->changed[y.id] : base_of(w, y);
    forget(w);
    return status == QDQ_OK ? result : NULL;
}

static qdq_status walk_without(effects *w, const effect_walk *walk, const effect_taker *taker,
                               qdq_error *err) {
    const replay *r = graph_of(w);
    qdq_status status = QDQ_OK;
    w->others_round = true;
    for (size_t n = 0; status == QDQ_OK && n < r->node_count; n++) {
        bool here = walk->floats ? walk->floats[n] : n == walk->row->node;
        if (here)
            status = hand_on(w, n, err);
        else if (reads_changed(w, n))
            status = run_node(w, n, err);
    }
    return status == QDQ_OK ? hand_outputs(w, walk, taker, err) : status;
}

static qdq_status walk_pair(effects *w, const effect_walk *walk, const effect_taker *taker,
                            qdq_error *err) {
    size_t node = walk->row->node;
    qdq_value y = qdq_graph_node_output(graph_of(w)->form.graph, node, 0);
    w->others_round = false;
    qdq_error own = {0};
    const void *start = walk->result ? walk->result : rounded(w, node, &own);
    const void *base = base_of(w, y);
    if (own.status != QDQ_OK) *err = own;
    if (!start || !base || own.status != QDQ_OK) return own.status;
    qdq_status status = QDQ_OK;
    if (memcmp(start, base, graph_of(w)->nodes[node].run.outputs[0].info.bytes) != 0) {
        w->changed[y.id] = start;
        status = run_behind(w, node, err);
    }
    return status == QDQ_OK ? hand_outputs(w, walk, taker, err) : status;
}

// Returns the value as written that a value of the deployed form stands for, with the same codes;
// id 0: none.
static qdq_value as_written(const effects *w, const replay *runs, qdq_value value) {
    const qdq_value_source *source = &runs->form.sources[value.id];
    uint32_t id = source->value.id;
    if (!id || id >= graph_of(w)->given->ids || source->offset) return (qdq_value){0};
    qdq_value own = graph_of(w)->form.own[id];
    return own.id && types_equal(graph_of(w)->form.graph, own, runs->form.graph, value)
               ? own
               : (qdq_value){0};
}

// Runs the node of a group on the operands as written. *known is false if one of them is no value
// of the graph.
static qdq_status run_group(const effects *w, const replay *runs, size_t node, void *const *outputs,
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

static qdq_status walk_group(effects *w, const effect_walk *walk, const effect_taker *taker,
                             qdq_error *err) {
    const replay *runs = w->forms.deployed->quantized;
    size_t node = walk->row->node;
    void **outputs = replay_outputs(runs, node);
    w->others_round = true;
    qdq_value y = as_written(w, runs, runs->nodes[node].run.outputs[0].value);
    bool known = y.id && base_of(w, y);
    qdq_status status = run_group(w, runs, node, outputs, &known, err);
    if (status == QDQ_OK && known) {
        w->changed[y.id] = outputs[0];
        size_t maker = graph_of(w)->form.makers[y.id];
        if (maker != SIZE_MAX) status = run_behind(w, maker, err);
        if (status == QDQ_OK) status = hand_outputs(w, walk, taker, err);
        forget(w);
    }
    replay_free_outputs(runs, node, outputs);
    return status;
}

//---- Entry ------------------------------------------------------------------

qdq_status effects_open(effects *e, const accuracy_forms *forms, const accuracy_graphs *graphs,
                        qdq_error *err) {
    size_t values = forms->written->quantized->form.value_count;
    *e = (effects){.forms = *forms,
                   .graphs = *graphs,
                   .hands_on = calloc(forms->written->quantized->node_count + 1, sizeof(bool)),
                   .changed = calloc(values + 1, sizeof *e->changed),
                   .rooms = calloc(values + 1, sizeof *e->rooms),
                   .unrounded = calloc(values + 1, sizeof *e->unrounded),
                   .unrounded_rooms = calloc(values + 1, sizeof *e->unrounded_rooms)};
    if (!e->hands_on || !e->changed || !e->rooms || !e->unrounded || !e->unrounded_rooms)
        return replay_no_memory(err);
    find_pairs(e);
    return QDQ_OK;
}

qdq_status effects_run(effects *e, const effect_walk *walk, const effect_taker *taker,
                       qdq_error *err) {
    qdq_status (*run)(effects *, const effect_walk *, const effect_taker *, qdq_error *) =
        walk->row && walk->row->kind == KIND_GROUP ? walk_group
        : walk->without                            ? walk_without
                                                   : walk_pair;
    qdq_status status = run(e, walk, taker, err);
    forget(e);
    return status;
}

void effects_close(effects *e) {
    for (size_t v = 0; e->rooms && v < graph_of(e)->form.value_count; v++)
        elements_free(e->rooms[v]);
    for (size_t v = 0; e->unrounded_rooms && v < graph_of(e)->form.value_count; v++)
        elements_free(e->unrounded_rooms[v]);
    free(e->unrounded_rooms), free((void *)(uintptr_t)e->unrounded);
    free(e->rooms), free((void *)(uintptr_t)e->changed), free(e->hands_on);
    *e = (effects){0};
}
