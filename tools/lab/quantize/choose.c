// SPDX-License-Identifier: Apache-2.0
// Implements the methods in double precision on the fixed bins of the statistics. Elements count as
// spread evenly between the edges of their bin; the outermost edges are the exact range.
#include "tools/lab/quantize/choose.h"

#include <math.h>
#include <string.h>

enum {
    LINEAR_BINS = 2048,   // in the histogram of |x| for the entropy
    ENTROPY_STEP = 8,     // linear bins between two candidates
    CANDIDATES = 128,     // for an end of the range, for the squared error
    LEAST_CANDIDATE = 8,  // of CANDIDATES: 1/16 of the range
    ROUNDS = 2,           // each searches one end and then the other
};

const char *const choose_method_names[] = {"minmax", "percentile", "entropy", "mse", NULL};

code_range code_range_of(qdq_dtype dtype, bool symmetric) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return (code_range){(int32_t)info->least, (int32_t)info->greatest, symmetric, false};
}

//---- From a range to parameters ---------------------------------------------

// Returns the code of 0 with symmetric parameters.
static int32_t middle_of(const code_range *codes) {
    return (codes->least + codes->greatest + 1) / 2;
}

static float scale_of(double width, int32_t steps) {
    const double least_normal = 0x1p-126;
    double scale = width / steps;
    if (width <= 0) return 1;
    return (float)(scale < least_normal ? least_normal : scale);
}

static const double least_range = 1e-6;  // with halves_away: a lesser one is widened to it

// As the converter of TensorFlow Lite, whose scales are quotients of float32.
static chosen_params away_params(double least, double greatest, const code_range *codes) {
    if (greatest - least <= least_range) {
        least = fmin(least, -least_range / 2);
        greatest = fmax(greatest, least_range / 2);
    }
    float scale = ((float)greatest - (float)least) / (float)(codes->greatest - codes->least);
    float zero = (float)(codes->least - least / (double)scale);
    zero = fminf(fmaxf(zero, (float)codes->least), (float)codes->greatest);
    return (chosen_params){scale, (int32_t)roundf(zero)};
}

chosen_params params_of_range(double least, double greatest, const code_range *codes) {
    if (least > 0) least = 0;
    if (greatest < 0) greatest = 0;
    int32_t middle = middle_of(codes);
    if (codes->halves_away && !codes->symmetric) return away_params(least, greatest, codes);
    if (codes->symmetric)
        return (chosen_params){scale_of(fmax(-least, greatest), codes->greatest - middle), middle};
    float scale = scale_of(greatest - least, codes->greatest - codes->least);
    double zero = codes->least - nearbyint(least / (double)scale);
    zero = fmin(fmax(zero, codes->least), codes->greatest);
    return (chosen_params){scale, (int32_t)zero};
}

int32_t code_of(float element, chosen_params p, const code_range *codes) {
    double code = (double)element / (double)p.scale + p.zero_point;
    code = codes->halves_away ? round(code) : nearbyint(code);
    return (int32_t)fmin(fmax(code, codes->least), codes->greatest);
}

int32_t symmetric_code_of(float element, float scale, const code_range *codes) {
    float code = codes->halves_away ? roundf(element * (float)(1 / (double)scale))
                                    : nearbyintf(element / scale);
    return (int32_t)fmin(fmax((double)code, codes->least), codes->greatest);
}

//---- Bins -------------------------------------------------------------------

// Sets the edges of a bin, the lesser first, clipped to the range of the statistics.
static void bin_bounds(const statistics *s, size_t bin, double *from, double *to) {
    histogram_edges(bin, from, to);
    if (bin < MIDDLE_BIN) {
        double outer = *to;
        *to = *from, *from = outer;
    }
    *from = fmax(*from, s->range[0]);
    *to = fmin(*to, s->range[1]);
}

static double greatest_magnitude(const statistics *s) {
    return fmax(fabs(s->range[0]), fabs(s->range[1]));
}

//---- Percentile -------------------------------------------------------------

