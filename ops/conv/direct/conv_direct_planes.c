// SPDX-License-Identifier: Apache-2.0
// Copies planes of x for direct convolutions.
#include "ops/conv/direct/conv_direct_unit.h"
#include "runtime/numerics/dtype.h"

enum { DIMS = QDQ_MAX_SPATIAL, LAST = DIMS - 1 };
#define NOWHERE SIZE_MAX

// Finds the planes of the first dim under the window.
static void set_slices(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    const qdq_direct_axis *axis = &d->axes[0];
    size_t phase = u->plane % axis->out_step, q = u->plane / axis->out_step;
    u->slices = 0;
    for (size_t t = 0; t < d->conv.kernel[0]; t++) {
        const qdq_direct_tap *tap = &axis->taps[t];
        ptrdiff_t at = (ptrdiff_t)axis->in_step * ((ptrdiff_t)q + tap->shift);
        at += (ptrdiff_t)tap->in_phase;
        bool there = at >= 0 && at < (ptrdiff_t)d->conv.in[0];
        if (tap->out_phase != phase || !(there || d->keeps_all)) continue;
        u->s->slices[u->slices++] = (qdq_direct_slice){t, there ? (size_t)at : NOWHERE};
    }
}

// Finds begin..end, the elements inside x among `count` elements from q + low on.
static void inside(const qdq_direct_axis *axis, size_t q, size_t count, size_t phase, size_t in,
                   size_t *begin, size_t *end) {
    ptrdiff_t first = (ptrdiff_t)q + axis->low;
    ptrdiff_t all = in > phase ? (ptrdiff_t)((in - phase + axis->in_step - 1) / axis->in_step) : 0;
    ptrdiff_t from = first < 0 ? -first : 0, to = all - first;
    if (to > (ptrdiff_t)count) to = (ptrdiff_t)count;
    if (to < from) from = to = 0;
    *begin = (size_t)from, *end = (size_t)to;
}

static void set_place(qdq_direct_unit *u, size_t slot) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    const qdq_direct_axis *rows = &d->axes[1], *columns = &d->axes[LAST];
    size_t phase1 = rows->in_phases[slot / columns->slots];
    size_t phase2 = columns->in_phases[slot % columns->slots];
    size_t top, bottom, left, right;
    inside(rows, u->q[1], u->n[1] + rows->reach, phase1, c->in[1], &top, &bottom);
    inside(columns, u->q[LAST], u->n[LAST] + columns->reach, phase2, c->in[LAST], &left, &right);
    if (top == bottom || left == right) {  // all of it is padding
        u->s->places[slot] = (qdq_direct_place){0};
        return;
    }
    if (d->flat) {
        u->s->places[slot] = (qdq_direct_place){
            (size_t)((ptrdiff_t)(u->q[1] + top) + rows->low) * c->x_stride[1],
            top * d->plane_width + d->start + (size_t)-columns->low, bottom - top, c->in[LAST]};
        return;
    }
    size_t y = rows->in_step * (size_t)((ptrdiff_t)(u->q[1] + top) + rows->low) + phase1;
    size_t x = columns->in_step * (size_t)((ptrdiff_t)(u->q[LAST] + left) + columns->low) + phase2;
    u->s->places[slot] =
        (qdq_direct_place){y * c->x_stride[1] + x * c->x_stride[LAST], top * d->plane_width + left,
                           bottom - top, right - left};
}

void qdq_direct_begin_planes(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    qdq_scratch_drop(u->tensors->poison, u->s->planes, sizeof u->s->planes);
    set_slices(u);
    u->slots = d->axes[1].slots * d->axes[LAST].slots;
    for (size_t slot = 0; slot < (d->flat ? 1 : u->slots); slot++) set_place(u, slot);
    u->filled_group = NOWHERE;
}

