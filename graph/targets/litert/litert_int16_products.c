// SPDX-License-Identifier: Apache-2.0
// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of 16-bit codes by int8 weights ("16x8"). Integer
// products take bytes, so x is 256 times its high byte and its low byte. XNNPACK takes none.
#include <math.h>
#include <string.h>

#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "runtime/numerics/fixed_point.h"

enum { X, W, BIAS };  // ports of Convolution and MatMul

enum { MOST_INPUTS = 1 << 16 };  // of an output: sums of products of bytes fit in int32

static const char *const convs[] = LITERT_NAMES("CONV_2D"), *const depthwise[] =
                                                                LITERT_NAMES("DEPTHWISE_CONV_2D");

//---- Units ------------------------------------------------------------------

static const qdq_shape *shape_of(const qdq_rewriter *r, uint32_t value) {
    return &r->from->values[value].type.shape;
}

static bool is_conv(const litert_unit *u) {
    return strcmp(u->qdq.node->op->name, "Convolution") == 0;
}

static bool is_depthwise(const litert_unit *u) {
    const char *op = u->qdq.node->original_op;
    return op && strcmp(op, "DEPTHWISE_CONV_2D") == 0;
}

// True if the bias is int64 in the model: a Cast makes it int32, without loss.
static bool has_long_bias(const qdq_rewriter *r, const litert_unit *u) {
    size_t cast = qdq_rewrite_maker(r, u->qdq.x[BIAS].codes);
    return qdq_rewrite_is(r, cast, "Cast") &&
           r->from->values[r->from->nodes[cast].inputs[0].id].type.dtype == QDQ_INT64;
}

static const char *weights_differ(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *w = &u->qdq.x[W];
    if (!w->given || !w->known || w->blocks || !qdq_rewrite_data(r, w->codes))
        return "the weights are no constant codes with constant scales";
    if (w->dtype != QDQ_INT8) return "the weights are not int8";
    const qdq_shape *shape = shape_of(r, w->codes);
    if (w->count > 1 && (w->axis != 0 || (int64_t)w->count != shape->dims[0]))
        return "the weights have several scales, not of the output channels";
    for (size_t i = 0; i < w->count; i++)
        if (qdq_coder_zero(r, w, i)) return "the weights have a zero point";
    bool many = (int64_t)qdq_shape_count(*shape) / shape->dims[0] > MOST_INPUTS;
    return many ? "an output has more than 2^16 inputs" : NULL;
}

static const char *bias_differs(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *bias = &u->qdq.x[BIAS];
    if (u->qdq.node->input_count <= BIAS || !bias->given || !bias->known ||
        bias->dtype != QDQ_INT32)
        return "the bias has no codes of int32 or int64";
    for (size_t i = 0; i < bias->count; i++)
        if (qdq_coder_zero(r, bias, i)) return "the bias has a zero point";
    return NULL;
}

static const char *conv_differs(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_convolution_attrs *a = u->qdq.node->attrs;
    if (a->weights_format != QDQ_OIX) return "the weights are not [O, I, spatial...]";
    if (a->channel_block.set != 0 || a->addend.id || a->auto_pad != QDQ_PAD_NONE)
        return "the convolution has options of other backends";
    if (a->data_format != QDQ_NXC || shape_of(r, u->qdq.x[X].codes)->rank != 4)
        return "x is not [N, H, W, C]";
    bool grouped = a->groups.set != 0 && a->groups.value > 1;
    if (!has_long_bias(r, u) && (grouped || is_depthwise(u)))
        return "groups with a bias of int32 were not compared";
    return NULL;
}

static const char *product_differs(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_matmul_attrs *a = u->qdq.node->attrs;
    if (a->transpose_a == QDQ_TRUE || a->transpose_b != QDQ_TRUE ||
        shape_of(r, u->qdq.x[W].codes)->rank != 2 || shape_of(r, u->qdq.x[X].codes)->rank < 2)
        return "the weights are no matrix [outputs, inputs]";
    return NULL;
}

//---- Scales -----------------------------------------------------------------

// How the sums are rounded.
typedef enum sum_rule {
    RULE_DOUBLE,
    RULE_UP,
    RULE_SINGLE,
    RULE_SHORT,  // once, by a multiplier of 16 bits
    RULE_FLOAT64,
} sum_rule;

