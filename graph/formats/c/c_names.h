// SPDX-License-Identifier: Apache-2.0
// Names of a graph in emitted C: as identifiers, and in comments.
#ifndef QDQ_GRAPH_FORMATS_C_C_NAMES_H
#define QDQ_GRAPH_FORMATS_C_C_NAMES_H

#include <stdbool.h>

#include "graph/core/symbols.h"
#include "runtime/base/mempool.h"

// Identifiers given so far. Release `taken`; the pool owns the rest.
typedef struct qdq_c_identifiers {
    qdq_mempool *mempool;
    qdq_symbols *taken;  // in capitals, because macros are -> number
    size_t *next;        // by number: the first number behind the identifier that may be free
    size_t capacity;
} qdq_c_identifiers;

// Returns an identifier with the letters and digits of `from`, and _ for anything else: behind
// `otherwise` if C has the identifier, and with a number if it, or one with the same macros, is
// given. The result is not yet given.
const char *qdq_c_identifier(qdq_c_identifiers *given, const char *from, const char *otherwise);
// Gives an identifier. False if memory runs out.
bool qdq_c_give(qdq_c_identifiers *given, const char *identifier);
// Returns a name in capitals, for macros.
const char *qdq_c_capitals(qdq_mempool *mempool, const char *name);

// Returns a name without the characters that reorder or break lines; NULL without memory.
const char *qdq_c_comment(qdq_mempool *mempool, const char *name);

#endif
