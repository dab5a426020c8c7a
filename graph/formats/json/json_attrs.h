// SPDX-License-Identifier: Apache-2.0
// Reads a node's attributes from JSON into the struct of its op.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_ATTRS_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_ATTRS_H

#include "graph/core/graph.h"
#include "graph/formats/json/json_tree.h"

// Returns the dtype called `name`; QDQ_DTYPE_NONE and a finding about `subject` if there is none.
qdq_dtype qdq_json_read_dtype(qdq_graph *graph, const char *name, qdq_subject subject);

// Fills the op's struct `fields` from the object `attrs` (may be NULL); the pool owns its lists.
// Mistakes become findings about `node`. True if there were none.
bool qdq_json_read_attrs(qdq_graph *graph, qdq_mempool *mempool, const qdq_op *op, const char *node,
                         const qdq_json_item *attrs, char *fields);

// Reads one attribute into its field. `subject` names the node, the op and, as its port, the
// attribute. False after a finding.
bool qdq_json_read_attr(qdq_graph *graph, qdq_mempool *mempool, qdq_subject subject,
                        const qdq_attr_desc *attr, const qdq_json_item *json, void *field);

// Reports that the op has no attribute called `name`.
void qdq_json_report_unknown_attr(qdq_graph *graph, const qdq_op *op, const char *node,
                                  const char *name);

#endif
