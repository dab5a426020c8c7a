// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/units/unit.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/compare/units/kernel_steps.h"
#include "tools/lab/compare/units/same_cone.h"

//---- Numerics ---------------------------------------------------------------

static bool makes_int(const qdq_graph *graph, size_t node) {
    qdq_dtype dtype;
    return qdq_value_type(graph, qdq_graph_node_output(graph, node, 0), &dtype, NULL) &&
           qdq_dtype_get(dtype)->kind == QDQ_KIND_INT;
}

static bool has_op(const piece *p, const char *op) {
    for (size_t i = 0; i < p->cone.node_count; i++)
        if (strcmp(qdq_graph_node(p->of->graph, p->cone.nodes[i]).op, op) == 0) return true;
    return false;
}

// Resets the choices of integer arithmetic if the target does not run the op on codes here.
static void forget_code_arithmetic(const unit *u, const piece *runs, const char *op,
                                   qdq_numerics *numerics) {
    if (u->same_form || has_op(runs, op)) return;
    numerics->pair_sums = QDQ_PAIR_SUMS_EXACT;
    numerics->qlinear = QDQ_QLINEAR_FMA;
}

// Finds the switches between the two targets at a node of a graph, and the other target's numerics.
static int switches_at(const unit *u, const qdq_graph *graph, size_t node, switch_list *list,
                       qdq_numerics *other) {
    qdq_numerics first;
    qdq_error err = {0};
    if (qdq_graph_numerics(graph, u->pair->targets[0], node, &first, &err) != QDQ_OK ||
        qdq_graph_numerics(graph, u->pair->targets[1], node, other, &err) != QDQ_OK)
        return report_error(&err);
    const char *op = qdq_graph_node(graph, node).op;
    qdq_numerics to = *other;
    forget_code_arithmetic(u, &u->first, op, &first);
    forget_code_arithmetic(u, &u->other, op, &to);
    // A function of one operand, of which a chip may have a kernel.
    bool is_function = qdq_graph_node(graph, node).input_count == 1 && !makes_int(graph, node);
    if (is_function) spell_out_steps(&first), spell_out_steps(&to);
    *list = find_switches(&first, &to, makes_int(graph, node));
    name_kernel(list, op);
    return EXIT_OK;
}

static int add_switches(unit *u, const piece *p) {
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < p->cone.node_count; i++) {
        switch_list list;
        qdq_numerics other;
        code = switches_at(u, p->of->graph, p->cone.nodes[i], &list, &other);
        if (code == EXIT_OK) add_switch_reasons(&u->reasons, &list);
    }
    return code;
}

static uint32_t all_reasons(const unit *u) {
    return (uint32_t)((UINT64_C(1) << u->reasons.count) - 1) & ~u->reasons.steps;
}

static int run_piece(const unit *u, const piece *p, uint32_t reasons, const feed *from,
                     void *const *results) {
    qdq_numerics *numerics = calloc(p->cone.node_count + 1, sizeof *numerics);
    int code = EXIT_OK;
    if (!numerics) return tell_failure(QDQ_ERR_MEMORY, "no memory for numerics");
    for (size_t i = 0; code == EXIT_OK && i < p->cone.node_count; i++) {
        switch_list list;
        code = switches_at(u, p->of->graph, p->cone.nodes[i], &list, &numerics[i]);
        if (code == EXIT_OK && reasons != all_reasons(u))
            numerics[i] = switched(&list, switches_of_node(&u->reasons, &list, reasons));
    }
    if (code == EXIT_OK) code = piece_compute(p, numerics, from, results);
    free(numerics);
    return code;
}

//---- Rewrites ---------------------------------------------------------------

static bool rewrites_any(const unit *u, const deployed *d) {
    for (size_t n = 0; n < u->nodes.node_count; n++) {
        rewritten_range range = rewrites_of(d, u->nodes.nodes[n]);
        if (range.first < range.end) return true;
    }
    return false;
}

// True if both targets run the same nodes in place of the unit's; the groups may have the same name
// all the same.
static bool runs_same(const unit *u) {
    qdq_value *values = calloc(u->output_count + 1, sizeof *values);
    for (size_t i = 0; values && i < u->output_count; i++) values[i] = u->outputs[i].value;
    bool same =
        values && same_cone(u->pair->first, &u->pair->own, u->pair->cut, values, u->output_count);
    free(values);
    return same;
}

