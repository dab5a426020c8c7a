// SPDX-License-Identifier: Apache-2.0
// im2col: packs the rows of A of a convolution, the elements under the window, by an offset for
// each k. Elements beyond the border are left out of sums of floats, and are the zero point in sums
// of integers.
#include "ops/conv/conv_lowering.h"
#include "ops/kernels/transpose_block.h"
#include "runtime/numerics/dtype.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    PART = QDQ_CONV_PART,
    PART_ROWS = QDQ_CONV_PART_ROWS
};
#define NOWHERE SIZE_MAX

// The part of each row that is packed at a time: k..k + n, elements unchanged.
typedef struct part {
    const qdq_conv *conv;
    const char *x;     // of the image and the group
    size_t size;       // bytes of an element
    const void *pads;  // the element beyond the border, PART times
    size_t k, n;
    size_t first, first_tap, last, last_tap;  // k and k + n as channels and taps
    qdq_conv_block block;                     // that k belongs to
    size_t stride;                            // elements from one packed row to the next
} part;

static void set_part(part *p, size_t k, size_t n) {
    size_t taps = p->conv->taps ? p->conv->taps : 1;  // there always are some
    p->k = k, p->n = n;
    p->first = k / taps, p->first_tap = k % taps;
    p->last = (k + n) / taps, p->last_tap = (k + n) % taps;
    p->block = qdq_conv_block_of(p->conv, k);
}

//---- Copies -----------------------------------------------------------------

#define GATHER(type) \
    for (size_t i = 0; i < n; i++) ((type *)out)[i] = ((const type *)x)[base + offsets[i]];

// Copies n elements that lie at base + offsets[i].
static void gather(size_t size, const void *restrict x, size_t base, const size_t *restrict offsets,
                   size_t n, void *restrict out) {
    if (size == 4) {
        GATHER(uint32_t)
    } else if (size == 2) {
        GATHER(uint16_t)
    } else {
        GATHER(uint8_t)
    }
}

#define RUNS_OF(bytes)                                                               \
    case bytes:                                                                      \
        for (size_t i = 0; i < n; i += run)                                          \
            memcpy(out + i * size, x + (base + offsets[i]) * size, (size_t)(bytes)); \
        break;

// The same if every `run` elements are neighbours. Common lengths have separate loops.
static void gather_runs(size_t size, const char *restrict x, size_t base,
                        const size_t *restrict offsets, size_t run, size_t n, char *restrict out) {
    switch (run * size) {
        RUNS_OF(2)
        RUNS_OF(3)
        RUNS_OF(5)
        RUNS_OF(6)
        RUNS_OF(7)
        RUNS_OF(10)
        RUNS_OF(12)
        RUNS_OF(14)
        RUNS_OF(20)
        RUNS_OF(28)
    default:
        for (size_t i = 0; i < n; i += run)
            memcpy(out + i * size, x + (base + offsets[i]) * size, run * size);
    }
}

// Packs a row whose window lies inside of x and begins at `base`.
static void copy(const part *p, size_t base, char *out) {
    const qdq_conv *c = p->conv;
    const size_t *offsets = c->offsets + p->k;
    size_t head = (c->run - p->k % c->run) % c->run;
    if (c->run == 1) {
        gather(p->size, p->x, base, offsets, p->n, out);
        return;
    }
    if (head > p->n) head = p->n;
    if (head) memcpy(out, p->x + (base + offsets[0]) * p->size, head * p->size);
    size_t tail = (p->n - head) % c->run, whole = p->n - tail;
    gather_runs(p->size, p->x, base, offsets + head, c->run, whole - head, out + head * p->size);
    if (tail)
        memcpy(out + whole * p->size, p->x + (base + offsets[whole]) * p->size, tail * p->size);
}

//---- Places of elements -----------------------------------------------------

static void coordinates(const qdq_conv *c, size_t row, size_t *o) {
    for (int d = DIMS; d-- > 0; row /= c->out[d]) o[d] = row % c->out[d];
}

// Moves to the next row.
static void step(const qdq_conv *c, size_t *o) {
    for (int d = DIMS; d-- > 0; o[d] = 0)
        if (++o[d] < c->out[d]) return;
}

