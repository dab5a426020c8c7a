// SPDX-License-Identifier: Apache-2.0
// A memory pool: memory that grows in blocks and is freed all at once. Everything that a graph or a
// plan consists of lies in one, so a single call frees it. (runtime/arena/memory_plan.h lays out
// the arena of a plan.)
#ifndef QDQ_RUNTIME_BASE_MEMPOOL_H
#define QDQ_RUNTIME_BASE_MEMPOOL_H

#include "include/qdq/base.h"

// Returns the allocator that NULL stands for.
const qdq_allocator *qdq_allocator_or_default(const qdq_allocator *allocator);

// Returns count * size bytes, or NULL if that overflows, is 0, or memory runs out. Not zeroed.
void *qdq_alloc_array(const qdq_allocator *allocator, size_t count, size_t size, size_t align);
// Frees memory from qdq_alloc_array; NULL is fine.
void qdq_free_array(const qdq_allocator *allocator, void *ptr, size_t count, size_t size);

typedef struct qdq_mempool_block qdq_mempool_block;

// Initialised by qdq_mempool_init; not thread-safe. `failed` stays true after an allocation failed.
typedef struct qdq_mempool {
    const qdq_allocator *allocator;
    qdq_mempool_block *blocks;
    size_t block_bytes;  // of a usual block; tests set 1 so that every call allocates
    size_t used;         // of the first block, which the next array may share
    size_t taken;        // bytes of all blocks
    bool failed;
} qdq_mempool;

void qdq_mempool_init(qdq_mempool *mempool, const qdq_allocator *allocator);
void qdq_mempool_release(qdq_mempool *mempool);

// Returns zeroed memory of count * size bytes that lives as long as the pool, 16-byte aligned
// (64-byte aligned from 64 bytes on); NULL on overflow or out of memory. If count * size is 0 the
// pointer is valid, but must not be read.
void *qdq_mempool_array(qdq_mempool *mempool, size_t count, size_t size);
// Returns the same without zeroing it, for large arrays that are written as a whole.
void *qdq_mempool_uncleared(qdq_mempool *mempool, size_t count, size_t size);
#define QDQ_MEMPOOL_NEW(mempool, type) ((type *)qdq_mempool_array((mempool), 1, sizeof(type)))

// Copies; NULL when memory runs out. `text` need not be terminated.
void *qdq_mempool_copy(qdq_mempool *mempool, const void *data, size_t count, size_t size);
char *qdq_mempool_string(qdq_mempool *mempool, const char *text, size_t length);
char *qdq_mempool_strdup(qdq_mempool *mempool, const char *text);

// Makes room for `wanted` items of a growing array that has `count`: returns `items` or a larger
// copy of it, NULL when memory runs out (the old array then stays valid). `*capacity` is kept up to
// date. An array of several blocks is freed when it becomes a larger one.
void *qdq_mempool_reserve(qdq_mempool *mempool, void *items, size_t count, size_t wanted,
                          size_t *capacity, size_t size);
// Makes room for one more item, likewise.
void *qdq_mempool_grow(qdq_mempool *mempool, void *items, size_t count, size_t *capacity,
                       size_t size);

#endif
