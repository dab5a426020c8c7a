// SPDX-License-Identifier: Apache-2.0
// Measures what each pair of Quantize and Dequantize does to the outputs of a quantized graph, and
// each group of nodes that the target runs as one.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_H

#include "tools/lab/explain/accuracy/accuracy.h"

// Sets `effect` and `alike` of all rows that are pairs or groups, `without` of the worst pairs, and
// `summed`. Sets `err` on failure.
qdq_status effects_measure(const accuracy_forms *forms, const accuracy_graphs *graphs, accuracy *a,
                           qdq_error *err);

#endif
