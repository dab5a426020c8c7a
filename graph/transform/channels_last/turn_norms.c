// SPDX-License-Identifier: Apache-2.0
// Folds a BatchNormInference into the convolution before it.
#include <math.h>
#include <string.h>

#include "graph/transform/channels_last/turning.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/reduce.h"

enum { X, GAMMA, BETA, MEAN, VARIANCE, NORM_INPUTS };
enum { W = 1, BIAS };

size_t qdq_folded_norm(const qdq_turning *t, const qdq_node *node) {
    const float *data;
    size_t reader = t->reader[node->outputs[0]];
    if (reader == SIZE_MAX) return SIZE_MAX;
    const qdq_node *norm = &t->from->nodes[reader];
    const qdq_convolution_attrs *conv = node->attrs;
    bool folds = strcmp(norm->op->name, "BatchNormInference") == 0 &&
                 norm->input_count == NORM_INPUTS && norm->inputs[X].id == node->outputs[0] &&
                 conv->weights_format == QDQ_OIX &&
                 ((const qdq_batch_norm_attrs *)norm->attrs)->data_format == conv->data_format &&
                 qdq_turning_constant(t, node->inputs[W].id, &data);
    for (size_t i = GAMMA; folds && i < NORM_INPUTS; i++)
        folds = qdq_turning_constant(t, norm->inputs[i].id, &data);
    uint32_t bias = node->input_count > BIAS ? node->inputs[BIAS].id : 0;
    if (folds && bias) folds = qdq_turning_constant(t, bias, &data);
    return folds ? reader : SIZE_MAX;
}

void qdq_fold_norm(qdq_turning *t, const qdq_node *node, const qdq_node *norm, qdq_value *weights,
                   qdq_value *bias) {
    const float *w, *b = NULL, *of[NORM_INPUTS] = {0};
    qdq_shape shape = qdq_turning_image(t->from->values[node->inputs[W].id].type.shape);
    double epsilon = ((const qdq_batch_norm_attrs *)norm->attrs)->epsilon.value;
    size_t channels = (size_t)shape.dims[0], depth = qdq_shape_count(shape) / channels;
    if (!qdq_turning_constant(t, node->inputs[W].id, &w)) return;
    if (node->input_count > BIAS && node->inputs[BIAS].id)
        (void)qdq_turning_constant(t, node->inputs[BIAS].id, &b);
    for (int i = GAMMA; i < NORM_INPUTS; i++)
        if (!qdq_turning_constant(t, norm->inputs[i].id, &of[i])) return;
    float *w_to = qdq_graph_add_constant(t->to, qdq_turning_name(t, norm->name, "_weights"),
                                         QDQ_FLOAT32, shape, weights);
    float *b_to = qdq_graph_add_constant(t->to, qdq_turning_name(t, norm->name, "_bias"),
                                         QDQ_FLOAT32, (qdq_shape){1, {shape.dims[0]}}, bias);
    for (size_t c = 0; w_to && b_to && c < channels; c++) {
        double by = (double)of[GAMMA][c] / sqrt((double)of[VARIANCE][c] + epsilon);
        double sum = (b ? (double)b[c] : 0) - (double)of[MEAN][c];
        for (size_t i = c * depth; i < (c + 1) * depth; i++) w_to[i] = (float)((double)w[i] * by);
        b_to[c] = (float)(sum * by + (double)of[BETA][c]);
    }
}
