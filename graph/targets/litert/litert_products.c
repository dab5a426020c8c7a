// SPDX-License-Identifier: Apache-2.0
// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: an integer product, the sum with the bias, and a
// Requantize with the multiplier and the rounding of the engine.
#include <math.h>
#include <string.h>

#include "graph/targets/litert/litert_vectors.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fixed_point.h"

enum { X, W, BIAS };  // ports of Convolution and MatMul

//---- Operands ---------------------------------------------------------------

static bool has_bias(const litert_unit *u) {
    return u->qdq.node->input_count > BIAS && u->qdq.node->inputs[BIAS].id;
}

static bool are_zero(const qdq_rewriter *r, const qdq_coder *c) {
    for (size_t i = 0; i < c->count; i++)
        if (qdq_coder_zero(r, c, i)) return false;
    return true;
}

// Returns why x, weights, bias and the result are no codes that an operator takes; NULL if they
// are.
static const char *operands_differ(const qdq_rewriter *r, const litert_unit *u, int axis) {
    const qdq_coder *x = &u->qdq.x[X], *w = &u->qdq.x[W], *bias = &u->qdq.x[BIAS];
    const char *why = litert_bytes_differ(r, u, 1);
    if (why) return why;
    if (!w->given || !w->known || w->blocks || !qdq_rewrite_data(r, w->codes))
        return "the weights are no constant codes with constant scales";
    const qdq_shape *shape = &r->from->values[w->codes].type.shape;
    bool narrow = x->dtype == QDQ_INT8 && w->dtype == QDQ_INT4;
    if (w->dtype != x->dtype && !narrow) return "the weights have codes of another dtype";
    if (w->count > 1 &&
        (x->dtype != QDQ_INT8 || w->axis != axis || (int64_t)w->count != shape->dims[axis]))
        return "the weights have several scales, not of the output channels";
    if (!has_bias(u)) return NULL;
    if (!bias->given || !bias->known || bias->dtype != QDQ_INT32)
        return "the bias has no codes of int32";
    return are_zero(r, bias) ? NULL : "the bias has a zero point";
}

static void read_all(const qdq_rewriter *r, qdq_match *m, const litert_unit *u) {
    qdq_match_reads(r, m, u->qdq.x[X].codes);
    qdq_match_reads(r, m, u->qdq.x[W].codes);
    if (has_bias(u)) qdq_match_reads(r, m, u->qdq.x[BIAS].codes);
    litert_replace(r, m, u);
}

//---- Rounding ---------------------------------------------------------------

// How an engine rounds the sums of a product.
typedef enum product_rule {
    RULE_DOUBLE,   // twice, half away from zero
    RULE_UP,       // twice, half up
    RULE_SINGLE,   // once
    RULE_BLOCKS,   // RULE_UP in whole blocks of channels, RULE_DOUBLE behind them
    RULE_FLOAT32,  // XNNPACK's, half to even
    RULE_RNDNU,    // XNNPACK's on Arm for uint8: 24 bits, once
    RULE_FLOAT64,
} product_rule;

enum { DEPTHWISE_BLOCK = 8 };  // channels

static float scale_at(const qdq_rewriter *r, const qdq_coder *c, size_t i) {
    return qdq_coder_scale(r, c, c->count == 1 ? 0 : i);
}

// Returns the scale of a sum in steps of y, as XNNPACK computes it.
static float float_scale(const qdq_rewriter *r, const litert_unit *u, size_t i) {
    float product = qdq_coder_scale(r, &u->qdq.x[X], 0) * scale_at(r, &u->qdq.x[W], i);
    return product / qdq_coder_scale(r, &u->qdq.y, 0);
}

// The same as the others do. `rounded`: the product of scales is a float32.
static double double_scale(const qdq_rewriter *r, const litert_unit *u, size_t i, bool rounded) {
    float x = qdq_coder_scale(r, &u->qdq.x[X], 0), w = scale_at(r, &u->qdq.x[W], i);
    double product = rounded ? (double)(x * w) : (double)x * (double)w;
    return product / (double)qdq_coder_scale(r, &u->qdq.y, 0);
}

