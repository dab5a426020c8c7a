// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime that add pairs of Quantize and Dequantize around nodes that only move
// elements, so that these nodes move codes.
#include <string.h>

#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"

// True if pairs move past a node. They stop at Flatten and Split, which are StaticReshape and Slice
// here.
static bool lets_pairs_past(const qdq_rewriter *r, const qdq_node *node) {
    if (ort_was(node, "Flatten") || ort_was(node, "Split")) return false;
    if (ort_was(node, "MaxPool"))
        return !ort_is_older(r, 12) && ort_knows_opset(r, 22, QDQ_RUNTIME_KNOWS_MAX_POOL_22);
    bool reshapes = strcmp(node->op->name, "StaticReshape") == 0;
    return !reshapes || ort_knows_opset(r, 23, QDQ_RUNTIME_KNOWS_OPSETS);
}

// True if a pair is added behind a Transpose in spite of its opset: the optimizer of transposes
// adds uint8 codes, or codes of a zero point.
static bool lets_transposes_past(const qdq_rewriter *r, const qdq_node *node, const qdq_coder *x) {
    return strcmp(node->op->name, "StaticTranspose") != 0 || x->zero_given ||
           x->dtype == QDQ_UINT8 || ort_knows_opset(r, 23, QDQ_RUNTIME_KNOWS_OPSETS);
}

// True if the node stands for a node of the model that moves elements, and is not one of several
// nodes that the reader adds for another op.
static bool is_of_model(const qdq_node *node) {
    static const char *const ops[] = {"MaxPool", "Reshape",   "Transpose",
                                      "Squeeze", "Unsqueeze", "Slice"};
    if (!node->original_op) return true;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (ort_was(node, ops[i])) return true;
    return false;
}

