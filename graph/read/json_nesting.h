// SPDX-License-Identifier: Apache-2.0
// How lists of scales and zero points are nested in a file.
#ifndef QDQ_GRAPH_READ_JSON_NESTING_H
#define QDQ_GRAPH_READ_JSON_NESTING_H

#include "graph/graph.h"
#include "graph/read/json_tree.h"

// Warns of each list of numbers among `attrs` (may be NULL) of a node that is nested, and not like
// the block grid of the node's x: it is read flat all the same. `fields` is the op's struct, filled
// in.
void qdq_json_check_nesting(qdq_graph *graph, const qdq_op *op, const char *node,
                            const qdq_json_item *attrs, const char *fields);

#endif
