// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime that fold the successor of a node with float weights into its weights
// and bias: a BatchNormalization, or a Mul or Add of a constant of the channels.
#include <math.h>

#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/reduce.h"

enum { X, W, BIAS };                       // ports of Convolution, ConvTranspose and MatMul
enum { GAMMA = 1, BETA, MEAN, VARIANCE };  // ports of BatchNormInference

static const qdq_type *type_of(const qdq_rewriter *r, uint32_t value) {
    return &r->from->values[value].type;
}

//---- The node before it -----------------------------------------------------

// A node with constant weights, which nothing but the anchor reads.
typedef struct weighted {
    size_t index;
    const qdq_node *node;
    size_t channels;
    size_t inner;    // consecutive weights of one channel
    size_t rows;     // of input channels in a group, each with weights of its output channels
    size_t outputs;  // channels of a group
} weighted;

static int64_t spatial_count(const qdq_shape *w) {
    int64_t count = 1;
    for (int i = 2; i < w->rank; i++) count *= w->dims[i];
    return count;
}

static bool conv_weights(weighted *c, const qdq_shape *w) {
    const qdq_convolution_attrs *a = c->node->attrs;
    if (a->data_format != QDQ_NCX || a->weights_format != QDQ_OIX) return false;
    c->channels = c->outputs = (size_t)w->dims[0];
    c->inner = (size_t)(w->dims[1] * spatial_count(w));
    c->rows = 1;
    return true;
}

static bool transposed_weights(weighted *c, const qdq_shape *w) {
    const qdq_conv_transpose_attrs *a = c->node->attrs;
    int64_t groups = a->groups.set != 0 ? a->groups.value : 1;
    if (a->data_format != QDQ_NCX || a->weights_format != QDQ_IOX) return false;
    c->channels = (size_t)(w->dims[1] * groups);
    c->outputs = (size_t)w->dims[1];
    c->inner = (size_t)spatial_count(w);
    c->rows = (size_t)(w->dims[0] / groups);
    return true;
}

static bool matmul_weights(const qdq_rewriter *r, weighted *c, const qdq_shape *w) {
    const qdq_matmul_attrs *a = c->node->attrs;
    if (w->rank != 2 || type_of(r, c->node->inputs[X].id)->shape.rank != 2 ||
        a->transpose_a == QDQ_TRUE || a->transpose_b == QDQ_TRUE || ort_has_input(c->node, BIAS))
        return false;
    c->channels = c->outputs = (size_t)w->dims[1];
    c->inner = 1;
    c->rows = (size_t)w->dims[0];
    return true;
}

// True if the release folds nodes into the op.
static bool folds_into(const qdq_rewriter *r, size_t node) {
    if (qdq_rewrite_is(r, node, "ConvTranspose"))
        return r->version->release >= QDQ_RUNTIME_FOLDS_TRANSPOSED;
    return !qdq_rewrite_is(r, node, "Convolution") ||
           ort_knows_opset(r, 22, QDQ_RUNTIME_KNOWS_OPSETS);
}

static bool weighted_at(const qdq_rewriter *r, uint32_t y, weighted *c) {
    size_t maker = qdq_rewrite_maker(r, y);
    if (maker == SIZE_MAX || qdq_rewrite_only_reader(r, y) == SIZE_MAX) return false;
    *c = (weighted){.index = maker, .node = &r->from->nodes[maker]};
    if (!ort_has_input(c->node, W) || !ort_is_float_constant(r, c->node->inputs[W].id))
        return false;
    const qdq_shape *w = &type_of(r, c->node->inputs[W].id)->shape;
    bool fits = qdq_rewrite_is(r, maker, "Convolution")     ? conv_weights(c, w)
                : qdq_rewrite_is(r, maker, "ConvTranspose") ? transposed_weights(c, w)
                : qdq_rewrite_is(r, maker, "MatMul")        ? matmul_weights(r, c, w)
                                                            : false;
    return fits && folds_into(r, maker) &&
           (!ort_has_input(c->node, BIAS) || ort_is_float_constant(r, c->node->inputs[BIAS].id));
}

static void replace_both(const qdq_rewriter *r, qdq_match *m, const weighted *c) {
    qdq_match_replaces(r, m, c->index);
    for (size_t i = 0; i < c->node->input_count; i++) qdq_match_reads(r, m, c->node->inputs[i].id);
    qdq_match_makes(r, m, r->from->nodes[m->anchor].outputs[0]);
}

// Adds the node with new weights and a new bias; NULL keeps the old operand.
static void build_folded(qdq_rewriter *r, qdq_match *m, const weighted *c, const float *weights,
                         const float *bias) {
    const char *name = r->from->nodes[m->anchor].name;
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    for (size_t i = 0; i < c->node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, c->node->inputs[i].id);
    if (weights)
        inputs[W] = qdq_rewrite_constant(r, name, "_weights", QDQ_FLOAT32,
                                         type_of(r, c->node->inputs[W].id)->shape, weights);
    if (bias)
        inputs[BIAS] = qdq_rewrite_constant(r, name, "_bias", QDQ_FLOAT32,
                                            (qdq_shape){1, {(int64_t)c->channels}}, bias);
    m->made[0] = qdq_copy_node(r->to, c->node, name, inputs);
}

//---- Numbers ----------------------------------------------------------------

static float *new_floats(const qdq_rewriter *r, size_t count) {
    return qdq_mempool_array(r->mempool, count, sizeof(float));
}

