// SPDX-License-Identifier: Apache-2.0
// Counts the results of an output that have the true class, of --labels.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ANSWERS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ANSWERS_H

#include "tools/lab/dataset/labels.h"
#include "tools/lab/explain/accuracy/accuracy.h"

// Returns the name of the output in its file; NULL: --labels is not given.
const char *answers_output(const labels *l, const accuracy_graphs *graphs);

// Adds the rows of a run, if --labels is given: of the float model, and of the quantized graph as
// deployed. EXIT_OK, or another exit code after a message.
int answers_count(const labels *l, const accuracy_graphs *graphs, const reference *ref, size_t run,
                  label_counts *counts);

#endif
