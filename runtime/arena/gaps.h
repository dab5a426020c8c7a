// SPDX-License-Identifier: Apache-2.0
// Records which bytes of an arena are taken at which moments, and finds room for more.
#ifndef QDQ_RUNTIME_ARENA_GAPS_H
#define QDQ_RUNTIME_ARENA_GAPS_H

#include "runtime/base/mempool.h"

// Moments are 0, 1, 2, ... They form a tree: a leaf is one moment, any other node has all moments
// below it. Each node keeps two sets of byte spans: spans taken in all of its moments, and spans
// taken in some. Adjacent spans become one, so a crowded arena has few of them.
typedef struct qdq_gaps {
    qdq_mempool *mempool;
    struct qdq_gaps_node *nodes;  // the root is number 1, the children of i are 2i and 2i + 1
    size_t leaves;                // a power of two
    size_t looks;                 // sets and spans visited: the cost of all calls
} qdq_gaps;

// Creates an empty record of `moments` moments. False when memory runs out.
bool qdq_gaps_init(qdq_gaps *gaps, qdq_mempool *mempool, size_t moments);
void qdq_gaps_clear(qdq_gaps *gaps);

// Takes `bytes` from `offset` on in the moments first..last. False when memory runs out.
bool qdq_gaps_take(qdq_gaps *gaps, size_t first, size_t last, size_t offset, size_t bytes);

// Returns the lowest offset with `bytes` free bytes in all moments first..last.
size_t qdq_gaps_lowest(qdq_gaps *gaps, size_t first, size_t last, size_t bytes);
// Returns the highest of these offsets if the bytes may not go beyond `cap`; SIZE_MAX if there is
// none.
size_t qdq_gaps_highest(qdq_gaps *gaps, size_t first, size_t last, size_t bytes, size_t cap);

#endif
