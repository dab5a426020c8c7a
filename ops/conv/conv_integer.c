// SPDX-License-Identifier: Apache-2.0
// ConvInteger 10 and QLinearConv 10, as in ONNX: [N, C, spatial...] and [O, I, spatial...].
// ConvInteger also takes [N, spatial..., C].
//
// Where pairs saturate, they do so as ONNX Runtime's kernels pair them. QLinearConv multiplies
// pixels (tap by tap, channels innermost) by weights, and convolutions of one channel without a
// product of matrices. ConvInteger multiplies weights by the columns under the window (channel by
// channel, taps innermost), so its unsigned operand is w.
#include "include/qdq/ops/products.h"
#include "ops/conv/conv_lowering.h"
#include "ops/gemm/pairs/pair_sums.h"

#define BYTES (QDQ_SET(INT8) | QDQ_SET(UINT8))

#define WINDOW_ATTRS(attrs_type)                                      \
    {                                                                 \
        "strides", QDQ_ATTR_INTS, offsetof(attrs_type, strides),      \
        NULL,      "ones",        "one per spatial dim"},             \
        {"dilations", QDQ_ATTR_INTS, offsetof(attrs_type, dilations), \
         NULL,        "ones",        "one per spatial dim"},          \
        QDQ_PAD_ATTRS(attrs_type),

#define WINDOW_OF(a)                                                                          \
    .window =                                                                                 \
        {(a)->strides, (a)->dilations, (a)->pads_begin, (a)->pads_end, (a)->auto_pad, false}, \
    .groups = (a)->groups, .spatial_last = true

// One element, or one for each output channel.
static void check_parameter(const qdq_op_context *ctx, const qdq_conv_sizes *s, size_t port) {
    if (!qdq_has_input(ctx, port) || qdq_shape_count(ctx->inputs[port].type.shape) == 1) return;
    qdq_check_shape(ctx, port, QDQ_SHAPE((int64_t)(s->group_outputs * s->groups)),
                    "the output channels, or one element");
}

static qdq_gemm_along of_channels(const qdq_op_context *ctx, const qdq_conv *c, size_t port,
                                  size_t *matrix_stride) {
    qdq_gemm_along along = qdq_gemm_one(ctx, port);
    if (qdq_shape_count(ctx->inputs[port].type.shape) == 1) return along;
    along.column_stride = 1;
    *matrix_stride = c->group_outputs;
    return along;
}

//---- ConvInteger ------------------------------------------------------------

enum { X, W, X_ZERO, W_ZERO };

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_conv_integer_attrs, x), false, BYTES},
    {"w", offsetof(qdq_conv_integer_attrs, w), false, BYTES},
    {"x_zero_point", offsetof(qdq_conv_integer_attrs, x_zero_point), true, BYTES},
    {"w_zero_point", offsetof(qdq_conv_integer_attrs, w_zero_point), true, BYTES},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET(INT32)}};
static const char *const formats[] = {"NCX", "NXC", NULL};
static const qdq_attr_desc attrs[] = {WINDOW_ATTRS(qdq_conv_integer_attrs){
    "data_format", QDQ_ATTR_WORD, offsetof(qdq_conv_integer_attrs, data_format), formats, "NCX",
    "where the channels are"}};

static qdq_conv_attrs attrs_of(const qdq_conv_integer_attrs *a) {
    bool last = a->data_format == QDQ_INTEGER_NXC;
    return (qdq_conv_attrs){
        .weights_port = W, .bias_port = SIZE_MAX, .format = last ? QDQ_NXC : QDQ_NCX, WINDOW_OF(a)};
}

static void infer(qdq_op_context *ctx) {
    qdq_conv_attrs a = attrs_of(ctx->attrs);
    qdq_conv_sizes sizes;
    qdq_check_dtype_as(ctx, X_ZERO, X);
    qdq_check_dtype_as(ctx, W_ZERO, W);
    qdq_check_one(ctx, X_ZERO);
    if (!qdq_has_input(ctx, W) || !qdq_conv_sizes_of(ctx, &a, &sizes)) return;
    check_parameter(ctx, &sizes, W_ZERO);
    ctx->outputs[0] = (qdq_type){QDQ_INT32, sizes.y};
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_conv_attrs a = attrs_of(ctx->attrs);
    qdq_conv *c = qdq_conv_new(ctx, &a, to, true);
    if (!c) return 0;
    c->gemm.epilogue = qdq_gemm_epilogue_int32;
    qdq_pair_sums_init(&c->gemm, to, true);
    if (ctx->inputs[X_ZERO].given) c->gemm.a_zero = qdq_gemm_one(ctx, X_ZERO);
    if (ctx->inputs[W_ZERO].given)
        c->gemm.b_zero = of_channels(ctx, c, W_ZERO, &c->gemm.weights.zero_stride);
    return qdq_conv_stage(c, ctx, to, &stages[0]) ? 1 : 0;
}

