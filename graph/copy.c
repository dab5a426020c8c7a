// SPDX-License-Identifier: Apache-2.0
#include "graph/copy.h"

#include <string.h>

#include "graph/tensor_file/held_constants.h"

qdq_value qdq_copy_given(qdq_graph *to, const char *name, const qdq_graph_value *from) {
    if (from->stored) return qdq_graph_share_held(to, name, from);
    if (from->kind == QDQ_VALUE_CONSTANT)
        return qdq_constant(to, name, from->type.dtype, from->type.shape, from->data);
    return qdq_input(to, name, from->type.dtype, from->type.shape);
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
    return qdq_graph_add_node(to, op, attrs, op->attrs_size);
}
