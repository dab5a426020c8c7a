// SPDX-License-Identifier: Apache-2.0
// AvgPool and MaxPool. Lanes are contiguous elements of y: channels, or positions along the last
// spatial dim. Each lane visits the elements of its window in row-major order. AvgPool adds in
// double, or in float32 as ONNX Runtime does.
#include <float.h>

#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/spatial/window.h"
#include "runtime/base/size.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/elementary.h"

static const qdq_port_desc inputs[] = {{"x", offsetof(qdq_pool_attrs, x), false, QDQ_SET_FLOATS}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const char *const rounding_words[] = {"floor", "ceil", NULL};

#define POOL_ATTR(name, kind, words, text, summary) \
    { #name, QDQ_ATTR_##kind, offsetof(qdq_pool_attrs, name), words, text, summary }
#define POOL_WINDOW_ATTRS                                                                          \
    POOL_ATTR(strides, INTS, NULL, QDQ_REQUIRED, "elements from one window to the next"),          \
        POOL_ATTR(kernel, INTS, NULL, QDQ_REQUIRED, "size of the window"),                         \
        POOL_ATTR(pads_begin, INTS, NULL, "[]", "padding before; empty: 0"),                       \
        POOL_ATTR(pads_end, INTS, NULL, "[]", "padding after; empty: 0"),                          \
        POOL_ATTR(rounding_type, WORD, rounding_words, "floor", "of the number of windows"),       \
        POOL_ATTR(auto_pad, WORD, qdq_auto_pad_words, "None", "padding by rule, instead of pads"), \
        POOL_ATTR(data_format, WORD, qdq_data_format_words, "NXC", "where the channels are")

static const qdq_attr_desc avg_attrs[] = {
    POOL_WINDOW_ATTRS,
    POOL_ATTR(exclude_pad, BOOL, NULL, QDQ_REQUIRED,
              "divide by the elements that there are, not by all of the window")};
static const qdq_attr_desc max_attrs[] = {
    POOL_WINDOW_ATTRS, POOL_ATTR(dilations, INTS, NULL, "[]",
                                 "elements from one of the window to the next; empty: 1")};

//---- Shapes -----------------------------------------------------------------

static bool read_window(const qdq_op_context *ctx, qdq_image *image, qdq_window *window) {
    const qdq_pool_attrs *a = ctx->attrs;
    bool fine = qdq_require_attr(ctx, "strides", a->strides.count > 0);
    fine &= qdq_require_attr(ctx, "kernel", a->kernel.count > 0);
    if (!fine || !qdq_image_of(ctx, 0, a->data_format, image)) return false;
    *window = (qdq_window){.spatial = image->spatial};
    for (int i = 0; i < image->spatial; i++) window->in[i] = image->size[i];
    qdq_window_attrs attrs = {.strides = a->strides,
                              .dilations = a->dilations,
                              .pads_begin = a->pads_begin,
                              .pads_end = a->pads_end,
                              .auto_pad = a->auto_pad,
                              .ceil = a->rounding_type == QDQ_POOL_ROUND_CEIL};
    return qdq_spatial_list(ctx, "kernel", a->kernel, image->spatial, 1, 1, window->kernel) &&
           qdq_window_of(ctx, &attrs, window);
}

static void infer(qdq_op_context *ctx) {
    const qdq_pool_attrs *a = ctx->attrs;
    qdq_image image;
    qdq_window window;
    if (!read_window(ctx, &image, &window)) return;
    ctx->outputs[0] = (qdq_type){
        ctx->inputs[0].type.dtype,
        qdq_image_shape(a->data_format, image.batch, image.channels, image.spatial, window.out)};
}

static void infer_avg(qdq_op_context *ctx) {
    const qdq_pool_attrs *a = ctx->attrs;
    if (qdq_require_attr(ctx, "exclude_pad", a->exclude_pad != QDQ_UNSET)) infer(ctx);
}

//---- Windows ----------------------------------------------------------------

// One spatial dim; missing dims have size 1.
typedef struct axis {
    size_t in, out, kernel, stride, dilation, pad;
} axis;

typedef struct pool_params {
    bool max, exclude_pad, channels_last;
    qdq_dtype x_dtype, y_dtype;
    size_t channels;
    axis axes[QDQ_MAX_SPATIAL];
    float lowest;  // of y's dtype
    bool floats;   // sums are float32
    bool codes;    // x and y are integers of a byte each, and every window has an element
    uint8_t sign;  // XOR with it maps codes to unsigned numbers of the same order
} pool_params;

// The part begin..end of a window that lies in x. The window begins at `at`, counted from the start
// of the padding.
typedef struct range {
    size_t begin, end;
} range;

// n / by, rounded up. Most windows need no division, and a division would dominate their cost.
static size_t steps(size_t n, size_t by) { return by == 1 ? n : (n + by - 1) / by; }

static range inside(const axis *a, size_t at) {
    range r = {0, a->kernel};
    size_t end = a->pad + a->in;
    if (at < a->pad) r.begin = steps(a->pad - at, a->dilation);
    if (at + (a->kernel - 1) * a->dilation >= end)
        r.end = at < end ? steps(end - at, a->dilation) : 0;
    if (r.begin > r.end) r.begin = r.end;
    return r;
}

enum { LANES = QDQ_POOL_LANES, SPAN = QDQ_POOL_SPAN };

// The lanes of one pass and their running results.
typedef struct lanes {
    size_t count;
    double sum[LANES];
    float float_sum[LANES];
    int32_t most[LANES];   // keys
    uint8_t codes[LANES];  // unsigned, in the order of the codes
} lanes;

// Integers in the order of the floats, with -0 below +0 and NaN above all, so that the loop
// compares integers.
static inline int32_t key_of(float v) {
    uint32_t bits = qdq_float_bits(v), magnitude = bits & 0x7FFFFFFFu;
    uint32_t flip = (0 - (bits >> 31)) & 0x7FFFFFFFu;
    return magnitude > 0x7F800000u ? 0x7FC00000 : (int32_t)(bits ^ flip);
}

static inline float of_key(int32_t key) {
    uint32_t bits = (uint32_t)key;
    return qdq_float_from_bits(bits ^ ((0 - (bits >> 31)) & 0x7FFFFFFFu));
}

#define SEE_CODES(step)                                 \
    for (size_t i = 0; i < n; i++) {                    \
        uint8_t code = (uint8_t)(v[i * (step)] ^ sign); \
        most[i] = most[i] > code ? most[i] : code;      \
    }

static void see_codes(const pool_params *p, uint8_t *most, size_t n, const uint8_t *v,
                      size_t step) {
    uint8_t sign = p->sign;
    if (step == 1) {
        SEE_CODES(1)
    } else if (step == 2) {
        SEE_CODES(2)
    } else {
        SEE_CODES(step)
    }
}

// A constant step of 1 lets compilers vectorize the loop.
#define SEE_ALL(step)                                \
    if (p->max)                                      \
        for (size_t i = 0; i < n; i++) {             \
            int32_t key = key_of(v[i * (step)]);     \
            most[i] = most[i] > key ? most[i] : key; \
        }                                            \
    else if (p->floats)                              \
        for (size_t i = 0; i < n; i++) {             \
            float_sum[i] += v[i * (step)];           \
        }                                            \
    else                                             \
        for (size_t i = 0; i < n; i++) sum[i] += (double)v[i * (step)];

// Lanes begin..end, at least one, take elements of x that are `step` apart, from number `at` on.
static void see(const pool_params *p, lanes *l, size_t begin, size_t end, const void *x, size_t at,
                size_t step) {
    float part[SPAN];
    const char *from = (const char *)x + at * qdq_dtype_size(p->x_dtype);
    if (p->codes) {
        see_codes(p, l->codes + begin, end - begin, (const uint8_t *)from, step);
        return;
    }
    const float *v = (const float *)(const void *)from;
    size_t n = end - begin;
    int32_t *most = l->most + begin;
    double *sum = l->sum + begin;
    float *float_sum = l->float_sum + begin;
    if (p->x_dtype != QDQ_FLOAT32) {
        qdq_decode_float(p->x_dtype, from, part, (n - 1) * step + 1);
        v = part;
    }
    if (step == 1) {
        SEE_ALL(1)
    } else {
        SEE_ALL(step)
    }
}

static void begin_lanes(const qdq_tensors *tensors, lanes *l, size_t count) {
    qdq_scratch_drop(tensors->poison, l, sizeof *l);
    l->count = count;
    for (size_t i = 0; i < count; i++) {
        l->sum[i] = 0.0, l->float_sum[i] = 0.0f;
        l->most[i] = INT32_MIN, l->codes[i] = 0;
    }
}

// The result of a lane whose window has `seen` elements in x.
static float result_of(const pool_params *p, const lanes *l, size_t lane, size_t seen) {
    const axis *a = p->axes;
    double volume = (double)a[0].kernel * (double)a[1].kernel * (double)a[2].kernel;
    double divisor = p->exclude_pad ? (double)seen : volume;
    float y;
    if (p->max)
        y = seen ? of_key(l->most[lane]) : p->lowest;
    else if (p->floats)
        y = divisor > 0 ? l->float_sum[lane] / (float)divisor : 0.0f;
    else if (p->exclude_pad)
        y = seen ? (float)(l->sum[lane] / (double)seen) : 0.0f;
    else
        y = (float)(l->sum[lane] / volume);
    return qdq_nan_if(y != y, y);
}

static void store(const pool_params *p, const lanes *l, const float *result, qdq_chunks *y,
                  size_t at) {
    void *to = qdq_chunks_room(y, at, l->count);
    for (size_t i = 0; p->codes && i < l->count; i++)
        ((uint8_t *)to)[i] = (uint8_t)(l->codes[i] ^ p->sign);
    if (!p->codes) qdq_encode_float(p->y_dtype, result, to, l->count, NULL);
}

//---- Channels last ----------------------------------------------------------

// A unit is a pixel of y; lanes are its channels.
static void run_pixel(const pool_params *p, const void *x, lanes *l, qdq_chunks *y, size_t unit) {
    const axis *a = p->axes;
    size_t w = unit % a[2].out, h = unit / a[2].out % a[1].out,
           d = unit / a[2].out / a[1].out % a[0].out, batch = unit / a[2].out / a[1].out / a[0].out;
    size_t at[3] = {d * a[0].stride, h * a[1].stride, w * a[2].stride};
    range r[3];
    for (int i = 0; i < 3; i++) r[i] = inside(&a[i], at[i]);
    size_t seen = (r[0].end - r[0].begin) * (r[1].end - r[1].begin) * (r[2].end - r[2].begin);
    float result[LANES];
    for (size_t c = 0; c < p->channels; c += LANES) {
        begin_lanes(y->tensors, l, p->channels - c < LANES ? p->channels - c : LANES);
        for (size_t i = r[0].begin; i < r[0].end; i++)
            for (size_t j = r[1].begin; j < r[1].end; j++)
                for (size_t k = r[2].begin; k < r[2].end; k++) {
                    size_t id = at[0] + i * a[0].dilation - a[0].pad;
                    size_t ih = at[1] + j * a[1].dilation - a[1].pad;
                    size_t iw = at[2] + k * a[2].dilation - a[2].pad;
                    size_t pixel = ((batch * a[0].in + id) * a[1].in + ih) * a[2].in + iw;
                    see(p, l, 0, l->count, x, pixel * p->channels + c, 1);
                }
        for (size_t i = 0; i < l->count && !p->codes; i++) result[i] = result_of(p, l, i, seen);
        store(p, l, result, y, unit * p->channels + c);
    }
}

//---- Channels first ---------------------------------------------------------

// The lanes, of `count` from position `first` on, whose window has its element k in x.
static range lanes_inside(const axis *a, size_t first, size_t count, size_t k) {
    size_t at = first * a->stride + k * a->dilation;  // of the first lane, from the padding on
    range r = {0, count};
    size_t end = a->pad + a->in;
    if (at < a->pad) r.begin = steps(a->pad - at, a->stride);
    if (at + (count - 1) * a->stride >= end) r.end = at < end ? steps(end - at, a->stride) : 0;
    if (r.begin > r.end) r.begin = r.end;
    return r;
}

// The row of x that begins at element `row`, for lanes from position `first` on.
static void see_row(const pool_params *p, lanes *l, const void *x, size_t row, size_t first) {
    const axis *a = &p->axes[2];
    size_t last = (first + l->count - 1) * a->stride;
    size_t end = inside(a, first * a->stride).end;
    for (size_t k = inside(a, last).begin; k < end; k++) {
        range r = lanes_inside(a, first, l->count, k);
        if (r.begin == r.end) continue;
        size_t at = (first + r.begin) * a->stride + k * a->dilation - a->pad;
        see(p, l, r.begin, r.end, x, row + at, a->stride);
    }
}

// A unit is a row of y; lanes are positions in it.
static void run_row(const pool_params *p, const void *x, lanes *l, qdq_chunks *y, size_t unit) {
    const axis *a = p->axes;
    size_t h = unit % a[1].out, d = unit / a[1].out % a[0].out, plane = unit / a[1].out / a[0].out;
    size_t at[2] = {d * a[0].stride, h * a[1].stride};
    range r[2] = {inside(&a[0], at[0]), inside(&a[1], at[1])};
    size_t rows = (r[0].end - r[0].begin) * (r[1].end - r[1].begin);
    size_t most = (SPAN - 1) / a[2].stride + 1;
    if (most > LANES) most = LANES;
    float result[LANES];
    for (size_t w = 0; w < a[2].out; w += l->count) {
        begin_lanes(y->tensors, l, a[2].out - w < most ? a[2].out - w : most);
        for (size_t i = r[0].begin; i < r[0].end; i++)
            for (size_t j = r[1].begin; j < r[1].end; j++) {
                size_t id = at[0] + i * a[0].dilation - a[0].pad;
                size_t ih = at[1] + j * a[1].dilation - a[1].pad;
                size_t row = ((plane * a[0].in + id) * a[1].in + ih) * a[2].in;
                see_row(p, l, x, row, w);
            }
        for (size_t i = 0; i < l->count && !p->codes; i++) {
            range own = inside(&a[2], (w + i) * a[2].stride);
            result[i] = result_of(p, l, i, rows * (own.end - own.begin));
        }
        store(p, l, result, y, unit * a[2].out + w);
    }
}

//---- Entry ------------------------------------------------------------------

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const pool_params *p = params;
    qdq_chunks y;
    lanes l = {0};
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++)
        if (p->channels_last)
            run_pixel(p, tensors->x[0], &l, &y, unit);
        else
            run_row(p, tensors->x[0], &l, &y, unit);
    qdq_chunks_end(&y);
}

