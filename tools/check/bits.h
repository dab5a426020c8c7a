// SPDX-License-Identifier: Apache-2.0
// Says how well the bits of each node are known that a target runs.
#ifndef QDQ_TOOLS_CHECK_BITS_H
#define QDQ_TOOLS_CHECK_BITS_H

#include <qdq/graph.h>
#include <stdio.h>

#include "runtime/base/json_writer.h"

typedef struct options options;

// Returns "exact", "read", "close" or "unknown".
const char *bits_word(qdq_bits bits);

// True if the bits of every node are exact, or the report has errors and thus no nodes.
bool bits_are_exact(const qdq_report *report);

// Prints "bits: 41 of 44 nodes exact, 1 read, 1 close ('lstm'), 1 unknown ('gelu')".
void print_bits(FILE *out, const qdq_report *report);

// Says on stderr how well the bits of the nodes are known that `target` runs, if not all are exact;
// -q silences it.
void tell_bits(const char *command, const qdq_report *report, const char *target,
               const options *opt);

// Writes the key "bits": the number of nodes for each word, and the nodes.
void json_bits(qdq_json *json, const qdq_report *report);
// Checks the graph for `target`, which ends its last report, and writes this key. EXIT_OK, or
// another exit code after a message.
int json_bits_of(qdq_json *json, qdq_graph *graph, const char *target, const qdq_device *device);
// Does the same for several targets: the value of the key is a list, whose items have a `target`.
int json_bits_of_each(qdq_json *json, qdq_graph *graph, const char *const *targets, size_t count,
                      const options *opt);

#endif
