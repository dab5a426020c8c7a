// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/grouping.h"

#include <string.h>

#include "tools/elements.h"

static void one_group(grouping *g) {
    g->count = 1;
    for (int i = 0; i < g->shape.rank; i++) g->extent[i] = g->shape.dims[i], g->blocks[i] = 1;
}

static bool split_channels(const node_document *d, grouping *g) {
    size_t count = 0;
    double *given = document_attr_numbers(d, "axis", &count);
    double axis = given && count ? given[0] : 1;
    elements_free(given);
    if (axis < 0) axis += g->shape.rank;
    if (!(axis >= 0 && axis < g->shape.rank)) return false;
    g->extent[(int)axis] = 1;
    g->blocks[(int)axis] = g->shape.dims[(int)axis];
    g->count = (size_t)g->shape.dims[(int)axis];
    return true;
}

static bool split_blocks(const node_document *d, grouping *g) {
    size_t count = 0;
    double *given = document_attr_numbers(d, "group_shape", &count);
    bool fits = given && count == (size_t)g->shape.rank;
    for (int i = 0; fits && i < g->shape.rank; i++) {
        int64_t dim = g->shape.dims[i], extent = given[i] < 1 ? dim : (int64_t)given[i];
        g->extent[i] = extent;
        g->blocks[i] = (dim + extent - 1) / extent;
        g->count *= (size_t)g->blocks[i];
    }
    elements_free(given);
    return fits;
}

bool grouping_of(const node_document *d, qdq_shape shape, size_t count, grouping *out) {
    *out = (grouping){.shape = shape};
    one_group(out);
    if (count == 1) return true;
    bool blocks = strcmp(document_attr_word(d, "qtype"), "per_group") == 0;
    return (blocks ? split_blocks(d, out) : split_channels(d, out)) && out->count == count;
}

void grouping_coordinates(const grouping *g, size_t element, int64_t at[QDQ_MAX_RANK]) {
    for (int i = g->shape.rank; i-- > 0;) {
        at[i] = (int64_t)(element % (size_t)g->shape.dims[i]);
        element /= (size_t)g->shape.dims[i];
    }
}

size_t grouping_at(const grouping *g, size_t element) {
    int64_t at[QDQ_MAX_RANK];
    size_t index = 0;
    if (g->count == 1) return 0;
    grouping_coordinates(g, element, at);
    for (int i = 0; i < g->shape.rank; i++)
        index = index * (size_t)g->blocks[i] + (size_t)(at[i] / g->extent[i]);
    return index;
}