void qdq_direct_zero_planes(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    size_t planes = d->inputs * u->slices * u->slots;
    memset(u->s->planes, 0, planes * d->plane * sizeof *u->s->planes);
    u->filled_group = NOWHERE;
}

// Describes the rows of all slots for one place in the first dim. x: its first element.
static qdq_direct_rows rows_of(const qdq_direct_unit *u, size_t slot, const char *x, float *plane) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    const qdq_direct_place *of = &u->s->places[slot];
    return (qdq_direct_rows){
        .dtype = c->gemm.a_dtype,
        .zero_point = u->zero_point,
        .x = x + of->from * qdq_dtype_size(c->gemm.a_dtype),
        .row_stride = d->axes[1].in_step * c->x_stride[1],
        .step = d->axes[LAST].in_step * c->x_stride[LAST],
        .rows = of->rows,
        .n = of->n,
        .plane = plane + of->to,
        .plane_stride = d->plane_width,
    };
}

// Returns the planes of all taps for one place in the first dim.
static qdq_direct_flat flat_of(const qdq_direct_unit *u, const char *x, float *planes) {
    const qdq_direct *d = u->d;
    const qdq_direct_place *of = &u->s->places[0];
    return (qdq_direct_flat){
        .dtype = d->conv.gemm.a_dtype,
        .zero_point = u->zero_point,
        .x = x + of->from * qdq_dtype_size(d->conv.gemm.a_dtype),
        .n = of->rows * of->n,
        .taps = u->slots,
        .masks = d->masks,
        .planes = planes + of->to,
        .plane_stride = d->plane,
    };
}

static void fill(const qdq_direct_unit *u, const char *x, float *planes) {
    const qdq_direct *d = u->d;
    if (d->flat) {
        qdq_direct_flat flat = flat_of(u, x, planes);
        if (flat.n) d->kernels->flat(&flat);
        return;
    }
    for (size_t slot = 0; slot < u->slots; slot++) {
        qdq_direct_rows rows = rows_of(u, slot, x, planes + slot * d->plane);
        if (rows.rows) d->kernels->fill(&rows);
    }
}

// Returns the first element of an input channel of a group, at z of the first dim.
static const char *channel_at(const qdq_direct_unit *u, size_t group, size_t channel, size_t z) {
    const qdq_conv *c = &u->d->conv;
    size_t at = u->image * c->gemm.batches.a[0] + group * c->gemm.batches.a[1];
    at += channel * c->channel_stride + z * c->x_stride[0];
    return (const char *)u->tensors->x[c->gemm.a_port] + at * qdq_dtype_size(c->gemm.a_dtype);
}

void qdq_direct_fill_planes(qdq_direct_unit *u, size_t group, size_t begin, size_t end) {
    if (u->filled_group == group && u->filled_input == begin) return;
    u->filled_group = group, u->filled_input = begin;
    float *planes = u->s->planes;
    for (size_t i = begin; i < end; i++)
        for (size_t s = 0; s < u->slices; s++, planes += u->slots * u->d->plane) {
            size_t z = u->s->slices[s].at;
            if (z != NOWHERE) fill(u, channel_at(u, group, i, z), planes);
        }
}

void qdq_direct_view_planes(qdq_direct_unit *u, qdq_direct_channels *to) {
    const qdq_direct *d = u->d;
    const char *x = channel_at(u, u->channel, 0, u->s->slices[0].at);
    *to = (qdq_direct_channels){.x_next = d->conv.gemm.batches.a[1] *
                                          qdq_dtype_size(d->conv.gemm.a_dtype)};
    if (d->flat) {
        u->s->flat = flat_of(u, x, u->s->planes);
        to->flat = &u->s->flat;
        return;
    }
    to->rows = u->s->rows;
    for (size_t slot = 0; slot < u->slots; slot++) {
        qdq_direct_rows rows = rows_of(u, slot, x, u->s->planes + slot * d->plane);
        if (rows.rows) u->s->rows[to->slots++] = rows;
    }
}
