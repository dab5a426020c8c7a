// SPDX-License-Identifier: Apache-2.0
#include "ops/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "include/qdq/inspect.h"
#include "ops/synonyms.h"
#include "runtime/base/number.h"
#include "runtime/base/shape_text.h"
#include "runtime/base/utf8.h"

#define ROW(E, of_id, of_severity, of_status, of_summary, of_hint) \
    [QDQ_RULE_##E] = {.id = "core/" of_id,                         \
                      .severity = QDQ_SEVERITY_##of_severity,      \
                      .status = QDQ_ERR_##of_status,               \
                      .summary = (of_summary),                     \
                      .hint = (of_hint),                           \
                      .source = "docs/format.md"},

const qdq_rule qdq_core_rules[QDQ_CORE_RULE_COUNT] = {QDQ_CORE_RULES(ROW)};

bool qdq_findings_have_room(const qdq_findings *findings) {
    return findings->errors < findings->most || findings->warnings < findings->most;
}

const char *qdq_text(qdq_findings *findings, const char *format, ...) {
    enum { CAPACITY = 2048 };
    if (!qdq_findings_have_room(findings)) return "";
    char text[CAPACITY], shown[CAPACITY];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *copy = qdq_mempool_strdup(findings->mempool,
                                          qdq_utf8_show(shown, sizeof shown, text, strlen(text)));
    return copy ? copy : "";
}

static const char *copied(qdq_findings *findings, const char *text) {
    return text ? qdq_text(findings, "%s", text) : "";
}

const char *qdq_text_number(qdq_findings *findings, double value, size_t index, bool is_float32) {
    char text[QDQ_NUMBER_BYTES];
    return qdq_text(findings, "has %s at index %zu", qdq_number_text(text, value, is_float32),
                    index);
}

const char *qdq_text_is(qdq_findings *findings, double value) {
    char text[QDQ_NUMBER_BYTES];
    return qdq_text(findings, "is %s", qdq_number_text(text, value, false));
}

const char *qdq_shape_text(qdq_findings *findings, qdq_shape shape) {
    char text[QDQ_SHAPE_TEXT_BYTES];
    return qdq_text(findings, "%s", qdq_write_shape(shape, text, sizeof text));
}

static const char *text_or_empty(const char *text) { return text ? text : ""; }

// Returns the hint of a rule, with the op in place of the word OP.
static const char *rule_hint(qdq_findings *f, const qdq_rule *rule, const char *op) {
    const char *word = strstr(rule->hint, "ops OP");
    if (!word || !op) return rule->hint;
    return qdq_text(f, "%.*sops %s%s", (int)(word - rule->hint), rule->hint, op, word + 6);
}

// Returns " (in the file: 'ORIGINAL')", where the file has another name; otherwise "".
static const char *original_note(qdq_findings *f, qdq_subject subject) {
    bool output = subject.kind && strcmp(subject.kind, "output") == 0;
    const char *original = subject.node;
    if (f->graph && subject.node)
        original = (output ? f->output_original : f->original)(f->graph, subject.node);
    if (original == subject.node) return "";
    return qdq_text(f, " (in the file: '%.300s')", original);
}

// "FILE: node 'N': OP: PORT FOUND, wanted WANTED; HINT" without empty parts.
static const char *sentence(qdq_findings *f, const qdq_finding *finding, qdq_subject subject) {
    const char *kind = subject.kind ? subject.kind : "node";
    bool named = *finding->node != '\0';
    return qdq_text(f, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", f->file, *f->file ? ": " : "",
                    named ? kind : "", named ? " '" : "", finding->node, named ? "'" : "",
                    named ? original_note(f, subject) : "", named ? ": " : "", finding->op,
                    *finding->op ? ": " : "", finding->port, *finding->port ? " " : "",
                    finding->found, *finding->wanted ? ", wanted " : "", finding->wanted,
                    *finding->hint ? "; " : "", finding->hint);
}

// `hint` NULL: the hint of the rule.
static void keep(qdq_findings *findings, const char *target, const qdq_rule *rule,
                 qdq_subject subject, const char *found, const char *wanted, const char *hint) {
    qdq_finding *items = qdq_mempool_grow(findings->mempool, findings->items, findings->count,
                                          &findings->capacity, sizeof *items);
    if (!items) return;
    findings->items = items;
    qdq_finding finding = {
        .rule = rule->id,
        .severity = rule->severity,
        .target = target,
        .node = copied(findings, subject.node),
        .op = copied(findings, subject.op),
        .port = copied(findings, subject.port),
        .found = text_or_empty(found),
        .wanted = text_or_empty(wanted),
        .hint = hint ? hint : rule_hint(findings, rule, subject.op),
        .source = rule->source,
    };
    finding.message = sentence(findings, &finding, subject);
    items[findings->count++] = finding;
}

static void limit_bits(qdq_findings *findings, const qdq_rule *rule, const char *node) {
    qdq_bits_limit *items =
        qdq_mempool_grow(findings->mempool, findings->bits_limits, findings->bits_limit_count,
                         &findings->bits_limit_capacity, sizeof *items);
    const char *name = items ? qdq_mempool_strdup(findings->mempool, node) : NULL;
    if (!name) return;
    findings->bits_limits = items;
    items[findings->bits_limit_count++] = (qdq_bits_limit){name, rule};
}

void qdq_report_add(qdq_findings *findings, const char *target, const qdq_rule *rule,
                    qdq_subject subject, const char *found, const char *wanted, const char *hint) {
    if (rule->bits && subject.node) limit_bits(findings, rule, subject.node);
    bool is_error = rule->severity == QDQ_SEVERITY_ERROR;
    size_t *number = is_error ? &findings->errors : &findings->warnings;
    if (is_error && *number == 0) findings->status = rule->status;
    if (*number < findings->most) keep(findings, target, rule, subject, found, wanted, hint);
    ++*number;
}

void qdq_report_core(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                     const char *found, const char *wanted) {
    qdq_report_add(findings, "core", &qdq_core_rules[rule], subject, found, wanted, NULL);
}

void qdq_report_near(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                     const char *found, const char *wanted, const char *nearest) {
    qdq_report_add(findings, "core", &qdq_core_rules[rule], subject, found, wanted,
                   nearest ? qdq_text(findings, "did you mean '%.255s'?", nearest) : NULL);
}

void qdq_find_unknown(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                      const char *found, const char *name, const char *const *known, size_t count) {
    const char *advice = qdq_word_without_counterpart(name);
    if (advice)
        qdq_report_add(findings, "core", &qdq_core_rules[rule], subject, found, NULL, advice);
    else
        qdq_report_near(findings, rule, subject, found, NULL, qdq_word_meant(name, known, count));
}
