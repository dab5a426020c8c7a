// SPDX-License-Identifier: Apache-2.0
// qdq check: all findings of a graph; with --target all a matrix of nodes and targets.
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"

static const char *severity_text(qdq_severity severity) {
    return severity == QDQ_SEVERITY_ERROR ? "error" : "warning";
}

static void json_finding(qdq_json *json, const qdq_finding *f) {
    qdq_json_begin_object(json);
    json_string_key(json, "rule", f->rule);
    json_string_key(json, "severity", severity_text(f->severity));
    json_string_key(json, "target", f->target);
    json_string_key(json, "node", f->node);
    json_string_key(json, "op", f->op);
    json_string_key(json, "port", f->port);
    json_string_key(json, "found", f->found);
    json_string_key(json, "wanted", f->wanted);
    json_string_key(json, "message", f->message);
    json_string_key(json, "hint", f->hint);
    json_string_key(json, "source", f->source);
    qdq_json_end_object(json);
}

static void print_json(const options *opt, const char *target, const qdq_report *report) {
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", opt->operands.items[0]);
    json_string_key(&json, "target", target);
    json_uint_key(&json, "errors", report->errors);
    json_uint_key(&json, "warnings", report->warnings);
    qdq_json_key(&json, "findings");
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < report->count; i++) json_finding(&json, &report->findings[i]);
    qdq_json_end_array(&json);
    json_end(&json);
}

static int verdict(const options *opt, size_t errors, size_t warnings) {
    return errors || (opt->strict && warnings) ? EXIT_FINDINGS : EXIT_OK;
}

static int check_one(qdq_graph *graph, const options *opt) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(graph, opt->target, &err);
    if (!report) return report_error(&err);
    const char *target = opt->target ? opt->target : qdq_graph_target(graph);
    if (opt->json) {
        print_json(opt, target, report);
    } else {
        print_findings(stdout, report);
        printf("%s for %s: %zu error%s, %zu warning%s\n", opt->operands.items[0], target,
               report->errors, report->errors == 1 ? "" : "s", report->warnings,
               report->warnings == 1 ? "" : "s");
    }
    return verdict(opt, report->errors, report->warnings);
}

// What a target says of a node: the worst of its findings.
static const char *cell(const qdq_report *report, const char *node) {
    const char *text = "ok";
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        if (strcmp(f->node, node) != 0) continue;
        if (f->severity == QDQ_SEVERITY_ERROR) return "refused";
        text = "warning";
    }
    return text;
}

static void print_row(const qdq_graph *graph, const char *node, const char *op,
                      const qdq_report *reports) {
    (void)graph;
    printf("%-24s %-16s", node, op);
    for (size_t t = 0; t < qdq_target_count(); t++) printf(" %-9s", cell(&reports[t], node));
    printf("\n");
}

static int check_all(qdq_graph *graph, const options *opt) {
    enum { MAX_TARGETS = 16 };
    qdq_report reports[MAX_TARGETS] = {{0}};
    size_t errors = 0, warnings = 0, count = qdq_target_count();
    printf("%-24s %-16s", "node", "op");
    for (size_t t = 0; t < count; t++) printf(" %-9s", qdq_target_get(t).name);
    printf("\n");
    for (size_t t = 0; t < count && t < MAX_TARGETS; t++) {
        qdq_error err = {0};
        const qdq_report *report = qdq_graph_validate(graph, qdq_target_get(t).name, &err);
        if (!report) return report_error(&err);
        reports[t] = *report;
        errors += report->errors;
        warnings += report->warnings;
    }
    for (size_t i = 0; i < qdq_graph_node_count(graph); i++) {
        qdq_node_info node = qdq_graph_node(graph, i);
        print_row(graph, node.name, node.op, reports);
    }
    for (size_t t = 0; t < count && t < MAX_TARGETS; t++) print_findings(stdout, &reports[t]);
    return verdict(opt, errors, warnings);
}

int run_check(const options *opt) {
    int code;
    qdq_graph *graph = load_graph(opt, &code);
    if (!graph) return code;
    bool all = opt->target && strcmp(opt->target, "all") == 0;
    code = all ? check_all(graph, opt) : check_one(graph, opt);
    qdq_graph_destroy(graph);
    return code;
}
