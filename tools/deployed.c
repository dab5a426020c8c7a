// SPDX-License-Identifier: Apache-2.0
#include "tools/deployed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t count_values(const qdq_graph *graph) {
    size_t count = 1;
    for (size_t n = 0; n < qdq_graph_node_count(graph); n++) {
        qdq_node_info info = qdq_graph_node(graph, n);
        for (size_t i = 0; i < info.input_count; i++) {
            size_t id = qdq_graph_node_input(graph, n, i).id;
            if (id >= count) count = id + 1;
        }
        for (size_t i = 0; i < info.output_count; i++) {
            size_t id = qdq_graph_node_output(graph, n, i).id;
            if (id >= count) count = id + 1;
        }
    }
    return count;
}

//---- Values -----------------------------------------------------------------

// True if a value can stand for its source: both have the same type, or codes of 8 bits that are
// shifted by an offset.
static bool stands_for(const deployed *d, const qdq_graph *given, qdq_value value,
                       qdq_value_source source) {
    qdq_dtype a, b;
    qdq_shape x, y;
    if (!qdq_value_type(d->graph, value, &a, &x) || !qdq_value_type(given, source.value, &b, &y) ||
        !qdq_shape_equal(x, y))
        return false;
    if (!source.offset) return a == b;
    return qdq_dtype_get(a)->bits == 8 && qdq_dtype_get(b)->bits == 8;
}

static void note_source(deployed *d, const qdq_graph *given, size_t ids, qdq_value value) {
    if (!value.id || d->sources[value.id].value.id) return;
    qdq_value_source source = {value, 0};
    if (d->owned) source = qdq_graph_source(d->graph, value);
    if (!source.value.id || source.value.id >= ids || d->own[source.value.id].id ||
        (d->owned && !stands_for(d, given, value, source)))
        return;
    d->sources[value.id] = source;
    d->own[source.value.id] = value;
}

static void note_values(deployed *d, const qdq_graph *given, size_t ids) {
    for (size_t v = 0; v < d->value_count; v++) d->makers[v] = SIZE_MAX;
    for (size_t n = 0; n < qdq_graph_node_count(d->graph); n++) {
        qdq_node_info info = qdq_graph_node(d->graph, n);
        for (size_t i = 0; i < info.input_count; i++)
            note_source(d, given, ids, qdq_graph_node_input(d->graph, n, i));
        for (size_t i = 0; i < info.output_count; i++) {
            qdq_value value = qdq_graph_node_output(d->graph, n, i);
            d->makers[value.id] = n;
            note_source(d, given, ids, value);
        }
    }
}

//---- Rewritten nodes --------------------------------------------------------

typedef struct named_node {
    const char *name;
    size_t node;
} named_node;

static int by_name(const void *a, const void *b) {
    return strcmp(((const named_node *)a)->name, ((const named_node *)b)->name);
}

static int by_node(const void *a, const void *b) {
    const rewritten_node *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->rewrite < y->rewrite ? -1 : x->rewrite > y->rewrite;
}

static named_node *sort_names(const qdq_graph *given, size_t count) {
    named_node *names = calloc(count + 1, sizeof *names);
    for (size_t n = 0; names && n < count; n++)
        names[n] = (named_node){qdq_graph_node(given, n).name, n};
    if (names) qsort(names, count, sizeof *names, by_name);
    return names;
}

// Lists the rewrites of each node of the given graph. A node that a pass adds and a later pass
// replaces is not in the given graph, and is left out.
static bool note_rewritten(deployed *d, const qdq_graph *given) {
    size_t nodes = qdq_graph_node_count(given), rewrites = qdq_graph_rewrite_count(d->graph);
    size_t room = 0;
    for (size_t i = 0; i < rewrites; i++) room += qdq_graph_rewrite(d->graph, i).node_count;
    d->rewritten = calloc(room + 1, sizeof *d->rewritten);
    named_node *names = sort_names(given, nodes);
    for (size_t i = 0; d->rewritten && names && i < rewrites; i++) {
        qdq_rewrite_info w = qdq_graph_rewrite(d->graph, i);
        for (size_t k = 0; !w.reason && k < w.node_count; k++) {
            named_node key = {w.nodes[k], 0};
            const named_node *found = bsearch(&key, names, nodes, sizeof key, by_name);
            if (found) d->rewritten[d->rewritten_count++] = (rewritten_node){found->node, i};
        }
    }
    bool done = d->rewritten && names;
    if (done) qsort(d->rewritten, d->rewritten_count, sizeof *d->rewritten, by_node);
    free(names);
    return done;
}

bool deployed_open(deployed *d, const qdq_graph *given, size_t ids, qdq_graph *owned) {
    *d = (deployed){.graph = owned ? owned : given, .owned = owned};
    d->value_count = owned ? count_values(owned) : ids;
    d->sources = calloc(d->value_count, sizeof *d->sources);
    d->makers = calloc(d->value_count, sizeof *d->makers);
    d->own = calloc(ids, sizeof *d->own);
    d->seen = calloc(qdq_graph_node_count(d->graph) + 1, sizeof *d->seen);
    if (!d->sources || !d->makers || !d->own || !d->seen) return false;
    note_values(d, given, ids);
    return !owned || note_rewritten(d, given);
}

