// SPDX-License-Identifier: Apache-2.0
// Compares what two results of a network decide, sample by sample: entries of the first dim.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DECISIONS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DECISIONS_H

#include <qdq/base.h>

// Returns the share of samples whose greatest element, the first of several, is at the same place
// in every row of the last dim. 1 for a last dim of one element.
double decisions_alike(const double *a, const double *b, qdq_shape shape);

// Returns the median over samples of 10 log10(sum of a^2 / sum of (a - b)^2). NaN if memory runs
// out.
double decisions_median(const double *a, const double *b, qdq_shape shape);

#endif
