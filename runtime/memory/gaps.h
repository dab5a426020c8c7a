// SPDX-License-Identifier: Apache-2.0
// Which bytes of an arena are taken at which moments, and where there is room.
#ifndef QDQ_RUNTIME_MEMORY_GAPS_H
#define QDQ_RUNTIME_MEMORY_GAPS_H

#include "runtime/base/mempool.h"

// Moments are 0, 1, 2, ... A tree over them: a leaf is a moment, a node has those of its children.
// Every node keeps spans of bytes: those taken in all of its moments, and those taken in some. What
// lies side by side is one span, so that a crowded arena has few of them.
typedef struct qdq_gaps {
    qdq_mempool *mempool;
    struct qdq_gaps_node *nodes;  // the root is number 1, the children of i are 2i and 2i + 1
    size_t leaves;                // a power of two
    size_t looks;                 // at sets and spans: what all calls cost
} qdq_gaps;

// False when memory runs out.
bool qdq_gaps_init(qdq_gaps *gaps, qdq_mempool *mempool, size_t moments);
void qdq_gaps_clear(qdq_gaps *gaps);

// Takes `bytes` from `offset` on in the moments first..last. False when memory runs out.
bool qdq_gaps_take(qdq_gaps *gaps, size_t first, size_t last, size_t offset, size_t bytes);

// The lowest offset from which on `bytes` are free in all moments first..last.
size_t qdq_gaps_lowest(qdq_gaps *gaps, size_t first, size_t last, size_t bytes);
// The highest one that ends at `cap` or below; SIZE_MAX if there is none.
size_t qdq_gaps_highest(qdq_gaps *gaps, size_t first, size_t last, size_t bytes, size_t cap);

#endif
