// SPDX-License-Identifier: Apache-2.0
// Convolution and ConvTranspose, as in oneDNN Graph.
#include "include/qdq/ops/products.h"
#include "ops/conv/conv_lowering.h"
#include "ops/gemm/order/gemm_threads.h"

enum { X, WEIGHTS, BIAS, ADDEND };

#define PORTS(attrs_type)                                                  \
    {"x", offsetof(attrs_type, x), false, QDQ_SET_FLOATS},                 \
        {"weights", offsetof(attrs_type, weights), false, QDQ_SET_FLOATS}, \
        {"bias", offsetof(attrs_type, bias), true, QDQ_SET_FLOATS},

#define WINDOW_ATTRS(attrs_type)                                                  \
    {"strides", QDQ_ATTR_INTS, offsetof(attrs_type, strides),                     \
     NULL,      QDQ_REQUIRED,  "one per spatial dim"},                            \
        {"dilations", QDQ_ATTR_INTS, offsetof(attrs_type, dilations),             \
         NULL,        QDQ_REQUIRED,  "one per spatial dim"},                      \
        QDQ_PAD_ATTRS(attrs_type),                                                \
        {"data_format",         QDQ_ATTR_WORD, offsetof(attrs_type, data_format), \
         qdq_data_format_words, "NXC",         "where the channels are"},

static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};

static void infer_of(qdq_op_context *ctx, const qdq_conv_attrs *attrs) {
    qdq_conv_sizes sizes;
    bool fine = qdq_require_attr(ctx, "strides", attrs->window.strides.count > 0);
    fine = qdq_require_attr(ctx, "dilations", attrs->window.dilations.count > 0) && fine;
    fine = qdq_check_same_dtype(ctx, WEIGHTS) && fine;
    fine = qdq_check_same_dtype(ctx, BIAS) && fine;
    if (!qdq_has_input(ctx, WEIGHTS) || !qdq_conv_sizes_of(ctx, attrs, &sizes)) return;
    if (fine) ctx->outputs[0] = (qdq_type){ctx->inputs[X].type.dtype, sizes.y};
}

static size_t lower_of(const qdq_op_context *ctx, const qdq_conv_attrs *attrs,
                       const qdq_lowering *to, qdq_stage *stages) {
    bool quantized = ctx->inputs[X].quantized != NULL;
    qdq_conv *conv = qdq_conv_new(ctx, attrs, to, quantized);
    if (!conv) return 0;
    conv->gemm.epilogue = qdq_gemm_epilogue_float;
    // In a transposed convolution all groups have the same scales.
    size_t own = attrs->transposed ? 0 : conv->group_outputs;
    if (quantized && !qdq_gemm_use_quantized(&conv->gemm, ctx, own, to->mempool)) return 0;
    const qdq_operand *w = &ctx->inputs[WEIGHTS];
    if (qdq_adds_as_runtime(ctx, to, X, WEIGHTS)) qdq_conv_set_runtime_order(conv, w->initial);
    if (attrs->channel_block.set != 0)
        qdq_conv_set_block_order(conv, (size_t)attrs->channel_block.value);
    if (ctx->inputs[BIAS].given)
        conv->gemm.bias = (qdq_gemm_along){BIAS, ctx->inputs[BIAS].type.dtype, 0, 1, NULL};
    if (attrs->addend) qdq_conv_begin_with(conv, ADDEND);
    return qdq_conv_stage(conv, ctx, to, &stages[0]) ? 1 : 0;
}

// True if the node names the order of its sums.
static bool has_order(const qdq_conv_attrs *attrs) {
    return attrs->channel_block.set != 0 || attrs->addend;
}

// Lanes have few weights, which are packed as floats, like the weights of transposed convolutions
// with many positions: phases and direct forms take no codes.
static bool packs_weight_codes_of(const qdq_op_context *ctx, const qdq_conv_attrs *attrs) {
    qdq_conv_sizes sizes;
    if (!qdq_conv_sizes_of(ctx, attrs, &sizes)) return false;
    qdq_conv conv = {.groups = sizes.groups, .group_outputs = sizes.group_outputs};
    qdq_conv_set_product(&conv.gemm, ctx, &sizes);
    bool direct = attrs->transposed && conv.gemm.rows >= QDQ_CONV_PANELS_LEAST;
    return !direct && !qdq_conv_has_lanes(&conv) && !has_order(attrs) &&
           qdq_gemm_takes_weight_codes(&conv.gemm, ctx->inputs[WEIGHTS].weight_codes);
}

