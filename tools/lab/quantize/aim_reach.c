// SPDX-License-Identifier: Apache-2.0
// Finds the fewest products in float that reach an aim. Each set is tried as the target deploys it,
// so a node counts as float only if the target computes it in float. Whole products are kept:
// ONNX Runtime rounds weights that are left in float between codes.
#include <math.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/words.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/lab/quantize/keep_search.h"
#include "tools/lab/quantize/quantize_report.h"

// Runs on which the products are ranked.
enum { RANKED_RUNS = 64 };

typedef struct reaching {
    quantization *q;
    bool *kept;      // [node]: of a trial
    double *noises;  // [ranked product]: error / signal
    outcome best;    // without the aim
    size_t in_float;
} reaching;

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory for a search"); }

static double noise_of(const outcome *o) {
    return o->verdict.samples ? pow(10, -o->verdict.decibels / 10) : INFINITY;
}

// Measures the codes of a choice with these nodes in float.
static int try_kept(const reaching *r, size_t stride, outcome *out) {
    quantize_choice choice = r->q->choice;
    choice.kept = r->kept;
    return aim_try(r->q, r->q->graph, &choice, stride, out);
}

//---- Ranking ----------------------------------------------------------------

// Lists the products whose operands become codes.
static int list_products(quantization *q) {
    aim *a = &q->aim;
    size_t nodes = qdq_graph_node_count(q->graph);
    coding_list list = {0};
    bool opened = coding_list_open(&list, q->graph, q->session.plan);
    node_fate *fates = opened ? coding_list_memory(&list, nodes, sizeof *fates) : NULL;
    a->ranking = calloc(nodes + 1, sizeof *a->ranking);
    bool placed = fates && a->ranking && place_codes(&list, &q->state, &q->choice, fates);
    for (size_t n = 0; placed && n < nodes; n++)
        if (fates[n] == NODE_QUANTIZED &&
            qdq_has_word(q->choice.form->ops, qdq_graph_node(q->graph, n).op))
            a->ranking[a->ranked++].node = n;
    coding_list_release(&list);
    return placed ? EXIT_OK : no_memory();
}

static void keep_products(const reaching *r, bool in_float) {
    const aim *a = &r->q->aim;
    memcpy(r->kept, r->q->kept, qdq_graph_node_count(r->q->graph) * sizeof *r->kept);
    for (size_t i = 0; i < a->ranked; i++) r->kept[a->ranking[i].node] = in_float;
}

static int by_effect(const void *a, const void *b) {
    const ranked_product *x = a, *y = b;
    if (x->effect != y->effect) return x->effect < y->effect ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

// Measures each product alone on codes.
static int rank_products(const reaching *r) {
    aim *a = &r->q->aim;
    size_t stride = (a->trials.runs + RANKED_RUNS - 1) / RANKED_RUNS;
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < a->ranked; i++) {
        outcome o;
        keep_products(r, true);
        r->kept[a->ranking[i].node] = false;
        code = try_kept(r, stride ? stride : 1, &o);
        a->ranking[i].effect = o.verdict.samples ? o.verdict.decibels : -INFINITY;
    }
    qsort(a->ranking, a->ranked, sizeof *a->ranking, by_effect);
    for (size_t i = 0; i < a->ranked; i++) r->noises[i] = pow(10, -a->ranking[i].effect / 10);
    return code;
}

//---- The search -------------------------------------------------------------

static bool is_better(const aim *a, const outcome *x, const outcome *y) {
    if (!x->verdict.samples || !y->verdict.samples) return x->verdict.samples > 0;
    if (!a->decibels_given) return x->counts.quantized > y->counts.quantized;
    return x->verdict.decibels > y->verdict.decibels;
}

static int measure(void *with, const bool *set, bool *fits, double *ratio) {
    reaching *r = with;
    const aim *a = &r->q->aim;
    outcome o;
    size_t in_float = 0;
    keep_products(r, false);
    for (size_t i = 0; i < a->ranked; i++) {
        r->kept[a->ranking[i].node] = set[i];
        in_float += set[i];
    }
    int code = try_kept(r, 1, &o);
    if (code != EXIT_OK) return code;
    *fits = aim_is_reached(a, &o);
    *ratio = noise_of(&o);
    if (is_better(a, &o, &r->best)) r->best = o, r->in_float = in_float;
    return EXIT_OK;
}

static void describe(const aim *a, const outcome *o, char *out, size_t capacity) {
    int at = 0;
    if (!o->verdict.samples)
        snprintf(out, capacity, "a refused graph");
    else if (isinf(o->verdict.decibels) && o->verdict.decibels > 0)
        at = snprintf(out, capacity, "all bits");
    else
        at = snprintf(out, capacity, "%.1f dB", o->verdict.decibels);
    if (at > 0 && a->labels.word)
        snprintf(out + at, capacity - (size_t)at, " (%zu of %zu right)", o->counts.quantized,
                 o->counts.rows);
}

// Reports that no set reaches the aim.
static int refuse(const reaching *r) {
    const aim *a = &r->q->aim;
    const char *seed = noise_seed(r->q->opt);
    outcome all;
    char wanted[160] = "", limit[96], best[96];
    keep_products(r, true);
    int code = try_kept(r, 1, &all);
    if (code != EXIT_OK) return code;
    if (a->decibels_given) snprintf(wanted, sizeof wanted, "--at-least %g", a->decibels);
    if (a->drop_given)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted),
                 "%s--drop %g (float: %zu right)", *wanted ? " and " : "", a->drop,
                 all.counts.real);
    describe(a, &all, limit, sizeof limit);
    describe(a, &r->best, best, sizeof best);
    return tell_failure(QDQ_ERR_UNSUPPORTED,
                        "%s: no set of products in float reaches %s on target %s%s%s%s: it gives "
                        "%s with %zu of %zu in float, and %s with all of them; nothing was written",
                        r->q->opt->operands.items[0], wanted, r->q->target,
                        seed ? ", on random inputs (--fill " : "", seed ? seed : "",
                        seed ? ")" : "", best, r->in_float, a->ranked, limit);
}

static int search(reaching *r) {
    quantization *q = r->q;
    aim *a = &q->aim;
    keep_search s = {.count = a->ranked, .noises = r->noises, .measure = measure, .with = r};
    s.wanted = a->decibels_given ? pow(10, -a->decibels / 10) : INFINITY;
    s.kept = calloc(a->ranked + 1, sizeof *s.kept);
    int code = s.kept ? keep_search_run(&s) : -1;
    if (code < 0) code = no_memory();
    a->searched = s.trials;
    if (code == EXIT_OK && !s.found && a->ranked) code = refuse(r);
    for (size_t i = 0; code == EXIT_OK && i < a->ranked; i++)
        if (s.kept[i]) q->kept[a->ranking[i].node] = a->found[a->ranking[i].node] = true;
    free(s.kept);
    return code;
}

int aim_reach(quantization *q) {
    aim *a = &q->aim;
    size_t nodes = qdq_graph_node_count(q->graph);
    if ((!a->decibels_given && !a->drop_given) || q->float_errors) return EXIT_OK;
    reaching r = {.q = q,
                  .kept = calloc(nodes + 1, sizeof *r.kept),
                  .noises = calloc(nodes + 1, sizeof *r.noises)};
    a->found = calloc(nodes + 1, sizeof *a->found);
    int code = r.kept && r.noises && a->found ? list_products(q) : no_memory();
    if (code == EXIT_OK) code = rank_products(&r);
    if (code == EXIT_OK) code = search(&r);
    free(r.noises);
    free(r.kept);
    return code;
}
