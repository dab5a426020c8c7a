// SPDX-License-Identifier: Apache-2.0
#include "tools/check/sarif.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/findings.h"

#define SCHEMA \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

static void text_key(qdq_json *json, const char *key, const char *text) {
    qdq_json_key(json, key);
    qdq_json_begin_object(json);
    json_string_key(json, "text", text);
    qdq_json_end_object(json);
}

//---- Rules ------------------------------------------------------------------

// Finds the rule of this id; all zero if no target has it.
static qdq_rule_info rule_of(const char *id) {
    for (size_t t = 0; t < qdq_target_count(); t++)
        for (size_t i = 0; i < qdq_target_get(t).rule_count; i++) {
            qdq_rule_info rule = qdq_target_rule(t, i);
            if (strcmp(rule.id, id) == 0) return rule;
        }
    return (qdq_rule_info){0};
}

static void note_rule(sarif *log, const char *id) {
    for (size_t i = 0; i < log->rule_count; i++)
        if (strcmp(log->rules[i].id, id) == 0) return;
    qdq_rule_info rule = rule_of(id);
    if (rule.id && log->rule_count < SARIF_MOST_RULES) log->rules[log->rule_count++] = rule;
}

static void json_rule(qdq_json *json, const qdq_rule_info *rule) {
    qdq_json_begin_object(json);
    json_string_key(json, "id", rule->id);
    text_key(json, "shortDescription", rule->summary);
    text_key(json, "help", rule->hint);
    qdq_json_key(json, "defaultConfiguration");
    qdq_json_begin_object(json);
    json_string_key(json, "level", severity_text(rule->severity));
    qdq_json_end_object(json);
    qdq_json_end_object(json);
}

//---- The log ----------------------------------------------------------------

void sarif_begin(sarif *log) {
    qdq_json *json = &log->json;
    log->rule_count = log->left_count = log->left_capacity = 0;
    log->left = NULL;
    json_open(json);
    qdq_json_begin_object(json);
    json_string_key(json, "$schema", SCHEMA);
    json_string_key(json, "version", "2.1.0");
    qdq_json_key(json, "runs");
    qdq_json_begin_array(json);
    qdq_json_begin_object(json);
    qdq_json_key(json, "results");
    qdq_json_begin_array(json);
}

// Writes a path as a relative or absolute URI reference (RFC 3986).
static void json_uri(qdq_json *json, const char *path) {
    static const char plain[] = "-._~/!$&'()*+,=@";
    char uri[3 * 4096 + 1];
    size_t n = 0;
    for (const char *c = path; *c && n + 4 < sizeof uri; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (letter || (*c >= '0' && *c <= '9') || strchr(plain, *c))
            uri[n++] = *c;
        else
            n += (size_t)snprintf(uri + n, 4, "%%%02X", (unsigned)(unsigned char)*c);
    }
    uri[n] = '\0';
    json_string_key(json, "uri", uri);
}

static void json_location(qdq_json *json, const char *path, const char *node) {
    qdq_json_begin_object(json);
    qdq_json_key(json, "physicalLocation");
    qdq_json_begin_object(json);
    qdq_json_key(json, "artifactLocation");
    qdq_json_begin_object(json);
    json_uri(json, path);
    qdq_json_end_object(json);
    qdq_json_end_object(json);
    if (*node) {
        qdq_json_key(json, "logicalLocations");
        qdq_json_begin_array(json);
        qdq_json_begin_object(json);
        json_string_key(json, "name", node);
        qdq_json_end_object(json);
        qdq_json_end_array(json);
    }
    qdq_json_end_object(json);
}

void sarif_add(sarif *log, const char *path, const qdq_finding *f) {
    qdq_json *json = &log->json;
    note_rule(log, f->rule);
    qdq_json_begin_object(json);
    json_string_key(json, "ruleId", f->rule);
    json_string_key(json, "level", severity_text(f->severity));
    text_key(json, "message", f->message);
    qdq_json_key(json, "locations");
    qdq_json_begin_array(json);
    json_location(json, path, f->node);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

//---- Unchecked nodes --------------------------------------------------------

struct sarif_left {
    char *text;  // owned: the sentence, and behind its end the node
    const char *path, *node;
};

bool sarif_leaves(sarif *log, const char *path, const char *node, const char *target) {
    if (log->left_count == log->left_capacity) {
        size_t capacity = 2 * log->left_capacity + 16;
        struct sarif_left *left = realloc(log->left, capacity * sizeof *left);
        if (!left) return false;
        log->left = left, log->left_capacity = capacity;
    }
    size_t length = strlen(node), most = 2 * length + strlen(target) + 128;
    char *text = malloc(most);
    if (!text) return false;
    int end = snprintf(text, most,
                       "node '%s' is not checked by every rule for %s, because of errors at other "
                       "nodes",
                       node, target);
    memcpy(text + end + 1, node, length + 1);
    log->left[log->left_count++] = (struct sarif_left){text, path, text + end + 1};
    return true;
}

static void json_left(sarif *log) {
    qdq_json *json = &log->json;
    qdq_json_key(json, "toolExecutionNotifications");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < log->left_count; i++) {
        qdq_json_begin_object(json);
        json_string_key(json, "level", "note");
        text_key(json, "message", log->left[i].text);
        qdq_json_key(json, "locations");
        qdq_json_begin_array(json);
        json_location(json, log->left[i].path, log->left[i].node);
        qdq_json_end_array(json);
        qdq_json_end_object(json);
        free(log->left[i].text);
    }
    qdq_json_end_array(json);
    free(log->left);
}

void sarif_end(sarif *log, bool fine) {
    qdq_json *json = &log->json;
    qdq_json_end_array(json);
    qdq_json_key(json, "invocations");
    qdq_json_begin_array(json);
    qdq_json_begin_object(json);
    qdq_json_key(json, "executionSuccessful");
    qdq_json_bool(json, fine);
    if (log->left_count) json_left(log);
    qdq_json_end_object(json);
    qdq_json_end_array(json);
    qdq_json_key(json, "tool");
    qdq_json_begin_object(json);
    qdq_json_key(json, "driver");
    qdq_json_begin_object(json);
    json_string_key(json, "name", "qdq");
    json_string_key(json, "version", qdq_version());
    qdq_json_key(json, "rules");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < log->rule_count; i++) json_rule(json, &log->rules[i]);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
    qdq_json_end_object(json);
    qdq_json_end_object(json);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
    printf("\n");
}
