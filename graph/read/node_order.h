// SPDX-License-Identifier: Apache-2.0
// An order in which every node comes after those that it needs.
#ifndef QDQ_GRAPH_READ_NODE_ORDER_H
#define QDQ_GRAPH_READ_NODE_ORDER_H

#include "runtime/base/mempool.h"

// Needs of node i: needs[start[i]] to needs[start[i + 1] - 1] (start has count + 1 entries).
typedef struct qdq_needs {
    size_t count;
    const size_t *start;
    const uint32_t *needs;
} qdq_needs;

// Called for each cycle with its members in order: each one needs the next, the last the first.
typedef void qdq_cycle_fn(void *self, const uint32_t *members, size_t count);

// Fills order[0 .. count) with all nodes; those that need nothing unusual stay in their own order.
// The need that closes a cycle is passed over. Linear time. False when memory runs out.
bool qdq_node_order(const qdq_needs *needs, uint32_t *order, qdq_mempool *mempool,
                    qdq_cycle_fn *on_cycle, void *self);

#endif
