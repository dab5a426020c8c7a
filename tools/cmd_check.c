// SPDX-License-Identifier: Apache-2.0
// qdq check: prints all findings of a graph, or with --target all a matrix of nodes and targets.
#include <string.h>

#include "tools/check/bits.h"
#include "tools/check/matrix.h"
#include "tools/check/sarif.h"
#include "tools/check/unchecked.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/html/findings_json.h"
#include "tools/html/report_file.h"
#include "tools/options.h"
#include "tools/options/check.h"

static int exit_of(const options *opt, size_t errors, size_t warnings) {
    const check_options *own = opt->own;
    return errors || (own->strict && warnings) ? EXIT_FINDINGS : EXIT_OK;
}

// `bits`: the report whose nodes are counted if not all are exact; NULL: none.
static void print_counts(const char *path, const char *target, const char *counts, size_t unchecked,
                         bool folded, const qdq_report *bits) {
    printf("%s for %s: %s", path, target, counts);
    if (unchecked) printf(", %zu node%s unchecked", unchecked, unchecked == 1 ? "" : "s");
    printf("%s", folded ? "; --all lists each" : "");
    if (bits && !bits_are_exact(bits)) {
        printf("; ");
        print_bits(stdout, bits);
    }
    printf("\n");
}

static void json_start(qdq_json *json, const char *path, const char *target, size_t errors,
                       size_t warnings) {
    json_string_key(json, "graph", path);
    json_string_key(json, "target", target);
    json_uint_key(json, "errors", errors);
    json_uint_key(json, "warnings", warnings);
}

//---- One target -------------------------------------------------------------

static void json_report(qdq_json *json, const char *path, const char *target,
                        const qdq_report *report) {
    json_start(json, path, target, report->errors, report->warnings);
    qdq_json_key(json, "findings");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < report->count; i++) json_finding(json, target, &report->findings[i]);
    qdq_json_end_array(json);
    json_bits(json, report);
}

static int no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory to list the findings");
}

static void print_report(const qdq_graph *graph, const char *path, const char *target,
                         const qdq_report *report, const unchecked_nodes *nodes, bool all) {
    char counts[64];
    bool folded = print_findings(stdout, report, NULL, all ? LIST_ALL : LIST_BRIEFLY);
    for (size_t i = 0; all && i < nodes->count; i++)
        printf("unchecked: %s: node '%s': is not checked by every rule, because of errors at other "
               "nodes\n",
               path, qdq_graph_node(graph, nodes->items[i]).name);
    print_counts(path, target, counts_text(report->errors, report->warnings, counts), nodes->count,
                 folded || (!all && nodes->count), report);
}

static int check_one(qdq_graph *graph, const char *path, const options *opt, qdq_json *json,
                     qdq_json *page) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate_on(graph, opt->load.target, device_of(opt), &err);
    if (!report) return report_error(&err);
    const char *target = opt->load.target ? opt->load.target : qdq_graph_target(graph);
    unchecked_nodes nodes;
    bool listed = unchecked_find(graph, report, target, &nodes);
    if (listed && opt->json) {
        json_report(json, path, target, report);
        qdq_json_key(json, "unchecked");
        unchecked_json(json, graph, &nodes);
    } else if (listed) {
        print_report(graph, path, target, report, &nodes, opt->all);
    }
    unchecked_release(&nodes);
    if (!listed) return no_memory();
    if (page && !html_findings_add(page, target, report, false)) return no_memory();
    return exit_of(opt, report->errors, report->warnings);
}

//---- All targets ------------------------------------------------------------

static const qdq_report *report_of(qdq_graph *graph, const options *opt, const char *target) {
    return qdq_graph_validate_on(graph, target, device_for(opt, target), NULL);
}

// Prints the findings of all targets, after validating again for each target with findings: a
// report lasts until the next validation. Every report repeats the core's findings, which are
// printed once.
static void print_all(qdq_graph *graph, const char *path, const options *opt, const matrix *m) {
    bool folded = matrix_print(m, opt->all);
    for (size_t t = 0; t < m->targets; t++) {
        const char *target = qdq_target_get(t).name;
        const qdq_report *report = m->columns[t].findings ? report_of(graph, opt, target) : NULL;
        if (report)
            folded |= print_findings(stdout, report, target, opt->all ? LIST_ALL : LIST_RULES);
    }
    char counts[64];
    print_counts(path, "all targets", counts_text(m->errors, m->warnings, counts), 0, folded, NULL);
}

static void json_all(qdq_json *json, qdq_graph *graph, const char *path, const options *opt,
                     const matrix *m) {
    json_start(json, path, "all", m->errors, m->warnings);
    qdq_json_key(json, "nodes");
    matrix_json(json, m);
    qdq_json_key(json, "findings");
    qdq_json_begin_array(json);
    for (size_t t = 0; t < m->targets; t++) {
        const char *target = qdq_target_get(t).name;
        const qdq_report *report = m->columns[t].findings ? report_of(graph, opt, target) : NULL;
        for (size_t i = 0; report && i < report->count; i++)
            if (strcmp(report->findings[i].target, target) == 0)
                json_finding(json, target, &report->findings[i]);
    }
    qdq_json_end_array(json);
}

