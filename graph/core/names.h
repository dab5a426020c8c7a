// SPDX-License-Identifier: Apache-2.0
// Names in a graph: their form and their lookup. Inputs, constants, nodes and the further outputs
// of nodes, which are called "node.port", share one set of names; outputs of the graph have their
// own. "node.port" means the first output of a node too, unless a value has exactly this name.
#ifndef QDQ_GRAPH_CORE_NAMES_H
#define QDQ_GRAPH_CORE_NAMES_H

#include "graph/core/graph.h"

// Reports a bad name of a `what` ("input", "node", ...): a name has 1 to 255 bytes of UTF-8 without
// control characters.
void qdq_graph_check_name(qdq_graph *graph, const char *name, const char *what);
// The same check without a finding.
bool qdq_graph_name_is_legal(const char *name);
// Returns a legal name like `name`, with room for a number of up to 24 bytes behind it: forbidden
// characters become '_', and a long name is cut. NULL: no memory.
char *qdq_graph_legal_name(qdq_mempool *mempool, const char *name);
// Reports a graph name that is not UTF-8.
void qdq_graph_check_own_name(qdq_graph *graph);
// Enters a name for a value; a taken name is a finding about `subject`.
void qdq_graph_enter_name(qdq_graph *graph, const char *name, uint32_t id, qdq_subject subject);
void qdq_graph_enter_output_name(qdq_graph *graph, const char *name);
bool qdq_graph_name_is_free(const qdq_graph *graph, const char *name);
// The same for a node, whose further outputs need names too.
bool qdq_graph_node_name_is_free(const qdq_graph *graph, const qdq_op *op, const char *name);

// Notes the name that a value, an output or a node has in the file that the graph was read from. If
// several have the same original name, the first is found by it.
void qdq_graph_set_original(qdq_graph *graph, qdq_value value, const char *original);
void qdq_graph_set_output_original(qdq_graph *graph, size_t output, const char *original);
void qdq_graph_set_node_original(qdq_graph *graph, size_t node, const char *original);
// Finds the index of the output called `name`; false if it is missing.
bool qdq_graph_find_output(const qdq_graph *graph, const char *name, size_t *index);

#endif
