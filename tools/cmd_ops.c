// SPDX-License-Identifier: Apache-2.0
// qdq ops, qdq targets: print the library's tables of ops, dtypes, targets and rules.
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/schema/schema.h"

//---- Texts ------------------------------------------------------------------

static const char *dtypes_text(uint64_t set, char *out, size_t capacity) {
    size_t at = 0;
    out[0] = '\0';
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++)
        if (set >> d & 1 && at < capacity)
            at += (size_t)snprintf(out + at, capacity - at, "%s%s", at ? ", " : "",
                                   qdq_dtype_name((qdq_dtype)d));
    return out;
}

static const char *type_text(const qdq_attr_info *attr, char *out, size_t capacity) {
    if (!attr->words) return attr->type;
    size_t at = 0;
    for (size_t i = 0; attr->words[i] && at < capacity; i++)
        at += (size_t)snprintf(out + at, capacity - at, "%s%s", i ? " or " : "", attr->words[i]);
    return out;
}

static size_t find_op(const char *name) {
    size_t op = 0;
    while (op < qdq_op_count() && strcmp(qdq_op_get(op).name, name) != 0) op++;
    return op;
}

static size_t find_target(const char *name) {
    size_t target = 0;
    while (target < qdq_target_count() && strcmp(qdq_target_get(target).name, name) != 0) target++;
    return target;
}

static int unknown(const char *what, const char *name, const char *see, const char *nearest) {
    if (nearest)
        return tell_failure(QDQ_ERR_ARGUMENT, "there is no %s '%s'; did you mean '%s'?", what, name,
                            nearest);
    return tell_failure(QDQ_ERR_ARGUMENT, "there is no %s '%s'; see `qdq %s`", what, name, see);
}

static int unknown_target(const char *name) {
    const char *names[64];
    size_t count = qdq_target_count() < 64 ? qdq_target_count() : 64;
    for (size_t i = 0; i < count; i++) names[i] = qdq_target_get(i).name;
    return unknown("target", name, "targets", qdq_did_you_mean(name, names, count));
}

//---- Ops --------------------------------------------------------------------

static void print_port(const char *kind, const qdq_port_info *port, bool markdown) {
    char dtypes[512];
    const char *count = port->variadic ? "one or more" : port->optional ? "optional" : "";
    dtypes_text(port->dtypes, dtypes, sizeof dtypes);
    if (markdown)
        printf("| %s | `%s` | %s | %s |  |\n", kind, port->name, dtypes, count);
    else
        printf("  %-6s %-15s %s%s%s%s\n", kind, port->name, dtypes, *count ? " (" : "", count,
               *count ? ")" : "");
}

static void print_attr(const qdq_attr_info *attr, bool markdown) {
    char type[256];
    const char *text = type_text(attr, type, sizeof type);
    if (markdown)
        printf("| attr | `%s` | %s | %s | %s |\n", attr->name, text, attr->default_text,
               attr->summary);
    else
        printf("  attr   %-15s %s%s%s\n         %-15s %s\n", attr->name, text,
               attr->required        ? ", "
               : *attr->default_text ? ", default "
                                     : "",
               attr->default_text, "", attr->summary);
}

static void print_op(size_t op, bool markdown) {
    qdq_op_info info = qdq_op_get(op);
    if (markdown)
        printf("## %s\n\n%s.\n\n| | name | type | default | |\n|---|---|---|---|---|\n", info.name,
               info.summary);
    else
        printf("%s: %s\n", info.name, info.summary);
    for (size_t i = 0; i < info.input_count; i++) {
        qdq_port_info port = qdq_op_input(op, i);
        print_port("input", &port, markdown);
    }
    for (size_t i = 0; i < info.output_count; i++) {
        qdq_port_info port = qdq_op_output(op, i);
        print_port("output", &port, markdown);
    }
    for (size_t i = 0; i < info.attr_count; i++) {
        qdq_attr_info attr = qdq_op_attr(op, i);
        print_attr(&attr, markdown);
    }
}

static void json_port(qdq_json *json, const qdq_port_info *port) {
    qdq_json_begin_object(json);
    json_string_key(json, "name", port->name);
    qdq_json_key(json, "optional");
    qdq_json_bool(json, port->optional);
    qdq_json_key(json, "variadic");
    qdq_json_bool(json, port->variadic);
    qdq_json_key(json, "dtypes");
    qdq_json_begin_line(json);
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++)
        if (port->dtypes >> d & 1) qdq_json_string(json, qdq_dtype_name((qdq_dtype)d));
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

