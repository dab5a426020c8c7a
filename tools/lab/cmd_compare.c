// SPDX-License-Identifier: Apache-2.0
// qdq compare: shows the nodes that targets compute differently, and the causes.
#include <stdlib.h>
#include <string.h>

#include "tools/check/bits.h"
#include "tools/check/evidence_json.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/html/report_file.h"
#include "tools/io/inputs.h"
#include "tools/io/watch.h"
#include "tools/lab/compare/compare_fast.h"
#include "tools/lab/compare/compare_json.h"
#include "tools/lab/compare/compare_text.h"
#include "tools/lab/compare/data/compare_data.h"
#include "tools/options.h"
#include "tools/options/compare.h"
#include "tools/options/option_number.h"
#include "tools/session.h"

//---- Which targets ----------------------------------------------------------

// The targets that --targets names, split into `words`.
typedef struct target_list {
    char *words;  // owned, from malloc
    const char *names[MAX_TARGETS];
    size_t count;
    const char *refused[MAX_TARGETS];  // targets that refuse the graph
    size_t refused_count;
    char *told;  // all lines of findings so far; owned
} target_list;

static bool complain(const char *text, const char *wanted) {
    (void)tell_failure(QDQ_ERR_ARGUMENT, "--targets is '%s', wanted %s", text, wanted);
    return false;
}

static bool split_targets(const char *text, target_list *out) {
    static const char *const wanted = "two or more targets, as in --targets onnx,ttnn";
    size_t length = strlen(text);
    out->words = malloc(length + 1);
    if (!out->words) return complain(text, "less than memory can hold");
    memcpy(out->words, text, length + 1);
    for (char *word = out->words; word;) {
        char *comma = strchr(word, ',');
        if (comma) *comma = '\0';
        if (!*word) return complain(text, wanted);
        if (out->count == MAX_TARGETS) return complain(text, "at most 64 targets");
        for (size_t i = 0; i < out->count; i++)
            if (strcmp(out->names[i], word) == 0) return complain(text, "each target once");
        out->names[out->count++] = word;
        word = comma ? comma + 1 : NULL;
    }
    return out->count >= 2 || complain(text, wanted);
}

// True if --device is not given or a target has this device. Otherwise prints a message.
static bool has_use_for_device(const options *opt, const target_list *list) {
    bool used = !opt->compile.device;
    for (size_t i = 0; i < list->count; i++) used |= device_for(opt, list->names[i]) != NULL;
    if (!used)
        (void)tell_failure(QDQ_ERR_ARGUMENT,
                           "--device is '%s', and none of the targets has a device; leave it out",
                           opt->compile.device);
    return used;
}

// Prints the lines of `text` that no target has had before, as the versions of a target share
// findings.
static void tell_new_lines(target_list *list, const char *text) {
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        size_t length = (size_t)(end + 1 - text), before = list->told ? strlen(list->told) : 0;
        bool known = false;
        for (const char *at = list->told; at && *at && !known; at = strchr(at, '\n') + 1)
            known = strncmp(at, text, length) == 0;
        if (known) continue;
        print_finding_line(stderr, text, length);
        char *told = realloc(list->told, before + length + 1);
        if (!told) continue;  // it may be printed again
        memcpy(told + before, text, length);
        told[before + length] = '\0';
        list->told = told;
    }
}

// Prints the findings of a report (`target`: only findings of its rules) once for all targets.
static void tell_findings(target_list *list, const qdq_report *report, const char *target) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) (void)print_findings(out, report, target, LIST_BRIEFLY);
    if (out && fclose(out) == 0)
        tell_new_lines(list, text);
    else
        (void)print_findings(stderr, report, target, LIST_BRIEFLY);
    free(text);
}

