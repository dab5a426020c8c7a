// SPDX-License-Identifier: Apache-2.0
// Interpolate: positions are computed in float32, as oneDNN does, and the weighted mean in double,
// or as in interpolate_corners.c. The nearest elements of int8 and uint8 are copied.
#include "ops/spatial/interpolate.h"

#include <math.h>

#include "include/qdq/ops/spatial.h"
#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/kernels/resize/resize.h"
#include "runtime/numerics/dtype.h"

#define CODES (QDQ_SET(INT8) | QDQ_SET(UINT8))

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_interpolate_attrs, x), false, QDQ_SET_FLOATS | CODES}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_FLOATS | CODES}};
_Static_assert(sizeof(qdq_maybe_interpolate_mode) == sizeof(qdq_maybe_word), "QDQ_ATTR_MAYBE_WORD");
static const char *const mode_words[] = {"nearest", "linear", "bilinear", "trilinear", NULL};
static const char *const coordinate_words[] = {"half_pixel", "align_corners", "asymmetric", NULL};
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
    if (!qdq_require_attr(ctx, "mode", a->mode.set != 0)) return false;
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

// A mean of codes is not a code.
static bool check_mode(const qdq_op_context *ctx) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    qdq_dtype x = ctx->inputs[0].type.dtype;
    if (!qdq_set_has(CODES, x) || a->mode.value == QDQ_NEAREST) return true;
    qdq_report_violation(ctx, QDQ_RULE_PORT_DTYPE, "x",
                         qdq_text(ctx->findings, "is %s", qdq_dtype_name(x)),
                         "a float unless mode is nearest");
    return false;
}

static void infer(qdq_op_context *ctx) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    qdq_image image;
    size_t size[QDQ_MAX_SPATIAL];
    if (!read_sizes(ctx, &image, size) || !check_mode(ctx)) return;
    ctx->outputs[0] =
        (qdq_type){ctx->inputs[0].type.dtype, qdq_image_shape(a->data_format, image.batch,
                                                              image.channels, image.spatial, size)};
}

//---- Positions --------------------------------------------------------------

typedef qdq_position position;
typedef qdq_interpolate_params interpolate_params;

