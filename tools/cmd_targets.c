// SPDX-License-Identifier: Apache-2.0
// qdq targets: prints the library's tables of targets: versions, options, evidence and rules.
#include <qdq/inspect.h>
#include <string.h>

#include "runtime/base/words.h"
#include "tools/check/bits.h"
#include "tools/check/evidence_json.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/options.h"
#include "tools/targets/op_bits.h"

static size_t find_target(const char *name) {
    size_t target = 0;
    while (target < qdq_target_count() && strcmp(qdq_target_get(target).name, name) != 0) target++;
    return target;
}

static int unknown_target(const char *name) {
    const char *names[64];
    char plain[64];
    size_t length = strcspn(name, "@:");
    snprintf(plain, sizeof plain, "%.*s", (int)(length < 63 ? length : 63), name);
    if (name[length] && find_target(plain) < qdq_target_count())
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "'%s' is a target at a version or with options, wanted its plain name, "
                            "which lists all of them: qdq targets %s",
                            name, plain);
    size_t count = qdq_target_count() < 64 ? qdq_target_count() : 64;
    for (size_t i = 0; i < count; i++) names[i] = qdq_target_get(i).name;
    return tell_unknown("target", name, names, count);
}

//---- Text -------------------------------------------------------------------

// Writes " (from 10.13, before 10.15)", " (wormhole blackhole)", or "" for a rule of all releases.
static void releases_text(const qdq_rule_info *rule, char *out, size_t capacity) {
    bool since = *rule->since != 0, until = *rule->until != 0;
    out[0] = 0;
    if (*rule->versions) snprintf(out, capacity, " (%s)", rule->versions);
    if (since || until)
        snprintf(out, capacity, " (%s%s%s%s%s)", since ? "from " : "", rule->since,
                 since && until ? ", " : "", until ? "before " : "", rule->until);
}

// Returns the variant in the name of a version, "-avx2", if the version before it in the list is
// another variant of the same release; else NULL.
static const char *next_variant(size_t target, size_t index) {
    const char *name = qdq_target_release(target, index);
    const char *before = index ? qdq_target_release(target, index - 1) : "";
    size_t length = strcspn(name, "-");
    return name[length] && strncmp(name, before, length) == 0 && before[length] == '-'
               ? name + length
               : NULL;
}

static void print_releases(size_t target) {
    qdq_target_info info = qdq_target_get(target);
    for (size_t i = 0; i < info.release_count; i++) {
        const char *variant = next_variant(target, i);
        printf("%s", i ? ", " : "Versions: ");
        if (variant)
            printf("%s", variant);
        else
            printf("%s@%s", info.name, qdq_target_release(target, i));
    }
    if (info.release_count)
        printf("; the plain name is %s@%s.\n", info.name,
               qdq_target_release(target, info.default_release));
}

static void print_options(size_t target) {
    size_t count = qdq_target_get(target).option_count;
    if (count) printf("\nOptions, behind the version as :NAME=VALUE, the default first:\n");
    for (size_t i = 0; i < count; i++) {
        qdq_target_option_info option = qdq_target_option_get(target, i);
        printf("  %s=", option.name);
        for (size_t k = 0; option.words[k]; k++) printf("%s%s", k ? "|" : "", option.words[k]);
        printf("  %s\n", option.summary);
    }
}

static void print_evidence(size_t target) {
    printf("\nHeld against:\n");
    for (size_t i = 0; i < qdq_target_get(target).evidence_count; i++) {
        qdq_evidence row = qdq_target_evidence(target, i);
        printf("  %-8s %-16s %s%s%s%s%s: %s", bits_word(row.bits), row.kind, row.versions,
               *row.versions ? ", " : "", row.what, *row.condition ? ", " : "", row.condition,
               row.against);
        if (*row.compared) printf("; %s (%s)", row.compared, row.date);
        printf("\n");
    }
}

// Writes "TARGET@RELEASE", or the name of a target without releases. False after the last.
static bool version_name(size_t target, size_t index, char *out, size_t capacity) {
    qdq_target_info info = qdq_target_get(target);
    const char *release = qdq_target_release(target, index);
    if (!release && (index > 0 || info.release_count)) return false;
    snprintf(out, capacity, "%s%s%s", info.name, release ? "@" : "", release ? release : "");
    return true;
}

