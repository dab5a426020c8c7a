// SPDX-License-Identifier: Apache-2.0
#include "graph/core/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/free_sizes.h"
#include "graph/core/held_constants.h"
#include "graph/core/names.h"

void qdq_copy_own_target(qdq_graph *to, const qdq_graph *from) {
    to->own = from->own;
    to->own_target = qdq_mempool_strdup(&to->mempool, from->own_target);
}

qdq_graph *qdq_copy_empty(const qdq_graph *like) {
    qdq_graph_options options = {.allocator = like->allocator,
                                 .log = like->log,
                                 .limits = like->limits,
                                 .target = like->target};
    qdq_graph *graph = qdq_graph_new(like->name, &options);
    if (graph) qdq_copy_own_target(graph, like);
    if (graph) {
        graph->opset = like->opset;
        graph->open_dims = like->open_dims, graph->unnamed_dims = like->unnamed_dims;
        qdq_copy_free_sizes(graph, like);
    }
    if (graph) graph->file = qdq_mempool_strdup(&graph->mempool, like->file);
    return graph;
}

const char *qdq_copy_name(qdq_mempool *mempool, const qdq_graph *from, const qdq_graph *to,
                          const char *stem, const char *ending) {
    char name[QDQ_MAX_NAME_BYTES + 1];
    for (size_t i = 0;; i++) {
        char number[24] = "";
        if (i) snprintf(number, sizeof number, "_%zu", i);
        int room = QDQ_MAX_NAME_BYTES - (int)strlen(ending) - (int)strlen(number);
        snprintf(name, sizeof name, "%.*s%s%s", room, stem, ending, number);
        if (qdq_graph_name_is_free(to, name) && qdq_graph_name_is_free(from, name))
            return qdq_mempool_strdup(mempool, name);
    }
}

qdq_value qdq_copy_given(qdq_graph *to, const char *name, const qdq_graph_value *from) {
    if (from->stored) return qdq_graph_share_held(to, name, from);
    if (from->kind != QDQ_VALUE_CONSTANT)
        return qdq_input(to, name, from->type.dtype, from->type.shape);
    qdq_value made = qdq_constant(to, name, from->type.dtype, from->type.shape, from->data);
    qdq_graph_value *v = qdq_graph_value_at(to, made);
    if (v && v->data) qdq_copy_free_dims(to, v, from->free_dims);
    return made;
}

qdq_value qdq_copy_node(qdq_graph *to, const qdq_node *node, const char *name,
                        const qdq_value *inputs) {
    const qdq_op *op = node->op;
    size_t single = op->input_count - (op->variadic ? 1 : 0);
    char *attrs = qdq_mempool_copy(&to->mempool, node->attrs, op->attrs_size, 1);
    if (!attrs) return (qdq_value){0};
    if (name) memcpy(attrs, &name, sizeof name);  // every attribute struct begins with the name
    for (size_t i = 0; i < single; i++)
        memcpy(attrs + op->inputs[i].offset, &inputs[i], sizeof inputs[i]);
    if (op->variadic) {
        qdq_values list = {inputs + single, node->input_count - single};
        memcpy(attrs + op->inputs[single].offset, &list, sizeof list);
    }
    for (size_t i = 0; i < op->attr_count; i++)
        if (op->attrs[i].kind == QDQ_ATTR_VALUE)
            memset(attrs + op->attrs[i].offset, 0, sizeof(qdq_value));
    qdq_value made = qdq_graph_add_node(to, op, attrs, op->attrs_size);
    if (!made.id) return made;
    qdq_node *copy = &to->nodes[to->node_count - 1];
    copy->names_dtype = node->names_dtype;
    copy->block_size = node->block_size;
    copy->free_list = qdq_copy_free_list(to, node->free_list);
    copy->expanded = node->expanded;
    copy->inferred |= node->inferred;
    copy->dtype_filled |= node->dtype_filled;
    copy->dtype_kept |= node->dtype_kept;
    if (node->part_of) copy->part_of = qdq_mempool_strdup(&to->mempool, node->part_of);
    if (node->original_op) copy->original_op = qdq_mempool_strdup(&to->mempool, node->original_op);
    return made;
}

bool qdq_copy_whole_node(qdq_graph *to, const qdq_node *node, const qdq_value *inputs,
                         qdq_value *copies) {
    if (!qdq_copy_node(to, node, NULL, inputs).id) return false;
    size_t last = to->node_count - 1;
    if (node->original) qdq_graph_set_node_original(to, last, node->original);
    for (size_t i = 0; i < node->output_count; i++)
        copies[node->outputs[i]] = (qdq_value){to->nodes[last].outputs[i]};
    return true;
}

typedef struct numbered_read {
    uint32_t id;
    size_t input;
} numbered_read;

static int compare_reads(const void *a, const void *b) {
    const numbered_read *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->input < y->input ? -1 : x->input > y->input;
}

size_t *qdq_first_reads(qdq_mempool *mempool, const qdq_node *node) {
    numbered_read *reads = qdq_mempool_array(mempool, node->input_count, sizeof *reads);
    size_t *first = qdq_mempool_array(mempool, node->input_count, sizeof *first);
    if (!reads || !first) return NULL;
    for (size_t i = 0; i < node->input_count; i++)
        reads[i] = (numbered_read){node->inputs[i].id, i};
    qsort(reads, node->input_count, sizeof *reads, compare_reads);
    for (size_t i = 0, begin = 0; i < node->input_count; i++) {
        if (reads[i].id != reads[begin].id) begin = i;
        first[reads[i].input] = reads[begin].input;
    }
    return first;
}
