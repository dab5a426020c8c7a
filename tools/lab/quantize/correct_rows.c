// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/correct_rows.h"

#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, WEIGHTS };

//---- Attributes -------------------------------------------------------------

// Finds the value of an attribute in a line of JSON; NULL: it has its default.
static const char *find_attr(const char *attrs, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(attrs, key);
    return at ? at + strlen(key) : NULL;
}

static bool has_word(const char *attrs, const char *name, const char *word) {
    const char *at = find_attr(attrs, name);
    return at && strncmp(at + 1, word, strlen(word)) == 0;
}

static bool is_true(const char *attrs, const char *name) {
    const char *at = find_attr(attrs, name);
    return at && strncmp(at, "true", 4) == 0;
}

static void read_list(const char *attrs, const char *name, int count, int64_t *out) {
    const char *at = find_attr(attrs, name);
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        out[i] = at ? strtoll(at + 1, &end, 10) : 0;
        at = end;
    }
}

//---- Products of matrices ---------------------------------------------------

static bool matrix_rows(const char *attrs, qdq_shape a, qdq_shape b, product_rows *p) {
    bool turned = is_true(attrs, "transpose_a") && a.rank > 1;
    bool turned_b = is_true(attrs, "transpose_b");
    if (b.rank != 2 || a.rank < 1) return false;
    size_t depth = (size_t)b.dims[turned_b], channels = (size_t)b.dims[!turned_b], count = 1;
    for (int i = 0; i < a.rank; i++) count *= (size_t)a.dims[i];
    size_t last = a.rank > 1 ? (size_t)a.dims[turned ? a.rank - 1 : a.rank - 2] : 1;
    *p = (product_rows){.spatial = 1,
                        .groups = 1,
                        .depth = depth,
                        .channels = channels,
                        .positions = last,
                        .window = 1,
                        .x_batch = last * depth,
                        .channels_last = true};
    if (!depth || !last || !channels) return false;
    p->rows = count / depth;
    p->x_channel = turned ? last : 1;
    p->x_step[0] = turned ? 1 : depth;
    p->in[0] = p->out[0] = last;
    p->kernel[0] = 1, p->strides[0] = p->dilations[0] = 1;
    p->w_channel = turned_b ? depth : 1;
    p->w_input = turned_b ? 1 : channels;
    return true;
}

//---- Convolutions -----------------------------------------------------------

static int64_t padding(const product_rows *p, const char *attrs, int dim) {
    int64_t reach = (int64_t)(p->kernel[dim] - 1) * p->dilations[dim] + 1;
    int64_t all = ((int64_t)p->out[dim] - 1) * p->strides[dim] + reach - (int64_t)p->in[dim];
    if (all < 0 || has_word(attrs, "auto_pad", "VALID")) return 0;
    return has_word(attrs, "auto_pad", "SAME_UPPER") ? all / 2 : (all + 1) / 2;
}

// Sets strides of x, which has its channels last or behind the batch.
static void place_inputs(product_rows *p, bool last, size_t inputs) {
    size_t step = last ? inputs : 1;
    for (int i = p->spatial - 1; i >= 0; i--) {
        p->x_step[i] = step;
        step *= p->in[i];
    }
    p->x_channel = last ? 1 : step;
    p->x_batch = last ? step : step * inputs;
}

// Sets strides of weights: windows between the channels and other channels in two orders.
static void place_weights(product_rows *p, bool window_last, size_t inputs) {
    size_t all = p->channels * p->groups, window = p->window;
    if (p->backwards && window_last) {  // IOX
        p->w_window = 1, p->w_channel = window, p->w_input = p->channels * window;
        p->w_group = inputs * p->w_input;
    } else if (p->backwards) {  // XOI
        p->w_input = 1, p->w_group = inputs, p->w_channel = inputs * p->groups;
        p->w_window = p->channels * p->w_channel;
    } else if (window_last) {  // OIX
        p->w_window = 1, p->w_input = window, p->w_channel = inputs * window;
        p->w_group = p->channels * p->w_channel;
    } else {  // XIO
        p->w_channel = 1, p->w_group = p->channels, p->w_input = all, p->w_window = inputs * all;
    }
}

