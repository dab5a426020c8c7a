// SPDX-License-Identifier: Apache-2.0
// Prints the accuracy of nodes as text of at most 40 lines, or as JSON.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ACCURACY_REPORT_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ACCURACY_REPORT_H

#include "runtime/base/json_writer.h"
#include "tools/lab/dataset/labels.h"
#include "tools/lab/explain/accuracy/accuracy.h"

typedef struct accuracy_title {
    const char *graph, *model;  // names of the files; NULL: not known
    const char *target;
    const char *seed;      // of random inputs; NULL: none are random
    const char *labelled;  // the output of --labels; NULL: no labels
    label_counts right;
    const accuracy_forms *forms;  // of the last run, for histograms; NULL: none
} accuracy_title;

// True if an output differs from the float model's.
bool accuracy_differs(const accuracy *a);
void accuracy_text(const accuracy *a, const accuracy_title *title);
// Prints the object, with the bits of the nodes that the target runs. EXIT_OK, or another exit code
// after a message.
int accuracy_json(const accuracy *a, const accuracy_title *title, qdq_graph *graph);
// Writes the keys of an accuracy into an object.
void json_accuracy(qdq_json *json, const accuracy *a, const accuracy_title *title);

#endif
