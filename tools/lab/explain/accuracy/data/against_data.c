// SPDX-License-Identifier: Apache-2.0
// Compiles both graphs once, node by node, and runs them on each sample in the same memory. A first
// run on zeros finds the nodes that have rows, so that rows do not depend on samples. The errors of
// constant weights are the same for each sample, so they are summed once.
//
// The effects of all pairs are measured on the first samples of the data, by index, and so is
// `without`: the worst pairs are known only at the end, when all shards are merged.
#include "tools/lab/explain/accuracy/data/against_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/explain/accuracy/against.h"
#include "tools/lab/explain/accuracy/answers.h"
#include "tools/lab/explain/accuracy/code_parameters.h"
#include "tools/lab/explain/accuracy/data/channel_state.h"
#include "tools/lab/explain/accuracy/data/effect_state.h"
#include "tools/lab/explain/accuracy/data/label_state.h"
#include "tools/lab/explain/accuracy/data/ratio_histogram.h"
#include "tools/lab/explain/accuracy/decisions.h"
#include "tools/lab/explain/accuracy/equalized_model.h"
#include "tools/lab/explain/accuracy/forms.h"
#include "tools/lab/explain/accuracy/keep_words.h"
#include "tools/lab/explain/accuracy/pair_causes.h"
#include "tools/options.h"

// The node of a row, for use with each sample.
typedef struct row_node {
    const reference *ref;
    size_t node;  // index in the form
    bool measured, constant;
    code_parameters codes;
    channel_rows channels;
} row_node;

typedef struct data_accuracy {
    const options *opt;
    const char *target;
    session quantized, real;
    given_values inputs, real_inputs;
    accuracy_graphs graphs;
    opened_forms f;
    node_accuracy *rows;
    row_node *nodes;  // [row]
    size_t count;
    effect_adder effects;
    qdq_equalize_sites *sites;  // of the float model; owned
    labels truth;
    state constants;  // the errors of constant weights in a sample
} data_accuracy;

static int no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory to explain a data set");
}

//---- A row ------------------------------------------------------------------

static void add_codes(const state_table *t, size_t row, const quantized_numbers *q) {
    code_count count = count_codes(q);
    int64_t *codes = state_ints(t, NODE_CODES, row);
    state_ints(t, NODE_COUNTS, row)[1] += (int64_t)count.clipped;
    if (count.low < (double)codes[1]) codes[1] = (int64_t)count.low;
    if (count.high > (double)codes[2]) codes[2] = (int64_t)count.high;
}

static bool add_errors(const row_node *n, const state_table *t, size_t row) {
    const replay *r = n->ref->quantized;
    const node_value *v = &r->nodes[n->node].run.outputs[0];
    size_t count = qdq_shape_count(v->info.shape);
    double *truth = numbers_of(r, v, reference_of(n->ref, v->value));
    double *exact = numbers_of(r, v, n->ref->exact[v->value.id]);
    double *computed = numbers_of(r, v, r->computed[v->value.id]);
    bool done = truth && exact && computed;
    if (done) {
        limits_apply_to_doubles(&n->ref->limits[v->value.id], computed, count);
        state_ints(t, NODE_COUNTS, row)[0] += (int64_t)count;
        exact_add_squares(state_ints(t, NODE_TRUTHS, row), truth, NULL, count);
        exact_add_squares(state_ints(t, NODE_EXACTS, row), exact, NULL, count);
        exact_add_squares(state_ints(t, NODE_OWN_NOISES, row), truth, exact, count);
        exact_add_squares(state_ints(t, NODE_INHERITED_NOISES, row), exact, computed, count);
        exact_add_squares(state_ints(t, NODE_TOTAL_NOISES, row), truth, computed, count);
    }
    elements_free(truth), elements_free(exact), elements_free(computed);
    return done;
}

static bool add_node(row_node *n, const state_table *t, size_t row, const state_table *channels) {
    quantized_numbers q = {0};
    if (!add_errors(n, t, row)) return false;
    if (!n->codes.known) return true;
    code_parameters_renew(&n->codes, n->ref->quantized);
    bool done = code_numbers(n->ref, n->node, &n->codes, &q);
    if (done) add_codes(t, row, &q);
    if (done) channel_rows_widen(channels, &n->channels, &q);
    elements_free(q.x), elements_free(q.codes);
    return done;
}