static float position_of(const interpolate_params *p, size_t out, size_t in, size_t o) {
    if (p->coordinates == QDQ_ASYMMETRIC_POSITIONS) return (float)o * (float)in / (float)out;
    if (p->coordinates == QDQ_ALIGN_CORNERS)
        return out == 1 ? 0.0f : (float)o * (float)(in - 1) / (float)(out - 1);
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

enum { LANES = QDQ_INTERPOLATE_LANES, ROWS = QDQ_INTERPOLATE_ROWS };

// Elements of y along a row that are computed together: positions, each with some of its channels.
typedef struct lanes {
    size_t n;
    const size_t *before, *after;  // their neighbours, as elements of a row of x
    const double *weights;         // of `after`
    // Their places, if channels are neighbours.
    size_t own_before[LANES], own_after[LANES];
    double own_weights[LANES];
    // Rows of x interpolated along the last dim: row (d, h) is rows[d % 2][h % 2] once it is
    // computed. Neighbouring rows of y share them.
    double rows[2][2][LANES];
    size_t made[2][2];    // number of the row + 1; 0: none
    float result[LANES];  // of the row of y; bytes of codes
    position last_depth, last_row;
    bool has_result;
} lanes;

// `count` positions from `first` on, and of each `channels` channels from `channel` on.
static void set_lanes(const interpolate_params *p, lanes *l, size_t first, size_t count,
                      size_t channel, size_t channels) {
    memset(l->made, 0, sizeof l->made);
    l->has_result = false;
    l->n = count * channels;
    if (p->channels == 1) {
        l->before = p->before + first, l->after = p->after + first, l->weights = p->weights + first;
        return;
    }
    l->before = l->own_before, l->after = l->own_after, l->weights = l->own_weights;
    for (size_t w = first, i = 0; w < first + count; w++)
        for (size_t c = channel; c < channel + channels; c++, i++) {
            l->own_before[i] = p->at[2][w].at[0] * p->channels + c;
            l->own_after[i] = p->at[2][w].at[1] * p->channels + c;
            l->own_weights[i] = p->at[2][w].weight;
        }
}

// Gathers the neighbours of the lanes on one side in the row of x that begins at element `row`.
static void gather(const interpolate_params *p, const void *x, size_t row, const size_t *side,
                   size_t n, float *out) {
    if (p->x_dtype == QDQ_FLOAT32) {
        const float *from = (const float *)x + row;
        for (size_t i = 0; i < n; i++) out[i] = from[side[i]];
        return;
    }
    const uint16_t *from = (const uint16_t *)x + row;
    uint16_t codes[LANES];
    for (size_t i = 0; i < n; i++) codes[i] = from[side[i]];
    qdq_decode_float(p->x_dtype, codes, out, n);
}

// Returns row (d, h) of the plane x, interpolated along the last dim.
static const double *row_at(const interpolate_params *p, const void *x, size_t plane, size_t d,
                            size_t h, lanes *l) {
    size_t number = d * p->in[1] + h;
    double *row = l->rows[d % 2][h % 2];
    float before[LANES], after[LANES];
    if (l->made[d % 2][h % 2] == number + 1) return row;
    l->made[d % 2][h % 2] = number + 1;
    number = plane + number * p->in[2] * p->channels;
    gather(p, x, number, l->before, l->n, before);
    gather(p, x, number, l->after, l->n, after);
    p->kernels->mix_each(before, after, l->weights, row, l->n);
    return row;
}

// Interpolates along the last dim first, for up to four combinations of the other two dims, then
// along the second dim, then along the first.
static void linear_row(const interpolate_params *p, const void *x, size_t plane, const position *at,
                       lanes *l) {
    double planes[2][LANES], mean[LANES];
    const double *means[2] = {NULL};
    int pair = at[0].weight == 0.0 ? 1 : 2;
    for (int d = 0; d < pair; d++) {
        means[d] = row_at(p, x, plane, at[0].at[d], at[1].at[0], l);
        if (at[1].weight == 0.0) continue;
        const double *second = row_at(p, x, plane, at[0].at[d], at[1].at[1], l);
        p->kernels->mix(means[d], second, at[1].weight, planes[d], l->n);
        means[d] = planes[d];
    }
    if (pair == 2) {
        p->kernels->mix(means[0], means[1], at[0].weight, mean, l->n);
        means[0] = mean;
    }
    p->kernels->to_floats(means[0], l->result, l->n);
}

static void nearest_codes(const interpolate_params *p, const uint8_t *row, lanes *l) {
    uint8_t *y = (uint8_t *)l->result;
    const uint8_t *x = row + l->before[0];
    for (size_t i = 0; p->twice && i < l->n; i += 2) y[i] = y[i + 1] = x[i / 2];
    for (size_t i = 0; !p->twice && i < l->n; i++) y[i] = row[l->before[i]];
}

static void nearest_row(const interpolate_params *p, const void *x, size_t plane,
                        const position *at, lanes *l) {
    size_t row = plane + (at[0].at[0] * p->in[1] + at[1].at[0]) * p->in[2] * p->channels;
    float found[LANES];
    if (p->codes) {
        nearest_codes(p, (const uint8_t *)x + row, l);
        return;
    }
    if (p->twice && p->x_dtype == QDQ_FLOAT32) {
        p->kernels->quiet_twice((const float *)x + row + l->before[0], l->result, NULL, l->n / 2);
        return;
    }
    gather(p, x, row, l->before, l->n, found);
    p->kernels->quiet(found, l->result, l->n);
}

// True if two positions give the same numbers.
static bool same(const position *a, const position *b) {
    return a->at[0] == b->at[0] && a->weight == b->weight;
}

static void run_row(const interpolate_params *p, const void *x, size_t plane, const position *at,
                    lanes *l) {
    if (l->has_result && same(&at[0], &l->last_depth) && same(&at[1], &l->last_row)) return;
    l->last_depth = at[0], l->last_row = at[1], l->has_result = true;
    if (p->nearest)
        nearest_row(p, x, plane, at, l);
    else
        linear_row(p, x, plane, at, l);
}

// Stores the lanes, which are runs of n elements, one for each position, `step` elements apart in
// y.
static void store(const interpolate_params *p, const lanes *l, qdq_chunks *y, size_t at, size_t n,
                  size_t step) {
    for (size_t i = 0; i < l->n; i += n, at += step)
        if (p->codes)
            memcpy(qdq_chunks_room(y, at, n), (const uint8_t *)l->result + i, n);
        else if (p->y_dtype == QDQ_FLOAT32)
            memcpy(qdq_chunks_room(y, at, n), l->result + i, n * sizeof(float));
        else
            qdq_encode_float(p->y_dtype, l->result + i, qdq_chunks_room(y, at, n), n, NULL);
}

// Doubles a row of x of one channel to y, where it may be two rows. Returns their number.
static size_t double_row(const interpolate_params *p, const float *x, const lanes *l, qdq_chunks *y,
                         size_t to, const position *at, size_t rows) {
    size_t count = rows > 1 && same(&at[0], &at[1]) ? 2 : 1, step;
    float *room = qdq_chunks_block(y, to, l->n, count, p->out[2], &step);
    x += at->at[0] * p->in[2] + l->before[0];
    p->kernels->quiet_twice(x, room, count == 2 ? room + step : NULL, l->n / 2);
    return count;
}

// A unit is some neighbouring rows of y: of one channel, or of all channels if they are last.
static void run_band(const interpolate_params *p, const void *x, lanes *l, qdq_chunks *y,
                     size_t unit) {
    size_t bands = (p->out[1] + ROWS - 1) / ROWS, of = unit / bands;
    size_t begin = unit % bands * ROWS, end = p->out[1] - begin < ROWS ? p->out[1] : begin + ROWS;
    size_t plane = of / p->out[0] * p->in[0] * p->in[1] * p->in[2] * p->channels;
    position at[2] = {p->at[0][of % p->out[0]]};
    bool doubles = p->twice && p->x_dtype == QDQ_FLOAT32 && p->y_dtype == QDQ_FLOAT32;
    const float *from = (const float *)x + plane + at[0].at[0] * p->in[1] * p->in[2];
    size_t part = p->channels < LANES ? p->channels : LANES, span = LANES / part;
    for (size_t w = 0, count = 0; w < p->out[2]; w += count)
        for (size_t c = 0, channels; c < p->channels; c += channels) {
            count = p->out[2] - w < span ? p->out[2] - w : span;
            channels = p->channels - c < part ? p->channels - c : part;
            qdq_scratch_drop(y->tensors->poison, l, sizeof *l);
            set_lanes(p, l, w, count, c, channels);
            bool together = channels == p->channels;
            for (size_t h = begin, rows; h < end; h += rows) {
                size_t to = ((of * p->out[1] + h) * p->out[2] + w) * p->channels + c;
                at[1] = p->at[1][h], rows = 1;
                if (doubles) {
                    rows = double_row(p, from, l, y, to, &p->at[1][h], end - h);
                    continue;
                }
                run_row(p, x, plane, at, l);
                store(p, l, y, to, together ? l->n : channels, p->channels);
            }
        }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const interpolate_params *p = params;
    qdq_chunks y;
    lanes l = {0};
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++) run_band(p, tensors->x[0], &l, &y, unit);
    qdq_chunks_end(&y);
}