static qdq_fixed_rounding rounding_of(product_rule rule) {
    switch (rule) {
    case RULE_UP: return QDQ_FIXED_UP;
    case RULE_FLOAT32: return QDQ_FIXED_FLOAT32;
    case RULE_FLOAT64: return QDQ_FIXED_FLOAT64;
    case RULE_SINGLE:
    case RULE_RNDNU: return QDQ_FIXED_SINGLE;
    case RULE_DOUBLE:
    case RULE_BLOCKS:
    default: return QDQ_FIXED_DOUBLE;
    }
}

// Sets the scaling of the sums. `rounded`: as in double_scale.
static bool set_scaling(const qdq_rewriter *r, const litert_unit *u, product_rule rule,
                        bool rounded, litert_scaling *s) {
    s->rounding = rounding_of(rule);
    if (!litert_new_scaling(r, s, u->qdq.x[W].count)) return false;
    for (size_t i = 0; i < s->count; i++) {
        if (rule == RULE_FLOAT32 || rule == RULE_RNDNU)
            litert_set_float(s, i, float_scale(r, u, i));
        else if (rule == RULE_FLOAT64)
            litert_set_double(s, i, double_scale(r, u, i, false));
        else
            litert_set_fixed(s, i, double_scale(r, u, i, rounded));
    }
    return true;
}

// True if XNNPACK has kernels for all scales of a product.
static bool has_scales(const qdq_rewriter *r, const litert_unit *u, qdq_match *m) {
    bool once = litert_is_arm(r->version) && u->qdq.y.dtype == QDQ_UINT8;
    for (size_t i = 0; i < u->qdq.x[W].count; i++) {
        float scale = float_scale(r, u, i);
        if (scale >= 256.0f)
            return litert_fails(m, "litert/product-scale",
                                "has a product of the scales of x and weights that is 256 times "
                                "the scale of y, or more");
        if (scale < (once ? 0x1p-32f : 0x1p-100f))
            return litert_refuses(m, "a scale is too small for a case that was compared");
    }
    return true;
}

// True on aarch64 for one column of results, which is a product of a matrix and a vector there.
static bool is_gemv(size_t columns, int64_t outputs, int64_t k) {
    return columns == 1 && outputs >= 4 && k >= 8;
}

//---- Convolutions -----------------------------------------------------------

// The sizes of a convolution.
typedef struct conv_sizes {
    int64_t outputs, inputs, groups, k;
    size_t pixels;  // of the result, over all images
    int axis;       // of the channels of y
    bool depthwise;
} conv_sizes;

static conv_sizes sizes_of(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_convolution_attrs *a = u->qdq.node->attrs;
    const qdq_shape *x = &r->from->values[u->qdq.x[X].codes].type.shape,
                    *w = &r->from->values[u->qdq.x[W].codes].type.shape,
                    *y = &r->from->values[u->qdq.node->outputs[0]].type.shape;
    conv_sizes s = {.axis = a->data_format == QDQ_NCX ? 1 : x->rank - 1,
                    .groups = a->groups.set != 0 ? a->groups.value : 1,
                    .outputs = w->dims[0]};
    s.inputs = x->dims[s.axis];
    s.k = (int64_t)qdq_shape_count(*w) / s.outputs;
    s.pixels = qdq_shape_count(*y) / (size_t)s.outputs;
    const char *op = u->qdq.node->original_op;
    s.depthwise = op ? strcmp(op, "DEPTHWISE_CONV_2D") == 0 : s.groups > 1 && s.groups == s.inputs;
    return s;
}

// True if a product is scaled up, which shifts it to the left.
static bool is_scaled_up(const qdq_rewriter *r, const litert_unit *u) {
    bool rounded = u->qdq.y.dtype == QDQ_UINT8;
    for (size_t i = 0; i < u->qdq.x[W].count; i++)
        if (qdq_quantize_multiplier(double_scale(r, u, i, rounded), 31).shift < 31) return true;
    return false;
}