// Prints a target's findings, also of the core's rules until they are `told` with errors, and how
// well its bits are known.
static int ask_target(qdq_graph *graph, const options *opt, target_list *list, const char *target,
                      report_file *page, bool *told, bool *refuses) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate_on(graph, target, device_for(opt, target), &err);
    if (!report) return report_error(&err);
    *refuses = report->errors > 0;
    if (!*told || strcmp(target, "core") != 0) tell_findings(list, report, *told ? target : NULL);
    *told |= *refuses;
    if (*refuses) fprintf(stderr, "qdq: %s refuses the graph and is left out\n", target);
    tell_bits("compare", report, target, opt);
    return report_file_bits(page, target, report);
}

// `told`: the core's findings are printed.
static int leave_out_refusing(qdq_graph *graph, const options *opt, target_list *list,
                              report_file *page, bool told) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool refuses = false;
        int code = ask_target(graph, opt, list, list->names[i], page, &told, &refuses);
        if (code != EXIT_OK) return code;
        if (refuses)
            list->refused[list->refused_count++] = list->names[i];
        else
            list->names[kept++] = list->names[i];
    }
    list->count = kept;
    if (kept >= 2) return EXIT_OK;
    qdq_error err = {.status = QDQ_ERR_UNSUPPORTED};
    snprintf(err.text, sizeof err.text,
             "%zu of the targets accept%s the graph, wanted at least 2 to compare", kept,
             kept == 1 ? "s" : "");
    fprintf(stderr, "qdq: %s\n", err.text);
    const qdq_device *devices[MAX_TARGETS];
    for (size_t i = 0; i < list->refused_count; i++) devices[i] = device_for(opt, list->refused[i]);
    return tell_refusal(&err, graph, list->refused, devices, list->refused_count);
}

// Opens the graph for core, or, if core refuses it, for the first target that takes it, and begins
// the page.
static int open_graph(session *s, const options *opt, target_list *list, report_file *page) {
    options core = *opt;
    core.load.target = "core", core.compile.device = NULL, core.compile.rows = true;
    int code = session_load(s, &core);
    if (code == EXIT_OK) code = report_file_open(page, "compare", opt, s->graph);
    if (code != EXIT_OK) return code;
    bool refused = session_core_refuses(s);
    if (!refused) code = session_compile(s, &core, "core");
    if (code == EXIT_OK) code = leave_out_refusing(s->graph, opt, list, page, !refused);
    if (code == EXIT_OK && refused) code = session_compile_told(s, opt, list->names[0]);
    return code;
}

//---- The command ------------------------------------------------------------

static int compare_nodes(comparison *c, const options *opt, qdq_json *page) {
    compare_list told = {0};
    evidence_rows rows = {0};
    int code = EXIT_OK;
    qdq_json json;
    if (opt->json) {
        json_begin(&json);
        json_string_key(&json, "graph", opt->operands.items[0]);
        code = json_bits_of_each(&json, c->graph, c->targets, c->target_count, opt);
        compare_json_start(&json, c);
    }
    if (page) {
        qdq_json_begin_object(page);
        compare_json_start(page, c);
    }
    for (size_t i = 0; code == EXIT_OK && i < qdq_graph_node_count(c->graph); i++) {
        node_comparison n;
        code = compare_node(c, i, &n);
        if (code == EXIT_OK && opt->json) compare_json_node(&json, c, &n, NULL);
        if (code == EXIT_OK && page) compare_json_node(page, c, &n, &rows);
        if (code == EXIT_OK && !compare_list_add(&told, c, &n, !opt->json, opt->all))
            code = tell_failure(QDQ_ERR_MEMORY, "no memory to list %zu nodes", i + 1);
        node_comparison_release(&n);
    }
    watch_clear(opt->watch);
    if (page) {
        qdq_json_end_array(page);
        json_evidence_list(page, &rows);
        qdq_json_end_object(page);
    }
    if (opt->json) {
        qdq_json_end_array(&json);
        json_end(&json);
    } else if (code == EXIT_OK) {
        compare_list_print(&told, c, opt->operands.items[0], opt->all);
    }
    bool differs = told.counts[NODE_DIFFERS] + told.counts[NODE_INHERITS] > 0;
    compare_list_release(&told);
    evidence_rows_release(&rows);
    if (code != EXIT_OK) return code;
    return differs ? EXIT_FINDINGS : EXIT_OK;
}

