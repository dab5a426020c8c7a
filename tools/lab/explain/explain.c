// SPDX-License-Identifier: Apache-2.0
// Searches for the cause of a difference in stages: targets, which explain every node at once;
// number formats of a single node; mistakes in a node; number formats of all nodes. Ends with the
// first stage that reproduces all bits. Time is bounded.
#include "tools/lab/explain/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/compare/causes.h"
#include "tools/lab/compare/units/kernel_steps.h"
#include "tools/lab/explain/search.h"
#include "tools/lab/explain/target_causes.h"
#include "tools/lab/explain/target_order.h"
#include "tools/options.h"

static const double most_seconds = 8, near_fit = 0.02;

const char *explain_name(const session *s, const replay *r, qdq_value value) {
    qdq_value source = replay_source(r, value);
    const char *output = source.id < r->given->ids ? r->given->names[source.id] : NULL;
    const char *name = qdq_value_name(r->form.graph, value);
    if (!output) return qdq_value_original(s->graph, name);
    return qdq_output_original(s->graph, output);
}

//---- The first difference ---------------------------------------------------

// True if floats differ so little that another order of additions, or elementary functions of
// another library, may be the reason.
static bool is_noise(const replay *r, qdq_value value, const char *op) {
    const qdq_tensor_info *info = &r->values[value.id].info;
    if (info->dtype != QDQ_FLOAT32 || strstr(op, "uantize") || strcmp(op, "Cast") == 0)
        return false;
    const float *a = r->computed[value.id], *b = replay_given(r, value);
    double most = 0, far = 0;
    for (size_t i = 0; i < qdq_shape_count(info->shape); i++) {
        double distance = fabs((double)a[i] - b[i]);
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))) continue;
        if (!isfinite(distance)) return false;
        far = fmax(far, distance), most = fmax(most, fabs((double)a[i]));
    }
    return far <= ldexp(most, -19);
}

static void take_first(search *f, size_t node, const node_value *v, const difference *d) {
    explanation *e = f->e;
    e->differs = true;
    e->first = v->value;
    e->value = explain_name(f->s, f->r, v->value);
    e->node = qdq_graph_node(f->r->form.graph, node).name;
    e->op = qdq_graph_node(f->r->form.graph, node).op;
    e->elements = d->elements;
    e->differing = d->different;
}

// Notes the first value that differs. Noise gives way to a later value that differs by more.
static void look_at(search *f, size_t node, const node_value *v) {
    explanation *e = f->e;
    if (!replay_given(f->r, v->value)) return;
    difference d = measure_difference(&v->info, f->r->computed[v->value.id],
                                      replay_given(f->r, v->value), NULL);
    if (!d.different) return;
    bool noise = is_noise(f->r, v->value, qdq_graph_node(f->r->form.graph, node).op);
    if (!e->differs || (e->noise && !noise)) {
        if (e->differs) e->noisy += 1 + e->later, e->later = 0;
        take_first(f, node, v, &d);
        e->noise = noise;
    } else if (!noise) {
        if (!e->later++) e->later_value = explain_name(f->s, f->r, v->value);
    } else {
        e->noisy++;
    }
}

static void find_first(search *f) {
    for (size_t n = 0; n < f->r->node_count; n++)
        for (size_t i = 0; i < f->r->nodes[n].run.output_count; i++)
            look_at(f, n, &f->r->nodes[n].run.outputs[i]);
}

// Lists the nodes between the first value that differs and the last given values before it.
static bool find_suspects(search *f) {
    replay *r = f->r;
    bool *cut = calloc(r->given->ids, sizeof *cut);
    qdq_value source = replay_source(r, f->e->first);
    cone c = {0};
    for (size_t v = 0; cut && v < r->given->ids; v++)
        cut[v] = r->form.own[v].id && (r->given->data[v] || r->given->inputs[v]);
    bool found = cut && cone_find(&r->form, cut, &source, 1, &c);
    f->suspects = c.nodes;
    f->e->suspects = c.node_count;
    free(c.inputs);
    free(cut);
    return found;
}

//---- Targets ----------------------------------------------------------------

// True if another target runs the same graph with the same numerics.
static bool same_numerics(const search *f, const char *target) {
    qdq_error err = {0};
    qdq_numerics n;
    qdq_graph *graph = qdq_graph_deployed(f->s->graph, target, &err);
    bool same = graph && !f->r->form.owned && !qdq_graph_rewrite_count(graph);
    qdq_graph_destroy(graph);
    for (size_t i = 0; same && i < f->r->node_count; i++)
        same = qdq_graph_numerics(f->s->graph, target, i, &n, &err) == QDQ_OK &&
               find_switches(&f->r->nodes[i].numerics, &n, true).count == 0;
    return same;
}

static bool target_explains(const search *f, const char *target) {
    qdq_error err = {0};
    return !same_numerics(f, target) && replay_gives(f->s->graph, target, f->r, f->opt, &err);
}

