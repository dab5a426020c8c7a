// SPDX-License-Identifier: Apache-2.0
// A symbol table: names (any bytes) to numbers. The only door to uthash.
#ifndef QDQ_GRAPH_SYMBOLS_H
#define QDQ_GRAPH_SYMBOLS_H

#include "graph/siphash.h"
#include "include/qdq/base.h"

// Owns copies of its names and borrows the allocator. Any number of threads may look names up at
// once; adding needs the table for itself.
//
// The hash is keyed, so that a file cannot aim its names at one bucket. A table in which names
// collide all the same refuses every further name with QDQ_ERR_LIMIT.
typedef struct qdq_symbols qdq_symbols;

// NULL when memory runs out. The key is random; where the system has no randomness to give, it is
// made from the clock and an address, which only slows an attacker down.
qdq_symbols *qdq_symbols_create(const qdq_allocator *allocator, qdq_error *err);
// The same with a key of the caller's, for tests that must collide.
qdq_symbols *qdq_symbols_create_keyed(const qdq_allocator *allocator,
                                      const unsigned char key[QDQ_SIPHASH_KEY_BYTES],
                                      qdq_error *err);
// NULL is fine.
void qdq_symbols_destroy(qdq_symbols *symbols);

// Adds a name that is not there yet. QDQ_ERR_ARGUMENT if it is, QDQ_ERR_MEMORY, QDQ_ERR_LIMIT; the
// table is then as it was. `name` may be NULL if length is 0.
qdq_status qdq_symbols_add(qdq_symbols *symbols, const char *name, size_t length, uint32_t value,
                           qdq_error *err);
// Whether the name is there; its number goes to `value`, which may be NULL.
bool qdq_symbols_find(const qdq_symbols *symbols, const char *name, size_t length, uint32_t *value);
size_t qdq_symbols_count(const qdq_symbols *symbols);
// Forgets the newest names until `count` are left: what ends a scope.
void qdq_symbols_truncate(qdq_symbols *symbols, size_t count);

#endif
