// SPDX-License-Identifier: Apache-2.0
// The true classes of samples, of --labels, and the count of results that are right.
#ifndef QDQ_TOOLS_LAB_DATASET_LABELS_H
#define QDQ_TOOLS_LAB_DATASET_LABELS_H

#include <qdq/exec.h>

#include "runtime/base/budget.h"

// Classes for one output of a graph. The last dim of the output decides: each of its rows has a
// class, the index of the greatest element.
typedef struct labels {
    const char *word;  // of the command line: [OUTPUT=]FILE[#TENSOR]; NULL: no labels
    size_t output;     // index in the plan
    size_t rows;       // rows that a run decides
    size_t classes;    // elements of a row
    size_t runs;
    uint32_t *truth;  // [run][row]
} labels;

// Reads the classes of an output of the plan for `runs` runs, each of which decides the rows of
// that output. EXIT_OK, or another exit code after a message; close it in either case.
int labels_open(labels *l, const char *word, const qdq_graph *graph, const qdq_plan *plan,
                size_t runs, qdq_budget *memory);
void labels_close(labels *l);

// Counts the rows of a run's output whose greatest element, the first of several, is the true
// class.
size_t labels_right(const labels *l, size_t run, const double *y);
// Counts the rows whose greatest element is at the same place in both.
size_t labels_alike(const labels *l, const double *a, const double *b);

#endif
