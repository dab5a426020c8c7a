// SPDX-License-Identifier: Apache-2.0
// A band is computed in blocks of positions and channels that fit the L1 cache. Elements of x that
// a block needs are packed, with padding as 0. They are sorted by phase, position % stride in both
// dims:
//
//     [phase along the row][phase of the row][row][position][channel]
//
// Windows that are neighbours in y then read neighbours: tap (i, j) of all windows of the block is
// one line of the packed elements, whatever the stride, the dilation and the borders. Whole taps
// are added in row-major order, so each window adds its elements in this order.
#include "ops/spatial/pool_band.h"

#include "ops/blocking.h"
#include "ops/chunks.h"
#include "runtime/numerics/dtype.h"

enum {
    PACKED = QDQ_POOL_PACKED,
    JOINED = QDQ_POOL_JOINED,
    LANES = QDQ_POOL_LANES,
    TAPS = QDQ_POOL_TAPS,
    MOST_TAPS = TAPS * TAPS,
    DECODED = 256,
};

// Returns n / by, rounded up. Most windows need no division, and a division would dominate their
// cost.
static size_t steps(size_t n, size_t by) { return by == 1 ? n : (n + by - 1) / by; }

//---- A block ----------------------------------------------------------------

// Windows rows x columns of a plane, and channels.
typedef struct block {
    const qdq_pool_params *p;
    const char *x;                    // the plane
    size_t depth;                     // position of the windows in the first dim
    size_t row, rows, column, count;  // of y
    size_t channel, channels;
    size_t pitch;   // elements from one packed row to the next
    size_t extent;  // packed rows of a phase
    size_t plane;   // packed elements of a phase along the row
} block;

// The positions of a phase along the row that lie in x: first..last, from pixel `pixel` on. The
// others are padding.
typedef struct stretch {
    size_t first, last, pixel;
} stretch;

typedef struct scratch {
    // Elements of any kind.
    _Alignas(64) double packed[PACKED + QDQ_POOL_ROOM];
    _Alignas(64) double joined[JOINED + QDQ_POOL_ROOM];
    double divisors[LANES];
    float results[LANES];
} scratch;

static void *element(const qdq_pool_params *p, void *of, size_t at) {
    return (char *)of + at * p->packed_size;
}

static void fill(const qdq_pool_params *p, void *y, size_t n) { memset(y, 0, n * p->packed_size); }

// Packs n elements of x that are `step` apart.
static void load(const qdq_pool_params *p, const char *x, size_t step, void *y, size_t n) {
    qdq_pool_load_fn *fn = p->kernels->load[p->kind];
    float wide[DECODED];
    if (p->x_dtype == QDQ_FLOAT32) {
        fn((const void *)x, step, y, n);
        return;
    }
    size_t most = (DECODED - 1) / step + 1;
    for (size_t i = 0, count; i < n; i += count) {
        count = qdq_pool_lesser(n - i, most);
        qdq_decode_float(p->x_dtype, x + i * step * p->x_size, wide, (count - 1) * step + 1);
        fn(wide, step, element(p, y, i), count);
    }
}

// Returns the stretch that begins at position `at`, counted from the padding.
static stretch stretch_of(const block *b, size_t at) {
    const qdq_pool_axis *w = &b->p->axes[2];
    size_t extent = b->count + w->most_shift, end = w->pad + w->in;
    size_t first = at < w->pad ? steps(w->pad - at, w->stride) : 0;
    size_t last = at < end ? steps(end - at, w->stride) : 0;
    last = qdq_pool_lesser(last, extent), first = qdq_pool_lesser(first, last);
    return (stretch){first, last, at + first * w->stride - w->pad};
}

// Packs a phase of a row of x.
static void pack_phase(const block *b, const char *row, const stretch *in, void *y) {
    const qdq_pool_params *p = b->p;
    size_t stride = p->axes[2].stride, first = in->first, last = in->last;
    size_t extent = b->count + p->axes[2].most_shift;
    const char *x = row + (in->pixel * p->channels + b->channel) * p->x_size;
    if (first) fill(p, y, first * b->channels);
    if (p->channels == 1)
        load(p, x, stride, element(p, y, first), last - first);
    else if (b->channels == p->channels && stride == 1)
        load(p, x, 1, element(p, y, first * b->channels), (last - first) * b->channels);
    else
        for (size_t i = first; i < last; i++, x += stride * p->channels * p->x_size)
            load(p, x, 1, element(p, y, i * b->channels), b->channels);
    if (last < extent) fill(p, element(p, y, last * b->channels), (extent - last) * b->channels);
}

