// SPDX-License-Identifier: Apache-2.0
// Strided convolutions of float32 read no panels: tiles read each k in planes. A row of x is split
// once into a row for each phase of the stride, with zeros for its padding. The elements under a
// tap of neighbouring positions are then neighbours in the row of a phase, whichever tap it is,
// while a panel would pick them again for each tap.
//
// The planes of a unit lie channel by channel, and in a channel phase by phase. Each has the rows
// under the windows of the unit.
#include "ops/conv/panels/conv_panels.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    COLUMNS = QDQ_GEMM_COLUMNS,
    POSITIONS = QDQ_CONV_PANELS_POSITIONS,
    ROOM = sizeof((qdq_panels_workspace){0}.b) / sizeof(float) - QDQ_DIRECT_ROOM,
};

typedef qdq_panels_params panels_params;
typedef qdq_panels_planes planes;
typedef qdq_panels_job job;

//---- Laying out -------------------------------------------------------------

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Returns the number of input channels of a k block, and the first of them.
static size_t channels_of(const qdq_conv *c, size_t k_block, size_t *first) {
    size_t k = k_block * qdq_gemm_depth(&c->gemm), last = k + qdq_panels_k(c, k_block) - 1;
    *first = k / c->taps;
    return last / c->taps - *first + 1;
}

static bool fit(const qdq_conv *c, const planes *of) {
    for (size_t b = 0, first; b < qdq_panels_k_blocks(c); b++)
        if (channels_of(c, b, &first) * of->phases * of->rows * of->pitch > ROOM) return false;
    return true;
}

// True if the shape gains from planes. Panels pay for many output channels, which share them, and
// short rows would cut tiles.
static bool suits(const qdq_conv *c) {
    bool plane = c->stride[LAST] == 2 && c->out[LAST] >= QDQ_CONV_PLANES_WIDTH;
    for (int d = 0; d < LAST - 1; d++) plane &= c->in[d] == 1 && c->out[d] == 1;
    return plane && c->gemm.kind == QDQ_GEMM_FLOATS && c->group_outputs <= QDQ_CONV_PANELS_IN_PLACE;
}

bool qdq_panels_set_planes(panels_params *p, const qdq_lowering *to) {
    const qdq_conv *c = &p->conv;
    size_t width = c->out[LAST], stride = c->stride[LAST], reach = c->kernel[LAST] - 1;
    if (!suits(c)) return true;
    size_t most = least((POSITIONS + width - 2) / width + 1, c->out[1]);  // rows of y
    planes of = {
        .phases = least(stride, reach * c->dilation[LAST] + 1),
        .rows = (most - 1) * c->stride[1] + (c->kernel[1] - 1) * c->dilation[1] + 1,
        .pitch = width + reach * c->dilation[LAST] / stride,
    };
    if (!fit(c, &of)) return true;
    size_t *at = qdq_mempool_array(to->mempool, c->gemm.depth, sizeof *at);
    if (!at) return false;
    for (size_t k = 0; k < c->gemm.depth; k++) {
        size_t first, tap = k % c->taps, x = tap % c->kernel[LAST] * c->dilation[LAST];
        channels_of(c, k / qdq_gemm_depth(&c->gemm), &first);
        size_t plane = (k / c->taps - first) * of.phases + x % stride;
        size_t row = tap / c->kernel[LAST] % c->kernel[1] * c->dilation[1];
        at[k] = (plane * of.rows + row) * of.pitch + x / stride;
    }
    of.at = at;
    of.fill = qdq_direct_find(to->isas)->fill;
    p->planes = of;
    return true;
}

//---- Filling ----------------------------------------------------------------

// Elements `begin` to `end` of a row of a plane, or rows of a plane, that lie in x.
typedef struct inside {
    size_t begin, end;
} inside;

// Returns the elements inside among `count` elements; number i lies at first + i * step, modulo
// 2^64.
static inside inside_of(size_t first, size_t step, size_t count, size_t in) {
    inside of = {0, 0};
    if ((ptrdiff_t)first < 0) of.begin = least((0 - first + step - 1) / step, count);
    size_t at = first + of.begin * step;
    of.end = of.begin + (at < in ? least((in - at + step - 1) / step, count - of.begin) : 0);
    return of;
}

static void zero(float *x, size_t n) { memset(x, 0, n * sizeof *x); }

// Fills the plane of a phase of a channel, whose elements begin at x. `row`: of x, modulo 2^64.
static void fill_plane(const job *j, const float *x, size_t phase, size_t row, size_t rows,
                       float *to) {
    const qdq_conv *c = &j->p->conv;
    const planes *of = &j->p->planes;
    size_t column = phase - c->pad[LAST], step = c->stride[LAST], pitch = of->pitch;
    inside in_rows = inside_of(row, 1, rows, c->in[1]);
    inside in_row = inside_of(column, step, pitch, c->in[LAST]);
    size_t n = in_row.end - in_row.begin, first = in_row.begin, count = in_rows.end - in_rows.begin;
    if (!n || !count) {
        zero(to, rows * pitch);
        return;
    }
    zero(to, in_rows.begin * pitch);
    of->fill(&(qdq_direct_rows){
        .dtype = QDQ_FLOAT32,
        .x = x + ((row + in_rows.begin) * c->x_stride[1] + column + first * step),
        .row_stride = c->x_stride[1],
        .step = step,
        .rows = count,
        .n = n,
        .plane = to + in_rows.begin * pitch + first,
        .plane_stride = pitch,
    });
    for (size_t r = in_rows.begin; r < in_rows.end; r++) {
        zero(to + r * pitch, first);
        zero(to + r * pitch + in_row.end, pitch - in_row.end);
    }
    zero(to + in_rows.end * pitch, (rows - in_rows.end) * pitch);
}

void qdq_panels_fill_planes(const job *j, size_t k_block) {
    const qdq_conv *c = &j->p->conv;
    const planes *of = &j->p->planes;
    const qdq_gemm_block *block = &j->block;
    size_t channel, count = channels_of(c, k_block, &channel), width = c->out[LAST];
    size_t row = block->column / width, last = (block->column + block->columns - 1) / width;
    size_t rows = of->rows, used = (last - row) * c->stride[1];
    float *to = (float *)(void *)j->w->b;
    used += (c->kernel[1] - 1) * c->dilation[1] + 1;
    for (size_t i = 0; i < count; i++) {
        const float *x = (const float *)(const void *)j->x + (channel + i) * c->channel_stride;
        for (size_t phase = 0; phase < of->phases; phase++, to += rows * of->pitch)
            fill_plane(j, x, phase, row * c->stride[1] - c->pad[1], used, to);
    }
    zero(to, QDQ_DIRECT_ROOM);
}

size_t qdq_panels_plane_run(const job *j, size_t column, const float **first) {
    const qdq_conv *c = &j->p->conv;
    size_t width = c->out[LAST], position = j->block.column + column;
    size_t row = position / width - j->block.column / width, x = position % width;
    *first = (const float *)(const void *)j->w->b + row * c->stride[1] * j->p->planes.pitch + x;
    return width - x;
}
