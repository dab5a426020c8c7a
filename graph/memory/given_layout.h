// SPDX-License-Identifier: Apache-2.0
// The memory_config, layout and tile that the user gives values of a graph, in a separate table: a
// graph without them has none.
#ifndef QDQ_GRAPH_MEMORY_GIVEN_LAYOUT_H
#define QDQ_GRAPH_MEMORY_GIVEN_LAYOUT_H

#include "graph/core/graph.h"
#include "include/qdq/device.h"

#define QDQ_NEVER SIZE_MAX

typedef struct qdq_given_layout {
    bool has_config, has_layout, has_tile;
    qdq_tensor_layout as;  // fields not given are zero
    bool has_address;      // an input lies at `address` before the first node runs
    uint64_t address;
    bool is_late;  // an input appears when its first reader runs, at its address if that is free
    // The value is freed after node `dies_after`, whoever reads it; QDQ_NEVER: it lives on.
    bool has_life;
    size_t dies_after;
} qdq_given_layout;

// Returns the keys given for the value `id`; NULL: nothing.
const qdq_given_layout *qdq_graph_given_layout(const qdq_graph *graph, uint32_t id);

// Returns the entry for writing, adding it if it is missing. NULL if memory runs out.
qdq_given_layout *qdq_graph_give_layout(qdq_graph *graph, uint32_t id);

#endif