// Returns the rounding of an engine.
static product_rule conv_rule(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                              const conv_sizes *s) {
    bool arm = litert_is_arm(r->version), bytes = u->qdq.y.dtype == QDQ_UINT8;
    if (engine == LITERT_XNNPACK) return arm && bytes ? RULE_RNDNU : RULE_FLOAT32;
    if (engine != LITERT_BUILTIN) return RULE_DOUBLE;
    if (s->depthwise && !bytes) return RULE_BLOCKS;
    if (s->depthwise)
        return litert_is_3x3_kernel(r, u) && !is_scaled_up(r, u) ? RULE_UP : RULE_DOUBLE;
    if (s->groups > 1) return RULE_DOUBLE;
    return arm && !is_gemv(s->pixels, s->outputs, s->k) ? RULE_SINGLE : RULE_UP;
}

// Returns why a convolution is none of the operators; NULL if it is one.
static const char *conv_differs(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_convolution_attrs *a = u->qdq.node->attrs;
    if (a->weights_format != QDQ_OIX) return "the weights are not [O, I, spatial...]";
    if (a->channel_block.set != 0 || a->addend.id || a->auto_pad != QDQ_PAD_NONE)
        return "the convolution has options of other backends";
    const char *why = operands_differ(r, u, 0);
    if (why) return why;
    if (!are_zero(r, &u->qdq.x[W]) && u->qdq.x[X].dtype == QDQ_INT8)
        return "weights of int8 have a zero point";
    if (r->from->values[u->qdq.x[X].codes].type.shape.rank != 4) return "x is no image";
    return NULL;
}

// True if a uint8 filter with one scale has it along another axis than 0, which XNNPACK refuses.
static bool has_other_axis(const litert_unit *u) {
    const qdq_coder *w = &u->qdq.x[W];
    return w->dtype == QDQ_UINT8 && w->count == 1 && w->attrs->axis.set != 0 &&
           w->attrs->axis.value != 0;
}

bool litert_match_conv(const qdq_rewriter *r, qdq_match *m) {
    static const char *const convs[] = LITERT_NAMES("CONV_2D"), *const depthwise[] = LITERT_NAMES(
                                                                    "DEPTHWISE_CONV_2D");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!u.qdq.x[X].given && !u.qdq.x[W].given) return false;
    const char *why = conv_differs(r, &u);
    if (why) return litert_refuses(m, why);
    conv_sizes s = sizes_of(r, &u);
    bool narrow = u.qdq.x[W].dtype == QDQ_INT4;
    if (engine == LITERT_XNNPACK && (narrow || !has_bias(&u) || has_other_axis(&u)))
        engine = LITERT_BUILTIN;
    if (engine == LITERT_XNNPACK && !has_scales(r, &u, m)) return false;
    if (engine == LITERT_BUILTIN && !s.depthwise && s.inputs == 1 && !u.qdq.node->original_op)
        return litert_refuses(m, "CONV_2D and DEPTHWISE_CONV_2D of one channel round differently");
    if (engine == LITERT_BUILTIN && s.depthwise && u.qdq.y.dtype == QDQ_INT8 &&
        litert_is_3x3_kernel(r, &u) && is_scaled_up(r, &u))
        return litert_refuses(m, "the kernel of aarch64 for 3 by 3 shifts sums after the product");
    litert_run_by(m, engine, s.depthwise ? depthwise : convs);
    read_all(r, m, &u);
    return true;
}

// Returns the sum of a product and the bias, whose channels are dim `axis` of `rank`.
static qdq_value add_bias(const qdq_rewriter *r, const litert_unit *u, const char *name,
                          qdq_value sum, int axis, int rank) {
    if (!has_bias(u)) return sum;
    qdq_value bias = qdq_rewrite_value(r, u->qdq.x[BIAS].codes);
    qdq_shape shape = {rank - axis, {litert_shape(r->to, sum).dims[axis], 1, 1, 1}};
    if (axis + 1 < rank)
        bias = litert_reshape(r, litert_part(r, name, "/bias_of_channels"), bias, shape);
    return litert_binary(r, "Add", litert_part(r, name, "/biased"), sum, bias);
}

