// SPDX-License-Identifier: Apache-2.0
// Parameters of several nodes of a graph, which a device may have confused.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_MISTAKES_PARAMETER_POOL_H
#define QDQ_TOOLS_LAB_EXPLAIN_MISTAKES_PARAMETER_POOL_H

#include "tools/lab/explain/parameters.h"

enum { MOST_POOLED = 256, MOST_PARAMETERS = 65536 };

// A scale or a zero point of a node.
typedef struct pooled {
    char node[96];
    bool zero;
    double *values;  // owned
    size_t count;
} pooled;

typedef struct parameter_pool {
    pooled items[MOST_POOLED];
    size_t count;
} parameter_pool;

parameter_pool *pool_create(void);
// Adds the scales and zero points of a node that are not in the pool.
void pool_add(parameter_pool *pool, const node_document *d);
void pool_destroy(parameter_pool *pool);

#endif
