// SPDX-License-Identifier: Apache-2.0
// A mend counts if it gains at least 1 dB on the output, on even and on odd samples, so that none
// fits single samples. It is the advice if it gives most of what float would give, or a bit more;
// for all other pairs the advice is float, named by the products that read the pair.
#include "tools/lab/explain/accuracy/pair_causes.h"

#include <math.h>
#include <qdq/coding.h>
#include <stdio.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/lab/explain/accuracy/code_parameters.h"
#include "tools/lab/explain/accuracy/keep_words.h"
#include "tools/lab/explain/accuracy/mends.h"
#include "tools/lab/explain/accuracy/pair_sites.h"

// In decibels of the output.
static const double least_gain = 1, half_bit = 3, bit = 6;
static const double most_of_float = 0.8;  // share of the gain of float

typedef struct cause_search {
    effect_meter *meter;
    accuracy *a;
    const char *folder;
    qdq_equalize_sites *sites;  // of the float model; owned; NULL: not asked for yet
    double rest;  // noise of the pairs that are less than this one, in a signal of power 1
} cause_search;

static const reference *written(const cause_search *s) { return s->meter->walks.forms.written; }

static double noise_of(double ratio) { return pow(10, -ratio / 10); }

//---- Trying mends -----------------------------------------------------------

// A pair, its numbers and the mend that helps the output most.
typedef struct pair_trial {
    node_accuracy *n;
    quantized_numbers q;
    pair_scales scales;
    mend best;
    summed_operand operand;  // that reads the pair
    double gain, effect;     // of the best mend; 0: none
} pair_trial;

static double gain_of(const node_accuracy *n, const effect_ratio *with) {
    double gain = with->all - n->effect;
    for (size_t half = 0; half < 2 && half < n->samples; half++)
        gain = fmin(gain, with->halves[half] - n->halves[half]);
    return gain;
}

// Rounds with a mend, and measures the output. Prefers an earlier mend within 1 dB.
static qdq_status try_mend(const cause_search *s, pair_trial *t, const mend *m, qdq_error *err) {
    float *result = elements_take(t->scales.allocator, t->q.count * sizeof *result);
    if (!result || !mend_round(&t->q, &t->scales, &m->how, result)) {
        elements_free(result);
        return replay_no_memory(err);
    }
    effect_ratio with;
    const effect_walk walk = {.row = t->n, .result = result};
    qdq_status status = effect_meter_run(s->meter, &walk, &with, err);
    elements_free(result);
    if (status != QDQ_OK || isnan(with.all)) return status;
    double gain = gain_of(t->n, &with);
    if (gain > t->gain + (t->gain > 0 ? least_gain : 0))
        t->gain = gain, t->effect = with.all, t->best = *m;
    return QDQ_OK;
}

static bool may_shift(const cause_search *s, const node_accuracy *n) {
    const qdq_quantized_form *form = qdq_target_quantized_form(written(s)->quantized->target);
    return n->kind == KIND_ACTIVATIONS && !(form && form->symmetric);
}

// True if the quietest channel of weights is multiplied by a channel of activations that reaches
// far.
static bool meets_imbalance(const cause_search *s, const pair_trial *t) {
    enum { DATA, WEIGHTS };
    const replay *r = written(s)->quantized;
    const channel_ranges *own = &t->n->channels;
    if (t->operand.axis < 0 || t->operand.port != WEIGHTS || own->quiet < LEAST_IMBALANCE)
        return false;
    qdq_value x = qdq_graph_node_input(r->form.graph, t->operand.product, DATA);
    const node_value v = node_value_of(r->form.graph, x);
    int axis = summed_axis(r, t->operand.product, DATA, v.info.shape.rank);
    if (axis < 0 || (size_t)v.info.shape.dims[axis] != own->count) return false;
    double *numbers = numbers_of(r, &v, reference_of(written(s), x));
    channel_ranges others = {0};
    bool known = numbers && channel_ranges_open(&others, numbers, v.info.shape, axis,
                                                r->exec_options.allocator);
    bool meets =
        known && channel_reach(&others, own->least_reach) >= LEAST_IMBALANCE * others.median;
    channel_ranges_release(&others);
    elements_free(numbers);
    return meets;
}

static qdq_status try_mends(const cause_search *s, pair_trial *t, qdq_error *err) {
    mend found[MOST_MENDS];
    const mend_room room = {.weights = t->n->kind == KIND_WEIGHTS,
                            .shifts = may_shift(s, t->n),
                            .channels = t->operand.axis >= 0 ? &t->n->channels : NULL,
                            .quiet = meets_imbalance(s, t)};
    size_t count = find_mends(&t->q, &t->scales, &room, found);
    qdq_status status = QDQ_OK;
    for (size_t i = 0; status == QDQ_OK && i < count; i++)
        if (room.weights || !found[i].narrows || t->n->samples >= LEAST_SAMPLES)
            status = try_mend(s, t, &found[i], err);
    return status;
}

//---- The advice -------------------------------------------------------------

bool is_most_of_float(double effect, double with, double rest) {
    double all = rest + noise_of(effect), gain = 10 * log10(all / (rest + noise_of(with)));
    return gain >= most_of_float * 10 * log10(all / rest);
}

static void advise_float(const cause_search *s, node_accuracy *n, const char *cause) {
    char words[sizeof n->mend - 64];
    snprintf(n->cause, sizeof n->cause, "%s", cause);
    keep_words(written(s), n->node, words, sizeof words);
    snprintf(n->mend, sizeof n->mend, "more bits, or float: %s", words);
    n->mended = INFINITY;
}