// True if the window at `o` lies inside x. `first` is its first element, modulo 2^64.
static bool is_inside(const qdq_conv *c, const size_t *o, size_t *first) {
    bool all = true;
    *first = 0;
    for (int d = 0; d < DIMS; d++) {
        size_t begin = o[d] * c->stride[d] - c->pad[d];  // below 0: very large
        all &= begin < c->in[d] && begin + (c->kernel[d] - 1) * c->dilation[d] < c->in[d];
        *first += begin * c->x_stride[d];
    }
    return all;
}

// Returns the index in dim `d` of x under tap `t` at `o`.
static size_t index_of(const qdq_conv *c, int d, size_t o, size_t t) {
    size_t at;
    if (c->transposed) {
        if (o + c->pad[d] < t * c->dilation[d]) return NOWHERE;
        at = o + c->pad[d] - t * c->dilation[d];
        if (c->stride[d] > 1) {
            if (at % c->stride[d]) return NOWHERE;
            at /= c->stride[d];
        }
    } else {
        at = o * c->stride[d] + t * c->dilation[d] - c->pad[d];  // below 0: very large
    }
    return at < c->in[d] ? at : NOWHERE;
}

// For the taps begin..end, the place of the first channel under each, in the image and the group.
static void sources(const qdq_conv *c, const size_t *o, size_t begin, size_t end, size_t *at) {
    size_t line = begin / c->kernel[LAST], t = begin % c->kernel[LAST];
    for (size_t tap = begin; tap < end; line++, t = 0) {
        size_t plane = index_of(c, 0, o[0], line / c->kernel[1]);
        size_t base = index_of(c, 1, o[1], line % c->kernel[1]);
        bool there = plane != NOWHERE && base != NOWHERE;
        base = there ? plane * c->x_stride[0] + base * c->x_stride[1] : NOWHERE;
        for (; t < c->kernel[LAST] && tap < end; t++, tap++) {
            size_t own = there ? index_of(c, LAST, o[LAST], t) : NOWHERE;
            at[tap - begin] = own == NOWHERE ? NOWHERE : base + own * c->x_stride[LAST];
        }
    }
}

//---- Rows on the border ------------------------------------------------------

// The rows that are packed, and the products that they leave out.
typedef struct target {
    char *rows;
    size_t row;                       // of the block
    uint16_t (*keep)[QDQ_GEMM_KEEP];  // NULL: integers
    size_t at;                        // the place of the part in `keep`
    unsigned skips;                   // a bit for each tile that leaves out products
} target;

// The k of a part that belong to a tap: the first k, its channel, and their count.
typedef struct channels {
    size_t k, first, n;
} channels;

static channels channels_of(const part *p, size_t tap) {
    const qdq_conv *c = p->conv;
    size_t end = p->k + p->n, first, last;
    if (c->taps_first) {
        size_t begin = p->block.k + tap * p->block.channels;
        first = p->k > begin ? p->k - begin : 0;
        last = end > begin ? end - begin : 0;
        if (last > p->block.channels) last = p->block.channels;
        return (channels){begin + first - p->k, p->block.channel + first,
                          last > first ? last - first : 0};
    }
    first = p->first + (tap < p->first_tap);
    last = p->last + (tap < p->last_tap);
    return (channels){first * c->taps + tap - p->k, first, last - first};
}

#define SPREAD(type) \
    for (size_t i = 0; i < n; i++) ((type *)to)[i * to_step] = ((const type *)from)[i * from_step];

// Copies n elements that are steps apart.
static void spread(size_t size, const void *restrict from, size_t from_step, void *restrict to,
                   size_t to_step, size_t n) {
    if (from_step == 1 && to_step == 1) {
        memcpy(to, from, n * size);
    } else if (size == 4) {
        SPREAD(uint32_t)
    } else if (size == 2) {
        SPREAD(uint16_t)
    } else {
        SPREAD(uint8_t)
    }
}

static void drop(target *to, size_t row, size_t k, size_t step, size_t n) {
    if (!to->keep) return;
    size_t tile = (to->row + row) / QDQ_GEMM_ROWS;
    uint16_t others = (uint16_t) ~(1u << (to->row + row) % QDQ_GEMM_ROWS);
    uint16_t *keep = to->keep[tile] + to->at + k;
    for (size_t i = 0; i < n; i++) keep[i * step] &= others;
    to->skips |= 1u << tile;
}

