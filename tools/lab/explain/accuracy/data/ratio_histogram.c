// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/data/ratio_histogram.h"

#include <math.h>

#include "tools/lab/dataset/state.h"

enum { ZERO_DECIBELS = 512, DECADE = 80, LAST_FINITE = RATIO_BINS - 2 };

// Finds the bin by division alone: logarithms may differ in the last bit between machines.
static size_t bin_of(const noise_sum *sum) {
    static const double step = 1.0292005271944282;  // 1/8 decibel: 10^(1/80)
    if (!(sum->error > 0)) return RATIO_BINS - 1;
    double ratio = sum->signal / sum->error;
    int bin = ZERO_DECIBELS;
    if (!(ratio > 0)) return 0;
    if (!isfinite(ratio)) return LAST_FINITE;
    for (; ratio >= 10; ratio /= 10) bin += DECADE;
    for (; ratio < 1; ratio *= 10) bin -= DECADE;
    for (; ratio >= step; ratio /= step) bin++;
    return bin < 0 ? 0 : bin > LAST_FINITE ? LAST_FINITE : (size_t)bin;
}

void ratio_histogram_add(int64_t *bins, const noise_sum *sum) { bins[bin_of(sum)]++; }

static int64_t count_of(const int64_t *bins, size_t bin) { return bins[bin] > 0 ? bins[bin] : 0; }

// Returns the middle of the bin that holds the ratio with `before` ratios before it.
static double ratio_at(const int64_t *bins, int64_t before) {
    size_t bin = 0;
    for (; bin < RATIO_BINS - 1 && before >= count_of(bins, bin); bin++)
        before -= count_of(bins, bin);
    return bin == RATIO_BINS - 1 ? INFINITY : ((double)bin - ZERO_DECIBELS + 0.5) / 8;
}

double ratio_histogram_median(const int64_t *bins) {
    int64_t count = 0;
    for (size_t i = 0; i < RATIO_BINS; i++) state_add_counts(&count, &bins[i], 1);
    if (count <= 0) return NAN;
    return (ratio_at(bins, (count - 1) / 2) + ratio_at(bins, count / 2)) / 2;
}