static void print_op_bits(size_t target) {
    char name[64];
    printf("\nBits of the ops:\n");
    for (size_t i = 0; version_name(target, i, name, sizeof name); i++) {
        op_bits counts = op_bits_of(name);
        printf("  %-20s %zu exact, %zu exact on a condition, %zu read, %zu close, %zu unknown\n",
               name, counts.with[QDQ_BITS_EXACT], counts.exact_on_condition,
               counts.with[QDQ_BITS_READ], counts.with[QDQ_BITS_CLOSE],
               counts.with[QDQ_BITS_UNKNOWN]);
    }
}

static void print_rules(size_t target, bool markdown) {
    qdq_target_info info = qdq_target_get(target);
    if (markdown)
        printf("## %s\n\n%s.\n", info.name, info.summary);
    else
        printf("%s: %s\n", info.name, info.summary);
    if (markdown && info.release_count) printf("\n");
    print_releases(target);
    if (markdown) {
        printf("\n| rule | severity | condition | how to mend it | source |\n"
               "|---|---|---|---|---|\n");
    } else {
        print_options(target);
        print_evidence(target);
        print_op_bits(target);
        printf("\nRules:\n");
    }
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

//---- JSON -------------------------------------------------------------------

// Writes a key whose value is the list of words of a text.
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

// Writes the names of the versions in a list of a rule or of evidence, which has patterns.
static void json_versions(qdq_json *json, size_t target, const char *versions) {
    qdq_json_key(json, "versions");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_target_get(target).release_count; i++)
        if (qdq_has_pattern(versions, qdq_target_release(target, i)))
            qdq_json_string(json, qdq_target_release(target, i));
    qdq_json_end_array(json);
}

static void json_options(qdq_json *json, size_t target) {
    qdq_json_key(json, "options");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_target_get(target).option_count; i++) {
        qdq_target_option_info option = qdq_target_option_get(target, i);
        qdq_json_begin_object(json);
        json_string_key(json, "name", option.name);
        qdq_json_key(json, "values");
        qdq_json_begin_line(json);
        for (size_t k = 0; option.words[k]; k++) qdq_json_string(json, option.words[k]);
        qdq_json_end_array(json);
        json_string_key(json, "summary", option.summary);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

static void json_evidence_rows(qdq_json *json, size_t target) {
    qdq_json_key(json, "evidence");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_target_get(target).evidence_count; i++) {
        qdq_evidence row = qdq_target_evidence(target, i);
        qdq_json_begin_object(json);
        json_versions(json, target, row.versions);
        json_words(json, "ops", row.ops);
        json_string_key(json, "what", row.what);
        json_string_key(json, "condition", row.condition);
        json_string_key(json, "bits", bits_word(row.bits));
        json_evidence_keys(json, &row);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

static void json_op_bits(qdq_json *json, size_t target) {
    char name[64];
    qdq_json_key(json, "ops");
    qdq_json_begin_array(json);
    for (size_t i = 0; version_name(target, i, name, sizeof name); i++) {
        op_bits counts = op_bits_of(name);
        qdq_json_begin_object(json);
        json_string_key(json, "version", name);
        json_uint_key(json, "exact", counts.with[QDQ_BITS_EXACT]);
        json_uint_key(json, "exact_on_condition", counts.exact_on_condition);
        json_uint_key(json, "read", counts.with[QDQ_BITS_READ]);
        json_uint_key(json, "close", counts.with[QDQ_BITS_CLOSE]);
        json_uint_key(json, "unknown", counts.with[QDQ_BITS_UNKNOWN]);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

static void json_rules(qdq_json *json, size_t target) {
    qdq_target_info info = qdq_target_get(target);
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
        json_versions(json, target, rule.versions);
        qdq_json_end_object(json);
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
    json_options(json, target);
    json_evidence_rows(json, target);
    json_op_bits(json, target);
    json_rules(json, target);
    qdq_json_end_object(json);
}

//---- The command ------------------------------------------------------------

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
               "`qdq targets --markdown`.\n[targets.md](targets.md) says which backend each target "
               "computes as.\n\n");
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