static bool add_output(const data_accuracy *d, const state_table *t, size_t row) {
    output_data data;
    if (!find_output(&d->graphs, d->f.forms.deployed, row, &data)) return true;
    double *a = elements_take_numbers(d->quantized.exec_options.allocator, 2 * data.count);
    if (!a) return false;
    double *b = a + data.count;
    to_doubles(data.dtypes[1], data.real, data.count, a);
    to_doubles(data.dtypes[0], data.quantized, data.count, b);
    exact_add_squares(state_ints(t, OUTPUT_SIGNALS, row), a, NULL, data.count);
    exact_add_squares(state_ints(t, OUTPUT_NOISES, row), a, b, data.count);
    size_t entries = decisions_samples(data.shape);
    state_ints(t, OUTPUT_COUNTS, row)[COUNT_SAMPLES] += (int64_t)entries;
    state_ints(t, OUTPUT_COUNTS, row)[COUNT_ALIKE] +=
        (int64_t)decisions_count_alike(a, b, data.shape);
    for (size_t i = 0; i < entries; i++) {
        noise_sum sum = decisions_noise(a, b, data.shape, i);
        ratio_histogram_add(state_ints(t, OUTPUT_RATIOS, row), &sum);
    }
    elements_free(a);
    return true;
}

//---- Rows -------------------------------------------------------------------

static bool reads_dequantized(const row_node *n) {
    const replay *r = n->ref->quantized;
    size_t quantize = quantize_of(r, n->node);
    if (quantize == SIZE_MAX) return false;
    return is_op(r, r->form.makers[qdq_graph_node_input(r->form.graph, quantize, 0).id],
                 "Dequantize");
}

// Describes what the graph alone tells of a row.
static int describe(const data_accuracy *d, const row_node *own, const char *folder,
                    node_accuracy *n, char *keep, size_t capacity) {
    *keep = '\0';
    if (n->kind == KIND_GROUP) return find_group_cause(&d->f.forms, folder, n);
    if (n->kind == KIND_OPERATION || n->unmatched) return EXIT_OK;
    if (!keep_words(own->ref, n->node, keep, capacity)) *keep = '\0';
    if (!reads_dequantized(own)) return EXIT_OK;
    snprintf(n->cause, sizeof n->cause, "double rounding");
    snprintf(n->mend, sizeof n->mend, "quantize once: leave out the pair before it");
    return EXIT_OK;
}

// Adds a row to the states of all samples and of constants. SIZE_MAX if memory runs out.
static size_t add_texts(data_accuracy *d, state *s, const node_accuracy *n, const char *keep) {
    const char *const texts[] = {
        n->name,  n->op,   n->codes_of, n->unmatched ? "" : accuracy_kind_names[n->kind],
        n->cause, n->mend, keep};
    size_t row = state_add_row(&s->tables[TABLE_NODES], texts);
    return state_add_row(&d->constants.tables[TABLE_NODES], texts) == row ? row : SIZE_MAX;
}

static void add_parameters(const code_parameters *p, const state_table *t, size_t row) {
    bool changes = p->scale_value.id || p->zero_value.id;
    double *out = state_reals(t, NODE_PARAMETERS, row);
    if (!p->known) return;
    state_ints(t, NODE_CODES, row)[0] = (int64_t)(p->greatest - p->least) + 1;
    out[PARAMETER_LEAST] = p->least, out[PARAMETER_GREATEST] = p->greatest;
    if (p->per_tensor && !changes) out[PARAMETER_SCALE] = p->scale, out[PARAMETER_ZERO] = p->zero;
}

