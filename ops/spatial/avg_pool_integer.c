// SPDX-License-Identifier: Apache-2.0
// AvgPoolInteger: AVG_POOL2D of TOSA 1.0 on codes. A unit is a block of neighbouring codes of y.
// The division by the elements of a window is a multiplier and a shift (reciprocal_scale there).
#include "include/qdq/ops/integer.h"
#include "ops/chunks.h"
#include "ops/spatial/window.h"
#include "runtime/base/size.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/integer_one.h"

enum { X, X_ZERO, Y_ZERO, BLOCK = 256 };

#define CODES (QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT16))

typedef qdq_avg_pool_integer_attrs attrs;

static const qdq_port_desc inputs[] = {
    {"x", offsetof(attrs, x), false, CODES},
    {"x_zero_point", offsetof(attrs, x_zero_point), true, CODES},
    {"y_zero_point", offsetof(attrs, y_zero_point), true, CODES},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, CODES}};
static const qdq_attr_desc attr_descs[] = {
    {"strides", QDQ_ATTR_INTS, offsetof(attrs, strides), NULL, QDQ_REQUIRED,
     "elements from one window to the next"},
    {"kernel", QDQ_ATTR_INTS, offsetof(attrs, kernel), NULL, QDQ_REQUIRED, "size of the window"},
    {"pads_begin", QDQ_ATTR_INTS, offsetof(attrs, pads_begin), NULL, "[]",
     "padding before; empty: 0"},
    {"pads_end", QDQ_ATTR_INTS, offsetof(attrs, pads_end), NULL, "[]", "padding after; empty: 0"},
    {"data_format", QDQ_ATTR_WORD, offsetof(attrs, data_format), qdq_data_format_words, "NXC",
     "where the channels are"},
};

//---- Shapes -----------------------------------------------------------------

static bool read_window(const qdq_op_context *ctx, qdq_image *image, qdq_window *window) {
    const attrs *a = ctx->attrs;
    bool fine = qdq_require_attr(ctx, "strides", a->strides.count > 0);
    fine &= qdq_require_attr(ctx, "kernel", a->kernel.count > 0);
    if (!fine || !qdq_image_of(ctx, X, a->data_format, image)) return false;
    *window = (qdq_window){.spatial = image->spatial};
    for (int i = 0; i < image->spatial; i++) window->in[i] = image->size[i];
    qdq_window_attrs given = {
        .strides = a->strides, .pads_begin = a->pads_begin, .pads_end = a->pads_end};
    return qdq_spatial_list(ctx, "kernel", a->kernel, image->spatial, 1, 1, window->kernel) &&
           qdq_window_of(ctx, &given, window);
}

static void infer(qdq_op_context *ctx) {
    const attrs *a = ctx->attrs;
    qdq_image image;
    qdq_window window;
    for (size_t port = X_ZERO; port <= Y_ZERO; port++) {
        qdq_check_dtype_as(ctx, port, X);
        qdq_check_one(ctx, port);
    }
    if (!read_window(ctx, &image, &window)) return;
    ctx->outputs[0] = (qdq_type){
        ctx->inputs[X].type.dtype,
        qdq_image_shape(a->data_format, image.batch, image.channels, image.spatial, window.out)};
}

//---- Blocks -----------------------------------------------------------------

typedef struct pool_params {
    qdq_dtype dtype;
    bool has_zero[Y_ZERO + 1];
    qdq_data_format format;
    qdq_image image;
    qdq_window window;
    size_t windows, count;  // of a plane; codes of y
} pool_params;

static int32_t code_at(qdq_dtype dtype, const void *x, size_t at) {
    if (dtype == QDQ_INT16) return ((const int16_t *)x)[at];
    return dtype == QDQ_INT8 ? ((const int8_t *)x)[at] : ((const uint8_t *)x)[at];
}

static int32_t zero_of(const pool_params *p, const qdq_tensors *tensors, size_t port) {
    return p->has_zero[port] ? code_at(p->dtype, tensors->x[port], 0) : 0;
}

