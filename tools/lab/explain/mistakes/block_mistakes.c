// SPDX-License-Identifier: Apache-2.0
// Tries other ways from an element to its scale and zero point: blocks read as channels, another
// size of blocks, a grid in another order. Each element gets its own parameters, so that a way may
// also leave the parameters that there are.
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/grouping.h"
#include "tools/lab/explain/mistakes/trial.h"

// A way from an element to the index of its parameters.
typedef struct block_way {
    enum { ALONG_DIM, UNDIVIDED, IN_ORDER, BY_COLUMNS, OTHER_SIZE } kind;
    int dim;       // ALONG_DIM: the dim whose coordinate is the index
    int64_t size;  // OTHER_SIZE: elements of a block, in the dims that have more than one block
} block_way;

// The parameters of an index beyond the last.
static const struct beyond_row {
    const char *text;
    enum { BEYOND_ZERO, BEYOND_LAST, BEYOND_WRAPS } rule;
} beyonds[] = {{"0 beyond the last", BEYOND_ZERO},
               {"the last again beyond it", BEYOND_LAST},
               {"from the first again beyond the last", BEYOND_WRAPS}};

static bool is_split(const grouping *g, int dim) {
    return g->blocks[dim] > 1 && g->extent[dim] > 1;
}

static int64_t coordinate_of(const grouping *g, const block_way *way, int dim, int64_t at) {
    int64_t extent = g->extent[dim];
    if (is_split(g, dim) && way->kind == UNDIVIDED) extent = 1;
    if (is_split(g, dim) && way->kind == OTHER_SIZE) extent = way->size;
    return at / extent;
}

static size_t index_of(const grouping *g, const block_way *way, size_t element) {
    int64_t at[QDQ_MAX_RANK];
    size_t index = 0, elements = qdq_shape_count(g->shape);
    grouping_coordinates(g, element, at);
    if (way->kind == ALONG_DIM) return (size_t)at[way->dim];
    if (way->kind == IN_ORDER) return element / ((elements + g->count - 1) / g->count);
    for (int i = 0; i < g->shape.rank; i++) {
        int dim = way->kind == BY_COLUMNS ? g->shape.rank - 1 - i : i;
        index = index * (size_t)g->blocks[dim] + (size_t)coordinate_of(g, way, dim, at[dim]);
    }
    return index;
}

static const char *way_text(const block_way *way, char *out, size_t capacity) {
    switch (way->kind) {
    case ALONG_DIM:
        snprintf(out, capacity, "the index on dim %d chooses the scale", way->dim);
        break;
    case UNDIVIDED: snprintf(out, capacity, "a scale for each element of a block"); break;
    case IN_ORDER: snprintf(out, capacity, "blocks of neighbours in row-major order"); break;
    case BY_COLUMNS: snprintf(out, capacity, "the grid of scales in column-major order"); break;
    case OTHER_SIZE: snprintf(out, capacity, "blocks of %lld", (long long)way->size); break;
    }
    return out;
}

// Gives every element its own parameter. False without memory, or if the parameter cannot change.
static bool spread(mistake_trial *t, const grouping *g, const block_way *way, int rule,
                   const parameter *p, qdq_dtype dtype) {
    size_t elements = qdq_shape_count(g->shape), count = p->count;
    if (count <= 1) return true;
    double *numbers =
        elements_take_numbers(document_replay(t->d)->exec_options.allocator, elements);
    for (size_t i = 0; numbers && i < elements; i++) {
        size_t index = index_of(g, way, i);
        if (index >= count && rule == BEYOND_LAST) index = count - 1;
        if (index >= count && rule == BEYOND_WRAPS) index %= count;
        numbers[i] = index < count ? p->values[index] : 0;
    }
    document_drop_attr(t->d, p->attr);
    bool done = numbers && document_put_numbers(t->d, p->port, dtype, g->shape, numbers);
    elements_free(numbers);
    return done;
}

static qdq_dtype port_dtype(const mistake_trial *t, const char *port, qdq_dtype otherwise) {
    qdq_value value = document_value(t->d, port);
    (void)qdq_value_type(document_replay(t->d)->form.graph, value, &otherwise, NULL);
    return otherwise;
}

static void try_way(mistake_trial *t, const grouping *g, const block_way *way, int rule) {
    static const double ones[QDQ_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    const parameter_pair *p = &t->list->pairs[0];
    bool quantizes = strcmp(document_op(t->d), "Quantize") == 0;
    qdq_dtype codes = quantizes ? trial_output(t)->info.dtype : port_dtype(t, "x", QDQ_INT8);
    char text[64], detail[128];
    if (!trial_begin(t)) return;
    document_drop_attr(t->d, "axis");
    if (!document_set_word(t->d, "qtype", "per_group") ||
        !document_set_list(t->d, "group_shape", ones, (size_t)g->shape.rank) ||
        !spread(t, g, way, rule, &p->scale, port_dtype(t, p->scale.port, QDQ_FLOAT32)) ||
        !spread(t, g, way, rule, &p->zero, port_dtype(t, p->zero.port, codes)))
        return;
    bool ends = false;
    for (size_t i = 0; !ends && i < qdq_shape_count(g->shape); i++)
        ends = index_of(g, way, i) >= g->count;
    if (!ends && rule) return;
    snprintf(detail, sizeof detail, "%s%s%s", way_text(way, text, sizeof text), ends ? ", " : "",
             ends ? beyonds[rule].text : "");
    trial_take(t, "wrong-blocks", detail);
}

static void try_ways(mistake_trial *t, const grouping *g, block_way way) {
    for (int i = 0; i < (int)(sizeof beyonds / sizeof *beyonds) && !t->stopped; i++)
        try_way(t, g, &way, i);
}

void try_blocks(mistake_trial *t) {
    static const int64_t sizes[] = {16, 32, 64, 128, 256};
    grouping g;
    qdq_shape shape;
    const parameter *scale = &t->list->pairs[0].scale;
    bool quantizes = strcmp(document_op(t->d), "Quantize") == 0;
    if ((!quantizes && strcmp(document_op(t->d), "Dequantize") != 0) || scale->count <= 1 ||
        !qdq_value_type(document_replay(t->d)->form.graph, document_value(t->d, "x"), NULL,
                        &shape) ||
        !grouping_of(t->d, shape, scale->count, &g))
        return;
    for (int i = 0; i < shape.rank; i++) try_ways(t, &g, (block_way){.kind = ALONG_DIM, .dim = i});
    try_ways(t, &g, (block_way){.kind = UNDIVIDED});
    try_ways(t, &g, (block_way){.kind = IN_ORDER});
    try_ways(t, &g, (block_way){.kind = BY_COLUMNS});
    for (int i = 0; i < shape.rank; i++) {
        if (!is_split(&g, i)) continue;
        try_ways(t, &g, (block_way){.kind = OTHER_SIZE, .size = 2 * g.extent[i]});
        try_ways(t, &g, (block_way){.kind = OTHER_SIZE, .size = (g.extent[i] + 1) / 2});
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            try_ways(t, &g, (block_way){.kind = OTHER_SIZE, .size = sizes[k]});
    }
}
