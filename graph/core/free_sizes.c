// SPDX-License-Identifier: Apache-2.0
// Sizes that a graph leaves free: copies, and the types of a graph with other sizes.
#include "graph/core/free_sizes.h"

#include <string.h>

#include "include/qdq/ops/movement.h"
#include "runtime/numerics/dtype.h"

int64_t qdq_free_size_in(const qdq_graph *graph, size_t index, int trial) {
    static const int factors[QDQ_FREE_ALWAYS][QDQ_MOST_FREE] = {
        {1, 1, 1, 1, 1, 1}, {2, 3, 5, 7, 11, 13}, {7, 2, 3, 5, 13, 11}};
    const qdq_free_size *size = &graph->free_sizes[index];
    if (trial < QDQ_FREE_ALWAYS) return size->size * factors[trial][size->group];
    bool one = trial > QDQ_FREE_ALWAYS || size->places[0].dim == 0;
    return one && graph->free_trials >> trial & 1 ? 1 : size->size;
}

const qdq_attr_desc *qdq_free_list_attr(const qdq_op *op) {
    static const char *const lists[][2] = {
        {"StaticReshape", "shape"}, {"Expand", "shape"}, {"Slice", "ends"}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(op->name, lists[i][0]) != 0) continue;
        for (size_t k = 0; k < op->attr_count; k++)
            if (strcmp(op->attrs[k].name, lists[i][1]) == 0) return &op->attrs[k];
    }
    return NULL;
}

//---- Copies -----------------------------------------------------------------

static void copy_size(qdq_graph *to, const qdq_free_size *from, qdq_free_size *out) {
    qdq_free_place *places =
        qdq_mempool_copy(&to->mempool, from->places, from->place_count, sizeof *places);
    *out = *from;
    out->name = qdq_mempool_strdup(&to->mempool, from->name);
    if (from->fixed_by) out->fixed_by = qdq_mempool_strdup(&to->mempool, from->fixed_by);
    out->places = places;
    for (size_t i = 0; places && i < from->place_count; i++)
        places[i].input = qdq_mempool_strdup(&to->mempool, from->places[i].input);
}

void qdq_copy_free_sizes(qdq_graph *to, const qdq_graph *from) {
    if (!from->free_size_count) return;
    qdq_free_size *sizes = qdq_mempool_array(&to->mempool, from->free_size_count, sizeof *sizes);
    for (size_t i = 0; sizes && i < from->free_size_count; i++)
        copy_size(to, &from->free_sizes[i], &sizes[i]);
    if (!sizes) return;
    to->free_sizes = sizes, to->free_size_count = from->free_size_count;
    to->free_lists = from->free_lists;
    to->free_trials = from->free_trials;
}

static qdq_size_list *copy_list(qdq_graph *to, const qdq_size_list *list) {
    if (!list || !to->free_size_count) return NULL;
    qdq_size_list *copy = QDQ_MEMPOOL_NEW(&to->mempool, qdq_size_list);
    qdq_size_entry *entries =
        qdq_mempool_copy(&to->mempool, list->entries, list->count, sizeof *entries);
    if (!copy || !entries) return NULL;
    *copy = (qdq_size_list){entries, list->count, NULL};
    return copy;
}

const qdq_size_list *qdq_copy_free_list(qdq_graph *to, const qdq_size_list *list) {
    return copy_list(to, list);
}

void qdq_copy_free_dims(qdq_graph *graph, qdq_graph_value *to, const qdq_size_list *list) {
    qdq_size_list *copy = copy_list(graph, list);
    if (copy && qdq_take_repeated(&graph->mempool, to, copy)) to->free_dims = copy;
}

//---- Constants that repeat elements -----------------------------------------

qdq_shape qdq_repeated_shape(const qdq_size_list *list) {
    qdq_shape shape = {.rank = (int)list->count};
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = list->entries[i].free ? 1 : list->entries[i].number;
    return shape;
}

size_t qdq_repeated_index(const qdq_size_list *list, qdq_shape shape, size_t at) {
    qdq_shape few = qdq_repeated_shape(list);
    size_t index = 0, step = 1;
    for (int i = shape.rank - 1; i >= 0; i--) {
        if (!list->entries[i].free) index += at % (size_t)shape.dims[i] * step;
        step *= (size_t)few.dims[i];
        at /= (size_t)shape.dims[i];
    }
    return index;
}

bool qdq_take_repeated(qdq_mempool *mempool, const qdq_graph_value *constant, qdq_size_list *list) {
    size_t size = qdq_dtype_size(constant->type.dtype);
    size_t count = qdq_shape_count(constant->type.shape);
    char *elements = qdq_mempool_array(mempool, qdq_shape_count(qdq_repeated_shape(list)), size);
    for (size_t i = 0; elements && i < count; i++)
        memcpy(elements + qdq_repeated_index(list, constant->type.shape, i) * size,
               (const char *)constant->data + i * size, size);
    list->elements = elements;
    return elements != NULL;
}

//---- Other sizes ------------------------------------------------------------

static int64_t size_in(const qdq_graph *graph, size_t index, int trial, const bool *open) {
    return qdq_free_size_in(graph, index, open[index] ? trial : 0);
}

