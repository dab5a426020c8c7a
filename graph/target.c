// SPDX-License-Identifier: Apache-2.0
// The targets there are.
#include "graph/target.h"

#include <string.h>

#include "include/qdq/inspect.h"

#define TARGETS(X)     \
    X(qdq_target_core) \
    X(qdq_target_onnx)

#define DECLARE(description) extern const qdq_target description;
TARGETS(DECLARE)

#define ENTRY(description) &(description),
static const qdq_target *const targets[] = {TARGETS(ENTRY)};

enum { TARGET_COUNT = sizeof targets / sizeof targets[0] };

const qdq_target *qdq_target_find(const char *name, qdq_error *err) {
    const char *names[TARGET_COUNT];
    char known[256] = "";
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        if (strcmp(targets[i]->name, name) == 0) return targets[i];
        names[i] = targets[i]->name;
        if (i) strncat(known, ", ", sizeof known - strlen(known) - 1);
        strncat(known, names[i], sizeof known - strlen(known) - 1);
    }
    const char *nearest = qdq_nearest(name, names, TARGET_COUNT);
    qdq_fail(err, QDQ_ERR_ARGUMENT, "target '%.64s' is unknown, wanted one of: %s%s%s%s", name,
             known, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return NULL;
}

//---- For inspect.h ----------------------------------------------------------

size_t qdq_target_count(void) { return TARGET_COUNT; }

qdq_target_info qdq_target_get(size_t target) {
    if (target >= TARGET_COUNT) return (qdq_target_info){0};
    return (qdq_target_info){targets[target]->name, targets[target]->summary,
                             targets[target]->rule_count};
}

qdq_rule_info qdq_target_rule(size_t target, size_t index) {
    if (target >= TARGET_COUNT || index >= targets[target]->rule_count) return (qdq_rule_info){0};
    const qdq_rule *rule = &targets[target]->rules[index];
    return (qdq_rule_info){rule->id,   targets[target]->name, rule->severity, rule->summary,
                           rule->hint, rule->source};
}
