// SPDX-License-Identifier: Apache-2.0
// Compares the graphs of a model that was read with several sizes, and finds lists of sizes that
// hold for all of them.
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/formats/onnx/onnx_free.h"
#include "include/qdq/ops/movement.h"
#include "runtime/numerics/dtype.h"

//---- Lists of sizes ---------------------------------------------------------

static bool all_equal(const int64_t *numbers) {
    bool equal = true;
    for (int k = 1; k < QDQ_FREE_TRIALS; k++) equal &= numbers[k] == numbers[0];
    return equal;
}

// Sets *out to the free size that these numbers are, one for each trial. False: none.
static bool is_free(const qdq_onnx_trials *t, const int64_t *numbers, qdq_size_entry *out) {
    for (size_t i = 0; i < t->count; i++) {
        bool equal = t->open[i];
        for (int k = 0; k < QDQ_FREE_TRIALS; k++) equal &= numbers[k] == qdq_onnx_size_in(t, i, k);
        if (!equal) continue;
        *out = (qdq_size_entry){numbers[0], (unsigned)i + 1};
        return true;
    }
    return false;
}

static qdq_shape shape_of_input(const qdq_onnx_trials *t, size_t node, int trial) {
    const qdq_graph *graph = t->graphs[trial];
    return graph->values[graph->nodes[node].inputs[0].id].type.shape;
}

// True if entry `i` of a list, counted from the end for Expand, is the dim of x in every trial.
static bool is_dim_of_x(const qdq_onnx_trials *t, size_t node, const int64_t *numbers, int64_t dim,
                        size_t count) {
    bool from_end = strcmp(t->graphs[0]->nodes[node].op->name, "Expand") == 0;
    for (int k = 0; k < QDQ_FREE_TRIALS; k++) {
        qdq_shape x = shape_of_input(t, node, k);
        int64_t at = from_end ? dim + x.rank - (int64_t)count : dim;
        if (at < 0 || at >= x.rank || x.dims[at] != numbers[k]) return false;
    }
    return true;
}

// Returns the dim of x that entry `i` of a Slice cuts; -1: it does not end at the end of the dim.
static int64_t cut_to_end(const qdq_onnx_trials *t, size_t node, size_t i) {
    const qdq_slice_attrs *a = t->graphs[0]->nodes[node].attrs;
    int rank = shape_of_input(t, node, 0).rank;
    int64_t axis = a->axes.count > i ? a->axes.data[i] : (int64_t)i;
    if (a->steps.count > i && a->steps.data[i] < 1) return -1;
    return axis < 0 ? axis + rank : axis;
}

// Finds an entry of a list that is the same in all trials, or the dim of x. False: it is neither.
static bool find_plain(const qdq_onnx_trials *t, size_t node, size_t i, size_t count,
                       const int64_t *numbers, qdq_size_entry *out) {
    const char *op = t->graphs[0]->nodes[node].op->name;
    bool reshape = strcmp(op, "StaticReshape") == 0, slice = strcmp(op, "Slice") == 0;
    *out = (qdq_size_entry){numbers[0], 0};
    if (all_equal(numbers)) return true;
    int64_t dim = slice ? cut_to_end(t, node, i) : (int64_t)i;
    if (!is_dim_of_x(t, node, numbers, dim, count)) return false;
    out->number = slice ? INT64_MAX : reshape ? 0 : 1;
    return true;
}

static qdq_size_list *new_list(qdq_onnx_trials *t, size_t count, qdq_size_entry **entries) {
    qdq_size_list *list = QDQ_MEMPOOL_NEW(&t->im->graph->mempool, qdq_size_list);
    *entries = qdq_mempool_array(&t->im->graph->mempool, count, sizeof **entries);
    if (list) *list = (qdq_size_list){*entries, count, NULL};
    return *entries ? list : NULL;
}