static qdq_value move(qdq_rewriter *r, const qdq_node *node, const char *name, qdq_value x) {
    qdq_value inputs[QDQ_MAX_PORTS] = {x};
    for (size_t i = 1; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    return qdq_copy_node(r->to, node, name, inputs);
}

static void move_reads(const qdq_rewriter *r, qdq_match *m, const qdq_coder *c) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    for (size_t i = 0; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_coder_reads(r, m, c);
}

// Adds Quantize and Dequantize with the scale of `like`, and its zero point if it has one.
static qdq_value add_pair(qdq_rewriter *r, const char *stem, const char *name, qdq_value x,
                          const qdq_coder *like, qdq_dtype dtype) {
    qdq_quantize_attrs a = {.name = qdq_rewrite_name(r, stem, "_quantized"),
                            .scale = qdq_coder_scale_value(r, like),
                            .dtype = dtype};
    if (like->zero_given) a.zero_point = qdq_coder_zero_value(r, like);
    qdq_value codes = qdq_quantize(r->to, x, a);
    a.name = name, a.dtype = QDQ_FLOAT32;
    return qdq_dequantize(r->to, codes, a);
}

qdq_dtype ort_dtype_again(const qdq_rewriter *r, const qdq_coder *c) {
    return ort_names_dtype(r) || c->zero_given ? c->dtype : QDQ_UINT8;
}

size_t ort_float_readers(const qdq_rewriter *r, uint32_t value) {
    if (ort_is_quantized(r, value)) return 0;
    return ort_reader_count(r, value) + r->from->values[value].returned;
}

bool ort_leaves_constants(const qdq_target_version *version) {
    return version->release >= QDQ_RUNTIME_LEAVES_CONSTANTS;
}

// Reports a new Quantize that names int8 and whose codes one Dequantize reads: it gets a zero point
// of uint8 on x86-64.
static void find_int8(const qdq_rewriter *r, qdq_match *m, const qdq_coder *like) {
    if (like->dtype != QDQ_INT8 || !like->zero_given || !ort_changes_s8(r->version)) return;
    m->rule = "ort/output-dtype";
    m->found = "is between int8 and floats; ONNX Runtime adds a QuantizeLinear with output_dtype "
               "int8, makes its zero point uint8, and refuses the model";
}

// Matches a node that moves elements before a Quantize: its input is quantized too.
bool ort_match_quantize_earlier(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    uint32_t x = node->inputs[0].id;
    qdq_coder y = qdq_coder_behind(r, node->outputs[0]);
    if (!ort_is_scalar(&y) || !ort_is_byte(&y) || !qdq_node_takes(node, y.dtype) ||
        !lets_pairs_past(r, node) || qdq_rewrite_maker(r, x) == SIZE_MAX ||
        !ort_is_read_once(r, x) || qdq_coder_before(r, x).given)
        return false;
    if (is_of_model(node) && r->from->nodes[y.node].names_dtype && ort_names_dtype(r))
        find_int8(r, m, &y);
    move_reads(r, m, &y);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

// Adds the node with a pair before it.
static qdq_value with_pair(qdq_rewriter *r, const qdq_node *node, const qdq_coder *like,
                           qdq_dtype dtype) {
    const char *floats = qdq_rewrite_name(r, node->name, "_floats");
    qdq_value x = qdq_rewrite_value(r, node->inputs[0].id);
    return move(r, node, node->name, add_pair(r, node->name, floats, x, like, dtype));
}

void ort_build_quantize_earlier(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder y = qdq_coder_behind(r, node->outputs[0]);
    m->made[0] = with_pair(r, node, &y, ort_dtype_again(r, &y));
}

// Returns the codes before a node if its result is quantized again. Pairs behind constants stay in
// place from 1.27 on.
static qdq_coder made_again(const qdq_rewriter *r, const qdq_node *node) {
    qdq_coder x = qdq_coder_before(r, node->inputs[0].id);
    bool stays = x.given && ort_is_constant(r, x.codes) && ort_leaves_constants(r->version);
    bool forms = ort_is_scalar(&x) && !stays && lets_pairs_past(r, node) &&
                 lets_transposes_past(r, node, &x) && ort_float_readers(r, node->outputs[0]);
    return forms ? x : (qdq_coder){0};
}

const char *const ort_uint8_found =
    "moves what a Dequantize without a zero point makes; ONNX Runtime quantizes it again, to "
    "uint8, so that numbers below 0 become 0";

// Matches a node that moves elements behind a Dequantize: its result is quantized and dequantized
// again.
bool ort_match_dequantize_later(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = made_again(r, node);
    bool of_model = is_of_model(node);
    if (!x.given || (of_model && ort_dtype_again(r, &x) != x.dtype)) return false;
    if (of_model && ort_names_dtype(r) && ort_float_readers(r, node->outputs[0]) == 1)
        find_int8(r, m, &x);
    if (!ort_is_byte(&x) || !qdq_node_takes(node, x.dtype)) return false;
    move_reads(r, m, &x);
    qdq_match_reads(r, m, x.codes);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

// Moves codes without a zero point directly: ONNX Runtime moves floats, as no group forms without
// zero points, with the same results.
static qdq_value move_codes(qdq_rewriter *r, const qdq_node *node, const qdq_coder *x) {
    qdq_quantize_attrs a = {
        .name = node->name, .scale = qdq_coder_scale_value(r, x), .dtype = QDQ_FLOAT32};
    qdq_value codes =
        move(r, node, qdq_rewrite_name(r, node->name, "_codes"), qdq_rewrite_value(r, x->codes));
    return qdq_dequantize(r->to, codes, a);
}

static qdq_value quantize_again(qdq_rewriter *r, const qdq_node *node, const qdq_coder *x,
                                qdq_dtype dtype) {
    qdq_value moved = move(r, node, qdq_rewrite_name(r, node->name, "_floats"),
                           qdq_rewrite_value(r, node->inputs[0].id));
    return add_pair(r, node->name, node->name, moved, x, dtype);
}

void ort_build_dequantize_later(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = made_again(r, node);
    m->made[0] = x.zero_given ? quantize_again(r, node, &x, x.dtype) : move_codes(r, node, &x);
}

// The same, of codes that become others.
bool ort_match_uint8_later(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = made_again(r, node);
    if (!x.given || !is_of_model(node) || ort_dtype_again(r, &x) == x.dtype) return false;
    m->found = ort_uint8_found;
    move_reads(r, m, &x);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_uint8_later(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = made_again(r, node);
    m->made[0] = quantize_again(r, node, &x, QDQ_UINT8);
}

// Matches a Dequantize and the Gemm of a MatMul and an Add: quantized again behind the Reshape
// before the Gemm. Codes that stay the same need no nodes.
bool ort_match_uint8_reshaped(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = qdq_coder_before(r, node->inputs[0].id);
    if (!ort_is_scalar(&x) || !ort_is_reshaped(r, node) ||
        (ort_is_constant(r, x.codes) && ort_leaves_constants(r->version)))
        return false;
    if (ort_dtype_again(r, &x) == x.dtype) {
        if (ort_names_dtype(r)) find_int8(r, m, &x);
        return false;
    }
    m->found = ort_uint8_found;
    move_reads(r, m, &x);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_uint8_reshaped(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = qdq_coder_before(r, node->inputs[0].id);
    m->made[0] = with_pair(r, node, &x, QDQ_UINT8);
}
