// SPDX-License-Identifier: Apache-2.0
// Names of a model in its graph. Values of the main graph keep theirs; a name that graphs do not
// allow is replaced, and the graph remembers the original.
#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/onnx/onnx_import.h"

static bool is_claimed(const qdq_onnx_import *im, const char *name) {
    return qdq_symbols_find(im->claimed, name, strlen(name), NULL);
}

// Numbers `name` until nobody has it. No number is tried twice, so a file of names that collide
// takes linear time.
static const char *numbered(qdq_onnx_import *im, char *name) {
    size_t length = name ? strlen(name) : 0;
    while (name && (is_claimed(im, name) || !qdq_graph_name_is_free(im->graph, name)))
        snprintf(name + length, 24, "~%u", ++im->renamed);
    return name;
}

//---- The main graph ---------------------------------------------------------

static qdq_status claim(const qdq_onnx_import *im, const char *name, uint32_t other) {
    qdq_error own = {0};
    qdq_status status = qdq_symbols_add(im->claimed, name, strlen(name), other, &own);
    if (status == QDQ_OK || status == QDQ_ERR_ARGUMENT) return QDQ_OK;
    return qdq_fail(im->err, status, "%s", own.text);
}

// Calls `visit` with each name of a value of the main graph.
static qdq_status each_name(qdq_onnx_import *im,
                            qdq_status (*visit)(qdq_onnx_import *im, const char *name)) {
    const qdq_onnx_graph *graph = &im->model.graph;
    for (size_t i = 0; i < graph->inputs.count; i++)
        QDQ_TRY(visit(im, graph->inputs.items[i].name));
    for (size_t i = 0; i < graph->initializers.count; i++)
        QDQ_TRY(visit(im, graph->initializers.items[i].name));
    for (size_t i = 0; i < graph->nodes.count; i++)
        for (size_t k = 0; k < graph->nodes.items[i].outputs.count; k++)
            QDQ_TRY(visit(im, graph->nodes.items[i].outputs.items[k]));
    return QDQ_OK;
}

// Returns the dot of a name that may stand for an output of a node, "node.port"; else NULL. The
// first output has the name of the node.
static const char *dot_before_port(const char *name) {
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < qdq_op_count(); i++)
        for (size_t k = 1; k < qdq_op_get(i).output_count; k++)
            if (strcmp(qdq_op_output(i, k).name, dot + 1) == 0) return dot;
    return NULL;
}

// Claims legal names first, so that no replacement equals one of them. Names that may stand for an
// output of a node come after the other legal names.
static qdq_status claim_legal(qdq_onnx_import *im, const char *name) {
    return qdq_graph_name_is_legal(name) ? claim(im, name, 0) : QDQ_OK;
}

static qdq_status claim_plain(qdq_onnx_import *im, const char *name) {
    return dot_before_port(name) ? QDQ_OK : claim_legal(im, name);
}

// Claims names of further outputs that are named after the node's first output: they name the same
// output in the graph.
static qdq_status claim_own_outputs(qdq_onnx_import *im) {
    for (size_t i = 0; i < im->model.graph.nodes.count; i++) {
        const qdq_onnx_strings *outputs = &im->model.graph.nodes.items[i].outputs;
        for (size_t k = 1; k < outputs->count; k++) {
            const char *name = outputs->items[k], *dot = dot_before_port(name);
            size_t length = strlen(outputs->items[0]);
            if (dot && length == (size_t)(dot - name) && !memcmp(name, outputs->items[0], length))
                QDQ_TRY(claim_legal(im, name));
        }
    }
    return QDQ_OK;
}

static qdq_status claim_dotted(qdq_onnx_import *im, const char *name) {
    const char *dot = qdq_graph_name_is_legal(name) ? dot_before_port(name) : NULL;
    bool of_node = dot && qdq_symbols_find(im->claimed, name, (size_t)(dot - name), NULL);
    return dot && !of_node ? claim(im, name, 0) : QDQ_OK;
}

static qdq_status replace_others(qdq_onnx_import *im, const char *name) {
    if (!*name || is_claimed(im, name)) return QDQ_OK;
    const char **all = qdq_mempool_grow(im->mempool, im->others.items, im->others.count,
                                        &im->others.capacity, sizeof *all);
    if (!all) return qdq_fail_memory(im->err, sizeof *all);
    im->others.items = all;
    char *legal = qdq_graph_legal_name(im->mempool, name);
    if (!legal) return qdq_fail_memory(im->err, 1);
    if (strcmp(legal, name) == 0) snprintf(legal + strlen(legal), 16, "~%u", ++im->renamed);
    const char *other = numbered(im, legal);
    all[im->others.count++] = other;
    QDQ_TRY(claim(im, name, (uint32_t)im->others.count));
    return claim(im, other, 0);
}

qdq_status qdq_onnx_claim_names(qdq_onnx_import *im) {
    QDQ_TRY(each_name(im, claim_plain));
    QDQ_TRY(claim_own_outputs(im));
    QDQ_TRY(each_name(im, claim_dotted));
    return each_name(im, replace_others);
}

const char *qdq_onnx_graph_name(const qdq_onnx_import *im, const char *name) {
    uint32_t other = 0;
    if (!qdq_symbols_find(im->claimed, name, strlen(name), &other) || !other) return name;
    return im->others.items[other - 1];
}

bool qdq_onnx_is_name(const qdq_onnx_import *im, const char *name, const char *given) {
    return strcmp(name, given) == 0 || strcmp(qdq_onnx_graph_name(im, name), given) == 0;
}

//---- Other values -----------------------------------------------------------

const char *qdq_onnx_free_name(qdq_onnx_import *im, const char *wanted, bool own) {
    const char *name = own ? qdq_onnx_graph_name(im, wanted) : wanted;
    if (qdq_graph_name_is_legal(name) && qdq_graph_name_is_free(im->graph, name) &&
        (own || !is_claimed(im, name)))
        return name;
    return numbered(im, qdq_graph_legal_name(im->mempool, wanted));
}

void qdq_onnx_note_original(const qdq_onnx_import *im, const qdq_onnx_value *value) {
    if (!value->own || !value->ref.id || im->graph->mempool.failed) return;
    const qdq_graph_value *v = &im->graph->values[value->ref.id];
    const char *name = qdq_onnx_graph_name(im, value->name);
    bool replaced = name != value->name && v->name && strcmp(v->name, name) == 0;
    bool further = v->kind == QDQ_VALUE_MADE && v->port > 0;  // its name is "node.port"
    if (!v->original && (replaced || further))
        qdq_graph_set_original(im->graph, value->ref, value->name);
}
