// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime about float weights and biases: a product and an addition become one
// node, and float weights and biases between quantized activations become codes.
#include <math.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/rewrite/coder_params.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/products.h"
#include "runtime/numerics/quantize_one.h"

enum { A, B, BIAS };  // ports of MatMul and Convolution

//---- MatMul, Add ------------------------------------------------------------

static const qdq_graph_value *value_at(const qdq_rewriter *r, uint32_t id) {
    return &r->from->values[id];
}

// True if Gemm takes a bias of this shape: an element for each column, or, if a and the bias are
// matrices, also for each row, or for each element of the result.
static bool gemm_takes(const qdq_shape *bias, const qdq_shape *a, const qdq_shape *y) {
    int64_t columns = y->dims[y->rank - 1];
    if (bias->rank == 1) return bias->dims[0] == columns;
    if (a->rank != 2 || bias->rank != 2) return false;
    return (bias->dims[0] == 1 && bias->dims[1] == columns) ||
           (bias->dims[0] == a->dims[0] && (bias->dims[1] == 1 || bias->dims[1] == columns));
}

// True if input `i` of an Add is a bias of the product that computes the other input.
static bool adds_bias(const qdq_rewriter *r, const qdq_node *add, size_t i, size_t *product) {
    uint32_t bias = add->inputs[i].id, y = add->inputs[1 - i].id;
    size_t maker = qdq_rewrite_maker(r, y);
    if (!qdq_rewrite_is(r, maker, "MatMul") || qdq_rewrite_only_reader(r, y) == SIZE_MAX)
        return false;
    const qdq_node *node = &r->from->nodes[maker];
    const qdq_matmul_attrs *attrs = node->attrs;
    const qdq_shape *a = &value_at(r, node->inputs[A].id)->type.shape,
                    *b = &value_at(r, node->inputs[B].id)->type.shape;
    *product = maker;
    return !node->inputs[BIAS].id && attrs->transpose_a != QDQ_TRUE &&
           attrs->transpose_b != QDQ_TRUE && !ort_was(node, "Gemm") &&
           !ort_was(node, "MatMulNBits") && a->rank >= 1 && b->rank == 2 &&
           (a->rank == 2 ||
            (r->version->release >= QDQ_RUNTIME_RESHAPES_FOR_GEMM && !r->from->open_dims)) &&
           value_at(r, y)->type.dtype == QDQ_FLOAT32 &&
           gemm_takes(&value_at(r, bias)->type.shape, a, &value_at(r, y)->type.shape);
}

bool ort_match_matmul_add(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *add = &r->from->nodes[m->anchor];
    size_t product, bias = 1;
    if (!adds_bias(r, add, bias, &product) && !adds_bias(r, add, bias = 0, &product)) return false;
    const qdq_node *node = &r->from->nodes[product];
    qdq_match_replaces(r, m, product);
    qdq_match_reads(r, m, node->inputs[A].id);
    qdq_match_reads(r, m, node->inputs[B].id);
    qdq_match_reads(r, m, add->inputs[bias].id);
    qdq_match_makes(r, m, add->outputs[0]);
    return true;
}

void ort_build_matmul_add(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *product = &r->from->nodes[m->nodes.items[1]];
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    for (size_t i = 0; i <= BIAS; i++) inputs[i] = qdq_rewrite_value(r, m->reads.items[i]);
    m->made[0] = qdq_copy_node(r->to, product, r->from->nodes[m->anchor].name, inputs);
}

//---- Float weights and biases -----------------------------------------------

static qdq_range byte_range(qdq_dtype dtype) {
    qdq_numerics plain = {0};
    return qdq_range_of(dtype, NULL, NULL, &plain);
}

// Chooses a scale and a zero point of int8 for all numbers.
static void choose(const float *w, size_t count, float *scale, int32_t *zero) {
    float low = 0, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = w[i] < low ? w[i] : low;
        high = w[i] > high ? w[i] : high;
    }
    *scale = low == high ? 1.0f : (high - low) / 255.0f;
    float at = -128.0f - low / *scale;
    at = at < -128.0f ? -128.0f : at > 127.0f ? 127.0f : at;
    *zero = (int32_t)rintf(at);
}

static bool has_known_scales(const qdq_coder *c) { return c->given && c->known && !c->blocks; }

// True for a MatMul whose first operand is no matrix. A MatMul and an Add that became Gemm have
// matrices only: others are reshaped before and behind it, and only a Quantize right there moves to
// the product.
static bool is_reshaped(const qdq_rewriter *r, const qdq_node *node) {
    return strcmp(node->op->name, "MatMul") == 0 &&
           value_at(r, node->inputs[A].id)->type.shape.rank != 2;
}