// Advises to equalize, or, where no factor of channels can move, to keep products in float.
static qdq_status advise_equalizing(cause_search *s, const pair_trial *t, bool enough,
                                    const char *words, qdq_error *err) {
    node_accuracy *n = t->n;
    if (!s->sites) s->sites = qdq_graph_equalize_sites(s->meter->walks.graphs.real->graph, err);
    if (!s->sites) return err->status;
    bool reached = pair_has_site(s->sites, written(s), n->node, &t->operand);
    snprintf(n->mend, sizeof n->mend, "%s%s%s", t->best.text,
             !reached ? ", no node before it takes a factor: "
             : enough ? ": qdq quantize --equalize"
                      : ": qdq quantize --equalize, or in float: ",
             reached && enough ? "" : words);
    n->mended = reached ? t->effect : INFINITY;
    return QDQ_OK;
}

static qdq_status advise(cause_search *s, const pair_trial *t, qdq_error *err) {
    node_accuracy *n = t->n;
    char words[sizeof n->mend / 3];
    bool enough = t->gain >= least_gain && is_most_of_float(t->n->effect, t->effect, s->rest);
    bool unlike = t->gain >= half_bit && strcmp(t->best.cause, "channel imbalance") == 0;
    if (!enough && !unlike && t->gain < bit) {
        advise_float(s, n, "resolution");
        return QDQ_OK;
    }
    keep_words(written(s), n->node, words, sizeof words);
    snprintf(n->cause, sizeof n->cause, "%s", t->best.cause);
    if (strcmp(t->best.cause, "channel imbalance") == 0)
        return advise_equalizing(s, t, enough, words, err);
    snprintf(n->mend, sizeof n->mend, "%s%s%s", t->best.text,
             enough ? "" : ", or in float: ", enough ? "" : words);
    n->mended = t->effect;
    return QDQ_OK;
}

static bool reads_dequantized(const replay *r, size_t node) {
    size_t quantize = quantize_of(r, node);
    if (quantize == SIZE_MAX) return false;
    qdq_value x = qdq_graph_node_input(r->form.graph, quantize, 0);
    return is_op(r, r->form.makers[x.id], "Dequantize");
}

// Measures the channels of a pair along the axis that a product sums over, or else along the axis
// where channels usually are.
static bool measure_channels(const cause_search *s, pair_trial *t) {
    const replay *r = written(s)->quantized;
    node_accuracy *n = t->n;
    int rank = t->q.shape.rank, axis;
    t->operand = summed_operand_of(r, qdq_graph_node_output(r->form.graph, n->node, 0));
    axis = t->operand.axis >= 0 ? t->operand.axis : rank > 2 ? 1 : rank - 1;
    return axis < 0 ||
           channel_ranges_open(&n->channels, t->q.x, t->q.shape, axis, r->exec_options.allocator);
}

static qdq_status find_pair_cause(cause_search *s, pair_trial *t, qdq_error *err) {
    const replay *r = written(s)->quantized;
    code_parameters p;
    if (!code_parameters_read(r, t->n->node, s->folder, &p, err)) return err->status;
    bool known = code_numbers(written(s), t->n->node, &p, &t->q);
    if (known && !measure_channels(s, t)) return replay_no_memory(err);
    if (reads_dequantized(r, t->n->node)) {
        snprintf(t->n->cause, sizeof t->n->cause, "double rounding");
        snprintf(t->n->mend, sizeof t->n->mend, "quantize once: leave out the pair before it");
        t->n->mended = INFINITY;
        return QDQ_OK;
    }
    bool tried = known && r->nodes[t->n->node].run.outputs[0].info.dtype == QDQ_FLOAT32 &&
                 t->n->effect < INFINITY &&
                 pair_scales_read(r, t->n->node, s->folder, &t->scales, err);
    qdq_status status = err->status == QDQ_OK && tried ? try_mends(s, t, err) : err->status;
    return status == QDQ_OK ? advise(s, t, err) : status;
}

//---- All rows ---------------------------------------------------------------

double noise_behind(const accuracy *a, const size_t *list, size_t count, size_t at) {
    size_t mended = at < 1 ? 2 : at + 1;
    double all = noise_of(a->summed), rest = all;
    for (size_t i = 0; i < count && i < mended; i++)
        if (a->nodes[list[i]].kind < KIND_OPERATION) rest -= noise_of(a->nodes[list[i]].effect);
    return fmax(rest, all * 1e-6);
}

static int find_cause(cause_search *s, node_accuracy *n) {
    pair_trial t = {.n = n};
    qdq_error err = {0};
    if (n->kind == KIND_GROUP) return find_group_cause(&s->meter->walks.forms, s->folder, n);
    if (n->kind == KIND_OPERATION) {
        snprintf(n->cause, sizeof n->cause, "numerics");
        snprintf(n->mend, sizeof n->mend, "none: the target computes the op so");
        return EXIT_OK;
    }
    qdq_status status = find_pair_cause(s, &t, &err);
    pair_scales_release(&t.scales);
    elements_free(t.q.x), elements_free(t.q.codes);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

int causes_find(effect_meter *meter, const char *folder, const size_t *list, size_t count,
                accuracy *a) {
    cause_search s = {.meter = meter, .a = a, .folder = folder};
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < count; i++) {
        s.rest = noise_behind(a, list, count, i);
        if (!*a->nodes[list[i]].cause) code = find_cause(&s, &a->nodes[list[i]]);
    }
    qdq_equalize_sites_destroy(s.sites);
    return code;
}
