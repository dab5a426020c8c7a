// SPDX-License-Identifier: Apache-2.0
#include "graph/core/output_tensor.h"

static qdq_value *find(const qdq_node *node, const char **name) {
    for (size_t i = 0; i < node->op->attr_count; i++) {
        const qdq_attr_desc *attr = &node->op->attrs[i];
        if (attr->kind != QDQ_ATTR_VALUE) continue;
        *name = attr->name;
        return (void *)((char *)node->attrs + attr->offset);
    }
    return NULL;
}

uint32_t qdq_output_tensor_of(const qdq_node *node) {
    const char *name;
    const qdq_value *value = find(node, &name);
    return value ? value->id : 0;
}

void qdq_graph_connect_output_tensor(qdq_graph *graph, qdq_node *node) {
    const char *name;
    qdq_value *value = find(node, &name);
    if (!value || !value->id) return;
    if (value->id < graph->value_count) {
        graph->has_output_tensors = true;
        qdq_graph_note_use(graph, *value);
        return;
    }
    qdq_graph_report_core(graph, QDQ_RULE_VALUE_UNKNOWN,
                          (qdq_subject){node->name, node->op->name, name, NULL},
                          "is a value of another graph", "one of this graph");
    *value = (qdq_value){0};
}