// Packs a row tap by tap: the channels of each, or zeros or zero points if the tap is beyond the
// border.
static void im2col_border(const part *p, const size_t *o, size_t row, target *to) {
    enum { FEW = QDQ_CONV_BORDER_TAPS };
    const qdq_conv *c = p->conv;
    size_t at[FEW], step = c->taps_first ? 1 : c->taps;
    char *out = to->rows + row * p->stride * p->size;
    for (size_t begin = 0, end; begin < c->taps; begin = end) {
        end = c->taps - begin < FEW ? c->taps : begin + FEW;
        sources(c, o, begin, end, at);
        for (size_t tap = begin; tap < end; tap++) {
            channels of = channels_of(p, tap);
            size_t from = at[tap - begin];
            if (!of.n) continue;
            if (from == NOWHERE) {
                spread(p->size, p->pads, 1, out + of.k * p->size, step, of.n);
                drop(to, row, of.k, step, of.n);
            } else {
                from += of.first * c->channel_stride;
                spread(p->size, p->x + from * p->size, c->channel_stride, out + of.k * p->size,
                       step, of.n);
            }
        }
    }
}

//---- Neighbours that become columns -----------------------------------------

// If channels are neighbours: the rest of a channel, then whole channels with a row of x for each
// tap, then the rest.
static void copy_channels(const part *p, size_t base, char *out) {
    enum { FEW = QDQ_CONV_TRANSPOSED_TAPS };
    const qdq_conv *c = p->conv;
    const size_t *offsets = c->offsets + p->k;
    size_t taps = c->taps, head = (taps - p->k % taps) % taps;
    if (head > p->n) head = p->n;
    size_t whole = (p->n - head) / taps, done = head + whole * taps;
    gather(p->size, p->x, base, offsets, head, out);
    for (size_t t = 0; whole && t < taps; t += FEW) {
        size_t few = taps - t < FEW ? taps - t : FEW;
        const void *rows[FEW];
        for (size_t i = 0; i < few; i++) rows[i] = p->x + (base + offsets[head + t + i]) * p->size;
        qdq_transpose_block(p->size, rows, few, whole, out + (head + t) * p->size, taps);
    }
    gather(p->size, p->x, base, offsets + done, p->n - done, out + done * p->size);
}

// If positions are neighbours: a row of x for each k. `at`: the sources of all taps.
static void copy_positions(const part *p, const size_t *at, size_t row, size_t positions,
                           target *to) {
    const qdq_conv *c = p->conv;
    const void *rows[PART];
    size_t tap = p->first_tap, channel = p->first;
    size_t end = p->block.channel + p->block.channels;
    if (c->taps_first) {
        tap = (p->k - p->block.k) / p->block.channels;
        channel = p->block.channel + (p->k - p->block.k) % p->block.channels;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (at[tap] == NOWHERE) {
            rows[i] = p->pads;
            for (size_t r = 0; r < positions; r++) drop(to, row + r, i, 1, 1);
        } else {
            rows[i] = p->x + (at[tap] + channel * c->channel_stride) * p->size;
        }
        if (c->taps_first) {
            if (++channel == end) channel = p->block.channel, tap++;
        } else if (++tap == c->taps) {
            tap = 0, channel++;
        }
    }
    qdq_transpose_block(p->size, rows, p->n, positions, to->rows + row * p->stride * p->size,
                        p->stride);
}

// Returns how many positions from `o` on, at most `rows`, are neighbours in x under every tap.
static size_t neighbours(const qdq_conv *c, const size_t *o, size_t rows) {
    size_t first = o[LAST] - c->pad[LAST], reach = (c->kernel[LAST] - 1) * c->dilation[LAST];
    size_t left = c->out[LAST] - o[LAST];
    if (!c->positions || first >= c->in[LAST] || first + reach >= c->in[LAST]) return 0;
    if (left > c->in[LAST] - first - reach) left = c->in[LAST] - first - reach;
    return rows < left ? rows : left;
}

//---- Parts of blocks --------------------------------------------------------

