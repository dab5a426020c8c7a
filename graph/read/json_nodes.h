// SPDX-License-Identifier: Apache-2.0
// The nodes of a graph file: in any order there, added after those that they need.
#ifndef QDQ_GRAPH_READ_JSON_NODES_H
#define QDQ_GRAPH_READ_JSON_NODES_H

#include "graph/read/json_item.h"

typedef struct qdq_node_text {
    const char *name;
    const char *op;
    const qdq_json_item *inputs, *attrs;  // objects or NULL
    bool used;                            // by a node that was added before: there is a cycle
} qdq_node_text;

typedef struct qdq_node_list {
    const qdq_reader *r;
    qdq_node_text *nodes;
    size_t count;
    qdq_symbols *names;  // node name -> index; made and destroyed by the caller
} qdq_node_list;

// Adds all "nodes" of the file to the graph. What is wrong with their ports, attributes and order
// becomes findings.
qdq_status qdq_json_read_nodes(qdq_node_list *list, const qdq_item *top);

// The value called `name`; a finding about `subject` if there is none. What was found wrong before
// gives an invalid value without a word.
qdq_value qdq_json_resolve(const qdq_node_list *list, const char *name, qdq_subject subject);

#endif
