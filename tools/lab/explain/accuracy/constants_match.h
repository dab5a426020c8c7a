// SPDX-License-Identifier: Apache-2.0
// Matches constants of a quantized graph with those of its float model.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CONSTANTS_MATCH_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CONSTANTS_MATCH_H

#include "tools/lab/explain/replay.h"

// Returns the constant of the float model that a Dequantize of constant codes stands for, by the
// name of the codes or by its `elements`; id 0: none, or several.
qdq_value constant_of_codes(const replay *quantized, const replay *real, size_t node,
                            const void *elements);

#endif
