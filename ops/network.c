// SPDX-License-Identifier: Apache-2.0
#include "ops/network.h"

#include <stdio.h>

const char *const qdq_data_format_words[] = {"NXC", "NCX", NULL};
const char *const qdq_auto_pad_words[] = {"None", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};
const char *const qdq_broadcast_words[] = {"numpy", "none", NULL};

//---- Checks -----------------------------------------------------------------

const char *qdq_shape_text(qdq_findings *findings, qdq_shape shape) {
    char text[256] = "";
    size_t at = 0;
    for (int i = 0; i < shape.rank && at < sizeof text; i++) {
        int n = snprintf(text + at, sizeof text - at, "%s%lld", i ? ", " : "",
                         (long long)shape.dims[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    return qdq_text(findings, "[%s]", text);
}

bool qdq_require_attr(const qdq_op_context *ctx, const char *attr, bool given) {
    if (!given) qdq_report_violation(ctx, QDQ_RULE_ATTR_REQUIRED, attr, "is missing", NULL);
    return given;
}

int qdq_check_axis(const qdq_op_context *ctx, const char *attr, int64_t axis, int rank) {
    if (axis >= -rank && axis < rank) return (int)(axis < 0 ? axis + rank : axis);
    qdq_report_violation(ctx, QDQ_RULE_AXIS_RANGE, attr,
                         qdq_text(ctx->findings, "is %lld", (long long)axis),
                         rank ? qdq_text(ctx->findings, "%d to %d", -rank, rank - 1)
                              : "an x with dims: this one has none");
    return -1;
}

bool qdq_check_dtype_as(const qdq_op_context *ctx, size_t input, size_t other) {
    if (!qdq_has_input(ctx, input) || !qdq_has_input(ctx, other)) return true;
    qdq_dtype is = ctx->inputs[input].type.dtype, wanted = ctx->inputs[other].type.dtype;
    if (is == wanted) return true;
    qdq_report_violation(ctx, QDQ_RULE_PORT_DTYPE, qdq_op_port(ctx->op, input)->name,
                         qdq_text(ctx->findings, "is %s", qdq_dtype_name(is)),
                         qdq_text(ctx->findings, "%s, as %s is", qdq_dtype_name(wanted),
                                  qdq_op_port(ctx->op, other)->name));
    return false;
}

bool qdq_check_same_dtype(const qdq_op_context *ctx, size_t input) {
    return qdq_check_dtype_as(ctx, input, 0);
}

bool qdq_check_one(const qdq_op_context *ctx, size_t input) {
    if (!qdq_has_input(ctx, input)) return true;
    qdq_shape is = ctx->inputs[input].type.shape;
    if (qdq_shape_count(is) == 1) return true;
    qdq_report_violation(
        ctx, QDQ_RULE_PORT_SHAPE, qdq_op_port(ctx->op, input)->name,
        qdq_text(ctx->findings, "has the shape %s", qdq_shape_text(ctx->findings, is)),
        "one element");
    return false;
}

bool qdq_check_shape(const qdq_op_context *ctx, size_t input, qdq_shape wanted, const char *why) {
    if (!qdq_has_input(ctx, input)) return true;
    qdq_shape is = ctx->inputs[input].type.shape;
    if (qdq_shape_equal(is, wanted)) return true;
    qdq_report_violation(
        ctx, QDQ_RULE_PORT_SHAPE, qdq_op_port(ctx->op, input)->name,
        qdq_text(ctx->findings, "has the shape %s", qdq_shape_text(ctx->findings, is)),
        qdq_text(ctx->findings, "%s: %s", qdq_shape_text(ctx->findings, wanted), why));
    return false;
}

bool qdq_broadcast_shapes(qdq_shape a, qdq_shape b, qdq_shape *out) {
    *out = (qdq_shape){.rank = a.rank > b.rank ? a.rank : b.rank};
    for (int i = 1; i <= out->rank; i++) {
        int64_t da = i <= a.rank ? a.dims[a.rank - i] : 1;
        int64_t db = i <= b.rank ? b.dims[b.rank - i] : 1;
        if (da != db && da != 1 && db != 1) return false;
        out->dims[out->rank - i] = da == 1 ? db : da;
    }
    return true;
}

//---- Channels ---------------------------------------------------------------

bool qdq_image_of(const qdq_op_context *ctx, size_t input, qdq_data_format format,
                  qdq_image *image) {
    qdq_shape shape = ctx->inputs[input].type.shape;
    if (shape.rank < 3 || shape.rank > 2 + QDQ_MAX_SPATIAL) {
        qdq_report_violation(
            ctx, QDQ_RULE_PORT_SHAPE, qdq_op_port(ctx->op, input)->name,
            qdq_text(ctx->findings, "has the shape %s", qdq_shape_text(ctx->findings, shape)),
            "a batch, channels and 1 to 3 spatial dims");
        return false;
    }
    int first = format == QDQ_NCX ? 2 : 1;
    *image = (qdq_image){.batch = (size_t)shape.dims[0],
                         .channels = (size_t)shape.dims[qdq_channel_dim(shape, format)],
                         .spatial = shape.rank - 2,
                         .pixels = 1};
    for (int i = 0; i < image->spatial; i++) {
        image->size[i] = (size_t)shape.dims[first + i];
        image->pixels *= image->size[i];
    }
    image->batch_stride = image->channels * image->pixels;
    image->channel_stride = format == QDQ_NCX ? image->pixels : 1;
    image->pixel_stride = format == QDQ_NCX ? 1 : image->channels;
    return true;
}

qdq_shape qdq_image_shape(qdq_data_format format, size_t batch, size_t channels, int spatial,
                          const size_t *size) {
    qdq_shape shape = {.rank = spatial + 2};
    shape.dims[0] = (int64_t)batch;
    shape.dims[qdq_channel_dim(shape, format)] = (int64_t)channels;
    for (int i = 0; i < spatial; i++)
        shape.dims[(format == QDQ_NCX ? 2 : 1) + i] = (int64_t)size[i];
    return shape;
}

//---- Windows ----------------------------------------------------------------

bool qdq_depthwise_list(const qdq_op_context *ctx, const char *attr, qdq_ints list, int spatial,
                        int64_t least, size_t otherwise, size_t *out) {
    enum { GREATEST = 1 << 30 };
    for (int i = 0; i < spatial; i++) out[i] = otherwise;
    if (list.count == 0) return true;
    if (list.count != (size_t)spatial) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, attr,
                             qdq_text(ctx->findings, "has %zu entries", list.count),
                             qdq_text(ctx->findings, "%d, one for each spatial dim", spatial));
        return false;
    }
    for (int i = 0; i < spatial; i++) {
        if (list.data[i] < least || list.data[i] > GREATEST) {
            qdq_report_violation(
                ctx, QDQ_RULE_ATTR_VALUE, attr,
                qdq_text(ctx->findings, "has %lld at index %d", (long long)list.data[i], i),
                qdq_text(ctx->findings, "%lld to %d", (long long)least, GREATEST));
            return false;
        }
        out[i] = (size_t)list.data[i];
    }
    return true;
}

// SAME: as many positions as ceil(in / stride).
static void pad_same(qdq_window *w, int i, size_t reach, bool upper) {
    size_t rest = w->in[i] % w->stride[i], least = rest ? rest : w->stride[i];
    size_t total = reach > least ? reach - least : 0;
    w->pad_begin[i] = upper ? total / 2 : (total + 1) / 2;
    w->pad_end[i] = total - w->pad_begin[i];
}

bool qdq_window_of(const qdq_op_context *ctx, const qdq_window_attrs *attrs, qdq_window *w) {
    bool fine = qdq_depthwise_list(ctx, "strides", attrs->strides, w->spatial, 1, 1, w->stride);
    fine &= qdq_depthwise_list(ctx, "dilations", attrs->dilations, w->spatial, 1, 1, w->dilation);
    fine &=
        qdq_depthwise_list(ctx, "pads_begin", attrs->pads_begin, w->spatial, 0, 0, w->pad_begin);
    fine &= qdq_depthwise_list(ctx, "pads_end", attrs->pads_end, w->spatial, 0, 0, w->pad_end);
    if (!fine) return false;
    for (int i = 0; i < w->spatial; i++) {
        size_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
        if (attrs->auto_pad == QDQ_PAD_VALID) w->pad_begin[i] = w->pad_end[i] = 0;
        if (attrs->auto_pad == QDQ_PAD_SAME_UPPER || attrs->auto_pad == QDQ_PAD_SAME_LOWER)
            pad_same(w, i, reach, attrs->auto_pad == QDQ_PAD_SAME_UPPER);
        size_t padded = w->in[i] + w->pad_begin[i] + w->pad_end[i];
        if (padded < reach) {
            qdq_report_violation(
                ctx, QDQ_RULE_PORT_SHAPE, ctx->op->inputs[0].name,
                qdq_text(ctx->findings, "has %zu elements in spatial dim %d, with padding", padded,
                         i),
                qdq_text(ctx->findings, "at least the %zu that a window covers", reach));
            return false;
        }
        size_t steps = padded - reach;
        w->out[i] =
            (attrs->ceil ? (steps + w->stride[i] - 1) / w->stride[i] : steps / w->stride[i]) + 1;
    }
    return true;
}
