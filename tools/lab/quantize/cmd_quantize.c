// SPDX-License-Identifier: Apache-2.0
// qdq quantize: inserts Quantize and Dequantize into a float graph for a target, with scales from a
// calibration.
#include <inttypes.h>
#include <qdq/fingerprint.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/io/watch.h"
#include "tools/lab/calibrate/calibrate_kind.h"
#include "tools/lab/dataset/state_file.h"
#include "tools/lab/quantize/quantize_report.h"
#include "tools/options.h"
#include "tools/options/option_number.h"
#include "tools/options/quantize.h"
#include "tools/session.h"

static int no_memory(const char *what) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for %s", what);
}

//---- Options ----------------------------------------------------------------

static int parse_method(const char *option, const char *text, choose_method *out) {
    size_t count = 0;
    if (!text) return EXIT_OK;
    for (; choose_method_names[count]; count++) {
        if (strcmp(text, choose_method_names[count]) != 0) continue;
        *out = (choose_method)count;
        return EXIT_OK;
    }
    return tell_unknown(option, text, choose_method_names, count);
}

static int parse_percentile(const quantize_options *own, quantize_choice *choice) {
    char *end = NULL;
    choice->percentile = own->percentile ? strtod(own->percentile, &end) : 99.99;
    if (own->percentile && choice->activations != CHOOSE_PERCENTILE)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--percentile is given with --method %s, wanted --method percentile",
                            choose_method_names[choice->activations]);
    if ((end && (*end || end == own->percentile)) ||
        !(choice->percentile > 0 && choice->percentile <= 100))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--percentile is '%s', wanted a number above 0 and at most 100",
                            own->percentile);
    return EXIT_OK;
}

static int parse_weights(const quantize_options *own, quantize_choice *choice) {
    static const char *const names[] = {"minmax", "mse"};
    if (!own->weights || strcmp(own->weights, names[0]) == 0) return EXIT_OK;
    choice->weights = CHOOSE_MSE;
    if (strcmp(own->weights, names[1]) == 0) return EXIT_OK;
    return tell_unknown("method of --weights", own->weights, names, 2);
}

static int parse_group(const quantize_options *own, quantize_choice *choice, const char *target) {
    size_t group;
    if (!options_number("group", own->group, 2, 0, &group)) return EXIT_USAGE;
    choice->group = (int64_t)(group > INT32_MAX ? INT32_MAX : group);
    if (group && choice->per_tensor)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--group and --per-tensor exclude each other; give one of them");
    if (group && !choice->form->groups)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--group is given, but target %s takes no groups of these weights; "
                            "leave it out",
                            target);
    return EXIT_OK;
}

static int parse_options(quantization *q) {
    const options *opt = q->opt;
    const quantize_options *own = q->own;
    quantize_choice *choice = &q->choice;
    if (opt->outputs.count != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%zu files are given with -o, wanted one: -o OUT.json or -o OUT.onnx",
                            opt->outputs.count);
    if (!own->state)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--state is missing; give the file that qdq calibrate wrote");
    if (!opt->load.target)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--target is missing; `qdq targets` lists the targets");
    if (opt->data.samples && (opt->inputs.count || opt->fill))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--data and %s exclude each other; give the samples or one run",
                            opt->inputs.count ? "-i" : "--fill");
    choice->symmetric = own->symmetric;
    choice->per_tensor = own->per_tensor;
    int code = parse_method("method", own->method, &choice->activations);
    if (code == EXIT_OK) code = parse_weights(own, choice);
    return code == EXIT_OK ? parse_percentile(own, choice) : code;
}

//---- The state --------------------------------------------------------------

static int check_state(const quantization *q, const state *s, qdq_exec *exec) {
    const char *file = q->own->state;
    qdq_fingerprint print;
    qdq_error err = {0};
    if (s->kind != &calibrate_kind)
        return tell_failure(QDQ_ERR_PARSE, "%s: is a state of qdq %s, wanted one of qdq calibrate",
                            file, s->kind->command);
    if (s->next != COMPLETE)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: is a checkpoint of a run that has not ended; end it with "
                            "qdq calibrate --resume",
                            file);
    if ((int64_t)s->shards_held != s->shard_count)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: has %zu of %" PRId64 " shards; add the others with qdq merge",
                            file, s->shards_held, s->shard_count);
    if (!s->taken)
        return tell_failure(QDQ_ERR_PARSE, "%s: has no sample; calibrate with samples", file);
    if (qdq_graph_fingerprint(q->graph, "core", exec, 1, &print, &err) != QDQ_OK)
        return report_error(&err);
    if (strncmp(s->fingerprints.items[0], print.text, strlen("qdq1") + QDQ_FINGERPRINT_PART) != 0)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: is of another graph than %s; calibrate this graph, with the same "
                            "--shape, --dim and --until",
                            file, q->opt->operands.items[0]);
    return EXIT_OK;
}

