// SPDX-License-Identifier: Apache-2.0
// Copies planes of x for direct convolutions.
#include "ops/products/direct/conv_direct_unit.h"
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

// The elements begin..end of `count` ones from q + low on that lie in x.
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
    size_t y = rows->in_step * (size_t)((ptrdiff_t)(u->q[1] + top) + rows->low) + phase1;
    size_t x = columns->in_step * (size_t)((ptrdiff_t)(u->q[LAST] + left) + columns->low) + phase2;
    if (right == left) bottom = top;
    u->s->places[slot] =
        (qdq_direct_place){y * c->x_stride[1] + x * c->x_stride[LAST], top * d->plane_width + left,
                           bottom - top, right - left};
}

void qdq_direct_begin_planes(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    qdq_scratch_drop(u->tensors->poison, u->s->planes, sizeof u->s->planes);
    set_slices(u);
    u->slots = d->axes[1].slots * d->axes[LAST].slots;
    for (size_t slot = 0; slot < u->slots; slot++) set_place(u, slot);
    size_t planes = d->inputs * u->slices * u->slots;
    memset(u->s->planes, 0, planes * d->plane * sizeof *u->s->planes);
    u->filled_group = NOWHERE;
}

void qdq_direct_fill_planes(qdq_direct_unit *u, size_t group, size_t begin, size_t end) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    if (u->filled_group == group && u->filled_input == begin) return;
    u->filled_group = group, u->filled_input = begin;
    size_t image = u->image * c->gemm.batches.a[0] + group * c->gemm.batches.a[1];
    size_t size = qdq_dtype_size(c->gemm.a_dtype);
    qdq_direct_rows rows = {
        .dtype = c->gemm.a_dtype,
        .zero_point = u->zero_point,
        .row_stride = d->axes[1].in_step * c->x_stride[1],
        .step = d->axes[LAST].in_step * c->x_stride[LAST],
        .plane_stride = d->plane_width,
    };
    float *plane = u->s->planes;
    for (size_t i = begin; i < end; i++)
        for (size_t s = 0; s < u->slices; s++) {
            size_t z = u->s->slices[s].at, at = image + i * c->channel_stride;
            at += z == NOWHERE ? 0 : z * c->x_stride[0];
            for (size_t slot = 0; slot < u->slots; slot++, plane += d->plane) {
                const qdq_direct_place *of = &u->s->places[slot];
                if (z == NOWHERE || !of->rows) continue;
                rows.x = (const char *)u->tensors->x[c->gemm.a_port] + (at + of->from) * size;
                rows.plane = plane + of->to;
                rows.rows = of->rows, rows.n = of->n;
                d->kernels->fill(&rows);
            }
        }
}
