// SPDX-License-Identifier: Apache-2.0
// Maxima of small windows over planes of float32 or bytes, the usual case: rows of x are joined to
// lines where they lie, and a kernel joins neighbours of a line. Some rows of y are computed
// together, all lines first: a load at another offset than a store just before would wait for the
// store.
#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/spatial/pool_band.h"

qdq_pool_peaks_fn *qdq_pool_peaks_of(const qdq_pool_params *p) {
    const qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    bool floats = p->x_dtype == QDQ_FLOAT32 && p->y_dtype == QDQ_FLOAT32;
    if (p->channels > 1 || !(floats || p->kind == QDQ_POOL_BYTES)) return NULL;
    if (!qdq_pool_is_of_planes(p)) return NULL;
    if (h->kernel > QDQ_POOL_TAPS || w->dilation > 1 || w->stride > 2) return NULL;
    if (w->kernel < 2 || w->kernel > 3 || qdq_pool_extent(w) > QDQ_POOL_PACKED) return NULL;
    return qdq_pool_none_is_empty(p->axes)
               ? p->kernels->peaks[p->kind][w->stride - 1][w->kernel - 2]
               : NULL;
}

// Joins the rows of the plane x that the windows at position `at` see.
static void join_rows(const qdq_pool_params *p, const char *x, size_t at, size_t n, void *line) {
    const qdq_pool_axis *h = &p->axes[1];
    qdq_pool_range in = qdq_pool_inside(h, at);
    size_t pitch = p->axes[2].in * p->x_size, count = 0;
    const void *rows[QDQ_POOL_TAPS];
    for (size_t i = in.begin; i < in.end; i++)
        rows[count++] = x + (at + i * h->dilation - h->pad) * pitch;
    p->kernels->rows[p->kind](rows, count, p->sign, true, line, n);
}

void qdq_pool_run_peaks(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_pool_params *p = params;
    const qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    _Alignas(64) char lines[(QDQ_POOL_PACKED + QDQ_POOL_ROOM) * sizeof(uint32_t)];
    size_t extent = qdq_pool_extent(w), n = qdq_pool_lesser(w->in, extent - w->pad),
           size = p->packed_size;
    size_t most = qdq_pool_lesser(QDQ_POOL_PACKED / extent, QDQ_POOL_ROWS), pitch = extent * size;
    qdq_chunks y;
    qdq_scratch_drop(tensors->poison, lines, sizeof lines);
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    memset(lines, 0, most * pitch);  // the padding stays
    for (size_t row = begin, count; row < end; row += count) {
        size_t plane = row / h->out, first = row - plane * h->out;
        const char *x = (const char *)tensors->x[0] + plane * h->in * w->in * p->x_size;
        count = qdq_pool_lesser(qdq_pool_lesser(end - row, h->out - first), most);
        for (size_t i = 0; i < count; i++)
            join_rows(p, x, (first + i) * h->stride, n, lines + i * pitch + w->pad * size);
        for (size_t i = 0; i < count; i++)
            p->peaks(lines + i * pitch, p->sign, qdq_chunks_room(&y, (row + i) * w->out, w->out),
                     w->out);
    }
    qdq_chunks_end(&y);
}
