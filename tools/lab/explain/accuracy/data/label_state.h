// SPDX-License-Identifier: Apache-2.0
// The table of a state that counts results with the true class, of --labels: one row, or none
// without labels.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_LABEL_STATE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_LABEL_STATE_H

#include "tools/lab/dataset/labels.h"
#include "tools/lab/dataset/state.h"

enum { LABEL_OUTPUT, LABEL_DIGEST, LABEL_COUNTS, LABEL_COLUMNS };  // columns

extern const state_column label_columns[LABEL_COLUMNS];
void label_state_merge(const state_table *into, size_t row, const state_table *from,
                       size_t from_row);

// Adds the row of labels; `output` is their output's name in its file. EXIT_OK, or another exit
// code after a message.
int label_state_begin(state_table *t, const labels *l, const char *output);
// Adds counts to the row.
void label_state_add(const state_table *t, const label_counts *n);
// Returns the output, and sets the counts; NULL: there are no labels.
const char *label_state_read(const state_table *t, label_counts *n);

#endif