static int add_node_row(data_accuracy *d, state *s, node_accuracy *n, const char *folder) {
    row_node *own = &d->nodes[d->count];
    bool measured = !n->unmatched && n->kind != KIND_GROUP;
    char keep[sizeof n->mend];
    qdq_error err = {0};
    *own = (row_node){row_reference(&d->f.forms, n), n->node, .measured = measured};
    const replay *r = own->ref->quantized;
    if (own->measured && n->kind != KIND_OPERATION &&
        !code_parameters_read(r, n->node, folder, &own->codes, &err))
        return report_error(&err);
    int code = describe(d, own, folder, n, keep, sizeof keep);
    if (code != EXIT_OK) return code;
    bool weights = n->kind == KIND_WEIGHTS;
    own->constant = weights && !own->codes.scale_value.id && !own->codes.zero_value.id;
    size_t row = add_texts(d, s, n, keep);
    if (row == SIZE_MAX) return no_memory();
    add_parameters(&own->codes, &s->tables[TABLE_NODES], row);
    d->count++;
    bool all = weights && own->codes.per_tensor;
    if (own->codes.known && !channel_rows_add(&s->tables[TABLE_CHANNELS], own->ref, d->sites,
                                              n->node, (int64_t)row, all, &own->channels))
        return no_memory();
    bool done = !own->constant || !own->measured ||
                add_node(own, &d->constants.tables[TABLE_NODES], row, &s->tables[TABLE_CHANNELS]);
    return done ? EXIT_OK : no_memory();
}

static int add_output_row(const data_accuracy *d, state *s, size_t index) {
    const char *name = qdq_plan_output(d->quantized.plan, index)->name;
    output_data data;
    bool known = find_output(&d->graphs, d->f.forms.deployed, index, &data);
    const char *const texts[] = {qdq_output_original(d->quantized.graph, name), known ? "yes" : ""};
    return state_add_row(&s->tables[1], texts) == SIZE_MAX ? no_memory() : EXIT_OK;
}

static int add_node_rows(data_accuracy *d, state *s) {
    char folder[4096];
    size_t nodes = d->f.forms.written->quantized->node_count + d->f.deployed.node_count;
    d->rows = calloc(nodes + 1, sizeof *d->rows);
    d->nodes = calloc(nodes + 1, sizeof *d->nodes);
    if (!d->rows || !d->nodes) return no_memory();
    size_t count = accuracy_rows(&d->f.forms, d->rows);
    if (!count)
        return tell_failure(QDQ_ERR_GRAPH,
                            "%s has no node with a float result, so there is nothing to explain",
                            d->opt->operands.items[0]);
    state_open(&d->constants, s->kind);
    qdq_error err = {0};
    d->sites = qdq_graph_equalize_sites(d->real.graph, &err);
    if (!d->sites) return report_error(&err);
    int code = make_folder(folder, sizeof folder);
    if (code != EXIT_OK) return code;
    for (size_t i = 0; code == EXIT_OK && i < count; i++)
        code = add_node_row(d, s, &d->rows[i], folder);
    (void)rmdir(folder);
    return code;
}

static int add_rows(data_accuracy *d, state *s) {
    qdq_error err = {0};
    int code = add_node_rows(d, s);
    for (size_t i = 0; code == EXIT_OK && i < qdq_plan_output_count(d->quantized.plan); i++)
        code = add_output_row(d, s, i);
    if (code == EXIT_OK && effect_adder_open(&d->effects, &d->f.forms, &d->graphs, d->rows,
                                             d->count, s, &err) != QDQ_OK)
        return report_error(&err);
    return code;
}

//---- The task ---------------------------------------------------------------

// Lets the exec of the quantized graph write samples to the memory that its replay reads.
static int share_inputs(data_accuracy *d) {
    const session *s = &d->quantized;
    int code = given_open(&d->inputs, s);
    if (code != EXIT_OK) return code;
    void **inputs = session_bind_inputs(s, &code);
    for (size_t i = 0; inputs && i < qdq_plan_input_count(s->plan); i++)
        d->inputs.inputs[qdq_graph_find(s->graph, qdq_plan_input(s->plan, i)->name).id] = inputs[i];
    free(inputs);
    return code == EXIT_OK ? given_copy_inputs(&d->real_inputs, &d->real, s, &d->inputs) : code;
}