// Returns the weights, each times the number of its output channel; `count` 1: one for all.
static float *times_channels(const qdq_rewriter *r, const weighted *c, const float *by,
                             size_t count) {
    const float *w = qdq_rewrite_data(r, c->node->inputs[W].id);
    size_t all = qdq_shape_count(type_of(r, c->node->inputs[W].id)->shape);
    float *made = new_floats(r, all);
    for (size_t i = 0; made && i < all; i++) {
        size_t unit = i / c->inner, group = unit / c->outputs / c->rows;
        made[i] = w[i] * by[count == 1 ? 0 : group * c->outputs + unit % c->outputs];
    }
    return made;
}

//---- BatchNormalization -----------------------------------------------------

bool ort_is_constant_norm(const qdq_rewriter *r, const qdq_node *norm) {
    const qdq_batch_norm_attrs *a = norm->attrs;
    if (a->data_format != QDQ_NCX && type_of(r, norm->inputs[X].id)->shape.rank != 2) return false;
    for (size_t i = GAMMA; i <= VARIANCE; i++)
        if (!ort_is_float_constant(r, norm->inputs[i].id)) return false;
    return true;
}

bool ort_norm_line(const qdq_rewriter *r, const qdq_node *norm, const float *b, float **scale,
                   float **bias) {
    const qdq_batch_norm_attrs *a = norm->attrs;
    const float *p[VARIANCE + 1], epsilon = (float)a->epsilon.value;
    size_t channels = qdq_shape_count(type_of(r, norm->inputs[GAMMA].id)->shape);
    for (size_t i = GAMMA; i <= VARIANCE; i++) p[i] = qdq_rewrite_data(r, norm->inputs[i].id);
    *scale = new_floats(r, channels), *bias = new_floats(r, channels);
    if (!*scale || !*bias) return false;
    for (size_t i = 0; i < channels; i++) {
        (*scale)[i] = p[GAMMA][i] / sqrtf(p[VARIANCE][i] + epsilon);
        if (b) {
            float centered = b[i] - p[MEAN][i], scaled = centered * (*scale)[i];
            (*bias)[i] = scaled + p[BETA][i];
        } else {
            float mean = p[MEAN][i] * (*scale)[i];
            (*bias)[i] = p[BETA][i] - mean;
        }
    }
    return true;
}

bool ort_match_folded_norm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *norm = &r->from->nodes[m->anchor];
    weighted c;
    if (!weighted_at(r, norm->inputs[X].id, &c) || !ort_is_constant_norm(r, norm)) return false;
    replace_both(r, m, &c);
    return true;
}

void ort_build_folded_norm(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *norm = &r->from->nodes[m->anchor];
    const float *b = NULL;
    float *scale, *bias;
    weighted c;
    if (!weighted_at(r, norm->inputs[X].id, &c)) return;
    if (ort_has_input(c.node, BIAS)) b = qdq_rewrite_data(r, c.node->inputs[BIAS].id);
    if (!ort_norm_line(r, norm, b, &scale, &bias)) return;
    build_folded(r, m, &c, times_channels(r, &c, scale, c.channels), bias);
}

//---- Mul and Add ------------------------------------------------------------

// True if the second operand of a Mul or Add behind a convolution is a float constant: one element
// for each channel ([C, 1, ...], possibly with a dim of 1 before it), or a scalar if `scalar`.
static bool channel_operand(const qdq_rewriter *r, const qdq_match *m, bool scalar, weighted *c) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    if (!weighted_at(r, node->inputs[0].id, c) || !qdq_rewrite_is(r, c->index, "Convolution") ||
        !ort_is_float_constant(r, node->inputs[1].id))
        return false;
    const qdq_shape *k = &type_of(r, node->inputs[1].id)->shape,
                    *y = &type_of(r, node->inputs[0].id)->shape;
    int first = k->rank == y->rank && k->dims[0] == 1;
    if (k->rank == 0) return scalar;
    return k->rank - first == y->rank - 1 && k->dims[first] == (int64_t)c->channels &&
           qdq_shape_count(*k) == c->channels;
}

bool ort_match_folded_mul(const qdq_rewriter *r, qdq_match *m) {
    weighted c;
    if (!channel_operand(r, m, true, &c)) return false;
    replace_both(r, m, &c);
    return true;
}

void ort_build_folded_mul(qdq_rewriter *r, qdq_match *m) {
    uint32_t operand = r->from->nodes[m->anchor].inputs[1].id;
    weighted c;
    if (!channel_operand(r, m, true, &c)) return;
    const float *by = qdq_rewrite_data(r, operand), *b = NULL;
    size_t count = qdq_shape_count(type_of(r, operand)->shape);
    float *bias = NULL;
    if (ort_has_input(c.node, BIAS)) {
        b = qdq_rewrite_data(r, c.node->inputs[BIAS].id);
        bias = new_floats(r, c.channels);
        for (size_t i = 0; bias && i < c.channels; i++) bias[i] = b[i] * by[count == 1 ? 0 : i];
    }
    build_folded(r, m, &c, times_channels(r, &c, by, count), bias);
}

bool ort_match_folded_add(const qdq_rewriter *r, qdq_match *m) {
    weighted c;
    if (!channel_operand(r, m, false, &c)) return false;
    qdq_match_reads(r, m, r->from->nodes[m->anchor].inputs[1].id);
    replace_both(r, m, &c);
    return true;
}

void ort_build_folded_add(qdq_rewriter *r, qdq_match *m) {
    weighted c;
    if (!channel_operand(r, m, false, &c)) return;
    const float *by = qdq_rewrite_data(r, r->from->nodes[m->anchor].inputs[1].id);
    const float *b =
        ort_has_input(c.node, BIAS) ? qdq_rewrite_data(r, c.node->inputs[BIAS].id) : NULL;
    float *bias = new_floats(r, c.channels);
    for (size_t i = 0; bias && i < c.channels; i++) bias[i] = b ? b[i] + by[i] : by[i];
    build_folded(r, m, &c, NULL, bias);
}
