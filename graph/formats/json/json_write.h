// SPDX-License-Identifier: Apache-2.0
// Writes a graph as JSON.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_WRITE_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_WRITE_H

#include "graph/core/graph.h"

// Writes a complete graph to a qdq/1 file, and its large constants to a .safetensors file beside
// it.
qdq_status qdq_json_write(const qdq_graph *graph, const char *path, qdq_error *err);

#endif