//---- Codes ------------------------------------------------------------------

static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    *quantized = *ctx->inputs[0].quantized;
    return a->mode.value == QDQ_NEAREST && quantized->axis < 0 &&
           qdq_set_has(CODES, quantized->dtype);
}

static const qdq_op_fusion fusion = {.passes_quantized = passes_quantized};

//---- Entry ------------------------------------------------------------------

static bool set_positions(qdq_mempool *mempool, interpolate_params *p) {
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        position *at = qdq_mempool_array(mempool, p->out[i], sizeof *at);
        p->at[i] = at;
        for (size_t o = 0; at && o < p->out[i]; o++) at[o] = locate(p, i, o);
        if (!at) return false;
    }
    size_t n = p->out[2];
    size_t *before = qdq_mempool_array(mempool, n, sizeof *before);
    size_t *after = qdq_mempool_array(mempool, n, sizeof *after);
    double *weights = qdq_mempool_array(mempool, n, sizeof *weights);
    p->before = before, p->after = after, p->weights = weights;
    if (!before || !after || !weights) return false;
    p->twice = p->nearest && p->channels == 1 && n % 2 == 0;
    for (size_t o = 0; o < n; o++) {
        before[o] = p->at[2][o].at[0], after[o] = p->at[2][o].at[1];
        weights[o] = p->at[2][o].weight;
        p->twice = p->twice && before[o] == before[0] + o / 2;
    }
    return true;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    interpolate_params *p = QDQ_MEMPOOL_NEW(to->mempool, interpolate_params);
    qdq_image image;
    size_t size[QDQ_MAX_SPATIAL];
    if (!p || !read_sizes(ctx, &image, size)) return 0;
    bool last_channels = a->data_format == QDQ_NXC;
    *p = (interpolate_params){.x_dtype = ctx->inputs[0].type.dtype,
                              .y_dtype = ctx->outputs[0].dtype,
                              .nearest = a->mode.value == QDQ_NEAREST,
                              .codes = qdq_set_has(CODES, ctx->inputs[0].type.dtype),
                              .coordinates = a->coordinate_transformation_mode,
                              .channels = last_channels ? image.channels : 1,
                              .kernels = qdq_resize_find(to->isas)};
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        int own = i - (QDQ_MAX_SPATIAL - image.spatial);
        p->in[i] = own < 0 ? 1 : image.size[own];
        p->out[i] = own < 0 ? 1 : size[own];
    }
    if (qdq_interpolate_adds_corners(ctx, &to->numerics))
        return qdq_interpolate_corners_stage(ctx, to, p, stages) ? 1 : 0;
    if (!set_positions(to->mempool, p)) return 0;
    size_t planes = image.batch * (last_channels ? 1 : image.channels) * p->out[0];
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = planes * ((p->out[1] + ROWS - 1) / ROWS),
                            .cost = 8 * qdq_shape_count(ctx->outputs[0].shape),
                            .chunks = true};
    return 1;
}

const qdq_op qdq_op_interpolate = {
    .name = "Interpolate",
    .summary = "y = x with other spatial dims, its elements or means of neighbours",
    .attrs_size = sizeof(qdq_interpolate_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .by_float_ops = true,
    .fusion = &fusion,
};
