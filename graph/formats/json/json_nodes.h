// SPDX-License-Identifier: Apache-2.0
// Reads the nodes of a graph file, in any order, and adds each after the nodes it needs.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_NODES_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_NODES_H

#include "graph/formats/json/json_item.h"

typedef struct qdq_node_text {
    const char *name;
    const char *op;
    const qdq_json_item *inputs, *attrs;  // objects or NULL
    struct qdq_given_layout *memory;      // of its first output; NULL: nothing is given
    bool used;                            // a node added earlier reads it, so it is part of a cycle
} qdq_node_text;

typedef struct qdq_node_list {
    const qdq_reader *r;
    qdq_node_text *nodes;
    size_t count;
    qdq_symbols *names;  // node name -> index; the caller creates and destroys the table
} qdq_node_list;

// Adds all "nodes" of the file to the graph. Wrong ports, attributes and cycles become findings.
qdq_status qdq_json_read_nodes(qdq_node_list *list, const qdq_item *top);

// Returns the value called `name`, or a finding about `subject` if there is none. A value with an
// error that is already reported is invalid, without a second finding.
qdq_value qdq_json_resolve(const qdq_node_list *list, const char *name, qdq_subject subject);

#endif
