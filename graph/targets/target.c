// SPDX-License-Identifier: Apache-2.0
// The list of targets, and the lookup of a target and its versions by name.
#include "graph/core/target.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "runtime/base/profile.h"
#include "runtime/base/words.h"

// X(description), FULL(description, name) of a target that the profile core lacks.
#define TARGETS(X, FULL)                  \
    X(qdq_target_core)                    \
    FULL(qdq_target_onnx, "onnx")         \
    FULL(qdq_target_ort, "ort")           \
    FULL(qdq_target_onednn, "onednn")     \
    FULL(qdq_target_tensorrt, "tensorrt") \
    FULL(qdq_target_tripy, "tripy")       \
    X(qdq_target_ttnn)                    \
    FULL(qdq_target_torchao, "torchao")   \
    FULL(qdq_target_tosa, "tosa")         \
    FULL(qdq_target_litert, "litert")     \
    FULL(qdq_target_tflm, "tflm")

#define DECLARE(description) extern const qdq_target description;
#define DECLARE_FULL(description, name) QDQ_FULL(DECLARE(description))
TARGETS(DECLARE, DECLARE_FULL)

#define ENTRY(description) &(description),
#define ENTRY_FULL(description, name) QDQ_FULL(ENTRY(description))
static const qdq_target *const targets[] = {TARGETS(ENTRY, ENTRY_FULL)};

#define NO_ENTRY(description)
#define NAME(description, name) QDQ_NOT_FULL(name, )
static const char *const lacked[] = {TARGETS(NO_ENTRY, NAME) NULL};

enum { TARGET_COUNT = sizeof targets / sizeof targets[0], MAX_VERSIONS = 64 };

//---- Finding one ------------------------------------------------------------

static void tell_unknown(qdq_error *err, const char *what, const char *name,
                         const char *const *known, size_t count) {
    char list[256] = "";
    for (size_t i = 0; i < count; i++) {
        if (i) strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, known[i], sizeof list - strlen(list) - 1);
    }
    const char *nearest = qdq_did_you_mean(name, known, count);
    qdq_fail(err, QDQ_ERR_ARGUMENT, "%s '%.64s' is unknown, wanted %s%s%s%s%s", what, name,
             count ? "one of: " : "none", list, nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "");
}

static qdq_target_version at_version(const qdq_target *target, const qdq_named_version *version) {
    return (qdq_target_version){.target = target,
                                .name = version->name,
                                .release = version->release,
                                .variant = version->variant};
}

// True if a version is a variant of the named release: "1.29-vnni" of "1.29".
static bool is_variant_of(const char *version, const char *release) {
    size_t length = strlen(release);
    return strncmp(version, release, length) == 0 && version[length] == '-';
}

// Returns the version of that name, or else the first variant of the release; NULL: there is none.
static const qdq_named_version *version_of(const qdq_target *target, const char *name) {
    const qdq_named_version *found = NULL;
    for (size_t i = target->version_count; i-- > 0;) {
        const qdq_named_version *version = &target->versions[i];
        if (strcmp(version->name, name) == 0) return version;
        if (is_variant_of(version->name, name)) found = version;
    }
    return found;
}

typedef struct version_names {
    char text[MAX_VERSIONS][24];
    const char *names[MAX_VERSIONS];
    size_t count;
} version_names;

// Adds a name, unless it is the last one already.
static void add_name(version_names *list, const char *name, size_t length) {
    const char *last = list->count ? list->names[list->count - 1] : "";
    if (strlen(last) == length && strncmp(last, name, length) == 0) return;
    char *text = list->text[list->count];
    snprintf(text, sizeof list->text[0], "%.*s", (int)length, name);
    list->names[list->count++] = text;
}

// Lists the variants of the release that `name` begins with; without one, the releases, and
// every version that belongs to no release.
static void list_versions(const qdq_target *target, const char *name, version_names *list) {
    char release[64];
    snprintf(release, sizeof release, "%.*s", (int)strcspn(name, "-"), name);
    bool known = version_of(target, release) != NULL;
    for (size_t i = 0; i < target->version_count; i++) {
        const char *version = target->versions[i].name;
        size_t length = strcspn(version, "-");
        snprintf(release, sizeof release, "%.*s", (int)length, version);
        bool named = strcmp(version_of(target, release)->name, release) == 0;
        if (known && strncmp(name, release, length) == 0 && name[length] == '-')
            add_name(list, version, strlen(version));
        else if (!known)
            add_name(list, version, named ? strlen(version) : length);
    }
}

// Finds the version of that name, or else the first variant of the release.
static bool find_version(const qdq_target *target, const char *name, qdq_target_version *out,
                         qdq_error *err) {
    const qdq_named_version *found = version_of(target, name);
    if (found) {
        *out = at_version(target, found);
        return true;
    }
    version_names list = {.count = 0};
    char what[64] = "version of target ";
    strncat(what, target->name, sizeof what - strlen(what) - 1);
    list_versions(target, name, &list);
    tell_unknown(err, what, name, list.names, list.count);
    return false;
}

static bool find_word(const qdq_target_option_info *option, const char *word, int *out,
                      qdq_error *err) {
    char what[64];
    size_t count = 0;
    for (; option->words[count]; count++) {
        if (strcmp(option->words[count], word) != 0) continue;
        *out = (int)count;
        return true;
    }
    snprintf(what, sizeof what, "option %s of a target", option->name);
    tell_unknown(err, what, word, option->words, count);
    return false;
}

