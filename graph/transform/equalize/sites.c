// SPDX-License-Identifier: Apache-2.0
// Finds sites: follows the channels of each node's result to the products that read them.
#include "graph/transform/equalize/sites.h"

#include <math.h>

#include "graph/compile/validate.h"
#include "graph/core/held_constants.h"
#include "runtime/base/fp_environment.h"

// The input ports that read each value.
typedef struct value_readers {
    size_t *first;  // [value], with an end: its first entry in `ports`
    qdq_node_port *ports;
} value_readers;

//---- Readers ----------------------------------------------------------------

static bool list_readers(const qdq_graph *g, qdq_mempool *mempool, value_readers *out) {
    size_t ports = 0;
    for (size_t n = 0; n < g->node_count; n++) ports += g->nodes[n].input_count;
    out->first = qdq_mempool_array(mempool, g->value_count + 1, sizeof *out->first);
    out->ports = qdq_mempool_array(mempool, ports, sizeof *out->ports);
    size_t *next = qdq_mempool_array(mempool, g->value_count + 1, sizeof *next);
    if (mempool->failed) return false;
    for (size_t n = 0; n < g->node_count; n++)
        for (size_t i = 0; i < g->nodes[n].input_count; i++)
            out->first[g->nodes[n].inputs[i].id + 1]++;
    for (size_t v = 0; v < g->value_count; v++) next[v + 1] = out->first[v + 1] += out->first[v];
    for (size_t n = 0; n < g->node_count; n++)
        for (size_t i = 0; i < g->nodes[n].input_count; i++)
            out->ports[next[g->nodes[n].inputs[i].id]++] = (qdq_node_port){n, i};
    return true;
}

//---- One site ---------------------------------------------------------------

static bool add_value(const qdq_site_search *s, uint32_t id, size_t stride) {
    qdq_site *site = s->site;
    const qdq_graph_value *v = &s->graph->values[id];
    if (v->returned || v->type.dtype != QDQ_FLOAT32 || stride == 0) return false;
    qdq_site_value *more = qdq_mempool_grow(s->mempool, site->values, site->open.value_count,
                                            &site->value_capacity, sizeof *more);
    if (!more) return false;
    site->values = more;
    more[site->open.value_count++] = (qdq_site_value){{id}, stride};
    return true;
}

static bool add_reader(const qdq_site_search *s, qdq_node_port at) {
    qdq_site *site = s->site;
    qdq_node_port *more = qdq_mempool_grow(s->mempool, site->readers, site->open.reader_count,
                                           &site->reader_capacity, sizeof *more);
    if (!more) return false;
    site->readers = more;
    more[site->open.reader_count++] = at;
    return true;
}

// Follows a value to a port that reads it.
static bool follow(const qdq_site_search *s, qdq_site_value from, qdq_node_port at) {
    const qdq_node *node = &s->graph->nodes[at.node];
    size_t stride = from.stride;
    if (qdq_site_ends(s, node, at.port, stride)) return add_reader(s, at);
    return qdq_site_passes(s, node, at.port, &stride) && add_value(s, node->outputs[0], stride);
}

// Sets a graph's site that begins at a node. False if there is none.
static bool search(const qdq_site_search *s, const value_readers *readers, size_t index) {
    const qdq_node *node = &s->graph->nodes[index];
    qdq_site *site = s->site;
    size_t stride;
    if (!qdq_site_begins(s, node, &stride) || site->open.channels < 2 ||
        !add_value(s, node->outputs[0], stride))
        return false;
    for (size_t i = 0; i < site->open.value_count; i++) {
        qdq_site_value from = site->values[i];
        size_t first = readers->first[from.value.id], end = readers->first[from.value.id + 1];
        if (first == end) return false;
        for (size_t k = first; k < end; k++)
            if (!follow(s, from, readers->ports[k])) return false;
    }
    site->open.producer = index;
    site->open.values = site->values, site->open.readers = site->readers;
    return site->open.reader_count > 0;
}

// Sets the greatest |weight| of each channel. False for weights that are not finite or cannot be
// read.
static bool measure(const qdq_site_search *s) {
    qdq_site *site = s->site;
    size_t channels = site->open.channels;
    float *greatest[] = {qdq_mempool_array(s->mempool, channels, sizeof(float)),
                         qdq_mempool_array(s->mempool, channels, sizeof(float))};
    if (!greatest[0] || !greatest[1]) return false;
    for (size_t i = 0; i < site->constant_count; i++) {
        const qdq_site_constant *c = &site->constants[i];
        const float *w = qdq_value_data(s->graph, (qdq_value){c->value});
        size_t count = qdq_shape_count(s->graph->values[c->value].type.shape);
        for (size_t k = 0; w && k < count; k++) {
            float *most = &greatest[c->part == QDQ_PART_READ][qdq_channel_of(&c->map, k)];
            if (!isfinite(w[k])) return false;
            if (c->part != QDQ_PART_ADDED && fabsf(w[k]) > *most) *most = fabsf(w[k]);
        }
        if (!w) return false;
    }
    site->open.made = greatest[0], site->open.read = greatest[1];
    return true;
}

//---- All sites --------------------------------------------------------------

// True if a node's result is a value of a site before it: a product with a constant hands on the
// channels of the nodes before it.
static bool is_covered(const qdq_equalize_sites *sites, const qdq_node *node) {
    for (size_t i = 0; i < sites->count; i++)
        for (size_t k = 0; k < sites->sites[i].open.value_count; k++)
            if (sites->sites[i].values[k].value.id == node->outputs[0]) return true;
    return false;
}

static bool find_sites(qdq_equalize_sites *sites) {
    const qdq_graph *g = sites->graph;
    value_readers readers;
    if (!list_readers(g, &sites->mempool, &readers)) return false;
    for (size_t n = 0; n < g->node_count && !sites->mempool.failed; n++) {
        qdq_site site = {0};
        const qdq_site_search s = {g, &sites->mempool, &site};
        if (!search(&s, &readers, n) || !measure(&s) || is_covered(sites, &g->nodes[n])) continue;
        qdq_site *more = qdq_mempool_grow(&sites->mempool, sites->sites, sites->count,
                                          &sites->capacity, sizeof *more);
        if (!more) break;
        sites->sites = more;
        more[sites->count++] = site;
    }
    return !sites->mempool.failed;
}

qdq_equalize_sites *qdq_graph_equalize_sites(qdq_graph *graph, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version core;
    qdq_error own = {0};
    if (!err) err = &own;
    if (!qdq_target_version_find("core", &core, err) ||
        qdq_graph_check(graph, &core, NULL, err) != QDQ_OK)
        return NULL;
    qdq_mempool mempool;
    qdq_mempool_init(&mempool, graph->allocator);
    qdq_equalize_sites *sites = QDQ_MEMPOOL_NEW(&mempool, qdq_equalize_sites);
    if (sites) {
        sites->mempool = mempool, sites->graph = graph;
        if (find_sites(sites)) return sites;
        mempool = sites->mempool;
    }
    qdq_mempool_release(&mempool);
    (void)qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while looking for channels to equalize");
    return NULL;
}

void qdq_equalize_sites_destroy(qdq_equalize_sites *sites) {
    if (!sites) return;
    qdq_mempool mempool = sites->mempool;
    qdq_mempool_release(&mempool);
}

size_t qdq_equalize_site_count(const qdq_equalize_sites *sites) { return sites ? sites->count : 0; }

const qdq_equalize_site *qdq_equalize_site_get(const qdq_equalize_sites *sites, size_t index) {
    return sites && index < sites->count ? &sites->sites[index].open : NULL;
}
