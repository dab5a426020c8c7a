// SPDX-License-Identifier: Apache-2.0
// Tries other scales and zero points.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/lab/explain/fit.h"
#include "tools/lab/explain/mistakes/trial.h"

//---- Scales -----------------------------------------------------------------

enum { MOST_FACTORS = 64 };

static void try_one_for_all(mistake_trial *t, const parameter *p, const char *cause) {
    double least = p->values[0], most = p->values[0], sum = 0;
    size_t n = p->count;
    for (size_t i = 0; i < n; i++) {
        sum += p->values[i];
        least = fmin(least, p->values[i]), most = fmax(most, p->values[i]);
    }
    const struct {
        const char *detail;
        double value;
    } tried[] = {{"the first for all", p->values[0]},
                 {"the largest for all", most},
                 {"the mean for all", sum / (double)n},
                 {"the smallest for all", least},
                 {"the last for all", p->values[n - 1]}};
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        trial_fill(t, n, tried[i].value);
        trial_values(t, p, cause, tried[i].detail);
    }
}

// Tries the scale and the zero point of one group for all groups.
static void try_group_for_all(mistake_trial *t, const parameter_pair *p) {
    static const char *const details[] = {"the first for all, with its zero point",
                                          "the largest for all, with its zero point",
                                          "the last for all, with its zero point"};
    size_t n = p->scale.count, largest = 0;
    if (n <= 1 || p->zero.count != n) return;
    for (size_t i = 0; i < n; i++)
        if (p->scale.values[i] > p->scale.values[largest]) largest = i;
    const size_t groups[] = {0, largest, n - 1};
    for (size_t k = 0; k < 3 && trial_begin(t); k++) {
        trial_fill(t, n, p->scale.values[groups[k]]);
        if (!parameter_set(t->d, &p->scale, t->values)) return;
        trial_fill(t, n, p->zero.values[groups[k]]);
        if (parameter_set(t->d, &p->zero, t->values)) trial_take(t, "per-tensor", details[k]);
    }
}

static void try_other_order(mistake_trial *t, const parameter *p, const char *cause) {
    size_t n = p->count;
    for (size_t i = 0; i < n; i++) t->values[i] = p->values[n - 1 - i];
    trial_values(t, p, cause, "in reverse order");
    for (size_t i = 0; i < n; i++) t->values[i] = p->values[(i + 1) % n];
    trial_values(t, p, cause, "one place on");
    for (size_t i = 0; i < n; i++) t->values[i] = p->values[(i + n - 1) % n];
    trial_values(t, p, cause, "one place back");
}

static void try_pooled(mistake_trial *t, const parameter *p, bool zero, const char *cause) {
    char detail[160];
    for (size_t i = 0; i < t->pool->count; i++) {
        const pooled *one = &t->pool->items[i];
        if (one->zero != zero || one->count != (p->count ? p->count : 1)) continue;
        snprintf(detail, sizeof detail, "the %s of '%s'", zero ? "zero point" : "scale", one->node);
        memcpy(t->values, one->values, one->count * sizeof(double));
        trial_values(t, p, cause, detail);
    }
}

// Tries a scale with the scale of another node as a factor: left out, or applied once more. The
// scale of a bias is the product of two.
static void try_factors(mistake_trial *t, const parameter *p) {
    char detail[160];
    for (size_t i = 0; i < t->pool->count && i < MOST_FACTORS; i++) {
        const pooled *one = &t->pool->items[i];
        if (one->zero || (one->count != 1 && one->count != p->count)) continue;
        for (int left_out = 0; left_out < 2; left_out++) {
            for (size_t k = 0; k < p->count; k++) {
                double factor = one->values[one->count == 1 ? 0 : k];
                t->values[k] = left_out ? p->values[k] / factor : p->values[k] * factor;
            }
            snprintf(detail, sizeof detail, "scale %s the scale of '%s'",
                     left_out ? "divided by" : "times", one->node);
            trial_values(t, p, "wrong-scale", detail);
        }
    }
}

// Rounds a scale to the upper 16 bits of a float32, or to 11 binary digits.
static double rounded_scale(double scale, variant_rounding how) {
    float x = (float)scale;
    variant_round(how, &x, 1);
    return x;
}

