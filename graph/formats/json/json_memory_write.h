// SPDX-License-Identifier: Apache-2.0
// Writes the keys memory_config, layout, tile and transpose_tile of a value.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_MEMORY_WRITE_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_MEMORY_WRITE_H

#include "graph/memory/given_layout.h"
#include "runtime/base/json_writer.h"

// Writes the keys that were given; `given` NULL: none.
void qdq_json_write_memory(qdq_json *json, const qdq_given_layout *given);

#endif
