// SPDX-License-Identifier: Apache-2.0
// ConvInteger64: convolutions of int16 whose sums need more than 32 bits, as CONV2D of TOSA 1.0
// with int48. A unit is a position of y with all its channels.
#include "include/qdq/ops/integer.h"
#include "ops/conv/conv_lowering.h"
#include "runtime/numerics/dtype.h"

enum { X, W, X_ZERO, W_ZERO };

#define CODES (QDQ_SET(INT8) | QDQ_SET(INT16))

typedef qdq_conv_integer64_attrs attrs;

static const qdq_port_desc inputs[] = {
    {"x", offsetof(attrs, x), false, CODES},
    {"w", offsetof(attrs, w), false, CODES},
    {"x_zero_point", offsetof(attrs, x_zero_point), true, CODES},
    {"w_zero_point", offsetof(attrs, w_zero_point), true, CODES},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET(INT64)}};
static const qdq_attr_desc attr_descs[] = {
    {"strides", QDQ_ATTR_INTS, offsetof(attrs, strides), NULL, "ones", "one per spatial dim"},
    {"dilations", QDQ_ATTR_INTS, offsetof(attrs, dilations), NULL, "ones", "one per spatial dim"},
    QDQ_PAD_ATTRS(attrs),
    {"data_format", QDQ_ATTR_WORD, offsetof(attrs, data_format), qdq_data_format_words, "NXC",
     "where the channels are"}};

static bool sizes_of(const qdq_op_context *ctx, qdq_conv_sizes *sizes) {
    const attrs *a = ctx->attrs;
    const qdq_conv_attrs of = {
        .weights_port = W,
        .bias_port = SIZE_MAX,
        .window = {a->strides, a->dilations, a->pads_begin, a->pads_end, a->auto_pad, false},
        .groups = a->groups,
        .format = a->data_format,
        .spatial_last = true};
    return qdq_conv_sizes_of(ctx, &of, sizes);
}

static void infer(qdq_op_context *ctx) {
    qdq_conv_sizes sizes;
    for (size_t port = X_ZERO; port <= W_ZERO; port++) {
        qdq_check_dtype_as(ctx, port, port - X_ZERO);
        qdq_check_one(ctx, port);
    }
    if (!qdq_has_input(ctx, W) || !sizes_of(ctx, &sizes)) return;
    ctx->outputs[0] = (qdq_type){QDQ_INT64, sizes.y};
}

typedef struct conv_params {
    qdq_conv_sizes sizes;
    qdq_dtype dtypes[2];
    bool has_zero[2];
    size_t windows;  // positions of y in an image
} conv_params;

static int32_t code_at(qdq_dtype dtype, const void *x, size_t at) {
    return dtype == QDQ_INT8 ? ((const int8_t *)x)[at] : ((const int16_t *)x)[at];
}

static int32_t zero_of(const conv_params *p, const qdq_tensors *tensors, size_t port) {
    size_t of = port - X_ZERO;
    return p->has_zero[of] ? code_at(p->dtypes[of], tensors->x[port], 0) : 0;
}

// Finds the pixel of x under a tap of a window. False: it lies beyond the border.
static bool pixel_of(const qdq_window *w, size_t window, size_t tap, size_t *pixel) {
    size_t unit = 1;
    *pixel = 0;
    for (int d = w->spatial - 1; d >= 0; d--) {
        size_t at = window % w->out[d] * w->stride[d] + tap % w->kernel[d] * w->dilation[d];
        if (at < w->pad_begin[d] || at - w->pad_begin[d] >= w->in[d]) return false;
        *pixel += (at - w->pad_begin[d]) * unit;
        unit *= w->in[d];
        window /= w->out[d], tap /= w->kernel[d];
    }
    return true;
}

// Adds the products under a tap to all channels of a position of y; their sums are `step` apart.
static void add_tap(const conv_params *p, const qdq_tensors *tensors, size_t from, size_t tap,
                    int64_t *y, size_t step) {
    const qdq_conv_sizes *s = &p->sizes;
    int32_t x_zero = zero_of(p, tensors, X_ZERO), w_zero = zero_of(p, tensors, W_ZERO);
    for (size_t o = 0; o < s->groups * s->group_outputs; o++) {
        size_t x = from + o / s->group_outputs * s->group_inputs * s->x.channel_stride;
        size_t w = o * s->group_inputs * s->taps + tap;
        int64_t sum = 0;
        for (size_t i = 0; i < s->group_inputs; i++)
            sum += (int64_t)(code_at(p->dtypes[X], tensors->x[X], x + i * s->x.channel_stride) -
                             x_zero) *
                   (code_at(p->dtypes[W], tensors->x[W], w + i * s->taps) - w_zero);
        y[o * step] += sum;
    }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const conv_params *p = params;
    const qdq_conv_sizes *s = &p->sizes;
    size_t channels = s->groups * s->group_outputs, pixel;
    bool last = s->format == QDQ_NXC;
    for (size_t unit = begin; unit < end; unit++) {
        size_t batch = unit / p->windows, window = unit % p->windows;
        size_t first = last ? unit * channels : batch * channels * p->windows + window;
        size_t step = last ? 1 : p->windows;
        int64_t *y = (int64_t *)tensors->y[0] + first;
        for (size_t o = 0; o < channels; o++) y[o * step] = 0;
        for (size_t tap = 0; tap < s->taps; tap++)
            if (pixel_of(&s->window, window, tap, &pixel))
                add_tap(p, tensors, batch * s->x.batch_stride + pixel * s->x.pixel_stride, tap, y,
                        step);
    }
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    conv_params *p = QDQ_MEMPOOL_NEW(to->mempool, conv_params);
    if (!p) return 0;
    *p = (conv_params){.dtypes = {ctx->inputs[X].type.dtype, ctx->inputs[W].type.dtype},
                       .has_zero = {ctx->inputs[X_ZERO].given, ctx->inputs[W_ZERO].given},
                       .windows = 1};
    if (!sizes_of(ctx, &p->sizes)) return 0;
    for (int d = 0; d < p->sizes.window.spatial; d++) p->windows *= p->sizes.window.out[d];
    stages[0] =
        (qdq_stage){.params = p,
                    .tensor_op = run,
                    .units = p->sizes.x.batch * p->windows,
                    .cost = qdq_shape_count(p->sizes.y) * p->sizes.taps * p->sizes.group_inputs};
    return 1;
}

const qdq_op qdq_op_conv_integer64 = {
    .name = "ConvInteger64",
    .summary = "y = x - x_zero_point under a sliding window times w - w_zero_point, int64",
    .attrs_size = sizeof(attrs),
    QDQ_OP_TABLES(inputs, outputs, attr_descs),
    .infer = infer,
    .looks_at = 1u << X_ZERO | 1u << W_ZERO,
    .lower = lower,
};
