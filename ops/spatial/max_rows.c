// SPDX-License-Identifier: Apache-2.0
// A maximum may take its elements in any order, so a row of y is computed in two steps: the rows of
// x under its windows are joined to a line, then elements of the line. Blocks of positions and
// channels fit the L1 cache. With a stride above 1 the line is sorted by phase, position % stride:
//
//     [phase][position][channel]
//
// Tap j of all windows is then one run of neighbours. Padding is 0, the least key.
#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/spatial/pool_band.h"
#include "runtime/numerics/dtype.h"

//---- A block ----------------------------------------------------------------

// A block: windows of a row of y, and channels.
typedef struct block {
    const qdq_pool_params *p;
    const char *x;                // the plane
    size_t depth, row;            // where the windows begin, counted from the padding
    qdq_pool_range depths, rows;  // of the windows, which lie in x
    size_t column, count;         // of y
    size_t channel, channels;
} block;

typedef struct scratch {
    // Elements of any kind.
    _Alignas(64) uint32_t line[QDQ_POOL_PACKED + QDQ_POOL_ROOM];
    _Alignas(64) uint32_t phases[QDQ_POOL_PACKED + QDQ_POOL_ROOM];
    _Alignas(64) uint32_t joined[QDQ_POOL_LANES + QDQ_POOL_ROOM];
    _Alignas(64) uint32_t results[QDQ_POOL_LANES + QDQ_POOL_ROOM];
} scratch;

static void *element(const qdq_pool_params *p, void *of, size_t at) {
    return (char *)of + at * p->packed_size;
}

//---- Rows -------------------------------------------------------------------

// Joins n elements of each row with y; `fresh`: y holds nothing yet.
static void join_rows(const qdq_pool_params *p, const void *const *rows, size_t count, bool fresh,
                      scratch *s, void *y, size_t n) {
    qdq_pool_rows_fn *fn = p->kernels->rows[p->kind];
    if (p->kind == QDQ_POOL_BYTES || p->x_dtype == QDQ_FLOAT32) {
        fn(rows, count, p->sign, fresh, y, n);
        return;
    }
    const void *wide = s->phases;  // which nothing needs yet
    for (size_t k = 0; k < count; k++) {
        qdq_decode_float(p->x_dtype, rows[k], (float *)(void *)s->phases, n);
        fn(&wide, 1, p->sign, fresh && k == 0, y, n);
    }
}

// Joins n elements from pixel `pixel` on, of each row that the windows see, to y.
static void join_pixels(const block *b, scratch *s, size_t pixel, void *y, size_t n) {
    const qdq_pool_params *p = b->p;
    const qdq_pool_axis *d = &p->axes[0], *h = d + 1, *w = d + 2;
    size_t line = w->in * p->channels * p->x_size, count = 0;
    const char *x = b->x + (pixel * p->channels + b->channel) * p->x_size;
    const void *rows[QDQ_POOL_TAPS];
    bool fresh = true;
    for (size_t k = b->depths.begin; k < b->depths.end; k++)
        for (size_t i = b->rows.begin; i < b->rows.end; i++) {
            size_t plane = b->depth + k * d->dilation - d->pad;
            rows[count++] = x + (plane * h->in + b->row + i * h->dilation - h->pad) * line;
            if (count < QDQ_POOL_TAPS) continue;
            join_rows(p, rows, count, fresh, s, y, n);
            count = 0, fresh = false;
        }
    if (count)
        join_rows(p, rows, count, fresh, s, y, n);
    else if (fresh)
        memset(y, 0, n * p->packed_size);
}

// Padding: most lines begin and end with an element or two of it, or none.
static void pad(const qdq_pool_params *p, void *y, size_t n) {
    if (p->packed_size == sizeof(uint32_t))
        for (uint32_t *to = y; n; n--) *to++ = 0;
    else
        for (uint8_t *to = y; n; n--) *to++ = 0;
}

// Fills the line: `positions` pixels of the channels, from position `at` on.
static void fill_line(const block *b, scratch *s, size_t at, size_t positions) {
    const qdq_pool_params *p = b->p;
    const qdq_pool_axis *w = &p->axes[2];
    size_t end = w->pad + w->in, n = b->channels;
    size_t first = at < w->pad ? qdq_pool_lesser(w->pad - at, positions) : 0;
    size_t last = at < end ? qdq_pool_lesser(end - at, positions) : 0;
    if (last < first) last = first;
    pad(p, s->line, first * n);
    pad(p, element(p, s->line, last * n), (positions - last) * n);
    if (last > first && n == p->channels)
        join_pixels(b, s, at + first - w->pad, element(p, s->line, first * n), (last - first) * n);
    else
        for (size_t i = first; i < last; i++)
            join_pixels(b, s, at + i - w->pad, element(p, s->line, i * n), n);
}

//---- Columns ----------------------------------------------------------------