static void im2col_part(const part *p, const qdq_gemm_block *block, size_t rows, target *to) {
    const qdq_conv *c = p->conv;
    size_t o[DIMS], at[QDQ_CONV_FEW_TAPS];
    coordinates(c, block->row + to->row, o);
    for (size_t r = 0, n; r < rows; r += n) {
        size_t base;
        char *row = to->rows + r * p->stride * p->size;
        n = neighbours(c, o, rows - r);
        if (n) {
            sources(c, o, 0, c->taps, at);
            copy_positions(p, at, r, n, to);
        } else if (c->transposed || !is_inside(c, o, &base)) {
            im2col_border(p, o, r, to);
        } else if (c->channels) {
            copy_channels(p, base, row);
        } else {
            copy(p, base, row);
        }
        if (!n) n = 1;
        for (size_t i = 0; i < n; i++) step(c, o);
    }
}

// Returns the byte that elements beyond the border consist of: the code of the zero point.
static uint8_t pad_of(const qdq_gemm *g, const qdq_tensors *tensors) {
    if (g->a_zero.port == SIZE_MAX) return 0;
    return *(const uint8_t *)qdq_gemm_numbers(&g->a_zero, tensors);
}

unsigned qdq_conv_im2col(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                         size_t k, size_t n, void *a, uint16_t (*keep)[QDQ_GEMM_KEEP]) {
    enum { A_STRIDE = QDQ_GEMM_ROW_BYTES / sizeof(float) };
    const qdq_conv *c = (const qdq_conv *)g;
    uint32_t raw[PART_ROWS * PART], pads[PART];
    bool in_place = g->a_dtype == QDQ_FLOAT32;
    target to = {.keep = keep};
    int32_t zero = 0;
    if (g->a_zero.port != SIZE_MAX)
        zero = qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors), 0);
    memset(pads, pad_of(g, tensors), sizeof pads);
    size_t size = qdq_dtype_size(g->a_dtype), image = qdq_gemm_at(g, g->batches.a, block->batch);
    part p = {.conv = c,
              .x = (const char *)tensors->x[g->a_port] + image * size,
              .size = size,
              .pads = pads,
              .stride = in_place ? A_STRIDE : PART};
    for (to.at = 0; to.at < n; to.at += PART) {
        set_part(&p, k + to.at, n - to.at < PART ? n - to.at : PART);
        for (to.row = 0; to.row < block->rows; to.row += PART_ROWS) {
            size_t left = block->rows - to.row, rows = left < PART_ROWS ? left : PART_ROWS;
            to.rows = (char *)raw;
            if (in_place) to.rows = (char *)((float *)a + to.row * A_STRIDE + to.at);
            im2col_part(&p, block, rows, &to);
            for (size_t r = 0; r < rows && !in_place; r++)
                qdq_gemm_pack_row(g, zero, (char *)raw + r * PART * size, p.n, to.row + r,
                                  (char *)a + to.at * qdq_gemm_size(g->kind));
        }
    }
    return to.skips;
}

//---- Single rows ------------------------------------------------------------

bool qdq_conv_sources(const qdq_conv *c, size_t row, size_t k, size_t n, size_t *from) {
    size_t o[DIMS], first, taps = c->taps ? c->taps : 1;
    bool all = true;
    coordinates(c, row, o);
    if (!c->transposed && is_inside(c, o, &first)) {
        for (size_t i = 0; i < n; i++) from[i] = first + c->offsets[k + i];
        return true;
    }
    // Looks up each tap once, in two runs, and repeats them for channel after channel.
    size_t tap = k % taps, until_last = taps - tap < n ? taps - tap : n;
    size_t others = n - until_last < tap ? n - until_last : tap;
    sources(c, o, tap, tap + until_last, from);
    sources(c, o, 0, others, from + until_last);
    for (size_t i = 0; i < n; i++) {
        size_t channel = i < until_last ? k / taps : k / taps + 1;
        if (i >= taps)
            from[i] = from[i - taps] == NOWHERE ? NOWHERE : from[i - taps] + c->channel_stride;
        else if (from[i] != NOWHERE)
            from[i] += channel * c->channel_stride;
        all &= from[i] != NOWHERE;
    }
    return all;
}
