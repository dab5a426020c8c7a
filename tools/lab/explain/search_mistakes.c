// SPDX-License-Identifier: Apache-2.0
// Opens the suspects as documents, and tries the mistakes of each. Nodes that compute their inputs
// give scales and zero points too, which a device may have used.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/lab/explain/mistakes.h"
#include "tools/lab/explain/mistakes/parameter_pool.h"
#include "tools/lab/explain/search.h"

// Tries behind a mistake that is a single change: they show other mistakes that give the same bits.
enum { MOST_NEIGHBOURS = 64, MOST_AFTER = 256, MOST_PAIRS_TRIED = 256 };

// The suspects as documents.
typedef struct mistake_search {
    search *f;
    char folder[4096];
    node_document **documents;  // [suspect]; NULL: it cannot be written
    parameter_pool *pool;
    int neighbours;  // added to the pool
} mistake_search;

static bool ends(void *with) {
    search *f = with;
    return f->after >= MOST_AFTER || !search_in_time(f);
}

static bool take_mistake(void *with, size_t node, const variant *v) {
    if (ends(with)) return true;
    (void)search_variant(with, node, v);
    return false;
}

static bool has_scales(const char *op) {
    size_t index = find_op(op);
    for (size_t i = 0; i < qdq_op_get(index).input_count; i++)
        if (strstr(qdq_op_input(index, i).name, "scale")) return true;
    return false;
}

static bool is_suspect(const mistake_search *m, size_t node) {
    for (size_t i = 0; i < m->f->e->suspects; i++)
        if (m->f->suspects[i] == node) return true;
    return false;
}

// Adds the parameters of the nodes that compute the inputs of a node.
static void add_makers(mistake_search *m, size_t node) {
    const replay *r = m->f->r;
    const node_run *run = &r->nodes[node].run;
    for (size_t k = 0; k < run->input_count; k++) {
        size_t maker = r->form.makers[run->inputs[k].value.id];
        if (maker == SIZE_MAX || is_suspect(m, maker) ||
            !has_scales(qdq_graph_node(r->form.graph, maker).op))
            continue;
        if (m->neighbours++ >= MOST_NEIGHBOURS || !search_in_time(m->f)) return;
        qdq_error err = {0};
        node_document *d = document_open(r, maker, m->folder, &err);
        if (d) pool_add(m->pool, d);
        document_close(d);
    }
}

static bool reads(const node_run *reader, const node_run *node) {
    for (size_t i = 0; i < reader->input_count; i++)
        for (size_t k = 0; k < node->output_count; k++)
            if (reader->inputs[i].value.id == node->outputs[k].value.id) return true;
    return false;
}

// Adds the parameters of nodes that compute inputs of suspects or of nodes that read suspects.
static void add_neighbours(mistake_search *m) {
    const replay *r = m->f->r;
    for (size_t i = 0; i < m->f->e->suspects; i++) {
        size_t node = m->f->suspects[i];
        add_makers(m, node);
        for (size_t n = node + 1; n < r->node_count && m->neighbours < MOST_NEIGHBOURS; n++)
            if (reads(&r->nodes[n].run, &r->nodes[node].run)) add_makers(m, n);
    }
}

//---- Two nodes --------------------------------------------------------------

// Two suspects without their zero points.
typedef struct bare_pair {
    const search *f;
    size_t node;  // the later of both
    const variant *without;
} bare_pair;

// Sets `out` to a suspect without its zero points. False if it has none.
static bool drop_zeros(node_document *d, double *zeros, variant *out) {
    parameter_list list = parameters_of(d);
    bool any = false, done = true;
    document_begin(d);
    for (size_t i = 0; i < list.count; i++) {
        const parameter *p = &list.pairs[i].zero;
        bool moves = false;
        for (size_t k = 0; k < p->count; k++) moves |= p->values[k] != 0;
        any |= moves;
        if (moves) done &= p->count <= MOST_PARAMETERS && parameter_set(d, p, zeros);
    }
    parameters_release(&list);
    return any && done && document_take(d, out);
}