// Sums run over the input channels of a group; `channels`: the dim of the output channels.
static uint64_t accepts_quantized_of(const qdq_op_context *ctx, const qdq_conv_attrs *attrs,
                                     int channels) {
    qdq_conv_sizes sizes;
    if (has_order(attrs) || !qdq_conv_sizes_of(ctx, attrs, &sizes)) return 0;
    bool takes = qdq_gemm_takes_quantized(&ctx->inputs[X], &ctx->inputs[WEIGHTS],
                                          sizes.group_inputs * sizes.taps, channels);
    return takes ? 1u << X | 1u << WEIGHTS : 0;
}

//---- Convolution ------------------------------------------------------------

static const char *const weights_words[] = {"XIO", "OIX", NULL};
static const qdq_port_desc inputs[] = {
    PORTS(qdq_convolution_attrs){"addend", offsetof(qdq_convolution_attrs, addend), true,
                                 QDQ_SET(FLOAT32)},
};
static const qdq_attr_desc attrs[] = {
    WINDOW_ATTRS(qdq_convolution_attrs){
        "weights_format", QDQ_ATTR_WORD, offsetof(qdq_convolution_attrs, weights_format),
        weights_words, "XIO", "the order of spatial dims, input and output channels"},
    {"channel_block", QDQ_ATTR_INT, offsetof(qdq_convolution_attrs, channel_block), NULL, "none",
     "input channels whose products are summed before the next; of float32"},
};

static qdq_conv_attrs attrs_of(const qdq_convolution_attrs *a) {
    return (qdq_conv_attrs){
        .weights_port = WEIGHTS,
        .bias_port = BIAS,
        .window = {a->strides, a->dilations, a->pads_begin, a->pads_end, a->auto_pad, false},
        .groups = a->groups,
        .format = a->data_format,
        .spatial_last = a->weights_format == QDQ_OIX,
        .channel_block = a->channel_block,
        .addend = a->addend.id != 0,
    };
}

// Sums of other dtypes than float32 have one order.
static void check_order(const qdq_op_context *ctx, const qdq_conv_attrs *a) {
    bool is_float = ctx->inputs[X].type.dtype == QDQ_FLOAT32;
    if (a->channel_block.set != 0 && (a->channel_block.value < 1 || !is_float))
        qdq_report_violation(
            ctx, QDQ_RULE_ATTR_VALUE, "channel_block",
            is_float ? qdq_text(ctx->findings, "is %lld", (long long)a->channel_block.value)
                     : "is given",
            "1 or more, with x of float32");
    if (a->addend && ctx->inputs[BIAS].given)
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "addend", "is given beside a bias",
                             "one of them, and an Add of the bias");
    if (a->addend && qdq_has_input(ctx, ADDEND))
        qdq_check_shape(ctx, ADDEND, ctx->outputs[0].shape, "the shape of y");
}

static void infer(qdq_op_context *ctx) {
    qdq_conv_attrs a = attrs_of(ctx->attrs);
    infer_of(ctx, &a);
    if (ctx->outputs[0].dtype != QDQ_DTYPE_NONE) check_order(ctx, &a);
}

static uint64_t accepts_quantized(const qdq_op_context *ctx) {
    qdq_conv_attrs a = attrs_of(ctx->attrs);
    int rank = ctx->inputs[WEIGHTS].type.shape.rank;
    return accepts_quantized_of(ctx, &a, a.spatial_last ? 0 : rank - 1);
}

static bool packs_weight_codes(const qdq_op_context *ctx) {
    qdq_conv_attrs a = attrs_of(ctx->attrs);
    return packs_weight_codes_of(ctx, &a);
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_conv_attrs a = attrs_of(ctx->attrs);
    return lower_of(ctx, &a, to, stages);
}

static const qdq_op_fusion fusion = {
    .accepts_quantized = accepts_quantized,
    .packs = 1u << WEIGHTS,
    .packs_weight_codes = packs_weight_codes,
};

