// SPDX-License-Identifier: Apache-2.0
// Finds the open dims of a model for which its graph fits any size. The model is read again with
// other sizes, twice. A size is free if the graphs then differ only in types, in lists of sizes
// whose entries are free sizes or follow from an input, and in the number of equal elements of a
// constant.
#include "graph/formats/onnx/onnx_free.h"

#include <string.h>

#include "include/qdq/inspect.h"

//---- The open dims ----------------------------------------------------------

static qdq_free_size *find_size(const qdq_onnx_trials *t, const char *name) {
    for (size_t i = 0; *name && i < t->count; i++)
        if (strcmp(t->sizes[i].name, name) == 0) return &t->sizes[i];
    return NULL;
}

static bool add_place(qdq_mempool *mempool, qdq_free_size *size, qdq_free_place place) {
    qdq_free_place *places = qdq_mempool_array(mempool, size->place_count + 1, sizeof *places);
    if (!places) return false;
    if (size->place_count) memcpy(places, size->places, size->place_count * sizeof *places);
    places[size->place_count++] = place;
    size->places = places;
    return true;
}

// Adds the open dims of an input. A dim beyond the most is fixed.
static bool add_dims(qdq_onnx_trials *t, const qdq_onnx_info *info) {
    qdq_graph *graph = t->im->graph;
    const qdq_value value = qdq_graph_find(graph, qdq_value_name_of(graph, info->name));
    const qdq_graph_value *v = qdq_graph_value_at(graph, value);
    if (info->left_out || !v || v->kind != QDQ_VALUE_INPUT) return true;
    for (int i = 0; i < v->type.shape.rank; i++) {
        const qdq_onnx_dim *dim = info->has_shape ? &info->dims.items[i] : NULL;
        if (dim && dim->size >= 0) continue;
        qdq_free_size *size = find_size(t, dim ? dim->name : "");
        if (!size && t->count == QDQ_MOST_FREE) continue;
        if (!size) {
            size = &t->sizes[t->count];
            size->group = t->count++;
            size->name = qdq_mempool_strdup(&graph->mempool, dim ? dim->name : "");
            size->size = v->type.shape.dims[i];
            if (size->size > INT32_MAX) size->fixed_by = "it is too large";
        }
        if (!size->name || !add_place(&graph->mempool, size, (qdq_free_place){v->name, i}))
            return false;
    }
    return true;
}

//---- Reading with other sizes -----------------------------------------------

static qdq_shape shape_in(const qdq_onnx_trials *t, const qdq_graph_value *v, int trial) {
    qdq_shape shape = v->type.shape;
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < t->sizes[i].place_count; k++)
            if (strcmp(t->sizes[i].places[k].input, v->name) == 0)
                shape.dims[t->sizes[i].places[k].dim] = qdq_onnx_size_in(t, i, trial);
    return shape;
}

// Fills in the shapes of all inputs in a trial.
static size_t fill_shapes(const qdq_onnx_trials *t, int trial, qdq_input_shape *shapes) {
    const qdq_graph *graph = t->im->graph;
    size_t count = 0;
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind != QDQ_VALUE_INPUT) continue;
        shapes[count++] = (qdq_input_shape){.name = v->original ? v->original : v->name,
                                            .shape = shape_in(t, v, trial)};
    }
    return count;
}

static qdq_graph *read_again(qdq_onnx_trials *t, int trial, qdq_error *err) {
    const qdq_graph *graph = t->im->graph;
    qdq_input_shape *shapes = qdq_mempool_array(t->im->mempool, graph->value_count, sizeof *shapes);
    qdq_graph_options options = {.allocator = graph->allocator,
                                 .limits = graph->limits,
                                 .target = graph->target_given ? graph->target : NULL,
                                 .shapes = shapes,
                                 .until = t->im->options->until};
    if (shapes) options.shape_count = fill_shapes(t, trial, shapes);
    qdq_graph *other = shapes ? qdq_graph_create(NULL, &options) : NULL;
    if (!other) {
        qdq_fail_memory(err, sizeof *other);
        return NULL;
    }
    other->file = other->findings.file = graph->file;
    if (qdq_onnx_read(other, t->bytes, &options, err) == QDQ_OK && other->mempool.failed)
        qdq_fail_memory(err, 1);
    if (err->status == QDQ_OK && other->findings.errors)
        qdq_fail(err, QDQ_ERR_GRAPH, "%s",
                 other->findings.count ? other->findings.items[0].message : "");
    return other;
}

//---- Trials -----------------------------------------------------------------

// Reads the model with the sizes of a trial. Returns the first graph if the model does not take
// these sizes, or if they equal the graph's.
static qdq_graph *read_trial(qdq_onnx_trials *t, int trial, qdq_error *err) {
    qdq_graph *graph = t->im->graph;
    bool optional = trial >= QDQ_FREE_ALWAYS, changes = false;
    qdq_error own = {0};
    if (optional) graph->free_trials |= 1u << trial;
    for (size_t i = 0; i < t->count; i++)
        changes |= qdq_onnx_size_in(t, i, trial) != t->sizes[i].size;
    qdq_graph *other = changes ? read_again(t, trial, &own) : NULL;
    if (changes && (!optional || own.status == QDQ_ERR_MEMORY)) *err = own;
    if (changes && own.status == QDQ_OK) return other;
    qdq_graph_destroy(other);
    if (optional) graph->free_trials &= ~(1u << trial);
    return NULL;
}

