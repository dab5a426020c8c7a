// SPDX-License-Identifier: Apache-2.0
// The free list of tt-metal's allocator with the policy that its bank managers use: address-ordered
// first fit. The original sorts free blocks by size class as well, which skips blocks that are too
// small and changes no address.
#include "runtime/arena/free_list.h"

#include <string.h>

//---- Lists of blocks --------------------------------------------------------

// Returns the first block at `address` or above; `count` if there is none.
static size_t first_from(const qdq_block_list *list, uint64_t address) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Makes room for `count` blocks. Moves them to the start if half of the array before them is
// unused.
static bool reserve(qdq_mempool *mempool, qdq_block_list *blocks, size_t count) {
    qdq_memory_block *items = blocks->items;
    if (blocks->before + count > blocks->capacity && blocks->before > blocks->capacity / 2) {
        blocks->items -= blocks->before, blocks->before = 0;
        memmove(blocks->items, items, blocks->count * sizeof *items);
    }
    items = qdq_mempool_reserve(mempool, items ? blocks->items - blocks->before : NULL,
                                blocks->before + blocks->count, blocks->before + count,
                                &blocks->capacity, sizeof *items);
    if (!items) return false;
    blocks->items = items + blocks->before;
    return true;
}

// Reserves room for one more allocation. n allocations have at most n + 1 free blocks between them,
// so freeing never needs memory.
static bool reserve_one(qdq_free_list *list) {
    return reserve(list->mempool, &list->taken, list->taken.count + 1) &&
           reserve(list->mempool, &list->free, list->taken.count + 2);
}

// There is room, before the blocks or behind them.
static void insert(qdq_block_list *blocks, size_t at, qdq_memory_block block) {
    bool full = blocks->before + blocks->count == blocks->capacity;
    if (full || (blocks->before && at < blocks->count / 2)) {
        blocks->items--, blocks->before--;
        memmove(blocks->items, blocks->items + 1, at * sizeof *blocks->items);
    } else {
        memmove(&blocks->items[at + 1], &blocks->items[at],
                (blocks->count - at) * sizeof *blocks->items);
    }
    blocks->items[at] = block;
    blocks->count++;
}

static void take_out(qdq_block_list *blocks, size_t at) {
    blocks->count--;
    if (at <= blocks->count / 2) {
        memmove(blocks->items + 1, blocks->items, at * sizeof *blocks->items);
        blocks->items++, blocks->before++;
    } else {
        memmove(&blocks->items[at], &blocks->items[at + 1],
                (blocks->count - at) * sizeof *blocks->items);
    }
}

bool qdq_free_list_init(qdq_free_list *list, qdq_mempool *mempool, uint64_t base, uint64_t bytes,
                        uint64_t alignment) {
    *list =
        (qdq_free_list){.mempool = mempool, .base = base, .bytes = bytes, .alignment = alignment};
    if (!reserve_one(list)) return false;
    if (bytes) insert(&list->free, 0, (qdq_memory_block){.address = base, .bytes = bytes});
    return true;
}

//---- Allocating -------------------------------------------------------------

uint64_t qdq_free_list_rounded(const qdq_free_list *list, uint64_t bytes) {
    if (bytes > list->bytes || list->bytes == 0) return UINT64_MAX;
    if (bytes < list->alignment) return list->alignment;
    return (bytes + list->alignment - 1) / list->alignment * list->alignment;
}

// Takes `bytes` at `address` out of the free block number `at`.
static qdq_fit take(qdq_free_list *list, size_t at, uint64_t address, uint64_t bytes) {
    if (!reserve_one(list)) return QDQ_NO_MEMORY;
    qdq_memory_block *block = &list->free.items[at];
    qdq_memory_block above = {.address = address + bytes,
                              .bytes = block->address + block->bytes - address - bytes};
    block->bytes = address - block->address;
    if (above.bytes) insert(&list->free, at + 1, above);
    if (list->free.items[at].bytes == 0) take_out(&list->free, at);
    insert(&list->taken, first_from(&list->taken, address),
           (qdq_memory_block){.address = address, .bytes = bytes, .holders = 1});
    list->allocated += bytes;
    if (list->allocated > list->peak) list->peak = list->allocated;
    return QDQ_FITS;
}

