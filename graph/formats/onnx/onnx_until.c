// SPDX-License-Identifier: Apache-2.0
// Ends a model at a node, for models whose later nodes are refused: a walk from the node to the
// inputs marks the nodes and inputs that it needs.
#include "graph/formats/onnx/onnx_until.h"

#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "runtime/base/error.h"

// The names of the values that are needed.
typedef struct needs {
    qdq_onnx_import *im;
    qdq_symbols *names;
} needs;

static qdq_status need(const needs *n, const char *name) {
    qdq_error own = {0};
    qdq_status status = qdq_symbols_add(n->names, name, strlen(name), 0, &own);
    if (status == QDQ_OK || status == QDQ_ERR_ARGUMENT) return QDQ_OK;  // or it is there
    return qdq_fail(n->im->err, status, "%s", own.text);
}

static bool is_needed(const needs *n, const char *name) {
    return *name && qdq_symbols_find(n->names, name, strlen(name), NULL);
}

static qdq_status need_graph(const needs *n, const qdq_onnx_graph *graph);

// Marks all that a node reads, in its branches too.
static qdq_status need_inputs(const needs *n, const qdq_onnx_proto *node) {
    for (size_t i = 0; i < node->inputs.count; i++) QDQ_TRY(need(n, node->inputs.items[i]));
    for (size_t i = 0; i < node->attrs.count; i++)
        if (node->attrs.items[i].g) QDQ_TRY(need_graph(n, node->attrs.items[i].g));
    return QDQ_OK;
}

static qdq_status need_graph(const needs *n, const qdq_onnx_graph *graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) QDQ_TRY(need_inputs(n, &graph->nodes.items[i]));
    for (size_t i = 0; i < graph->outputs.count; i++)
        QDQ_TRY(need(n, graph->outputs.items[i].name));
    return QDQ_OK;
}

// True if `name` is the name of the node or of one of its outputs.
static bool is_called(const qdq_onnx_import *im, const qdq_onnx_proto *node, const char *name) {
    if (strcmp(node->name, name) == 0) return true;
    for (size_t i = 0; i < node->outputs.count; i++)
        if (qdq_onnx_is_name(im, node->outputs.items[i], name)) return true;
    return false;
}

static bool makes_needed(const needs *n, const qdq_onnx_proto *node) {
    for (size_t i = 0; i < node->outputs.count; i++)
        if (is_needed(n, node->outputs.items[i])) return true;
    return false;
}

// Moves the nodes that are needed to the front of the list.
static qdq_status keep_needed(const needs *n, qdq_onnx_protos *nodes, size_t last) {
    bool *kept = qdq_mempool_array(n->im->mempool, last + 1, sizeof *kept);
    if (!kept) return qdq_fail_memory(n->im->err, last + 1);
    for (size_t i = last + 1; i-- > 0;) {
        kept[i] = i == last || makes_needed(n, &nodes->items[i]);
        if (kept[i]) QDQ_TRY(need_inputs(n, &nodes->items[i]));
    }
    nodes->count = 0;
    for (size_t i = 0; i <= last; i++)
        if (kept[i]) nodes->items[nodes->count++] = nodes->items[i];
    return QDQ_OK;
}

static qdq_status end_at(const needs *n, size_t last) {
    qdq_onnx_graph *graph = &n->im->model.graph;
    const qdq_onnx_strings results = graph->nodes.items[last].outputs;
    qdq_onnx_info *outputs = qdq_mempool_array(n->im->mempool, results.count, sizeof *outputs);
    if (!outputs) return qdq_fail_memory(n->im->err, results.count * sizeof *outputs);
    graph->outputs.items = outputs, graph->outputs.count = 0;
    for (size_t i = 0; i < results.count; i++)
        if (*results.items[i]) outputs[graph->outputs.count++].name = results.items[i];
    QDQ_TRY(keep_needed(n, &graph->nodes, last));
    for (size_t i = 0; i < graph->inputs.count; i++)
        graph->inputs.items[i].left_out = !is_needed(n, graph->inputs.items[i].name);
    return QDQ_OK;
}

// Reports that no node has the name, with the nearest name of a node or of a value.
static qdq_status refuse_name(const qdq_onnx_import *im, const char *name) {
    const qdq_onnx_protos *nodes = &im->model.graph.nodes;
    size_t most = nodes->count, count = 0;
    for (size_t i = 0; i < nodes->count; i++) most += nodes->items[i].outputs.count;
    const char **names = qdq_mempool_array(im->mempool, most, sizeof *names);
    for (size_t i = 0; names && i < nodes->count; i++) {
        const qdq_onnx_proto *node = &nodes->items[i];
        if (*node->name) names[count++] = node->name;
        for (size_t k = 0; k < node->outputs.count; k++)
            if (*node->outputs.items[k]) names[count++] = node->outputs.items[k];
    }
    const char *nearest = names ? qdq_did_you_mean(name, names, count) : NULL;
    return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                    "the model is to end at '%.200s', which is no node and no result of one%s"
                    "%.200s%s",
                    name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "");
}

qdq_status qdq_onnx_end_at(qdq_onnx_import *im, const char *name) {
    const qdq_onnx_protos *nodes = &im->model.graph.nodes;
    size_t last = 0;
    while (last < nodes->count && !is_called(im, &nodes->items[last], name)) last++;
    if (last == nodes->count) return refuse_name(im, name);
    needs n = {im, qdq_symbols_create(im->graph->allocator, im->err)};
    if (!n.names) return im->err->status;
    qdq_status status = end_at(&n, last);
    qdq_symbols_destroy(n.names);
    return status;
}
