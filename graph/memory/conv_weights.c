// SPDX-License-Identifier: Apache-2.0
#include "graph/memory/conv_weights.h"

#include <string.h>

#include "graph/core/output_tensor.h"
#include "graph/memory/given_layout.h"
#include "include/qdq/ops/products.h"

enum { X, WEIGHTS };

typedef struct search {
    const qdq_graph *graph;
    qdq_conv_weights *found;  // by value
    bool *other;              // by value: a node reads it as something else
} search;

//---- Shapes -----------------------------------------------------------------

// Returns the matrix of weights whose output channels lie along dim `outputs`. Groups become dense,
// as zeros stand for the input channels of other groups: `groups` times as many rows, or,
// transposed, columns.
static qdq_conv_weights matrix_of(qdq_shape w, int outputs, int64_t groups, bool transposed) {
    int64_t rows = transposed ? 1 : groups, columns = w.dims[outputs];
    bool overflows = transposed && __builtin_mul_overflow(columns, groups, &columns);
    for (int i = 0; i < w.rank; i++)
        if (i != outputs) overflows |= __builtin_mul_overflow(rows, w.dims[i], &rows);
    if (overflows) return (qdq_conv_weights){0};
    return (qdq_conv_weights){.shape = {2, {rows, columns}}, .outputs = outputs};
}

static int64_t groups_of(qdq_int groups) { return groups.set != 0 ? groups.value : 1; }

// Returns the weights of a convolution; rank 0 for other nodes.
static qdq_conv_weights weights_of(const qdq_graph *graph, const qdq_node *node) {
    bool transposed = strcmp(node->op->name, "ConvTranspose") == 0;
    if (!transposed && strcmp(node->op->name, "Convolution") != 0) return (qdq_conv_weights){0};
    qdq_shape w = graph->values[node->inputs[WEIGHTS].id].type.shape;
    if (transposed) {
        const qdq_conv_transpose_attrs *a = node->attrs;
        return matrix_of(w, a->weights_format == QDQ_IOX ? 1 : w.rank - 2, groups_of(a->groups),
                         true);
    }
    const qdq_convolution_attrs *a = node->attrs;
    return matrix_of(w, a->weights_format == QDQ_OIX ? 0 : w.rank - 1, groups_of(a->groups), false);
}

//---- Values -----------------------------------------------------------------

static bool are_equal(const qdq_conv_weights *a, const qdq_conv_weights *b) {
    return qdq_shape_equal(a->shape, b->shape) && a->outputs == b->outputs;
}

static void propose(search *s, uint32_t id, const qdq_conv_weights *weights) {
    if (s->found[id].shape.rank && !are_equal(&s->found[id], weights)) s->other[id] = true;
    s->found[id] = *weights;
}

// True if all that reads the value takes weights. Its readers have been seen.
static bool is_weights(const search *s, uint32_t id) {
    return s->found[id].shape.rank && !s->other[id] && !s->graph->values[id].returned &&
           !qdq_graph_given_layout(s->graph, id);
}

// True for ops that change elements and keep their places.
static bool keeps_places(const qdq_node *node) {
    static const char *const ops[] = {"Quantize", "Dequantize", "Cast"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(node->op->name, ops[i]) == 0) return !qdq_output_tensor_of(node);
    return false;
}

static void see(search *s, const qdq_node *node) {
    qdq_conv_weights weights = weights_of(s->graph, node);
    size_t takes = weights.shape.rank ? WEIGHTS : SIZE_MAX;
    if (keeps_places(node) && is_weights(s, node->outputs[0]))
        weights = s->found[node->outputs[0]], takes = X;
    for (size_t k = 0; k < node->input_count; k++)
        if (k == takes)
            propose(s, node->inputs[k].id, &weights);
        else
            s->other[node->inputs[k].id] = true;
    s->other[qdq_output_tensor_of(node)] = true;
}

qdq_conv_weights *qdq_conv_weights_make(const qdq_graph *graph, qdq_mempool *mempool) {
    search s = {.graph = graph,
                .found = qdq_mempool_array(mempool, graph->value_count, sizeof *s.found),
                .other = qdq_mempool_array(mempool, graph->value_count, sizeof *s.other)};
    if (!s.found || !s.other) return NULL;
    for (size_t i = graph->node_count; i-- > 0;)
        if (graph->nodes[i].valid) see(&s, &graph->nodes[i]);
    for (uint32_t id = 0; id < graph->value_count; id++)
        if (!is_weights(&s, id)) s.found[id] = (qdq_conv_weights){0};
    return s.found;
}

int qdq_conv_weights_axis(const qdq_conv_weights *weights, int axis) {
    bool none = !weights->shape.rank || axis < 0;
    return none ? axis : axis == weights->outputs;
}
