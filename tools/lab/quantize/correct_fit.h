// SPDX-License-Identifier: Apache-2.0
// Sums over the samples that corrections are fitted on: mean results of products, and the moments
// of their inputs.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CORRECT_FIT_H
#define QDQ_TOOLS_LAB_QUANTIZE_CORRECT_FIT_H

#include "tools/lab/quantize/correct_sites.h"
#include "tools/lab/quantize/trials.h"

enum {
    LEAST_SAMPLES = 16,
    MOST_SAMPLES = 128,
    MOST_DEPTH = 4608,   // columns of second moments
    ENOUGH_ROWS = 8192,  // rows of moments of all samples, if twice the depth is fewer
};

// The samples of a correction: one of each `step` runs, the first, then the second, and so on, or
// the entries of the first dim of the only run. A sample fits if its number has an even count of
// ones in binary, else it judges: data that repeats in a cycle, such as two classes in turn, has
// its whole cycle in both.
typedef struct sample_folds {
    size_t step;   // of runs
    size_t parts;  // samples of a run, which are consecutive rows of each value; 1: several runs
    size_t fits;   // samples that fit; 0: there are fewer than two samples
} sample_folds;

// Divides the samples of trials. `passes`: how often all of them run. A large graph runs on fewer
// samples.
sample_folds sample_folds_of(const trials *t, size_t passes);
// True if a run has samples that fit (`fitting`), or judge.
bool folds_take(const sample_folds *f, size_t run, bool fitting);
// True if a part of a run that folds_take takes is one of these samples.
bool folds_take_part(const sample_folds *f, size_t part, bool fitting);

// Sums of a product. NULL: not wanted.
typedef struct site_sums {
    const product_site *site;
    double *results;     // [channel]
    double *inputs;      // [group][column], over `rows`
    double *moments;     // [group][column][column], the lower triangle
    size_t count, rows;  // summed rows of results, and of inputs
} site_sums;

// Runs a graph as target core on the samples that fit, and adds to the sums of products: `given`,
// whose nodes the sites name, or a graph with codes in it. EXIT_OK, or another exit code after a
// message.
int fit_add(trials *t, const sample_folds *folds, const qdq_graph *given, qdq_graph *graph,
            site_sums *sums, size_t count);

#endif
