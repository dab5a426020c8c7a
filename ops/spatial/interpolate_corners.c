// SPDX-License-Identifier: Apache-2.0
// Linear Interpolate of float32 as ONNX Runtime's Resize computes it: the corners around a position
// are added in float32, from the last dim's neighbour on, each times the product of its weights,
// which begins at the last dim. One spatial dim is the last of three: batch and channels are dims
// as well, along which the position is the element.
#include <math.h>
#include <string.h>

#include "include/qdq/ops/spatial.h"
#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/kernels/resize/resize.h"
#include "ops/spatial/interpolate.h"
#include "runtime/numerics/dtype.h"

enum { ROWS = QDQ_INTERPOLATE_ROWS, LANES = QDQ_INTERPOLATE_LANES };

// The elements on both sides of each position along a dim, and their weights. A dim that the sum
// leaves out has one side.
typedef struct corner_axis {
    size_t in, out, sides;
    const size_t *at[2];
    const float *weight[2];
} corner_axis;

typedef struct corner_params {
    qdq_dtype y_dtype;
    size_t channels;  // neighbours in memory: 1 unless they are last
    const qdq_resize_kernels *kernels;
    corner_axis axes[QDQ_MAX_SPATIAL];
} corner_params;

//---- Positions ----------------------------------------------------------------

static bool set_axis(qdq_mempool *mempool, const qdq_interpolate_params *p, int dim, float scale,
                     corner_axis *axis) {
    size_t in = p->in[dim], out = p->out[dim];
    size_t *at[2];
    float *weight[2];
    for (int k = 0; k < 2; k++) {
        axis->at[k] = at[k] = qdq_mempool_array(mempool, out, sizeof **at);
        axis->weight[k] = weight[k] = qdq_mempool_array(mempool, out, sizeof **weight);
        if (!at[k] || !weight[k]) return false;
    }
    for (size_t o = 0; o < out; o++) {
        float place = qdq_interpolate_position(p->coordinates, scale, in, out, o);
        float last = (float)(in - 1);
        place = place > last ? last : place;
        place = place > 0.0f ? place : 0.0f;
        size_t first = (size_t)place, second = first + 1 < in ? first + 1 : in - 1;
        at[0][o] = first, at[1][o] = second;
        // Both weights are 1/2 where one element is read twice.
        weight[0][o] = first == second ? 0.5f : fabsf(place - (float)second);
        weight[1][o] = first == second ? 0.5f : fabsf(place - (float)first);
    }
    axis->in = in, axis->out = out, axis->sides = 2;
    return true;
}

//---- Rows ---------------------------------------------------------------------

// Some elements of a row of y, and the elements of x on both sides of them in up to four rows.
typedef struct scratch {
    size_t at[2][LANES];
    float weight[2][LANES], sides[2][2][2][LANES], sum[LANES];
    float narrow[LANES];  // results that are stored in another dtype
    size_t known[2][2];   // number of the row of x in `sides` + 1; 0: none
    const float *row[2];  // the sides of a row
} scratch;

static void set_lanes(const corner_params *p, size_t begin, size_t n, scratch *s) {
    const corner_axis *w = &p->axes[2];
    memset(s->known, 0, sizeof s->known);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < n; i++) {
            size_t o = (begin + i) / p->channels, channel = (begin + i) % p->channels;
            s->at[side][i] = w->at[side][o] * p->channels + channel;
            s->weight[side][i] = w->weight[side][o];
        }
}

// Returns the elements of x on both sides of the lanes in a row of x, which neighbouring rows of y
// share.
static const float *const *sides_of(const corner_params *p, const float *x, size_t plane,
                                    size_t row, size_t n, scratch *s) {
    size_t number = plane * p->axes[1].in + row, *known = &s->known[plane % 2][row % 2];
    float(*sides)[LANES] = s->sides[plane % 2][row % 2];
    const float *from = x + number * p->axes[2].in * p->channels;
    for (size_t side = 0; side < 2; side++) {
        if (*known != number + 1) p->kernels->gather(from, s->at[side], sides[side], n);
        s->row[side] = sides[side];
    }
    *known = number + 1;
    return s->row;
}

