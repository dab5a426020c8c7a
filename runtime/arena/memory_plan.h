// SPDX-License-Identifier: Apache-2.0
// Gives each value an offset in the arena: a pure function from lifetimes to offsets.
#ifndef QDQ_RUNTIME_ARENA_MEMORY_PLAN_H
#define QDQ_RUNTIME_ARENA_MEMORY_PLAN_H

#include "runtime/base/mempool.h"

enum { QDQ_ARENA_ALIGN = 64 };
#define QDQ_NOT_IN_PLACE SIZE_MAX

// A value that needs memory from its first to its last step, both inclusive.
typedef struct qdq_lifetime {
    size_t first_step, last_step;
    size_t bytes;
    // The value whose memory this one takes over, or QDQ_NOT_IN_PLACE. The other value comes
    // earlier in the array, has the same bytes, ends in the step in which this one begins, and
    // gives its memory to no third one.
    size_t in_place_of;
    size_t offset;  // out
} qdq_lifetime;

typedef struct qdq_memory_plan {
    size_t arena_bytes;      // greatest offset + bytes
    size_t peak_live_bytes;  // greatest sum of aligned bytes alive in one step; never above
                             // arena_bytes
    size_t looks;            // the cost of planning: see qdq_gaps
} qdq_memory_plan;

// Fills in all offsets (multiples of QDQ_ARENA_ALIGN). No two values that are alive in the same
// step overlap, except a value that replaces another in place. Scratch comes from `mempool`. False
// when memory runs out or the sizes overflow.
bool qdq_plan_memory(qdq_lifetime *lifetimes, size_t count, qdq_mempool *mempool,
                     qdq_memory_plan *result);

#endif