static const qdq_ints *list_in(const qdq_onnx_trials *t, const qdq_attr_desc *attr, size_t node,
                               int trial) {
    return (const void *)((const char *)t->graphs[trial]->nodes[node].attrs + attr->offset);
}

static void numbers_at(const qdq_onnx_trials *t, const qdq_attr_desc *attr, size_t node, size_t i,
                       int64_t *numbers) {
    for (int k = 0; k < QDQ_FREE_TRIALS; k++) numbers[k] = list_in(t, attr, node, k)->data[i];
}

// Finds the list of a node for all sizes. In the shape of a reshape, one entry may be -1. False:
// there is none.
static bool merge_list(qdq_onnx_trials *t, const qdq_attr_desc *attr, size_t node) {
    const qdq_ints *first = list_in(t, attr, node, 0);
    int64_t numbers[QDQ_FREE_TRIALS];
    size_t others = 0, rests = 0;
    qdq_size_entry *entries;
    qdq_size_list *list = new_list(t, first->count, &entries);
    for (int k = 1; k < QDQ_FREE_TRIALS; k++)
        if (list_in(t, attr, node, k)->count != first->count) return false;
    for (size_t i = 0; list && i < first->count; i++) {
        numbers_at(t, attr, node, i, numbers);
        others += !find_plain(t, node, i, first->count, numbers, &entries[i]);
    }
    bool reshape = strcmp(t->graphs[0]->nodes[node].op->name, "StaticReshape") == 0;
    for (size_t i = 0; list && others && i < first->count; i++) {
        numbers_at(t, attr, node, i, numbers);
        if (find_plain(t, node, i, first->count, numbers, &entries[i])) continue;
        if (!(reshape && others == 1) && is_free(t, numbers, &entries[i])) continue;
        entries[i].number = -1;
        if (!reshape || rests++) return false;
    }
    t->of_nodes[node] = list;
    return list != NULL;
}

//---- Comparing --------------------------------------------------------------

static bool misfits(qdq_onnx_trials *t, const char *format, const char *name, const char *op) {
    t->why = qdq_text(&t->im->graph->findings, format, name, op);
    return false;
}

// True if two nodes have the same op, name and ports.
static bool same_ports(const qdq_node *a, const qdq_node *b) {
    bool same = a->op == b->op && a->input_count == b->input_count &&
                a->output_count == b->output_count && strcmp(a->name, b->name) == 0 &&
                a->names_dtype == b->names_dtype && a->block_size == b->block_size;
    for (size_t i = 0; same && i < a->input_count; i++) same = a->inputs[i].id == b->inputs[i].id;
    for (size_t i = 0; same && i < a->output_count; i++) same = a->outputs[i] == b->outputs[i];
    return same;
}

static bool same_node(qdq_onnx_trials *t, size_t index) {
    const qdq_node *a = &t->graphs[0]->nodes[index];
    bool same = true;
    for (int k = 1; k < QDQ_FREE_TRIALS; k++) same &= same_ports(a, &t->graphs[k]->nodes[index]);
    for (size_t i = 0; same && i < a->op->attr_count; i++) {
        const qdq_attr_desc *attr = &a->op->attrs[i];
        bool equal = true;
        for (int k = 1; k < QDQ_FREE_TRIALS; k++)
            equal &= qdq_attr_is_equal(attr, a->attrs, t->graphs[k]->nodes[index].attrs);
        if (!equal) same = attr == qdq_free_list_attr(a->op) && merge_list(t, attr, index);
    }
    return same ||
           misfits(t, "node '%.200s' (%s) depends on it", a->original ? a->original : a->name,
                   a->original_op ? a->original_op : a->op->name);
}

// True if a constant repeats the elements of `list`, with the dims that it has in a trial.
static bool repeats(const qdq_graph_value *v, const qdq_size_list *list) {
    size_t size = qdq_dtype_size(v->type.dtype), count = qdq_shape_count(v->type.shape);
    for (size_t i = 0; v->data && i < count; i++)
        if (memcmp((const char *)v->data + i * size,
                   (const char *)list->elements + qdq_repeated_index(list, v->type.shape, i) * size,
                   size) != 0)
            return false;
    return v->data != NULL;
}

