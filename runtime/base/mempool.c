// SPDX-License-Identifier: Apache-2.0
// Memory pools: a list of blocks, each taken from the allocator at once and handed out in parts.
//
// A pool that has grown to megabytes takes blocks as large as all before, of whole huge pages, for
// arrays of at most an eighth of a block: the kernel takes 1.5 us to hand out a page of 4 KB, four
// times as long as for its share of a huge page. At most an eighth of a block is lost at its end.
// An array too large for that has a block alone, behind the block that is being handed out.
#include "runtime/base/mempool.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

struct qdq_mempool_block {
    qdq_mempool_block *next;
    size_t bytes;  // of the whole block, this header included
};

enum {
    HEADER_BYTES = 64,
#if defined(QDQ_BARE)
    USUAL_BLOCK_BYTES = 1024,  // a microcontroller has some tens of kilobytes
#else
    USUAL_BLOCK_BYTES = 16 * 1024,
#endif
    HUGE_PAGE = 1 << 21,
    MOST_BLOCK_BYTES = 8 * HUGE_PAGE,
    ARRAYS = 8,  // of a block of huge pages, at least
};

#if defined(QDQ_BARE)
// newlib has no aligned_alloc without an operating system. The pointer to free stands before each
// block.
static void *libc_alloc(void *self, size_t size, size_t align) {
    (void)self;
    size_t room = align + sizeof(void *);
    char *whole = size > SIZE_MAX - room ? NULL : malloc(size + room);
    if (!whole) return NULL;
    char *memory = whole + room - (uintptr_t)(whole + room) % align;
    memcpy(memory - sizeof whole, &whole, sizeof whole);
    return memory;
}

static void libc_free(void *self, void *ptr, size_t size) {
    (void)self, (void)size;
    char *whole;
    if (!ptr) return;
    memcpy(&whole, (char *)ptr - sizeof whole, sizeof whole);
    free(whole);
}
#else
// Without huge pages the kernel takes longer to hand out the packed weights of a network, page by
// page, than packing does. The tail that does not fill a huge page stays in usual pages.
static void ask_for_huge_pages(void *memory, size_t size) {
#if defined(MADV_HUGEPAGE)
    (void)madvise(memory, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);  // it may have none
#else
    (void)memory, (void)size;
#endif
}

static void *libc_alloc(void *self, size_t size, size_t align) {
    (void)self;
    bool large = size >= HUGE_PAGE;
    if (large && align < HUGE_PAGE) align = HUGE_PAGE;
    if (align <= 16) return malloc(size);
    size_t rounded = (size + align - 1) / align * align;
    void *memory = rounded < size ? NULL : aligned_alloc(align, rounded);
    if (memory && large) ask_for_huge_pages(memory, size);
    return memory;
}

static void libc_free(void *self, void *ptr, size_t size) {
    (void)self, (void)size;
    free(ptr);
}

#endif

static const qdq_allocator libc_allocator = {libc_alloc, libc_free, NULL};

const qdq_allocator *qdq_allocator_or_default(const qdq_allocator *allocator) {
    return allocator && allocator->alloc && allocator->free ? allocator : &libc_allocator;
}

void *qdq_alloc_array(const qdq_allocator *allocator, size_t count, size_t size, size_t align) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes == 0) return NULL;
    return allocator->alloc(allocator->self, bytes, align);
}

void qdq_free_array(const qdq_allocator *allocator, void *ptr, size_t count, size_t size) {
    if (ptr) allocator->free(allocator->self, ptr, count * size);
}

void qdq_mempool_init(qdq_mempool *pool, const qdq_allocator *allocator) {
    *pool = (qdq_mempool){.allocator = qdq_allocator_or_default(allocator),
                          .block_bytes = USUAL_BLOCK_BYTES};
}

void qdq_mempool_release(qdq_mempool *pool) {
    for (qdq_mempool_block *block = pool->blocks, *next; block; block = next) {
        next = block->next;
        pool->allocator->free(pool->allocator->self, block, block->bytes);
    }
    pool->blocks = NULL;
    pool->taken = 0;
}

// Returns the bytes of a block for an array, and for others after it; 0: more than an address has.
static size_t block_bytes(const qdq_mempool *pool, size_t array, bool alone) {
    size_t exact, large = pool->taken / HUGE_PAGE * HUGE_PAGE;
    if (__builtin_add_overflow(array, (size_t)HEADER_BYTES, &exact)) return 0;
    if (large > MOST_BLOCK_BYTES) large = MOST_BLOCK_BYTES;
    if (pool->block_bytes < USUAL_BLOCK_BYTES || alone) large = 0;
    if (exact <= large / ARRAYS) return large;
    return exact < pool->block_bytes ? pool->block_bytes : exact;
}

