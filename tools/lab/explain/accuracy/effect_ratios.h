// SPDX-License-Identifier: Apache-2.0
// Sets the columns of a report that tell what pairs and groups do to the outputs.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_RATIOS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_RATIOS_H

#include "tools/lab/explain/accuracy/accuracy.h"

// Sets `effect` and `alike` of all rows that are pairs or groups, `without` of the worst pairs,
// `together` and `summed`. Sets `err` on failure.
qdq_status effects_measure(const accuracy_forms *forms, const accuracy_graphs *graphs, accuracy *a,
                           qdq_error *err);

#endif
