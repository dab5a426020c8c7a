// SPDX-License-Identifier: Apache-2.0
// A program that the build runs: fails if a table of a target names an op, a rule, a mend or a
// version that does not exist. A wrong name would match nothing, and its row would be ignored.
#include <stdio.h>
#include <string.h>

#include "graph/transform/mend/mend.h"
#include "runtime/base/words.h"
#include "runtime/tenstorrent/memory_failure.h"

typedef struct checker {
    const qdq_target *target;
    int wrong;
} checker;

typedef bool (*is_known)(const checker *c, const char *word);

static bool is_op(const checker *c, const char *word) {
    (void)c;
    return qdq_op_find(word) != NULL;
}

static bool is_version(const checker *c, const char *word) {
    for (size_t i = 0; i < c->target->version_count; i++)
        if (qdq_has_pattern(word, c->target->versions[i].name)) return true;
    return false;
}

static bool is_rule(const checker *c, const char *word) {
    for (const qdq_target *t = c->target; t; t = t->base)
        for (size_t i = 0; i < t->rule_count; i++)
            if (strcmp(t->rules[i].id, word) == 0) return true;
    return false;
}

// Checks each word of a list. NULL is an empty list.
static void check(checker *c, const char *row, const char *kind, const char *list, is_known known) {
    char word[64];
    for (const char *at = list ? list : ""; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        at += length;
        if (known(c, word)) continue;
        fprintf(stderr, "target %s, %s: '%s' is no %s\n", c->target->name, row, word, kind);
        c->wrong++;
    }
}

static bool has_mend(const char *name) {
    for (const qdq_pattern *p = qdq_mends; p->name; p++)
        if (strcmp(p->name, name) == 0) return true;
    return false;
}

static void check_patterns(checker *c, const qdq_pattern *patterns) {
    for (const qdq_pattern *p = patterns; p && p->pass; p++) {
        check(c, p->name, "op", p->anchor, is_op);
        check(c, p->name, "rule", p->rule, is_rule);
    }
}

static void check_target(checker *c) {
    const qdq_target *t = c->target;
    for (size_t i = 0; i < t->rule_count; i++) {
        check(c, t->rules[i].id, "op", t->rules[i].ops, is_op);
        check(c, t->rules[i].id, "version", t->rules[i].versions, is_version);
    }
    for (const qdq_mended_rules *m = t->mended; m && m->mend; m++) {
        check(c, m->mend, "rule", m->rules, is_rule);
        if (has_mend(m->mend)) continue;
        fprintf(stderr, "target %s: '%s' is no mend\n", t->name, m->mend);
        c->wrong++;
    }
    check(c, "quantized form", "op", t->quantized.ops, is_op);
    check(c, "quantized form", "op", t->quantized.moves, is_op);
    for (size_t kind = 0; t->device && kind < QDQ_FAILURE_KINDS; kind++)
        check(c, "memory rules", "rule", t->memory_rules[kind], is_rule);
    check_patterns(c, t->patterns);
    check_patterns(c, qdq_mends);
}

int main(void) {
    checker c = {.wrong = 0};
    for (size_t i = 0; i < qdq_target_count(); i++) {
        c.target = qdq_target_at(i);
        check_target(&c);
    }
    return c.wrong > 0;
}
