// SPDX-License-Identifier: Apache-2.0
// Nodes that a check could not look at in full, because of errors at other nodes.
#ifndef QDQ_TOOLS_CHECK_UNCHECKED_H
#define QDQ_TOOLS_CHECK_UNCHECKED_H

#include <qdq/graph.h>

#include "runtime/base/json_writer.h"

// Numbers of nodes, in order.
typedef struct unchecked_nodes {
    size_t *items;  // owned
    size_t count;
} unchecked_nodes;

// Lists the nodes without errors of their own for which rules were left out: each node that reads a
// node with errors, and every node if the target would rewrite a graph without errors first. False if memory runs
// out; the caller releases `out` in either case.
bool unchecked_find(const qdq_graph *graph, const qdq_report *report, const char *target,
                    unchecked_nodes *out);
void unchecked_release(unchecked_nodes *nodes);

// Writes their names.
void unchecked_json(qdq_json *json, const qdq_graph *graph, const unchecked_nodes *nodes);

#endif
