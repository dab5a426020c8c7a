// SPDX-License-Identifier: Apache-2.0
// qdq mend: writes a graph that a target accepts, and reports the changes and their noise.
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/compare/noise.h"
#include "tools/options.h"
#include "tools/options/mend.h"

// A graph before and after mending.
typedef struct mending {
    qdq_graph *graph, *mended;
    size_t errors;  // findings before mending
    size_t lossy;   // number of changes that affect numbers
    noise *noises;  // noise of the results of lossy changes, then of the outputs
    size_t noise_count;
    const qdq_report *left;  // findings about `mended`
} mending;

static const noise *noise_of(const mending *m, const char *name) {
    return noise_find(m->noises, m->noise_count, name);
}

//---- Mending ----------------------------------------------------------------

// Measures the noise of the results of all lossy changes.
static int measure(mending *m, const options *opt) {
    size_t changes = qdq_graph_rewrite_count(m->mended);
    const char **names = malloc((changes + 1) * sizeof *names);
    if (!names) return tell_failure(QDQ_ERR_MEMORY, "no memory for names");
    for (size_t i = 0; i < changes; i++) {
        qdq_rewrite_info change = qdq_graph_rewrite(m->mended, i);
        if (change.cause) names[m->lossy++] = change.result;
    }
    int code = m->lossy ? measure_noise(m->graph, m->mended, opt, names, m->lossy, &m->noises,
                                        &m->noise_count)
                        : EXIT_OK;
    free(names);
    return code;
}

static bool writes_it(const mending *m, const options *opt) {
    const mend_options *own = opt->own;
    return !m->lossy || own->allow_lossy;
}

static int mend(mending *m, const options *opt) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(m->graph, opt->load.target, &err);
    if (!report) return report_error(&err);
    m->errors = report->errors;
    m->mended = qdq_graph_mended(m->graph, opt->load.target, &err);
    if (!m->mended) return report_error(&err);
    int code = measure(m, opt);
    if (code == EXIT_OK && writes_it(m, opt) && names_model(opt->outputs.items[0]))
        code = check_to_write(m->mended, opt->outputs.items[0]);
    if (code != EXIT_OK) return code;
    m->left = qdq_graph_validate(
        m->mended, opt->load.target ? opt->load.target : qdq_graph_target(m->graph), &err);
    return m->left ? EXIT_OK : report_error(&err);
}

//---- Printing ---------------------------------------------------------------

static void print_text(const mending *m, const options *opt) {
    size_t changes = qdq_graph_rewrite_count(m->mended), errors = m->left->errors;
    printf("%s for %s: %zu error%s; %zu after %zu change%s\n", opt->operands.items[0],
           opt->load.target ? opt->load.target : qdq_graph_target(m->graph), m->errors,
           m->errors == 1 ? "" : "s", errors, changes, changes == 1 ? "" : "s");
    for (size_t i = 0; i < changes; i++) {
        qdq_rewrite_info change = qdq_graph_rewrite(m->mended, i);
        printf("  %s: %s, %s", change.node, change.group, change.cause ? "lossy" : "exact");
        if (change.cause) noise_print(noise_of(m, change.result));
        printf(" [%s]\n", change.rule);
    }
    for (size_t i = m->lossy; m->lossy && i < m->noise_count; i++) {
        printf("output %s", m->noises[i].name);
        noise_print(&m->noises[i]);
        noise_print_seed(opt);
        printf("\n");
    }
    print_findings(stdout, m->left, NULL, opt->all ? LIST_ALL : LIST_BRIEFLY);
}

static void json_change(qdq_json *json, const mending *m, qdq_rewrite_info change) {
    qdq_json_begin_object(json);
    json_string_key(json, "node", change.node);
    json_string_key(json, "mend", change.group);
    json_string_key(json, "rule", change.rule);
    qdq_json_key(json, "exact");
    qdq_json_bool(json, !change.cause);
    if (change.cause) json_string_key(json, "cause", change.cause);
    if (change.cause) noise_json(json, noise_of(m, change.result));
    qdq_json_end_object(json);
}

static void print_json(const mending *m, const options *opt, bool writes) {
    qdq_json json;
    const char *target = opt->load.target ? opt->load.target : qdq_graph_target(m->graph);
    json_begin(&json);
    json_string_key(&json, "graph", opt->operands.items[0]);
    json_string_key(&json, "target", target);
    qdq_json_key(&json, "out");
    if (writes)
        qdq_json_string(&json, opt->outputs.items[0]);
    else
        qdq_json_null(&json);
    json_uint_key(&json, "errors_before", m->errors);
    json_uint_key(&json, "errors", m->left->errors);
    qdq_json_key(&json, "changes");
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < qdq_graph_rewrite_count(m->mended); i++)
        json_change(&json, m, qdq_graph_rewrite(m->mended, i));
    qdq_json_end_array(&json);
    qdq_json_key(&json, "outputs");
    qdq_json_begin_array(&json);
    for (size_t i = m->lossy; m->lossy && i < m->noise_count; i++) {
        qdq_json_begin_object(&json);
        json_string_key(&json, "name", m->noises[i].name);
        noise_json(&json, &m->noises[i]);
        qdq_json_end_object(&json);
    }
    qdq_json_end_array(&json);
    if (m->lossy) noise_json_seed(&json, opt);
    qdq_json_key(&json, "findings");
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < m->left->count; i++) json_finding(&json, target, &m->left->findings[i]);
    qdq_json_end_array(&json);
    json_end(&json);
}

//---- The command ------------------------------------------------------------

static int write_mended(mending *m, const options *opt) {
    int code = save_graph(m->mended, false, opt);
    if (code != EXIT_OK) return code;
    return m->left->errors ? EXIT_FINDINGS : EXIT_OK;
}

static int finish(mending *m, const options *opt) {
    bool writes = writes_it(m, opt);
    if (opt->json)
        print_json(m, opt, writes);
    else
        print_text(m, opt);
    if (writes) return write_mended(m, opt);
    return tell_failure(QDQ_ERR_UNSUPPORTED,
                        "%zu change%s numbers, so nothing was written; --allow-lossy writes %s",
                        m->lossy, m->lossy == 1 ? " changes" : "s change", opt->outputs.items[0]);
}

// Refuses to guess the target of a graph that names none: core has nothing to mend.
static int check_target(const mending *m, const options *opt) {
    if (opt->load.target || strcmp(qdq_graph_target(m->graph), "core") != 0) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT,
                        "--target is missing, and %s names no target, wanted the one that shall "
                        "take the graph, as in --target tensorrt",
                        opt->operands.items[0]);
}

int run_mend(const options *opt) {
    int code;
    mending m = {0};
    if (opt->outputs.count != 1)
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "%zu files are given with -o, wanted one: -o OUT.json, OUT.onnx or OUT.tflite",
            opt->outputs.count);
    m.graph = load_graph(opt->operands.items[0], opt, &code);
    if (!m.graph) return code;
    code = check_target(&m, opt);
    if (code == EXIT_OK) code = check_to_write(m.graph, NULL);
    if (code == EXIT_OK) code = mend(&m, opt);
    if (code == EXIT_OK) code = finish(&m, opt);
    free(m.noises);
    qdq_graph_destroy(m.mended);
    qdq_graph_destroy(m.graph);
    return code;
}