// Walks inwards from the outermost bins of a sign, or of both at once, until more than `cut`
// elements are passed. Returns the outer edge of the last bin.
static double cut_tail(const statistics *s, bool negative, bool positive, double cut) {
    double passed = 0, from, to;
    for (size_t side = SIDE_BINS; side > 0; side--) {
        size_t up = MIDDLE_BIN + side, down = MIDDLE_BIN - side;
        passed += (double)((positive ? s->histogram[up] : 0) + (negative ? s->histogram[down] : 0));
        if (passed <= cut) continue;
        histogram_edges(up, &from, &to);
        return to;
    }
    return 0;
}

static void cut_percentile(const statistics *s, double percentile, bool symmetric,
                           double range[2]) {
    const double rounding = 1e-15;  // error of 100 - percentile, which shall not cut off an element
    double cut = ((100 - percentile) / 100 + rounding) * (double)s->counts[COUNT_FINITE];
    double low = cut_tail(s, true, symmetric, symmetric ? cut : cut / 2);
    double high = symmetric ? low : cut_tail(s, false, true, cut / 2);
    range[0] = fmax(s->range[0], -low);
    range[1] = fmin(s->range[1], high);
}

//---- Entropy ----------------------------------------------------------------

// Adds `count` elements that are spread evenly over the magnitudes from .. to, to bins of `width`.
static void spread(double bins[LINEAR_BINS], double width, double from, double to, double count) {
    size_t first = (size_t)fmin(from / width, LINEAR_BINS - 1);
    size_t last = (size_t)fmin(to / width, LINEAR_BINS - 1);
    if (first == last || to <= from) {
        bins[first] += count;
        return;
    }
    for (size_t i = first; i <= last; i++) {
        double low = fmax(from, (double)i * width), high = fmin(to, (double)(i + 1) * width);
        if (i == last) high = to;
        if (high > low) bins[i] += count * (high - low) / (to - from);
    }
}

// Computes the histogram of |x| in bins of equal width, without elements in the middle bin of the
// statistics (zeros and |x| < 2^-32): every scale has a code for them.
static void linear_histogram(const statistics *s, double bins[LINEAR_BINS]) {
    double width = greatest_magnitude(s) / LINEAR_BINS, from, to;
    memset(bins, 0, LINEAR_BINS * sizeof *bins);
    for (size_t bin = 0; bin < HISTOGRAM_BINS; bin++) {
        if (!s->histogram[bin] || bin == MIDDLE_BIN) continue;
        bin_bounds(s, bin, &from, &to);
        bool negative = bin < MIDDLE_BIN;
        spread(bins, width, negative ? -to : from, negative ? -from : to,
               (double)s->histogram[bin]);
    }
}

// Returns the divergence of the first `count` bins, the last with all elements beyond it, from
// their quantization to `levels` codes, in which each nonempty bin of a level has the mean of the
// level's nonempty bins.
static double divergence(const double *bins, size_t count, size_t levels) {
    double inside = 0, beyond = 0, sum = 0;
    for (size_t i = 0; i < LINEAR_BINS; i++) *(i < count ? &inside : &beyond) += bins[i];
    if (inside <= 0 || (beyond > 0 && bins[count - 1] <= 0)) return INFINITY;
    for (size_t level = 0; level < levels; level++) {
        size_t from = level * count / levels, to = (level + 1) * count / levels, used = 0;
        double mass = 0;
        for (size_t i = from; i < to; i++) mass += bins[i], used += bins[i] > 0;
        for (size_t i = from; i < to; i++) {
            double p = (bins[i] + (i + 1 == count ? beyond : 0)) / (inside + beyond);
            if (p > 0) sum += p * log(p / (mass / (double)used / inside));
        }
    }
    return sum;
}

static void cut_entropy(const statistics *s, const code_range *codes, double range[2]) {
    double bins[LINEAR_BINS], least = INFINITY, greatest = greatest_magnitude(s);
    bool both = codes->symmetric || (s->range[0] < 0 && s->range[1] > 0);
    size_t levels = (size_t)(codes->greatest - codes->least + 1) / (both ? 2 : 1);
    size_t best = LINEAR_BINS;
    linear_histogram(s, bins);
    for (size_t count = levels; count <= LINEAR_BINS; count += ENTROPY_STEP) {
        double d = divergence(bins, count, levels);
        if (d < least) least = d, best = count;
    }
    double edge = greatest * (double)best / LINEAR_BINS;
    range[0] = fmax(s->range[0], -edge);
    range[1] = fmin(s->range[1], edge);
}

//---- Mean squared error ------------------------------------------------------

