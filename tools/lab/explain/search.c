// SPDX-License-Identifier: Apache-2.0
// Runs candidates, and notes those that reproduce all bits and the nearest.
#include "tools/lab/explain/search.h"

#include <stdio.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/lab/explain/number_formats.h"
#include "tools/options.h"

bool search_in_time(search *f) {
    if (f->opt->memory->exceeded) return false;
    if (now() < f->until) return true;
    f->e->stopped = true;
    return false;
}

//---- Candidates -------------------------------------------------------------

static bool explains(const search *f, const replay_left *left) {
    return left->first == 0 && left->all + f->e->differing <= f->e->total;
}

static int changes_of(const variant *v) { return v->changes ? v->changes : 1; }

// Copies the result of a node; NULL if memory runs out.
static void *copy_result(const search *f, size_t node, const void *data) {
    const qdq_tensor_info *info = &f->r->nodes[node].run.outputs[0].info;
    void *copy = elements_take(f->r->exec_options.allocator, info->bytes);
    if (copy) memcpy(copy, data, info->bytes);
    return copy;
}

// Adds a candidate behind those with as few changes, unless its cause was found at this node with
// another detail.
static void add_found(explanation *e, const candidate *c) {
    size_t at = e->found_count;
    for (size_t i = 0; i < e->found_count; i++)
        if (e->found[i].node == c->node && strcmp(e->found[i].cause, c->cause) == 0) return;
    while (at && e->found[at - 1].changes > c->changes) at--;
    if (at == MOST_CANDIDATES) return;
    if (e->found_count < MOST_CANDIDATES) e->found_count++;
    memmove(&e->found[at + 1], &e->found[at], (e->found_count - at - 1) * sizeof *e->found);
    e->found[at] = *c;
}

// Notes a candidate. True if it reproduces all bits with fewer changes than all before.
static bool note_candidate(search *f, size_t node, const variant *v, replay_left left) {
    explanation *e = f->e;
    candidate c = {.node = node, .left = left, .changes = changes_of(v)};
    snprintf(c.cause, sizeof c.cause, "%s", v->cause);
    snprintf(c.detail, sizeof c.detail, "%s", v->detail);
    if (!explains(f, &left)) {
        if (!*e->nearest.cause || left.first < e->nearest.left.first) e->nearest = c;
        return false;
    }
    add_found(e, &c);
    if (f->fewest && f->fewest <= c.changes) return false;
    f->fewest = c.changes;
    return true;
}

bool search_variant(search *f, size_t node, const variant *v) {
    qdq_error err = {0};
    replay *r = f->r;
    void **outputs = replay_outputs(r, node);
    if (!outputs) return false;
    f->e->tried++;
    if (f->fewest == 1) f->after++;
    replay_left left = {.first = f->e->differing, .all = f->e->total};
    if (variant_run(r, node, v, outputs, &err) != QDQ_OK) {
        replay_free_outputs(r, node, outputs);
        return false;
    }
    bool fewer = !f->fewest || changes_of(v) < f->fewest;
    void *result = fewer ? copy_result(f, node, outputs[0]) : NULL;
    qdq_status status = replay_change(r, node, outputs, NULL, f->e->first, &left, &err);
    bool changes = status == QDQ_OK && left.changes;
    if (changes && note_candidate(f, node, v, left)) {
        explanation_release(f->e);
        f->e->result = result;
    } else {
        elements_free(result);
    }
    return changes && explains(f, &left);
}

void search_together(search *f, size_t node, const variant *v, const replay_changer *others,
                     size_t as) {
    qdq_error err = {0};
    replay_left left = {.first = f->e->differing, .all = f->e->total};
    void **outputs = replay_outputs(f->r, node);
    if (!outputs) return;
    f->e->tried++;
    if (variant_run(f->r, node, v, outputs, &err) != QDQ_OK)
        replay_free_outputs(f->r, node, outputs);
    else if (replay_change(f->r, node, outputs, others, f->e->first, &left, &err) == QDQ_OK &&
             left.changes)
        (void)note_candidate(f, as, v, left);
}

// Tries the formats of a node. Several single fields may reproduce all bits, with different causes.
// Pairs of fields are tried only if no single field does.
void search_formats(search *f, size_t node) {
    format_text text;
    variant v;
    bool found = false;
    for (size_t i = 0; number_format(f->r, node, i, &text, &v); i++) {
        if (!*text.cause || (found && v.changes > 1)) continue;
        if (!search_in_time(f)) return;
        found |= search_variant(f, node, &v);
    }
}

//---- All nodes --------------------------------------------------------------

typedef struct everywhere {
    search *f;
    size_t format;
} everywhere;

static bool run_format(void *with, size_t node, void *const *outputs) {
    everywhere *w = with;
    format_text text;
    variant v;
    qdq_error err = {0};
    return number_format(w->f->r, node, w->format, &text, &v) && *text.cause &&
           variant_run(w->f->r, node, &v, outputs, &err) == QDQ_OK;
}

// Returns the index of the first suspect that the format may change; f->e->suspects if none.
static size_t first_with_format(const search *f, size_t format, format_text *text, variant *v) {
    size_t i = 0;
    while (i < f->e->suspects &&
           (!number_format(f->r, f->suspects[i], format, text, v) || !*text->cause))
        i++;
    return i;
}

static void try_format_everywhere(search *f, size_t format) {
    everywhere w = {f, format};
    const replay_changer others = {run_format, &w};
    format_text text;
    variant v;
    size_t first = first_with_format(f, format, &text, &v);
    if (first == f->e->suspects) return;
    search_together(f, f->suspects[first], &v, &others, SIZE_MAX);
}

void search_formats_everywhere(search *f) {
    for (size_t i = 0; i < number_format_count() && !f->fewest && search_in_time(f); i++)
        try_format_everywhere(f, i);
}