// Adds the codes under a window from dim d on, whose plane begins at x, and counts them. Sums wrap
// around.
static void add_window(const pool_params *p, int d, const size_t *position, const void *x,
                       size_t at, uint32_t *sum, size_t *count) {
    const qdq_window *w = &p->window;
    if (d == w->spatial) {
        *sum += (uint32_t)code_at(p->dtype, x, at * p->image.pixel_stride);
        ++*count;
        return;
    }
    // A kernel may be much larger than x: only places in x are walked.
    size_t first = position[d] * w->stride[d], pad = w->pad_begin[d];
    size_t from = first < pad ? 0 : first - pad, end = first + w->kernel[d];
    size_t to = end < pad ? 0 : end - pad;
    if (to > w->in[d]) to = w->in[d];
    for (size_t k = from; k < to; k++)
        add_window(p, d + 1, position, x, at * w->in[d] + k, sum, count);
}

// Returns element `at` of y before it is clamped, less its zero point.
static int64_t mean_at(const pool_params *p, const void *x, int32_t zero, size_t at) {
    const qdq_image *image = &p->image;
    bool last = p->format == QDQ_NXC;
    size_t inner = last ? image->channels : p->windows, outer = at / inner;
    size_t channel = last ? at % inner : outer % image->channels;
    size_t window = last ? outer % p->windows : at % inner;
    size_t batch = outer / (last ? p->windows : image->channels), count = 0;
    size_t position[QDQ_MAX_SPATIAL];
    uint32_t sum = 0;
    for (int d = image->spatial - 1; d >= 0; d--) {
        position[d] = window % p->window.out[d];
        window /= p->window.out[d];
    }
    size_t from = batch * image->batch_stride + channel * image->channel_stride;
    add_window(p, 0, position, (const char *)x + from * qdq_dtype_size(p->dtype), 0, &sum, &count);
    return qdq_integer_mean_one((int32_t)(sum - (uint32_t)count * (uint32_t)zero), count);
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const pool_params *p = params;
    const qdq_dtype_info *info = qdq_dtype_get(p->dtype);
    int64_t least = info->least, most = info->greatest;
    int32_t x_zero = zero_of(p, tensors, X_ZERO), y_zero = zero_of(p, tensors, Y_ZERO);
    int32_t codes[BLOCK];
    qdq_chunks chunks;
    qdq_chunks_begin(&chunks, tensors, p->dtype);
    for (size_t unit = begin; unit < end; unit++) {
        size_t at = unit * BLOCK, n = p->count - at < BLOCK ? p->count - at : BLOCK;
        for (size_t i = 0; i < n; i++) {
            int64_t code = mean_at(p, tensors->x[X], x_zero, at + i) + y_zero;
            codes[i] = (int32_t)(code < least ? least : code > most ? most : code);
        }
        qdq_encode_int(p->dtype, codes, qdq_chunks_room(&chunks, at, n), n);
    }
    qdq_chunks_end(&chunks);
}

//---- Lowering ---------------------------------------------------------------

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const attrs *a = ctx->attrs;
    pool_params *p = QDQ_MEMPOOL_NEW(to->mempool, pool_params);
    size_t volume = 1;
    if (!p) return 0;
    *p = (pool_params){.dtype = ctx->outputs[0].dtype,
                       .has_zero = {false, ctx->inputs[X_ZERO].given, ctx->inputs[Y_ZERO].given},
                       .format = a->data_format,
                       .windows = 1,
                       .count = qdq_shape_count(ctx->outputs[0].shape)};
    if (!read_window(ctx, &p->image, &p->window)) return 0;
    for (int d = 0; d < p->window.spatial; d++) {
        p->windows *= p->window.out[d];
        volume = qdq_size_times(volume, p->window.kernel[d]);
    }
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = (p->count + BLOCK - 1) / BLOCK,
                            .cost = qdq_size_times(p->count, volume),
                            .chunks = true};
    return 1;
}

const qdq_op qdq_op_avg_pool_integer = {
    .name = "AvgPoolInteger",
    .summary = "y = the mean of a window of codes, by a multiplier and a shift",
    .attrs_size = sizeof(attrs),
    QDQ_OP_TABLES(inputs, outputs, attr_descs),
    .infer = infer,
    .looks_at = 1u << X_ZERO | 1u << Y_ZERO,
    .lower = lower,
};
