// SPDX-License-Identifier: Apache-2.0
// Lists the kinds of state. Each is described next to the command that writes it.
#ifndef QDQ_TOOLS_LAB_DATASET_KINDS_H
#define QDQ_TOOLS_LAB_DATASET_KINDS_H

#include "tools/lab/dataset/state.h"

extern const state_kind calibrate_kind;  // tools/lab/calibrate/calibrate_kind.c
extern const state_kind compare_kind;    // tools/lab/compare/data/pair_state.c
extern const state_kind explain_kind;    // tools/lab/explain/accuracy/data/accuracy_state.c

// Returns the kind that a command writes; NULL: none.
const state_kind *state_kind_find(const char *command);

#endif
