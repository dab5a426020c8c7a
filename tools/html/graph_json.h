// SPDX-License-Identifier: Apache-2.0
// Writes a graph as JSON for a page: every value with its type, every node with its connections.
#ifndef QDQ_TOOLS_HTML_GRAPH_JSON_H
#define QDQ_TOOLS_HTML_GRAPH_JSON_H

#include <qdq/graph.h>

#include "runtime/base/json_writer.h"

void json_graph(qdq_json *json, const qdq_graph *graph);

#endif
