// SPDX-License-Identifier: Apache-2.0
// Finds the nodes that a pass replaces.
#include <string.h>

#include "graph/rewrite/rewrite.h"

//---- For patterns -----------------------------------------------------------

size_t qdq_rewrite_maker(const qdq_rewriter *r, uint32_t value) {
    const qdq_graph_value *v = &r->from->values[value];
    return value && v->kind == QDQ_VALUE_MADE ? v->node : SIZE_MAX;
}

size_t qdq_rewrite_reader_count(const qdq_rewriter *r, uint32_t value) {
    return r->first_reader[value + 1] - r->first_reader[value];
}

size_t qdq_rewrite_reader(const qdq_rewriter *r, uint32_t value, size_t i) {
    return r->readers[r->first_reader[value] + i];
}

size_t qdq_rewrite_only_reader(const qdq_rewriter *r, uint32_t value) {
    bool one = qdq_rewrite_reader_count(r, value) == 1 && !r->from->values[value].returned;
    return one ? qdq_rewrite_reader(r, value, 0) : SIZE_MAX;
}

bool qdq_rewrite_is(const qdq_rewriter *r, size_t node, const char *op) {
    return node != SIZE_MAX && strcmp(r->from->nodes[node].op->name, op) == 0;
}

static void add(const qdq_rewriter *r, qdq_id_list *list, size_t item) {
    uint32_t *items =
        qdq_mempool_grow(r->mempool, list->items, list->count, &list->capacity, sizeof *items);
    if (!items) return;
    list->items = items;
    items[list->count++] = (uint32_t)item;
}

void qdq_match_replaces(const qdq_rewriter *r, qdq_match *m, size_t node) {
    add(r, &m->nodes, node);
}

void qdq_match_reads(const qdq_rewriter *r, qdq_match *m, uint32_t value) {
    if (value) add(r, &m->reads, value);
}

void qdq_match_makes(const qdq_rewriter *r, qdq_match *m, uint32_t value) {
    add(r, &m->makes, value);
}

//---- The record -------------------------------------------------------------

bool qdq_rewrite_note(const qdq_rewriter *r, const qdq_match *m, const char *result,
                      const char *why) {
    qdq_rewrite_record *record = r->record;
    size_t count = why ? 1 : m->nodes.count;
    const char **names = qdq_mempool_array(&record->mempool, count, sizeof *names);
    qdq_rewrite_info *items = qdq_mempool_grow(&record->mempool, record->items, record->count,
                                               &record->capacity, sizeof *items);
    if (!names || !items) return false;
    for (size_t i = 0; i < count; i++)
        names[i] = qdq_mempool_strdup(&record->mempool, r->from->nodes[m->nodes.items[i]].name);
    record->items = items;
    items[record->count++] = (qdq_rewrite_info){
        .pass = m->pattern->pass,
        .group = m->name ? m->name : m->pattern->name,
        .node = names[0],
        .nodes = names,
        .node_count = count,
        .result = result ? qdq_mempool_strdup(&record->mempool, result) : NULL,
        .reason = why ? qdq_mempool_strdup(&record->mempool, why) : NULL,
        .cause = m->pattern->cause,
        .rule = r->asked ? m->rule : NULL,
    };
    return !record->mempool.failed;
}

// Reports the finding of a match.
static void report(const qdq_rewriter *r, const qdq_match *m) {
    const qdq_target *target = r->version->target;
    const char *rule = m->rule ? m->rule : m->pattern->rule;
    qdq_op_context ctx;
    if (!rule || !m->found || !r->findings) return;
    qdq_graph_context(r->from, &r->from->nodes[m->anchor], r->findings, &ctx);
    for (size_t i = 0; i < target->rule_count; i++)
        if (strcmp(target->rules[i].id, rule) == 0)
            qdq_report_target_violation(&ctx, &target->rules[i], m->port, m->found, NULL);
}