static qdq_value weights_of(const qdq_rewriter *r, const litert_unit *u, const char *name) {
    qdq_value w = qdq_rewrite_value(r, u->qdq.x[W].codes);
    if (u->qdq.x[W].dtype != QDQ_INT4) return w;
    return qdq_cast(r->to, w,
                    (qdq_cast_attrs){.name = litert_part(r, name, "/weights"), .dtype = QDQ_INT8});
}

// Returns the zero point of a coder as a constant of the dtype that its codes have in a product; no
// value for 0.
static qdq_value zero_of(const qdq_rewriter *r, const qdq_coder *c, const char *name,
                         const char *part) {
    int32_t zero = qdq_coder_zero(r, c, 0);
    char code[4];
    if (!zero) return (qdq_value){0};
    qdq_dtype dtype = c->dtype == QDQ_UINT8 ? QDQ_UINT8 : QDQ_INT8;
    qdq_encode_int(dtype, &zero, code, 1);
    return qdq_rewrite_constant(r, name, part, dtype, (qdq_shape){0}, code);
}

static qdq_value finish(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                        product_rule rule, bool rounded, qdq_value sum, int axis) {
    const char *name = litert_name(r, u);
    qdq_shape shape = litert_shape(r->to, sum);
    litert_scaling s = {.axis = axis};
    if (!set_scaling(r, u, rule, rounded, &s)) return (qdq_value){0};
    litert_ends_in(r, &s, engine, u);
    if (rule != RULE_BLOCKS) return litert_requantize(r, name, sum, &s);
    int64_t split = shape.dims[axis] / DEPTHWISE_BLOCK * DEPTHWISE_BLOCK;
    return litert_requantize_parts(r, name, sum, &s, axis, split);
}

void litert_build_conv(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    const qdq_convolution_attrs *a = u.qdq.node->attrs;
    const char *name = litert_name(r, &u);
    conv_sizes s = sizes_of(r, &u);
    litert_engine engine = (litert_engine)m->form;
    qdq_value sum = qdq_conv_integer(
        r->to, qdq_rewrite_value(r, u.qdq.x[X].codes), weights_of(r, &u, name),
        (qdq_conv_integer_attrs){.name = litert_part(r, name, "/sums"),
                                 .x_zero_point = zero_of(r, &u.qdq.x[X], name, "/x_zero_point"),
                                 .w_zero_point = zero_of(r, &u.qdq.x[W], name, "/w_zero_point"),
                                 .strides = a->strides,
                                 .dilations = a->dilations,
                                 .pads_begin = a->pads_begin,
                                 .pads_end = a->pads_end,
                                 .groups = a->groups,
                                 .data_format = a->data_format == QDQ_NXC ? QDQ_INTEGER_NXC
                                                                          : QDQ_INTEGER_NCX});
    sum = add_bias(r, &u, name, sum, s.axis, 4);
    product_rule rule = conv_rule(r, &u, engine, &s);
    m->made[0] = finish(r, &u, engine, rule, u.qdq.y.dtype == QDQ_UINT8, sum, s.axis);
}

//---- FULLY_CONNECTED --------------------------------------------------------

static int column_axis(const litert_unit *u) {
    const qdq_matmul_attrs *a = u->qdq.node->attrs;
    return a->transpose_b == QDQ_TRUE ? 0 : 1;
}

static const char *product_differs(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_matmul_attrs *a = u->qdq.node->attrs;
    if (a->transpose_a == QDQ_TRUE) return "x is transposed";
    const char *why = operands_differ(r, u, column_axis(u));
    if (why) return why;
    if (r->from->values[u->qdq.x[W].codes].type.shape.rank != 2) return "the weights are no matrix";
    if (r->from->values[u->qdq.x[X].codes].type.shape.rank < 2) return "x has no rows";
    if (u->qdq.x[W].count > 1 && !are_zero(r, &u->qdq.x[W])) return "weights have zero points";
    return NULL;
}

// True if XNNPACK takes the node.
static bool is_delegated(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *w = &u->qdq.x[W];
    int64_t k = r->from->values[w->codes].type.shape.dims[1 - column_axis(u)];
    if (u->qdq.x[X].dtype == QDQ_INT8 && !are_zero(r, w)) return false;
    if (has_other_axis(u)) return false;
    return w->dtype != QDQ_INT4 || k % 2 == 0;
}

