// SPDX-License-Identifier: Apache-2.0
// Copies values and nodes from one graph to another.
#ifndef QDQ_GRAPH_COPY_H
#define QDQ_GRAPH_COPY_H

#include "graph/graph.h"

// Adds a constant as it is, and any other value as an input.
qdq_value qdq_copy_given(qdq_graph *to, const char *name, const qdq_graph_value *from);

// Adds `node` with `inputs`, a value of `to` for each of its inputs, and returns its first output.
// Attributes that name a value of the other graph are left out. `name` NULL: the node's own.
qdq_value qdq_copy_node(qdq_graph *to, const qdq_node *node, const char *name,
                        const qdq_value *inputs);

#endif
