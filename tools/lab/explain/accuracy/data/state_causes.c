// SPDX-License-Identifier: Apache-2.0
// Rounding adds scale^2 / 12 for each number within the range of the codes, so ranges tell what
// other parameters would gain: in decibels of the pair's own error, as for a single run. Clipped
// numbers add more, which the sum of all errors shows.
#include "tools/lab/explain/accuracy/data/state_causes.h"

#include <math.h>
#include <qdq/coding.h>
#include <stdio.h>
#include <string.h>

#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/explain/accuracy/data/channel_state.h"
#include "tools/lab/explain/accuracy/pair_causes.h"

static const double least_gain = 1, half_bit = 3, bit = 6;  // in decibels
static const double most_codes = 1 << 16;                   // int32 has codes for every range

// A pair, and the best mend so far.
typedef struct pair_state {
    const state *s;
    size_t row;  // of the table of nodes
    node_accuracy *n;
    double scale, zero, least, greatest;  // scale 0: several
    double low, high;                     // of all numbers, 0 included
    double gain;                          // of the mend, in decibels
    bool in_float;                        // the mend is float
    char cause[sizeof((node_accuracy *)NULL)->cause], mend[192];
} pair_state;

static double decibels_of(double ratio) { return 10 * log10(ratio); }

// True if enough samples show how far activations reach; fewer ask for too narrow a range.
static bool may_narrow(const pair_state *p) {
    const int64_t *counts = state_ints(&p->s->tables[TABLE_OUTPUTS], OUTPUT_COUNTS, 0);
    bool enough = p->s->tables[TABLE_OUTPUTS].rows && counts[COUNT_SAMPLES] >= LEAST_SAMPLES;
    return enough || p->n->kind == KIND_WEIGHTS;
}

// Returns the scale that covers a range with the present zero point.
static double covering(const pair_state *p, double low, double high) {
    double above = p->greatest - p->zero, below = p->zero - p->least, scale = 0;
    if (above > 0) scale = high / above;
    if (below > 0) scale = fmax(scale, -low / below);
    return scale;
}

// Returns what the pair gains if its numbers are rounded with this scale, and none is clipped.
static double gain_of(const pair_state *p, double scale) {
    const state_table *t = &p->s->tables[TABLE_NODES];
    double rounded = p->scale * p->scale / 12 * (double)p->n->elements, noises = rounded;
    if (p->n->clipped)
        noises = exact_value(state_ints(t, NODE_OWN_NOISES, p->row), SQUARE_DIGITS, SQUARE_SHIFT);
    return scale > 0 ? decibels_of(noises / rounded * (p->scale / scale) * (p->scale / scale)) : 0;
}

static bool take(pair_state *p, const char *cause, double gain, double least) {
    if (!(gain >= least) || !(gain >= p->gain)) return false;
    p->gain = gain;
    p->in_float = false;
    snprintf(p->cause, sizeof p->cause, "%s", cause);
    return true;
}

//---- Mends ------------------------------------------------------------------

static bool may_shift(const pair_state *p) {
    const qdq_quantized_form *form = qdq_target_quantized_form(p->s->targets.items[0]);
    return p->n->kind == KIND_ACTIVATIONS && !(form && form->symmetric);
}

// True if codes with other parameters cover less than the present ones, by more than a step.
static bool narrows(const pair_state *p, double scale, double zero) {
    return (p->least - zero) * scale > (p->least - p->zero) * p->scale + scale ||
           (p->greatest - zero) * scale < (p->greatest - p->zero) * p->scale - scale;
}

static void try_scales(pair_state *p) {
    double scale = (double)(float)covering(p, p->low, p->high), gain = gain_of(p, scale);
    bool possible = may_narrow(p) || scale > p->scale;
    if (possible &&
        take(p, scale > p->scale ? "scale too small" : "scale too large", gain, least_gain))
        snprintf(p->mend, sizeof p->mend, "scale %.6g instead of %.6g", scale, p->scale);
    scale = (double)(float)((p->high - p->low) / (p->greatest - p->least));
    double zero = nearbyint(p->least - p->low / scale);
    possible = may_shift(p) && (may_narrow(p) || !narrows(p, scale, zero));
    if (possible && take(p, "zero point", gain_of(p, scale), fmax(gain, 0) + half_bit))
        snprintf(p->mend, sizeof p->mend, "scale %.6g and zero point %.0f", scale, zero);
}

