// SPDX-License-Identifier: Apache-2.0
// Reads the blocks of a quantizing node in a file: its qtype, and how its lists are nested.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_NESTING_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_NESTING_H

#include "graph/core/graph.h"
#include "graph/formats/json/json_tree.h"

// Warns of every nested list of numbers in a node's `attrs` (may be NULL) whose nesting differs
// from the block grid of x. Lists are read flat in any case. `fields` is the op's struct, already
// filled.
void qdq_json_check_nesting(qdq_graph *graph, const qdq_op *op, const char *node,
                            const qdq_json_item *attrs, const char *fields);

// Gives a node without qtype, axis and group_shape the group_shape that nested `scales` of the rank
// of x say. `attrs` may be NULL.
void qdq_json_infer_blocks(const qdq_graph *graph, qdq_mempool *mempool, const qdq_op *op,
                           const qdq_json_item *attrs, char *fields);

// Reports `attrs` that name the qtype per_tensor if the producer of `y` got another qtype.
void qdq_json_check_qtype(qdq_graph *graph, qdq_value y, const qdq_json_item *attrs);

#endif