// True if `other` applies every rewrite to the unit's nodes that `d` applies, to the same effect
// unless `differ`. Adds the causes of all other rewrites to `causes`, a set of the pair's causes.
static bool all_in(const unit *u, const deployed *d, const deployed *other, bool differ,
                   uint32_t *causes) {
    bool all = true;
    for (size_t n = 0; n < u->nodes.node_count; n++) {
        rewritten_range range = rewrites_of(d, u->nodes.nodes[n]);
        for (size_t i = range.first; i < range.end; i++) {
            qdq_rewrite_info w = qdq_graph_rewrite(d->graph, d->rewritten[i].rewrite);
            if (!differ && has_rewrite(other, u->nodes.nodes[n], &w)) continue;
            all = false;
            if (w.cause) *causes |= target_pair_cause(u->pair, w.cause);
        }
    }
    return all;
}

static int open_piece(const unit *u, piece *p, const deployed *of) {
    return piece_open(p, of, u->pair->cut, u->outputs, u->output_count, u->exec_options, u->isa);
}

static bool find_nodes(unit *u, const deployed *given) {
    qdq_value *values = calloc(u->output_count + 1, sizeof *values);
    for (size_t i = 0; values && i < u->output_count; i++) values[i] = u->outputs[i].value;
    bool found = values && cone_find(given, u->pair->cut, values, u->output_count, &u->nodes);
    free(values);
    return found;
}

int unit_open(unit *u, target_pair *pair, const deployed *given, const node_value *outputs,
              size_t count, const qdq_exec_options *exec_options, const char *isa) {
    *u = (unit){.pair = pair,
                .exec_options = exec_options,
                .isa = isa,
                .outputs = outputs,
                .output_count = count};
    if (!find_nodes(u, given)) return tell_failure(QDQ_ERR_MEMORY, "no memory for groups of nodes");
    uint32_t causes = 0;
    bool both = rewrites_any(u, &pair->own) && rewrites_any(u, pair->first),
         differ = both && &pair->own != pair->first && !runs_same(u);
    u->same_form = all_in(u, &pair->own, pair->first, differ, &causes);
    u->same_form = all_in(u, pair->first, &pair->own, differ, &causes) && u->same_form;
    int code = open_piece(u, &u->other, &pair->own);
    if (code == EXIT_OK && !u->same_form) code = open_piece(u, &u->first, pair->first);
    if (code == EXIT_OK) code = add_switches(u, &u->other);
    if (code == EXIT_OK && !u->same_form) code = add_switches(u, &u->first);
    if (code != EXIT_OK) return code;
    for (size_t i = 0; i < pair->cause_count; i++)
        if (causes >> i & 1) add_reason(&u->reasons, pair->causes[i], true);
    return code;
}

void unit_close(unit *u) {
    piece_close(&u->first);
    piece_close(&u->other);
    cone_release(&u->nodes);
    *u = (unit){0};
}

void unit_expect_difference(unit *u) {
    if (!u->same_form && !u->reasons.rewrites) add_reason(&u->reasons, "rewriting", true);
}

const char *unit_op(const unit *u, const deployed *in) {
    for (size_t i = 0; i < u->output_count; i++) {
        qdq_value given = u->outputs[i].value;
        size_t node = given.id ? in->makers[in->own[given.id].id] : SIZE_MAX;
        if (node != SIZE_MAX) return qdq_graph_node(in->graph, node).op;
    }
    return "";
}

const char *unit_group(const unit *u) {
    if (rewrites_any(u, &u->pair->own)) return unit_op(u, &u->pair->own);
    return rewrites_any(u, u->pair->first) ? unit_op(u, u->pair->first) : "";
}

//---- Running ----------------------------------------------------------------

int unit_run_other(const unit *u, const feed *from, void *const *results) {
    return run_piece(u, &u->other, all_reasons(u), from, results);
}

// Runs a graph between the two. It may lack a value that both targets have; the other target's
// graph is run in its place then.
static int run_between(unit *u, uint32_t reasons, const feed *from, void *const *results) {
    piece p = {0};
    const deployed *between = target_pair_between(u->pair, &u->reasons, reasons);
    if (!between) return EXIT_LIMIT;
    int code = open_piece(u, &p, between);
    if (code == EXIT_OK)
        code = run_piece(u, piece_can_run(&p, from) ? &p : &u->other, reasons, from, results);
    piece_close(&p);
    return code;
}

int unit_run(unit *u, uint32_t reasons, const feed *from, void *const *results) {
    uint32_t rewrites = reasons & u->reasons.rewrites;
    if (rewrites == u->reasons.rewrites) return run_piece(u, &u->other, reasons, from, results);
    if (!rewrites) return run_piece(u, &u->first, reasons, from, results);
    return run_between(u, reasons, from, results);
}