static void try_scaled(mistake_trial *t, const parameter *p) {
    static const double factors[] = {2,           0.5,         127 / 128., 128 / 127., 127 / 127.5,
                                     127.5 / 127, 255 / 256.,  256 / 255., 255 / 254., 254 / 255.,
                                     10,          0.1,         4,          0.25,       256,
                                     1 / 256.,    127 / 255.0, 255 / 127.};
    char detail[64];
    size_t n = p->count;
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        for (size_t i = 0; i < n; i++) t->values[i] = p->values[i] * factors[k];
        snprintf(detail, sizeof detail, "scale * %.6g", factors[k]);
        trial_values(t, p, "wrong-scale", detail);
    }
    for (size_t i = 0; i < n; i++) t->values[i] = p->values[i] * p->values[i];
    trial_values(t, p, "wrong-scale", "scale squared");
    for (size_t i = 0; i < n; i++) t->values[i] = sqrt(p->values[i]);
    trial_values(t, p, "wrong-scale", "square root of the scale");
    for (size_t i = 0; i < n; i++) t->values[i] = rounded_scale(p->values[i], ROUND_BFLOAT16);
    trial_values(t, p, "scale precision", "scale in bfloat16");
    for (size_t i = 0; i < n; i++) t->values[i] = rounded_scale(p->values[i], ROUND_FLOAT16);
    trial_values(t, p, "scale precision", "scale in float16");
    for (size_t i = 0; i < n; i++) t->values[i] = exp2(nearbyint(log2(p->values[i])));
    trial_values(t, p, "wrong-scale", "scale rounded to a power of two");
    for (size_t i = 0; i < n; i++) t->values[i] = exp2(ceil(log2(p->values[i])));
    trial_values(t, p, "wrong-scale", "scale rounded up to a power of two");
}

static void try_scale(mistake_trial *t, const parameter *p) {
    if (!p->count || t->stopped) return;
    for (size_t i = 0; i < p->count; i++) t->values[i] = 1 / p->values[i];
    trial_values(t, p, "wrong-scale", "1 / scale");
    trial_fill(t, p->count, 1);
    trial_values(t, p, "wrong-scale", "scale 1");
    if (p->count > 1) try_one_for_all(t, p, "per-tensor");
    if (p->count > 1) try_other_order(t, p, "wrong-scale");
    try_pooled(t, p, false, "wrong-scale");
    try_scaled(t, p);
    try_factors(t, p);
}

void try_scales(mistake_trial *t) {
    for (size_t i = 0; i < t->list->count; i++) {
        try_scale(t, &t->list->pairs[i].scale);
        try_group_for_all(t, &t->list->pairs[i]);
    }
}

//---- Zero points ------------------------------------------------------------

static void try_zero(mistake_trial *t, const parameter *p) {
    static const struct {
        const char *detail;
        double factor, add;
    } tried[] = {
        {"no zero point", 0, 0},  {"zero point + 1", 1, 1},     {"zero point - 1", 1, -1},
        {"- zero point", -1, 0},  {"zero point + 128", 1, 128}, {"zero point - 128", 1, -128},
        {"zero point + 8", 1, 8}, {"zero point - 8", 1, -8},    {"-zero point - 1", -1, -1},
        {"2 * zero point", 2, 0}, {"zero point 128", 0, 128},   {"zero point -128", 0, -128}};
    for (size_t k = 0; k < sizeof tried / sizeof tried[0]; k++) {
        t->values[0] = tried[k].add;
        for (size_t i = 0; i < p->count; i++)
            t->values[i] = p->values[i] * tried[k].factor + tried[k].add;
        trial_values(t, p, "wrong-zero-point", tried[k].detail);
    }
    if (p->count > 1) try_one_for_all(t, p, "wrong-zero-point");
    if (p->count > 1) try_other_order(t, p, "wrong-zero-point");
    try_pooled(t, p, true, "wrong-zero-point");
}

void try_zero_points(mistake_trial *t) {
    for (size_t i = 0; i < t->list->count; i++) try_zero(t, &t->list->pairs[i].zero);
}

// Adds the same number to a zero point; NAN: drops it. False if it cannot change.
static bool move_zero(mistake_trial *t, const parameter *p, double add) {
    for (size_t i = 0; i < p->count; i++) t->values[i] = isnan(add) ? 0 : p->values[i] + add;
    return p->count && parameter_set(t->d, p, t->values);
}

void try_zero_pairs(mistake_trial *t) {
    static const struct {
        const char *detail;
        double add;
    } tried[] = {{"no", NAN}, {"128 added to", 128}, {"128 taken from", -128}};
    char detail[160];
    for (size_t i = 0; i < t->list->count; i++)
        for (size_t k = i + 1; k < t->list->count; k++)
            for (size_t n = 0; n < sizeof tried / sizeof *tried && trial_begin(t); n++) {
                const parameter *a = &t->list->pairs[i].zero, *b = &t->list->pairs[k].zero;
                if (!move_zero(t, a, tried[n].add) || !move_zero(t, b, tried[n].add)) continue;
                snprintf(detail, sizeof detail, "%s %s and %s", tried[n].detail, a->port, b->port);
                variant v = {.cause = "wrong-zero-point", .detail = detail, .changes = 2};
                trial_take_variant(t, &v);
            }
}

