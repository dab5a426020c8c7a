// SPDX-License-Identifier: Apache-2.0
// Measures the output with the worst pairs in float together.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ACCURACY_CURVE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ACCURACY_CURVE_H

#include "tools/lab/explain/accuracy/effect_ratios.h"

// Sets the curve of pairs in float against the ratio of the worst output: the k pairs with the
// greatest effect hand on what they read, for k = 0, 1, 2, 3, 5, 8, ..., all. Pairs must have
// effects. Sets `err` on failure.
qdq_status accuracy_curve_measure(effect_meter *m, accuracy *a, qdq_error *err);

#endif
