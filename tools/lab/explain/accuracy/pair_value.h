// SPDX-License-Identifier: Apache-2.0
// The value that a pair of Quantize and Dequantize rounds.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_PAIR_VALUE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_PAIR_VALUE_H

#include "tools/lab/explain/accuracy/reference.h"

// True if two values of graphs have one dtype and one shape.
bool types_equal(const qdq_graph *graph, qdq_value a, const qdq_graph *other, qdq_value b);

// True if a Dequantize gives what the Quantize before it reads when neither rounds.
bool pair_undoes(const replay *r, size_t node, size_t quantize);

// Returns the value that the pair of a Dequantize rounds; id 0: it has constant codes, or another
// dtype.
qdq_value pair_value(const replay *r, size_t node);

#endif
