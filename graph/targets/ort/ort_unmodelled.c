// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime's optimizer does and this target does not: each is a warning at the node. These
// patterns never match.
#include <string.h>

#include "graph/targets/ort/ort_groups.h"

enum { X, W };       // ports of Convolution
enum { BLOCK = 8 };  // channels of NCHWc with AVX2, and a divisor of all others
enum { FOUR = 4 };   // divides the output channels that ONNX Runtime takes for NCHWc

static const qdq_graph_value *input_of(const qdq_rewriter *r, const qdq_node *node, size_t port) {
    return &r->from->values[node->inputs[port].id];
}

// The node that makes an input of a node, not looking at Quantize and Dequantize in between.
static size_t maker_before_coders(const qdq_rewriter *r, size_t node) {
    size_t maker = qdq_rewrite_maker(r, r->from->nodes[node].inputs[0].id);
    while (qdq_rewrite_is(r, maker, "Quantize") || qdq_rewrite_is(r, maker, "Dequantize"))
        maker = qdq_rewrite_maker(r, r->from->nodes[maker].inputs[0].id);
    return maker;
}

// Transposes that follow each other become one, or none, and pairs between them are removed.
bool ort_match_transposes(const qdq_rewriter *r, qdq_match *m) {
    if (qdq_rewrite_is(r, maker_before_coders(r, m->anchor), "StaticTranspose"))
        m->found = "follows another Transpose, with which ONNX Runtime merges it";
    return false;
}

// Convolutions of float32 on images with constant weights are computed on blocks of channels. In
// groups of several channels they are if blocks fill them.
bool ort_match_blocked_conv(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    const qdq_graph_value *x = input_of(r, node, X), *w = input_of(r, node, W);
    if (w->kind != QDQ_VALUE_CONSTANT || w->type.dtype != QDQ_FLOAT32 || x->type.shape.rank != 4)
        return false;
    int64_t outputs = w->type.shape.dims[0], inputs = w->type.shape.dims[1];
    int64_t groups = x->type.shape.dims[1] / inputs;
    bool depthwise = inputs == 1 && outputs == groups;
    bool fills = inputs % BLOCK == 0 && outputs / groups % BLOCK == 0;
    if (outputs % FOUR == 0 && (groups == 1 || depthwise || fills))
        m->found = "adds its products in the order of a layout with blocks of channels (NCHWc)";
    return false;
}

// The reader makes a sum of slices of AveragePool with ceil_mode, divided by counts.
bool ort_match_average_pool_ceil(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    size_t maker = qdq_rewrite_maker(r, node->inputs[0].id);
    if (!qdq_rewrite_is(r, maker, "Add")) return false;
    while (qdq_rewrite_is(r, maker, "Add"))
        maker = qdq_rewrite_maker(r, r->from->nodes[maker].inputs[0].id);
    if (!qdq_rewrite_is(r, maker, "Slice")) return false;
    while (qdq_rewrite_is(r, maker, "Slice") || qdq_rewrite_is(r, maker, "Pad"))
        maker = qdq_rewrite_maker(r, r->from->nodes[maker].inputs[0].id);
    qdq_coder y = qdq_coder_behind(r, node->outputs[0]);
    if (qdq_rewrite_is(r, maker, "Dequantize") && y.given)
        m->found = "divides the sums of AveragePool with ceil_mode, for which ONNX Runtime makes "
                   "QLinearAveragePool, whose counts are others";
    return false;
}

// A float bias behind a Gemm with alpha, between quantized activations: the reader makes MatMul,
// Multiply and Add of it.
bool ort_match_scaled_bias(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *add = &r->from->nodes[m->anchor];
    size_t scaled = qdq_rewrite_maker(r, add->inputs[0].id);
    if (!qdq_rewrite_is(r, scaled, "Multiply")) return false;
    const qdq_node *multiply = &r->from->nodes[scaled];
    size_t product = qdq_rewrite_maker(r, multiply->inputs[0].id);
    const qdq_graph_value *alpha = input_of(r, multiply, 1), *bias = input_of(r, add, 1);
    if (!qdq_rewrite_is(r, product, "MatMul") || alpha->kind != QDQ_VALUE_CONSTANT ||
        bias->kind != QDQ_VALUE_CONSTANT || bias->type.dtype != QDQ_FLOAT32)
        return false;
    const qdq_node *matmul = &r->from->nodes[product];
    qdq_coder a = qdq_coder_before(r, matmul->inputs[0].id),
              b = qdq_coder_before(r, matmul->inputs[1].id),
              y = qdq_coder_behind(r, add->outputs[0]);
    if (qdq_shape_count(alpha->type.shape) == 1 && a.given && b.given && y.given)
        m->found = "adds the float bias of a Gemm with alpha, which ONNX Runtime quantizes to int32";
    return false;
}
