// SPDX-License-Identifier: Apache-2.0
// Measures what each pair of Quantize and Dequantize does to the outputs of a quantized graph.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_H

#include "tools/lab/explain/accuracy/accuracy.h"

// Sets `effect` and `alike` of all rows that are pairs, `without` of the worst of them, `summed`,
// and `median` and `alike` of the outputs. Sets `err` on failure.
qdq_status effects_measure(const reference *ref, const accuracy_graphs *graphs, accuracy *a,
                           qdq_error *err);

#endif