static int begin_labels(data_accuracy *d, state *s) {
    const session *q = &d->quantized;
    int code = labels_open(&d->truth, d->opt, q->graph, q->plan, (size_t)s->sample_count);
    if (code != EXIT_OK) return code;
    return label_state_begin(&s->tables[TABLE_LABELS], &d->truth,
                             answers_output(&d->truth, &d->graphs));
}

static int begin(void *with, state *s) {
    data_accuracy *d = with;
    qdq_error err = {0};
    int code =
        data_run_add_target(s, d->quantized.graph, d->target, d->opt, &d->quantized.exec_options);
    if (code == EXIT_OK)
        code = state_add_graph(s, d->real.graph, session_core_or(&d->real, NULL), d->real.exec);
    if (code == EXIT_OK) code = share_inputs(d);
    if (code == EXIT_OK && forms_open(&d->f, &d->graphs, d->target, &d->inputs, &d->real_inputs,
                                      d->opt, &err) != QDQ_OK)
        return report_error(&err);
    if (code == EXIT_OK) code = begin_labels(d, s);
    return code == EXIT_OK ? add_rows(d, s) : code;
}

static void copy_inputs(const data_accuracy *d) {
    const session *real = &d->real;
    for (size_t i = 0; i < qdq_plan_input_count(real->plan); i++) {
        const qdq_tensor_info *info = qdq_plan_input(real->plan, i);
        uint32_t from = qdq_graph_find(d->quantized.graph, info->name).id;
        uint32_t to = qdq_graph_find(real->graph, info->name).id;
        memcpy(d->real_inputs.inputs[to], d->inputs.inputs[from], info->bytes);
    }
}

static int add(void *with, state *s, size_t index) {
    data_accuracy *d = with;
    qdq_error err = {0};
    bool done = true;
    copy_inputs(d);
    if (forms_again(&d->f, &err) != QDQ_OK) return report_error(&err);
    for (size_t row = 0; done && row < d->count; row++) {
        row_node *n = &d->nodes[row];
        if (n->measured && n->constant)
            s->kind->tables[0].merge(&s->tables[0], row, &d->constants.tables[0], row);
        else if (n->measured)
            done = add_node(n, &s->tables[TABLE_NODES], row, &s->tables[TABLE_CHANNELS]);
    }
    for (size_t row = 0; done && row < s->tables[1].rows; row++)
        done = add_output(d, &s->tables[1], row);
    if (!done) return no_memory();
    label_counts right = {0};
    int code = answers_count(&d->truth, &d->graphs, d->f.forms.deployed, index, &right);
    if (code != EXIT_OK) return code;
    label_state_add(&s->tables[TABLE_LABELS], &right);
    return effect_adder_add(&d->effects, s, index, &err) == QDQ_OK ? EXIT_OK : report_error(&err);
}

static int open_sessions(data_accuracy *d) {
    int code = against_sessions(d->opt, &d->quantized, &d->real);
    if (code == EXIT_OK) code = equalized_model(&d->quantized, &d->real, d->opt);
    if (code == EXIT_OK)
        d->target =
            d->opt->load.target ? d->opt->load.target : qdq_graph_target(d->quantized.graph);
    return code;
}

int explain_against_data(const options *opt) {
    static const data_run_task task = {
        .kind = &explain_kind, .reports = true, .begin = begin, .add = add};
    data_accuracy d = {.opt = opt};
    d.graphs = (accuracy_graphs){&d.quantized, &d.real};
    data_run_plan plan;
    int code = data_run_plan_read(opt, &plan);
    if (code != EXIT_OK) return code;
    code = open_sessions(&d);
    if (code == EXIT_OK) code = data_run_start(&plan, &task, &d.quantized, &d);
    labels_close(&d.truth);
    state_release(&d.constants);
    effect_adder_close(&d.effects);
    qdq_equalize_sites_destroy(d.sites);
    free(d.nodes), free(d.rows);
    forms_close(&d.f);
    session_close(&d.real);
    session_close(&d.quantized);
    given_release(&d.real_inputs);
    given_release(&d.inputs);
    return code;
}
