// SPDX-License-Identifier: Apache-2.0
#include "tools/html/findings_json.h"

#include <stdlib.h>
#include <string.h>

#include "tools/check/evidence_json.h"
#include "tools/common.h"
#include "tools/findings.h"
#include "tools/html/bits_json.h"

enum { MOST_RULES = 512, WHOLE_SENTENCES = 20 };

typedef struct rule_list {
    const qdq_finding *first[MOST_RULES];
    size_t count;
    uint16_t *rule_of;  // [finding]: index in `first`; MOST_RULES: left out
} rule_list;

static uint16_t find_rule(rule_list *list, const qdq_finding *f) {
    uint16_t i = 0;
    while (i < list->count && strcmp(list->first[i]->rule, f->rule) != 0) i++;
    if (i == list->count && i < MOST_RULES) list->first[list->count++] = f;
    return i;
}

static void string_unless(qdq_json *json, const char *key, const char *text, const char *known) {
    if (strcmp(text, known) != 0) json_string_key(json, key, text);
}

// Writes a finding. The first WHOLE_SENTENCES findings of a rule have their sentences; texts equal
// to the rule's first finding are left out.
static void json_one(qdq_json *json, const qdq_finding *f, const qdq_finding *first,
                     size_t number) {
    qdq_json_begin_object(json);
    json_string_key(json, "node", f->node);
    string_unless(json, "op", f->op, first->op);
    string_unless(json, "port", f->port, first->port);
    string_unless(json, "found", f->found, first->found);
    string_unless(json, "wanted", f->wanted, first->wanted);
    if (number < WHOLE_SENTENCES) json_string_key(json, "message", f->message);
    qdq_json_end_object(json);
}

static void json_rule(qdq_json *json, const char *target, const qdq_report *report,
                      const rule_list *list, uint16_t rule) {
    const qdq_finding *first = list->first[rule];
    size_t number = 0;
    qdq_json_begin_object(json);
    json_string_key(json, "rule", first->rule);
    json_string_key(json, "severity", severity_text(first->severity));
    json_string_key(json, "target", first->target);
    json_string_key(json, "op", first->op);
    json_string_key(json, "port", first->port);
    json_string_key(json, "found", first->found);
    json_string_key(json, "wanted", first->wanted);
    json_string_key(json, "hint", first->hint);
    json_string_key(json, "source", first->source);
    qdq_json_key(json, "evidence");
    json_evidence(json, qdq_finding_evidence(target, first));
    qdq_json_key(json, "findings");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < report->count; i++)
        if (list->rule_of[i] == rule) json_one(json, &report->findings[i], first, number++);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

void html_findings_begin(qdq_json *json) {
    qdq_json_begin_object(json);
    qdq_json_key(json, "targets");
    qdq_json_begin_array(json);
}

void html_findings_end(qdq_json *json) {
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

bool html_findings_add(qdq_json *json, const char *target, const qdq_report *report, bool own) {
    rule_list list = {.rule_of = malloc((report->count + 1) * sizeof *list.rule_of)};
    if (!list.rule_of) return false;
    for (size_t i = 0; i < report->count; i++) {
        const qdq_finding *f = &report->findings[i];
        bool told = !own || strcmp(f->target, target) == 0;
        list.rule_of[i] = told ? find_rule(&list, f) : MOST_RULES;
    }
    qdq_json_begin_object(json);
    json_string_key(json, "name", target);
    json_uint_key(json, "errors", report->errors);  // including the core's
    json_uint_key(json, "warnings", report->warnings);
    bool written = report->errors || html_bits(json, report);
    qdq_json_key(json, "rules");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < list.count; i++) json_rule(json, target, report, &list, (uint16_t)i);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
    free(list.rule_of);
    return written;
}
