// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lab/compare/causes.h"

static qdq_status no_memory(qdq_error *err) {
    err->status = QDQ_ERR_MEMORY;
    snprintf(err->text, sizeof err->text, "no memory to run the graph node by node");
    return err->status;
}

qdq_value replay_source(const replay *r, qdq_value value) {
    return value.id < r->form.value_count ? r->form.sources[value.id].value : (qdq_value){0};
}

//---- What nodes read --------------------------------------------------------

static void note(replay *r, const node_value *value) { r->values[value->value.id] = *value; }

static void *given_data(const replay *r, uint32_t source) {
    return r->given->data[source] ? r->given->data[source] : r->given->inputs[source];
}

static void shift(const replay *r, const node_value *v, const unsigned char *data,
                  unsigned char *codes) {
    int32_t offset = r->form.sources[v->value.id].offset;
    for (size_t i = 0; i < v->info.bytes; i++)
        codes[i] = (unsigned char)(data[i] + (unsigned)offset);
}

// The elements of a value of the given graph as the form has them.
static void *in_codes(replay *r, const node_value *v, void *data) {
    if (!data || !r->form.sources[v->value.id].offset) return data;
    unsigned char *codes = malloc(v->info.bytes + 1);
    if (codes) shift(r, v, data, codes);
    r->shifted[v->value.id] = codes;
    return codes;
}

static void use(replay *r, const node_value *v) {
    uint32_t source = replay_source(r, v->value).id;
    if (r->used[v->value.id] || !source || source >= r->given->ids) return;
    r->used[v->value.id] = in_codes(r, v, given_data(r, source));
}

const void *replay_given(const replay *r, qdq_value value) {
    uint32_t source = replay_source(r, value).id;
    bool has = source && source < r->given->ids && r->given->data[source];
    return has ? r->used[value.id] : NULL;
}

//---- Running ----------------------------------------------------------------

void *replay_read(const replay *r, qdq_value value) {
    return r->changed[value.id] ? r->changed[value.id] : r->used[value.id];
}

// Runs a node on what is used, or on changed values.
static qdq_status run_node(replay *r, size_t node, void *const *outputs, qdq_error *err) {
    replay_node *n = &r->nodes[node];
    void **inputs = calloc(n->run.input_count + 1, sizeof *inputs);
    if (!inputs) return no_memory(err);
    for (size_t i = 0; i < n->run.input_count; i++)
        inputs[i] = replay_read(r, n->run.inputs[i].value);
    qdq_status status = node_program_run(&n->program, inputs, outputs, err);
    free(inputs);
    return status;
}

void **replay_outputs(const replay *r, size_t node) {
    const node_run *run = &r->nodes[node].run;
    void **outputs = calloc(run->output_count + 1, sizeof *outputs);
    for (size_t i = 0; outputs && i < run->output_count; i++) {
        outputs[i] = malloc(run->outputs[i].info.bytes + 1);
        if (outputs[i]) continue;
        replay_free_outputs(r, node, outputs);
        return NULL;
    }
    return outputs;
}

void replay_free_outputs(const replay *r, size_t node, void **outputs) {
    for (size_t i = 0; outputs && i < r->nodes[node].run.output_count; i++) free(outputs[i]);
    free(outputs);
}

static qdq_status open_node(replay *r, size_t node, qdq_error *err) {
    replay_node *n = &r->nodes[node];
    if (node_open(&n->run, r->form.graph, node, &r->exec_options, r->isa, err) != QDQ_OK)
        return err->status;
    r->open = node + 1;
    if (qdq_graph_numerics(r->form.graph, r->target, node, &n->numerics, err) != QDQ_OK ||
        node_compile(&n->program, n->run.graph, &n->numerics, &r->exec_options, r->isa, err) !=
            QDQ_OK)
        return err->status;
    for (size_t i = 0; i < n->run.input_count; i++) {
        note(r, &n->run.inputs[i]);
        use(r, &n->run.inputs[i]);
        if (!r->used[n->run.inputs[i].value.id]) return no_memory(err);
    }
    void **outputs = replay_outputs(r, node);
    if (!outputs) return no_memory(err);
    qdq_status status = run_node(r, node, outputs, err);
    for (size_t i = 0; i < n->run.output_count; i++) {
        uint32_t id = n->run.outputs[i].value.id;
        note(r, &n->run.outputs[i]);
        use(r, &n->run.outputs[i]);
        r->computed[id] = outputs[i];
        if (!r->used[id]) r->used[id] = outputs[i];
    }
    free(outputs);
    return status;
}