// Reads the model in all trials and compares the graphs. t->why tells why they do not fit.
static qdq_status try_sizes(qdq_onnx_trials *t) {
    const qdq_graph *graph = t->im->graph;
    qdq_graph *others[QDQ_FREE_TRIALS] = {NULL};
    qdq_error err = {0};
    t->why = NULL;
    t->of_nodes = qdq_mempool_array(t->im->mempool, graph->node_count + 1, sizeof(qdq_size_list *));
    t->of_constants =
        qdq_mempool_array(t->im->mempool, graph->value_count, sizeof(qdq_size_list *));
    if (!t->of_nodes || !t->of_constants) return qdq_fail_memory(t->im->err, graph->value_count);
    for (int k = 1; k < QDQ_FREE_TRIALS && err.status == QDQ_OK; k++) {
        others[k] = read_trial(t, k, &err);
        t->graphs[k] = others[k] ? others[k] : graph;
    }
    if (err.status == QDQ_OK)
        (void)qdq_onnx_same_graphs(t);
    else if (err.status == QDQ_ERR_MEMORY)
        qdq_fail(t->im->err, err.status, "%s", err.text);
    else
        t->why = qdq_text(&t->im->graph->findings, "with another size, %s", err.text);
    for (int k = 1; k < QDQ_FREE_TRIALS; k++) qdq_graph_destroy(others[k]);
    if (t->im->graph->mempool.failed) qdq_fail_memory(t->im->err, 1);
    return t->im->err->status;
}

static size_t count_open(qdq_onnx_trials *t) {
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) count += t->open[i] = !t->sizes[i].fixed_by;
    return count;
}

// Lets the sizes of first dims change together, if they are equal: the batch of several inputs,
// with a name for each, or without a name. False: no two of them are.
static bool tie_batches(const qdq_onnx_trials *t) {
    size_t first = t->count;
    bool tied = false;
    for (size_t i = 0; i < t->count; i++) {
        if (t->sizes[i].places[0].dim != 0 || t->sizes[i].fixed_by) continue;
        if (first == t->count) first = i;
        if (i == first || t->sizes[i].size != t->sizes[first].size) continue;
        t->sizes[i].group = first;
        tied = true;
    }
    return tied;
}

// Fixes the sizes with which the graph does not fit, alone.
static qdq_status fix_groups(qdq_onnx_trials *t) {
    for (size_t i = 0; i < t->count; i++) {
        if (t->sizes[i].fixed_by || t->sizes[i].group != i) continue;
        for (size_t k = 0; k < t->count; k++) t->open[k] = t->sizes[k].group == i;
        QDQ_TRY(try_sizes(t));
        for (size_t k = 0; k < t->count; k++)
            if (t->open[k]) t->sizes[k].fixed_by = t->why;
    }
    return QDQ_OK;
}

// Fixes every size with which the graph does not fit.
static qdq_status fix_sizes(qdq_onnx_trials *t) {
    size_t open = count_open(t);
    if (open) QDQ_TRY(try_sizes(t));
    if (open && t->why && tie_batches(t)) QDQ_TRY(try_sizes(t));
    if (!open || !t->why) return QDQ_OK;
    if (open > 1) QDQ_TRY(fix_groups(t));
    if (open > 1 && count_open(t)) QDQ_TRY(try_sizes(t));
    for (size_t i = 0; i < t->count && t->why; i++)
        if (!t->sizes[i].fixed_by) t->sizes[i].fixed_by = t->why;
    return QDQ_OK;
}

static qdq_status store(const qdq_onnx_trials *t) {
    qdq_graph *graph = t->im->graph;
    for (size_t i = 0; t->of_nodes && !t->why && i < graph->node_count; i++)
        graph->nodes[i].free_list = t->of_nodes[i];
    for (size_t i = 1; t->of_nodes && !t->why && i < graph->value_count; i++)
        graph->values[i].free_dims = t->of_constants[i];
    if (qdq_count_free_lists(graph, t->im->mempool, &graph->free_lists)) return QDQ_OK;
    return qdq_fail_memory(t->im->err, graph->value_count);
}

qdq_status qdq_onnx_find_free_sizes(qdq_onnx_import *im, const qdq_onnx_bytes *bytes) {
    qdq_graph *graph = im->graph;
    qdq_onnx_trials t = {.im = im, .bytes = bytes, .graphs = {graph}};
    t.sizes = qdq_mempool_array(&graph->mempool, QDQ_MOST_FREE, sizeof *t.sizes);
    if (!t.sizes) return qdq_fail_memory(im->err, sizeof *t.sizes);
    for (size_t i = 0; i < im->model.graph.inputs.count; i++)
        if (!add_dims(&t, &im->model.graph.inputs.items[i]))
            return qdq_fail_memory(im->err, sizeof *t.sizes);
    graph->free_sizes = t.sizes, graph->free_size_count = t.count;
    QDQ_TRY(fix_sizes(&t));
    return store(&t);
}
