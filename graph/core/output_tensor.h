// SPDX-License-Identifier: Apache-2.0
// The attribute output_tensor of ttnn's ops: a value in whose buffer a node writes its output, so
// that nothing is allocated. qdq itself never writes in place: it matters to the model of a device.
#ifndef QDQ_GRAPH_CORE_OUTPUT_TENSOR_H
#define QDQ_GRAPH_CORE_OUTPUT_TENSOR_H

#include "graph/core/graph.h"

// Returns the id of the value; 0: none.
uint32_t qdq_output_tensor_of(const qdq_node *node);

// Checks that the value belongs to the graph, and counts it as used.
void qdq_graph_connect_output_tensor(qdq_graph *graph, qdq_node *node);

#endif
