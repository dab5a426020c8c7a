// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/channels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"

//---- Ranges -----------------------------------------------------------------

size_t channel_of(qdq_shape shape, int axis, size_t element) {
    for (int i = shape.rank - 1; i > axis; i--) element /= (size_t)shape.dims[i];
    return element % (size_t)shape.dims[axis];
}

double channel_reach(const channel_ranges *c, size_t index) {
    return fmax(-c->least[index], c->greatest[index]);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Inserts a channel into the list of those that reach farthest.
static void note_worst(channel_ranges *c, size_t index) {
    size_t at = c->worst_count;
    while (at > 0 && channel_reach(c, c->worst[at - 1]) < channel_reach(c, index)) at--;
    if (at >= WORST_CHANNELS) return;
    if (c->worst_count < WORST_CHANNELS) c->worst_count++;
    memmove(c->worst + at + 1, c->worst + at, (c->worst_count - at - 1) * sizeof *c->worst);
    c->worst[at] = index;
}

bool channel_ranges_zero(channel_ranges *out, int axis, size_t count,
                         const qdq_allocator *allocator) {
    *out = (channel_ranges){.axis = axis, .count = count};
    out->least = elements_take_numbers(allocator, count);
    out->greatest = elements_take_numbers(allocator, count);
    bool done = out->least && out->greatest;
    for (size_t i = 0; done && i < count; i++) out->least[i] = out->greatest[i] = 0;
    return done;
}

bool channel_ranges_compare(channel_ranges *c, const qdq_allocator *allocator) {
    double *reaches = elements_take_numbers(allocator, c->count);
    size_t count = 0;
    if (!reaches) return false;
    double least = INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        double reach = channel_reach(c, i);
        note_worst(c, i);
        if (reach > 0 && reach < least) least = reach, c->least_reach = i;
        if (reach > 0) reaches[count++] = reach;
    }
    qsort(reaches, count, sizeof *reaches, by_size);
    c->ratio = c->quiet = 1;
    if (count) c->median = (reaches[(count - 1) / 2] + reaches[count / 2]) / 2;
    if (count) c->ratio = reaches[count - 1] / c->median;
    if (count) c->quiet = c->median / least;
    elements_free(reaches);
    return true;
}

bool channel_ranges_open(channel_ranges *out, const double *x, qdq_shape shape, int axis,
                         const qdq_allocator *allocator) {
    size_t elements = qdq_shape_count(shape);
    if (!channel_ranges_zero(out, axis, (size_t)shape.dims[axis], allocator)) return false;
    for (size_t i = 0; i < elements; i++) {
        size_t index = channel_of(shape, axis, i);
        if (!isfinite(x[i])) continue;
        out->least[index] = fmin(out->least[index], x[i]);
        out->greatest[index] = fmax(out->greatest[index], x[i]);
    }
    return channel_ranges_compare(out, allocator);
}

void channel_ranges_release(channel_ranges *c) {
    elements_free(c->least), elements_free(c->greatest);
    *c = (channel_ranges){0};
}

//---- The axis of a sum ------------------------------------------------------

static bool attr_is(const replay *r, size_t node, const char *text) {
    char attrs[4096];
    (void)qdq_graph_node_attrs(r->form.graph, node, 8, attrs, sizeof attrs);
    return strstr(attrs, text) != NULL;
}

static const char *op_of(const replay *r, size_t node) {
    return qdq_graph_node(r->form.graph, node).op;
}

int summed_axis(const replay *r, size_t product, size_t port, int rank) {
    enum { DATA, WEIGHTS };
    const char *op = op_of(r, product);
    if (port > WEIGHTS || rank < 2) return -1;
    if (strcmp(op, "MatMul") == 0) {
        bool turned =
            attr_is(r, product, port == DATA ? "\"transpose_a\":true" : "\"transpose_b\":true");
        return (port == DATA) != turned ? rank - 1 : rank - 2;
    }
    bool transposed = strcmp(op, "ConvTranspose") == 0;
    if (!transposed && strcmp(op, "Convolution") != 0) return -1;
    if (port == DATA) return attr_is(r, product, "\"data_format\":\"NCX\"") ? 1 : rank - 1;
    if (transposed) return attr_is(r, product, "\"weights_format\":\"IOX\"") ? 0 : rank - 1;
    return attr_is(r, product, "\"weights_format\":\"OIX\"") ? 1 : rank - 2;
}

static bool keeps_shape(const replay *r, size_t node) {
    static const char *const ops[] = {"ReLU", "Quantize", "Dequantize", "MaxPool", NULL};
    for (size_t i = 0; ops[i]; i++)
        if (strcmp(op_of(r, node), ops[i]) == 0) return true;
    return false;
}

static summed_operand operand_behind(const replay *r, qdq_value value, int rank, int depth) {
    enum { MOST_DEPTH = 8 };
    summed_operand found = {.axis = -1};
    for (size_t n = 0; depth < MOST_DEPTH && n <= r->last[value.id]; n++) {
        size_t inputs = qdq_graph_node(r->form.graph, n).input_count;
        for (size_t i = 0; i < inputs; i++) {
            if (qdq_graph_node_input(r->form.graph, n, i).id != value.id) continue;
            found = (summed_operand){n, i, summed_axis(r, n, i, rank)};
            if (found.axis < 0 && i == 0 && keeps_shape(r, n))
                found =
                    operand_behind(r, qdq_graph_node_output(r->form.graph, n, 0), rank, depth + 1);
            if (found.axis >= 0) return found;
        }
    }
    return found;
}

summed_operand summed_operand_of(const replay *r, qdq_value value) {
    qdq_shape shape;
    if (!qdq_value_type(r->form.graph, value, NULL, &shape)) return (summed_operand){.axis = -1};
    return operand_behind(r, value, shape.rank, 0);
}
