// SPDX-License-Identifier: Apache-2.0
// Sizes of bands and blocks of pooling, and the tables that a band reads.
#include "ops/blocking.h"
#include "ops/spatial/pool_band.h"
#include "runtime/base/size.h"
#include "runtime/numerics/dtype.h"

//---- Windows ----------------------------------------------------------------

// Returns n / by, rounded up. Most windows need no division, and a division would dominate their
// cost.
static size_t steps(size_t n, size_t by) { return by == 1 ? n : (n + by - 1) / by; }

qdq_pool_range qdq_pool_inside(const qdq_pool_axis *a, size_t at) {
    qdq_pool_range r = {0, a->kernel};
    size_t end = a->pad + a->in;
    if (at < a->pad) r.begin = steps(a->pad - at, a->dilation);
    if (at + (a->kernel - 1) * a->dilation >= end)
        r.end = at < end ? steps(end - at, a->dilation) : 0;
    if (r.begin > r.end) r.begin = r.end;
    return r;
}

bool qdq_pool_none_is_empty(const qdq_pool_axis *axes) {
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++)
        for (size_t o = 0; o < axes[i].out; o++) {
            qdq_pool_range r = qdq_pool_inside(&axes[i], o * axes[i].stride);
            if (r.begin == r.end) return false;
        }
    return true;
}

//---- Sizes ------------------------------------------------------------------

// Returns the number of phases that taps 0..taps - 1 fall into: (k * dilation) % stride repeats
// with stride / gcd.
static size_t phases_of(const qdq_pool_axis *a, size_t taps) {
    size_t n = a->stride, rest = a->dilation;
    while (rest) {
        size_t next = n % rest;
        n = rest, rest = next;
    }
    return taps < a->stride / n ? taps : a->stride / n;
}

// Returns the number of packed elements of a phase along the dim.
static size_t extent_of(const qdq_pool_axis *a) {
    return a->span + (a->taps - 1) * a->dilation / a->stride;
}

static bool fits(const qdq_pool_params *p) {
    const qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    size_t row = qdq_size_times(extent_of(w), p->part);
    size_t rows = qdq_size_times(extent_of(h), phases_of(h, h->taps));
    return qdq_size_times(qdq_size_times(rows, row), phases_of(w, w->taps)) <= QDQ_POOL_PACKED &&
           qdq_size_times(h->span, row) <= QDQ_POOL_JOINED;
}

// The same for a row of a maximum, which packs the positions between its taps too.
static bool row_fits(const qdq_pool_params *p) {
    const qdq_pool_axis *w = &p->axes[2];
    size_t extent = extent_of(w),
           residue = qdq_pool_lesser(w->stride - 1, (w->taps - 1) * w->dilation);
    size_t line = qdq_size_add(qdq_size_times(extent - 1, w->stride), residue + 1);
    size_t phases = qdq_size_times(extent, phases_of(w, w->taps));
    return qdq_size_times(line, p->part) <= QDQ_POOL_PACKED &&
           qdq_size_times(phases, p->part) <= QDQ_POOL_PACKED;
}

static bool count_seen(qdq_mempool *mempool, qdq_pool_axis *a) {
    double *seen = qdq_mempool_array(mempool, a->out, sizeof *seen);
    a->seen = seen;
    for (size_t i = 0; seen && i < a->out; i++) {
        qdq_pool_range r = qdq_pool_inside(a, i * a->stride);
        seen[i] = (double)(r.end - r.begin);
    }
    return seen;
}

static bool set_taps(qdq_mempool *mempool, qdq_pool_axis *a) {
    a->phases = 0;
    a->phase_of = qdq_mempool_array(mempool, a->taps, sizeof(size_t));
    a->shift = qdq_mempool_array(mempool, a->taps, sizeof(size_t));
    a->residue = qdq_mempool_array(mempool, a->taps, sizeof(size_t));
    if (!a->phase_of || !a->shift || !a->residue) return false;
    for (size_t k = 0; k < a->taps; k++) {
        size_t residue = k * a->dilation % a->stride, p = 0;
        while (p < a->phases && a->residue[p] != residue) p++;
        if (p == a->phases) a->residue[a->phases++] = residue;
        a->phase_of[k] = p, a->shift[k] = k * a->dilation / a->stride;
    }
    a->most_shift = a->shift[a->taps - 1];
    return true;
}

bool qdq_pool_set_bands(qdq_mempool *mempool, qdq_pool_params *p) {
    qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    static const size_t sizes[QDQ_POOL_KINDS] = {sizeof(int32_t), 1, sizeof(float), sizeof(double)};
    p->x_size = qdq_dtype_size(p->x_dtype), p->packed_size = sizes[p->kind];
    p->result_size = p->kind == QDQ_POOL_BYTES ? 1 : sizeof(float);
    p->part = qdq_pool_lesser(p->channels, QDQ_POOL_CHANNELS);
    h->taps = qdq_pool_lesser(h->kernel, QDQ_POOL_TAPS),
    w->taps = qdq_pool_lesser(w->kernel, QDQ_POOL_TAPS);
    h->span = 1, w->span = qdq_pool_lesser(w->out, QDQ_POOL_LANES / p->part);
    bool sums = p->kind == QDQ_POOL_FLOATS || p->kind == QDQ_POOL_DOUBLES;
    if (!sums) {
        h->taps = 1;
        p->has_empty = !qdq_pool_none_is_empty(p->axes);
        p->peaks = qdq_pool_peaks_of(p);
    }
    while (!(sums ? fits(p) : row_fits(p))) {
        size_t *most = h->taps > 1 ? &h->taps : w->taps > 1 ? &w->taps : &w->span;
        *most = (*most + 1) / 2;
    }
    if (w->taps < w->kernel) h->taps = 1;  // sums add their taps in row-major order
    p->by_rows = sums && qdq_pool_means_rows(p);
    while (sums && !p->by_rows && h->span < h->out && (h->span++, fits(p))) continue;
    if (sums && !p->by_rows && !fits(p)) h->span--;
    for (int i = 0; sums && i < QDQ_MAX_SPATIAL; i++)
        if (!count_seen(mempool, &p->axes[i])) return false;
    return set_taps(mempool, h) && set_taps(mempool, w);
}

size_t qdq_pool_bands(const qdq_pool_params *p) {
    const qdq_pool_axis *a = p->axes;
    return a[0].out * ((a[1].out + a[1].span - 1) / a[1].span);
}
