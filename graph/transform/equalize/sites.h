// SPDX-License-Identifier: Apache-2.0
// The search for sites: which nodes begin one, hand factors of channels on, and end it.
#ifndef QDQ_GRAPH_TRANSFORM_EQUALIZE_SITES_H
#define QDQ_GRAPH_TRANSFORM_EQUALIZE_SITES_H

#include "graph/core/graph.h"
#include "include/qdq/equalize.h"

// The channels of a constant's elements: i / outer % outer_count * count + i / stride % count.
typedef struct qdq_channel_map {
    size_t outer, outer_count;
    size_t stride, count;
} qdq_channel_map;

static inline size_t qdq_channel_of(const qdq_channel_map *map, size_t i) {
    return i / map->outer % map->outer_count * map->count + i / map->stride % map->count;
}

// The part of a constant in a site.
typedef enum qdq_constant_part {
    QDQ_PART_MADE,   // weights of the producer: multiplied by the factors
    QDQ_PART_ADDED,  // a bias: likewise
    QDQ_PART_READ,   // weights of a reader: divided by the factors
} qdq_constant_part;

typedef struct qdq_site_constant {
    uint32_t value;
    qdq_constant_part part;
    qdq_channel_map map;
} qdq_site_constant;

typedef struct qdq_site {
    qdq_equalize_site open;  // what callers see; its arrays are the following
    qdq_site_value *values;
    qdq_node_port *readers;
    qdq_site_constant *constants;
    size_t constant_count;
    size_t value_capacity, reader_capacity, constant_capacity;
} qdq_site;

struct qdq_equalize_sites {
    qdq_mempool mempool;
    qdq_graph *graph;
    qdq_site *sites;
    size_t count, capacity;
};

// The site that is searched.
typedef struct qdq_site_search {
    const qdq_graph *graph;
    qdq_mempool *mempool;
    qdq_site *site;
} qdq_site_search;

// Adds a constant that a port of the node reads. False if it is not a float32 constant, has another
// reader, or its elements cannot be read.
bool qdq_site_add_constant(const qdq_site_search *s, const qdq_node *node, size_t port,
                           qdq_constant_part part, qdq_channel_map map);

// Begins a site at a node: sets `channels` and `weighted`, adds its constants, and sets the stride
// of its result. False if it begins none.
bool qdq_site_begins(const qdq_site_search *s, const qdq_node *node, size_t *stride);
// True if the node is a product with constant weights that multiply each channel of its operand at
// `port`; adds the weights.
bool qdq_site_ends(const qdq_site_search *s, const qdq_node *node, size_t port, size_t stride);
// True if the result of the node has the factors of its operand at `port`; adds a constant that is
// added to it, and sets the stride of the result.
bool qdq_site_passes(const qdq_site_search *s, const qdq_node *node, size_t port, size_t *stride);

// Adds the exponents of a site to the sums of its constants' elements, by value. False if memory
// runs out.
bool qdq_site_add_exponents(const qdq_equalize_sites *sites, const qdq_equalize_factors *f,
                            int **exponents, qdq_mempool *mempool);

#endif