bool ort_is_reshaped(const qdq_rewriter *r, const qdq_node *node) {
    return is_reshaped(r, node) && ort_has_input(node, BIAS);
}

// True if the result reaches only a Quantize, possibly through Relu or Clamp, as far as the release
// looks. It may be an output of the graph too.
static bool leads_to_quantize(const qdq_rewriter *r, size_t node) {
    int release = r->version->release;
    if (release < QDQ_RUNTIME_WANTS_QUANTIZE) return true;
    if (is_reshaped(r, &r->from->nodes[node])) {
        qdq_coder y = qdq_coder_behind(r, r->from->nodes[node].outputs[0]);
        return has_known_scales(&y) && y.count == 1;
    }
    for (;;) {
        uint32_t y = r->from->nodes[node].outputs[0];
        if (qdq_rewrite_reader_count(r, y) != 1) return false;
        size_t next = qdq_rewrite_reader(r, y, 0);
        if (qdq_coder_of(r, next, "Quantize").given) return true;
        bool clips = qdq_rewrite_is(r, next, "ReLU") || qdq_rewrite_is(r, next, "Clamp");
        if (!clips || release < QDQ_RUNTIME_SEES_THROUGH_RELU) return false;
        node = next;
    }
}

static bool has_floats(const qdq_rewriter *r, const qdq_node *node, size_t port) {
    return ort_has_input(node, port) && ort_is_float_constant(r, node->inputs[port].id);
}

// Returns the dim of the output channels in ONNX's weights.
static int channel_axis(const qdq_node *node) {
    if (strcmp(node->op->name, "MatMul") != 0) return strcmp(node->op->name, "ConvTranspose") == 0;
    return ((const qdq_matmul_attrs *)node->attrs)->transpose_b != QDQ_TRUE;
}

// True if the optimizer can quantize a float bias beside codes: the weights have one scale, or one
// for each output channel. Older releases take any block_size for blocks, also 0, which each
// Dequantize has from opset 21 on.
static bool fits_bias(const qdq_rewriter *r, const qdq_node *node, const qdq_coder *w) {
    if (!has_known_scales(w) || w->count == 1) return has_known_scales(w);
    if (r->version->release < QDQ_RUNTIME_SEES_THROUGH_RELU && ort_has_output_dtype(r))
        return false;
    return w->axis == channel_axis(node) &&
           w->count == qdq_shape_count(value_at(r, node->inputs[BIAS].id)->type.shape);
}

// True if the optimizer quantizes the float weights and the bias of a node: not of a MatMul, and
// not beside a bias that is no constant list.
static bool has_quantized_weights(const qdq_rewriter *r, const qdq_node *node) {
    if (strcmp(node->op->name, "MatMul") == 0 && !ort_is_gemm(node)) return false;
    return !ort_has_input(node, BIAS) ||
           (has_floats(r, node, BIAS) && value_at(r, node->inputs[BIAS].id)->type.shape.rank == 1);
}

