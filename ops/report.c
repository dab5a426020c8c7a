// SPDX-License-Identifier: Apache-2.0
#include "ops/report.h"

#include <stdarg.h>
#include <stdio.h>

#define ROW(E, id, severity, status, summary, hint) \
    [QDQ_RULE_##E] = {"core/" id, QDQ_SEVERITY_##severity, QDQ_ERR_##status, summary, hint,  \
                      "docs/format.md"},

const qdq_rule qdq_core_rules[QDQ_CORE_RULE_COUNT] = {QDQ_CORE_RULES(ROW)};

const char *qdq_text(qdq_findings *findings, const char *format, ...) {
    if (findings->count >= QDQ_MAX_FINDINGS) return "";
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *copy = qdq_pool_strdup(findings->pool, text);
    return copy ? copy : "";
}

static const char *text_or_empty(const char *text) { return text ? text : ""; }

static const char *sentence(qdq_findings *f, const qdq_finding *finding) {
    const char *separator = *finding->port || *finding->found ? " " : "";
    if (!*finding->port) separator = "";
    return qdq_text(f, "%s%s%s%.255s%s%s%s%s%s%s%s%s%s%s", f->file, *f->file ? ": " : "",
                    *finding->node ? "node '" : "", finding->node, *finding->node ? "': " : "",
                    finding->op, *finding->op ? ": " : "", finding->port, separator,
                    finding->found, *finding->wanted ? ", wanted " : "", finding->wanted,
                    *finding->hint ? "; " : "", finding->hint);
}

void qdq_find(qdq_findings *findings, const char *target, const qdq_rule *rule,
              qdq_subject subject, const char *found, const char *wanted, const char *hint) {
    if (rule->severity == QDQ_SEVERITY_ERROR) {
        if (findings->errors++ == 0) findings->status = rule->status;
    } else {
        findings->warnings++;
    }
    if (findings->count >= QDQ_MAX_FINDINGS) return;
    qdq_finding *items = qdq_pool_grow(findings->pool, findings->items, findings->count,
                                       &findings->capacity, sizeof *items);
    if (!items) return;
    findings->items = items;
    qdq_finding finding = {
        .rule = rule->id,
        .severity = rule->severity,
        .target = target,
        .node = text_or_empty(subject.node),
        .op = text_or_empty(subject.op),
        .port = text_or_empty(subject.port),
        .found = text_or_empty(found),
        .wanted = text_or_empty(wanted),
        .hint = hint ? hint : rule->hint,
        .source = rule->source,
    };
    finding.message = sentence(findings, &finding);
    items[findings->count++] = finding;
}

void qdq_find_core(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                   const char *found, const char *wanted) {
    qdq_find(findings, "core", &qdq_core_rules[rule], subject, found, wanted, NULL);
}

void qdq_find_near(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                   const char *found, const char *wanted, const char *nearest) {
    qdq_find(findings, "core", &qdq_core_rules[rule], subject, found, wanted,
             nearest ? qdq_text(findings, "did you mean '%.255s'?", nearest) : NULL);
}
