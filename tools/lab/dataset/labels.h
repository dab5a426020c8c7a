// SPDX-License-Identifier: Apache-2.0
// The true classes of samples, of --labels, and the count of results that are right.
#ifndef QDQ_TOOLS_LAB_DATASET_LABELS_H
#define QDQ_TOOLS_LAB_DATASET_LABELS_H

#include <qdq/exec.h>

#include "runtime/base/hash/sha256.h"
#include "runtime/base/json_writer.h"

typedef struct options options;

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

// Reads the classes of an output of the plan, if --labels is given, for `runs` runs, each of which
// decides the rows of that output. EXIT_OK, or another exit code after a message; close it in
// either case.
int labels_open(labels *l, const options *opt, const qdq_graph *graph, const qdq_plan *plan,
                size_t runs);
void labels_close(labels *l);

// Rows with the true class in the float graph, and in the quantized one, and rows alike in both.
typedef struct label_counts {
    size_t rows, real, quantized, alike;
} label_counts;

// Adds the rows of a run's output. The greatest element of a row, the first of several, decides.
void labels_count(const labels *l, size_t run, const double *real, const double *quantized,
                  label_counts *counts);
// Hashes the classes, and the shape in which they are needed.
void labels_digest(const labels *l, unsigned char digest[QDQ_SHA256_BYTES]);

// Print the line `top-1: ...`; write the key `labels`.
void label_counts_text(const label_counts *n);
void label_counts_json(qdq_json *json, const char *output, const label_counts *n);

#endif
