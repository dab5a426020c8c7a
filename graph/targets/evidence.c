// SPDX-License-Identifier: Apache-2.0
// Looks up the evidence for the numbers of a target.
#include "include/qdq/evidence.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/target.h"
#include "runtime/base/words.h"

qdq_evidence qdq_target_evidence(size_t target, size_t index) {
    const qdq_target *t = qdq_target_at(target);
    if (!t || index >= t->evidence_count) return (qdq_evidence){0};
    return t->evidence[index];
}

static bool is_about_version(const qdq_evidence *row, const qdq_target_version *version) {
    return !*row->versions || !version->name || qdq_has_word(row->versions, version->name);
}

static qdq_evidence evidence_at(const qdq_target_version *version, const char *op) {
    const qdq_target *t = version->target;
    for (size_t i = 0; i < t->evidence_count; i++) {
        const qdq_evidence *row = &t->evidence[i];
        bool is_about_op = !*row->ops || (op && qdq_has_word(row->ops, op));
        if (is_about_op && is_about_version(row, version)) return *row;
    }
    return (qdq_evidence){0};
}

qdq_evidence qdq_evidence_of(const char *target, const char *op) {
    qdq_target_version version = {0};
    if (!target || !qdq_target_version_find(target, &version, NULL)) return (qdq_evidence){0};
    return evidence_at(&version, op);
}

qdq_evidence qdq_finding_evidence(const char *target, const qdq_finding *finding) {
    qdq_target_version version = {0};
    char name[128];
    if (!target || !finding || !qdq_target_version_find(target, &version, NULL))
        return (qdq_evidence){0};
    if (strcmp(version.target->name, finding->target) == 0)
        return evidence_at(&version, finding->op);
    snprintf(name, sizeof name, "%s@%s", finding->target, version.name ? version.name : "");
    qdq_evidence row = qdq_evidence_of(name, finding->op);
    return row.kind ? row : qdq_evidence_of(finding->target, finding->op);
}