static bool is_rewritten(const qdq_graph *graph) {
    for (size_t i = 0; i < qdq_graph_rewrite_count(graph); i++)
        if (!qdq_graph_rewrite(graph, i).reason) return true;
    return false;
}

qdq_status deployed_open_target(deployed *d, qdq_graph *given, size_t ids, const char *target,
                                qdq_error *err) {
    *d = (deployed){0};
    qdq_graph *graph = qdq_graph_deployed(given, target, err);
    if (!graph) return err->status;
    if (!is_rewritten(graph)) {
        qdq_graph_destroy(graph);
        graph = NULL;
    }
    if (deployed_open(d, given, ids, graph)) return QDQ_OK;
    *err = (qdq_error){.status = QDQ_ERR_MEMORY};
    snprintf(err->text, sizeof err->text, "no memory for the graph of target %s", target);
    return err->status;
}

void deployed_close(deployed *d) {
    free(d->sources), free(d->makers), free(d->own), free(d->rewritten), free(d->seen);
    qdq_graph_destroy(d->owned);
    *d = (deployed){0};
}

//---- Comparing rewrites -----------------------------------------------------

static bool same_rewrite(const qdq_rewrite_info *a, const qdq_rewrite_info *b) {
    if (strcmp(a->pass, b->pass) != 0 || strcmp(a->group, b->group) != 0 ||
        a->node_count != b->node_count)
        return false;
    for (size_t i = 0; i < a->node_count; i++)
        if (strcmp(a->nodes[i], b->nodes[i]) != 0) return false;
    return true;
}

rewritten_range rewrites_of(const deployed *d, size_t node) {
    size_t low = 0, high = d->rewritten_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->rewritten[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    while (high < d->rewritten_count && d->rewritten[high].node == node) high++;
    return (rewritten_range){low, high};
}

bool has_rewrite(const deployed *d, size_t node, const qdq_rewrite_info *wanted) {
    rewritten_range r = rewrites_of(d, node);
    for (size_t i = r.first; i < r.end; i++) {
        qdq_rewrite_info w = qdq_graph_rewrite(d->graph, d->rewritten[i].rewrite);
        if (same_rewrite(&w, wanted)) return true;
    }
    return false;
}

//---- Cones ------------------------------------------------------------------

static bool is_cut(const deployed *d, const bool *cut, qdq_value value) {
    qdq_value given = d->sources[value.id].value;
    return d->makers[value.id] == SIZE_MAX || (given.id && cut[given.id]);
}

static void push(const deployed *d, size_t node, size_t *stack, size_t *count) {
    if (node == SIZE_MAX || d->seen[node]) return;
    d->seen[node] = true;
    stack[(*count)++] = node;
}

static void add_input(const deployed *d, cone *c, qdq_value value) {
    qdq_value given = d->sources[value.id].value;
    for (size_t i = 0; i < c->input_count; i++)
        if (c->inputs[i].id == given.id) return;
    c->inputs[c->input_count++] = given;
}

static int ascending(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

// Adds the nodes that the cone's nodes read from. The list is also the queue: nodes before `done`
// are expanded.
static bool expand(const deployed *d, const bool *cut, cone *c) {
    size_t ports = 0;
    for (size_t done = 0; done < c->node_count; done++) {
        qdq_node_info info = qdq_graph_node(d->graph, c->nodes[done]);
        ports += info.input_count;
        for (size_t i = 0; i < info.input_count; i++) {
            qdq_value value = qdq_graph_node_input(d->graph, c->nodes[done], i);
            if (value.id && !is_cut(d, cut, value))
                push(d, d->makers[value.id], c->nodes, &c->node_count);
        }
    }
    c->inputs = calloc(ports + 1, sizeof *c->inputs);
    return c->inputs != NULL;
}

static void list_inputs(const deployed *d, const bool *cut, cone *c) {
    qsort(c->nodes, c->node_count, sizeof *c->nodes, ascending);
    for (size_t n = 0; n < c->node_count; n++)
        for (size_t i = 0; i < qdq_graph_node(d->graph, c->nodes[n]).input_count; i++) {
            qdq_value value = qdq_graph_node_input(d->graph, c->nodes[n], i);
            if (value.id && is_cut(d, cut, value) && !qdq_value_is_constant(d->graph, value))
                add_input(d, c, value);
        }
}

bool cone_find(const deployed *d, const bool *cut, const qdq_value *outputs, size_t count,
               cone *out) {
    *out = (cone){.nodes = calloc(qdq_graph_node_count(d->graph) + 1, sizeof *out->nodes)};
    if (!out->nodes) return false;
    for (size_t i = 0; i < count; i++) {
        qdq_value own = outputs[i].id ? d->own[outputs[i].id] : (qdq_value){0};
        if (own.id) push(d, d->makers[own.id], out->nodes, &out->node_count);
    }
    bool done = expand(d, cut, out);
    for (size_t i = 0; i < out->node_count; i++) d->seen[out->nodes[i]] = false;
    if (done) list_inputs(d, cut, out);
    return done;
}

void cone_release(cone *c) {
    free(c->nodes), free(c->inputs);
    *c = (cone){0};
}
