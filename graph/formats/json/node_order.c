// SPDX-License-Identifier: Apache-2.0
// Sorts nodes topologically and reports cycles.
#include "graph/formats/json/node_order.h"

enum { UNSEEN, OPEN, DONE };

// A depth-first walk with its own stack, because files may chain a million nodes.
typedef struct walk {
    const qdq_needs *needs;
    unsigned char *state;
    uint32_t *path;  // the open nodes; each needs the next
    size_t *next;    // per node: which of its needs is visited next
    size_t depth, done;
    uint32_t *order;
    qdq_cycle_fn *on_cycle;
    void *self;
} walk;

static void open_node(walk *w, uint32_t node) {
    w->state[node] = OPEN;
    w->next[node] = w->needs->start[node];
    w->path[w->depth++] = node;
}

static void report_cycle(const walk *w, uint32_t first) {
    size_t at = w->depth;
    while (w->path[at - 1] != first) at--;
    w->on_cycle(w->self, w->path + at - 1, w->depth - (at - 1));
}

static void walk_from(walk *w, uint32_t root) {
    open_node(w, root);
    while (w->depth) {
        uint32_t node = w->path[w->depth - 1];
        if (w->next[node] == w->needs->start[node + 1]) {
            w->state[node] = DONE;
            w->order[w->done++] = node;
            w->depth--;
            continue;
        }
        uint32_t needed = w->needs->needs[w->next[node]++];
        if (w->state[needed] == UNSEEN)
            open_node(w, needed);
        else if (w->state[needed] == OPEN)
            report_cycle(w, needed);
    }
}

// NOLINTNEXTLINE(readability-non-const-parameter): `order` is written through the walk
bool qdq_node_order(const qdq_needs *needs, uint32_t *order, qdq_mempool *mempool,
                    qdq_cycle_fn *on_cycle, void *self) {
    walk w = {.needs = needs, .order = order, .on_cycle = on_cycle, .self = self};
    w.state = qdq_mempool_array(mempool, needs->count, 1);
    w.path = qdq_mempool_array(mempool, needs->count, sizeof *w.path);
    w.next = qdq_mempool_array(mempool, needs->count, sizeof *w.next);
    if (!w.state || !w.path || !w.next) return false;
    for (size_t i = 0; i < needs->count; i++)
        if (w.state[i] == UNSEEN) walk_from(&w, (uint32_t)i);
    return true;
}

void qdq_report_cycle(qdq_graph *graph, const char *const *names, size_t count) {
    qdq_findings *f = &graph->findings;
    const char *path = qdq_text(f, "'%s'", names[0]);
    for (size_t i = 1; i < count && i < QDQ_CYCLE_SHOWN && qdq_findings_have_room(f); i++)
        path = qdq_text(f, "%s <- '%s'", path, names[i]);
    if (count > QDQ_CYCLE_SHOWN)
        path = qdq_text(f, "%s <- ... %zu more", path, count - QDQ_CYCLE_SHOWN);
    qdq_graph_report_core(graph, QDQ_RULE_CYCLE, (qdq_subject){.node = names[0]},
                          qdq_text(f, "it needs its own result: %s <- '%s'", path, names[0]), NULL);
}
