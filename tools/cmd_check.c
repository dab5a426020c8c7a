// SPDX-License-Identifier: Apache-2.0
// qdq check: all findings of a graph; with --target all a matrix of nodes and targets.
#include <stdlib.h>
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

static bool is_unknown_op(const qdq_finding *finding) {
    const char *slash = strchr(finding->rule, '/');
    return slash && strcmp(slash, "/op-unknown") == 0;
}

// What a target says of a node: the worst of its findings.
static const char *cell(const qdq_report *report, const char *node) {
    const char *text = "ok";
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        if (strcmp(f->node, node) != 0) continue;
        if (f->severity == QDQ_SEVERITY_ERROR) return "refused";
        if (is_unknown_op(f)) text = "unknown";
        if (strcmp(text, "ok") == 0) text = "warning";
    }
    return text;
}

// A row of the matrix: a node, or one that could not be read and is known by its findings only.
typedef struct matrix_row {
    char name[256];
    char op[64];
} matrix_row;

// What every target says of every node, as texts: cells[row * targets + target].
typedef struct matrix {
    matrix_row *rows;
    const char **cells;
    size_t count, targets, errors, warnings;
} matrix;

static void add_row(matrix *m, const char *name, const char *op) {
    snprintf(m->rows[m->count].name, sizeof m->rows[m->count].name, "%s", name);
    snprintf(m->rows[m->count].op, sizeof m->rows[m->count].op, "%s", op);
    m->count++;
}

static bool has_row(const matrix *m, const char *name) {
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->rows[i].name, name) == 0) return true;
    return false;
}

static bool start_matrix(qdq_graph *graph, matrix *m) {
    size_t nodes = qdq_graph_node_count(graph);
    const qdq_report *report = qdq_graph_validate(graph, "core", NULL);
    *m = (matrix){.targets = qdq_target_count()};
    m->rows = calloc(nodes + QDQ_MAX_FINDINGS, sizeof *m->rows);
    m->cells = calloc((nodes + QDQ_MAX_FINDINGS) * m->targets, sizeof *m->cells);
    if (!report || !m->rows || !m->cells) return false;
    for (size_t i = 0; i < nodes; i++)
        add_row(m, qdq_graph_node(graph, i).name, qdq_graph_node(graph, i).op);
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        if (*f->node && *f->op && !has_row(m, f->node)) add_row(m, f->node, f->op);
    }
    return true;
}

// Whether a finding is the target's own: those of the core are in every report, and told once.
static bool is_own(const qdq_finding *finding, size_t target) {
    return strcmp(finding->target, qdq_target_get(target).name) == 0;
}

// A report lives until the next validation: each is looked at before the next is made, and made
// again to tell its findings.
static int fill_matrix(qdq_graph *graph, matrix *m) {
    for (size_t t = 0; t < m->targets; t++) {
        qdq_error err = {0};
        const qdq_report *report = qdq_graph_validate(graph, qdq_target_get(t).name, &err);
        if (!report) return report_error(&err);
        for (size_t i = 0; i < report->count; i++) {
            if (!is_own(&report->findings[i], t)) continue;
            if (report->findings[i].severity == QDQ_SEVERITY_ERROR)
                m->errors++;
            else
                m->warnings++;
        }
        for (size_t i = 0; i < m->count; i++)
            m->cells[i * m->targets + t] = cell(report, m->rows[i].name);
    }
    return EXIT_OK;
}

static void print_matrix(qdq_graph *graph, const matrix *m) {
    printf("%-24s %-16s", "node", "op");
    for (size_t t = 0; t < m->targets; t++) printf(" %-9s", qdq_target_get(t).name);
    printf("\n");
    for (size_t i = 0; i < m->count; i++) {
        printf("%-24s %-16s", m->rows[i].name, m->rows[i].op);
        for (size_t t = 0; t < m->targets; t++) printf(" %-9s", m->cells[i * m->targets + t]);
        printf("\n");
    }
    for (size_t t = 0; t < m->targets; t++) {
        const qdq_report *report = qdq_graph_validate(graph, qdq_target_get(t).name, NULL);
        for (size_t i = 0; report && i < report->count; i++)
            if (is_own(&report->findings[i], t)) print_finding(stdout, &report->findings[i]);
    }
}

static void json_matrix(qdq_graph *graph, const options *opt, const matrix *m) {
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", opt->operands.items[0]);
    json_string_key(&json, "target", "all");
    json_uint_key(&json, "errors", m->errors);
    json_uint_key(&json, "warnings", m->warnings);
    qdq_json_key(&json, "nodes");
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < m->count; i++) {
        qdq_json_begin_object(&json);
        json_string_key(&json, "name", m->rows[i].name);
        json_string_key(&json, "op", m->rows[i].op);
        for (size_t t = 0; t < m->targets; t++)
            json_string_key(&json, qdq_target_get(t).name, m->cells[i * m->targets + t]);
        qdq_json_end_object(&json);
    }
    qdq_json_end_array(&json);
    qdq_json_key(&json, "findings");
    qdq_json_begin_array(&json);
    for (size_t t = 0; t < m->targets; t++) {
        const qdq_report *report = qdq_graph_validate(graph, qdq_target_get(t).name, NULL);
        for (size_t i = 0; report && i < report->count; i++)
            if (is_own(&report->findings[i], t)) json_finding(&json, &report->findings[i]);
    }
    qdq_json_end_array(&json);
    json_end(&json);
}

static int check_all(qdq_graph *graph, const options *opt) {
    matrix m;
    int code = EXIT_LIMIT;
    if (start_matrix(graph, &m))
        code = fill_matrix(graph, &m);
    else
        fprintf(stderr, "qdq: no memory for the matrix of nodes and targets\n");
    if (code == EXIT_OK) {
        if (opt->json)
            json_matrix(graph, opt, &m);
        else
            print_matrix(graph, &m);
        code = verdict(opt, m.errors, m.warnings);
    }
    free(m.rows);
    free(m.cells);
    return code;
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