const qdq_op qdq_op_convolution = {
    .name = "Convolution",
    .summary = "y = x under a window that slides over its spatial dims, times weights",
    .attrs_size = sizeof(qdq_convolution_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .by_float_ops = true,
    .fusion = &fusion,
};

//---- ConvTranspose ----------------------------------------------------------

static const char *const transposed_words[] = {"XOI", "IOX", NULL};
static const qdq_port_desc transposed_inputs[] = {PORTS(qdq_conv_transpose_attrs)};
static const qdq_attr_desc transposed_attrs[] = {
    WINDOW_ATTRS(qdq_conv_transpose_attrs){
        "output_padding", QDQ_ATTR_INTS, offsetof(qdq_conv_transpose_attrs, output_padding), NULL,
        "zeros", "elements more at the end, one per spatial dim"},
    {"weights_format", QDQ_ATTR_WORD, offsetof(qdq_conv_transpose_attrs, weights_format),
     transposed_words, "XOI", "the order of spatial dims, output channels of a group and inputs"},
};

static qdq_conv_attrs transposed_of(const qdq_conv_transpose_attrs *a) {
    return (qdq_conv_attrs){
        .weights_port = WEIGHTS,
        .bias_port = BIAS,
        .window = {a->strides, a->dilations, a->pads_begin, a->pads_end, a->auto_pad, false},
        .output_padding = a->output_padding,
        .groups = a->groups,
        .format = a->data_format,
        .transposed = true,
        .spatial_last = a->weights_format == QDQ_IOX,
    };
}

static void infer_transposed(qdq_op_context *ctx) {
    qdq_conv_attrs a = transposed_of(ctx->attrs);
    infer_of(ctx, &a);
}

static bool packs_weight_codes_transposed(const qdq_op_context *ctx) {
    qdq_conv_attrs a = transposed_of(ctx->attrs);
    return packs_weight_codes_of(ctx, &a);
}

static uint64_t accepts_quantized_transposed(const qdq_op_context *ctx) {
    qdq_conv_attrs a = transposed_of(ctx->attrs);
    int rank = ctx->inputs[WEIGHTS].type.shape.rank;
    return accepts_quantized_of(ctx, &a, a.spatial_last ? 1 : rank - 2);
}

static size_t lower_transposed(const qdq_op_context *ctx, const qdq_lowering *to,
                               qdq_stage *stages) {
    qdq_conv_attrs a = transposed_of(ctx->attrs);
    return lower_of(ctx, &a, to, stages);
}

static const qdq_op_fusion transposed_fusion = {
    .accepts_quantized = accepts_quantized_transposed,
    .packs = 1u << WEIGHTS,
    .packs_weight_codes = packs_weight_codes_transposed,
};

const qdq_op qdq_op_conv_transpose = {
    .name = "ConvTranspose",
    .summary = "y = each element of x times weights, added where a window slides over y",
    .attrs_size = sizeof(qdq_conv_transpose_attrs),
    QDQ_OP_TABLES(transposed_inputs, outputs, transposed_attrs),
    .infer = infer_transposed,
    .lower = lower_transposed,
    .by_float_ops = true,
    .fusion = &transposed_fusion,
};

//---- Threads ----------------------------------------------------------------

// The product of ONNX Runtime for weights that it transposes beforehand if they are an initializer.
static bool taps_depend(const qdq_op_context *ctx, const qdq_conv_sizes *s, size_t threads) {
    const qdq_operand *w = &ctx->inputs[WEIGHTS];
    qdq_runtime_product p = {.m = s->group_outputs * s->taps,
                             .n = 1,
                             .k = s->group_inputs,
                             .together = true,
                             .m_is_columns = true};
    for (int i = 0; i < s->x.spatial; i++) p.n *= s->window.in[i];
    p.transpose_a = !w->initial || p.m == 1 || p.k == 1;
    return qdq_gemm_depends_on_threads(&p, 1, threads);
}

bool qdq_conv_depends_on_threads(const qdq_op_context *ctx, size_t threads) {
    bool transposed = ctx->op == &qdq_op_conv_transpose, same = true;
    qdq_conv_attrs a = transposed ? transposed_of(ctx->attrs) : attrs_of(ctx->attrs);
    qdq_conv_sizes s;
    if (!qdq_conv_sizes_of(ctx, &a, &s)) return false;
    if (transposed) return taps_depend(ctx, &s, threads);
    qdq_runtime_product p = {.m = s.group_outputs,
                             .n = 1,
                             .k = s.group_inputs * s.taps,
                             .together = true,
                             .m_is_columns = true};
    for (int i = 0; i < s.x.spatial; i++) {
        p.n *= s.window.out[i];
        same &= s.window.out[i] == s.window.in[i] && !s.window.pad_begin[i];
    }
    bool one = s.x.batch * s.groups == 1, pointwise = s.taps == 1 && same;
    if (!pointwise && p.m > p.n) return qdq_gemm_depends_on_threads(&p, 1, threads);
    if (!one) return false;
    return pointwise ? qdq_gemm_depends_on_threads(&p, 1, threads)
                     : qdq_windows_depend_on_threads(&p, threads);
}
