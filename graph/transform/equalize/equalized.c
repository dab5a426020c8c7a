// SPDX-License-Identifier: Apache-2.0
// Copies a graph, and multiplies elements of its constants by powers of two.
#include <math.h>

#include "graph/core/names.h"
#include "graph/transform/equalize/sites.h"
#include "runtime/base/fp_environment.h"

typedef struct scaling {
    const qdq_equalize_sites *sites;
    const qdq_equalize_factors *factors;
    size_t count;
    int **exponents;  // by value: the sum of an element's exponents; NULL: it is not changed
    qdq_mempool mempool;
} scaling;

static qdq_status check_factors(const scaling *s, size_t index, qdq_error *err) {
    const qdq_equalize_factors *f = &s->factors[index];
    if (f->site >= s->sites->count)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "factors %zu: site is %zu, and there are %zu sites",
                        index, f->site, s->sites->count);
    if (!f->exponents)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "factors %zu: exponents are NULL", index);
    for (size_t i = 0; i < s->sites->sites[f->site].open.channels; i++)
        if (f->exponents[i] < -QDQ_MOST_EXPONENT || f->exponents[i] > QDQ_MOST_EXPONENT)
            return qdq_fail(err, QDQ_ERR_ARGUMENT,
                            "factors %zu: the exponent of channel %zu is %d, wanted -%d to %d",
                            index, i, f->exponents[i], QDQ_MOST_EXPONENT, QDQ_MOST_EXPONENT);
    return QDQ_OK;
}

static size_t count_of(const scaling *s, uint32_t value) {
    return qdq_shape_count(s->sites->graph->values[value].type.shape);
}

bool qdq_site_add_exponents(const qdq_equalize_sites *sites, const qdq_equalize_factors *f,
                            int **exponents, qdq_mempool *mempool) {
    const qdq_site *site = &sites->sites[f->site];
    for (size_t i = 0; i < site->constant_count; i++) {
        const qdq_site_constant *c = &site->constants[i];
        int **sums = &exponents[c->value];
        size_t count = qdq_shape_count(sites->graph->values[c->value].type.shape);
        if (!*sums) *sums = qdq_mempool_array(mempool, count, sizeof **sums);
        if (!*sums) return false;
        for (size_t k = 0; k < count; k++) {
            int exponent = f->exponents[qdq_channel_of(&c->map, k)];
            (*sums)[k] += c->part == QDQ_PART_READ ? -exponent : exponent;
        }
    }
    return true;
}

// Gives a constant of the copy new elements.
static qdq_status scale(const scaling *s, uint32_t value, qdq_graph *copy, qdq_error *err) {
    const qdq_graph *g = s->sites->graph;
    const char *name = g->values[value].name;
    const float *from = qdq_value_data(g, (qdq_value){value});
    size_t count = count_of(s, value);
    if (!from)
        return qdq_fail(err, QDQ_ERR_IO, "the elements of constant '%s' cannot be read", name);
    float *to = qdq_mempool_array(&copy->mempool, count, sizeof *to);
    if (!to) return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while equalizing the graph");
    for (size_t i = 0; i < count; i++) {
        to[i] = ldexpf(from[i], s->exponents[value][i]);
        if (to[i] != from[i] && !isnormal(to[i]))
            return qdq_fail(err, QDQ_ERR_UNSUPPORTED,
                            "constant '%s': element %zu times 2^%d is no normal float32 number",
                            name, i, s->exponents[value][i]);
    }
    qdq_graph_value *v = qdq_graph_value_at(copy, qdq_graph_find(copy, name));
    v->data = to;
    v->stored = NULL;
    return QDQ_OK;
}

static qdq_status scale_all(scaling *s, qdq_graph *copy, qdq_error *err) {
    const qdq_graph *g = s->sites->graph;
    for (uint32_t id = 1; id < g->value_count; id++)
        if (s->exponents[id]) QDQ_TRY(scale(s, id, copy, err));
    return QDQ_OK;
}

static qdq_status prepare(scaling *s, qdq_error *err) {
    const qdq_graph *g = s->sites->graph;
    for (size_t i = 0; i < s->count; i++) QDQ_TRY(check_factors(s, i, err));
    s->exponents = qdq_mempool_array(&s->mempool, g->value_count, sizeof *s->exponents);
    bool done = s->exponents != NULL;
    for (size_t i = 0; done && i < s->count; i++)
        done = qdq_site_add_exponents(s->sites, &s->factors[i], s->exponents, &s->mempool);
    if (done) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while equalizing the graph");
}

qdq_graph *qdq_graph_equalized(const qdq_equalize_sites *sites, const qdq_equalize_factors *factors,
                               size_t count, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_error own = {0};
    scaling s = {.sites = sites, .factors = factors, .count = count};
    if (!err) err = &own;
    if (!sites) {
        (void)qdq_fail(err, QDQ_ERR_MEMORY, "no sites: none were found, or memory ran out");
        return NULL;
    }
    qdq_mempool_init(&s.mempool, sites->graph->allocator);
    qdq_status status = prepare(&s, err);
    qdq_graph *copy = status == QDQ_OK ? qdq_graph_quantized(sites->graph, NULL, 0, err) : NULL;
    if (copy) status = scale_all(&s, copy, err);
    qdq_mempool_release(&s.mempool);
    if (copy && status == QDQ_OK) return copy;
    qdq_graph_destroy(copy);
    return NULL;
}
