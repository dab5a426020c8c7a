// SPDX-License-Identifier: Apache-2.0
// Prints findings one by one, or grouped by rule.
#include "tools/findings.h"

#include <string.h>

#include "tools/check/evidence_json.h"
#include "tools/colour.h"
#include "tools/common.h"

const char *severity_text(qdq_severity severity) {
    return severity == QDQ_SEVERITY_ERROR ? "error" : "warning";
}

//---- Rules ------------------------------------------------------------------

enum { SHOWN_NAMES = 3, MOST_RULES = 512, MOST_ERRORS = 20 };

// The findings of one rule.
typedef struct rule_group {
    const qdq_finding *first;
    const char *names[SHOWN_NAMES];  // distinct nodes with such findings
    const char *last_name;
    size_t findings, nodes;
    bool has_values;  // some findings are about values, not nodes
} rule_group;

static rule_group *group_of(rule_group *groups, size_t *count, const qdq_finding *f) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(groups[i].first->rule, f->rule) == 0) return &groups[i];
    if (*count == MOST_RULES) return NULL;
    groups[*count] = (rule_group){.first = f, .last_name = ""};
    return &groups[(*count)++];
}

// Counts a finding in its group. Findings of one rule about one node are consecutive.
static void add_to_group(rule_group *group, const qdq_finding *f) {
    group->findings++;
    group->has_values |= !*f->op;
    if (strcmp(group->last_name, f->node) == 0) return;
    group->last_name = f->node;
    if (group->nodes < SHOWN_NAMES) group->names[group->nodes] = f->node;
    group->nodes++;
}

static void print_nodes(FILE *out, const rule_group *group) {
    if (group->findings == 1) return;
    fprintf(out, " (");
    if (group->findings != group->nodes)
        fprintf(out, "%zu times%s", group->findings, group->nodes ? " at " : "");
    if (group->nodes)
        fprintf(out, "%zu %s%s", group->nodes, group->has_values ? "value" : "node",
                group->nodes == 1 ? ": " : "s: ");
    for (size_t i = 0; i < group->nodes && i < SHOWN_NAMES; i++)
        fprintf(out, "%s'%s'", i ? ", " : "", group->names[i]);
    fprintf(out, "%s)", group->nodes > SHOWN_NAMES ? ", ..." : "");
}

//---- Lines ------------------------------------------------------------------

static bool is_told(const qdq_finding *f, const char *target) {
    size_t length = target ? strcspn(target, "@") : 0;
    return !target || (strlen(f->target) == length && strncmp(f->target, target, length) == 0);
}

static void print_severity(FILE *out, qdq_severity severity) {
    const char *text = severity_text(severity);
    colour_print(out, severity == QDQ_SEVERITY_ERROR ? COLOUR_RED : COLOUR_YELLOW, text,
                 strlen(text));
}

static void print_finding(FILE *out, const qdq_finding *f) {
    print_severity(out, f->severity);
    fprintf(out, ": %s [%s]", f->message, f->rule);
}

void print_finding_line(FILE *out, const char *line, size_t length) {
    static const qdq_severity severities[] = {QDQ_SEVERITY_ERROR, QDQ_SEVERITY_WARNING};
    for (size_t i = 0; i < 2; i++) {
        size_t word = strlen(severity_text(severities[i]));
        if (word >= length || strncmp(line, severity_text(severities[i]), word) != 0) continue;
        print_severity(out, severities[i]);
        line += word, length -= word;
        break;
    }
    fprintf(out, "%.*s", (int)length, line);
}

// True if the finding shares a line with others of its rule. A few errors are listed one by one,
// because each must be fixed.
static bool is_grouped(const qdq_report *report, const qdq_finding *f, listing how) {
    bool few = f->severity == QDQ_SEVERITY_ERROR && report->errors <= MOST_ERRORS;
    return how == LIST_RULES || (how == LIST_BRIEFLY && !few);
}

bool print_findings(FILE *out, const qdq_report *report, const char *target, listing how) {
    rule_group groups[MOST_RULES];
    size_t group_count = 0;
    bool folded = false;
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        if (!is_told(f, target) || !is_grouped(report, f, how)) continue;
        rule_group *group = group_of(groups, &group_count, f);
        if (group) add_to_group(group, f);
    }
    size_t next = 0;  // groups are sorted by their first findings
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        bool first = next < group_count && groups[next].first == f;
        if (!is_told(f, target) || (!first && is_grouped(report, f, how))) continue;
        print_finding(out, f);
        if (first) {
            print_nodes(out, &groups[next]);
            folded |= groups[next].findings > 1;
            next++;
        }
        fprintf(out, "\n");
    }
    if (report->errors + report->warnings > report->count)
        fprintf(out, "and %zu more\n", report->errors + report->warnings - report->count);
    return folded;
}

void json_finding(qdq_json *json, const char *target, const qdq_finding *f) {
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
    qdq_json_key(json, "evidence");
    json_evidence(json, qdq_finding_evidence(target, f));
    qdq_json_end_object(json);
}

const char *counts_text(size_t errors, size_t warnings, char out[64]) {
    snprintf(out, 64, "%zu error%s, %zu warning%s", errors, errors == 1 ? "" : "s", warnings,
             warnings == 1 ? "" : "s");
    return out;
}
