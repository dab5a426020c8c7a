// SPDX-License-Identifier: Apache-2.0
// A mend is parameters of another kind for the same numbers: scales that cover the range, scales
// that clip it, zero points that follow it, a scale for each channel, or the scales after
// equalization, which divides each channel by its reach.
#include "tools/lab/explain/accuracy/mends.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"

static const double half_bit = 3, least_gain = 0.1;  // in decibels

enum {
    SAMPLED = 1 << 16,
    PARTS = 32,            // of the range: 2^(-k / 8)
    MOST_CODES = 1 << 16,  // int32 has codes for every range
};

//---- Rounding ---------------------------------------------------------------

// Parameters of a trial, for each group.
typedef struct trial {
    const quantized_numbers *q;
    const pair_scales *s;
    rounding how;
    channel_ranges channels;  // on how.axis
    double *scales, *zeros, *low, *high;
} trial;

static double factor_at(const trial *t, size_t element) {
    if (t->how.axis < 0) return 1;
    double reach = channel_reach(&t->channels, channel_of(t->q->shape, t->how.axis, element));
    return reach > 0 ? reach : 1;
}

static void cover_ranges(trial *t) {
    const quantized_numbers *q = t->q;
    for (size_t i = 0; i < q->count; i++) {
        size_t g = grouping_at(&t->s->groups, i);
        double x = q->x[i] / factor_at(t, i);
        if (!isfinite(x)) continue;
        t->low[g] = fmin(t->low[g], x), t->high[g] = fmax(t->high[g], x);
    }
    for (size_t g = 0; g < t->s->groups.count; g++) {
        double below = t->zeros[g] - q->least, above = q->greatest - t->zeros[g], scale = 0;
        if (t->how.shifts) {
            scale = (t->high[g] - t->low[g]) / (q->greatest - q->least);
            if (scale > 0) t->zeros[g] = nearbyint(q->least - t->low[g] / scale);
        } else {
            if (above > 0) scale = t->high[g] / above;
            if (below > 0) scale = fmax(scale, -t->low[g] / below);
        }
        t->scales[g] = scale > 0 ? scale : t->s->scales[g];
    }
}

static void trial_close(trial *t) {
    if (t->how.axis >= 0) channel_ranges_release(&t->channels);
    elements_free(t->scales);
}

static bool trial_open(trial *t, const quantized_numbers *q, const pair_scales *s,
                       const rounding *how) {
    size_t groups = s->groups.count;
    *t = (trial){.q = q, .s = s, .how = *how};
    if (how->axis >= 0 &&
        !channel_ranges_open(&t->channels, q->x, q->shape, how->axis, s->allocator)) {
        trial_close(t);
        return false;
    }
    t->scales = elements_take_numbers(s->allocator, 4 * groups);
    if (!t->scales) {
        trial_close(t);
        return false;
    }
    t->zeros = t->scales + groups, t->low = t->zeros + groups, t->high = t->low + groups;
    for (size_t g = 0; g < groups; g++) {
        t->scales[g] = s->scales[g], t->zeros[g] = s->zeros[g];
        t->low[g] = t->high[g] = 0;
    }
    if (!how->given) cover_ranges(t);
    // A backend has scales in float32.
    for (size_t g = 0; g < groups; g++) t->scales[g] = (double)(float)(t->scales[g] * how->part);
    return true;
}

static double rounded(const trial *t, size_t element) {
    size_t g = grouping_at(&t->s->groups, element);
    double factor = factor_at(t, element), scale = t->scales[g] * factor, zero = t->zeros[g];
    double code = nearbyint(t->q->x[element] / scale) + zero;
    return (fmin(fmax(code, t->q->least), t->q->greatest) - zero) * scale;
}

bool mend_round(const quantized_numbers *q, const pair_scales *s, const rounding *how, float *out) {
    trial t;
    if (!trial_open(&t, q, s, how)) return false;
    for (size_t i = 0; i < q->count; i++) out[i] = (float)rounded(&t, i);
    trial_close(&t);
    return true;
}