// Sets the option that "NAME=WORD" names.
static bool set_option(qdq_target_version *version, const char *text, qdq_error *err) {
    const qdq_target *target = version->target;
    const char *names[QDQ_MAX_TARGET_OPTIONS] = {0};
    char name[64], what[64];
    size_t length = strcspn(text, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (size_t i = 0; i < target->option_count; i++) {
        names[i] = target->options[i].name;
        if (strcmp(names[i], name) == 0)
            return find_word(&target->options[i], text + length + (text[length] == '='),
                             &version->options[i], err);
    }
    snprintf(what, sizeof what, "option of target %s", target->name);
    tell_unknown(err, what, name, names, target->option_count);
    return false;
}

static bool set_options(qdq_target_version *version, const char *text, qdq_error *err) {
    while (*text == ':') {
        char option[128];
        size_t length = strcspn(++text, ":");
        snprintf(option, sizeof option, "%.*s", (int)length, text);
        if (!set_option(version, option, err)) return false;
        text += length;
    }
    return true;
}

// Returns the first version of the newest release.
static size_t default_index(const qdq_target *target) {
    size_t at = 0;
    for (size_t i = 1; i < target->version_count; i++)
        if (target->versions[i].release > target->versions[at].release) at = i;
    return at;
}

// True if only another profile of the build has a target with this name.
static bool is_lacked(const char *name, size_t length) {
    for (size_t i = 0; lacked[i]; i++)
        if (strlen(lacked[i]) == length && strncmp(lacked[i], name, length) == 0) return true;
    return false;
}

// Finds the target called "TARGET" or "TARGET@VERSION", with default options.
static bool find_target(const char *name, qdq_target_version *out, qdq_error *err) {
    const char *names[TARGET_COUNT];
    size_t length = strcspn(name, "@");
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        const qdq_target *target = targets[i];
        names[i] = target->name;
        if (strlen(target->name) != length || strncmp(target->name, name, length) != 0) continue;
        if (name[length] == '@') return find_version(target, name + length + 1, out, err);
        *out = (qdq_target_version){.target = target};
        if (target->version_count)
            *out = at_version(target, &target->versions[default_index(target)]);
        return true;
    }
    if (is_lacked(name, length))
        qdq_fail(err, QDQ_ERR_UNSUPPORTED, "this build of qdq has no target '%.*s': %s",
                 (int)length, name, QDQ_BUILD_WITH("-Dprofile=full"));
    else
        tell_unknown(err, "target", name, names, TARGET_COUNT);
    return false;
}

bool qdq_target_version_find(const char *name, qdq_target_version *out, qdq_error *err) {
    char own[128];
    size_t length = strcspn(name, ":");
    snprintf(own, sizeof own, "%.*s", (int)length, name);
    return find_target(length < sizeof own ? own : name, out, err) &&
           set_options(out, name + length, err);
}

const qdq_quantized_form *qdq_target_quantized_form(const char *target) {
    qdq_target_version version;
    if (!target || !qdq_target_version_find(target, &version, NULL)) return NULL;
    const qdq_quantized_form *form = &version.target->quantized;
    return form->ops ? form : NULL;
}

qdq_target_device qdq_target_device_of(const char *name) {
    qdq_target_version version = {0};
    if (!qdq_target_version_find(name, &version, NULL) || !version.target->device)
        return (qdq_target_device){0};
    return version.target->device(&version);
}

//---- For inspect.h ----------------------------------------------------------

size_t qdq_target_count(void) { return TARGET_COUNT; }

const qdq_target *qdq_target_at(size_t index) {
    return index < TARGET_COUNT ? targets[index] : NULL;
}

qdq_target_info qdq_target_get(size_t target) {
    if (target >= TARGET_COUNT) return (qdq_target_info){0};
    const qdq_target *t = targets[target];
    return (qdq_target_info){.name = t->name,
                             .summary = t->summary,
                             .rule_count = t->rule_count,
                             .release_count = t->version_count,
                             .default_release = default_index(t),
                             .option_count = t->option_count,
                             .evidence_count = qdq_evidence_count(t)};
}

qdq_target_option_info qdq_target_option_get(size_t target, size_t index) {
    if (target >= TARGET_COUNT || index >= targets[target]->option_count)
        return (qdq_target_option_info){0};
    return targets[target]->options[index];
}

const char *qdq_target_release(size_t target, size_t index) {
    if (target >= TARGET_COUNT || index >= targets[target]->version_count) return NULL;
    return targets[target]->versions[index].name;
}

const char *qdq_target_device_name(const char *target) {
    return target ? qdq_target_device_of(target).name : NULL;
}

bool qdq_target_rewrites(const char *target) {
    qdq_target_version version;
    return target && qdq_target_version_find(target, &version, NULL) && version.target->patterns;
}

// Returns the name of the release from which on a rule holds, or no longer holds.
static const char *release_name(const qdq_target *target, int number) {
    for (size_t i = 0; number && i < target->version_count; i++)
        if (target->versions[i].release >= number) return target->versions[i].name;
    return "";
}

qdq_rule_info qdq_target_rule(size_t target, size_t index) {
    if (target >= TARGET_COUNT || index >= targets[target]->rule_count) return (qdq_rule_info){0};
    const qdq_rule *rule = &targets[target]->rules[index];
    return (qdq_rule_info){.id = rule->id,
                           .target = targets[target]->name,
                           .severity = rule->severity,
                           .summary = rule->summary,
                           .hint = rule->hint,
                           .source = rule->source,
                           .since = release_name(targets[target], rule->since),
                           .until = release_name(targets[target], rule->until),
                           .versions = rule->versions ? rule->versions : ""};
}