static float lowest_of(qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT16) return -65504.0f;
    return dtype == QDQ_BFLOAT16 ? -0x1.fep127f : -FLT_MAX;
}

static void set_axes(const qdq_window *w, axis *axes) {
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        int own = i - (QDQ_MAX_SPATIAL - w->spatial);
        axes[i] = own < 0 ? (axis){1, 1, 1, 1, 1, 0}
                          : (axis){w->in[own],     w->out[own],      w->kernel[own],
                                   w->stride[own], w->dilation[own], w->pad_begin[own]};
    }
}

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages,
                       bool max) {
    const qdq_pool_attrs *a = ctx->attrs;
    const qdq_dtype_info *dtype = qdq_dtype_get(ctx->outputs[0].dtype);
    pool_params *p = QDQ_MEMPOOL_NEW(to->mempool, pool_params);
    qdq_image image;
    qdq_window w;
    if (!p || !read_window(ctx, &image, &w)) return 0;
    *p = (pool_params){.max = max,
                       .codes = dtype->kind == QDQ_KIND_INT,
                       .sign = (uint8_t)(dtype->least < 0 ? 0x80 : 0),
                       .exclude_pad = a->exclude_pad == QDQ_TRUE,
                       .floats = to->numerics.float_ops && ctx->outputs[0].dtype == QDQ_FLOAT32,
                       .channels_last = a->data_format == QDQ_NXC,
                       .x_dtype = ctx->inputs[0].type.dtype,
                       .y_dtype = ctx->outputs[0].dtype,
                       .channels = image.channels,
                       .lowest = lowest_of(ctx->outputs[0].dtype)};
    size_t volume = 1, rows = image.batch;
    set_axes(&w, p->axes);
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        volume = qdq_size_times(volume, p->axes[i].kernel);
        if (i < QDQ_MAX_SPATIAL - 1) rows *= p->axes[i].out;
    }
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = rows * (p->channels_last ? p->axes[2].out : image.channels),
                            .cost = qdq_size_times(qdq_shape_count(ctx->outputs[0].shape), volume),
                            .chunks = true};
    return 1;
}

