// SPDX-License-Identifier: Apache-2.0
// Writes a graph of a single node and at most 64 elements that shows the difference of an
// explanation.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_REPRODUCTION_H
#define QDQ_TOOLS_LAB_EXPLAIN_REPRODUCTION_H

#include "tools/lab/explain/explain.h"

// Writes the graph to `path`, NAME.json, and the given elements to NAME.got.safetensors. Sets
// `command` to the command line that explains them. A node that cannot be cut is named on stderr,
// and nothing is written. EXIT_OK, or another exit code after a message.
int write_reproduction(const replay *r, const explanation *e, const char *target, const char *path,
                       char *command, size_t capacity);

// Returns the NAME.got.safetensors of NAME.json, in `out`.
const char *reproduction_given(const char *path, char *out, size_t capacity);

#endif