// Tries a scale for each channel of weights.
static void try_channel_scales(pair_state *p, const channel_ranges *c) {
    double covered = covering(p, p->low, p->high), noises = 0;
    for (size_t i = 0; i < c->count; i++)
        noises += pow(covering(p, c->least[i], c->greatest[i]) / covered, 2) / (double)c->count;
    double before = fmax(gain_of(p, covered), 0), gain = before - decibels_of(noises);
    if (noises > 0 && take(p, "per-tensor", gain, before + half_bit))
        snprintf(p->mend, sizeof p->mend, "a scale for each index of axis %d", c->axis);
}

// True if the quietest channel of weights meets a channel of activations that reaches far.
static bool meets_imbalance(const pair_state *p, size_t first, const channel_ranges *own) {
    const state_table *t = &p->s->tables[TABLE_CHANNELS];
    int64_t pair = state_ints(t, CHANNEL_AT, first)[PLACE_MEETS];
    if (pair < 0 || own->quiet < LEAST_IMBALANCE) return false;
    for (size_t row = 0; row < t->rows; row++) {
        const int64_t *at = state_ints(t, CHANNEL_AT, row);
        if (at[PLACE_PAIR] != pair || at[PLACE_FIRST] != 0 || at[PLACE_SUMMED] < 1) continue;
        channel_ranges others;
        bool meets = channel_rows_read(t, row, &others) && others.count == own->count &&
                     channel_reach(&others, own->least_reach) >= LEAST_IMBALANCE * others.median;
        channel_ranges_release(&others);
        return meets;
    }
    return false;
}

static void name_channel(pair_state *p, const channel_ranges *c, bool quiet, bool has_site) {
    size_t index = quiet ? c->least_reach : c->worst[0];
    p->in_float = !has_site;
    snprintf(p->mend, sizeof p->mend,
             "channel %zu of axis %d reaches %.3g, the median channel %.3g (%s%.3g x)%s", index,
             c->axis, channel_reach(c, index), c->median, quiet ? "1/" : "",
             quiet ? c->quiet : c->ratio,
             has_site ? ": qdq quantize --equalize" : ", no node before it takes a factor");
}

// Compares channels over which a product sums: equalized, each is divided by its reach. The errors
// of a quiet channel are little by themselves, but the product multiplies them.
static void try_equalization(pair_state *p, size_t first, const channel_ranges *c) {
    double noises = 0, most = channel_reach(c, c->worst[0]), before = 0;
    bool quiet = meets_imbalance(p, first, c);
    if (p->scale > 0) before = fmax(gain_of(p, covering(p, p->low, p->high)), 0);
    for (size_t i = 0; i < c->count; i++)
        noises += pow(channel_reach(c, i) / most, 2) / (double)c->count;
    double gain = before + (quiet ? fmax(-decibels_of(noises), half_bit) : -decibels_of(noises));
    if ((quiet || c->ratio >= LEAST_IMBALANCE) &&
        take(p, "channel imbalance", gain, before + half_bit))
        name_channel(p, c, quiet,
                     state_ints(&p->s->tables[TABLE_CHANNELS], CHANNEL_AT, first)[PLACE_SUMMED] ==
                         2);
}

//---- A pair -----------------------------------------------------------------

static void measure_range(pair_state *p, const channel_ranges *c) {
    for (size_t i = 0; i < c->count; i++)
        p->low = fmin(p->low, c->least[i]), p->high = fmax(p->high, c->greatest[i]);
}