//---- Quantizing -------------------------------------------------------------

static int find_kept(quantization *q, bool *kept) {
    size_t nodes = qdq_graph_node_count(q->graph);
    const char **names = calloc(2 * nodes + 1, sizeof *names);
    int code = EXIT_OK;
    if (!names) return no_memory("the names of nodes");
    for (size_t n = 0; n < nodes; n++) {
        qdq_node_info info = qdq_graph_node(q->graph, n);
        names[n] = info.name, names[nodes + n] = info.original;
    }
    for (size_t i = 0; code == EXIT_OK && i < q->own->keep.count; i++) {
        const char *word = q->own->keep.items[i], *name = qdq_value_name_of(q->graph, word);
        bool found = false;
        for (size_t n = 0; n < nodes; n++)
            if (strcmp(names[n], name) == 0 || strcmp(names[nodes + n], word) == 0)
                kept[n] = found = true;
        if (found) continue;
        const char *nearest = qdq_did_you_mean(word, names, 2 * nodes);
        code = tell_failure(QDQ_ERR_ARGUMENT, "--keep: %s has no node '%s'%s%s%s",
                            q->opt->operands.items[0], word, nearest ? "; did you mean '" : "",
                            nearest ? nearest : "", nearest ? "'?" : "");
    }
    free(names);
    return code;
}

// Returns the weights of a matrix product; no value if they are not quantized.
static qdq_value weights_of(const quantization *q, size_t node, bool *grouped) {
    const qdq_coding *coding = coding_list_at(&q->list, node, 1);
    bool matrices = strcmp(qdq_graph_node(q->graph, node).op, "MatMul") == 0;
    if (q->fates[node] != NODE_QUANTIZED || !matrices || !coding || !coding->codes)
        return (qdq_value){0};
    *grouped = coding->attrs.qtype == QDQ_PER_GROUP;
    return coding->value;
}

// Names the weights that --group does not divide; fails if it divides none.
static int check_group(const quantization *q) {
    char text[512] = "", shape[128];
    size_t at = 0, fits = 0, others = 0, named = 0;
    for (size_t n = 0; q->choice.group && n < qdq_graph_node_count(q->graph); n++) {
        bool grouped;
        qdq_shape dims = {0};
        qdq_value w = weights_of(q, n, &grouped);
        if (!w.id) continue;
        *(grouped ? &fits : &others) += 1;
        if (grouped || at + 2 * sizeof shape > sizeof text) continue;
        (void)qdq_value_type(q->graph, w, NULL, &dims);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s'%.100s' %s", named++ ? ", " : "",
                               qdq_value_original(q->graph, qdq_value_name(q->graph, w)),
                               qdq_write_shape(dims, shape, sizeof shape));
    }
    const char *file = q->opt->operands.items[0], *more = others > named ? ", ..." : "";
    if (!q->choice.group || (fits && !others)) return EXIT_OK;
    if (!fits)
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "%s: --group %" PRId64 " fits no weights, wanted those of a product of "
            "matrices, of two dims, with a larger multiple of it in a column; there "
            "%s%s%s",
            file, q->choice.group, others ? "are " : "are none", text, more);
    fprintf(stderr,
            "qdq: %s: --group %" PRId64 " does not divide the columns of %zu weights, which get "
            "scales of channels: %s%s\n",
            file, q->choice.group, others, text, more);
    return EXIT_OK;
}

static int place(quantization *q, const state *s, const qdq_plan *plan) {
    size_t nodes = qdq_graph_node_count(q->graph);
    qdq_error err = {0};
    bool opened = coding_list_open(&q->list, q->graph, plan);
    bool *kept = opened ? coding_list_memory(&q->list, nodes, sizeof *kept) : NULL;
    q->fates = kept ? coding_list_memory(&q->list, nodes, sizeof *q->fates) : NULL;
    if (!q->fates) return no_memory("the codes");
    int code = find_kept(q, kept);
    if (code != EXIT_OK) return code;
    q->choice.kept = kept;
    watch_tell(q->opt->watch, "choosing scales");
    bool placed = place_codes(&q->list, s, &q->choice, q->fates);
    watch_clear(q->opt->watch);
    if (!placed) return no_memory("the codes");
    size_t quantized = 0;
    for (size_t n = 0; n < nodes; n++) quantized += q->fates[n] == NODE_QUANTIZED;
    if (!quantized)
        return tell_failure(QDQ_ERR_UNSUPPORTED,
                            "%s has no node that can be quantized, wanted float32 products of an "
                            "operand with statistics; --keep leaves out nodes",
                            q->opt->operands.items[0]);
    code = check_group(q);
    if (code != EXIT_OK) return code;
    q->quantized = qdq_graph_quantized(q->graph, q->list.codings, q->list.count, &err);
    return q->quantized ? EXIT_OK : report_error(&err);
}

