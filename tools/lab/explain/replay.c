// SPDX-License-Identifier: Apache-2.0
// Allocates the memory of all results before the first node runs, so that a graph that does not fit
// is refused at once. Programs for which no memory is left are compiled for each run.
#include "tools/lab/explain/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/options.h"

qdq_status replay_no_memory(qdq_error *err) {
    err->status = QDQ_ERR_MEMORY;
    snprintf(err->text, sizeof err->text, "no memory to run the graph node by node");
    return err->status;
}

qdq_value replay_source(const replay *r, qdq_value value) {
    return value.id < r->form.value_count ? r->form.sources[value.id].value : (qdq_value){0};
}

//---- Elements that nodes read ------------------------------------------------

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

// Returns elements of the given graph as codes of the form: the same, or a shifted copy.
static void *in_codes(replay *r, const node_value *v, void *data) {
    if (!data || !r->form.sources[v->value.id].offset) return data;
    unsigned char *codes = elements_take(r->exec_options.allocator, v->info.bytes);
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

static qdq_status compile(const replay *r, size_t node, node_program *program, qdq_error *err) {
    const replay_node *n = &r->nodes[node];
    return node_compile(program, n->run.graph, &n->numerics, &r->exec_options, r->isa, err);
}

qdq_status replay_compute(const replay *r, size_t node, void *const *inputs, void *const *outputs,
                          qdq_error *err) {
    node_program once = r->nodes[node].program;
    if (once.exec) return node_program_run(&once, inputs, outputs, err);
    if (compile(r, node, &once, err) == QDQ_OK) (void)node_program_run(&once, inputs, outputs, err);
    node_program_close(&once);
    return err->status;
}

qdq_status replay_run_node(const replay *r, size_t node, void *const *outputs, qdq_error *err) {
    const replay_node *n = &r->nodes[node];
    void **inputs = calloc(n->run.input_count + 1, sizeof *inputs);
    if (!inputs) return replay_no_memory(err);
    for (size_t i = 0; i < n->run.input_count; i++)
        inputs[i] = replay_read(r, n->run.inputs[i].value);
    qdq_status status = replay_compute(r, node, inputs, outputs, err);
    free(inputs);
    return status;
}

void **replay_outputs(const replay *r, size_t node) {
    const node_run *run = &r->nodes[node].run;
    void **outputs = calloc(run->output_count + 1, sizeof *outputs);
    for (size_t i = 0; outputs && i < run->output_count; i++) {
        outputs[i] = elements_take(r->exec_options.allocator, run->outputs[i].info.bytes);
        if (outputs[i]) continue;
        replay_free_outputs(r, node, outputs);
        return NULL;
    }
    return outputs;
}

void replay_free_outputs(const replay *r, size_t node, void **outputs) {
    for (size_t i = 0; outputs && i < r->nodes[node].run.output_count; i++)
        elements_free(outputs[i]);
    free(outputs);
}

// Runs a node again, into the memory of its results.
static qdq_status run_again(const replay *r, size_t node, qdq_error *err) {
    const node_run *run = &r->nodes[node].run;
    void **outputs = calloc(run->output_count + 1, sizeof *outputs);
    if (!outputs) return replay_no_memory(err);
    for (size_t i = 0; i < run->output_count; i++)
        outputs[i] = r->computed[run->outputs[i].value.id];
    qdq_status status = replay_run_node(r, node, outputs, err);
    free(outputs);
    return status;
}

// Compiles a node, and counts the bytes of its program.
static qdq_status compile_node(replay *r, size_t node, qdq_error *err) {
    replay_node *n = &r->nodes[node];
    size_t before = r->memory->left;
    if (qdq_graph_numerics(r->form.graph, r->target, node, &n->numerics, err) != QDQ_OK ||
        compile(r, node, &n->program, err) != QDQ_OK)
        return err->status;
    n->bytes = before - r->memory->left;
    return QDQ_OK;
}

static void keep_program(replay *r, size_t node) {
    replay_node *n = &r->nodes[node];
    if (n->bytes > r->programs)
        node_program_close(&n->program);
    else
        r->programs -= n->bytes;
}

// Finds the elements that a node reads, and those that later nodes read for its results.
static bool open_values(replay *r, const node_run *run) {
    for (size_t i = 0; i < run->input_count; i++) {
        note(r, &run->inputs[i]);
        use(r, &run->inputs[i]);
        if (!r->used[run->inputs[i].value.id]) return false;
    }
    for (size_t i = 0; i < run->output_count; i++) {
        uint32_t id = run->outputs[i].value.id;
        use(r, &run->outputs[i]);
        if (!r->used[id]) r->used[id] = r->computed[id];
    }
    return true;
}

static qdq_status open_node(replay *r, size_t node, qdq_error *err) {
    replay_node *n = &r->nodes[node];
    r->open = node + 1;
    if (node_open(&n->run, r->form.graph, node, &r->exec_options, r->isa, err) != QDQ_OK ||
        compile_node(r, node, err) != QDQ_OK)
        return err->status;
    if (!open_values(r, &n->run)) return replay_no_memory(err);
    qdq_status status = run_again(r, node, err);
    keep_program(r, node);
    return status;
}

void replay_drop_ended(const replay *r, size_t node, void **elements) {
    const node_run *run = &r->nodes[node].run;
    for (size_t i = 0; i < run->input_count; i++) {
        uint32_t id = run->inputs[i].value.id;
        if (r->last[id] > node) continue;
        elements_free(elements[id]);
        elements[id] = NULL;
    }
}

//---- Opening ----------------------------------------------------------------

// Returns the bytes of the results of all nodes.
static size_t result_bytes(const replay *r) {
    size_t bytes = 0;
    for (size_t v = 0; v < r->form.value_count; v++) {
        if (r->form.makers[v] == SIZE_MAX) continue;
        size_t one = node_value_of(r->form.graph, (qdq_value){(uint32_t)v}).info.bytes;
        bytes = one < SIZE_MAX - bytes ? bytes + one : SIZE_MAX;
    }
    return bytes;
}

bool replay_has_room(const replay *r, qdq_error *err) {
    size_t bytes = result_bytes(r);
    if (bytes <= r->memory->left) return true;
    err->status = QDQ_ERR_LIMIT;
    snprintf(err->text, sizeof err->text,
             "the nodes of the graph, run one by one as %s, have results of %zu bytes, and %zu are "
             "left of --max-bytes; raise it",
             r->target, bytes, r->memory->left);
    return false;
}

static bool take_results(replay *r, size_t node) {
    for (size_t i = 0; i < qdq_graph_node(r->form.graph, node).output_count; i++) {
        node_value v = node_value_of(r->form.graph, qdq_graph_node_output(r->form.graph, node, i));
        note(r, &v);
        r->computed[v.value.id] = elements_take(r->exec_options.allocator, v.info.bytes);
        if (!r->computed[v.value.id]) return false;
    }
    return true;
}

static void note_readers(replay *r) {
    for (size_t n = 0; n < r->node_count; n++)
        for (size_t i = 0; i < qdq_graph_node(r->form.graph, n).input_count; i++)
            r->last[qdq_graph_node_input(r->form.graph, n, i).id] = n;
}

// Opens the graph without memory for results.
static qdq_status open_form(replay *r, qdq_graph *graph, const char *target,
                            const given_values *given, const qdq_exec_options *exec_options,
                            const options *opt, qdq_error *err) {
    *r = (replay){.given = given,
                  .exec_options = *exec_options,
                  .isa = isa_of(opt),
                  .memory = opt->memory,
                  .target = target};
    if (deployed_open_target(&r->form, graph, given->ids, target, err) != QDQ_OK)
        return err->status;
    // The target of a rewritten graph does not rewrite it again.
    if (r->form.owned) r->target = qdq_graph_target(r->form.graph);
    size_t values = r->form.value_count;
    r->node_count = qdq_graph_node_count(r->form.graph);
    r->nodes = calloc(r->node_count + 1, sizeof *r->nodes);
    r->computed = calloc(values, sizeof *r->computed);
    r->used = calloc(values, sizeof *r->used);
    r->changed = calloc(values, sizeof *r->changed);
    r->shifted = calloc(values, sizeof *r->shifted);
    r->values = calloc(values, sizeof *r->values);
    r->last = calloc(values, sizeof *r->last);
    if (!r->nodes || !r->computed || !r->used || !r->changed || !r->shifted || !r->values ||
        !r->last)
        return replay_no_memory(err);
    note_readers(r);
    return QDQ_OK;
}

qdq_status replay_open(replay *r, qdq_graph *graph, const char *target, const given_values *given,
                       const qdq_exec_options *exec_options, const options *opt, qdq_error *err) {
    qdq_status status = open_form(r, graph, target, given, exec_options, opt, err);
    if (status == QDQ_OK && !replay_has_room(r, err)) return err->status;
    for (size_t n = 0; status == QDQ_OK && n < r->node_count; n++)
        if (!take_results(r, n)) status = replay_no_memory(err);
    return status;
}

qdq_status replay_run(replay *r, qdq_error *err) {
    qdq_status status = QDQ_OK;
    size_t bytes = result_bytes(r), left = r->memory->left;
    // Another `bytes` are reserved for changed results.
    r->programs = left > bytes ? (left - bytes) / 2 : 0;
    for (size_t n = 0; status == QDQ_OK && n < r->node_count; n++) status = open_node(r, n, err);
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

void replay_drop_programs(replay *r) {
    for (size_t n = 0; n < r->open; n++) node_program_close(&r->nodes[n].program);
}

void replay_close(replay *r) {
    for (size_t n = 0; n < r->open; n++) {
        node_program_close(&r->nodes[n].program);
        node_close(&r->nodes[n].run);
    }
    for (size_t v = 0; v < r->form.value_count; v++) {
        if (r->computed) elements_free(r->computed[v]);
        if (r->shifted) elements_free(r->shifted[v]);
    }
    free(r->nodes), free(r->computed), free(r->used), free(r->changed), free(r->shifted);
    free(r->values), free(r->last);
    deployed_close(&r->form);
    *r = (replay){0};
}

//---- Other targets ----------------------------------------------------------

// Runs a node, and frees it and all elements that no later node reads. True if its results equal
// the given values.
static bool passes(replay *r, size_t node, qdq_error *err) {
    bool same =
        take_results(r, node) ? open_node(r, node, err) == QDQ_OK : replay_no_memory(err) == QDQ_OK;
    const node_run *run = &r->nodes[node].run;
    for (size_t i = 0; same && i < run->output_count; i++) {
        uint32_t id = run->outputs[i].value.id;
        same = replay_count(r, (qdq_value){id}, r->computed[id]) == 0;
        if (r->last[id]) continue;
        elements_free(r->computed[id]);
        r->computed[id] = NULL;
    }
    replay_drop_ended(r, node, r->computed);
    replay_drop_ended(r, node, r->shifted);
    node_close(&r->nodes[node].run);
    r->nodes[node].run = (node_run){0};
    return same;
}

bool replay_gives(qdq_graph *graph, const char *target, const replay *like, const options *opt,
                  qdq_error *err) {
    replay r;
    bool gives = open_form(&r, graph, target, like->given, &like->exec_options, opt, err) == QDQ_OK;
    // A target that has none of the values explains nothing.
    for (size_t v = 0; gives && v < r.given->ids; v++)
        gives = !r.given->data[v] || !like->form.own[v].id || r.form.own[v].id;
    for (size_t n = 0; gives && n < r.node_count; n++) gives = passes(&r, n, err);
    replay_close(&r);
    return gives;
}
