// SPDX-License-Identifier: Apache-2.0
// Checks a graph for a target and mends its errors, mend by mend, until nothing changes.
#include "graph/transform/mend/mend.h"

#include <string.h>

#include "graph/compile/validate.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/words.h"

enum {
    MOST_ROUNDS = 8,         // one mend may make room for another; no chain of mends is longer
    MOST_FINDINGS = 100000,  // looked at in each check; reports keep fewer
};

bool qdq_mend_is_asked(const qdq_rewriter *r, qdq_match *m, size_t node) {
    if (!r->asked[node]) return false;
    if (!m->rule) m->rule = r->asked[node];
    return true;
}

// True if a mend answers a rule of the target.
static bool answers(const qdq_target *target, const char *mend, const char *rule) {
    for (const qdq_mended_rules *row = target->mended; row && row->mend; row++)
        if (strcmp(row->mend, mend) == 0 && qdq_has_word(row->rules, rule)) return true;
    return false;
}

// Returns the index of the node that a finding is about, looked for from `from` on, as findings
// come in the order of nodes; SIZE_MAX: there is none.
static size_t node_of(const qdq_graph *graph, const qdq_finding *finding, size_t from) {
    for (size_t n = 0; n < graph->node_count; n++) {
        size_t i = (from + n) % graph->node_count;
        if (strcmp(graph->nodes[i].name, finding->node) == 0) return i;
    }
    return SIZE_MAX;
}

// True if this mend changed this node already, and did not help.
static bool was_tried(const qdq_rewrite_record *record, const qdq_pattern *mend, const char *node) {
    for (size_t i = 0; i < record->count; i++)
        if (record->items[i].group == mend->name && strcmp(record->items[i].node, node) == 0)
            return true;
    return false;
}

// Returns, for each node, the rule with an error about it that has a mend. NULL if memory runs out.
static const char **asked_of(const qdq_rewriting *w, const qdq_graph *graph,
                             const qdq_pattern *mend, qdq_mempool *mempool, bool *any) {
    const qdq_report *report = &graph->report;
    const char **asked = qdq_mempool_array(mempool, graph->node_count + 1, sizeof *asked);
    size_t at = 0;
    *any = false;
    for (size_t i = 0; asked && i < report->count; i++) {
        const qdq_finding *finding = &report->findings[i];
        if (finding->severity != QDQ_SEVERITY_ERROR ||
            !answers(w->choice->a->target, mend->name, finding->rule))
            continue;
        size_t node = node_of(graph, finding, at);
        if (node == SIZE_MAX || was_tried(&w->record, mend, finding->node)) continue;
        asked[at = node] = finding->rule;
        *any = true;
    }
    return asked;
}

// Checks a graph, with room for many findings.
static bool check(qdq_graph *graph, const char *target, qdq_error *err) {
    size_t most = graph->findings.most;
    graph->findings.most = MOST_FINDINGS;
    bool done = qdq_graph_validate(graph, target, err) != NULL;
    graph->findings.most = most;
    return done;
}

// Tries one mend wherever the target has an error that it is for.
static qdq_status try_mend(qdq_rewriting *w, const char *target, const qdq_pattern *mend,
                           bool *any) {
    qdq_graph *graph = w->graph ? w->graph : (qdq_graph *)w->given;  // its report changes only
    qdq_mempool mempool;
    *any = false;
    if (!check(graph, target, w->err))
        return w->err && w->err->status ? w->err->status : QDQ_ERR_MEMORY;
    qdq_mempool_init(&mempool, graph->allocator);
    w->asked = asked_of(w, graph, mend, &mempool, any);
    qdq_status status = w->asked ? QDQ_OK : qdq_fail(w->err, QDQ_ERR_MEMORY, "out of memory");
    if (status == QDQ_OK && *any) status = qdq_rewrite_pass(w, mend, 1, false, any);
    qdq_mempool_release(&mempool);
    w->asked = NULL;
    return status;
}

static qdq_status mend_all(qdq_rewriting *w, const char *target) {
    bool again = true, any;
    for (int round = 0; again && round < MOST_ROUNDS; round++) {
        again = false;
        for (const qdq_pattern *mend = qdq_mends; mend->name; mend++) {
            QDQ_TRY(try_mend(w, target, mend, &any));
            again |= any;
        }
    }
    return w->graph ? QDQ_OK : qdq_rewrite_pass(w, NULL, 0, true, &any);
}

qdq_graph *qdq_graph_mended(qdq_graph *graph, const char *target, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version version, core;
    qdq_error own = {0};
    if (!err) err = &own;
    if (!qdq_target_version_find(target ? target : qdq_graph_target(graph), &version, err) ||
        !qdq_target_version_find("core", &core, err) ||
        qdq_graph_check(graph, &core, NULL, err) != QDQ_OK)
        return NULL;
    qdq_rewrite_choice choice = {.a = &version, .b = &version};
    qdq_rewriting w = {.given = graph, .choice = &choice, .table = qdq_mends, .err = err};
    qdq_mempool_init(&w.record.mempool, graph->allocator);
    qdq_graph *mended;
    (void)qdq_rewrite_end(&w, mend_all(&w, target), &mended);
    return mended;
}