static bool run_bare(void *with, size_t node, void *const *outputs) {
    const bare_pair *pair = with;
    qdq_error err = {0};
    return node == pair->node &&
           variant_run(pair->f->r, node, pair->without, outputs, &err) == QDQ_OK;
}

static void try_pair(mistake_search *m, size_t i, size_t k, const variant *bare) {
    const qdq_graph *graph = m->f->r->form.graph;
    size_t one = m->f->suspects[i] < m->f->suspects[k] ? i : k, other = i + k - one;
    size_t nodes[] = {m->f->suspects[one], m->f->suspects[other]};
    char detail[160];
    snprintf(detail, sizeof detail, "no zero points of '%.60s' and '%.60s'",
             qdq_graph_node(graph, nodes[0]).name, qdq_graph_node(graph, nodes[1]).name);
    variant first = bare[one];
    first.cause = "wrong-zero-point", first.detail = detail, first.changes = 2;
    bare_pair pair = {m->f, nodes[1], &bare[other]};
    const replay_changer others = {run_bare, &pair};
    search_together(m->f, nodes[0], &first, &others, nodes[0]);
}

// Drops the zero points of two suspects, neighbours in the graph first: of both operands of a
// product, or of a Dequantize and a Quantize.
static void try_bare_pairs(mistake_search *m) {
    size_t count = m->f->e->suspects, tried = 0;
    variant *bare = calloc(count + 1, sizeof *bare);
    bool *has = calloc(count + 1, sizeof *has);
    double *zeros = elements_take_numbers(m->f->r->exec_options.allocator, MOST_PARAMETERS);
    if (zeros) memset(zeros, 0, MOST_PARAMETERS * sizeof *zeros);
    for (size_t i = 0; bare && has && zeros && i < count; i++)
        has[i] = m->documents[i] && drop_zeros(m->documents[i], zeros, &bare[i]);
    for (size_t gap = 1; bare && has && zeros && gap < count; gap++)
        for (size_t i = 0; i + gap < count; i++) {
            if (!has[i] || !has[i + gap]) continue;
            if (m->f->fewest || tried++ >= MOST_PAIRS_TRIED || !search_in_time(m->f)) break;
            try_pair(m, i, i + gap, bare);
        }
    free(bare);
    free(has);
    elements_free(zeros);
}

//---- All suspects -----------------------------------------------------------

static void open_suspects(mistake_search *m) {
    for (size_t i = 0; i < m->f->e->suspects && search_in_time(m->f); i++) {
        qdq_error err = {0};
        m->documents[i] = document_open(m->f->r, m->f->suspects[i], m->folder, &err);
        if (m->documents[i]) pool_add(m->pool, m->documents[i]);
    }
}

void search_mistakes(search *f) {
    mistake_search m = {.f = f};
    const char *base = getenv("TMPDIR");
    snprintf(m.folder, sizeof m.folder, "%s/qdq-XXXXXX", base && *base ? base : "/tmp");
    size_t count = f->e->suspects;
    m.documents = calloc(count + 1, sizeof(node_document *));
    m.pool = pool_create();
    const mistake_taker taker = {take_mistake, ends, f};
    if (m.documents && m.pool && mkdtemp(m.folder)) {
        open_suspects(&m);
        add_neighbours(&m);
        // Rare mistakes of one node come after likely mistakes of all.
        for (int rare = 0; rare < 2 && f->fewest != 1; rare++)
            for (size_t i = 0; i < count && search_in_time(f); i++)
                if (m.documents[i]) (void)try_mistakes(m.documents[i], m.pool, &taker, rare);
        if (!f->fewest) try_bare_pairs(&m);
        (void)rmdir(m.folder);
    }
    for (size_t i = 0; m.documents && i < count; i++) document_close(m.documents[i]);
    pool_destroy(m.pool);
    free(m.documents);
}
