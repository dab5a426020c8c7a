// SPDX-License-Identifier: Apache-2.0
// Counts how well the bits of ops are known at a version of a target.
#ifndef QDQ_TOOLS_TARGETS_OP_BITS_H
#define QDQ_TOOLS_TARGETS_OP_BITS_H

#include <qdq/graph.h>

// Numbers of ops. An op counts by its best evidence.
typedef struct op_bits {
    size_t with[QDQ_BITS_EXACT + 1];  // for every node
    size_t exact_on_condition;        // exact for nodes that meet a condition
} op_bits;

// Counts all ops at "TARGET@VERSION", also the ops that the backend lacks.
op_bits op_bits_of(const char *target);

#endif