// True if a sum of products with int4 may leave 28 bits: XNNPACK's kernels for dot products on
// aarch64 have it in the upper ones of 32.
static bool leaves_28_bits(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *w = &u->qdq.x[W];
    const qdq_shape *shape = &r->from->values[w->codes].type.shape;
    if (w->dtype != QDQ_INT4) return false;
    int64_t most = 0, products = shape->dims[1 - column_axis(u)] * 255 * 8;
    const int32_t *bias = has_bias(u) ? qdq_rewrite_data(r, u->qdq.x[BIAS].codes) : NULL;
    for (int64_t i = 0; bias && i < shape->dims[column_axis(u)]; i++) {
        int64_t size = bias[i] < 0 ? -(int64_t)bias[i] : bias[i];
        if (size > most) most = size;
    }
    return (has_bias(u) && !bias) || most + products >= INT64_C(1) << 27;
}

bool litert_match_fully_connected(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("FULLY_CONNECTED");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!u.qdq.x[X].given && !u.qdq.x[W].given) return false;
    const char *why = product_differs(r, &u);
    if (litert_is_batch_matmul(u.qdq.node)) why = "BATCH_MATMUL was not compared";
    if (!why && engine == LITERT_TFLM && u.qdq.x[W].dtype == QDQ_INT4)
        why = "TFLM has no FULLY_CONNECTED by int4";
    if (why) return litert_refuses(m, why);
    if (engine == LITERT_XNNPACK && !is_delegated(r, &u)) engine = LITERT_BUILTIN;
    if (engine == LITERT_XNNPACK && !has_scales(r, &u, m)) return false;
    if (engine == LITERT_XNNPACK && litert_is_arm(r->version) && leaves_28_bits(r, &u))
        return litert_refuses(m, "sums with int4 may leave 28 bits, where a kernel wraps");
    litert_run_by(m, engine, names);
    read_all(r, m, &u);
    return true;
}

static product_rule matmul_rule(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                                qdq_shape sum, int64_t k) {
    bool arm = litert_is_arm(r->version);
    int64_t outputs = sum.dims[sum.rank - 1];
    size_t rows = qdq_shape_count(sum) / (size_t)outputs;
    switch (engine) {
    case LITERT_XNNPACK: return arm && u->qdq.y.dtype == QDQ_UINT8 ? RULE_RNDNU : RULE_FLOAT32;
    case LITERT_BUILTIN: return arm && !is_gemv(rows, outputs, k) ? RULE_SINGLE : RULE_UP;
    case LITERT_REFERENCE: return RULE_FLOAT64;
    case LITERT_TFLM:
    default: return RULE_DOUBLE;
    }
}

void litert_build_fully_connected(qdq_rewriter *r, qdq_match *m) {
    static const int64_t order[] = {1, 0};
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    const char *name = litert_name(r, &u);
    qdq_value w = weights_of(r, &u, name);
    if (column_axis(&u) == 0)
        w = qdq_transpose(
            r->to, w,
            (qdq_transpose_attrs){.name = litert_part(r, name, "/columns"), .order = {order, 2}});
    qdq_value sum = qdq_matmul_integer(
        r->to, qdq_rewrite_value(r, u.qdq.x[X].codes), w,
        (qdq_matmul_integer_attrs){.name = litert_part(r, name, "/sums"),
                                   .a_zero_point = zero_of(r, &u.qdq.x[X], name, "/x_zero_point"),
                                   .b_zero_point = zero_of(r, &u.qdq.x[W], name, "/w_zero_point")});
    qdq_shape shape = litert_shape(r->to, sum);
    sum = add_bias(r, &u, name, sum, shape.rank - 1, shape.rank);
    litert_engine engine = (litert_engine)m->form;
    int64_t k = litert_shape(r->to, w).dims[0];
    product_rule rule = matmul_rule(r, &u, engine, shape, k);
    bool rounded = engine != LITERT_TFLM && (u.qdq.x[W].count == 1 || u.qdq.y.dtype == QDQ_UINT8);
    m->made[0] = finish(r, &u, engine, rule, rounded, sum, shape.rank - 1);
}
