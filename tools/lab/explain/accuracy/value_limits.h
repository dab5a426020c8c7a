// SPDX-License-Identifier: Apache-2.0
// The limits of a value whose activation was left out of the quantized graph: a tool may drop a
// ReLU or a Clamp before a Quantize, whose least and greatest code clamp in the same places.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_VALUE_LIMITS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_VALUE_LIMITS_H

#include "tools/lab/explain/replay.h"

typedef struct value_limits {
    bool possible;    // only Quantize nodes read the value
    bool known;       // the float model tells the limits, else its elements may
    float low, high;  // infinite: no limit
} value_limits;

// Sets the limits of the results of a node of the float model, if it is a ReLU or a Clamp of
// constant limits.
void limits_of_activation(const replay *real, size_t node, value_limits *limits);

// Finds limits that are not known from float32 elements: `truth` has the range of an activation's
// result, and `exact` reaches beyond it. A value without an activation has no limits: the two are
// equal there, but for roundings.
void limits_find(value_limits *limits, const float *truth, const float *exact, size_t count);

bool limits_exist(const value_limits *limits);
// Clamps elements to the limits.
void limits_apply(const value_limits *limits, float *elements, size_t count);
void limits_apply_to_doubles(const value_limits *limits, double *elements, size_t count);

#endif