// Returns the ratio of a sample of the numbers; NaN if memory runs out.
static double own_ratio(const quantized_numbers *q, const pair_scales *s, const rounding *how,
                        double *scale, double *zero) {
    trial t;
    double signal = 0, noise = 0;
    if (!trial_open(&t, q, s, how)) return NAN;
    for (size_t i = 0, step = q->count / SAMPLED + 1; i < q->count; i += step) {
        double error = q->x[i] - rounded(&t, i);
        if (!isfinite(error)) continue;
        signal += q->x[i] * q->x[i], noise += error * error;
    }
    if (scale) *scale = t.scales[0];
    if (zero) *zero = t.zeros[0];
    trial_close(&t);
    return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

//---- Mends ------------------------------------------------------------------

typedef struct search {
    const quantized_numbers *q;
    const pair_scales *s;
    const mend_room *room;
    double own;  // of the present parameters
    mend *out;
    size_t count;
} search;

static mend *add(search *f, const char *cause, rounding how, double own) {
    mend *m = &f->out[f->count];
    if (f->count == MOST_MENDS || !(own > f->own + least_gain)) return NULL;
    *m = (mend){.cause = cause, .how = how, .own = own};
    f->count++;
    return m;
}

static void say_scale(const search *f, mend *m, double scale) {
    double before = f->s->scales[0];
    if (!m) return;
    m->cause = scale > before ? "scale too small" : "scale too large";
    m->narrows = scale < before;
    if (f->s->groups.count == 1)
        snprintf(m->text, sizeof m->text, "scale %.6g instead of %.6g", scale, before);
    else if (m->how.part < 1)
        snprintf(m->text, sizeof m->text, "scales that cover %.3g of each range", m->how.part);
    else
        snprintf(m->text, sizeof m->text, "scales that cover each range");
}

// True if codes with other parameters cover less than the node's, by more than a step.
static bool narrows(const search *f, double scale, double zero) {
    double least = f->q->least, greatest = f->q->greatest;
    double before = f->s->scales[0], middle = f->s->zeros[0];
    return (least - zero) * scale > (least - middle) * before + scale ||
           (greatest - zero) * scale < (greatest - middle) * before - scale;
}

// Scales that cover the range, and zero points that follow it if that gains half a bit.
static double add_range(search *f) {
    rounding how = {.axis = -1, .part = 1};
    double scale, zero = 0, own = own_ratio(f->q, f->s, &how, &scale, NULL);
    if (f->room->shifts && f->s->groups.count == 1) {
        rounding shifted = {.shifts = true, .axis = -1, .part = 1};
        double better = own_ratio(f->q, f->s, &shifted, &scale, &zero);
        mend *m =
            better > fmax(own, f->own) + half_bit ? add(f, "zero point", shifted, better) : NULL;
        if (m) snprintf(m->text, sizeof m->text, "scale %.6g and zero point %.0f", scale, zero);
        if (m) m->narrows = narrows(f, scale, zero);
        if (m) return better;
        (void)own_ratio(f->q, f->s, &how, &scale, NULL);
    }
    say_scale(f, add(f, "", how, own), scale);
    return own;
}

// Scales that clip the range, the best for the numbers themselves.
static void add_clipping(search *f, double covering) {
    rounding best = {.axis = -1, .part = 1};
    double most = covering, scale;
    for (int k = 1; k < PARTS; k++) {
        rounding how = {.axis = -1, .part = exp2(-k / 8.0)};
        double own = own_ratio(f->q, f->s, &how, NULL, NULL);
        if (own > most) most = own, best = how;
    }
    (void)own_ratio(f->q, f->s, &best, &scale, NULL);
    if (best.part < 1) say_scale(f, add(f, "", best, most), scale);
}

// Returns the axis of weights of a single scale whose channels gain most by one each; -1: none.
static int best_axis(const search *f, double *most) {
    int best = -1;
    *most = -INFINITY;
    for (int axis = 0; axis < f->q->shape.rank; axis++) {
        bool is_dim = f->q->shape.dims[axis] > 1 && (size_t)f->q->shape.dims[axis] < f->q->count;
        bool summed = f->room->channels && f->room->channels->axis == axis;
        rounding how = {.axis = axis, .part = 1};
        double own = is_dim && !summed ? own_ratio(f->q, f->s, &how, NULL, NULL) : -INFINITY;
        if (own > *most) best = axis, *most = own;
    }
    return best;
}

static void add_channel_scales(search *f, double covering) {
    double own;
    if (!f->room->weights || f->s->groups.count > 1) return;
    int axis = best_axis(f, &own);
    if (axis < 0 || own < covering + half_bit) return;
    mend *m = add(f, "per-tensor", (rounding){.axis = axis, .part = 1}, own);
    if (m) snprintf(m->text, sizeof m->text, "a scale for each index of axis %d", axis);
}

// Channels of which one reaches three bits farther than the median channel, or less far where the
// other operand reaches far: each is divided by its reach.
static void add_equalization(search *f) {
    const channel_ranges *c = f->room->channels;
    if (!c || (c->ratio < LEAST_IMBALANCE && !f->room->quiet)) return;
    rounding how = {.shifts = f->room->shifts, .axis = c->axis, .part = 1};
    double own = own_ratio(f->q, f->s, &how, NULL, NULL);
    // The errors of a quiet channel are little by themselves.
    if (f->room->quiet) own = fmax(own, f->own + half_bit);
    mend *m = add(f, "channel imbalance", how, own);
    size_t index = f->room->quiet ? c->least_reach : c->worst[0];
    if (m)
        snprintf(m->text, sizeof m->text,
                 "channel %zu of axis %d reaches %.3g, the median channel %.3g (%s%.3g x)", index,
                 c->axis, channel_reach(c, index), c->median, f->room->quiet ? "1/" : "",
                 f->room->quiet ? c->quiet : c->ratio);
}

size_t find_mends(const quantized_numbers *q, const pair_scales *s, const mend_room *room,
                  mend out[MOST_MENDS]) {
    search f = {.q = q, .s = s, .room = room, .out = out};
    if (q->greatest - q->least > MOST_CODES) return 0;
    f.own = own_ratio(q, s, &(rounding){.given = true, .axis = -1, .part = 1}, NULL, NULL);
    add_equalization(&f);
    double covering = fmax(add_range(&f), f.own);
    add_channel_scales(&f, covering);
    add_clipping(&f, covering);
    return f.count;
}