// The codes as multiples of the scale.
typedef struct levels {
    double scale, least, greatest;
} levels;

static levels levels_of(chosen_params p, const code_range *codes) {
    return (levels){(double)p.scale, codes->least - p.zero_point, codes->greatest - p.zero_point};
}

// Returns the integral of (v - nearest level of v)^2 for v from 0 to u.
static double squared_error_to(double u, const levels *l) {
    double level = fmin(fmax(floor(u + 0.5), l->least), l->greatest), rest = u - level;
    return level / 12 + rest * rest * rest / 3;
}

static double squared_error(const statistics *s, const levels *l) {
    double sum = 0, from, to;
    for (size_t bin = 0; bin < HISTOGRAM_BINS; bin++) {
        if (!s->histogram[bin] || bin == MIDDLE_BIN) continue;
        bin_bounds(s, bin, &from, &to);
        double a = from / l->scale, b = to / l->scale, mean;
        if (b > a) {
            mean = (squared_error_to(b, l) - squared_error_to(a, l)) / (b - a);
        } else {
            double rest = a - fmin(fmax(floor(a + 0.5), l->least), l->greatest);
            mean = rest * rest;
        }
        sum += (double)s->histogram[bin] * mean;
    }
    return sum * l->scale * l->scale;
}

// Replaces an end of the range, or both ends of a symmetric range, by the best fraction of `full`.
static void search_end(const statistics *s, const code_range *codes, int end, double full,
                       double range[2]) {
    double least = INFINITY, best = full;
    for (int k = CANDIDATES; full != 0 && k >= LEAST_CANDIDATE; k--) {
        range[end] = full * k / CANDIDATES;
        if (codes->symmetric) range[1 - end] = -range[end];
        levels l = levels_of(params_of_range(range[0], range[1], codes), codes);
        double error = squared_error(s, &l);
        if (error < least) least = error, best = range[end];
    }
    range[end] = best;
    if (codes->symmetric) range[1 - end] = -best;
}

static void cut_mse(const statistics *s, const code_range *codes, double range[2]) {
    double full[2] = {fmin(s->range[0], 0), fmax(s->range[1], 0)};
    range[0] = full[0], range[1] = full[1];
    if (codes->symmetric) {
        search_end(s, codes, 1, greatest_magnitude(s), range);
        return;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int end = 1; end >= 0; end--) search_end(s, codes, end, full[end], range);
}

//---- Entry ------------------------------------------------------------------

chosen_params choose_activation(const statistics *s, choose_method method, double percentile,
                                const code_range *codes) {
    double range[2] = {s->range[0], s->range[1]};
    bool flat = greatest_magnitude(s) <= 0;
    switch (method) {
    case CHOOSE_MINMAX: break;
    case CHOOSE_PERCENTILE: cut_percentile(s, percentile, codes->symmetric, range); break;
    case CHOOSE_ENTROPY:
        if (!flat) cut_entropy(s, codes, range);
        break;
    case CHOOSE_MSE:
        if (!flat) cut_mse(s, codes, range);
        break;
    }
    return params_of_range(range[0], range[1], codes);
}

static double weight_error(const float *w, size_t count, float scale, const code_range *codes) {
    double sum = 0, least = codes->least, greatest = codes->greatest;
    for (size_t i = 0; i < count; i++) {
        double x = (double)w[i];
        double code = fmin(fmax(nearbyint(x / (double)scale), least), greatest);
        double error = x - code * (double)scale;
        sum += error * error;
    }
    return sum;
}

float choose_weight_scale(const float *w, size_t count, choose_method method,
                          const code_range *codes) {
    double least = INFINITY;
    float most = 0;
    for (size_t i = 0; i < count; i++) {
        float size = fabsf(w[i]);
        if (size > most) most = size;
    }
    double greatest = (double)most;
    if (codes->halves_away) greatest = fmax(greatest, least_range / 2);
    float best = scale_of(greatest, codes->greatest);
    if (method != CHOOSE_MSE || greatest <= 0) return best;
    for (int k = CANDIDATES; k >= LEAST_CANDIDATE; k--) {
        float scale = scale_of(greatest * k / CANDIDATES, codes->greatest);
        double error = weight_error(w, count, scale, codes);
        if (error < least) least = error, best = scale;
    }
    return best;
}