static sum_rule rule_of(const qdq_rewriter *r, const litert_unit *u, litert_engine engine) {
    bool is_long = has_long_bias(r, u);
    bool micro = engine == LITERT_TFLM;
    if (!is_conv(u) && !micro && (is_long || engine == LITERT_REFERENCE)) return RULE_FLOAT64;
    if (is_long) return RULE_SHORT;
    if (engine == LITERT_REFERENCE || micro) return RULE_DOUBLE;
    return litert_is_arm(r->version) ? RULE_SINGLE : RULE_UP;
}

// LiteRT's FULLY_CONNECTED with one scale rounds the product of scales to float32.
static double scale_at(const qdq_rewriter *r, const litert_unit *u, sum_rule rule, size_t i) {
    float x = qdq_coder_scale(r, &u->qdq.x[X], 0), w = qdq_coder_scale(r, &u->qdq.x[W], i);
    bool rounded = !is_conv(u) && rule < RULE_SHORT && u->qdq.x[W].count == 1 &&
                   litert_engine_of(r->version) != LITERT_TFLM;
    double product = rounded ? (double)(x * w) : (double)x * (double)w;
    return product / (double)qdq_coder_scale(r, &u->qdq.y, 0);
}

// Sets the upper 16 bits of a multiplier, rounded.
static void set_short(litert_scaling *s, size_t i, double scale) {
    qdq_fixed_scale by = qdq_quantize_multiplier(scale, 31);
    int64_t half = (int64_t)by.multiplier + (1 << 15);
    s->multiplier[i] = by.multiplier < 0x7FFF0000 ? (double)(half >> 16) : 0x7FFF;
    s->shift[i] = by.shift - 16;
}

// Returns why results may leave int32, where kernels wrap around; NULL if they cannot.
static const char *scales_differ(const qdq_rewriter *r, const litert_unit *u, sum_rule rule) {
    const qdq_shape *w = shape_of(r, u->qdq.x[W].codes), *b = shape_of(r, u->qdq.x[BIAS].codes);
    int64_t inputs = (int64_t)qdq_shape_count(*w) / w->dims[0];
    double most = ldexp((double)inputs, 22), bias = 0;
    const int32_t *codes = qdq_rewrite_data(r, u->qdq.x[BIAS].codes);
    for (size_t i = 0; codes && i < qdq_shape_count(*b); i++)
        bias = fmax(bias, fabs((double)codes[i]));
    if (!codes) bias = 0x1p31;
    for (size_t i = 0; i < u->qdq.x[W].count; i++) {
        double scale = scale_at(r, u, rule, i);
        if (scale * (most + bias) >= 0x1p31) return "results may leave int32";
        if (scale >= 0x1p14) return "a scale is too large for a multiplier of 16 bits";
    }
    return NULL;
}

//---- Matching ---------------------------------------------------------------

bool litert_match_product_int16(const qdq_rewriter *r, qdq_match *m) {
    static const char *const products[] = LITERT_NAMES("FULLY_CONNECTED");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!u.qdq.x[X].given || u.qdq.x[X].dtype != QDQ_INT16) return false;
    const char *why = NULL;
    if (!litert_is_int16(r, &u.qdq.x[X]) || !litert_is_int16(r, &u.qdq.y))
        why = "codes of int16 have no constant scale alone, or a zero point";
    if (litert_is_batch_matmul(u.qdq.node)) why = "BATCH_MATMUL was not compared";
    if (!why && u.activation == LITERT_OTHER_BOUNDS) why = "no activation has these bounds";
    if (!why) why = weights_differ(r, &u);
    if (!why) why = bias_differs(r, &u);
    if (!why) why = is_conv(&u) ? conv_differs(r, &u) : product_differs(r, &u);
    if (engine == LITERT_XNNPACK) engine = LITERT_BUILTIN;
    if (!why) why = scales_differ(r, &u, rule_of(r, &u, engine));
    if (why) return litert_refuses(m, why);
    litert_run_by(m, engine, !is_conv(&u) ? products : is_depthwise(&u) ? depthwise : convs);
    for (int i = X; i <= BIAS; i++) qdq_match_reads(r, m, u.qdq.x[i].codes);
    litert_replace(r, m, &u);
    return true;
}

//---- Sums -------------------------------------------------------------------

static qdq_value cast(const qdq_rewriter *r, const char *name, const char *part, qdq_value x,
                      qdq_dtype dtype) {
    return qdq_cast(r->to, x, (qdq_cast_attrs){.name = litert_part(r, name, part), .dtype = dtype});
}

