// SPDX-License-Identifier: Apache-2.0
// A hash table of shared constants.
#include "ops/shared_constants.h"

#include <string.h>

enum { BUCKETS = 1024 };

struct qdq_shared_item {
    struct qdq_shared_item *next;
    const void *key, *value;
    size_t bytes;
};

struct qdq_shared_bucket {
    struct qdq_shared_item *first;
};

// FNV-1a.
static size_t bucket_of(const void *key, size_t bytes) {
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ ((const uint8_t *)key)[i]) * 16777619;
    return hash % BUCKETS;
}

const void *qdq_shared_find(const qdq_shared *shared, const void *key, size_t bytes) {
    if (!shared || !shared->buckets) return NULL;
    for (const struct qdq_shared_item *item = shared->buckets[bucket_of(key, bytes)].first; item;
         item = item->next)
        if (item->bytes == bytes && memcmp(item->key, key, bytes) == 0) return item->value;
    return NULL;
}

bool qdq_shared_add(qdq_shared *shared, const void *key, size_t bytes, const void *value) {
    if (!shared) return true;
    qdq_mempool *mempool = shared->mempool;
    if (!shared->buckets)
        shared->buckets = qdq_mempool_array(mempool, BUCKETS, sizeof *shared->buckets);
    if (!shared->buckets) return false;
    struct qdq_shared_item *item = QDQ_MEMPOOL_NEW(mempool, struct qdq_shared_item);
    void *copy = qdq_mempool_copy(mempool, key, bytes, 1);
    struct qdq_shared_item **bucket = &shared->buckets[bucket_of(key, bytes)].first;
    if (!item || !copy) return false;
    *item = (struct qdq_shared_item){*bucket, copy, value, bytes};
    *bucket = item;
    return true;
}
