// SPDX-License-Identifier: Apache-2.0
// QLinearAveragePool and QLinearGlobalAveragePool. A unit is a block of neighbouring codes of y. A
// window adds reals in float32, in row-major order; an image adds codes, in int32. A window that is
// the whole image is computed as an image.
#include "include/qdq/ops/qlinear.h"
#include "ops/chunks.h"
#include "ops/qlinear/qlinear.h"
#include "ops/spatial/window.h"

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO, BLOCK = 256, CODES = 256 };

typedef qdq_qlinear_pool_attrs attrs;
typedef qdq_qlinear_global_pool_attrs global_attrs;

static const qdq_port_desc inputs[] = {QDQ_QLINEAR_PORTS(attrs, x),
                                       QDQ_QLINEAR_SCALE_PORTS(attrs, y)};
static const qdq_port_desc global_inputs[] = {QDQ_QLINEAR_PORTS(global_attrs, x),
                                              QDQ_QLINEAR_SCALE_PORTS(global_attrs, y)};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_BYTES}};
static const char *const rounding_words[] = {"floor", "ceil", NULL};

#define POOL_ATTR(name, kind, words, text, summary) \
    { #name, QDQ_ATTR_##kind, offsetof(attrs, name), words, text, summary }
static const qdq_attr_desc attr_descs[] = {
    POOL_ATTR(strides, INTS, NULL, QDQ_REQUIRED, "elements from one window to the next"),
    POOL_ATTR(kernel, INTS, NULL, QDQ_REQUIRED, "size of the window"),
    POOL_ATTR(pads_begin, INTS, NULL, "[]", "padding before; empty: 0"),
    POOL_ATTR(pads_end, INTS, NULL, "[]", "padding after; empty: 0"),
    POOL_ATTR(rounding_type, WORD, rounding_words, "floor", "of the number of windows"),
    POOL_ATTR(auto_pad, WORD, qdq_auto_pad_words, "None", "padding by rule, instead of pads"),
    POOL_ATTR(data_format, WORD, qdq_data_format_words, "NXC", "where the channels are"),
    POOL_ATTR(exclude_pad, BOOL, NULL, QDQ_REQUIRED,
              "divide by the elements that there are, not by all of the window")};
static const qdq_attr_desc global_attr_descs[] = {
    {"data_format", QDQ_ATTR_WORD, offsetof(global_attrs, data_format), qdq_data_format_words,
     "NXC", "where the channels are"}};

//---- Shapes -----------------------------------------------------------------

static bool read_window(const qdq_op_context *ctx, qdq_image *image, qdq_window *window) {
    const attrs *a = ctx->attrs;
    bool fine = qdq_require_attr(ctx, "strides", a->strides.count > 0);
    fine &= qdq_require_attr(ctx, "kernel", a->kernel.count > 0);
    if (!fine || !qdq_image_of(ctx, X, a->data_format, image)) return false;
    *window = (qdq_window){.spatial = image->spatial};
    for (int i = 0; i < image->spatial; i++) window->in[i] = image->size[i];
    qdq_window_attrs given = {.strides = a->strides,
                              .pads_begin = a->pads_begin,
                              .pads_end = a->pads_end,
                              .auto_pad = a->auto_pad,
                              .ceil = a->rounding_type == QDQ_POOL_ROUND_CEIL};
    return qdq_spatial_list(ctx, "kernel", a->kernel, image->spatial, 1, 1, window->kernel) &&
           qdq_window_of(ctx, &given, window);
}

static void infer(qdq_op_context *ctx) {
    const attrs *a = ctx->attrs;
    qdq_image image;
    qdq_window window;
    qdq_qlinear_check(ctx, X_SCALE);
    qdq_qlinear_check(ctx, Y_SCALE);
    bool fine = qdq_require_attr(ctx, "exclude_pad", a->exclude_pad != QDQ_UNSET);
    if (!read_window(ctx, &image, &window) || !fine) return;
    ctx->outputs[0] = (qdq_type){
        ctx->inputs[X].type.dtype,
        qdq_image_shape(a->data_format, image.batch, image.channels, image.spatial, window.out)};
}

static void infer_global(qdq_op_context *ctx) {
    static const size_t one[QDQ_MAX_SPATIAL] = {1, 1, 1};
    const global_attrs *a = ctx->attrs;
    qdq_image image;
    qdq_qlinear_check(ctx, X_SCALE);
    qdq_qlinear_check(ctx, Y_SCALE);
    if (!qdq_image_of(ctx, X, a->data_format, &image)) return;
    ctx->outputs[0] =
        (qdq_type){ctx->inputs[X].type.dtype, qdq_image_shape(a->data_format, image.batch,
                                                              image.channels, image.spatial, one)};
}

//---- Blocks -----------------------------------------------------------------

typedef qdq_qlinear_axis axis;
typedef qdq_qlinear_pool_params pool_params;

typedef struct place {
    const uint8_t *plane;  // the first code of the batch and channel in x
    size_t window;         // within the plane of y
} place;

static place place_of(const pool_params *p, const uint8_t *x, size_t at) {
    const qdq_image *image = &p->image;
    size_t outer = at / (p->channels_last ? image->channels : p->windows);
    size_t inner = at % (p->channels_last ? image->channels : p->windows);
    size_t channel = p->channels_last ? inner : outer % image->channels;
    size_t window = p->channels_last ? outer % p->windows : inner;
    size_t batch = outer / (p->channels_last ? p->windows : image->channels);
    return (place){x + batch * image->batch_stride + channel * image->channel_stride, window};
}

typedef struct span {
    size_t begin, end;
} span;

// Returns the elements of a window along a dim that lie in x.
static span span_of(const axis *a, size_t window) {
    size_t first = window * a->stride, last = first + a->kernel;
    span s = {first < a->pad ? 0 : first - a->pad, last < a->pad ? 0 : last - a->pad};
    if (s.begin > a->in) s.begin = a->in;
    if (s.end > a->in) s.end = a->in;
    return s;
}

static int32_t window_code(const pool_params *p, const qdq_qlinear_mean_params *mean,
                           const float *reals, place at) {
    const axis *d = &p->axes[0], *h = &p->axes[1], *w = &p->axes[2];
    span depths = span_of(d, at.window / w->out / h->out);
    span rows = span_of(h, at.window / w->out % h->out), columns = span_of(w, at.window % w->out);
    size_t step = p->image.pixel_stride, count = d->kernel * h->kernel * w->kernel;
    float sum = 0;
    for (size_t i = depths.begin; i < depths.end; i++)
        for (size_t j = rows.begin; j < rows.end; j++) {
            const uint8_t *line = at.plane + (i * h->in + j) * w->in * step;
            for (size_t k = columns.begin; k < columns.end; k++) sum += reals[line[k * step]];
        }
    if (p->exclude_pad)
        count =
            (depths.end - depths.begin) * (rows.end - rows.begin) * (columns.end - columns.begin);
    return qdq_qlinear_window_one(mean, sum, count);
}

static void run_windows(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const pool_params *p = params;
    qdq_qlinear_quant x = qdq_qlinear_read(&p->x, tensors), y = qdq_qlinear_read(&p->y, tensors);
    const qdq_qlinear_mean_params mean =
        qdq_qlinear_mean_of(p->form, x, y, qdq_qlinear_range_of(p->dtype), 1);
    float reals[CODES];
    qdq_chunks chunks;
    if (!qdq_chunks_wanted(tensors)) return;
    for (int i = 0; i < CODES; i++)
        reals[i] =
            x.scale * (float)(qdq_qlinear_code(p->dtype == QDQ_INT8, (uint8_t)i) - x.zero_point);
    qdq_chunks_begin(&chunks, tensors, p->dtype);
    for (size_t unit = begin; unit < end; unit++) {
        size_t at = unit * BLOCK, n = p->count - at < BLOCK ? p->count - at : BLOCK;
        uint8_t *codes = qdq_chunks_room(&chunks, at, n);
        for (size_t i = 0; i < n; i++)
            codes[i] = (uint8_t)window_code(p, &mean, reals, place_of(p, tensors->x[X], at + i));
    }
    qdq_chunks_end(&chunks);
}

// Codes as unsigned bytes, whose zero is `flip` higher. Sums wrap around.
static int32_t image_sum(const pool_params *p, const uint8_t *plane, uint8_t flip, int32_t zero) {
    uint32_t sum = 0;
    size_t step = p->image.pixel_stride, pixels = p->image.pixels;
    if (step == 1)
        for (size_t i = 0; i < pixels; i++) sum += (uint8_t)(plane[i] ^ flip);
    else
        for (size_t i = 0; i < pixels; i++) sum += (uint8_t)(plane[i * step] ^ flip);
    return (int32_t)(sum - (uint32_t)pixels * (uint32_t)(zero + flip));
}

static void run_images(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const pool_params *p = params;
    qdq_qlinear_quant x = qdq_qlinear_read(&p->x, tensors), y = qdq_qlinear_read(&p->y, tensors);
    const qdq_qlinear_mean_params mean =
        qdq_qlinear_mean_of(p->form, x, y, qdq_qlinear_range_of(p->dtype), p->image.pixels);
    uint8_t flip = p->dtype == QDQ_INT8 ? 0x80 : 0;
    qdq_chunks chunks;
    if (!qdq_chunks_wanted(tensors)) return;
    qdq_chunks_begin(&chunks, tensors, p->dtype);
    for (size_t unit = begin; unit < end; unit++) {
        size_t at = unit * BLOCK, n = p->count - at < BLOCK ? p->count - at : BLOCK;
        uint8_t *codes = qdq_chunks_room(&chunks, at, n);
        for (size_t i = 0; i < n; i++) {
            place image = place_of(p, tensors->x[X], at + i);
            int32_t sum = image_sum(p, image.plane, flip, x.zero_point);
            codes[i] = (uint8_t)qdq_qlinear_mean_one(&mean, sum);
        }
    }
    qdq_chunks_end(&chunks);
}

//---- Lowering ---------------------------------------------------------------

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages,
                       const qdq_image *image, bool channels_last, const qdq_window *window) {
    const attrs *a = ctx->attrs;
    pool_params *p = QDQ_MEMPOOL_NEW(to->mempool, pool_params);
    size_t volume = window ? 1 : image->pixels;
    if (!p) return 0;
    *p = (pool_params){.dtype = ctx->outputs[0].dtype,
                       .form = to->numerics.qlinear,
                       .x = qdq_qlinear_source_of(ctx, X_SCALE),
                       .y = qdq_qlinear_source_of(ctx, Y_SCALE),
                       .image = *image,
                       .channels_last = channels_last,
                       .of_images = !window,
                       .exclude_pad = window && a->exclude_pad == QDQ_TRUE,
                       .windows = 1,
                       .count = qdq_shape_count(ctx->outputs[0].shape)};
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        int own = i - (QDQ_MAX_SPATIAL - image->spatial);
        p->axes[i] = (axis){1, 1, 1, 1, 0};
        if (own < 0 || !window) continue;
        p->axes[i] = (axis){window->in[own], window->out[own], window->kernel[own],
                            window->stride[own], window->pad_begin[own]};
        p->windows *= window->out[own];
        volume *= window->kernel[own];
    }
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = window ? run_windows : run_images,
                            .units = (p->count + BLOCK - 1) / BLOCK,
                            .cost = p->count * (volume + 8),
                            .chunks = true};
    return 1;
}

