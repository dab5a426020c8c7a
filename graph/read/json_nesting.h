// SPDX-License-Identifier: Apache-2.0
// Checks how lists of scales and zero points are nested in a file.
#ifndef QDQ_GRAPH_READ_JSON_NESTING_H
#define QDQ_GRAPH_READ_JSON_NESTING_H

#include "graph/graph.h"
#include "graph/read/json_tree.h"

// Warns of every nested list of numbers in a node's `attrs` (may be NULL) whose nesting differs
// from the block grid of x. Lists are read flat in any case. `fields` is the op's struct, already
// filled.
void qdq_json_check_nesting(qdq_graph *graph, const qdq_op *op, const char *node,
                            const qdq_json_item *attrs, const char *fields);

#endif