const qdq_op qdq_op_conv_integer = {
    .name = "ConvInteger",
    .summary = "y = x - x_zero_point under a sliding window times w - w_zero_point, int32",
    .attrs_size = sizeof(qdq_conv_integer_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .looks_at = 1u << X_ZERO | 1u << W_ZERO,
    .by_pair_sums = true,
    .lower = lower,
};

//---- QLinearConv ------------------------------------------------------------

enum { Q_X, Q_X_SCALE, Q_X_ZERO, Q_W, Q_W_SCALE, Q_W_ZERO, Q_Y_SCALE, Q_Y_ZERO, Q_BIAS };

typedef qdq_qlinear_conv_attrs q_attrs_type;

static const qdq_port_desc q_inputs[] = {
    {"x", offsetof(q_attrs_type, x), false, BYTES},
    {"x_scale", offsetof(q_attrs_type, x_scale), false, QDQ_SET_FLOATS},
    {"x_zero_point", offsetof(q_attrs_type, x_zero_point), false, BYTES},
    {"w", offsetof(q_attrs_type, w), false, BYTES},
    {"w_scale", offsetof(q_attrs_type, w_scale), false, QDQ_SET_FLOATS},
    {"w_zero_point", offsetof(q_attrs_type, w_zero_point), false, BYTES},
    {"y_scale", offsetof(q_attrs_type, y_scale), false, QDQ_SET_FLOATS},
    {"y_zero_point", offsetof(q_attrs_type, y_zero_point), false, BYTES},
    {"bias", offsetof(q_attrs_type, bias), true, QDQ_SET(INT32)},
};
static const qdq_port_desc q_outputs[] = {{"y", 0, false, BYTES}};
static const qdq_attr_desc q_attrs[] = {WINDOW_ATTRS(q_attrs_type)};

static qdq_conv_attrs q_attrs_of(const q_attrs_type *a) {
    return (qdq_conv_attrs){
        .weights_port = Q_W, .bias_port = Q_BIAS, .format = QDQ_NCX, WINDOW_OF(a)};
}

static void q_infer(qdq_op_context *ctx) {
    qdq_conv_attrs a = q_attrs_of(ctx->attrs);
    qdq_conv_sizes sizes;
    qdq_check_dtype_as(ctx, Q_X_ZERO, Q_X);
    qdq_check_dtype_as(ctx, Q_W_ZERO, Q_W);
    qdq_check_one(ctx, Q_X_SCALE);
    qdq_check_one(ctx, Q_X_ZERO);
    qdq_check_one(ctx, Q_Y_SCALE);
    qdq_check_one(ctx, Q_Y_ZERO);
    if (!qdq_has_input(ctx, Q_W) || !qdq_conv_sizes_of(ctx, &a, &sizes)) return;
    check_parameter(ctx, &sizes, Q_W_SCALE);
    check_parameter(ctx, &sizes, Q_W_ZERO);
    if (qdq_has_input(ctx, Q_Y_ZERO))
        ctx->outputs[0] = (qdq_type){ctx->inputs[Q_Y_ZERO].type.dtype, sizes.y};
}

static size_t q_lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_conv_attrs a = q_attrs_of(ctx->attrs);
    qdq_conv *c = qdq_conv_new(ctx, &a, to, true);
    if (!c) return 0;
    qdq_gemm *g = &c->gemm;
    g->epilogue = qdq_gemm_epilogue_requantized;
    if (!qdq_pair_sums_none(c->group_inputs, c->group_outputs, &ctx->inputs[Q_W_ZERO]))
        qdq_pair_sums_init(g, to, false);
    g->a_scale = qdq_gemm_one(ctx, Q_X_SCALE), g->a_zero = qdq_gemm_one(ctx, Q_X_ZERO);
    g->b_scale = of_channels(ctx, c, Q_W_SCALE, &g->weights.scale_stride);
    g->b_zero = of_channels(ctx, c, Q_W_ZERO, &g->weights.zero_stride);
    g->y_scale = qdq_gemm_one(ctx, Q_Y_SCALE), g->y_zero = qdq_gemm_one(ctx, Q_Y_ZERO);
    if (ctx->inputs[Q_BIAS].given) g->bias = (qdq_gemm_along){Q_BIAS, QDQ_INT32, 0, 1, NULL};
    return qdq_conv_stage(c, ctx, to, &stages[0]) ? 1 : 0;
}

const qdq_op qdq_op_qlinear_conv = {
    .name = "QLinearConv",
    .summary = "y = x under a sliding window times w, of integers that stand for reals",
    .attrs_size = sizeof(q_attrs_type),
    QDQ_OP_TABLES(q_inputs, q_outputs, q_attrs),
    .infer = q_infer,
    .looks_at = 1u << Q_X_SCALE | 1u << Q_X_ZERO | 1u << Q_W_SCALE | 1u << Q_W_ZERO |
                1u << Q_Y_SCALE | 1u << Q_Y_ZERO,
    .by_pair_sums = true,
    .lower = q_lower,
};
