// SPDX-License-Identifier: Apache-2.0
// Interpolate: positions are computed in float32, as oneDNN does, and the weighted mean in double.
#include <math.h>

#include "ops/blocking.h"
#include "ops/spatial/window.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/elementary.h"

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_interpolate_attrs, x), false, QDQ_SET_FLOATS}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
_Static_assert(sizeof(qdq_maybe_interpolate_mode) == sizeof(qdq_maybe_word), "QDQ_ATTR_MAYBE_WORD");
static const char *const mode_words[] = {"nearest", "linear", "bilinear", "trilinear", NULL};
static const char *const coordinate_words[] = {"half_pixel", "align_corners", NULL};
static const qdq_attr_desc attrs[] = {
    {"mode", QDQ_ATTR_MAYBE_WORD, offsetof(qdq_interpolate_attrs, mode), mode_words, QDQ_REQUIRED,
     "bilinear and trilinear mean linear"},
    {"sizes", QDQ_ATTR_INTS, offsetof(qdq_interpolate_attrs, sizes), NULL, "",
     "spatial dims of y; either these or scales"},
    {"scales", QDQ_ATTR_FLOATS, offsetof(qdq_interpolate_attrs, scales), NULL, "",
     "per spatial dim; its size in y is trunc(dim * scale)"},
    {"coordinate_transformation_mode", QDQ_ATTR_WORD,
     offsetof(qdq_interpolate_attrs, coordinate_transformation_mode), coordinate_words,
     "half_pixel", "how positions in y map to positions in x"},
    {"data_format", QDQ_ATTR_WORD, offsetof(qdq_interpolate_attrs, data_format),
     qdq_data_format_words, "NXC", "where the channels are"}};

//---- Shapes -----------------------------------------------------------------

// Sizes of y from scales.
static bool scale_sizes(const qdq_op_context *ctx, const qdq_interpolate_attrs *a,
                        const qdq_image *image, size_t *size) {
    if (a->scales.count != (size_t)image->spatial) {
        qdq_report_violation(
            ctx, QDQ_RULE_ATTR_VALUE, "scales",
            qdq_text(ctx->findings, "has %zu entries", a->scales.count),
            qdq_text(ctx->findings, "%d, one for each spatial dim", image->spatial));
        return false;
    }
    for (int i = 0; i < image->spatial; i++) {
        float scaled = (float)image->size[i] * a->scales.data[i];
        if (!(scaled >= 1.0f) || scaled > 0x1p30f) {
            qdq_report_violation(
                ctx, QDQ_RULE_ATTR_VALUE, "scales",
                qdq_text_number(ctx->findings, (double)a->scales.data[i], (size_t)i, true),
                qdq_text(ctx->findings, "one that makes 1 to 2^30 elements of %zu",
                         image->size[i]));
            return false;
        }
        size[i] = (size_t)scaled;
    }
    return true;
}

static bool read_sizes(const qdq_op_context *ctx, qdq_image *image, size_t *size) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    if (!qdq_require_attr(ctx, "mode", a->mode.set)) return false;
    if (!a->sizes.count == !a->scales.count) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_REQUIRED, "sizes",
                             a->sizes.count ? "is given, and scales as well"
                                            : "is missing, and scales too",
                             "one of the two");
        return false;
    }
    if (!qdq_image_of(ctx, 0, a->data_format, image)) return false;
    return a->sizes.count ? qdq_spatial_list(ctx, "sizes", a->sizes, image->spatial, 1, 1, size)
                          : scale_sizes(ctx, a, image, size);
}

static void infer(qdq_op_context *ctx) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    qdq_image image;
    size_t size[QDQ_MAX_SPATIAL];
    if (!read_sizes(ctx, &image, size)) return;
    ctx->outputs[0] =
        (qdq_type){ctx->inputs[0].type.dtype, qdq_image_shape(a->data_format, image.batch,
                                                              image.channels, image.spatial, size)};
}