static void json_op(qdq_json *json, size_t op) {
    qdq_op_info info = qdq_op_get(op);
    char type[256];
    qdq_json_begin_object(json);
    json_string_key(json, "name", info.name);
    json_string_key(json, "summary", info.summary);
    qdq_json_key(json, "inputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.input_count; i++) {
        qdq_port_info port = qdq_op_input(op, i);
        json_port(json, &port);
    }
    qdq_json_end_array(json);
    qdq_json_key(json, "outputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.output_count; i++) {
        qdq_port_info port = qdq_op_output(op, i);
        json_port(json, &port);
    }
    qdq_json_end_array(json);
    qdq_json_key(json, "attrs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.attr_count; i++) {
        qdq_attr_info attr = qdq_op_attr(op, i);
        qdq_json_begin_object(json);
        json_string_key(json, "name", attr.name);
        json_string_key(json, "type", type_text(&attr, type, sizeof type));
        json_string_key(json, "default", attr.required ? "" : attr.default_text);
        qdq_json_key(json, "required");
        qdq_json_bool(json, attr.required);
        json_string_key(json, "summary", attr.summary);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

// In full: `greatest` of uint64 is what an int64_t holds.
static unsigned long long greatest_of(const qdq_dtype_info *info) {
    bool is_uint64 = info->bits == 64 && info->least == 0;
    return is_uint64 ? UINT64_MAX : (unsigned long long)info->greatest;
}

static void print_dtypes(void) {
    printf("%-16s %5s  %-6s %20s %20s  %-12s %s\n", "dtype", "bits", "kind", "least", "greatest",
           "safetensors", "npy");
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const qdq_dtype_info *info = qdq_dtype_get((qdq_dtype)d);
        bool whole = !qdq_dtype_is_real((qdq_dtype)d);
        printf("%-16s %5d  %-6s", info->name, info->bits, whole ? "int" : "float");
        if (whole)
            printf(" %20lld %20llu", (long long)info->least, greatest_of(info));
        else
            printf(" %20s %20s", "", "");
        printf("  %-12s %s\n", info->safetensors, *info->npy ? info->npy : "(as <f4)");
    }
}

static void json_dtypes(void) {
    qdq_json json;
    json_begin(&json);
    qdq_json_key(&json, "dtypes");
    qdq_json_begin_array(&json);
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const qdq_dtype_info *info = qdq_dtype_get((qdq_dtype)d);
        qdq_json_begin_object(&json);
        json_string_key(&json, "name", info->name);
        json_uint_key(&json, "bits", (size_t)info->bits);
        json_string_key(&json, "safetensors", info->safetensors);
        json_string_key(&json, "npy", info->npy);
        qdq_json_end_object(&json);
    }
    qdq_json_end_array(&json);
    json_end(&json);
}

int run_ops(const options *opt) {
    size_t first = 0, end = qdq_op_count();
    if (opt->dtypes) {
        if (opt->json)
            json_dtypes();
        else
            print_dtypes();
        return EXIT_OK;
    }
    if (opt->schema) {
        print_schema();
        return EXIT_OK;
    }
    if (opt->operands.count) {
        first = find_op(opt->operands.items[0]);
        if (first == end)
            return unknown("op", opt->operands.items[0], "ops",
                           qdq_op_meant(opt->operands.items[0]));
        end = first + 1;
    }
    if (opt->json) {
        qdq_json json;
        json_begin(&json);
        qdq_json_key(&json, "ops");
        qdq_json_begin_array(&json);
        for (size_t op = first; op < end; op++) json_op(&json, op);
        qdq_json_end_array(&json);
        json_end(&json);
        return EXIT_OK;
    }
    if (opt->markdown)
        printf("# Ops\n\nEvery op with its ports, dtypes and attributes, printed by `qdq ops "
               "--markdown`. The "
               "formulas are in\n[ops_quantizing.md](ops_quantizing.md) and "
               "[ops_neural_network.md](ops_neural_network.md).\n\n");
    for (size_t op = first; op < end; op++) {
        if (opt->operands.count || opt->markdown)
            print_op(op, opt->markdown);
        else
            printf("%-16s %s\n", qdq_op_get(op).name, qdq_op_get(op).summary);
        if (opt->markdown && op + 1 < end) printf("\n");
    }
    return EXIT_OK;
}

//---- Targets ----------------------------------------------------------------

static const char *severity_text(qdq_severity severity) {
    return severity == QDQ_SEVERITY_ERROR ? "error" : "warning";
}

