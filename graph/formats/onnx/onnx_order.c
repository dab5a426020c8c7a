// SPDX-License-Identifier: Apache-2.0
// Sorts the nodes of a model so that each follows the nodes it needs. ONNX wants them sorted, but
// tools write other orders, and ONNX Runtime takes them.
#include <string.h>

#include "graph/formats/json/node_order.h"
#include "graph/formats/onnx/onnx_scope.h"

// The nodes of a list by the names of their outputs, and the nodes that they need.
typedef struct sorting {
    qdq_onnx_import *im;
    const qdq_onnx_protos *nodes;
    qdq_symbols *makers;  // name -> index of a node
    ONNX_LIST(uint32_t) needs;
    bool sorted;  // so far
} sorting;

static bool note_makers(sorting *s) {
    for (size_t i = 0; i < s->nodes->count; i++) {
        const qdq_onnx_strings *names = &s->nodes->items[i].outputs;
        for (size_t k = 0; k < names->count; k++) {
            const char *name = names->items[k];
            qdq_error own = {0};
            if (!*name) continue;
            // A name that is given twice is reported where it is added.
            qdq_status status = qdq_symbols_add(s->makers, name, strlen(name), (uint32_t)i, &own);
            if (status != QDQ_OK && status != QDQ_ERR_ARGUMENT)
                return qdq_fail(s->im->err, status, "%s", own.text) == QDQ_OK;
        }
    }
    return true;
}

static bool need(sorting *s, size_t node, const char *name) {
    uint32_t maker;
    if (!qdq_symbols_find(s->makers, name, strlen(name), &maker)) return true;
    uint32_t *needs = qdq_mempool_grow(s->im->mempool, s->needs.items, s->needs.count,
                                       &s->needs.capacity, sizeof *needs);
    if (!needs) return qdq_fail_memory(s->im->err, sizeof *needs) == QDQ_OK;
    s->needs.items = needs;
    needs[s->needs.count++] = maker;
    s->sorted &= maker < node;
    return true;
}

// Notes the makers of a node's inputs, and of the values that its branches read. The decoder bounds
// how deep branches are nested.
static bool need_inputs(sorting *s, size_t node, const qdq_onnx_proto *proto) {
    for (size_t i = 0; i < proto->inputs.count; i++)
        if (!need(s, node, proto->inputs.items[i])) return false;
    for (size_t i = 0; i < proto->attrs.count; i++) {
        const qdq_onnx_graph *branch = proto->attrs.items[i].g;
        for (size_t k = 0; branch && k < branch->nodes.count; k++)
            if (!need_inputs(s, node, &branch->nodes.items[k])) return false;
        for (size_t k = 0; branch && k < branch->outputs.count; k++)
            if (!need(s, node, branch->outputs.items[k].name)) return false;
    }
    return true;
}

static void found_cycle(void *self, const uint32_t *members, size_t count) {
    const sorting *s = self;
    const char *names[QDQ_CYCLE_SHOWN];
    for (size_t i = 0; i < count && i < QDQ_CYCLE_SHOWN; i++) {
        const qdq_onnx_proto *node = &s->nodes->items[members[i]];
        names[i] = *node->name || !node->outputs.count ? node->name : node->outputs.items[0];
    }
    s->im->has_cycle = true;
    qdq_report_cycle(s->im->graph, names, count);
}

static qdq_status reorder(sorting *s, const size_t *start, qdq_onnx_protos *nodes) {
    qdq_mempool *mempool = s->im->mempool;
    uint32_t *order = qdq_mempool_array(mempool, nodes->count, sizeof *order);
    qdq_onnx_proto *sorted = qdq_mempool_array(mempool, nodes->count, sizeof *sorted);
    qdq_needs all = {nodes->count, start, s->needs.items};
    if (!order || !sorted || !qdq_node_order(&all, order, mempool, found_cycle, s))
        return qdq_fail_memory(s->im->err, nodes->count * sizeof *sorted);
    for (size_t i = 0; i < nodes->count; i++) sorted[i] = nodes->items[order[i]];
    nodes->items = sorted;
    nodes->capacity = nodes->count;
    return QDQ_OK;
}

static qdq_status sort_nodes(sorting *s, qdq_onnx_protos *nodes) {
    size_t *start = qdq_mempool_array(s->im->mempool, nodes->count + 1, sizeof *start);
    if (!start) return qdq_fail_memory(s->im->err, nodes->count);
    if (!note_makers(s)) return s->im->err->status;
    for (size_t i = 0; i < nodes->count; i++) {
        if (!need_inputs(s, i, &nodes->items[i])) return s->im->err->status;
        start[i + 1] = s->needs.count;
    }
    return s->sorted ? QDQ_OK : reorder(s, start, nodes);
}

qdq_status qdq_onnx_sort_nodes(qdq_onnx_import *im) {
    qdq_onnx_protos *nodes = &im->model.graph.nodes;
    sorting s = {.im = im, .nodes = nodes, .sorted = true};
    s.makers = qdq_symbols_create(im->graph->allocator, im->err);
    if (!s.makers) return im->err->status;
    qdq_status status = sort_nodes(&s, nodes);
    qdq_symbols_destroy(s.makers);
    return status;
}