qdq_fit qdq_free_list_allocate(qdq_free_list *list, uint64_t bytes, bool top_down, uint64_t limit,
                               uint64_t *address) {
    uint64_t size = qdq_free_list_rounded(list, bytes);
    for (size_t i = 0; i < list->free.count; i++) {
        size_t at = top_down ? list->free.count - 1 - i : i;
        qdq_memory_block block = list->free.items[at];
        if (block.bytes < size) continue;
        uint64_t found = top_down ? block.address + block.bytes - size : block.address;
        if (top_down && found < limit) return QDQ_NO_ROOM;
        qdq_fit fit = take(list, at, found, size);
        if (fit == QDQ_FITS) *address = found;
        return fit;
    }
    return QDQ_NO_ROOM;
}

qdq_fit qdq_free_list_allocate_at(qdq_free_list *list, uint64_t bytes, uint64_t address) {
    uint64_t size = qdq_free_list_rounded(list, bytes);
    if (address % list->alignment) return QDQ_UNALIGNED;
    size_t after = first_from(&list->free, address);
    if (after < list->free.count && list->free.items[after].address == address) after++;
    if (after == 0) return QDQ_NO_ROOM;
    qdq_memory_block block = list->free.items[after - 1];
    uint64_t skipped = address - block.address;
    if (skipped > block.bytes || block.bytes - skipped < size) return QDQ_NO_ROOM;
    return take(list, after - 1, address, size);
}

//---- Freeing ----------------------------------------------------------------

// Returns the number of the allocation at `address`; `count` if there is none.
static size_t taken_at(const qdq_free_list *list, uint64_t address) {
    size_t at = first_from(&list->taken, address);
    bool found = at < list->taken.count && list->taken.items[at].address == address;
    return found ? at : list->taken.count;
}

bool qdq_free_list_share(qdq_free_list *list, uint64_t address) {
    size_t at = taken_at(list, address);
    if (at == list->taken.count) return false;
    list->taken.items[at].holders++;
    return true;
}

bool qdq_free_list_release(qdq_free_list *list, uint64_t address) {
    size_t at = taken_at(list, address);
    if (at == list->taken.count) return false;
    if (--list->taken.items[at].holders) return true;
    qdq_memory_block freed = list->taken.items[at];
    qdq_block_list *free = &list->free;
    size_t next = first_from(free, address);
    bool below = next > 0 && free->items[next - 1].address + free->items[next - 1].bytes == address;
    bool above = next < free->count && address + freed.bytes == free->items[next].address;
    if (below) free->items[next - 1].bytes += freed.bytes;
    if (below && above) {
        free->items[next - 1].bytes += free->items[next].bytes;
        take_out(free, next);
    } else if (above) {
        free->items[next].address = address;
        free->items[next].bytes += freed.bytes;
    } else if (!below) {
        insert(free, next, freed);
    }
    take_out(&list->taken, at);
    list->allocated -= freed.bytes;
    return true;
}

//---- Asking -----------------------------------------------------------------

uint64_t qdq_free_list_largest(const qdq_free_list *list) {
    uint64_t largest = 0;
    for (size_t i = 0; i < list->free.count; i++)
        if (list->free.items[i].bytes > largest) largest = list->free.items[i].bytes;
    return largest;
}

uint64_t qdq_free_list_lowest(const qdq_free_list *list) {
    return list->taken.count ? list->taken.items[0].address : UINT64_MAX;
}

const qdq_memory_block *qdq_free_list_find(const qdq_free_list *list, uint64_t address) {
    size_t at = taken_at(list, address);
    return at < list->taken.count ? &list->taken.items[at] : NULL;
}

bool qdq_free_list_block(const qdq_free_list *list, uint64_t address, qdq_memory_block *out) {
    size_t at = first_from(&list->free, address);
    const qdq_memory_block *taken = qdq_free_list_find(list, address);
    if (taken)
        *out = *taken;
    else if (at < list->free.count && list->free.items[at].address == address)
        *out = list->free.items[at];
    else
        return false;
    return true;
}
