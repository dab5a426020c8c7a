// SPDX-License-Identifier: Apache-2.0
// Writes a graph as JSON.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_WRITE_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_WRITE_H

#include "graph/core/graph.h"

// Writes a complete graph to a qdq/1 file, and its large constants to a .safetensors file beside
// it.
qdq_status qdq_json_write(const qdq_graph *graph, const char *path, qdq_error *err);

// Writes it to one file, with large constants as base64, which take at most `most` bytes of text;
// 0: the graph's limit for files.
qdq_status qdq_json_write_whole(const qdq_graph *graph, const char *path, size_t most,
                                qdq_error *err);

#endif