static int64_t entry_in(const qdq_graph *graph, qdq_size_entry entry, int trial, const bool *open) {
    return entry.free ? size_in(graph, entry.free - 1, trial, open) : entry.number;
}

static void resize_inputs(qdq_graph *out, int trial, const bool *open) {
    for (size_t i = 0; i < out->free_size_count; i++) {
        const qdq_free_size *size = &out->free_sizes[i];
        for (size_t k = 0; k < size->place_count; k++) {
            qdq_graph_value *v =
                qdq_graph_value_at(out, qdq_graph_find(out, size->places[k].input));
            if (v && v->kind == QDQ_VALUE_INPUT && size->places[k].dim < v->type.shape.rank)
                v->type.shape.dims[size->places[k].dim] = size_in(out, i, trial, open);
        }
    }
}

// Gives constants that repeat an element other dims. Their elements are then hidden from checks.
static void resize_constants(qdq_graph *out, int trial, const bool *open) {
    for (size_t i = 1; i < out->value_count; i++) {
        qdq_graph_value *v = &out->values[i];
        if (!v->free_dims || v->free_dims->count != (size_t)v->type.shape.rank) continue;
        for (size_t k = 0; k < v->free_dims->count; k++)
            v->type.shape.dims[k] = entry_in(out, v->free_dims->entries[k], trial, open);
        if (trial) v->data = NULL, v->stored = NULL;
    }
}

// Writes the numbers of a node's list into a copy of its attributes.
static bool resize_list(const qdq_graph *graph, qdq_node *node, int trial, const bool *open,
                        qdq_mempool *mempool) {
    const qdq_attr_desc *attr = qdq_free_list_attr(node->op);
    char *attrs = qdq_mempool_copy(mempool, node->attrs, node->op->attrs_size, 1);
    if (!attrs || !attr) return false;
    qdq_ints *list = (void *)(attrs + attr->offset);
    int64_t *numbers = qdq_mempool_array(mempool, list->count, sizeof *numbers);
    if (!numbers || list->count != node->free_list->count) return false;
    for (size_t i = 0; i < list->count; i++)
        numbers[i] = entry_in(graph, node->free_list->entries[i], trial, open);
    list->data = numbers;
    if (strcmp(node->op->name, "StaticReshape") == 0)
        ((qdq_reshape_attrs *)(void *)attrs)->special_zero = QDQ_TRUE;
    node->attrs = attrs;
    return true;
}

// Infers the types of a node's results; in trial 0 they must stay.
static bool infer_again(qdq_graph *graph, const qdq_node *node, int trial) {
    qdq_op_context ctx;
    qdq_graph_context(graph, node, &graph->findings, &ctx);
    if (!qdq_op_check(&ctx)) return false;
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_type *type = &graph->values[node->outputs[i]].type;
        qdq_subject subject = {node->name, node->op->name, node->op->outputs[i].name, NULL};
        if (trial == 0 && !qdq_shape_equal(type->shape, ctx.outputs[i].shape)) return false;
        *type = ctx.outputs[i];
        if (!qdq_graph_check_type(graph, *type, subject)) return false;
    }
    return true;
}

bool qdq_count_free_lists(const qdq_graph *graph, qdq_mempool *mempool, size_t *count) {
    bool *needed = qdq_mempool_array(mempool, graph->value_count, sizeof *needed);
    *count = 0;
    if (!needed) return false;
    for (size_t i = 0; i < graph->output_count; i++) needed[graph->outputs[i].value.id] = true;
    for (size_t i = graph->node_count; i-- > 0;) {
        const qdq_node *node = &graph->nodes[i];
        bool reads = false;
        for (size_t k = 0; k < node->output_count; k++) reads |= needed[node->outputs[k]];
        for (size_t k = 0; reads && k < node->input_count; k++) needed[node->inputs[k].id] = true;
        *count += reads && node->free_list;
    }
    for (size_t i = 1; i < graph->value_count; i++)
        *count += needed[i] && graph->values[i].free_dims;
    return true;
}

bool qdq_resized_graph(const qdq_graph *graph, int trial, const bool *open, qdq_mempool *mempool,
                       qdq_findings *findings, qdq_graph *out, const qdq_node **misfit) {
    *out = *graph;
    *misfit = NULL;
    out->findings = *findings;
    out->values = qdq_mempool_copy(mempool, graph->values, graph->value_count, sizeof *out->values);
    out->nodes = qdq_mempool_copy(mempool, graph->nodes, graph->node_count, sizeof *out->nodes);
    if (!out->values || (graph->node_count && !out->nodes)) return false;
    resize_inputs(out, trial, open);
    resize_constants(out, trial, open);
    size_t lists;
    bool fits = qdq_count_free_lists(graph, mempool, &lists) && lists == graph->free_lists;
    for (size_t i = 0; fits && i < out->node_count; i++) {
        if (out->nodes[i].free_list) fits = resize_list(out, &out->nodes[i], trial, open, mempool);
        fits = fits && infer_again(out, &out->nodes[i], trial);
        if (!fits) *misfit = &graph->nodes[i];
    }
    *findings = out->findings;
    return fits;
}