// Packs the two phases of a stride of 2, `pair[1]` one pixel after `pair[0]`, to y and z. One of
// them may have an element more at each end.
static void pack_pair(const block *b, const char *row, const stretch *pair, void *y, void *z) {
    const qdq_pool_params *p = b->p;
    size_t extent = b->count + p->axes[2].most_shift;
    size_t first = pair[0].first > pair[1].first ? pair[0].first : pair[1].first;
    size_t last = qdq_pool_lesser(pair[0].last, pair[1].last);
    for (size_t k = 0; k < 2; k++) {
        const stretch *in = &pair[k];
        void *to = k ? z : y;
        size_t before = qdq_pool_lesser(first, in->last) - in->first;
        if (in->first) fill(p, to, in->first);
        if (before) load(p, row + in->pixel * p->x_size, 2, element(p, to, in->first), before);
        if (last < in->last && last >= first)
            load(p, row + (in->pixel + 2 * (last - in->first)) * p->x_size, 2, element(p, to, last),
                 in->last - last);
        if (in->last < extent) fill(p, element(p, to, in->last), extent - in->last);
    }
    if (first < last)
        p->kernels->pairs[p->kind](row + (pair[0].pixel + 2 * (first - pair[0].first)) * p->x_size,
                                   element(p, y, first), element(p, z, first), last - first);
}

// Packs the rows of plane `depth` of x for taps i0.. and j0.. of the windows.
static void pack(const block *b, size_t depth, size_t i0, size_t j0, void *packed) {
    const qdq_pool_params *p = b->p;
    const qdq_pool_axis *h = &p->axes[1], *w = &p->axes[2];
    size_t row_bytes = w->in * p->channels * p->x_size;
    stretch along[TAPS];
    bool pairs = w->stride == 2 && w->phases == 2 && p->channels == 1 && p->x_dtype == QDQ_FLOAT32;
    for (size_t k = 0; k < w->phases; k++)
        along[k] = stretch_of(b, b->column * w->stride + j0 * w->dilation + w->residue[k]);
    for (size_t hp = 0; hp < h->phases; hp++)
        for (size_t i = 0; i < b->extent; i++) {
            size_t y = (b->row + i) * h->stride + i0 * h->dilation + h->residue[hp];
            bool padding = y < h->pad || y >= h->pad + h->in;
            const char *row = b->x + (depth * h->in + (padding ? 0 : y - h->pad)) * row_bytes;
            char *to = element(p, packed, (hp * b->extent + i) * b->pitch);
            if (pairs && !padding) {
                pack_pair(b, row, along, to, element(p, to, b->plane));
                continue;
            }
            for (size_t k = 0; k < w->phases; k++, to = element(p, to, b->plane))
                if (padding)
                    fill(p, to, b->pitch);
                else
                    pack_phase(b, row, &along[k], to);
        }
}

static size_t row_offset(const block *b, size_t i) {
    const qdq_pool_axis *h = &b->p->axes[1];
    return (h->phase_of[i] * b->extent + h->shift[i]) * b->pitch;
}

static size_t column_offset(const block *b, size_t j) {
    const qdq_pool_axis *w = &b->p->axes[2];
    return w->phase_of[j] * b->plane + w->shift[j] * b->channels;
}

// Joins `taps_h` x `taps_w` packed taps with the taps joined before.
static void join(const block *b, scratch *s, size_t taps_h, size_t taps_w, bool fresh) {
    const qdq_pool_params *p = b->p;
    qdq_pool_join_fn *fn = p->kernels->join[p->kind];
    size_t offsets[MOST_TAPS], n = (b->rows - 1) * b->pitch + b->count * b->channels;
    for (size_t i = 0; i < taps_h; i++)
        for (size_t j = 0; j < taps_w; j++)
            offsets[i * taps_w + j] = row_offset(b, i) + column_offset(b, j);
    fn(s->packed, offsets, taps_h * taps_w, fresh, s->joined, n);
}

static void join_all(const block *b, scratch *s) {
    const qdq_pool_axis *d = &b->p->axes[0], *h = d + 1, *w = d + 2;
    qdq_pool_range depths = qdq_pool_inside(d, b->depth * d->stride);
    bool fresh = true;
    if (depths.begin == depths.end) fill(b->p, s->joined, b->rows * b->pitch);
    for (size_t k = depths.begin; k < depths.end; k++)
        for (size_t i = 0; i < h->kernel; i += h->taps)
            for (size_t j = 0; j < w->kernel; j += w->taps, fresh = false) {
                pack(b, b->depth * d->stride + k * d->dilation - d->pad, i, j, s->packed);
                join(b, s, qdq_pool_lesser(h->taps, h->kernel - i),
                     qdq_pool_lesser(w->taps, w->kernel - j), fresh);
            }
}

