// SPDX-License-Identifier: Apache-2.0
// qdq quantize: inserts Quantize and Dequantize into a float graph for a target, with scales from a
// calibration.
#include <inttypes.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/io/watch.h"
#include "tools/lab/quantize/correct.h"
#include "tools/lab/quantize/equalize.h"
#include "tools/lab/quantize/quantize_read.h"
#include "tools/options.h"
#include "tools/options/quantize.h"

static int no_memory(const char *what) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for %s", what);
}

//---- The graph and the choice -----------------------------------------------

// Returns the options of the float graph as target core.
static options core_options(const quantization *q) {
    options core = *q->opt;
    core.load.target = NULL;
    core.compile.rows = true;
    return core;
}

static int open_graph(quantization *q) {
    const options core = core_options(q);
    int code = session_start_as(&q->session, &core, "core");
    q->graph = q->session.graph;
    return code == EXIT_OK ? check_to_write(q->graph, NULL) : code;
}

// Refuses the options that leave nodes in float, for a target that takes a float op between a
// Dequantize and a Quantize for an operator on codes.
static int check_whole(const quantization *q) {
    const quantize_options *own = q->own;
    const char *option = own->keep.count ? "--keep" : own->at_least ? "--at-least" : "--drop";
    if (!q->choice.form->whole || (!own->keep.count && !own->at_least && !own->drop))
        return EXIT_OK;
    return tell_failure(
        QDQ_ERR_UNSUPPORTED,
        "%s is given, but target %s computes every operator on codes; leave it out, "
        "or change the network",
        option, q->target);
}

// Names the targets that have a form.
static int refuse_target(const char *target) {
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < qdq_target_count(); i++) {
        const char *name = qdq_target_get(i).name;
        if (qdq_target_quantized_form(name) && used < sizeof names)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
    }
    return tell_failure(QDQ_ERR_UNSUPPORTED,
                        "target %s has no form of quantized graphs, wanted one of: %s", target,
                        names);
}

// Finds the row of the target.
static int find_target(quantization *q) {
    qdq_error err = {0};
    q->target = q->opt->load.target;
    const qdq_report *report = qdq_graph_validate(q->graph, q->target, &err);
    if (!report) return report_error(&err);
    q->float_errors = report->errors;
    q->choice.form = qdq_target_quantized_form(q->target);
    if (!q->choice.form) return refuse_target(q->target);
    int code = check_whole(q);
    return code == EXIT_OK ? quantize_group_read(q->own, &q->choice, q->target) : code;
}

// Turns the images of the graph if the target has them with their channels last.
static int turn_images(quantization *q) {
    const options core = core_options(q);
    session *s = &q->session;
    qdq_error err = {0};
    if (!q->choice.form->channels_last) return EXIT_OK;
    qdq_graph *turned = qdq_graph_channels_last(q->graph, &err);
    if (!turned) return report_error(&err);
    qdq_exec_destroy(s->exec);
    qdq_plan_destroy(s->plan);
    qdq_graph_destroy(s->graph);
    s->exec = NULL, s->plan = NULL;
    s->graph = q->graph = turned;
    return session_compile(s, &core, "core");
}

static int find_kept(quantization *q) {
    size_t nodes = qdq_graph_node_count(q->graph);
    const char **names = calloc(2 * nodes + 1, sizeof *names);
    bool *kept = calloc(nodes + 1, sizeof *kept);
    int code = EXIT_OK;
    q->choice.kept = q->kept = kept;
    if (!names || !kept) {
        free(names);
        return no_memory("the names of nodes");
    }
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

//---- Codes ------------------------------------------------------------------

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

static int place(quantization *q) {
    size_t nodes = qdq_graph_node_count(q->graph);
    qdq_error err = {0};
    bool opened = coding_list_open(&q->list, q->graph, q->session.plan);
    q->fates = opened ? coding_list_memory(&q->list, nodes, sizeof *q->fates) : NULL;
    if (!q->fates) return no_memory("the codes");
    watch_tell(q->opt->watch, "choosing scales");
    bool placed = place_codes(&q->list, &q->state, &q->choice, q->fates);
    watch_clear(q->opt->watch);
    if (!placed) return no_memory("the codes");
    size_t quantized = 0;
    for (size_t n = 0; n < nodes; n++) quantized += q->fates[n] == NODE_QUANTIZED;
    if (!quantized)
        return tell_failure(QDQ_ERR_UNSUPPORTED,
                            "%s has no node that can be quantized, wanted float32 products of an "
                            "operand with statistics; --keep leaves out nodes",
                            q->opt->operands.items[0]);
    int code = check_group(q);
    if (code != EXIT_OK) return code;
    q->quantized = qdq_graph_quantized(q->graph, q->list.codings, q->list.count, &err);
    return q->quantized ? EXIT_OK : report_error(&err);
}

//---- The result -------------------------------------------------------------

static int measure(quantization *q) {
    const qdq_plan *plan = q->session.plan;
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
    if (!q->report->errors && names_model(q->opt->outputs.items[0])) {
        int code = check_to_write(q->quantized, q->opt->outputs.items[0]);
        q->report = qdq_graph_validate(q->quantized, q->target, &err);
        if (code != EXIT_OK || !q->report) return code != EXIT_OK ? code : report_error(&err);
    }
    return EXIT_OK;
}

static int refuse(const quantization *q) {
    if (q->float_errors)
        return tell_failure(QDQ_ERR_UNSUPPORTED,
                            "target %s refuses %s also without codes, with %zu error%s, so nothing "
                            "was written; see `qdq check`, and end the model before these nodes "
                            "with --until, or change it",
                            q->target, q->opt->operands.items[0], q->float_errors,
                            q->float_errors == 1 ? "" : "s");
    return tell_failure(
        QDQ_ERR_UNSUPPORTED, "target %s refuses the quantized graph, so nothing was written; %s",
        q->target,
        q->choice.form->whole ? "give samples with other ranges, or change the network there"
                              : "leave the nodes in float that read what it names: --keep NODE");
}

static int finish(quantization *q) {
    bool writes = !q->report->errors;
    if (q->opt->json)
        quantization_json(q, writes);
    else
        quantization_text(q);
    if (!writes) return refuse(q);
    return save_graph(q->quantized, false, q->opt);
}

//---- The command ------------------------------------------------------------

int run_quantize(const options *opt) {
    static int (*const stages[])(quantization *) = {
        quantize_options_read,
        open_graph,
        find_target,
        quantize_state_read,
        turn_images,
        quantize_state_collect,
        aim_read,
        find_kept,
        equalize,
        aim_reach,
        place,
        correct_codes,
        aim_measure,
        measure,
        check,
        finish,
    };
    quantization q = {.opt = opt, .own = opt->own};
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < sizeof stages / sizeof *stages; i++)
        code = stages[i](&q);
    aim_release(&q.aim);
    free(q.noises);
    qdq_graph_destroy(q.quantized);
    equalization_release(&q.equalization);
    qdq_graph_destroy(q.equalized);
    coding_list_release(&q.list);
    state_release(&q.state);
    free(q.kept);
    session_close(&q.session);
    return code;
}
