// SPDX-License-Identifier: Apache-2.0
// Factors that all channels share change no code, so exponents are relative to the median channel.
#include "tools/lab/quantize/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const factor_method_names[] = {"weights", "activations"};

const factor_candidate factor_candidates[FACTOR_CANDIDATES] = {
    {FACTORS_OF_WEIGHTS, 0, "weights only"},
    {FACTORS_OF_ACTIVATIONS, 0.25, "alpha 1/4"},
    {FACTORS_OF_ACTIVATIONS, 0.5, "alpha 1/2"},
    {FACTORS_OF_ACTIVATIONS, 0.75, "alpha 3/4"},
};

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Returns the median of the finite entries, the lower of two; NaN if there is none or memory runs
// out.
static double median_of(const double *x, size_t count) {
    double *sorted = malloc((count + 1) * sizeof *sorted);
    size_t finite = 0;
    for (size_t i = 0; sorted && i < count; i++)
        if (isfinite(x[i])) sorted[finite++] = x[i];
    if (finite) qsort(sorted, finite, sizeof *sorted, by_size);
    double median = finite ? sorted[(finite - 1) / 2] : NAN;
    free(sorted);
    return median;
}

// Returns log2 of the number that divides a channel; not finite for a channel of zeros.
static double divisor_of(const factor_candidate *f, double made, double read, double greatest) {
    if (f->method == FACTORS_OF_WEIGHTS) return (log2(made) - log2(read)) / 2;
    return f->alpha * log2(greatest) - (1 - f->alpha) * log2(read);
}

bool choose_factors(const qdq_equalize_site *site, const double *greatest,
                    const factor_candidate *candidate, int *exponents) {
    bool changes = false;
    if (candidate->method == FACTORS_OF_WEIGHTS && !site->weighted) return false;
    double *divisors = malloc((site->channels + 1) * sizeof *divisors);
    if (!divisors) return false;
    for (size_t i = 0; i < site->channels; i++)
        divisors[i] =
            divisor_of(candidate, (double)site->made[i], (double)site->read[i], greatest[i]);
    double median = median_of(divisors, site->channels);
    for (size_t i = 0; i < site->channels; i++) {
        double exponent = isfinite(divisors[i]) ? nearbyint(median - divisors[i]) : 0;
        exponent = fmin(fmax(exponent, -QDQ_MOST_EXPONENT), QDQ_MOST_EXPONENT);
        exponents[i] = (int)exponent;
        changes |= exponents[i] != 0;
    }
    free(divisors);
    return changes;
}

double imbalance_of(const double *greatest, size_t channels) {
    double most = 0;
    double *live = malloc((channels + 1) * sizeof *live);
    for (size_t i = 0; live && i < channels; i++) {
        live[i] = greatest[i] > 0 ? greatest[i] : NAN;
        most = fmax(most, greatest[i]);
    }
    double median = live ? median_of(live, channels) : NAN;
    free(live);
    return median > 0 ? most / median : 1;
}
