// SPDX-License-Identifier: Apache-2.0
// Names of a graph: their form, and what they stand for. Inputs, constants and nodes share one set,
// outputs have one of their own; "node.port" is looked up where no value has that very name.
#ifndef QDQ_GRAPH_NAMES_H
#define QDQ_GRAPH_NAMES_H

#include "graph/graph.h"

// A finding unless the name of a `what` ("input", "node", ...) has 1 to 255 bytes of UTF-8 and no
// control character.
void qdq_graph_check_name(qdq_graph *graph, const char *name, const char *what);
// The same as a question.
bool qdq_graph_name_is_legal(const char *name);
// A finding unless the name of the graph is UTF-8.
void qdq_graph_check_own_name(qdq_graph *graph);
// Enters a name for a value; a name that is taken is a finding about `subject`.
void qdq_graph_enter_name(qdq_graph *graph, const char *name, uint32_t id, qdq_subject subject);
void qdq_graph_enter_output_name(qdq_graph *graph, const char *name);
bool qdq_graph_name_is_free(const qdq_graph *graph, const char *name);

#endif