//---- Positions --------------------------------------------------------------

// A position between element at[0] and element at[1]; `weight` is the weight of at[1]. Weight 0:
// at[0] alone.
typedef struct position {
    size_t at[2];
    double weight;
} position;

typedef struct interpolate_params {
    qdq_dtype x_dtype, y_dtype;
    bool nearest, align_corners, channels_last;
    size_t channels;
    size_t in[QDQ_MAX_SPATIAL], out[QDQ_MAX_SPATIAL];  // missing dims are 1
    const position *last;                              // positions along the last dim
} interpolate_params;

static float position_of(const interpolate_params *p, size_t out, size_t in, size_t o) {
    if (p->align_corners) return out == 1 ? 0.0f : (float)o * (float)(in - 1) / (float)(out - 1);
    return ((float)o + 0.5f) * (float)in / (float)out - 0.5f;
}

static position locate(const interpolate_params *p, int dim, size_t o) {
    size_t in = p->in[dim];
    float at = position_of(p, p->out[dim], in, o), last = (float)(in - 1);
    if (p->nearest) at = roundf(at);
    if (!(at > 0.0f)) return (position){{0, 0}, 0.0};
    if (at >= last) return (position){{in - 1, in - 1}, 0.0};
    size_t first = (size_t)at;
    return (position){{first, first + 1}, (double)(at - (float)first)};
}

//---- Values -----------------------------------------------------------------

enum { LANES = QDQ_INTERPOLATE_LANES };

// Contiguous elements of y: channels of one position, or positions along the last dim.
typedef struct lanes {
    size_t n;
    bool channels;
    size_t first, step;    // channels: the first one, and elements from one pixel of x to the next
    const position *last;  // along the last dim; channels share the first
} lanes;

// Loads the neighbours of the lanes on one side (0: before, 1: after) from a row of x, as double.
static void load(const interpolate_params *p, const void *x, size_t row, const lanes *l, int side,
                 double *out) {
    size_t size = qdq_dtype_size(p->x_dtype);
    float wide[LANES];
    uint32_t codes[LANES];
    const void *from = codes;
    if (l->channels)
        from = (const char *)x + (row + l->last[0].at[side] * l->step + l->first) * size;
    else if (size == 4)
        for (size_t i = 0; i < l->n; i++)
            codes[i] = ((const uint32_t *)x)[row + l->last[i].at[side]];
    else
        for (size_t i = 0; i < l->n; i++)
            ((uint16_t *)codes)[i] = ((const uint16_t *)x)[row + l->last[i].at[side]];
    qdq_decode_float(p->x_dtype, from, wide, l->n);
    for (size_t i = 0; i < l->n; i++) out[i] = (double)wide[i];
}

// Writes the weighted means of a and b to a. Weight 0: a alone.
static void join(double *a, const double *b, double weight, size_t n) {
    double other = 1.0 - weight;
    for (size_t i = 0; i < n; i++) a[i] = a[i] * other + b[i] * weight;
}

static void row_at(const interpolate_params *p, const void *x, size_t row, const lanes *l,
                   double *out) {
    double second[LANES] = {0};
    load(p, x, row, l, 0, out);
    if (p->nearest || (l->channels && l->last[0].weight == 0.0)) return;
    load(p, x, row, l, 1, second);
    if (l->channels) {
        join(out, second, l->last[0].weight, l->n);
        return;
    }
    for (size_t i = 0; i < l->n; i++) {
        double weight = l->last[i].weight, mean = out[i] * (1.0 - weight) + second[i] * weight;
        out[i] = weight == 0.0 ? out[i] : mean;
    }
}

