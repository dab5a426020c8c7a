// SPDX-License-Identifier: Apache-2.0
// The memory_config, layout and tile that the user gives values of a graph. A table of its own: a
// graph without them has none.
#ifndef QDQ_GRAPH_MEMORY_GIVEN_LAYOUT_H
#define QDQ_GRAPH_MEMORY_GIVEN_LAYOUT_H

#include "graph/core/graph.h"
#include "include/qdq/device.h"

typedef struct qdq_given_layout {
    bool has_config, has_layout, has_tile;
    qdq_tensor_layout as;  // what is not given is zero
} qdq_given_layout;

// The keys given for the value `id`; NULL: nothing.
const qdq_given_layout *qdq_graph_given_layout(const qdq_graph *graph, uint32_t id);

// The same to write to; made if there is none. NULL if memory runs out.
qdq_given_layout *qdq_graph_give_layout(qdq_graph *graph, uint32_t id);

#endif
