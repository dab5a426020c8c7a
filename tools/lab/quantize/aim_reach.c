// SPDX-License-Identifier: Apache-2.0
// Finds the fewest products and residual sums in float that reach an aim. Each set is tried as the
// target deploys it, so a node counts as float only if the target computes it in float. Whole
// products are kept: ONNX Runtime rounds weights that are left in float between codes.
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
    double *noises;  // [place of the ranking]: error / signal
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

// Lists the nodes whose operands become codes.
static int list_nodes(quantization *q) {
    aim *a = &q->aim;
    size_t nodes = qdq_graph_node_count(q->graph);
    coding_list list = {0};
    bool opened = coding_list_open(&list, q->graph, q->session.plan);
    node_fate *fates = opened ? coding_list_memory(&list, nodes, sizeof *fates) : NULL;
    a->ranking = calloc(nodes + 1, sizeof *a->ranking);
    bool placed = fates && a->ranking && place_codes(&list, &q->state, &q->choice, fates);
    for (size_t n = 0; placed && n < nodes; n++)
        if (fates[n] == NODE_QUANTIZED)
            a->ranking[a->ranked++] = (ranked_node){
                .node = n,
                .is_product = qdq_has_word(q->choice.form->ops, qdq_graph_node(q->graph, n).op),
            };
    coding_list_release(&list);
    return placed ? EXIT_OK : no_memory();
}

static void keep_nodes(const reaching *r, bool in_float) {
    const aim *a = &r->q->aim;
    memcpy(r->kept, r->q->kept, qdq_graph_node_count(r->q->graph) * sizeof *r->kept);
    for (size_t i = 0; i < a->ranked; i++) r->kept[a->ranking[i].node] = in_float;
}

static int by_effect(const void *a, const void *b) {
    const ranked_node *x = a, *y = b;
    if (x->effect != y->effect) return x->effect < y->effect ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

static double decibels_of(double ratio) { return ratio > 0 ? -10 * log10(ratio) : INFINITY; }

// Measures a product alone on codes, or all nodes but a sum.
static int rank_node(const reaching *r, ranked_node *n, size_t stride, double all) {
    outcome o;
    keep_nodes(r, n->is_product);
    r->kept[n->node] = !n->is_product;
    int code = try_kept(r, stride, &o);
    n->effect = decibels_of(n->is_product ? noise_of(&o) : all - noise_of(&o));
    return code;
}

// Orders nodes by effect, but the last is a product, without which no node has codes.
static void order_nodes(const reaching *r) {
    const aim *a = &r->q->aim;
    size_t last = a->ranked;
    qsort(a->ranking, a->ranked, sizeof *a->ranking, by_effect);
    while (last > 0 && !a->ranking[last - 1].is_product) last--;
    for (; last > 0 && last < a->ranked; last++) {
        ranked_node sum = a->ranking[last];
        a->ranking[last] = a->ranking[last - 1], a->ranking[last - 1] = sum;
    }
    for (size_t i = 0; i < a->ranked; i++) r->noises[i] = pow(10, -a->ranking[i].effect / 10);
}

static int rank_nodes(const reaching *r) {
    aim *a = &r->q->aim;
    size_t stride = (a->trials.runs + RANKED_RUNS - 1) / RANKED_RUNS;
    outcome all;
    if (!stride) stride = 1;
    keep_nodes(r, false);
    int code = try_kept(r, stride, &all);
    for (size_t i = 0; code == EXIT_OK && i < a->ranked; i++)
        code = rank_node(r, &a->ranking[i], stride, noise_of(&all));
    order_nodes(r);
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
    size_t in_float = 0, on_codes = 0;
    keep_nodes(r, false);
    for (size_t i = 0; i < a->ranked; i++) {
        const ranked_node *n = &a->ranking[i];
        r->kept[n->node] = set[i];
        in_float += set[i];
        on_codes += n->is_product && !set[i];
    }
    *fits = false, *ratio = NAN;
    int code = on_codes ? try_kept(r, 1, &o) : EXIT_OK;
    if (code != EXIT_OK || !on_codes) return code;
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

// Writes the options of the aim. `real`: right in the float graph.
static void describe_aim(const aim *a, size_t real, char *out, size_t capacity) {
    int at = 0;
    if (a->decibels_given) at = snprintf(out, capacity, "--at-least %g", a->decibels);
    if (a->drop_given)
        snprintf(out + at, capacity - (size_t)at, "%s--drop %g (float: %zu right)",
                 at ? " and " : "", a->drop, real);
}

// Reports that no set reaches the aim.
static int refuse(const reaching *r) {
    const aim *a = &r->q->aim;
    const char *seed = noise_seed(r->q->opt);
    outcome all;
    char wanted[160], limit[96], best[96];
    keep_nodes(r, true);
    int code = try_kept(r, 1, &all);
    if (code != EXIT_OK) return code;
    describe_aim(a, all.counts.real, wanted, sizeof wanted);
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
    for (size_t i = 0; code == EXIT_OK && i < a->ranked; i++) {
        size_t node = a->ranking[i].node;
        if (s.kept[i]) q->kept[node] = a->found[node] = true;
    }
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
    int code = r.kept && r.noises && a->found ? list_nodes(q) : no_memory();
    if (code == EXIT_OK) code = rank_nodes(&r);
    if (code == EXIT_OK) code = search(&r);
    free(r.noises);
    free(r.kept);
    return code;
}

int aim_measure(quantization *q) {
    aim *a = &q->aim;
    char wanted[160], found[96];
    int code = a->opened ? aim_try(q, q->quantized, NULL, 1, &a->result) : EXIT_OK;
    if (code != EXIT_OK || !a->found || !a->result.verdict.samples || aim_is_reached(a, &a->result))
        return code;
    describe_aim(a, a->result.counts.real, wanted, sizeof wanted);
    describe(a, &a->result, found, sizeof found);
    return tell_failure(QDQ_ERR_UNSUPPORTED,
                        "%s: with corrections target %s gives %s, which is no longer %s; leave out "
                        "--correct, or ask for more; nothing was written",
                        q->opt->operands.items[0], q->target, found, wanted);
}