// Exchanges the scales and zero points of two pairs. False if they do not fit.
static bool exchange(mistake_trial *t, const parameter_pair *a, const parameter_pair *b) {
    return a->scale.count == b->scale.count && a->zero.count == b->zero.count &&
           (!a->scale.count || (parameter_set(t->d, &a->scale, b->scale.values) &&
                                parameter_set(t->d, &b->scale, a->scale.values))) &&
           (!a->zero.count || (parameter_set(t->d, &a->zero, b->zero.values) &&
                               parameter_set(t->d, &b->zero, a->zero.values)));
}

void try_exchanged_parameters(mistake_trial *t) {
    char detail[160];
    for (size_t i = 0; i < t->list->count; i++)
        for (size_t k = i + 1; k < t->list->count && trial_begin(t); k++) {
            const parameter_pair *a = &t->list->pairs[i], *b = &t->list->pairs[k];
            if (!exchange(t, a, b)) continue;
            snprintf(detail, sizeof detail, "%s and %s, with their zero points", a->scale.port,
                     b->scale.port);
            trial_take(t, "swapped-inputs", detail);
        }
}

//---- Fitted parameters ------------------------------------------------------

static void detail_of_numbers(const char *what, const double *values, size_t count, char *out,
                              size_t capacity) {
    snprintf(out, capacity, "%s %.9g%s", what, values[0], count > 1 ? ", ..." : "");
}

static void try_both(mistake_trial *t, const fit_data *f, const parameter_pair *p) {
    double zero, guess;
    char detail[96];
    if (!fit_zero_of_both(f, &guess)) return;
    for (int step = 0; step < 3 && !t->stopped; step++) {
        zero = guess + (step == 2 ? -1 : step);
        if (!fit_scales(f, &zero, 1, t->values)) continue;
        snprintf(detail, sizeof detail, "scale %.9g and zero point %.0f", t->values[0], zero);
        variant v = {.cause = "wrong-scale", .detail = detail, .changes = 2};
        if (trial_begin(t) && parameter_set(t->d, &p->scale, t->values) &&
            parameter_set(t->d, &p->zero, &zero))
            trial_take_variant(t, &v);
    }
}

// Tries a single scale, and a single zero point if the node has several, in place of one per group.
static void try_fitted_for_all(mistake_trial *t, const fit_data *f, const parameter_pair *p) {
    double zero = 0, scale;
    char detail[96];
    const fit_data one = fit_as_one(f);
    bool zeros = p->zero.count > 1;
    if (f->groups <= 1 || (zeros && !fit_zero_of_both(&one, &zero))) return;
    if (!fit_scales(&one, zeros ? &zero : one.zeros, zeros ? 1 : one.zero_count, &scale) ||
        !trial_begin(t))
        return;
    int at = snprintf(detail, sizeof detail, "scale %.9g", scale);
    snprintf(detail + at, sizeof detail - (size_t)at,
             zeros ? " and zero point %.0f for all" : " for all", zero);
    trial_fill(t, p->scale.count, scale);
    if (!parameter_set(t->d, &p->scale, t->values)) return;
    trial_fill(t, p->zero.count, zero);
    if (!zeros || parameter_set(t->d, &p->zero, t->values)) trial_take(t, "per-tensor", detail);
}

static void try_fitted(mistake_trial *t, const parameter_pair *p) {
    fit_data f;
    char detail[96];
    if (!t->stopped && fit_open(&f, t->d, p)) {
        try_fitted_for_all(t, &f, p);
        if (fit_zeros(&f, t->values)) {
            detail_of_numbers("zero point", t->values, p->zero.count, detail, sizeof detail);
            trial_values_of(t, &p->zero, "wrong-zero-point", detail, p->zero.count > 1 ? 2 : 1);
        }
        if (fit_scales(&f, p->zero.values, p->zero.count, t->values)) {
            detail_of_numbers("scale", t->values, p->scale.count, detail, sizeof detail);
            trial_values_of(t, &p->scale, "wrong-scale", detail, p->scale.count > 1 ? 2 : 1);
        }
        if (!t->stopped) try_both(t, &f, p);
        fit_release(&f);
    }
}

void try_fitted_parameters(mistake_trial *t) {
    for (size_t i = 0; i < t->list->count; i++) try_fitted(t, &t->list->pairs[i]);
}