static bool page_all(qdq_json *page, qdq_graph *graph, const options *opt) {
    bool done = true;
    for (size_t t = 0; done && t < qdq_target_count(); t++) {
        const char *target = qdq_target_get(t).name;
        const qdq_report *report = report_of(graph, opt, target);
        done = report && html_findings_add(page, target, report, true);
    }
    return done;
}

static int check_all(qdq_graph *graph, const char *path, const options *opt, qdq_json *json,
                     qdq_json *page) {
    matrix m;
    int code = matrix_open(&m, graph, opt);
    if (code == EXIT_OK) {
        if (opt->json)
            json_all(json, graph, path, opt, &m);
        else
            print_all(graph, path, opt, &m);
        code = exit_of(opt, m.errors, m.warnings);
        if (page && !page_all(page, graph, opt)) code = no_memory();
    }
    matrix_close(&m);
    return code;
}

//---- All graphs -------------------------------------------------------------

static int check_graph(const char *path, const options *opt, qdq_json *json) {
    int code;
    qdq_graph *graph = load_graph(path, opt, &code);
    if (!graph) return code;
    report_file file;
    code = report_file_open(&file, "check", opt, graph);
    qdq_json *page = report_file_json(&file);
    bool all = opt->load.target && strcmp(opt->load.target, "all") == 0;
    if (page) html_findings_begin(page);
    if (code == EXIT_OK)
        code =
            all ? check_all(graph, path, opt, json, page) : check_one(graph, path, opt, json, page);
    if (page) html_findings_end(page);
    code = report_file_close(&file, code);
    qdq_graph_destroy(graph);
    return code;
}

static int check_graphs(const options *opt, qdq_json *json) {
    int code = EXIT_OK;
    for (size_t i = 0; i < opt->operands.count; i++) {
        const char *path = opt->operands.items[i];
        if (opt->json) qdq_json_begin_object(json);
        if (!opt->json && i > 0) printf("\n");
        int one = check_graph(path, opt, json);
        if (one > code) code = one;
        if (!opt->json) continue;
        if (json_failure(json)) json_string_key(json, "graph", path);
        qdq_json_end_object(json);
    }
    return code;
}

//---- SARIF ------------------------------------------------------------------

// Adds the findings of a target. `own`: only findings of the target's own rules, not the core's.
static int sarif_target(sarif *log, qdq_graph *graph, const char *path, const options *opt,
                        const char *target, bool own) {
    qdq_error err = {0};
    size_t errors = 0, warnings = 0;
    const qdq_report *report = qdq_graph_validate_on(graph, target, device_for(opt, target), &err);
    if (!report) return report_error(&err);
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        if (own && strcmp(f->target, target) != 0) continue;
        sarif_add(log, path, f);
        *(f->severity == QDQ_SEVERITY_ERROR ? &errors : &warnings) += 1;
    }
    unchecked_nodes nodes;
    bool listed = unchecked_find(graph, report, target, &nodes);
    // The nodes that core leaves unchecked are so for all targets.
    bool told = own && strcmp(target, "core") != 0 && !qdq_target_rewrites(target);
    for (size_t i = 0; listed && !told && i < nodes.count; i++)
        listed = sarif_leaves(log, path, qdq_graph_node(graph, nodes.items[i]).name, target);
    unchecked_release(&nodes);
    return listed ? exit_of(opt, errors, warnings) : no_memory();
}

static int sarif_graph(sarif *log, const char *path, const options *opt) {
    int code;
    qdq_graph *graph = load_graph(path, opt, &code);
    if (!graph) return code;
    bool all = opt->load.target && strcmp(opt->load.target, "all") == 0;
    if (!all) code = sarif_target(log, graph, path, opt, opt->load.target, false);
    for (size_t t = 0; all && t < qdq_target_count(); t++) {
        int one = sarif_target(log, graph, path, opt, qdq_target_get(t).name, true);
        if (one > code) code = one;
    }
    qdq_graph_destroy(graph);
    return code;
}

static int check_to_sarif(const options *opt) {
    sarif log;
    int code = EXIT_OK;
    if (opt->json) return tell_misuse("check", "--sarif and --json exclude each other");
    sarif_begin(&log);
    for (size_t i = 0; i < opt->operands.count; i++) {
        int one = sarif_graph(&log, opt->operands.items[i], opt);
        if (one > code) code = one;
    }
    sarif_end(&log, code <= EXIT_FINDINGS);
    return code;
}

int run_check(const options *opt) {
    const check_options *own = opt->own;
    qdq_json json;
    int code;
    bool many = opt->operands.count > 1;
    if (opt->html && (many || own->sarif))
        return tell_misuse("check", many ? "--html is the page of one graph, but there are several"
                                         : "--sarif and --html exclude each other");
    if (own->sarif) return check_to_sarif(opt);
    if (opt->json) json_begin(&json);
    if (opt->json && many) {
        qdq_json_key(&json, "graphs");
        qdq_json_begin_array(&json);
    }
    code = many ? check_graphs(opt, &json) : check_graph(opt->operands.items[0], opt, &json);
    if (opt->json && many) qdq_json_end_array(&json);
    if (opt->json) json_end(&json);
    return code;
}
