// SPDX-License-Identifier: Apache-2.0
// Writes the attributes of a node as JSON.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_ATTRS_WRITE_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_ATTRS_WRITE_H

#include "graph/core/graph.h"
#include "runtime/base/json_writer.h"

// Writes an object with the attributes that differ from their defaults. Lists of more than `most`
// numbers are cut, see qdq_graph_node_attrs; 0: none is.
void qdq_json_write_attrs(qdq_json *json, const qdq_graph *graph, const qdq_node *node,
                          size_t most);

#endif