static void try_targets(search *f) {
    explanation *e = f->e;
    const char *own = f->opt->load.target;
    target_order order;
    target_order_from(own ? own : qdq_graph_target(f->s->graph), &order);
    for (size_t i = 0; i < order.count; i++) {
        char *name = e->names[e->target_count];
        target_order_name(&order, i, name, sizeof e->names[0]);
        if (e->target_count + 1 == MOST_REPRODUCING || !search_in_time(f)) return;
        e->tried++;
        if (target_explains(f, name)) e->target_count++;
    }
}

// Sets the node and the cause as `qdq compare` finds them.
static int explain_target(search *f) {
    first_difference d;
    explanation *e = f->e;
    int code = find_first_difference(f->s, f->opt, f->r->given, f->r->target, e->names[0], &d);
    if (code != EXIT_OK || !d.differs) return code;
    e->node = d.node, e->op = d.op;
    snprintf(e->cause, sizeof e->cause, "%s", *d.cause ? d.cause : "unknown");
    snprintf(e->detail, sizeof e->detail, "as target %s", e->names[0]);
    return code;
}

void explanation_release(explanation *e) {
    elements_free(e->result);
    e->result = NULL;
}

//---- Choosing ---------------------------------------------------------------

// Names a candidate as the cause. A format of all nodes keeps the node of the first difference.
static void name_candidate(search *f, const candidate *c) {
    explanation *e = f->e;
    if (c->node != SIZE_MAX) {
        e->node = qdq_graph_node(f->r->form.graph, c->node).name;
        e->op = qdq_graph_node(f->r->form.graph, c->node).op;
    }
    snprintf(e->cause, sizeof e->cause, "%s", c->cause);
    snprintf(e->detail, sizeof e->detail, "%s%s", c->detail,
             c->node == SIZE_MAX ? " in all nodes" : "");
    e->left = c->left.all;
}

// Moves the candidate with this cause and a single change to the front. False if there is none.
static bool bring_forward(explanation *e, const char *name) {
    for (size_t i = 0; i < e->found_count && e->found[i].changes == 1; i++) {
        if (strcmp(e->found[i].cause, name) != 0) continue;
        candidate found = e->found[i];
        memmove(&e->found[1], &e->found[0], i * sizeof found);
        e->found[0] = found;
        return true;
    }
    return false;
}

// Names a single change to the node at which a target differs, if it gives all bits too: a target
// changes more, and the cause of most elements is only one of its changes.
static void simplify_target(search *f) {
    explanation *e = f->e;
    size_t node = 0;
    if (!e->node) return;
    while (node < f->r->node_count &&
           strcmp(qdq_graph_node(f->r->form.graph, node).name, e->node) != 0)
        node++;
    if (node == f->r->node_count) return;
    search_formats(f, node);
    // The whole kernel gives all bits, and says less than its step.
    if (is_kernel_step(e->cause)) return;
    if (f->fewest == 1 && !bring_forward(e, e->cause)) name_candidate(f, &e->found[0]);
}

static void choose(search *f) {
    explanation *e = f->e;
    bool near =
        *e->nearest.cause && (double)e->nearest.left.first <= near_fit * (double)e->differing;
    if (e->found_count) {
        name_candidate(f, &e->found[0]);
    } else if (near) {
        name_candidate(f, &e->nearest);
        e->near = true;
    } else {
        snprintf(e->cause, sizeof e->cause, "unknown");
        e->left = e->total;
    }
}

static int look(search *f, const char *other) {
    explanation *e = f->e;
    if (other) {
        snprintf(e->names[0], sizeof e->names[0], "%s", other);
        e->target_count = 1;
    } else {
        try_targets(f);
    }
    if (e->target_count) {
        int code = explain_target(f);
        if (code == EXIT_OK) simplify_target(f);
        return code;
    }
    for (size_t i = 0; i < e->suspects && search_in_time(f); i++) search_formats(f, f->suspects[i]);
    if (f->fewest != 1) search_mistakes(f);
    if (!f->fewest && e->suspects > 1) search_formats_everywhere(f);
    choose(f);
    return EXIT_OK;
}

static int no_memory(const explanation *e) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory to explain '%s'", e->value);
}

int explain(const session *s, const options *opt, const char *other, replay *base, explanation *e) {
    qdq_error err = {0};
    search f = {.s = s, .opt = opt, .r = base, .e = e, .until = now() + most_seconds};
    *e = (explanation){0};
    if (replay_run(base, &err) != QDQ_OK) return report_error(&err);
    find_first(&f);
    if (!e->differs) return EXIT_OK;
    e->total = replay_difference(base, e->first).all;
    int code = find_suspects(&f) ? look(&f, other) : no_memory(e);
    if (code == EXIT_OK && opt->memory->exceeded) code = no_memory(e);
    free(f.suspects);
    return code;
}
