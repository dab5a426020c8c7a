// SPDX-License-Identifier: Apache-2.0
// Runs the passes of a target.
#include "graph/rewrite/rewrite.h"

#include <string.h>

#include "graph/core/copy.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"

static qdq_status failed(const qdq_graph *graph, qdq_error *err) {
    if (graph && graph->broken.status)
        return qdq_fail(err, graph->broken.status, "%s", graph->broken.text);
    if (graph && graph->findings.errors)  // a bug of a pattern
        return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "rewriting the graph failed: %s",
                        graph->findings.items[0].message);
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while rewriting the graph");
}

static bool folds_constants(const qdq_target_version *version) {
    return version->target->folds_constants && version->target->folds_constants(version);
}

qdq_status qdq_rewrite_pass(qdq_rewriting *w, const qdq_pattern *patterns, size_t count,
                            bool always, bool *any) {
    qdq_mempool mempool;
    qdq_mempool_init(&mempool, w->given->allocator);
    qdq_rewriter r = {.from = w->graph ? w->graph : w->given,
                      .first = !w->graph,
                      .asked = w->asked,
                      .table = w->table,
                      .choice = w->choice,
                      .mempool = &mempool,
                      .record = &w->record,
                      .findings = w->findings};
    r.copies = qdq_mempool_array(&mempool, r.from->value_count, sizeof *r.copies);
    r.matches = qdq_mempool_array(&mempool, r.from->node_count, sizeof(qdq_match *));
    bool ok = r.copies && r.matches && qdq_rewrite_match(&r, patterns, count, any);
    bool copies = ok && (*any || always);
    if (copies) {
        r.to = qdq_copy_empty(r.from);
        if (r.to) r.to->folds_constants = w->choice && folds_constants(w->choice->a);
        ok = r.to && qdq_rewrite_copy(&r) && !r.to->findings.errors && !r.to->broken.status;
    }
    qdq_mempool_release(&mempool);
    qdq_status status = ok ? QDQ_OK : failed(r.to, w->err);
    qdq_graph_destroy(ok && copies ? w->graph : r.to);
    if (ok && copies) w->graph = r.to;
    return status;
}

static size_t pass_length(const qdq_pattern *patterns) {
    size_t n = 1;
    while (patterns[n].pass && strcmp(patterns[n].pass, patterns[0].pass) == 0) n++;
    return n;
}

static qdq_status run_table(qdq_rewriting *w, const qdq_pattern *patterns) {
    bool any = false;
    w->table = patterns;
    for (size_t i = 0, n; patterns && patterns[i].pass; i += n) {
        n = pass_length(patterns + i);
        do QDQ_TRY(qdq_rewrite_pass(w, patterns + i, n, false, &any));
        while (any && patterns[i].repeats);
    }
    return QDQ_OK;
}

static qdq_status run_passes(qdq_rewriting *w) {
    const qdq_pattern *a = w->choice->a->target->patterns, *b = w->choice->b->target->patterns;
    bool any = false;
    QDQ_TRY(run_table(w, a));
    if (b != a) QDQ_TRY(run_table(w, b));
    return w->graph ? QDQ_OK : qdq_rewrite_pass(w, NULL, 0, true, &any);
}

// Gives the record to the graph.
static bool keep_record(qdq_graph *graph, const qdq_rewrite_record *record) {
    qdq_mempool *pool = &graph->mempool;
    qdq_rewrite_info *items = qdq_mempool_copy(pool, record->items, record->count, sizeof *items);
    if (!items) return record->count == 0;
    for (size_t i = 0; i < record->count; i++) {
        const char **names = qdq_mempool_array(pool, items[i].node_count, sizeof *names);
        if (!names) return false;
        for (size_t k = 0; k < items[i].node_count; k++)
            names[k] = qdq_mempool_strdup(pool, items[i].nodes[k]);
        items[i].nodes = names, items[i].node = names[0];
        if (items[i].result) items[i].result = qdq_mempool_strdup(pool, items[i].result);
        if (items[i].reason) items[i].reason = qdq_mempool_strdup(pool, items[i].reason);
    }
    graph->rewrites = items;
    graph->rewrite_count = record->count;
    return !pool->failed;
}

qdq_status qdq_rewrite_end(qdq_rewriting *w, qdq_status status, qdq_graph **out) {
    if (status == QDQ_OK && !keep_record(w->graph, &w->record)) status = failed(w->graph, w->err);
    qdq_mempool_release(&w->record.mempool);
    if (status != QDQ_OK) {
        qdq_graph_destroy(w->graph);
        w->graph = NULL;
    }
    *out = w->graph;
    return status;
}

qdq_status qdq_rewrite_between(const qdq_graph *graph, const qdq_rewrite_choice *choice,
                               qdq_findings *findings, qdq_graph **out, qdq_error *err) {
    qdq_rewriting w = {.given = graph, .choice = choice, .findings = findings, .err = err};
    qdq_mempool_init(&w.record.mempool, graph->allocator);
    return qdq_rewrite_end(&w, run_passes(&w), out);
}

qdq_status qdq_rewrite(const qdq_graph *graph, const qdq_target_version *version,
                       qdq_findings *findings, qdq_graph **out, qdq_error *err) {
    qdq_rewrite_choice choice = {.a = version, .b = version};
    return qdq_rewrite_between(graph, &choice, findings, out, err);
}