// Adds the product of bytes and weights.
static qdq_value add_product(const qdq_rewriter *r, const litert_unit *u, const char *part,
                             qdq_value x, qdq_value weights) {
    const char *name = litert_part(r, litert_name(r, u), part);
    if (!is_conv(u))
        return qdq_matmul_integer(r->to, x, weights, (qdq_matmul_integer_attrs){.name = name});
    const qdq_convolution_attrs *a = u->qdq.node->attrs;
    return qdq_conv_integer(r->to, x, weights,
                            (qdq_conv_integer_attrs){.name = name,
                                                     .strides = a->strides,
                                                     .dilations = a->dilations,
                                                     .pads_begin = a->pads_begin,
                                                     .pads_end = a->pads_end,
                                                     .groups = a->groups,
                                                     .data_format = QDQ_INTEGER_NXC});
}

static qdq_value add_steps(const qdq_rewriter *r, const char *name, qdq_dtype dtype) {
    static const int64_t wide = 256;
    static const int32_t narrow = 256;
    bool is_wide = dtype == QDQ_INT64;
    return qdq_rewrite_constant(r, name, is_wide ? "/long_steps" : "/steps", dtype, (qdq_shape){0},
                                is_wide ? (const void *)&wide : &narrow);
}

// Adds the sums of products and bias, of int32 or int64.
static qdq_value add_sums(const qdq_rewriter *r, const litert_unit *u) {
    static const int64_t order[] = {1, 0};
    const char *name = litert_name(r, u);
    qdq_dtype dtype = has_long_bias(r, u) ? QDQ_INT64 : QDQ_INT32;
    qdq_value x = qdq_rewrite_value(r, u->qdq.x[X].codes),
              w = qdq_rewrite_value(r, u->qdq.x[W].codes),
              bias = qdq_rewrite_value(r, u->qdq.x[BIAS].codes);
    if (!is_conv(u))
        w = qdq_transpose(
            r->to, w,
            (qdq_transpose_attrs){.name = litert_part(r, name, "/columns"), .order = {order, 2}});
    qdq_value low = cast(r, name, "/low", x, QDQ_UINT8);
    x = litert_binary(r, "Subtract", litert_part(r, name, "/rest"),
                      cast(r, name, "/x", x, QDQ_INT32), cast(r, name, "/of_low", low, QDQ_INT32));
    x = litert_binary(r, "Divide", litert_part(r, name, "/quotient"), x,
                      add_steps(r, name, QDQ_INT32));
    qdq_value high = add_product(r, u, "/high_sums", cast(r, name, "/high", x, QDQ_INT8), w);
    low = add_product(r, u, "/low_sums", low, w);
    if (dtype == QDQ_INT64) {
        high = cast(r, name, "/long_high_sums", high, dtype);
        low = cast(r, name, "/long_low_sums", low, dtype);
        bias = cast(r, name, "/long_bias", bias, dtype);
    }
    high = litert_binary(r, "Multiply", litert_part(r, name, "/shifted_sums"), high,
                         add_steps(r, name, dtype));
    x = litert_binary(r, "Add", litert_part(r, name, "/sums"), high, low);
    return litert_binary(r, "Add", litert_part(r, name, "/biased"), x, bias);
}

void litert_build_product_int16(qdq_rewriter *r, qdq_match *m) {
    static const qdq_fixed_rounding roundings[] = {[RULE_DOUBLE] = QDQ_FIXED_DOUBLE,
                                                   [RULE_UP] = QDQ_FIXED_UP,
                                                   [RULE_SINGLE] = QDQ_FIXED_SINGLE,
                                                   [RULE_SHORT] = QDQ_FIXED_SINGLE,
                                                   [RULE_FLOAT64] = QDQ_FIXED_FLOAT64};
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    sum_rule rule = rule_of(r, &u, (litert_engine)m->form);
    qdq_value sums = add_sums(r, &u);
    litert_scaling s = {.rounding = roundings[rule], .axis = litert_shape(r->to, sums).rank - 1};
    if (!litert_new_scaling(r, &s, u.qdq.x[W].count)) return;
    for (size_t i = 0; i < s.count; i++) {
        double scale = scale_at(r, &u, rule, i);
        if (rule == RULE_SHORT)
            set_short(&s, i, scale);
        else if (rule == RULE_FLOAT64)
            litert_set_double(&s, i, scale);
        else
            litert_set_fixed(&s, i, scale);
    }
    litert_ends_in(r, &s, (litert_engine)m->form, &u);
    m->made[0] = litert_requantize(r, litert_name(r, &u), sums, &s);
}