static bool is_whole(const qdq_window *w) {
    for (int i = 0; i < w->spatial; i++)
        if (w->kernel[i] != w->in[i] || w->pad_begin[i] || w->pad_end[i]) return false;
    return true;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const attrs *a = ctx->attrs;
    qdq_image image;
    qdq_window window;
    if (!read_window(ctx, &image, &window)) return 0;
    return lower_as(ctx, to, stages, &image, a->data_format == QDQ_NXC,
                    is_whole(&window) ? NULL : &window);
}

static size_t lower_global(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const global_attrs *a = ctx->attrs;
    qdq_image image;
    if (!qdq_image_of(ctx, X, a->data_format, &image)) return 0;
    return lower_as(ctx, to, stages, &image, a->data_format == QDQ_NXC, NULL);
}

const qdq_op qdq_op_qlinear_average_pool = {
    .name = "QLinearAveragePool",
    .summary = "y = the mean of a window of codes, as ONNX Runtime's CPU kernels compute it",
    .attrs_size = sizeof(attrs),
    QDQ_OP_TABLES(inputs, outputs, attr_descs),
    .infer = infer,
    .lower = lower,
    .by_qlinear = true,
};

const qdq_op qdq_op_qlinear_global_average_pool = {
    .name = "QLinearGlobalAveragePool",
    .summary = "y = the mean of an image of codes, as ONNX Runtime's CPU kernels compute it",
    .attrs_size = sizeof(global_attrs),
    QDQ_OP_TABLES(global_inputs, outputs, global_attr_descs),
    .infer = infer_global,
    .lower = lower_global,
    .by_qlinear = true,
};
