// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/window.h"

//---- Images -----------------------------------------------------------------

bool qdq_image_of(const qdq_op_context *ctx, size_t input, qdq_data_format format,
                  qdq_image *image) {
    qdq_shape shape = ctx->inputs[input].type.shape;
    if (shape.rank < 3 || shape.rank > 2 + QDQ_MAX_SPATIAL) {
        qdq_report_shape(ctx, qdq_op_port(ctx->op, input)->name, shape,
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

bool qdq_spatial_list(const qdq_op_context *ctx, const char *attr, qdq_ints list, int spatial,
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

// SAME: pads for ceil(in / stride) positions.
static void pad_same(qdq_window *w, int i, size_t reach, bool upper) {
    size_t rest = w->in[i] % w->stride[i], least = rest ? rest : w->stride[i];
    size_t total = reach > least ? reach - least : 0;
    w->pad_begin[i] = upper ? total / 2 : (total + 1) / 2;
    w->pad_end[i] = total - w->pad_begin[i];
}

bool qdq_window_of(const qdq_op_context *ctx, const qdq_window_attrs *attrs, qdq_window *w) {
    bool fine = qdq_spatial_list(ctx, "strides", attrs->strides, w->spatial, 1, 1, w->stride);
    fine &= qdq_spatial_list(ctx, "dilations", attrs->dilations, w->spatial, 1, 1, w->dilation);
    fine &= qdq_spatial_list(ctx, "pads_begin", attrs->pads_begin, w->spatial, 0, 0, w->pad_begin);
    fine &= qdq_spatial_list(ctx, "pads_end", attrs->pads_end, w->spatial, 0, 0, w->pad_end);
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
