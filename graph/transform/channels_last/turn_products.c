// SPDX-License-Identifier: Apache-2.0
// Gives products of matrices weights with a row for each output, and folds a BatchNormInference
// into the product behind it.
#include <math.h>
#include <string.h>

#include "graph/transform/channels_last/turning.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/reduce.h"

enum { A, B, BIAS };
enum { X, GAMMA, BETA, MEAN, VARIANCE, NORM_INPUTS };

// True if the weights of a product of rows and matrices are a float32 constant.
static bool has_weights(const qdq_turning *t, const qdq_node *node, const float **data) {
    const qdq_matmul_attrs *given = node->attrs;
    return t->from->values[node->inputs[B].id].type.shape.rank == 2 &&
           given->transpose_a != QDQ_TRUE && qdq_turning_constant(t, node->inputs[B].id, data);
}

bool qdq_norm_meets_product(const qdq_turning *t, const qdq_node *norm) {
    const float *data;
    size_t reader = t->reader[norm->outputs[0]];
    if (reader == SIZE_MAX || t->from->values[norm->inputs[X].id].type.shape.rank != 2)
        return false;
    const qdq_node *node = &t->from->nodes[reader];
    uint32_t bias = node->input_count > BIAS ? node->inputs[BIAS].id : 0;
    return strcmp(node->op->name, "MatMul") == 0 && node->inputs[A].id == norm->outputs[0] &&
           has_weights(t, node, &data) &&
           (!bias ||
            (qdq_turning_constant(t, bias, &data) && t->from->values[bias].type.shape.rank == 1));
}

// Returns the norm that is folded into a product; NULL: none.
static const qdq_node *norm_before(const qdq_turning *t, const qdq_node *node) {
    const qdq_graph_value *a = &t->from->values[node->inputs[A].id];
    const qdq_node *norm = a->kind == QDQ_VALUE_MADE ? &t->from->nodes[a->node] : NULL;
    return norm && t->folded[a->node] ? norm : NULL;
}

// The weights of a product as [outputs, inputs], and its bias.
typedef struct product {
    float *w, *b;
    size_t outputs, inputs;
} product;

// Multiplies the weights of each input by its factor, and adds its offset to the bias.
static void fold(const qdq_turning *t, const qdq_node *norm, const product *p) {
    const float *of[NORM_INPUTS] = {0};
    double epsilon = ((const qdq_batch_norm_attrs *)norm->attrs)->epsilon.value;
    for (int i = GAMMA; i < NORM_INPUTS; i++)
        if (!qdq_turning_constant(t, norm->inputs[i].id, &of[i])) return;
    for (size_t o = 0; o < p->outputs; o++) {
        double sum = (double)p->b[o];
        for (size_t i = 0; i < p->inputs; i++) {
            float *w = &p->w[o * p->inputs + i];
            double factor = (double)of[GAMMA][i] / sqrt((double)of[VARIANCE][i] + epsilon);
            sum += (double)*w * ((double)of[BETA][i] - factor * (double)of[MEAN][i]);
            *w = (float)((double)*w * factor);
        }
        p->b[o] = (float)sum;
    }
}

// Adds the weights as [outputs, inputs], with a norm folded into them and the bias.
static void add_weights(qdq_turning *t, const qdq_node *node, const float *data,
                        const qdq_node *norm, qdq_value *inputs) {
    const qdq_graph_value *v = &t->from->values[node->inputs[B].id];
    bool rows = ((const qdq_matmul_attrs *)node->attrs)->transpose_b == QDQ_TRUE;
    product p = {.outputs = (size_t)v->type.shape.dims[!rows],
                 .inputs = (size_t)v->type.shape.dims[rows]};
    qdq_shape shape = {2, {(int64_t)p.outputs, (int64_t)p.inputs}};
    p.w = qdq_graph_add_constant(t->to, qdq_turning_name(t, v->name, "_turned"), QDQ_FLOAT32, shape,
                                 &inputs[B]);
    for (size_t i = 0; p.w && i < p.outputs * p.inputs; i++)
        p.w[rows ? i : i % p.outputs * p.inputs + i / p.outputs] = data[i];
    if (!p.w || !norm) return;
    const float *bias = NULL;
    if (node->input_count > BIAS && node->inputs[BIAS].id)
        (void)qdq_turning_constant(t, node->inputs[BIAS].id, &bias);
    p.b = qdq_graph_add_constant(t->to, qdq_turning_name(t, node->name, "_bias"), QDQ_FLOAT32,
                                 (qdq_shape){1, {shape.dims[0]}}, &inputs[BIAS]);
    for (size_t o = 0; p.b && bias && o < p.outputs; o++) p.b[o] = bias[o];
    if (p.b) fold(t, norm, &p);
}

bool qdq_turn_matmul(qdq_turning *t, const qdq_node *node) {
    const qdq_matmul_attrs *given = node->attrs;
    const qdq_node *norm = norm_before(t, node);
    const float *data;
    if (!has_weights(t, node, &data)) return false;
    qdq_matmul_attrs *attrs = qdq_turned_attrs(t, node);
    qdq_value inputs[BIAS + 1] = {{0}};
    if (!attrs || node->input_count > BIAS + 1) return !attrs;
    inputs[A] = qdq_plain_value(t, node->inputs[A].id);
    if (!norm && node->input_count > BIAS) inputs[BIAS] = qdq_plain_value(t, node->inputs[BIAS].id);
    if (given->transpose_b == QDQ_TRUE && !norm)
        inputs[B] = qdq_plain_value(t, node->inputs[B].id);
    else
        add_weights(t, node, data, norm, inputs);
    attrs->transpose_a = QDQ_UNSET, attrs->transpose_b = QDQ_TRUE;
    qdq_add_turned(t, node, attrs, inputs, false);
    return true;
}