static void add_corners(const corner_params *p, const float *x, size_t plane, size_t row, size_t n,
                        scratch *s, float *y) {
    const corner_axis *d = &p->axes[0], *h = &p->axes[1];
    const float *const weights[2] = {s->weight[0], s->weight[1]};
    for (size_t k = 0; k < d->sides; k++)
        for (size_t l = 0; l < h->sides; l++)
            p->kernels->add_corners(weights, h->weight[l][row], d->weight[k][plane],
                                    sides_of(p, x, d->at[k][plane], h->at[l][row], n, s), !k && !l,
                                    s->sum, n);
    p->kernels->quiet(s->sum, y, n);
}

// A unit is some neighbouring rows of y in one place of the first dim.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const corner_params *p = params;
    const corner_axis *d = &p->axes[0], *h = &p->axes[1], *w = &p->axes[2];
    size_t bands = (h->out + ROWS - 1) / ROWS, width = w->out * p->channels;
    qdq_chunks y;
    scratch s;
    qdq_scratch_drop(tensors->poison, &s, sizeof s);
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++) {
        size_t of = unit / bands, first = unit % bands * ROWS;
        size_t last = h->out - first < ROWS ? h->out : first + ROWS;
        const float *x = tensors->x[0];
        x += of / d->out * d->in * h->in * w->in * p->channels;
        for (size_t i = 0, n; i < width; i += n) {
            n = width - i < LANES ? width - i : LANES;
            set_lanes(p, i, n, &s);
            for (size_t row = first; row < last; row++) {
                void *room = qdq_chunks_room(&y, (of * h->out + row) * width + i, n);
                bool wide = p->y_dtype == QDQ_FLOAT32;
                add_corners(p, x, of % d->out, row, n, &s, wide ? room : s.narrow);
                if (!wide) qdq_encode_float(p->y_dtype, s.narrow, room, n, NULL);
            }
        }
    }
    qdq_chunks_end(&y);
}

//---- Entry --------------------------------------------------------------------

bool qdq_interpolate_adds_corners(const qdq_op_context *ctx, const qdq_numerics *numerics) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape, y = ctx->outputs[0].shape;
    bool by_runtime = numerics->float_ops && numerics->float_ops != QDQ_FLOAT_OPS_ONEDNN;
    return by_runtime && a->mode.value != QDQ_NEAREST && !qdq_shape_equal(x, y) &&
           ctx->inputs[0].type.dtype == QDQ_FLOAT32;
}

static void leave_out(corner_axis *axis) {
    static const size_t zero = 0;
    static const float one = 1.0f;
    *axis = (corner_axis){.in = 1, .out = 1, .sides = 1, .at = {&zero}, .weight = {&one}};
}

bool qdq_interpolate_corners_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                                   const qdq_interpolate_params *sizes, qdq_stage *stage) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    qdq_interpolate_params dims = *sizes;
    corner_params *p = QDQ_MEMPOOL_NEW(to->mempool, corner_params);
    int spatial = x.rank - 2, skipped = QDQ_MAX_SPATIAL - spatial;
    bool last = a->data_format == QDQ_NXC;
    size_t planes = (size_t)x.dims[0] * (last ? 1 : (size_t)x.dims[1]);
    if (!p) return false;
    *p = (corner_params){.y_dtype = ctx->outputs[0].dtype,
                         .channels = sizes->channels,
                         .kernels = qdq_resize_find(to->isas)};
    if (spatial == 1 && !last) {
        dims.in[0] = dims.out[0] = (size_t)x.dims[0], dims.in[1] = dims.out[1] = (size_t)x.dims[1];
        planes = 1, skipped = 0;
    }
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        int own = i - (QDQ_MAX_SPATIAL - spatial);
        float scale = own >= 0 && a->scales.count ? a->scales.data[own]
                                                  : (float)dims.out[i] / (float)dims.in[i];
        if (i < skipped)
            leave_out(&p->axes[i]);
        else if (!set_axis(to->mempool, &dims, i, scale, &p->axes[i]))
            return false;
    }
    const corner_axis *d = &p->axes[0], *h = &p->axes[1];
    *stage = (qdq_stage){.params = p,
                         .tensor_op = run,
                         .units = planes * d->out * ((h->out + ROWS - 1) / ROWS),
                         .cost = 8 * qdq_shape_count(ctx->outputs[0].shape),
                         .chunks = true};
    return true;
}
