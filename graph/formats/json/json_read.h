// SPDX-License-Identifier: Apache-2.0
// Reads a graph from JSON.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_READ_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_READ_H

#include "graph/core/graph.h"

// Reads a qdq/1 or a oneDNN Graph text, which has a NUL after its `length` bytes, into an empty
// graph. Files that it names lie in `folder`.
qdq_status qdq_json_read(qdq_graph *graph, const char *text, size_t length, const char *folder,
                         const qdq_graph_options *options, qdq_error *err);

#endif