// Tries the mends of the channels along one axis. The first axis of a pair, along which channels
// usually are, also has its range.
static bool try_axis(pair_state *p, size_t first, bool is_first) {
    const state_table *t = &p->s->tables[TABLE_CHANNELS];
    bool summed = state_ints(t, CHANNEL_AT, first)[PLACE_SUMMED] >= 1;
    channel_ranges c;
    bool done = channel_rows_read(t, first, &c);
    if (done && is_first) measure_range(p, &c);
    if (done && is_first && p->scale > 0 && p->low < p->high) try_scales(p);
    if (done && summed && c.worst_count) try_equalization(p, first, &c);
    if (done && !summed && p->scale > 0 && p->n->kind == KIND_WEIGHTS && p->low < p->high)
        try_channel_scales(p, &c);
    if (done && is_first)
        p->n->channels = c;  // which the accuracy owns
    else
        channel_ranges_release(&c);
    return done;
}

static void try_mends(pair_state *p) {
    const state_table *t = &p->s->tables[TABLE_CHANNELS];
    bool is_first = true;
    if (!(p->greatest - p->least <= most_codes)) return;
    for (size_t row = 0; row < t->rows; row++) {
        const int64_t *at = state_ints(t, CHANNEL_AT, row);
        if (at[PLACE_NODE] != (int64_t)p->row || at[PLACE_FIRST] != 0) continue;
        if (!try_axis(p, row, is_first)) return;
        is_first = false;
    }
}

// True if the mend is worth more than more bits or float, as for a single run.
static bool is_advice(const pair_state *p, double rest) {
    double effect = p->n->effect;
    bool unlike = strcmp(p->cause, "channel imbalance") == 0;
    return *p->cause && (p->gain >= (unlike ? half_bit : bit) ||
                         is_most_of_float(effect, effect + p->gain, rest));
}

static void find_pair_cause(const state *s, node_accuracy *n, double rest) {
    const double *parameters = state_reals(&s->tables[TABLE_NODES], NODE_PARAMETERS, n->node);
    pair_state p = {.s = s,
                    .row = n->node,
                    .n = n,
                    .scale = parameters[PARAMETER_SCALE],
                    .zero = parameters[PARAMETER_ZERO],
                    .least = parameters[PARAMETER_LEAST],
                    .greatest = parameters[PARAMETER_GREATEST]};
    const char *keep = state_text(&s->tables[TABLE_NODES], NODE_KEEP, n->node);
    try_mends(&p);
    bool found = is_advice(&p, rest);
    snprintf(n->cause, sizeof n->cause, "%s", found ? p.cause : "resolution");
    const char *how = !found ? ", or float: " : p.in_float ? ": " : ", or in float: ";
    snprintf(n->mend, sizeof n->mend, "%s%s%s", found ? p.mend : "more bits", *keep ? how : "",
             keep);
}

//---- All rows ---------------------------------------------------------------

static void find_cause(const state *s, node_accuracy *n, double rest) {
    const state_table *t = &s->tables[TABLE_NODES];
    snprintf(n->cause, sizeof n->cause, "%s", state_text(t, NODE_CAUSE, n->node));
    snprintf(n->mend, sizeof n->mend, "%s", state_text(t, NODE_MEND, n->node));
    if (*n->cause) return;
    if (n->kind != KIND_OPERATION) {
        find_pair_cause(s, n, rest);
        return;
    }
    snprintf(n->cause, sizeof n->cause, "numerics");
    snprintf(n->mend, sizeof n->mend, "none: the target computes the op so");
}

void state_find_causes(const state *s, accuracy *a) {
    size_t list[2 * WORST_NODES], count = accuracy_by_effect(a, list, 2 * WORST_NODES);
    for (size_t i = 0; i < count; i++)
        find_cause(s, &a->nodes[list[i]], noise_behind(a, list, count, i));
    count = accuracy_worst(a, KIND_OPERATION, list, WORST_NODES);
    for (size_t i = 0; i < count; i++) find_cause(s, &a->nodes[list[i]], 0);
}