static size_t lower_avg(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_as(ctx, to, stages, false);
}

static size_t lower_max(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_as(ctx, to, stages, true);
}

// Whether every window has an element in x.
static bool none_is_empty(const qdq_op_context *ctx) {
    qdq_image image;
    qdq_window window;
    axis axes[QDQ_MAX_SPATIAL];
    if (!read_window(ctx, &image, &window)) return false;
    set_axes(&window, axes);
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++)
        for (size_t o = 0; o < axes[i].out; o++) {
            range r = inside(&axes[i], o * axes[i].stride);
            if (r.begin == r.end) return false;
        }
    return true;
}

// With a scale above 0, fl((code - zero_point) * scale) never falls as the code rises, so the
// greatest code stands for the greatest real. Codes that round to the same real are
// interchangeable. An empty window gives the lowest float, which no code stands for.
static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    *quantized = *ctx->inputs[0].quantized;
    return quantized->axis < 0 && quantized->scales[0] > 0 && none_is_empty(ctx);
}

const qdq_op qdq_op_avg_pool = {
    .name = "AvgPool",
    .summary = "y = the mean of a window that slides over x",
    .attrs_size = sizeof(qdq_pool_attrs),
    QDQ_OP_TABLES(inputs, outputs, avg_attrs),
    .infer = infer_avg,
    .lower = lower_avg,
    .by_float_ops = true,
};

static const qdq_op_fusion fusion = {.passes_quantized = passes_quantized};

const qdq_op qdq_op_max_pool = {
    .name = "MaxPool",
    .summary = "y = the greatest element of a window that slides over x",
    .attrs_size = sizeof(qdq_pool_attrs),
    QDQ_OP_TABLES(inputs, outputs, max_attrs),
    .infer = infer,
    .lower = lower_max,
    .fusion = &fusion,
};
