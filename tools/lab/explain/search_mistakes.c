// SPDX-License-Identifier: Apache-2.0
// Opens the suspects as documents, and tries the mistakes of each. Nodes that compute their inputs
// give scales and zero points too, which a device may have used.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lab/explain/mistakes.h"
#include "tools/lab/explain/mistakes/parameter_pool.h"
#include "tools/lab/explain/search.h"

// Tries behind a mistake that is a single change: they show other mistakes that give the same bits.
enum { MOST_NEIGHBOURS = 64, MOST_AFTER = 256 };

// The suspects as documents.
typedef struct mistake_search {
    search *f;
    char folder[4096];
    node_document **documents;  // [suspect]; NULL: it cannot be written
    parameter_pool *pool;
} mistake_search;

static bool take_mistake(void *with, size_t node, const variant *v) {
    search *f = with;
    if (!search_in_time(f) || f->after >= MOST_AFTER) return true;
    (void)search_variant(f, node, v);
    return false;
}

static bool has_scales(const char *op) {
    size_t index = 0;
    while (index < qdq_op_count() && strcmp(qdq_op_get(index).name, op) != 0) index++;
    for (size_t i = 0; i < qdq_op_get(index).input_count; i++)
        if (strstr(qdq_op_input(index, i).name, "scale")) return true;
    return false;
}

static void add_neighbour(const mistake_search *m, size_t node) {
    qdq_error err = {0};
    node_document *d = document_open(m->f->r, node, m->folder, &err);
    if (d) pool_add(m->pool, d);
    document_close(d);
}

// Adds the parameters of nodes that compute the inputs of suspects.
static void add_neighbours(const mistake_search *m) {
    const replay *r = m->f->r;
    int added = 0;
    for (size_t i = 0; i < m->f->e->suspects; i++) {
        const node_run *run = &r->nodes[m->f->suspects[i]].run;
        for (size_t k = 0; k < run->input_count; k++) {
            size_t maker = r->form.makers[run->inputs[k].value.id];
            if (maker == SIZE_MAX || !has_scales(qdq_graph_node(r->form.graph, maker).op)) continue;
            if (added++ == MOST_NEIGHBOURS || !search_in_time(m->f)) return;
            add_neighbour(m, maker);
        }
    }
}

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
    const mistake_taker taker = {take_mistake, f};
    if (m.documents && m.pool && mkdtemp(m.folder)) {
        open_suspects(&m);
        add_neighbours(&m);
        for (size_t i = 0; i < count && search_in_time(f); i++)
            if (m.documents[i]) (void)try_mistakes(m.documents[i], m.pool, &taker);
        (void)rmdir(m.folder);
    }
    for (size_t i = 0; m.documents && i < count; i++) document_close(m.documents[i]);
    pool_destroy(m.pool);
    free(m.documents);
}