// Takes a block, and begins to hand it out unless the first block has more room than it would have
// left.
static void *take_block(qdq_mempool *pool, size_t array, bool alone) {
    size_t bytes = block_bytes(pool, array, alone);
    qdq_mempool_block *first = pool->blocks;
    qdq_mempool_block *block = qdq_alloc_array(pool->allocator, bytes, 1, 64);
    if (!block) return NULL;
    pool->taken += bytes;
    if (first && bytes - HEADER_BYTES - array < first->bytes - pool->used) {
        *block = (qdq_mempool_block){first->next, bytes};
        first->next = block;
    } else {
        *block = (qdq_mempool_block){first, bytes};
        pool->blocks = block;
        pool->used = HEADER_BYTES + array;
    }
    return (char *)block + HEADER_BYTES;
}

static void *take(qdq_mempool *pool, size_t bytes, size_t align) {
    size_t at = (pool->used + align - 1) / align * align;
    if (!pool->blocks || at > pool->blocks->bytes || bytes > pool->blocks->bytes - at)
        return take_block(pool, bytes, false);
    pool->used = at + bytes;
    return (char *)pool->blocks + at;
}

void *qdq_mempool_uncleared(qdq_mempool *pool, size_t count, size_t size) {
    size_t bytes;
    void *ptr = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        ptr = take(pool, bytes ? bytes : 1, bytes >= 64 ? 64 : 16);
    if (!ptr) pool->failed = true;
    return ptr;
}

void *qdq_mempool_array(qdq_mempool *pool, size_t count, size_t size) {
    void *ptr = qdq_mempool_uncleared(pool, count, size);
    return ptr ? memset(ptr, 0, count * size) : NULL;
}

void *qdq_mempool_copy(qdq_mempool *pool, const void *data, size_t count, size_t size) {
    void *ptr = qdq_mempool_array(pool, count, size);
    if (ptr && count && size) memcpy(ptr, data, count * size);
    return ptr;
}

char *qdq_mempool_string(qdq_mempool *pool, const char *text, size_t length) {
    char *copy = length == SIZE_MAX ? NULL : qdq_mempool_array(pool, length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

char *qdq_mempool_strdup(qdq_mempool *pool, const char *text) {
    return qdq_mempool_string(pool, text, strlen(text));
}

// Gives the block that an array fills alone back to the allocator.
static void give_back(qdq_mempool *pool, const void *items, size_t bytes) {
    qdq_mempool_block **link = &pool->blocks;
    while (*link && (const char *)*link + HEADER_BYTES != items) link = &(*link)->next;
    qdq_mempool_block *block = *link;
    if (!block || block->bytes != HEADER_BYTES + bytes) return;
    if (block == pool->blocks) pool->used = block->next ? block->next->bytes : 0;
    *link = block->next;
    pool->taken -= block->bytes;
    pool->allocator->free(pool->allocator->self, block, block->bytes);
}

// Takes an array that is given back when it grows: alone in its block if it fills a usual one.
static void *take_growing(qdq_mempool *pool, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes <= pool->block_bytes)
        return qdq_mempool_array(pool, count, size);
    void *items = take_block(pool, bytes, true);
    if (!items) pool->failed = true;
    return items ? memset(items, 0, bytes) : NULL;
}

void *qdq_mempool_reserve(qdq_mempool *pool, void *items, size_t count, size_t wanted,
                          size_t *capacity, size_t size) {
    if (wanted <= *capacity) return items;
    size_t larger = *capacity ? *capacity * 2 : 2;  // large graphs have many arrays of one item
    while (larger < wanted) larger *= 2;
    void *copy = take_growing(pool, larger, size);
    if (!copy) return NULL;
    if (count) memcpy(copy, items, count * size);
    if (*capacity * size > pool->block_bytes) give_back(pool, items, *capacity * size);
    *capacity = larger;
    return copy;
}

void *qdq_mempool_grow(qdq_mempool *pool, void *items, size_t count, size_t *capacity,
                       size_t size) {
    return qdq_mempool_reserve(pool, items, count, count + 1, capacity, size);
}
