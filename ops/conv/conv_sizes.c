// SPDX-License-Identifier: Apache-2.0
// The sizes of a convolution: checks the shapes of x and the weights and the attributes of the
// window.
#include "ops/conv/conv_lowering.h"

//---- Weights ----------------------------------------------------------------

// The dims of the weights by their meaning.
typedef struct weight_dims {
    int spatial, inputs, outputs;  // `spatial`: the first dim
} weight_dims;

static weight_dims weight_dims_of(const qdq_conv_attrs *a, int spatial) {
    if (a->spatial_last) return a->transposed ? (weight_dims){2, 0, 1} : (weight_dims){2, 1, 0};
    return a->transposed ? (weight_dims){0, spatial + 1, spatial}
                         : (weight_dims){0, spatial, spatial + 1};
}

static bool check_weights(const qdq_op_context *ctx, const qdq_conv_attrs *a, qdq_conv_sizes *s) {
    const char *port = ctx->op->inputs[a->weights_port].name;
    qdq_shape w = ctx->inputs[a->weights_port].type.shape;
    qdq_findings *f = ctx->findings;
    const char *found = qdq_text(f, "has the shape %s", qdq_shape_text(f, w));
    if (w.rank != s->x.spatial + 2) {
        qdq_report_violation(ctx, QDQ_RULE_PORT_SHAPE, port, found,
                             qdq_text(f, "%d dims, as x has", s->x.spatial + 2));
        return false;
    }
    weight_dims dims = weight_dims_of(a, s->x.spatial);
    size_t inputs = (size_t)w.dims[dims.inputs], outputs = (size_t)w.dims[dims.outputs];
    size_t wanted = a->transposed ? s->x.channels : s->x.channels / s->groups;
    if (inputs != wanted) {
        const char *of =
            a->transposed || s->groups == 1 ? "the channels of x" : "the channels of x in a group";
        qdq_report_violation(ctx, QDQ_RULE_PORT_SHAPE, port, found,
                             qdq_text(f, "%zu in dim %d, %s", wanted, dims.inputs, of));
        return false;
    }
    if (!a->transposed && outputs % s->groups) {
        qdq_report_violation(
            ctx, QDQ_RULE_PORT_SHAPE, port, found,
            qdq_text(f, "a multiple of %zu, the groups, in dim %d", s->groups, dims.outputs));
        return false;
    }
    s->group_inputs = s->x.channels / s->groups;
    s->group_outputs = a->transposed ? outputs : outputs / s->groups;
    s->taps = 1;
    for (int i = 0; i < s->x.spatial; i++) {
        s->window.kernel[i] = (size_t)w.dims[dims.spatial + i];
        s->taps *= s->window.kernel[i];
    }
    return true;
}

static qdq_gemm_weights strides_of(const qdq_conv_attrs *a, const qdq_conv_sizes *s) {
    size_t i = s->group_inputs, o = s->group_outputs, taps = s->taps, g = s->groups;
    qdq_gemm_weights w = {.port = a->weights_port, .taps = taps, .matrices = g};
    if (a->spatial_last && a->transposed)
        w.tap_stride = 1, w.depth_stride = o * taps, w.column_stride = taps;
    else if (a->spatial_last)
        w.tap_stride = 1, w.depth_stride = taps, w.column_stride = i * taps;
    else if (a->transposed)
        w.tap_stride = o * i * g, w.depth_stride = 1, w.column_stride = i * g;
    else
        w.tap_stride = i * o * g, w.depth_stride = o * g, w.column_stride = 1;
    w.matrix_stride = a->transposed ? i * w.depth_stride : o * w.column_stride;
    return w;
}

//---- Windows ----------------------------------------------------------------

// Fills in the window of a transposed convolution, which slides over y with this stride.
static bool transposed_window(const qdq_op_context *ctx, const qdq_conv_attrs *a, qdq_window *w) {
    size_t extra[QDQ_MAX_SPATIAL];
    int n = w->spatial;
    bool fine = qdq_spatial_list(ctx, "strides", a->window.strides, n, 1, 1, w->stride);
    fine &= qdq_spatial_list(ctx, "dilations", a->window.dilations, n, 1, 1, w->dilation);
    fine &= qdq_spatial_list(ctx, "pads_begin", a->window.pads_begin, n, 0, 0, w->pad_begin);
    fine &= qdq_spatial_list(ctx, "pads_end", a->window.pads_end, n, 0, 0, w->pad_end);
    fine &= qdq_spatial_list(ctx, "output_padding", a->output_padding, n, 0, 0, extra);
    if (!fine) return false;
    for (int i = 0; i < n; i++) {
        size_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
        if (a->window.auto_pad != QDQ_PAD_NONE) w->pad_begin[i] = w->pad_end[i] = 0;
        if (a->window.auto_pad == QDQ_PAD_SAME_UPPER || a->window.auto_pad == QDQ_PAD_SAME_LOWER) {
            size_t total = reach > w->stride[i] ? reach - w->stride[i] : 0;
            bool upper = a->window.auto_pad == QDQ_PAD_SAME_UPPER;
            w->pad_begin[i] = upper ? total / 2 : (total + 1) / 2;
            w->pad_end[i] = total - w->pad_begin[i];
        }
        size_t whole = w->stride[i] * (w->in[i] - 1) + reach + extra[i];
        if (whole <= w->pad_begin[i] + w->pad_end[i]) {
            qdq_report_violation(
                ctx, QDQ_RULE_ATTR_VALUE, "pads_begin",
                qdq_text(ctx->findings, "and pads_end have %zu together in dim %d",
                         w->pad_begin[i] + w->pad_end[i], i),
                qdq_text(ctx->findings, "less than the %zu elements of the result", whole));
            return false;
        }
        w->out[i] = whole - w->pad_begin[i] - w->pad_end[i];
    }
    return true;
}

static bool check_groups(const qdq_op_context *ctx, const qdq_conv_attrs *a, qdq_conv_sizes *s) {
    int64_t groups = a->groups.set != 0 ? a->groups.value : 1;
    if (groups >= 1 && s->x.channels % (size_t)groups == 0) {
        s->groups = (size_t)groups;
        return true;
    }
    qdq_report_violation(
        ctx, QDQ_RULE_ATTR_VALUE, "groups", qdq_text(ctx->findings, "is %lld", (long long)groups),
        qdq_text(ctx->findings, "a divisor of %zu, the channels of x", s->x.channels));
    return false;
}

bool qdq_conv_sizes_of(const qdq_op_context *ctx, const qdq_conv_attrs *a, qdq_conv_sizes *s) {
    *s = (qdq_conv_sizes){.transposed = a->transposed, .format = a->format};
    if (!qdq_image_of(ctx, 0, a->format, &s->x)) return false;
    if (!check_groups(ctx, a, s) || !check_weights(ctx, a, s)) return false;
    s->window.spatial = s->x.spatial;
    for (int i = 0; i < s->x.spatial; i++) s->window.in[i] = s->x.size[i];
    if (!(a->transposed ? transposed_window(ctx, a, &s->window)
                        : qdq_window_of(ctx, &a->window, &s->window)))
        return false;
    s->weights = strides_of(a, s);
    size_t channels = s->group_outputs * s->groups;
    s->y = qdq_image_shape(a->format, s->x.batch, channels, s->x.spatial, s->window.out);
    if (a->bias_port == SIZE_MAX) return true;
    return qdq_check_shape(ctx, a->bias_port, QDQ_SHAPE((int64_t)channels), "the output channels");
}