bool ort_match_float_weight(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = qdq_coder_before(r, node->inputs[A].id),
              w = qdq_coder_before(r, node->inputs[B].id);
    bool weight = has_floats(r, node, B), bias = has_floats(r, node, BIAS);
    if (!has_quantized_weights(r, node) || !has_known_scales(&x) || x.count != 1 ||
        (!weight && !bias) || (!weight && !fits_bias(r, node, &w)) ||
        !leads_to_quantize(r, m->anchor) || (is_reshaped(r, node) && !x.zero_given))
        return false;
    for (size_t i = 0; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_match_makes(r, m, node->outputs[0]);
    if (bias && ort_is_older(r, 11)) {
        m->rule = "ort/old-opset";
        m->found = "has a float bias, which ONNX Runtime quantizes with Round, an op from opset 11 "
                   "on; it refuses the model";
        return true;
    }
    m->found = weight ? "has a float weight, which is quantized to int8 with one scale"
                      : "has a float bias, which is quantized to int32";
    return true;
}

typedef struct weight_scales {
    const float *scales;
    size_t count;
} weight_scales;

static qdq_value dequantized(qdq_rewriter *r, const char *stem, const char *ending, qdq_value codes,
                             qdq_dequantize_attrs attrs) {
    attrs.name = qdq_rewrite_name(r, stem, ending);
    attrs.dtype = QDQ_FLOAT32;
    return qdq_dequantize(r->to, codes, attrs);
}

static qdq_value quantized_weight(qdq_rewriter *r, const qdq_node *node, float *scale) {
    uint32_t id = node->inputs[B].id;
    const qdq_shape shape = value_at(r, id)->type.shape;
    size_t count = qdq_shape_count(shape);
    const float *w = qdq_rewrite_data(r, id);
    int8_t *codes = qdq_mempool_array(r->mempool, count, 1);
    qdq_range range = byte_range(QDQ_INT8);
    qdq_numerics plain = {0};
    int32_t zero;
    if (!w || !codes) return (qdq_value){0};
    choose(w, count, scale, &zero);
    for (size_t i = 0; i < count; i++)
        codes[i] = (int8_t)qdq_quantize_one(&plain, w[i], *scale, zero, &range);
    int8_t code = (int8_t)zero;
    qdq_dequantize_attrs attrs = {.scale = qdq_rewrite_constant(r, node->name, "_weight_scale",
                                                                QDQ_FLOAT32, (qdq_shape){0}, scale),
                                  .zero_point =
                                      qdq_rewrite_constant(r, node->name, "_weight_zero_point",
                                                           QDQ_INT8, (qdq_shape){0}, &code)};
    return dequantized(r, node->name, "_weight",
                       qdq_rewrite_constant(r, node->name, "_weight_codes", QDQ_INT8, shape, codes),
                       attrs);
}

static int32_t saturated(float v) {
    v = rintf(v);
    if (v >= 0x1p31f) return INT32_MAX;
    return v <= -0x1p31f ? INT32_MIN : (int32_t)v;
}

static qdq_value quantized_bias(qdq_rewriter *r, const qdq_node *node, float x_scale,
                                const weight_scales *w) {
    const qdq_type *type = &value_at(r, node->inputs[BIAS].id)->type;
    size_t count = qdq_shape_count(type->shape);
    const float *bias = qdq_rewrite_data(r, node->inputs[BIAS].id);
    int32_t *codes = qdq_mempool_array(r->mempool, count, sizeof *codes);
    float *scales = qdq_mempool_array(r->mempool, w->count, sizeof *scales);
    if (!bias || !codes || !scales || (w->count != 1 && w->count != count)) return (qdq_value){0};
    for (size_t i = 0; i < w->count; i++) scales[i] = x_scale * w->scales[i];
    for (size_t i = 0; i < count; i++)
        codes[i] = saturated(bias[i] / scales[w->count == 1 ? 0 : i]);
    bool one = w->count == 1;
    qdq_shape of_scales = one ? (qdq_shape){0} : (qdq_shape){1, {(int64_t)w->count}};
    qdq_dequantize_attrs attrs = {.qtype = one ? QDQ_PER_TENSOR : QDQ_PER_CHANNEL,
                                  .axis = one ? (qdq_int){0} : QDQ_INT(type->shape.rank - 1),
                                  .scale = qdq_rewrite_constant(r, node->name, "_bias_scale",
                                                                QDQ_FLOAT32, of_scales, scales)};
    return dequantized(
        r, node->name, "_bias",
        qdq_rewrite_constant(r, node->name, "_bias_codes", QDQ_INT32, type->shape, codes), attrs);
}

// Copies the scales of the weights unchanged.
static bool scales_of(const qdq_rewriter *r, const qdq_coder *w, weight_scales *out) {
    float *scales = qdq_mempool_array(r->mempool, w->count, sizeof *scales);
    if (!scales) return false;
    for (size_t i = 0; i < w->count; i++) scales[i] = qdq_coder_scale(r, w, i);
    *out = (weight_scales){scales, w->count};
    return true;
}

void ort_build_float_weight(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x = qdq_coder_before(r, node->inputs[A].id),
              w = qdq_coder_before(r, node->inputs[B].id);
    qdq_value inputs[QDQ_MAX_PORTS];
    float own = 0;
    weight_scales scales = {&own, 1};
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    if (has_floats(r, node, B))
        inputs[B] = quantized_weight(r, node, &own);
    else if (!scales_of(r, &w, &scales))
        return;
    if (has_floats(r, node, BIAS))
        inputs[BIAS] = quantized_bias(r, node, qdq_coder_scale(r, &x, 0), &scales);
    m->made[0] = qdq_copy_node(r->to, node, NULL, inputs);
}

//---- Float constants as codes ------------------------------------------------

// Matches a Quantize of a float constant, which is folded, so that its codes count as constant
// weights.
bool ort_match_folded_codes(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    if (!q.given || !q.known || !qdq_dtype_is_int(q.dtype) || !ort_is_float_constant(r, q.reals) ||
        q.attrs->quant_min.set != 0 || q.attrs->quant_max.set != 0)
        return false;
    qdq_match_makes(r, m, q.codes);
    return true;
}

void ort_build_folded_codes(qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    qdq_coder_params p;
    const void *codes = qdq_coder_read_params(r, &q, &p) ? qdq_coder_codes(r, &q, &p) : NULL;
    if (codes)
        m->made[0] = qdq_rewrite_constant(r, r->from->nodes[m->anchor].name, "_codes", q.dtype,
                                          value_at(r, q.codes)->type.shape, codes);
}

//---- Constant codes as floats ------------------------------------------------

// Matches a Dequantize of constants: without integer groups it is folded like any other node.
bool ort_match_folded(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder w = qdq_coder_of(r, m->anchor, "Dequantize");
    if (!w.given || !w.known || !ort_is_constant(r, w.codes)) return false;
    qdq_match_makes(r, m, w.reals);
    return true;
}

void ort_build_folded(qdq_rewriter *r, qdq_match *m) {
    qdq_coder w = qdq_coder_of(r, m->anchor, "Dequantize");
    qdq_coder_params p;
    const float *reals = qdq_coder_read_params(r, &w, &p) ? qdq_coder_reals(r, &w, &p) : NULL;
    if (reals)
        m->made[0] = qdq_rewrite_constant(r, r->from->nodes[m->anchor].name, "_float", QDQ_FLOAT32,
                                          value_at(r, w.codes)->type.shape, reals);
}

//---- Constant int8 codes as uint8 -------------------------------------------

enum { SAFE = 64 };  // pairs of weights of this size do not saturate

// True if a value is constant int8 codes, at least one of them beyond SAFE.
static bool may_saturate(const qdq_rewriter *r, uint32_t id) {
    if (!ort_is_constant(r, id) || value_at(r, id)->type.dtype != QDQ_INT8) return false;
    const int8_t *codes = qdq_rewrite_data(r, id);
    size_t count = qdq_shape_count(value_at(r, id)->type.shape);
    bool safe = true;
    for (size_t i = 0; codes && i < count; i++)
        safe = safe && codes[i] >= -SAFE && codes[i] <= SAFE;
    return !safe;
}

// Adds a constant of `count` int8 codes, each plus 128.
static qdq_value shifted(qdq_rewriter *r, const char *stem, const char *ending, qdq_shape shape,
                         const int8_t *codes) {
    size_t count = qdq_shape_count(shape);
    uint8_t *made = qdq_mempool_array(r->mempool, count, 1);
    if (!codes || !made) return (qdq_value){0};
    for (size_t i = 0; i < count; i++) made[i] = (uint8_t)(codes[i] + 128);
    return qdq_rewrite_constant(r, stem, ending, QDQ_UINT8, shape, made);
}

bool ort_match_s8_constant(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder w = qdq_coder_of(r, m->anchor, "Dequantize");
    if (!w.given || !w.known || w.blocks || !may_saturate(r, w.codes)) return false;
    qdq_coder_reads(r, m, &w);
    qdq_match_makes(r, m, w.reals);
    return true;
}

void ort_build_s8_constant(qdq_rewriter *r, qdq_match *m) {
    qdq_coder w = qdq_coder_of(r, m->anchor, "Dequantize");
    const char *name = r->from->nodes[m->anchor].name;
    qdq_shape of_zeros = w.count == 1 ? (qdq_shape){0} : (qdq_shape){1, {(int64_t)w.count}};
    int8_t *zeros = qdq_mempool_array(r->mempool, w.count, 1);
    for (size_t i = 0; zeros && i < w.count; i++) zeros[i] = (int8_t)qdq_coder_zero(r, &w, i);
    m->made[0] = qdq_dequantize(
        r->to,
        shifted(r, name, "_uint8", value_at(r, w.codes)->type.shape, qdq_rewrite_data(r, w.codes)),
        (qdq_dequantize_attrs){.name = name,
                               .scale = qdq_coder_scale_value(r, &w),
                               .zero_point = shifted(r, name, "_zero_point", of_zeros, zeros),
                               .qtype = w.attrs->qtype,
                               .axis = w.attrs->axis,
                               .dtype = QDQ_FLOAT32});
}

enum { B_ZERO = 3 };  // port of MatMulInteger

bool ort_match_s8_factor(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    uint32_t zero = node->input_count > B_ZERO ? node->inputs[B_ZERO].id : 0;
    if (!may_saturate(r, node->inputs[B].id) || (zero && !ort_is_constant(r, zero))) return false;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i].id) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_s8_factor(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    uint32_t b = node->inputs[B].id;
    uint32_t zero = node->input_count > B_ZERO ? node->inputs[B_ZERO].id : 0;
    const int8_t none = 0;
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    inputs[B] =
        shifted(r, node->name, "_uint8", value_at(r, b)->type.shape, qdq_rewrite_data(r, b));
    inputs[B_ZERO] =
        shifted(r, node->name, "_zero_point", zero ? value_at(r, zero)->type.shape : (qdq_shape){0},
                zero ? qdq_rewrite_data(r, zero) : &none);
    m->made[0] = qdq_matmul_integer(r->to, inputs[0], inputs[B],
                                    (qdq_matmul_integer_attrs){.name = node->name,
                                                               .a_zero_point = inputs[2],
                                                               .b_zero_point = inputs[B_ZERO]});
}
