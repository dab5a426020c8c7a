// SPDX-License-Identifier: Apache-2.0
// Where two targets first compute a graph differently, and why, as `qdq compare` finds it.
#ifndef QDQ_TOOLS_EXPLAIN_TARGET_CAUSES_H
#define QDQ_TOOLS_EXPLAIN_TARGET_CAUSES_H

#include "tools/lab/explain/given.h"

typedef struct first_difference {
    bool differs;
    const char *node, *op, *value;  // of the graph
    char cause[128];                // that most elements have
    size_t elements, differing;
} first_difference;

// Runs the nodes as both targets until one differs on the same inputs, which are those of `given`.
// EXIT_OK, or another exit code after a message.
int find_first_difference(const session *s, const options *opt, const given_values *given,
                          const char *a, const char *b, first_difference *out);

#endif
