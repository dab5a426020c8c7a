// SPDX-License-Identifier: Apache-2.0
// The elements of constants as base64: the bytes that a .safetensors file has for the tensor.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_BASE64_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_BASE64_H

#include "graph/core/graph.h"

// Adds a constant of `count` elements, SIZE_MAX for a shape that the graph will refuse. A text that
// is not of the dtype and shape becomes a finding, before memory is taken for the elements if its
// length is wrong.
void qdq_json_add_base64(qdq_graph *graph, const char *name, qdq_type type, size_t count,
                         const char *text);

#endif