static int compare_sample(comparison *c, session *s, const options *opt, report_file *page) {
    int code;
    void **inputs = session_take_inputs(s, opt, &code);
    if (!inputs) return code;
    qdq_exec_destroy(s->exec);
    s->exec = NULL;
    code = comparison_open(c, s->plan);
    comparison_give(c, s->plan, inputs);
    if (code == EXIT_OK) code = compare_nodes(c, opt, report_file_json(page));
    comparison_close(c);
    free(inputs);
    return code;
}

static int compare_session(session *s, const options *opt, const target_list *list,
                           const tolerances *tolerance, const data_run_plan *data,
                           report_file *page) {
    comparison c = {.graph = s->graph,
                    .target_count = list->count,
                    .left_out_count = list->refused_count,
                    .watch = opt->watch,
                    .tolerance = *tolerance,
                    .wants_spread = (opt->json || opt->html) && !opt->data.samples};
    memcpy(c.targets, list->names, sizeof c.targets);
    memcpy(c.left_out, list->refused, sizeof c.left_out);
    c.exec_options = s->exec_options;
    c.isa = isa_of(opt);
    return opt->data.samples ? compare_data(&c, data, s) : compare_sample(&c, s, opt, page);
}

// Refuses options that exclude each other.
static int check_options(const options *opt) {
    const compare_options *own = opt->own;
    const struct {
        bool given;
        const char *names[2];
    } both[] = {
        {opt->compile.fast && opt->compile.device, {"--fast", "--device"}},
        {opt->compile.fast && opt->html, {"--fast", "--html"}},
        {opt->compile.fast && opt->targets, {"--fast", "--targets"}},
        {opt->compile.fast && opt->data.samples, {"--fast", "--data"}},
        {opt->data.samples && opt->html, {"--data", "--html"}},
        {opt->data.samples && opt->inputs.count, {"--data", "-i"}},
        {opt->data.samples && opt->fill, {"--data", "--fill"}},
        {opt->data.samples && own->atol, {"--data", "--atol"}},
        {opt->data.samples && own->rtol, {"--data", "--rtol"}},
    };
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (both[i].given)
            return tell_failure(QDQ_ERR_ARGUMENT, "%s and %s are both given, wanted one of them",
                                both[i].names[0], both[i].names[1]);
    return data_options_check(opt);
}

int run_compare(const options *opt) {
    target_list list = {0};
    session s;
    data_run_plan data = {0};
    const compare_options *own = opt->own;
    tolerances tolerance;
    int code = check_options(opt);
    if (code != EXIT_OK) return code;
    if (!options_amount("atol", own->atol, &tolerance.atol) ||
        !options_amount("rtol", own->rtol, &tolerance.rtol))
        return EXIT_USAGE;
    if (opt->compile.fast) return compare_fast(opt, &tolerance);
    if (!opt->targets)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--targets is missing, wanted two or more, as in --targets onnx,ttnn");
    if (opt->data.samples) code = data_run_plan_read(opt, &data);
    if (code != EXIT_OK) return code;
    bool listed = split_targets(opt->targets, &list) && has_use_for_device(opt, &list);
    code = listed ? EXIT_OK : EXIT_USAGE;
    if (code == EXIT_OK) {
        report_file page = {0};
        code = open_graph(&s, opt, &list, &page);
        if (code == EXIT_OK) code = compare_session(&s, opt, &list, &tolerance, &data, &page);
        code = report_file_close(&page, code);
        session_close(&s);
    }
    free(list.words), free(list.told);
    return code;
}
