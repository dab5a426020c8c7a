// SPDX-License-Identifier: Apache-2.0
// Statistics of the values at sites, apart for each half of the samples: fold 0 has samples 0, 2,
// 4, ..., fold 1 the others.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_SITE_VALUES_H
#define QDQ_TOOLS_LAB_QUANTIZE_SITE_VALUES_H

#include <qdq/equalize.h>

#include "tools/lab/quantize/trials.h"

enum { FOLDS = 2 };

typedef struct site_values {
    state folds[FOLDS];  // of kind calibrate: a row for each value of the sites, in their order
    size_t runs[FOLDS];
    double **greatest;  // [site][channel]: max |x| of the values that products read; owned
    size_t site_count;
    size_t same;  // runs with the float graph's bits in all outputs
} site_values;

// Runs a graph, which has the values and outputs of the float graph, on all samples, and collects
// the values of `count` sites from `first` on. EXIT_OK, or another exit code after a message;
// release it in either case.
int site_values_collect(trials *t, qdq_graph *graph, const qdq_equalize_sites *sites, size_t first,
                        size_t count, site_values *out);
void site_values_release(site_values *v);

// Replaces the statistics of a row.
void statistics_replace(state *into, size_t row, const state *from, size_t from_row);

#endif