qdq_status replay_open(replay *r, qdq_graph *graph, const char *target, const given_values *given,
                       const qdq_exec_options *exec_options, const char *isa, qdq_error *err) {
    *r = (replay){.given = given, .exec_options = *exec_options, .isa = isa, .target = target};
    if (deployed_open_target(&r->form, graph, given->ids, target, err) != QDQ_OK)
        return err->status;
    // The target of a rewritten graph does not rewrite it once more.
    if (r->form.owned) r->target = qdq_graph_target(r->form.graph);
    size_t values = r->form.value_count;
    r->node_count = qdq_graph_node_count(r->form.graph);
    r->nodes = calloc(r->node_count + 1, sizeof *r->nodes);
    r->computed = calloc(values, sizeof *r->computed);
    r->used = calloc(values, sizeof *r->used);
    r->changed = calloc(values, sizeof *r->changed);
    r->shifted = calloc(values, sizeof *r->shifted);
    r->values = calloc(values, sizeof *r->values);
    if (!r->nodes || !r->computed || !r->used || !r->changed || !r->shifted || !r->values)
        return no_memory(err);
    qdq_status status = QDQ_OK;
    for (size_t n = 0; status == QDQ_OK && n < r->node_count; n++) status = open_node(r, n, err);
    return status;
}

static qdq_status run_again(replay *r, size_t node, qdq_error *err) {
    const node_run *run = &r->nodes[node].run;
    void **outputs = calloc(run->output_count + 1, sizeof *outputs);
    if (!outputs) return no_memory(err);
    for (size_t i = 0; i < run->output_count; i++)
        outputs[i] = r->computed[run->outputs[i].value.id];
    qdq_status status = run_node(r, node, outputs, err);
    free(outputs);
    return status;
}

qdq_status replay_again(replay *r, qdq_error *err) {
    qdq_status status = QDQ_OK;
    for (uint32_t v = 0; v < r->form.value_count; v++)
        if (r->shifted[v])
            shift(r, &r->values[v], given_data(r, replay_source(r, (qdq_value){v}).id),
                  r->shifted[v]);
    for (size_t n = 0; status == QDQ_OK && n < r->node_count; n++) status = run_again(r, n, err);
    return status;
}

void replay_close(replay *r) {
    for (size_t n = 0; n < r->open; n++) {
        node_program_close(&r->nodes[n].program);
        node_close(&r->nodes[n].run);
    }
    for (size_t v = 0; v < r->form.value_count; v++) {
        if (r->computed) free(r->computed[v]);
        if (r->shifted) free(r->shifted[v]);
    }
    free(r->nodes), free(r->computed), free(r->used), free(r->changed), free(r->shifted);
    free(r->values);
    deployed_close(&r->form);
    *r = (replay){0};
}

//---- Differences ------------------------------------------------------------

static size_t difference_of(const replay *r, qdq_value value, const void *data) {
    const void *given = replay_given(r, value);
    return given ? measure_difference(&r->values[value.id].info, data, given).different : 0;
}

replay_left replay_difference(const replay *r, qdq_value first) {
    replay_left left = {0};
    for (uint32_t v = 1; v < r->form.value_count; v++) {
        if (!r->computed[v]) continue;
        size_t count = difference_of(r, (qdq_value){v}, r->computed[v]);
        left.all += count;
        if (v == first.id) left.first = count;
    }
    return left;
}

static bool reads_change(const replay *r, size_t node) {
    const node_run *run = &r->nodes[node].run;
    for (size_t i = 0; i < run->input_count; i++)
        if (r->changed[run->inputs[i].value.id]) return true;
    return false;
}

// Counts what the new elements of a value explain. Other nodes read them unless the device gave the
// value.
static void accept_output(replay *r, const node_value *v, void *data, qdq_value first,
                          replay_left *left) {
    uint32_t id = v->value.id;
    bool same = memcmp(data, r->computed[id], v->info.bytes) == 0;
    if (!same) left->changes = true;
    if (!same && replay_given(r, v->value)) {
        size_t now = difference_of(r, v->value, data);
        left->all += now;
        left->all -= difference_of(r, v->value, r->computed[id]);
        if (id == first.id) left->first = now;
    } else if (!same) {
        r->changed[id] = data;
        return;
    }
    free(data);
}

static void accept_outputs(replay *r, size_t node, void **outputs, qdq_value first,
                           replay_left *left) {
    const node_run *run = &r->nodes[node].run;
    for (size_t i = 0; i < run->output_count; i++)
        accept_output(r, &run->outputs[i], outputs[i], first, left);
    free(outputs);
}

// Computes a node again if its inputs changed or others change it.
static qdq_status pass_on(replay *r, size_t n, const replay_changer *others, qdq_value first,
                          replay_left *out, qdq_error *err) {
    bool reads = reads_change(r, n);
    if (!reads && !others) return QDQ_OK;
    void **next = replay_outputs(r, n);
    if (!next) return no_memory(err);
    bool made = others && others->run(others->with, n, next);
    qdq_status status = made || !reads ? QDQ_OK : run_node(r, n, next, err);
    if (status == QDQ_OK && (made || reads))
        accept_outputs(r, n, next, first, out);
    else
        replay_free_outputs(r, n, next);
    return status;
}

qdq_status replay_change(replay *r, size_t node, void **outputs, const replay_changer *others,
                         qdq_value first, replay_left *out, qdq_error *err) {
    qdq_status status = QDQ_OK;
    accept_outputs(r, node, outputs, first, out);
    for (size_t n = node + 1; status == QDQ_OK && n < r->node_count; n++)
        status = pass_on(r, n, others, first, out, err);
    for (size_t v = 0; v < r->form.value_count; v++) {
        free(r->changed[v]);
        r->changed[v] = NULL;
    }
    return status;
}
