// SPDX-License-Identifier: Apache-2.0
// Turns the images of a graph, node by node. Other nodes read values in the order of the graph.
#include <string.h>

#include "graph/compile/validate.h"
#include "graph/core/copy.h"
#include "graph/core/names.h"
#include "graph/transform/channels_last/turning.h"
#include "include/qdq/coding.h"
#include "runtime/base/fp_environment.h"

typedef struct turn_row {
    const char *op;
    qdq_turn_node *turn;
} turn_row;

static const turn_row rows[] = {
    {"Convolution", qdq_turn_convolution},
    {"MaxPool", qdq_turn_pool},
    {"AvgPool", qdq_turn_pool},
    {"Interpolate", qdq_turn_interpolate},
    {"Concat", qdq_turn_concat},
    {"Slice", qdq_turn_slice},
    {"Pad", qdq_turn_pad},
    {"ReduceMean", qdq_turn_mean},
    {"SoftMax", qdq_turn_softmax},
    {"Gather", qdq_turn_gather},
    {"StaticTranspose", qdq_turn_transpose},
    {"StaticReshape", qdq_turn_reshape},
    {"MatMul", qdq_turn_matmul},
    {"Divide", qdq_turn_divide},
    {"BatchNormInference", qdq_turn_batch_norm},
    {"HardSigmoid", qdq_turn_hard_sigmoid},
};

// Forgets the ops of an ONNX model that nodes were: targets and writers of TensorFlow Lite tell
// operators apart by them.
static void forget_ops(const qdq_turning *t) {
    for (size_t i = 0; t->from->opset && i < t->to->node_count; i++)
        t->to->nodes[i].original_op = NULL;
}

// Copies a node as it is.
static void copy_node(qdq_turning *t, const qdq_node *node) {
    qdq_value *inputs = qdq_mempool_array(&t->mempool, node->input_count, sizeof *inputs);
    for (size_t i = 0; inputs && i < node->input_count; i++)
        inputs[i] = qdq_plain_value(t, node->inputs[i].id);
    if (inputs) (void)qdq_copy_whole_node(t->to, node, inputs, t->plain);
}

static void turn(qdq_turning *t, const qdq_node *node) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].op, node->op->name) == 0 && rows[i].turn(t, node)) return;
    if (!qdq_turn_elements(t, node)) copy_node(t, node);
}

static void find_readers(qdq_turning *t) {
    const qdq_graph *g = t->from;
    for (uint32_t id = 0; id < g->value_count; id++) t->reader[id] = SIZE_MAX;
    for (size_t n = 0; n < g->node_count; n++)
        for (size_t i = 0; i < g->nodes[n].input_count; i++) {
            const qdq_graph_value *v = &g->values[g->nodes[n].inputs[i].id];
            if (v->uses == 1 && !v->returned) t->reader[g->nodes[n].inputs[i].id] = n;
        }
}

static qdq_status turn_all(qdq_turning *t, qdq_error *err) {
    const qdq_graph *g = t->from;
    t->plain = qdq_mempool_array(&t->mempool, g->value_count, sizeof *t->plain);
    t->turned = qdq_mempool_array(&t->mempool, g->value_count, sizeof *t->turned);
    t->reader = qdq_mempool_array(&t->mempool, g->value_count, sizeof *t->reader);
    t->gone = qdq_mempool_array(&t->mempool, g->node_count + 1, sizeof *t->gone);
    t->folded = qdq_mempool_array(&t->mempool, g->node_count + 1, sizeof *t->folded);
    t->to = qdq_copy_empty(g);
    if (t->mempool.failed || !t->to)
        return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while turning the graph");
    t->to->free_size_count = 0;  // new shapes have the sizes of the graph
    find_readers(t);
    for (uint32_t id = 1; id < g->value_count; id++)
        if (g->values[id].kind == QDQ_VALUE_INPUT) (void)qdq_plain_value(t, id);
    for (size_t i = 0; i < g->node_count; i++)
        if (!t->gone[i]) turn(t, &g->nodes[i]);
    for (size_t i = 0; i < g->output_count; i++) {
        const qdq_graph_output *out = &g->outputs[i];
        qdq_output(t->to, out->name, qdq_plain_value(t, out->value.id));
        if (out->original) qdq_graph_set_output_original(t->to, i, out->original);
    }
    forget_ops(t);
    if (t->to->broken.status) return qdq_fail(err, t->to->broken.status, "%s", t->to->broken.text);
    if (t->to->findings.errors)
        return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "images cannot be turned: %s",
                        t->to->findings.items[0].message);
    if (t->mempool.failed || t->to->mempool.failed)
        return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while turning the graph");
    return QDQ_OK;
}

qdq_graph *qdq_graph_channels_last(qdq_graph *graph, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version core;
    qdq_error own = {0};
    qdq_turning t = {.from = graph};
    if (!err) err = &own;
    if (!qdq_target_version_find("core", &core, err) ||
        qdq_graph_check(graph, &core, NULL, err) != QDQ_OK)
        return NULL;
    qdq_mempool_init(&t.mempool, graph->allocator);
    qdq_status status = turn_all(&t, err);
    qdq_mempool_release(&t.mempool);
    if (status == QDQ_OK) return t.to;
    qdq_graph_destroy(t.to);
    return NULL;
}
