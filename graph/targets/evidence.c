// SPDX-License-Identifier: Apache-2.0
// Looks up the evidence for the numbers of a target.
#include "include/qdq/evidence.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/target.h"
#include "runtime/base/words.h"

size_t qdq_evidence_count(const qdq_target *target) {
    size_t count = 0;
    while (target->evidence[count].shown.kind) count++;
    return count;
}

qdq_evidence qdq_target_evidence(size_t target, size_t index) {
    const qdq_target *t = qdq_target_at(target);
    if (!t || index >= qdq_evidence_count(t)) return (qdq_evidence){0};
    return t->evidence[index].shown;
}

static bool is_about(const qdq_evidence *row, const qdq_target_version *version, const char *op) {
    return (!*row->ops || (op && qdq_has_word(row->ops, op))) &&
           (!*row->versions || !version->name || qdq_has_pattern(row->versions, version->name));
}

const qdq_evidence_row *qdq_evidence_row_at(const qdq_target_version *version, size_t index) {
    const qdq_target *t = version->target;
    for (size_t count; t && index >= (count = qdq_evidence_count(t)); t = t->base) index -= count;
    return t ? &t->evidence[index] : NULL;
}

size_t qdq_evidence_next(const qdq_target_version *version, const char *op, size_t from) {
    const qdq_evidence_row *row = qdq_evidence_row_at(version, from);
    while (row && !is_about(&row->shown, version, op)) row = qdq_evidence_row_at(version, ++from);
    return from;
}

qdq_evidence qdq_evidence_at(const char *target, const char *op, size_t index) {
    qdq_target_version version = {0};
    if (!target || !qdq_target_version_find(target, &version, NULL)) return (qdq_evidence){0};
    size_t at = qdq_evidence_next(&version, op, 0);
    while (index-- > 0 && qdq_evidence_row_at(&version, at))
        at = qdq_evidence_next(&version, op, at + 1);
    const qdq_evidence_row *row = qdq_evidence_row_at(&version, at);
    return row ? row->shown : (qdq_evidence){0};
}

qdq_evidence qdq_evidence_of(const char *target, const char *op) {
    return qdq_evidence_at(target, op, 0);
}

qdq_evidence qdq_finding_evidence(const char *target, const qdq_finding *finding) {
    qdq_target_version version = {0};
    char name[128];
    if (!target || !finding || !qdq_target_version_find(target, &version, NULL))
        return (qdq_evidence){0};
    if (strcmp(version.target->name, finding->target) == 0)
        return qdq_evidence_of(target, finding->op);
    snprintf(name, sizeof name, "%s@%s", finding->target, version.name ? version.name : "");
    qdq_evidence row = qdq_evidence_of(name, finding->op);
    return row.kind ? row : qdq_evidence_of(finding->target, finding->op);
}
