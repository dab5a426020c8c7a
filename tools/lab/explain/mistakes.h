// SPDX-License-Identifier: Apache-2.0
// Mistakes that people make with a node of a quantized graph.
#ifndef QDQ_TOOLS_EXPLAIN_MISTAKES_H
#define QDQ_TOOLS_EXPLAIN_MISTAKES_H

#include "tools/lab/explain/parameters.h"

// Receives each mistake; returns true to stop.
typedef struct mistake_taker {
    bool (*take)(void *with, size_t node, const variant *v);
    void *with;
} mistake_taker;

// Parameters of the nodes of a graph, which a device may have confused.
typedef struct parameter_pool parameter_pool;

parameter_pool *pool_create(void);
void pool_add(parameter_pool *pool, const node_document *d);
void pool_destroy(parameter_pool *pool);

// Gives the taker every mistake that the node may have. True if it stopped.
bool try_mistakes(node_document *d, const parameter_pool *pool, const mistake_taker *taker);

#endif