// Interpolates along the last dim first, for up to four combinations of the other two dims, then
// along the second dim, then along the first. `x` points to the plane.
static void values_at(const interpolate_params *p, const void *x, size_t plane, const position *at,
                      const lanes *l, float *out) {
    double planes[2][LANES], row[LANES];
    int pair = at[0].weight == 0.0 ? 1 : 2, rows = at[1].weight == 0.0 ? 1 : 2;
    for (int d = 0; d < pair; d++)
        for (int h = 0; h < rows; h++) {
            size_t first = (at[0].at[d] * p->in[1] + at[1].at[h]) * p->in[2] * l->step;
            row_at(p, x, plane + first, l, h ? row : planes[d]);
            if (h) join(planes[d], row, at[1].weight, l->n);
        }
    if (pair == 2) join(planes[0], planes[1], at[0].weight, l->n);
    for (size_t i = 0; i < l->n; i++) {
        float v = (float)planes[0][i];
        out[i] = qdq_nan_if(v != v, v);
    }
}

static void run_lanes(const interpolate_params *p, const qdq_tensors *tensors, size_t plane,
                      const position *at, const lanes *l, size_t to) {
    float values[LANES];
    values_at(p, tensors->x[0], plane, at, l, values);
    qdq_encode_float(p->y_dtype, values, (char *)tensors->y[0] + to * qdq_dtype_size(p->y_dtype),
                     l->n, NULL);
}

// A unit is a row of y: one channel of it, or all channels if they are last.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const interpolate_params *p = params;
    size_t channels = p->channels_last ? p->channels : 1;
    lanes l = {.channels = p->channels_last, .step = channels};
    for (size_t unit = begin; unit < end; unit++) {
        size_t plane = unit / p->out[1] / p->out[0] * p->in[0] * p->in[1] * p->in[2] * channels;
        position at[2] = {locate(p, 0, unit / p->out[1] % p->out[0]),
                          locate(p, 1, unit % p->out[1])};
        size_t to = unit * p->out[2] * channels;
        for (size_t w = 0; w < p->out[2] && l.channels; w++) {
            l.last = p->last + w;
            for (l.first = 0; l.first < channels; l.first += l.n, to += l.n) {
                l.n = channels - l.first < LANES ? channels - l.first : LANES;
                run_lanes(p, tensors, plane, at, &l, to);
            }
        }
        for (size_t w = 0; w < p->out[2] && !l.channels; w += l.n) {
            l.n = p->out[2] - w < LANES ? p->out[2] - w : LANES;
            l.last = p->last + w;
            run_lanes(p, tensors, plane, at, &l, to + w);
        }
    }
}

//---- Entry ------------------------------------------------------------------

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    interpolate_params *p = QDQ_MEMPOOL_NEW(to->mempool, interpolate_params);
    qdq_image image;
    size_t size[QDQ_MAX_SPATIAL];
    if (!p || !read_sizes(ctx, &image, size)) return 0;
    *p = (interpolate_params){.x_dtype = ctx->inputs[0].type.dtype,
                              .y_dtype = ctx->outputs[0].dtype,
                              .nearest = a->mode.value == QDQ_NEAREST,
                              .align_corners =
                                  a->coordinate_transformation_mode == QDQ_ALIGN_CORNERS,
                              .channels_last = a->data_format == QDQ_NXC,
                              .channels = image.channels};
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        int own = i - (QDQ_MAX_SPATIAL - image.spatial);
        p->in[i] = own < 0 ? 1 : image.size[own];
        p->out[i] = own < 0 ? 1 : size[own];
    }
    position *last = qdq_mempool_array(to->mempool, p->out[2], sizeof *last);
    if (!last) return 0;
    for (size_t w = 0; w < p->out[2]; w++) last[w] = locate(p, 2, w);
    p->last = last;
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = image.batch * (p->channels_last ? 1 : image.channels) *
                                     p->out[0] * p->out[1],
                            .cost = 8 * qdq_shape_count(ctx->outputs[0].shape)};
    return 1;
}

const qdq_op qdq_op_interpolate = {
    .name = "Interpolate",
    .summary = "y = x with other spatial dims, its elements or means of neighbours",
    .attrs_size = sizeof(qdq_interpolate_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
