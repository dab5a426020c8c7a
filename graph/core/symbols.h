// SPDX-License-Identifier: Apache-2.0
// A symbol table: maps names (any bytes) to numbers. Only its implementation uses uthash.
#ifndef QDQ_GRAPH_CORE_SYMBOLS_H
#define QDQ_GRAPH_CORE_SYMBOLS_H

#include "graph/core/siphash.h"
#include "include/qdq/base.h"

// Owns copies of its names and borrows the allocator. Threads may look names up concurrently;
// adding needs exclusive access.
//
// The hash is keyed, so a file cannot choose names that all collide. If names collide nevertheless,
// the table refuses every further name with QDQ_ERR_LIMIT.
typedef struct qdq_symbols qdq_symbols;

// Returns an empty table; NULL if memory runs out. The key is random. If the system has no
// randomness, the key comes from the clock and an address, which is weaker.
qdq_symbols *qdq_symbols_create(const qdq_allocator *allocator, qdq_error *err);
// The same with the caller's key, for tests that need collisions.
qdq_symbols *qdq_symbols_create_keyed(const qdq_allocator *allocator,
                                      const unsigned char key[QDQ_SIPHASH_KEY_BYTES],
                                      qdq_error *err);
// NULL is allowed.
void qdq_symbols_destroy(qdq_symbols *symbols);

// Adds a new name. If it fails, with QDQ_ERR_ARGUMENT (the name exists), QDQ_ERR_MEMORY or
// QDQ_ERR_LIMIT, the table is unchanged. `name` may be NULL if length is 0.
qdq_status qdq_symbols_add(qdq_symbols *symbols, const char *name, size_t length, uint32_t value,
                           qdq_error *err);
// True if the name exists; stores its number to `value`, which may be NULL.
bool qdq_symbols_find(const qdq_symbols *symbols, const char *name, size_t length, uint32_t *value);
size_t qdq_symbols_count(const qdq_symbols *symbols);
// Removes the newest names until `count` are left, for example at the end of a scope.
void qdq_symbols_truncate(qdq_symbols *symbols, size_t count);

#endif
