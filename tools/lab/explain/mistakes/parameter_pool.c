// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/mistakes/parameter_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

parameter_pool *pool_create(void) { return calloc(1, sizeof(parameter_pool)); }

static bool same_numbers(const double *a, const double *b, size_t count) {
    return memcmp(a, b, count * sizeof *a) == 0;
}

static void pool_one(parameter_pool *pool, const char *node, const parameter *p, bool zero) {
    if (!p->count || p->count > MOST_PARAMETERS || pool->count == MOST_POOLED) return;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->items[i].zero == zero && pool->items[i].count == p->count &&
            same_numbers(pool->items[i].values, p->values, p->count))
            return;
    pooled one = {.zero = zero, .count = p->count, .values = malloc(p->count * sizeof(double))};
    if (!one.values) return;
    snprintf(one.node, sizeof one.node, "%s", node);
    memcpy(one.values, p->values, p->count * sizeof(double));
    pool->items[pool->count++] = one;
}

void pool_add(parameter_pool *pool, const node_document *d) {
    const char *name = qdq_graph_node(document_replay(d)->form.graph, document_node(d)).name;
    parameter_list list = parameters_of(d);
    for (size_t i = 0; pool && i < list.count; i++) {
        pool_one(pool, name, &list.pairs[i].scale, false);
        pool_one(pool, name, &list.pairs[i].zero, true);
    }
    parameters_release(&list);
}

void pool_destroy(parameter_pool *pool) {
    for (size_t i = 0; pool && i < pool->count; i++) free(pool->items[i].values);
    free(pool);
}
