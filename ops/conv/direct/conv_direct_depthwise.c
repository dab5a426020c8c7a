// SPDX-License-Identifier: Apache-2.0
// Runs units of direct convolutions whose kernels read x in place (ops/kernels/direct/depthwise.h).
// Results go straight to y if it has their form.
#include <math.h>

#include "ops/conv/direct/conv_direct_unit.h"
#include "runtime/numerics/dtype.h"

enum { LAST = QDQ_MAX_SPATIAL - 1 };

void qdq_direct_view_reals(qdq_direct_unit *u, const float **scale, size_t *scale_next,
                           const float **bias) {
    const qdq_direct *d = u->d;
    const qdq_gemm *g = &d->conv.gemm;
    *scale = *bias = NULL;
    if (!d->of_reals) return;
    if (g->b_scale.port != SIZE_MAX) {
        const float *scales = qdq_gemm_numbers(&g->b_scale, u->tensors);
        *scale_next = g->weights.scale_stride;
        *scale = scales + u->channel * *scale_next;
    }
    if (g->bias.port == SIZE_MAX) return;
    const char *from = qdq_gemm_numbers(&g->bias, u->tensors);
    g->kernel->widen(g->bias.dtype, from + u->channel * qdq_dtype_size(g->bias.dtype), u->s->bias,
                     u->channels);
    *bias = u->s->bias;
}

// True if results go to y without another step.
static bool writes_y(const qdq_direct_unit *u) {
    const qdq_gemm *g = &u->d->conv.gemm;
    return u->d->of_reals && !u->tensors->sink && !qdq_gemm_quantizes(g) &&
           g->y.dtype == QDQ_FLOAT32 && g->y.row_stride == 1;
}

static qdq_depthwise view(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    const qdq_gemm *g = &c->gemm;
    size_t x = u->image * g->batches.a[0] + u->channel * g->batches.a[1];
    x += u->s->slices[0].at * c->x_stride[0];
    qdq_depthwise of = {
        .count = u->channels,
        .dtype = g->a_dtype,
        .zero_point = u->zero_point,
        .x = (const char *)u->tensors->x[g->a_port] + x * qdq_dtype_size(g->a_dtype),
        .x_next = g->batches.a[1],
        .x_stride = c->x_stride[1],
        .x_rows = c->in[1],
        .x_columns = c->in[LAST],
        .top = (ptrdiff_t)(u->q[1] * c->stride[1]) - (ptrdiff_t)c->pad[1],
        .left = (ptrdiff_t)(u->q[LAST] * c->stride[LAST]) - (ptrdiff_t)c->pad[LAST],
        .plane = u->s->planes,
        .weights = d->weights + u->channel * g->depth,
        .y = u->s->results,
        .y_next = u->results[1] * u->results[LAST],
        .y_stride = u->results[LAST],
        .rows = u->results[1],
        .columns = u->results[LAST],
        .fours = g->order.sums == QDQ_SUM_FOURS,
        .odd = d->leaves_out ? d->odd + u->channel : NULL,
    };
    qdq_direct_view_reals(u, &of.scale, &of.scale_next, &of.bias);
    if (writes_y(u)) {
        of.y = (float *)u->tensors->y[0] + qdq_direct_place_in_y(u);
        of.y_next = g->y.column_stride, of.y_stride = c->out[LAST];
    }
    return of;
}

// True if no sum of a channel can be -0, because its products are too large to underflow.
static bool no_sum_underflows(const qdq_direct_unit *u, const qdq_depthwise *of, size_t channel) {
    const qdq_direct *d = u->d;
    size_t depth = d->conv.gemm.depth;
    float weight = d->kernels->least(of->weights + channel * depth, depth), least = INFINITY;
    for (size_t r = 0; r < of->x_rows; r++) {
        const float *row = (const float *)of->x + channel * of->x_next + r * of->x_stride;
        float own = d->kernels->least(row, of->x_columns);
        if (own < least) least = own;
    }
    return least * weight >= 0x1p-100f;
}

void qdq_direct_run_depthwise(qdq_direct_unit *u) {
    qdq_depthwise of = view(u);
    for (size_t at = 0; (at = u->d->depthwise(&of, at)) < of.count; at++) {
        if (!of.odd[at] && no_sum_underflows(u, &of, at)) continue;
        float *results = u->s->results + at * u->results[1] * of.columns;
        qdq_direct_run_channel(u, u->channel + at, results);
        for (size_t r = 0; of.y != u->s->results && r < of.rows; r++)
            memcpy(of.y + at * of.y_next + r * of.y_stride, results + r * of.columns,
                   of.columns * sizeof *results);
    }
    if (of.y == u->s->results) qdq_direct_put(u);
}
