// SPDX-License-Identifier: Apache-2.0
// Rewrites of ONNX Runtime's optimizer that this target does not model: each is a warning at the
// node. These patterns never match.
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/spatial.h"

enum { BLOCK = 8 };  // channels of NCHWc with AVX2, and which divides all others

static const qdq_type *type_of(const qdq_rewriter *r, uint32_t value) {
    return &r->from->values[value].type;
}

static bool is_coder(const qdq_rewriter *r, size_t node) {
    return qdq_rewrite_is(r, node, "Quantize") || qdq_rewrite_is(r, node, "Dequantize");
}

// True if a node computes each element from the element in its place, and from constants.
static bool is_elementwise(const qdq_rewriter *r, size_t node) {
    if (node == SIZE_MAX) return false;
    const qdq_node *n = &r->from->nodes[node];
    for (size_t i = 1; i < n->input_count; i++)
        if (n->inputs[i].id && !ort_is_constant(r, n->inputs[i].id)) return false;
    return n->input_count && n->output_count == 1 &&
           qdq_shape_equal(type_of(r, n->inputs[0].id)->shape, type_of(r, n->outputs[0])->shape);
}

// Finds transposes that follow each other: they become one, or none, and pairs between them are
// removed. Others are moved through the nodes between them first.
bool ort_match_transposes(const qdq_rewriter *r, qdq_match *m) {
    if (r->from->values[r->from->nodes[m->anchor].outputs[0]].constant) return false;  // is folded
    size_t maker = qdq_rewrite_maker(r, r->from->nodes[m->anchor].inputs[0].id);
    while (!qdq_rewrite_is(r, maker, "StaticTranspose") &&
           (is_coder(r, maker) || is_elementwise(r, maker)))
        maker = qdq_rewrite_maker(r, r->from->nodes[maker].inputs[0].id);
    if (qdq_rewrite_is(r, maker, "StaticTranspose"))
        m->found = "follows another Transpose, with which ONNX Runtime merges it";
    return false;
}

// Finds nodes that the reader adds for ops whose kernels have other formulas.
bool ort_match_other_bits(const qdq_rewriter *r, qdq_match *m) {
    static const char *const ops[] = {"DynamicQuantizeLSTM",
                                      "RNN",
                                      "Softsign",
                                      "Mean",
                                      "LpNormalization",
                                      "MeanVarianceNormalization",
                                      "ReduceLogSum",
                                      "ReduceLogSumExp"};
    const qdq_node *node = &r->from->nodes[m->anchor];
    const qdq_type *x = type_of(r, node->inputs[0].id);
    if (x->dtype != QDQ_FLOAT32) return false;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (ort_was(node, ops[i]))
            m->found = "is part of an op that has another formula in ONNX Runtime";
    return false;
}

// True if several nodes read the dequantized result of a node: the reader turns Split into slices,
// which count as one reader.
static bool is_split(const qdq_rewriter *r, size_t node) {
    qdq_coder y = qdq_coder_behind(r, r->from->nodes[node].outputs[0]);
    qdq_coder dq = qdq_coder_of(r, qdq_rewrite_only_reader(r, y.codes), "Dequantize");
    return dq.given && qdq_rewrite_reader_count(r, dq.reals) > 1;
}

// Finds older ops that take codes only later: ReduceMax and ReduceMin from opset 12 on, and the
// kernel of DepthToSpace from opset 11 on. ONNX Runtime moves codes through the older ops too.
bool ort_match_old_move(const qdq_rewriter *r, qdq_match *m) {
    int64_t opset = qdq_rewrite_is(r, m->anchor, "DepthToSpace") ? 11 : 12;
    if (opset == 11 && r->version->release < QDQ_RUNTIME_MOVES_DEPTH) return false;
    if (!ort_is_older(r, opset) || !ort_match_moved(r, m) || is_split(r, m->anchor)) return false;
    m->found = opset == 11 ? "is computed on codes, for which there is a kernel from opset 11 on; "
                             "ONNX Runtime refuses the model"
                           : "is computed on codes, which the op takes from opset 12 on; ONNX "
                             "Runtime refuses the model";
    return false;
}

