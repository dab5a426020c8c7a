// SPDX-License-Identifier: Apache-2.0
// Names of a graph in emitted C: as identifiers, and in comments.
#ifndef QDQ_GRAPH_FORMATS_C_C_NAMES_H
#define QDQ_GRAPH_FORMATS_C_C_NAMES_H

#include <stdbool.h>

#include "runtime/base/mempool.h"

// True if an identifier means something in C, C++, the emitted file or the headers it includes.
bool qdq_c_is_reserved(const char *name);

// True for equal names, and for names whose macros, in capitals, would be equal.
bool qdq_c_names_clash(const char *a, const char *b);

// Returns a name without the characters that reorder or break lines; NULL without memory.
const char *qdq_c_comment(qdq_mempool *mempool, const char *name);

#endif
