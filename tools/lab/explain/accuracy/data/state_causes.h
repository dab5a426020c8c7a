// SPDX-License-Identifier: Apache-2.0
// Finds causes and mends from a state: from the ranges of channels and the parameters of pairs. No
// mend is tried on the outputs: the numbers of the samples are gone.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_STATE_CAUSES_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_STATE_CAUSES_H

#include "tools/lab/explain/accuracy/data/accuracy_state.h"

// Sets cause and mend of the worst pairs, groups and other nodes.
void state_find_causes(const state *s, accuracy *a);

#endif