static bool window_rows(const char *attrs, qdq_shape x, qdq_shape w, qdq_shape y, product_rows *p) {
    bool last = !has_word(attrs, "data_format", "NCX");
    bool window_last = has_word(attrs, "weights_format", p->backwards ? "IOX" : "OIX");
    const char *groups = find_attr(attrs, "groups");
    p->spatial = x.rank - 2;
    p->groups = groups ? (size_t)strtoll(groups, NULL, 10) : 1;
    if (x.rank < 3 || !p->groups || (p->backwards && find_attr(attrs, "auto_pad"))) return false;
    size_t inputs = (size_t)x.dims[last ? x.rank - 1 : 1] / p->groups;
    p->channels = (size_t)y.dims[last ? y.rank - 1 : 1] / p->groups;
    p->channels_last = last;
    read_list(attrs, "strides", p->spatial, p->strides);
    read_list(attrs, "dilations", p->spatial, p->dilations);
    read_list(attrs, "pads_begin", p->spatial, p->pads);
    p->window = p->positions = 1;
    for (int i = 0; i < p->spatial; i++) {
        p->in[i] = (size_t)x.dims[last ? i + 1 : i + 2];
        p->out[i] = (size_t)y.dims[last ? i + 1 : i + 2];
        p->kernel[i] = (size_t)w.dims[window_last ? i + 2 : i];
        if (find_attr(attrs, "auto_pad")) p->pads[i] = padding(p, attrs, i);
        if (p->strides[i] < 1) return false;
        p->window *= p->kernel[i];
        p->positions *= p->out[i];
    }
    p->depth = inputs * p->window;
    p->rows = (size_t)x.dims[0] * p->positions;
    place_inputs(p, last, inputs * p->groups);
    place_weights(p, window_last, inputs);
    return p->depth && p->rows && p->channels;
}

bool product_rows_of(const qdq_graph *graph, size_t node, product_rows *out) {
    char attrs[4096];
    qdq_shape x, w, y;
    const char *op = qdq_graph_node(graph, node).op;
    *out = (product_rows){.backwards = strcmp(op, "ConvTranspose") == 0};
    if (!qdq_value_type(graph, qdq_graph_node_input(graph, node, X), NULL, &x) ||
        !qdq_value_type(graph, qdq_graph_node_input(graph, node, WEIGHTS), NULL, &w) ||
        !qdq_value_type(graph, qdq_graph_node_output(graph, node, 0), NULL, &y) ||
        qdq_graph_node_attrs(graph, node, 0, attrs, sizeof attrs) >= sizeof attrs)
        return false;
    if (strcmp(op, "MatMul") == 0) return matrix_rows(attrs, x, w, out);
    if (strcmp(op, "Convolution") != 0 && !out->backwards) return false;
    return window_rows(attrs, x, w, y, out);
}

//---- Rows -------------------------------------------------------------------

// Finds where element `tap` of the window at a position lies in a channel of x. False: outside.
static bool find_tap(const product_rows *p, size_t position, size_t tap, size_t *out) {
    *out = 0;
    for (int i = p->spatial - 1; i >= 0; i--) {
        int64_t at = (int64_t)(position % p->out[i]), k = (int64_t)(tap % p->kernel[i]);
        position /= p->out[i], tap /= p->kernel[i];
        if (p->backwards) {
            at += p->pads[i] - k * p->dilations[i];
            if (at < 0 || at % p->strides[i] != 0) return false;
            at /= p->strides[i];
        } else {
            at = at * p->strides[i] + k * p->dilations[i] - p->pads[i];
        }
        if (at < 0 || at >= (int64_t)p->in[i]) return false;
        *out += (size_t)at * p->x_step[i];
    }
    return true;
}

void product_row(const product_rows *p, const float *x, size_t row, size_t group, double *out) {
    size_t inputs = p->depth / p->window;
    x += row / p->positions * p->x_batch + group * inputs * p->x_channel;
    for (size_t tap = 0; tap < p->window; tap++) {
        size_t at;
        bool inside = find_tap(p, row % p->positions, tap, &at);
        for (size_t i = 0; i < inputs; i++)
            out[i * p->window + tap] = inside ? (double)x[i * p->x_channel + at] : 0;
    }
}

size_t product_weight(const product_rows *p, size_t group, size_t channel, size_t column) {
    return group * p->w_group + channel * p->w_channel + column / p->window * p->w_input +
           column % p->window * p->w_window;
}

size_t product_result(const product_rows *p, size_t row, size_t channel) {
    size_t all = p->channels * p->groups;
    if (p->channels_last) return row * all + channel;
    return (row / p->positions * all + channel) * p->positions + row % p->positions;
}