static int measure(quantization *q, const qdq_plan *plan) {
    size_t nodes = qdq_graph_node_count(q->graph), count = 0;
    const char **names = coding_list_memory(&q->list, nodes, sizeof *names);
    q->output_count = qdq_plan_output_count(plan);
    q->outputs = coding_list_memory(&q->list, q->output_count, sizeof *q->outputs);
    if (!names || !q->outputs) return no_memory("names");
    for (size_t i = 0; i < q->output_count; i++) q->outputs[i] = qdq_plan_output(plan, i)->name;
    for (size_t n = 0; n < nodes; n++)
        if (is_listed(q, n))
            names[count++] = qdq_value_name(q->graph, qdq_graph_node_output(q->graph, n, 0));
    return measure_noise(q->graph, q->quantized, q->opt, names, count, &q->noises, &q->noise_count);
}

static int check(quantization *q) {
    qdq_error err = {0};
    q->report = qdq_graph_validate(q->quantized, q->target, &err);
    if (!q->report) return report_error(&err);
    if (!q->report->errors && has_ending(q->opt->outputs.items[0], ".onnx")) {
        int code = check_to_write(q->quantized, true);
        q->report = qdq_graph_validate(q->quantized, q->target, &err);
        if (code != EXIT_OK || !q->report) return code != EXIT_OK ? code : report_error(&err);
    }
    return EXIT_OK;
}

static int quantize(quantization *q, const session *s) {
    state st = {0};
    qdq_error err = {0};
    if (state_read(&st, q->own->state, &err) != QDQ_OK) return report_error(&err);
    int code = check_state(q, &st, s->exec);
    if (code == EXIT_OK) st.kind->warn(&st, q->own->state);
    if (code == EXIT_OK) code = place(q, &st, s->plan);
    state_release(&st);
    if (code == EXIT_OK) code = measure(q, s->plan);
    return code == EXIT_OK ? check(q) : code;
}

//---- The command ------------------------------------------------------------

static int refuse(const quantization *q) {
    if (q->float_errors)
        return tell_failure(QDQ_ERR_UNSUPPORTED,
                            "target %s refuses %s also without codes, with %zu error%s, so nothing "
                            "was written; see `qdq check`, and end the model before these nodes "
                            "with --until, or change it",
                            q->target, q->opt->operands.items[0], q->float_errors,
                            q->float_errors == 1 ? "" : "s");
    return tell_failure(QDQ_ERR_UNSUPPORTED,
                        "target %s refuses the quantized graph, so nothing was written; leave the "
                        "nodes in float that read what it names: --keep NODE",
                        q->target);
}

static int finish(quantization *q) {
    const char *out = q->opt->outputs.items[0];
    qdq_error err = {0};
    bool writes = !q->report->errors;
    if (q->opt->json)
        quantization_json(q, writes);
    else
        quantization_text(q);
    if (!writes) return refuse(q);
    return qdq_graph_write(q->quantized, out, &err) == QDQ_OK ? EXIT_OK : report_error(&err);
}

// Finds the row of the target.
static int find_target(quantization *q) {
    qdq_error err = {0};
    q->target = q->opt->load.target;
    const qdq_report *report = qdq_graph_validate(q->graph, q->target, &err);
    if (!report) return report_error(&err);
    q->float_errors = report->errors;
    q->choice.form = qdq_target_quantized_form(q->target);
    if (!q->choice.form)
        return tell_failure(QDQ_ERR_UNSUPPORTED, "target %s has no quantized form here", q->target);
    return parse_group(q->own, &q->choice, q->target);
}

int run_quantize(const options *opt) {
    quantization q = {.opt = opt, .own = opt->own};
    session s = {0};
    options core = *opt;
    core.load.target = NULL;
    core.compile.rows = true;
    int code = parse_options(&q);
    if (code == EXIT_OK) code = session_start_as(&s, &core, "core");
    q.graph = s.graph;
    if (code == EXIT_OK) code = check_to_write(q.graph, false);
    if (code == EXIT_OK) code = find_target(&q);
    if (code == EXIT_OK) code = quantize(&q, &s);
    if (code == EXIT_OK && q.report) code = finish(&q);
    free(q.noises);
    qdq_graph_destroy(q.quantized);
    coding_list_release(&q.list);
    session_close(&s);
    return code;
}
