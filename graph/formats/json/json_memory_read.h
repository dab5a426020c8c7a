// SPDX-License-Identifier: Apache-2.0
// Reads where a value shall lie on a device: the keys memory_config, layout, tile, transpose_tile.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_MEMORY_READ_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_MEMORY_READ_H

#include "graph/formats/json/json_item.h"
#include "graph/memory/given_layout.h"

// For lists of legal keys.
#define QDQ_JSON_MEMORY_KEYS "memory_config", "layout", "tile", "transpose_tile"

// Reads these keys of an input, a constant or a node. Unknown words and impossible numbers are
// findings about `subject`, whose port is filled in here; their key then counts as not given.
qdq_status qdq_json_read_memory(const qdq_reader *r, const qdq_item *at, qdq_subject subject,
                                qdq_given_layout *out);

// Gives all of it to a value of the graph; a value without an id is skipped.
void qdq_json_give_memory(qdq_graph *graph, qdq_value value, const qdq_given_layout *given);

#endif