// Copies `count` pixels of n elements each, `step` pixels apart.
static void gather(const qdq_pool_params *p, const char *x, size_t step, size_t n, char *y,
                   size_t count) {
    size_t bytes = n * p->packed_size;
    if (bytes == 1)
        for (size_t i = 0; i < count; i++) y[i] = x[i * step];
    else if (bytes == sizeof(uint32_t))
        for (size_t i = 0; i < count; i++)
            memcpy(y + i * sizeof(uint32_t), x + i * step * sizeof(uint32_t), sizeof(uint32_t));
    else
        for (size_t i = 0; i < count; i++) memcpy(y + i * bytes, x + i * step * bytes, bytes);
}

// Sorts the line by phase: `extent` pixels of each phase that a tap reads.
static void split(const block *b, scratch *s, size_t extent) {
    const qdq_pool_params *p = b->p;
    const qdq_pool_axis *w = &p->axes[2];
    size_t n = b->channels;
    if (w->phases == 2 && w->stride == 2 && n == 1)
        p->kernels->pairs[p->kind](s->line, s->phases, element(p, s->phases, extent), extent);
    else
        for (size_t k = 0; k < w->phases; k++)
            gather(p, element(p, s->line, w->residue[k] * n), w->stride, n,
                   element(p, s->phases, k * extent * n), extent);
}

// Joins taps j0.. of the windows with the taps joined before.
static void join_taps(const block *b, scratch *s, size_t j0) {
    const qdq_pool_params *p = b->p;
    const qdq_pool_axis *w = &p->axes[2];
    size_t taps = qdq_pool_lesser(w->taps, w->kernel - j0), extent = b->count + w->most_shift,
           last = 0;
    size_t offsets[QDQ_POOL_TAPS];
    for (size_t k = 0; k < w->phases; k++) last = w->residue[k] > last ? w->residue[k] : last;
    fill_line(b, s, b->column * w->stride + j0 * w->dilation, (extent - 1) * w->stride + last + 1);
    if (w->stride > 1) split(b, s, extent);
    for (size_t j = 0; j < taps; j++)
        offsets[j] = (w->phase_of[j] * extent + w->shift[j]) * b->channels;
    p->kernels->join[p->kind](w->stride > 1 ? s->phases : s->line, offsets, taps, j0 == 0,
                              s->joined, b->count * b->channels);
}

//---- Entry ------------------------------------------------------------------

// Stores the lowest float for windows without an element. For bytes padding already gives the
// lowest code.
static void fill_empty(const block *b, float *y) {
    const qdq_pool_axis *w = &b->p->axes[2];
    bool none = b->depths.begin == b->depths.end || b->rows.begin == b->rows.end;
    for (size_t i = 0; i < b->count; i++, y += b->channels) {
        qdq_pool_range in = qdq_pool_inside(w, (b->column + i) * w->stride);
        for (size_t c = 0; (none || in.begin == in.end) && c < b->channels; c++)
            y[c] = b->p->lowest;
    }
}

static void run_block(const block *b, scratch *s, qdq_chunks *y, size_t row) {
    const qdq_pool_params *p = b->p;
    const qdq_pool_axis *w = &p->axes[2];
    size_t n = b->count * b->channels;
    qdq_scratch_drop(y->tensors->poison, s, sizeof *s);
    for (size_t j = 0; j < w->kernel; j += w->taps) join_taps(b, s, j);
    if (p->kind == QDQ_POOL_KEYS)
        p->kernels->from_keys(s->joined, (void *)s->results, n);
    else
        p->kernels->from_bytes((const void *)s->joined, p->sign, (void *)s->results, n);
    if (p->kind == QDQ_POOL_KEYS && p->has_empty) fill_empty(b, (void *)s->results);
    qdq_pool_store(p, s->results, y, (row * w->out + b->column) * p->channels + b->channel,
                   b->count, b->channels);
}

void qdq_pool_run_max(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_pool_params *p = params;
    const qdq_pool_axis *d = &p->axes[0], *h = d + 1, *w = d + 2;
    size_t plane_size = d->in * h->in * w->in * p->channels * p->x_size;
    qdq_chunks y;
    scratch s;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t row = begin; row < end; row++) {
        size_t of = row / h->out;
        block b = {
            .p = p, .depth = of % d->out * d->stride, .row = (row - of * h->out) * h->stride};
        b.x = (const char *)tensors->x[0] + of / d->out * plane_size;
        b.depths = qdq_pool_inside(d, b.depth), b.rows = qdq_pool_inside(h, b.row);
        for (b.column = 0; b.column < w->out; b.column += b.count)
            for (b.channel = 0; b.channel < p->channels; b.channel += b.channels) {
                b.count = qdq_pool_lesser(w->span, w->out - b.column);
                b.channels = qdq_pool_lesser(p->part, p->channels - b.channel);
                run_block(&b, &s, &y, row);
            }
    }
    qdq_chunks_end(&y);
}