// Finds the dims of a constant that repeats its elements as often as free sizes say. False: it has
// other elements, or sizes.
static bool merge_constant(qdq_onnx_trials *t, size_t id) {
    const qdq_graph_value *v = &t->graphs[0]->values[id];
    qdq_shape shape = v->type.shape;
    qdq_size_entry *entries;
    qdq_size_list *list = new_list(t, (size_t)shape.rank, &entries);
    for (int k = 1; k < QDQ_FREE_TRIALS; k++)
        if (t->graphs[k]->values[id].type.shape.rank != shape.rank) return false;
    for (int i = 0; list && i < shape.rank; i++) {
        int64_t numbers[QDQ_FREE_TRIALS];
        for (int k = 0; k < QDQ_FREE_TRIALS; k++)
            numbers[k] = t->graphs[k]->values[id].type.shape.dims[i];
        entries[i] = (qdq_size_entry){numbers[0], 0};
        if (!all_equal(numbers) && !is_free(t, numbers, &entries[i])) return false;
    }
    if (!list || !v->data || !qdq_take_repeated(&t->im->graph->mempool, v, list)) return false;
    for (int k = 0; k < QDQ_FREE_TRIALS; k++)
        if (!repeats(&t->graphs[k]->values[id], list)) return false;
    t->of_constants[id] = list;
    return true;
}

static bool same_elements(const qdq_graph_value *a, const qdq_graph_value *b) {
    size_t bytes = qdq_shape_count(a->type.shape) * qdq_dtype_size(a->type.dtype);
    if (!qdq_shape_equal(a->type.shape, b->type.shape)) return false;
    if (a->stored && b->stored) return qdq_held_is_equal(a->stored, b->stored);
    return a->data && b->data && memcmp(a->data, b->data, bytes) == 0;
}

static bool same_value(qdq_onnx_trials *t, size_t id) {
    const qdq_graph_value *a = &t->graphs[0]->values[id];
    bool same = true, elements = true;
    for (int k = 1; k < QDQ_FREE_TRIALS; k++) {
        const qdq_graph_value *b = &t->graphs[k]->values[id];
        same &= a->kind == b->kind && a->type.dtype == b->type.dtype && a->uses == b->uses &&
                strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0;
        elements &= a->kind != QDQ_VALUE_CONSTANT || same_elements(a, b);
    }
    same = same && (elements || merge_constant(t, id));
    return same || misfits(t, "%s '%.200s' depends on it",
                           a->kind == QDQ_VALUE_CONSTANT ? "constant" : "value",
                           a->original ? a->original : a->name);
}

static bool same_outputs(const qdq_graph *a, const qdq_graph *b) {
    bool same = a->output_count == b->output_count;
    for (size_t i = 0; same && i < a->output_count; i++)
        same = a->outputs[i].value.id == b->outputs[i].value.id &&
               strcmp(a->outputs[i].name, b->outputs[i].name) == 0;
    return same;
}

// True if the graphs of all trials differ in types and lists alone.
bool qdq_onnx_same_graphs(qdq_onnx_trials *t) {
    const qdq_graph *a = t->graphs[0];
    bool same = true;
    for (int k = 1; k < QDQ_FREE_TRIALS; k++) {
        const qdq_graph *b = t->graphs[k];
        same &= a->node_count == b->node_count && a->value_count == b->value_count &&
                same_outputs(a, b);
    }
    if (!same) return misfits(t, "the number of nodes depends on it%s%s", "", "");
    for (size_t i = 1; i < a->value_count; i++)
        if (!same_value(t, i)) return false;
    for (size_t i = 0; i < a->node_count; i++)
        if (!same_node(t, i)) return false;
    return true;
}
