// SPDX-License-Identifier: Apache-2.0
// Compares what two results of a network decide, sample by sample: entries of the first dim.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DECISIONS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DECISIONS_H

#include "tools/lab/compare/noise.h"

// Returns the number of samples: of a vector or a scalar one.
size_t decisions_samples(qdq_shape shape);

// Counts the samples whose greatest element, the first of several, is at the same place in every
// row of the last dim: all for a last dim of one element.
size_t decisions_count_alike(const double *a, const double *b, qdq_shape shape);

// Sums the squares and the errors of one sample.
noise_sum decisions_noise(const double *a, const double *b, qdq_shape shape, size_t sample);

// Returns decisions_count_alike as a share of the samples.
double decisions_alike(const double *a, const double *b, qdq_shape shape);

// Returns the median over samples of 10 log10(sum of a^2 / sum of (a - b)^2). NaN if memory runs
// out.
double decisions_median(const double *a, const double *b, qdq_shape shape);

#endif
