// SPDX-License-Identifier: Apache-2.0
// Finds the first node that two targets compute differently, and the cause, as `qdq compare` does.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_TARGET_CAUSES_H
#define QDQ_TOOLS_LAB_EXPLAIN_TARGET_CAUSES_H

#include "tools/lab/explain/given.h"

typedef struct first_difference {
    bool differs;
    bool by_zeros;  // only by signs of zeros
    const char *node, *op, *value;  // names in the graph
    char cause[128];                // cause of the most elements
    size_t elements, differing;
} first_difference;

// Runs the nodes as both targets on the inputs of `given`, until a node differs from the same
// inputs. Signs of zeros give way to a later node that differs by more. EXIT_OK, or another exit code after a message.
int find_first_difference(const session *s, const options *opt, const given_values *given,
                          const char *a, const char *b, first_difference *out);

#endif