//---- Matching ---------------------------------------------------------------

// Sorts the ports of nodes by the value that they read.
static bool list_readers(qdq_rewriter *r) {
    const qdq_graph *graph = r->from;
    size_t *first = qdq_mempool_array(r->mempool, graph->value_count + 2, sizeof *first);
    size_t ports = 0;
    for (size_t i = 0; i < graph->node_count; i++) ports += graph->nodes[i].input_count;
    uint32_t *readers = qdq_mempool_array(r->mempool, ports, sizeof *readers);
    if (!first || !readers) return false;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++)
            first[graph->nodes[i].inputs[k].id + 2]++;
    for (size_t v = 2; v < graph->value_count + 2; v++) first[v] += first[v - 1];
    // first[v + 1] counts up from the first entry of v to that of v + 1.
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++)
            readers[first[graph->nodes[i].inputs[k].id + 1]++] = (uint32_t)i;
    r->first_reader = first, r->readers = readers;
    return true;
}

static bool overlaps(const qdq_rewriter *r, const qdq_match *m) {
    for (size_t i = 0; i < m->nodes.count; i++)
        if (r->matches[m->nodes.items[i]]) return true;
    return false;
}

static bool add_match(qdq_rewriter *r, const qdq_match *m) {
    qdq_match *kept = qdq_mempool_copy(r->mempool, m, 1, sizeof *m);
    if (!kept) return false;
    kept->made = qdq_mempool_array(r->mempool, m->makes.count, sizeof *kept->made);
    for (size_t i = 0; i < m->nodes.count; i++) r->matches[m->nodes.items[i]] = kept;
    return kept->made != NULL;
}

static bool applies(const qdq_rewriter *r, const qdq_pattern *p, const qdq_target_version *v) {
    bool listed = r->asked || v->target->patterns == r->table;
    return listed && (!p->applies || p->applies(v));
}

// Returns the version that decides about a pattern, if it applies there; else NULL.
static const qdq_target_version *version_for(const qdq_rewriter *r, const qdq_pattern *p) {
    const qdq_rewrite_choice *choice = r->choice;
    bool in_a = applies(r, p, choice->a), in_b = applies(r, p, choice->b), as_b = !p->cause && in_b;
    for (size_t i = 0; p->cause && i < choice->cause_count; i++)
        as_b |= strcmp(choice->causes[i], p->cause) == 0;
    if (as_b) return in_b ? choice->b : NULL;
    return in_a ? choice->a : NULL;
}

// Matches a node: the first pattern that fits takes it. If none does, the first reason is noted.
static bool match_node(qdq_rewriter *r, const qdq_pattern *patterns, size_t count, size_t node,
                       bool *any) {
    qdq_match refused = {0};
    for (size_t i = 0; i < count; i++) {
        qdq_match m = {.pattern = &patterns[i], .anchor = node};
        if (patterns[i].anchor && !qdq_rewrite_is(r, node, patterns[i].anchor)) continue;
        r->version = version_for(r, &patterns[i]);
        if (!r->version) continue;
        m.version = r->version;
        qdq_match_replaces(r, &m, node);
        bool matches = patterns[i].match(r, &m), fits = matches && !overlaps(r, &m);
        if (r->mempool->failed) return false;
        if (!matches) report(r, &m);
        if (fits) {
            *any = true;
            report(r, &m);
            return add_match(r, &m);
        }
        if (m.why && !refused.why) refused = m;
    }
    return !refused.why || qdq_rewrite_note(r, &refused, NULL, refused.why);
}

bool qdq_rewrite_match(qdq_rewriter *r, const qdq_pattern *patterns, size_t count, bool *any) {
    *any = false;
    if (!list_readers(r)) return false;
    for (size_t i = 0; i < r->from->node_count; i++)
        if (!r->matches[i] && !match_node(r, patterns, count, i, any)) return false;
    return true;
}
