// SPDX-License-Identifier: Apache-2.0
// Tries common mistakes with a node of a quantized graph.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_MISTAKES_H
#define QDQ_TOOLS_LAB_EXPLAIN_MISTAKES_H

#include "tools/lab/explain/parameters.h"

// Receives each mistake, and returns true to stop. `ends` returns true if no further mistake is
// wanted; it is asked before the work for each.
typedef struct mistake_taker {
    bool (*take)(void *with, size_t node, const variant *v);
    bool (*ends)(void *with);
    void *with;
} mistake_taker;

typedef struct parameter_pool parameter_pool;

// Passes every mistake that the node may have to the taker: the likely ones, of scales, zero points
// and exchanged inputs, or the rare ones. True if the taker stopped.
bool try_mistakes(node_document *d, const parameter_pool *pool, const mistake_taker *taker,
                  bool are_rare);

#endif
