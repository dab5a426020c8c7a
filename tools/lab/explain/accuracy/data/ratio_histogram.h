// SPDX-License-Identifier: Apache-2.0
// Counts ratios of signal and noise in steps of 1/8 decibel, with the same bins on every machine,
// so that the median of all shards follows from the sums of their counts.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_RATIO_HISTOGRAM_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_RATIO_HISTOGRAM_H

#include "tools/lab/compare/noise.h"

// Bin i holds ratios from (i - 512) / 8 decibels on; the first also all below -64, the last but one
// also all above 192, and the last those without noise.
enum { RATIO_BINS = 2049 };

void ratio_histogram_add(int64_t *bins, const noise_sum *sum);
// Returns the median, of an even number the mean of both in the middle: of a bin its middle. NaN
// without ratios.
double ratio_histogram_median(const int64_t *bins);

#endif
