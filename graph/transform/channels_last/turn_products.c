// SPDX-License-Identifier: Apache-2.0
// Gives products of matrices weights with a row for each output.
#include "graph/transform/channels_last/turning.h"
#include "include/qdq/ops/products.h"

// Returns the transposed weights.
static qdq_value transposed(qdq_turning *t, uint32_t id, const float *data) {
    qdq_value made = {0};
    const qdq_graph_value *v = &t->from->values[id];
    size_t rows = (size_t)v->type.shape.dims[0], columns = (size_t)v->type.shape.dims[1];
    float *to = qdq_graph_add_constant(t->to, qdq_turning_name(t, v->name, "_turned"), QDQ_FLOAT32,
                                       QDQ_SHAPE((int64_t)columns, (int64_t)rows), &made);
    for (size_t i = 0; to && i < rows * columns; i++)
        to[i % columns * rows + i / columns] = data[i];
    return made;
}

bool qdq_turn_matmul(qdq_turning *t, const qdq_node *node) {
    enum { A, B };
    const qdq_matmul_attrs *given = node->attrs;
    const float *data;
    uint32_t b = node->inputs[B].id;
    if (given->transpose_b == QDQ_TRUE || t->from->values[b].type.shape.rank != 2 ||
        !qdq_turning_constant(t, b, &data))
        return false;
    qdq_matmul_attrs *attrs = qdq_turned_attrs(t, node);
    qdq_value *inputs = qdq_mempool_array(&t->mempool, node->input_count, sizeof *inputs);
    if (!attrs || !inputs) return true;
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = i == B ? transposed(t, b, data) : qdq_plain_value(t, node->inputs[i].id);
    attrs->transpose_b = QDQ_TRUE;
    qdq_add_turned(t, node, attrs, inputs, false);
    return true;
}