//---- Results ----------------------------------------------------------------

// Sets the divisors of a row of windows, whose other dims have `others` elements in x. A window
// without elements has the sum 0, which any divisor leaves 0.
static void set_divisors(const block *b, double others, double *divisors) {
    const qdq_pool_axis *a = b->p->axes;
    double volume = (double)a[0].kernel * (double)a[1].kernel * (double)a[2].kernel;
    for (size_t i = 0; i < b->count; i++) {
        double seen = b->p->exclude_pad ? others * a[2].seen[b->column + i] : volume;
        for (size_t c = 0; c < b->channels; c++)
            divisors[i * b->channels + c] = seen > 0.0 ? seen : 1.0;
    }
}

static void store_run(const qdq_pool_params *p, const void *from, qdq_chunks *y, size_t at,
                      size_t n) {
    void *room = qdq_chunks_room(y, at, n);
    if (p->kind == QDQ_POOL_BYTES || p->y_dtype == QDQ_FLOAT32)
        memcpy(room, from, n * p->result_size);
    else
        qdq_encode_float(p->y_dtype, from, room, n, NULL);
}

void qdq_pool_store(const qdq_pool_params *p, const void *from, qdq_chunks *y, size_t at,
                    size_t count, size_t channels) {
    if (channels == p->channels) {
        store_run(p, from, y, at, count * channels);
        return;
    }
    for (size_t k = 0; k < count; k++)
        store_run(p, (const char *)from + k * channels * p->result_size, y, at + k * p->channels,
                  channels);
}

// Stores a row of means, to y directly if they need no encoding.
static void store_means(const block *b, scratch *s, size_t row, qdq_chunks *y, size_t at) {
    const qdq_pool_params *p = b->p;
    const void *sums = element(p, s->joined, row * b->pitch);
    size_t n = b->count * b->channels;
    bool direct = p->y_dtype == QDQ_FLOAT32 && b->channels == p->channels;
    float *to = direct ? qdq_chunks_room(y, at, n) : s->results;
    if (p->kind == QDQ_POOL_FLOATS)
        p->kernels->divide_floats(sums, s->divisors, to, n);
    else
        p->kernels->divide_doubles(sums, s->divisors, to, n);
    if (!direct) qdq_pool_store(p, to, y, at, b->count, b->channels);
}

static void store(const block *b, scratch *s, qdq_chunks *y, size_t plane) {
    const qdq_pool_params *p = b->p;
    const qdq_pool_axis *a = p->axes;
    size_t row = (plane * a[0].out + b->depth) * a[1].out + b->row;
    size_t at = (row * a[2].out + b->column) * p->channels + b->channel;
    double others = -1.0;
    for (size_t i = 0; i < b->rows; i++, at += a[2].out * p->channels) {
        double seen = a[0].seen[b->depth] * a[1].seen[b->row + i];
        if (seen != others) set_divisors(b, seen, s->divisors);
        others = seen;
        store_means(b, s, i, y, at);
    }
}

//---- Entry ------------------------------------------------------------------

static void run_band(const qdq_pool_params *p, const void *x, scratch *s, qdq_chunks *y,
                     size_t unit) {
    const qdq_pool_axis *a = p->axes, *h = a + 1, *w = a + 2;
    size_t bands = qdq_pool_bands(p), plane = unit / bands, band = unit % bands;
    size_t of_depth = bands / a[0].out;
    block b = {.p = p, .depth = band / of_depth, .row = band % of_depth * h->span};
    b.rows = qdq_pool_lesser(h->span, h->out - b.row), b.extent = b.rows + h->most_shift;
    b.x = (const char *)x + plane * a[0].in * h->in * w->in * p->channels * p->x_size;
    for (b.column = 0; b.column < w->out; b.column += b.count)
        for (b.channel = 0; b.channel < p->channels; b.channel += b.channels) {
            b.count = qdq_pool_lesser(w->span, w->out - b.column);
            b.channels = qdq_pool_lesser(p->part, p->channels - b.channel);
            b.pitch = (b.count + w->most_shift) * b.channels;
            b.plane = h->phases * b.extent * b.pitch;
            qdq_scratch_drop(y->tensors->poison, s, sizeof *s);
            join_all(&b, s);
            store(&b, s, y, plane);
        }
}

void qdq_pool_run_mean(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_pool_params *p = params;
    qdq_chunks y;
    scratch s;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++) run_band(p, tensors->x[0], &s, &y, unit);
    qdq_chunks_end(&y);
}
