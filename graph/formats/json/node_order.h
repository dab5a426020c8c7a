// SPDX-License-Identifier: Apache-2.0
// Orders nodes so that each follows the nodes it needs.
#ifndef QDQ_GRAPH_FORMATS_JSON_NODE_ORDER_H
#define QDQ_GRAPH_FORMATS_JSON_NODE_ORDER_H

#include "graph/core/graph.h"

// Node i needs needs[start[i]] to needs[start[i + 1] - 1]; start has count + 1 entries.
typedef struct qdq_needs {
    size_t count;
    const size_t *start;
    const uint32_t *needs;
} qdq_needs;

// Called for each cycle with its members in order: each needs the next, and the last needs the
// first.
typedef void qdq_cycle_fn(void *self, const uint32_t *members, size_t count);

// Fills order[0 .. count) with all nodes; nodes keep their order where their needs allow it. The
// need that closes a cycle is ignored. Linear time. False if memory runs out.
bool qdq_node_order(const qdq_needs *needs, uint32_t *order, qdq_mempool *mempool,
                    qdq_cycle_fn *on_cycle, void *self);

enum { QDQ_CYCLE_SHOWN = 6 };

// Adds a finding about a cycle of `count` nodes; `names` has the first ones, up to QDQ_CYCLE_SHOWN.
void qdq_report_cycle(qdq_graph *graph, const char *const *names, size_t count);

#endif
