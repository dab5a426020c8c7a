// SPDX-License-Identifier: Apache-2.0
// Constants that lowering computes and the stages of several nodes share: packed weights, each once
// in each form, and tables of functions.
#ifndef QDQ_OPS_SHARED_CONSTANTS_H
#define QDQ_OPS_SHARED_CONSTANTS_H

#include "runtime/base/mempool.h"

typedef struct qdq_shared {
    qdq_mempool *mempool;               // of the table; the values lie elsewhere
    struct qdq_shared_bucket *buckets;  // NULL until the first value is added
} qdq_shared;

// Returns the value added with the same key, NULL if there is none. Keys are compared byte by byte.
// `shared` NULL: nothing is shared.
const void *qdq_shared_find(const qdq_shared *shared, const void *key, size_t bytes);

// Adds `value`; the key is copied. False when memory runs out.
bool qdq_shared_add(qdq_shared *shared, const void *key, size_t bytes, const void *value);

#endif