// " (from 10.13, before 10.15)", " (wormhole blackhole)", or "" for a rule of all releases.
static void releases_text(const qdq_rule_info *rule, char *out, size_t capacity) {
    bool since = *rule->since != 0, until = *rule->until != 0;
    out[0] = 0;
    if (*rule->versions) snprintf(out, capacity, " (%s)", rule->versions);
    if (since || until)
        snprintf(out, capacity, " (%s%s%s%s%s)", since ? "from " : "", rule->since,
                 since && until ? ", " : "", until ? "before " : "", rule->until);
}

static void print_releases(size_t target) {
    qdq_target_info info = qdq_target_get(target);
    for (size_t i = 0; i < info.release_count; i++)
        printf("%s%s@%s", i ? ", " : "Versions: ", info.name, qdq_target_release(target, i));
    if (info.release_count)
        printf("; the plain name is %s@%s.\n", info.name,
               qdq_target_release(target, info.default_release));
}

static void print_rules(size_t target, bool markdown) {
    qdq_target_info info = qdq_target_get(target);
    if (markdown)
        printf("## %s\n\n%s.\n", info.name, info.summary);
    else
        printf("%s: %s\n", info.name, info.summary);
    if (markdown && info.release_count) printf("\n");
    print_releases(target);
    if (markdown)
        printf("\n| rule | severity | what holds | how to mend it | source |\n"
               "|---|---|---|---|---|\n");
    for (size_t i = 0; i < info.rule_count; i++) {
        qdq_rule_info rule = qdq_target_rule(target, i);
        char releases[128];
        releases_text(&rule, releases, sizeof releases);
        if (markdown)
            printf("| `%s` | %s | %s%s | %s | %s |\n", rule.id, severity_text(rule.severity),
                   rule.summary, releases, rule.hint, rule.source);
        else
            printf("  %-24s %-8s %s%s\n", rule.id, severity_text(rule.severity), rule.summary,
                   releases);
    }
}

// A key whose value is a list of the words of a text.
static void json_words(qdq_json *json, const char *key, const char *words) {
    qdq_json_key(json, key);
    qdq_json_begin_array(json);
    while (*words) {
        char word[64];
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        qdq_json_string(json, word);
        words += length;
        words += strspn(words, " ");
    }
    qdq_json_end_array(json);
}

static void json_target(qdq_json *json, size_t target) {
    qdq_target_info info = qdq_target_get(target);
    qdq_json_begin_object(json);
    json_string_key(json, "name", info.name);
    json_string_key(json, "summary", info.summary);
    qdq_json_key(json, "releases");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.release_count; i++)
        qdq_json_string(json, qdq_target_release(target, i));
    qdq_json_end_array(json);
    qdq_json_key(json, "rules");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < info.rule_count; i++) {
        qdq_rule_info rule = qdq_target_rule(target, i);
        qdq_json_begin_object(json);
        json_string_key(json, "id", rule.id);
        json_string_key(json, "severity", severity_text(rule.severity));
        json_string_key(json, "summary", rule.summary);
        json_string_key(json, "hint", rule.hint);
        json_string_key(json, "source", rule.source);
        json_string_key(json, "since", rule.since);
        json_string_key(json, "until", rule.until);
        json_words(json, "versions", rule.versions);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

int run_targets(const options *opt) {
    size_t first = 0, end = qdq_target_count();
    if (opt->operands.count) {
        first = find_target(opt->operands.items[0]);
        if (first == end) return unknown_target(opt->operands.items[0]);
        end = first + 1;
    }
    if (opt->json) {
        qdq_json json;
        json_begin(&json);
        qdq_json_key(&json, "targets");
        qdq_json_begin_array(&json);
        for (size_t t = first; t < end; t++) json_target(&json, t);
        qdq_json_end_array(&json);
        json_end(&json);
        return EXIT_OK;
    }
    if (opt->markdown)
        printf("# Rules\n\nEvery rule that `qdq check` applies, target by target, printed by "
               "`qdq targets --markdown`.\n[targets.md](targets.md) says what each target stands "
               "for.\n\n");
    for (size_t t = first; t < end; t++) {
        qdq_target_info info = qdq_target_get(t);
        if (opt->operands.count || opt->markdown)
            print_rules(t, opt->markdown);
        else
            printf("%-12s %3zu rules  %s\n", info.name, info.rule_count, info.summary);
        if (opt->markdown && t + 1 < end) printf("\n");
    }
    return EXIT_OK;
}