// Returns the distance between neighbouring elements of the window in a sum of slices divided by
// counts, into which the reader turns AveragePool with ceil_mode or dilations; the greatest of all
// dims. 0: the node divides no sum of slices, or the sum does not lead from codes to codes.
static int64_t distance_of_sum(const qdq_rewriter *r, size_t anchor) {
    int64_t least[QDQ_MAX_RANK] = {0}, most = 1;
    size_t maker = qdq_rewrite_maker(r, r->from->nodes[anchor].inputs[0].id);
    const qdq_slice_attrs *first = NULL, *next;
    if (!qdq_rewrite_is(r, maker, "Add")) return 0;
    while (qdq_rewrite_is(r, maker, "Add"))
        maker = qdq_rewrite_maker(r, r->from->nodes[maker].inputs[0].id);
    if (!qdq_rewrite_is(r, maker, "Slice")) return 0;
    first = r->from->nodes[maker].attrs;
    for (size_t add = qdq_rewrite_maker(r, r->from->nodes[anchor].inputs[0].id); add != maker;
         add = qdq_rewrite_maker(r, r->from->nodes[add].inputs[0].id)) {
        size_t slice = qdq_rewrite_maker(r, r->from->nodes[add].inputs[1].id);
        if (!qdq_rewrite_is(r, slice, "Slice")) return 0;
        next = r->from->nodes[slice].attrs;
        for (size_t i = 0; i < next->starts.count && i < first->starts.count; i++) {
            int64_t distance = next->starts.data[i] - first->starts.data[i];
            if (distance > 0 && (!least[i] || distance < least[i])) least[i] = distance;
        }
    }
    while (qdq_rewrite_is(r, maker, "Slice") || qdq_rewrite_is(r, maker, "Pad") ||
           qdq_rewrite_is(r, maker, "Add"))
        maker = qdq_rewrite_maker(r, r->from->nodes[maker].inputs[0].id);
    ort_unit unit = {0};
    ort_unit_ends(r, anchor, &unit);
    if (!qdq_rewrite_is(r, maker, "Dequantize") || !unit.qdq.y.given) return 0;
    for (int i = 0; i < QDQ_MAX_RANK; i++) most = least[i] > most ? least[i] : most;
    return most;
}

bool ort_match_average_pool_ceil(const qdq_rewriter *r, qdq_match *m) {
    if (distance_of_sum(r, m->anchor) == 1)
        m->found = "divides the sums of AveragePool with ceil_mode, for which ONNX Runtime makes "
                   "QLinearAveragePool, whose counts are others";
    return false;
}

bool ort_match_dilated_pool(const qdq_rewriter *r, qdq_match *m) {
    if (distance_of_sum(r, m->anchor) > 1)
        m->found = "divides the sums of AveragePool with dilations, which QLinearAveragePool does "
                   "not have; ONNX Runtime refuses the model";
    return false;
}

static bool is_resize(const qdq_rewriter *r, size_t node) {
    return qdq_rewrite_is(r, node, "Interpolate") ||
           (node != SIZE_MAX && ort_was(&r->from->nodes[node], "Resize"));
}

// Returns the producer of the value that a Resize reads, for the last of its nodes.
static size_t before_resize(const qdq_rewriter *r, size_t node) {
    while (is_resize(r, node)) node = qdq_rewrite_maker(r, r->from->nodes[node].inputs[0].id);
    return node;
}

static bool is_nearest(const qdq_rewriter *r, size_t node) {
    const qdq_interpolate_attrs *a = r->from->nodes[node].attrs;
    return qdq_rewrite_is(r, node, "Interpolate") && a->mode.value == QDQ_NEAREST;
}

// Finds the Quantize of a Resize between elements that older releases compute on codes, because the
// Dequantize before it has equal parameters.
bool ort_match_resized_codes(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    size_t last = q.given ? qdq_rewrite_maker(r, q.reals) : SIZE_MAX;
    if (r->version->release >= QDQ_RUNTIME_RESIZES_FLOATS || !is_resize(r, last) ||
        is_nearest(r, last))
        return false;
    qdq_coder x = qdq_coder_of(r, before_resize(r, last), "Dequantize");
    if (x.given && qdq_coders_equal(r, &x, &q))
        m->found = "follows a Resize of codes with its parameters, which ONNX Runtime before 1.27 "
                   "computes on codes";
    return false;
}

// Finds a product times a number, plus a bias, into which the reader splits a Gemm with alpha.
// Between quantized activations ONNX Runtime quantizes a float bias; otherwise Gemm rounds once
// less.
bool ort_match_scaled_gemm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *add = &r->from->nodes[m->anchor];
    size_t scaled = qdq_rewrite_maker(r, add->inputs[0].id);
    if (!qdq_rewrite_is(r, scaled, "Multiply")) return false;
    const qdq_node *multiply = &r->from->nodes[scaled];
    size_t product = qdq_rewrite_maker(r, multiply->inputs[0].id);
    uint32_t alpha = multiply->inputs[1].id;
    if (!qdq_rewrite_is(r, product, "MatMul") || !ort_is_float_constant(r, alpha) ||
        qdq_shape_count(type_of(r, alpha)->shape) != 1)
        return false;
    const qdq_node *matmul = &r->from->nodes[product];
    qdq_coder a = qdq_coder_before(r, matmul->inputs[0].id),
              b = qdq_coder_before(r, matmul->inputs[1].id),
              y = qdq_coder_behind(r, add->outputs[0]);
    bool quantized = a.given && b.given && y.given && ort_is_float_constant(r, add->inputs[1].id);
    bool fuses = r->version->release < QDQ_RUNTIME_KEEPS_GEMM_ALPHA && a.given && b.given &&
                 (quantized || qdq_coder_before(r, add->inputs[1].id).given);
    if (fuses) {
        m->rule = "ort/gemm-alpha-fused";
        m->found = "adds the bias of a Gemm with alpha, which ONNX Runtime before 1.28 makes a "
                   "QGemm, where alpha multiplies the bias too";
        return false;
    }
    m->found =
        quantized
            ? "adds the float bias of a Gemm with alpha, which ONNX Runtime quantizes to int32"
            : "adds the bias of a Gemm with alpha to a product that is already rounded";
    return false;
}
