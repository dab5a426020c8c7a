// SPDX-License-Identifier: Apache-2.0
// Means of windows over planes of float32, the usual case. Rows of x that some rows of y need are
// packed with their padding, which is 0, so that tap (i, j) of all windows of a row of y is one
// run of neighbours. With a stride of 2 the positions of a row lie in two phases, even ones first.
// A kernel adds all taps of a vector of windows in registers, in row-major order.
#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/spatial/pool_band.h"

// Returns the number of elements of a phase, rounded up to cache lines.
static size_t phase_of(const qdq_pool_axis *w) {
    return (qdq_pool_extent(w) / w->stride + 1 + 15) / 16 * 16;
}

// Returns the number of packed rows for a number of rows of y.
static size_t rows_of(const qdq_pool_axis *h, size_t count) {
    return (count - 1) * h->stride + h->kernel;
}

bool qdq_pool_means_rows(const qdq_pool_params *p) {
    const qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    if (!p->kernels->mean[p->kind] || !qdq_pool_is_of_planes(p)) return false;
    if (p->channels > 1 || p->x_dtype != QDQ_FLOAT32 || p->y_dtype != QDQ_FLOAT32) return false;
    if (h->dilation > 1 || w->dilation > 1 || w->stride > 2) return false;
    if (h->kernel > QDQ_POOL_TAPS || w->kernel > QDQ_POOL_TAPS) return false;
    if (w->out > QDQ_POOL_LANES || w->pad >= qdq_pool_extent(w)) return false;
    return rows_of(h, 2) * phase_of(w) * w->stride <= QDQ_POOL_PACKED;
}

typedef struct scratch {
    // Elements of any kind.
    _Alignas(64) double packed[QDQ_POOL_PACKED + QDQ_POOL_ROOM];
    _Alignas(64) double divisors[QDQ_POOL_LANES + QDQ_POOL_ROOM];
} scratch;

typedef struct rows {
    const qdq_pool_params *p;
    qdq_pool_taps taps;
    size_t n, phase;  // elements of a row of x that are packed; of a phase
    double seen;      // rows in x that the divisors are for
    scratch *s;
} rows;

//---- Packing ----------------------------------------------------------------

static void *element(const qdq_pool_params *p, void *of, size_t at) {
    return (char *)of + at * p->packed_size;
}

static void pack_row(const rows *r, const float *x, void *to) {
    const qdq_pool_params *p = r->p;
    size_t pad = p->axes[2].pad;
    if (p->axes[2].stride == 1) {
        p->kernels->load[p->kind](x, 1, element(p, to, pad), r->n);
        return;
    }
    void *one = element(p, to, (pad % 2) * r->phase + pad / 2);
    void *other = element(p, to, ((pad + 1) % 2) * r->phase + (pad + 1) / 2);
    p->kernels->pairs[p->kind](x, one, other, r->n / 2);
    if (r->n % 2) p->kernels->load[p->kind](x + r->n - 1, 1, element(p, one, r->n / 2), 1);
}

// Packs `count` rows of the plane x from position `at` on, counted from the padding.
static void pack(const rows *r, const float *x, size_t at, size_t count) {
    const qdq_pool_axis *h = &r->p->axes[1];
    size_t pitch = r->taps.pitch;
    for (size_t i = 0; i < count; i++, at++) {
        void *to = element(r->p, r->s->packed, i * pitch);
        if (at < h->pad || at >= h->pad + h->in)
            memset(to, 0, pitch * r->p->packed_size);
        else
            pack_row(r, x + (at - h->pad) * r->p->axes[2].in, to);
    }
}

//---- Means ------------------------------------------------------------------

// A window without elements has the sum 0, which any divisor leaves 0.
static void set_divisors(rows *r, double seen) {
    const qdq_pool_params *p = r->p;
    const qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    if (seen == r->seen) return;
    r->seen = seen;
    for (size_t i = 0; i < w->out; i++) {
        double all = p->exclude_pad ? seen * w->seen[i] : (double)h->kernel * (double)w->kernel;
        all = all > 0.0 ? all : 1.0;
        if (p->kind == QDQ_POOL_FLOATS)
            ((float *)(void *)r->s->divisors)[i] = (float)all;
        else
            r->s->divisors[i] = all;
    }
}

// Stores `count` rows of y from row `row` of the plane on, whose first element is `to`.
static void store(rows *r, qdq_chunks *y, size_t row, size_t to, size_t count) {
    const qdq_pool_params *p = r->p;
    const qdq_pool_axis *h = &p->axes[1];
    size_t out = p->axes[2].out, step;
    for (size_t i = 0, some; i < count; i += some) {
        double seen = h->seen[row + i];
        some = h->stride == 1 && i + 1 < count && h->seen[row + i + 1] == seen ? 2 : 1;
        set_divisors(r, seen);
        float *room = qdq_chunks_block(y, to + i * out, out, some, out, &step);
        p->kernels->mean[p->kind](element(p, r->s->packed, i * h->stride * r->taps.pitch), &r->taps,
                                  r->s->divisors, room, some == 2 ? room + step : NULL, out);
    }
}

//---- Entry ------------------------------------------------------------------

void qdq_pool_run_means(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_pool_params *p = params;
    const qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    qdq_chunks y;
    scratch s;
    size_t columns[QDQ_POOL_TAPS], most = QDQ_POOL_ROWS;
    rows r = {.p = p, .phase = phase_of(w), .seen = -1.0, .s = &s};
    for (size_t j = 0; j < w->kernel; j++) columns[j] = j % w->stride * r.phase + j / w->stride;
    r.taps = (qdq_pool_taps){h->kernel, w->kernel, r.phase * w->stride, columns};
    r.n = qdq_pool_lesser(w->in, qdq_pool_extent(w) - w->pad);
    while (rows_of(h, most) * r.taps.pitch > QDQ_POOL_PACKED) most--;
    qdq_scratch_drop(tensors->poison, &s, sizeof s);
    memset(s.packed, 0, rows_of(h, most) * r.taps.pitch * p->packed_size);  // the padding stays
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t row = begin, count; row < end; row += count) {
        size_t plane = row / h->out, first = row - plane * h->out;
        count = qdq_pool_lesser(qdq_pool_lesser(end - row, h->out - first), most);
        pack(&r, (const float *)tensors->x[0] + plane * h->in * w->in, first * h->stride,
             rows_of(h, count));
        store(&r, &y, first, row * w->out, count);
    }
    qdq_chunks_end(&y);
}
