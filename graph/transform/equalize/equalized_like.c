// SPDX-License-Identifier: Apache-2.0
// Finds the powers of two by which another network has the channels of a graph multiplied.
#include <math.h>

#include "graph/transform/equalize/sites.h"
#include "runtime/base/fp_environment.h"

typedef struct likeness {
    const qdq_equalize_sites *sites;
    qdq_other_constant other;
    void *self;
    int **exponents;  // by value: the sum of an element's exponents in sites so far; NULL: all 0
    qdq_equalize_factors *factors;
    size_t count;
    qdq_mempool *mempool;
} likeness;

// Adds the squares of a constant's elements in both networks to the sums of their channels.
static void add_squares(const likeness *l, const qdq_site_constant *c, double *own, double *other) {
    const qdq_graph *g = l->sites->graph;
    const qdq_value value = {c->value};
    const float *a = qdq_value_data(g, value), *b = a ? l->other(l->self, value) : NULL;
    const int *exponents = l->exponents[c->value];
    size_t count = qdq_shape_count(g->values[c->value].type.shape);
    for (size_t i = 0; b && i < count; i++) {
        size_t channel = qdq_channel_of(&c->map, i);
        double x = ldexp(a[i], exponents ? exponents[i] : 0), y = b[i];
        own[channel] += x * x;
        other[channel] += y * y;
    }
}

// Sets the exponents of a site's channels. False if all are 0, or a ratio is no power of two: it
// may differ by the roundings of codes.
static bool find_exponents(const qdq_site *site, const double *own, const double *other, int *out) {
    bool any = false;
    for (size_t c = 0; c < site->open.channels; c++) {
        double ratio = own[c] > 0 && other[c] > 0 ? log2(other[c] / own[c]) / 2 : 0;
        double whole = nearbyint(ratio);
        if (!(fabs(ratio - whole) <= 0.25) || fabs(whole) > QDQ_MOST_EXPONENT) return false;
        out[c] = (int)whole;
        any = any || out[c] != 0;
    }
    return any;
}

// Finds the factors of a site. Sites before it have changed the constants that it reads. False if
// memory runs out.
static bool find_factors(likeness *l, size_t index) {
    const qdq_site *site = &l->sites->sites[index];
    size_t channels = site->open.channels;
    double *own = qdq_mempool_array(l->mempool, 2 * channels, sizeof *own);
    int *exponents = qdq_mempool_array(l->mempool, channels, sizeof *exponents);
    if (!own || !exponents) return false;
    for (size_t i = 0; i < site->constant_count; i++)
        if (site->constants[i].part == QDQ_PART_MADE)
            add_squares(l, &site->constants[i], own, own + channels);
    if (!find_exponents(site, own, own + channels, exponents)) return true;
    qdq_equalize_factors *f = &l->factors[l->count++];
    *f = (qdq_equalize_factors){index, exponents};
    return qdq_site_add_exponents(l->sites, f, l->exponents, l->mempool);
}

static qdq_graph *find(const likeness *given, qdq_error *err) {
    likeness l = *given;
    const size_t values = l.sites->graph->value_count;
    l.exponents = qdq_mempool_array(l.mempool, values, sizeof *l.exponents);
    l.factors = qdq_mempool_array(l.mempool, l.sites->count + 1, sizeof *l.factors);
    bool done = l.exponents && l.factors;
    for (size_t i = 0; done && i < l.sites->count; i++) done = find_factors(&l, i);
    if (done && !l.count) return NULL;
    if (done) return qdq_graph_equalized(l.sites, l.factors, l.count, err);
    (void)qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while comparing the channels of a graph");
    return NULL;
}

qdq_graph *qdq_graph_equalized_like(const qdq_equalize_sites *sites, qdq_other_constant other,
                                    void *self, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_mempool mempool;
    if (!sites || !other) {
        (void)qdq_fail(err, sites ? QDQ_ERR_ARGUMENT : QDQ_ERR_MEMORY,
                       sites ? "`other` is NULL" : "no sites: none were found, or memory ran out");
        return NULL;
    }
    qdq_mempool_init(&mempool, sites->graph->allocator);
    qdq_graph *made =
        find(&(likeness){.sites = sites, .other = other, .self = self, .mempool = &mempool}, err);
    qdq_mempool_release(&mempool);
    return made;
}
