// SPDX-License-Identifier: Apache-2.0
// Which addresses of a memory bank are taken: a free list in address order. All banks of a pool are
// taken in lock step, so one list describes each of them.
#ifndef QDQ_RUNTIME_ARENA_FREE_LIST_H
#define QDQ_RUNTIME_ARENA_FREE_LIST_H

#include "runtime/base/mempool.h"

// A block of addresses. Free blocks never touch each other; a taken one is a single allocation.
typedef struct qdq_memory_block {
    uint64_t address, bytes;
    size_t holders;  // buffers that share it, a root and its views; 0: it is free
} qdq_memory_block;

// Blocks in address order. Adding and removing moves the blocks on one side, which are few for
// allocations that are freed in their order.
typedef struct qdq_block_list {
    qdq_memory_block *items;
    size_t count;
    size_t before;    // unused blocks before the first one
    size_t capacity;  // blocks with those before
} qdq_block_list;

typedef struct qdq_free_list {
    qdq_mempool *mempool;
    uint64_t base, bytes;        // the range that the list describes
    uint64_t alignment;          // of addresses and sizes; also the least size
    qdq_block_list free, taken;  // together they cover the range, without overlaps
    uint64_t allocated, peak;    // bytes taken, now and at most
} qdq_free_list;

typedef enum qdq_fit {
    QDQ_FITS,
    QDQ_NO_ROOM,
    QDQ_UNALIGNED,  // the address is not a multiple of the alignment
    QDQ_NO_MEMORY,  // of the host
} qdq_fit;

// Creates a list of free memory. base and bytes are multiples of `alignment`, which is not 0. False
// when memory runs out.
bool qdq_free_list_init(qdq_free_list *list, qdq_mempool *mempool, uint64_t base, uint64_t bytes,
                        uint64_t alignment);

// Rounds `bytes` up to a multiple of the alignment, at least one. UINT64_MAX if the list is
// smaller.
uint64_t qdq_free_list_rounded(const qdq_free_list *list, uint64_t bytes);

// Takes the start of the lowest free block that is large enough. Top-down: the end of the highest,
// but never below `limit`. Nothing changes unless it fits.
qdq_fit qdq_free_list_allocate(qdq_free_list *list, uint64_t bytes, bool top_down, uint64_t limit,
                               uint64_t *address);
// Takes the range at `address`, which must lie in one free block.
qdq_fit qdq_free_list_allocate_at(qdq_free_list *list, uint64_t bytes, uint64_t address);

// Adds a holder of the allocation at `address`. False if there is none.
bool qdq_free_list_share(qdq_free_list *list, uint64_t address);
// Removes a holder; the last holder frees the block, which merges with its free neighbours. False
// if no allocation begins there.
bool qdq_free_list_release(qdq_free_list *list, uint64_t address);

uint64_t qdq_free_list_largest(const qdq_free_list *list);
// Returns the lowest address taken; UINT64_MAX if none is.
uint64_t qdq_free_list_lowest(const qdq_free_list *list);
// Returns the allocation that begins at `address`; NULL if there is none.
const qdq_memory_block *qdq_free_list_find(const qdq_free_list *list, uint64_t address);
// Finds the block, free or taken, that begins at `address`; false if there is none. Blocks in
// order: from `base`, and each next one where the last one ends.
bool qdq_free_list_block(const qdq_free_list *list, uint64_t address, qdq_memory_block *out);

#endif
