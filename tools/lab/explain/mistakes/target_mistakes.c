// SPDX-License-Identifier: Apache-2.0
// Tries a node as another target computes it, as it is or with its scale or zero point given in the
// other way: a number as a tensor, a constant tensor as a number. A target may choose other
// arithmetic for each.
#include <stdio.h>
#include <string.h>

#include "tools/lab/compare/units/switches.h"
#include "tools/lab/explain/mistakes/trial.h"
#include "tools/lab/explain/number_formats.h"

enum { MOST_NUMERICS = 64 };

// Numerics that were tried.
typedef struct tried_numerics {
    qdq_numerics items[MOST_NUMERICS];
    size_t count;
    bool makes_int;
} tried_numerics;

static bool is_same(const qdq_numerics *a, const qdq_numerics *b, bool makes_int) {
    return find_switches(a, b, makes_int).count == 0;
}

// Notes numerics. False if they were tried before.
static bool note_numerics(tried_numerics *tried, const qdq_numerics *n) {
    for (size_t i = 0; i < tried->count; i++)
        if (is_same(&tried->items[i], n, tried->makes_int)) return false;
    if (tried->count == MOST_NUMERICS) return false;
    tried->items[tried->count++] = *n;
    return true;
}

static const qdq_numerics *own_numerics(const mistake_trial *t) {
    return &document_replay(t->d)->nodes[document_node(t->d)].numerics;
}

static tried_numerics begin_numerics(const mistake_trial *t) {
    const qdq_dtype_info *info = qdq_dtype_get(trial_output(t)->info.dtype);
    return (tried_numerics){.makes_int = info->kind == QDQ_KIND_INT};
}

// Calls `use` for every version of every target.
static void each_target(mistake_trial *t, const void *with,
                        void (*use)(mistake_trial *t, const void *with, const char *name)) {
    char name[64];
    for (size_t i = 0; i < qdq_target_count(); i++) {
        qdq_target_info info = qdq_target_get(i);
        for (size_t k = 0; k < (info.release_count ? info.release_count : 1) && !t->stopped; k++) {
            const char *release = qdq_target_release(i, k);
            snprintf(name, sizeof name, "%s%s%s", info.name, release ? "@" : "",
                     release ? release : "");
            use(t, with, name);
        }
    }
}

//---- The node as it is ------------------------------------------------------

static void try_as_target(mistake_trial *t, const void *with, const char *name) {
    tried_numerics *tried = *(tried_numerics *const *)with;
    const qdq_graph *graph = document_replay(t->d)->form.graph;
    char cause[96], detail[128];
    qdq_error err = {0};
    variant v = {.kind = VARIANT_NUMERICS, .cause = cause, .detail = detail, .changes = 2};
    if (qdq_graph_numerics(graph, name, document_node(t->d), &v.numerics, &err) != QDQ_OK ||
        !note_numerics(tried, &v.numerics))
        return;
    numerics_cause(own_numerics(t), &v.numerics, tried->makes_int, cause, sizeof cause);
    snprintf(detail, sizeof detail, "this node as target %s", name);
    t->stopped = t->taker->take(t->taker->with, document_node(t->d), &v);
}

void try_as_targets(mistake_trial *t) {
    tried_numerics tried = begin_numerics(t);
    tried_numerics *with = &tried;
    (void)note_numerics(&tried, own_numerics(t));
    each_target(t, (const void *)&with, try_as_target);
}

//---- Numbers and tensors ----------------------------------------------------

// A node of which a parameter is given in the other way.
typedef struct moved_node {
    const qdq_graph *graph;
    const variant *document;
    const char *what;
    tried_numerics *tried;
} moved_node;

static void try_moved_as_target(mistake_trial *t, const void *with, const char *name) {
    const moved_node *moved = with;
    const qdq_graph *graph = document_replay(t->d)->form.graph;
    char detail[256];
    qdq_error err = {0};
    qdq_numerics given;
    variant v = *moved->document;
    v.detail = detail;
    // The same arithmetic as for the node as it is: not the way of the parameter.
    if (qdq_graph_numerics(moved->graph, name, 0, &v.numerics, &err) != QDQ_OK ||
        qdq_graph_numerics(graph, name, document_node(t->d), &given, &err) != QDQ_OK ||
        is_same(&given, &v.numerics, moved->tried->makes_int) ||
        !note_numerics(moved->tried, &v.numerics))
        return;
    snprintf(detail, sizeof detail, "%s, as target %s", moved->what, name);
    t->stopped = t->taker->take(t->taker->with, document_node(t->d), &v);
}

// Moves a parameter from its attribute to its port, or a single constant from its port to the
// attribute. False if it is neither.
static bool move(mistake_trial *t, const parameter *p, qdq_dtype dtype, bool *to_tensor) {
    const qdq_graph *graph = document_replay(t->d)->form.graph;
    qdq_value port = document_value(t->d, p->port);
    double zero = 0;
    const double *values = p->count ? p->values : &zero;
    *to_tensor = !port.id;
    if (p->count > 1 || !*p->attr || document_port(t->d, p->port) == SIZE_MAX) return false;
    if (port.id && !qdq_value_is_constant(graph, port)) return false;
    if (port.id) return document_set_attr(t->d, p->attr, p->port, values, 1);
    document_drop_attr(t->d, p->attr);
    return document_put_numbers(t->d, p->port, dtype, (qdq_shape){.rank = 1, .dims = {1}}, values);
}

static void try_moved(mistake_trial *t, const parameter_pair *p, bool scale, bool zero,
                      tried_numerics *tried) {
    char what[160];
    bool to_tensor = false;
    variant v = {.cause = "tensor-parameter", .own_numerics = true};
    if (!trial_begin(t) || (scale && !move(t, &p->scale, QDQ_FLOAT32, &to_tensor)) ||
        (zero && !move(t, &p->zero, QDQ_INT32, &to_tensor)) || !document_take(t->d, &v))
        return;
    snprintf(what, sizeof what, "%s%s%s as a %s", scale ? p->scale.port : "",
             scale && zero ? " and " : "", zero ? p->zero.port : "",
             to_tensor ? "tensor" : "number");
    qdq_error err = {0};
    const qdq_graph_options graph_options = {
        .allocator = document_replay(t->d)->exec_options.allocator, .target = "core"};
    qdq_graph *graph =
        qdq_graph_parse(v.document, strlen(v.document), "node", NULL, &graph_options, &err);
    const moved_node moved = {graph, &v, what, tried};
    if (graph) each_target(t, &moved, try_moved_as_target);
    qdq_graph_destroy(graph);
}

void try_moved_parameters(mistake_trial *t) {
    for (size_t i = 0; i < t->list->count; i++) {
        const parameter_pair *p = &t->list->pairs[i];
        tried_numerics tried = begin_numerics(t);
        try_moved(t, p, false, true, &tried);
        try_moved(t, p, true, false, &tried);
        try_moved(t, p, true, true, &tried);
    }
}
