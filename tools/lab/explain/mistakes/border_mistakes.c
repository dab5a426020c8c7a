// SPDX-License-Identifier: Apache-2.0
// Tries other elements around an image: code 0 in place of the zero point, or for floats the real
// value of a code. The node runs on an image that another node has padded.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/mistakes/trial.h"

enum { MOST_FILLERS = 64 };

// The image of a node and its pads.
typedef struct border {
    qdq_dtype dtype;
    qdq_shape shape, result;
    int first, spatial;  // first spatial dim, number of spatial dims
    double before[QDQ_MAX_RANK], after[QDQ_MAX_RANK];
} border;

// Reads a list of an attribute with an entry for each spatial dim; false if it has another length.
static bool read_list(const mistake_trial *t, const char *attr, const border *b, double otherwise,
                      double *out) {
    size_t count = 0;
    double *given = document_attr_numbers(t->d, attr, &count);
    bool fits = count == 0 || count == (size_t)b->spatial;
    for (int i = 0; i < b->spatial; i++) out[i] = given && count && fits ? given[i] : otherwise;
    elements_free(given);
    return fits;
}

// Writes the extents of the window in each spatial dim.
static bool read_window(const mistake_trial *t, const border *b, double *out) {
    static const char *const ports[] = {"w", "weights"};
    if (trial_has_attr(t, "kernel", "int[]")) return read_list(t, "kernel", b, 1, out);
    const qdq_graph *graph = document_replay(t->d)->form.graph;
    bool last = strcmp(document_attr_word(t->d, "weights_format"), "OIX") == 0 ||
                !trial_has_attr(t, "weights_format", "word");
    qdq_shape shape;
    for (int k = 0; k < 2; k++) {
        if (!qdq_value_type(graph, document_value(t->d, ports[k]), NULL, &shape)) continue;
        for (int i = 0; i < b->spatial; i++) out[i] = (double)shape.dims[i + (last ? 2 : 0)];
        return shape.rank == b->spatial + 2;
    }
    return false;
}

// Finds the pads that auto_pad stands for.
static bool read_auto_pads(const mistake_trial *t, border *b, const char *word) {
    double window[QDQ_MAX_RANK], strides[QDQ_MAX_RANK], dilations[QDQ_MAX_RANK];
    if (!read_window(t, b, window) || !read_list(t, "strides", b, 1, strides) ||
        !read_list(t, "dilations", b, 1, dilations))
        return false;
    bool lower = strcmp(word, "SAME_LOWER") == 0, none = strcmp(word, "VALID") == 0;
    for (int i = 0; i < b->spatial; i++) {
        double size = (double)b->shape.dims[b->first + i],
               out = (double)b->result.dims[b->first + i];
        double total = (out - 1) * strides[i] + (window[i] - 1) * dilations[i] + 1 - size;
        if (none || total < 0) total = 0;
        b->before[i] = lower ? ceil(total / 2) : floor(total / 2);
        b->after[i] = total - b->before[i];
    }
    return true;
}

static bool read_border(const mistake_trial *t, border *b) {
    const qdq_graph *graph = document_replay(t->d)->form.graph;
    bool formats = trial_has_attr(t, "data_format", "word");
    bool channels_last = formats && strcmp(document_attr_word(t->d, "data_format"), "NCX") != 0;
    *b = (border){.first = channels_last ? 1 : 2, .result = trial_output(t)->info.shape};
    if (!trial_has_attr(t, "pads_begin", "int[]") ||
        !qdq_value_type(graph, document_value(t->d, "x"), &b->dtype, &b->shape) ||
        b->shape.rank < 3 || b->shape.rank != b->result.rank)
        return false;
    b->spatial = b->shape.rank - 2;
    const char *word = document_attr_word(t->d, "auto_pad");
    if (*word && strcmp(word, "None") != 0) return read_auto_pads(t, b, word);
    return read_list(t, "pads_begin", b, 0, b->before) && read_list(t, "pads_end", b, 0, b->after);
}

static void try_filler(mistake_trial *t, const border *b, double filler) {
    double pads[2 * QDQ_MAX_RANK] = {0};
    char detail[96];
    bool any = false;
    for (int i = 0; i < b->spatial; i++) {
        pads[b->first + i] = b->before[i];
        pads[b->shape.rank + b->first + i] = b->after[i];
        any |= b->before[i] > 0 || b->after[i] > 0;
    }
    if (!any || !isfinite(filler) || !trial_begin(t)) return;
    document_drop_attr(t->d, "pads_begin");
    document_drop_attr(t->d, "pads_end");
    document_drop_attr(t->d, "auto_pad");
    bool codes = qdq_dtype_get(b->dtype)->kind == QDQ_KIND_INT;
    snprintf(detail, sizeof detail, "the border has %s %.9g", codes ? "code" : "the value", filler);
    if (document_pad_port(t->d, "x", pads, 2 * (size_t)b->shape.rank, filler))
        trial_take(t, "border-code", detail);
}

// Tries the real value of a code for every scale and zero point that is near.
static void try_real_fillers(mistake_trial *t, const border *b) {
    const parameter_pool *pool = t->pool;
    int tried = 0;
    for (size_t i = 0; i < pool->count; i++)
        for (size_t k = 0; k < pool->count && tried < MOST_FILLERS; k++) {
            const pooled *scale = &pool->items[i], *zero = &pool->items[k];
            if (scale->zero || !zero->zero || scale->count != 1 || zero->count != 1 ||
                zero->values[0] == 0)
                continue;
            try_filler(t, b, (double)(float)(-zero->values[0] * scale->values[0]));
            tried++;
        }
}

// Tries other elements for the pads of a Pad of codes.
static void try_pad_values(mistake_trial *t) {
    qdq_dtype dtype;
    char detail[64];
    if (!qdq_value_type(document_replay(t->d)->form.graph, document_value(t->d, "x"), &dtype,
                        NULL) ||
        qdq_dtype_get(dtype)->kind != QDQ_KIND_INT)
        return;
    for (size_t i = 0; i <= t->pool->count && trial_begin(t); i++) {
        double code = 0;
        if (i) {
            const pooled *zero = &t->pool->items[i - 1];
            if (!zero->zero || zero->count != 1) continue;
            code = zero->values[0];
        }
        snprintf(detail, sizeof detail, "the border has code %.9g", code);
        if (document_put_numbers(t->d, "value", dtype, (qdq_shape){0}, &code))
            trial_take(t, "border-code", detail);
    }
}

void try_borders(mistake_trial *t) {
    border b;
    if (strcmp(document_op(t->d), "Pad") == 0) try_pad_values(t);
    if (!read_border(t, &b)) return;
    const qdq_dtype_info *info = qdq_dtype_get(b.dtype);
    try_filler(t, &b, 0);
    if (info->kind != QDQ_KIND_INT) {
        try_real_fillers(t, &b);
        return;
    }
    try_filler(t, &b, (double)info->least);
    try_filler(t, &b, info->least ? -1 : 128);
}
