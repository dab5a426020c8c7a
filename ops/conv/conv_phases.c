// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions whose windows do not overlap: the kernel is as wide as the stride, so
// that each result has one tap. The strides cut y into phases, one for each tap, and all phases are
// results of the same positions of x. One product computes them, whose columns are the phases of
// each output channel, and results are put where their phase lies in y.
//
// Windows that overlap and other formats are left to direct convolution (direct/conv_direct.h).
#include "ops/conv/conv_lowering.h"
#include "ops/kernels/transpose_block.h"
#include "runtime/numerics/dtype.h"

enum { DIMS = QDQ_MAX_SPATIAL, LAST = DIMS - 1 };

//---- Results ----------------------------------------------------------------

// Positions of a block in a row of x. `first`: the first position, counted in the block.
typedef struct run {
    size_t first, n, at[DIMS];
} run;

// Returns the run that begins with position number `first` of a block.
static run run_at(const qdq_conv_phases *phases, const qdq_gemm_block *block, size_t first) {
    run r = {.first = first};
    size_t position = block->column + first;
    for (int d = DIMS; d-- > 0; position /= phases->in[d]) r.at[d] = position % phases->in[d];
    size_t left = block->columns - first, in_row = phases->in[LAST] - r.at[LAST];
    r.n = left < in_row ? left : in_row;
    return r;
}

// Returns the place in a channel of y of the first result of a run. `line`: the phase in all dims
// but the last.
static size_t place_of(const qdq_conv_phases *phases, const run *r, size_t line) {
    size_t place = r->at[LAST] * phases->stride[LAST];
    size_t below = phases->in[LAST] * phases->stride[LAST];
    for (int d = LAST; d-- > 0; line /= phases->stride[d]) {
        place += (r->at[d] * phases->stride[d] + line % phases->stride[d]) * below;
        below *= phases->in[d] * phases->stride[d];
    }
    return place;
}

// The channels of a block that have phase `line` in all dims but the last.
typedef struct block_line {
    size_t line, first_row;    // of the block
    size_t channel, channels;  // of the first channel
} block_line;

// The phases of the last dim are neighbours in y. They take turns in `out`, channel by channel.
static void join(const qdq_conv_phases *phases, const qdq_gemm_block *block, const block_line *of,
                 const run *r, const char *rows, size_t size, char *out, size_t out_bytes) {
    const void *from[QDQ_GEMM_ROWS];
    size_t width = phases->stride[LAST], row_bytes = block->columns * size;
    for (size_t c = 0; c < of->channels; c++) {
        const char *first =
            rows + (of->first_row + c * phases->count) * row_bytes + r->first * size;
        for (size_t w = 0; w < width; w++) from[w] = first + w * row_bytes;
        qdq_transpose_block(size, from, width, r->n, out + c * out_bytes, width);
    }
}

static void put_phases(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                       const void *rows) {
    const qdq_conv_phases *phases = g->phases;
    uint32_t out[QDQ_GEMM_MOST_ROWS * QDQ_GEMM_BLOCK_COLUMNS];
    size_t width = phases->stride[LAST], lines = phases->count / width;
    size_t size = qdq_dtype_size(qdq_gemm_result_dtype(g)), first = block->row / width;
    size_t y = qdq_gemm_at(g, g->batches.y, block->batch), count = block->rows / width;
    run r;
    for (size_t done = 0; done < block->columns; done += r.n) {
        r = run_at(phases, block, done);
        for (size_t i = 0; i < lines && i < count; i++) {
            block_line of = {(first + i) % lines, i * width, (first + i) / lines,
                             (count - i + lines - 1) / lines};
            qdq_chunk chunk = {y + of.channel * g->y.row_stride + place_of(phases, &r, of.line),
                               r.n * width, of.channels, g->y.row_stride, out};
            if (tensors->sink) {
                join(phases, block, &of, &r, rows, size, (char *)out, chunk.n * size);
                tensors->sink(tensors->sink_self, &chunk);
            } else {
                join(phases, block, &of, &r, rows, size, (char *)tensors->y[0] + chunk.at * size,
                     chunk.stride * size);
            }
        }
    }
}

//---- The product ------------------------------------------------------------

// True if each result has one tap.
static bool is_apart(const qdq_conv *c) {
    bool apart = c->transposed;
    for (int d = 0; d < DIMS; d++)
        apart &= c->kernel[d] == c->stride[d] && (c->dilation[d] == 1 || c->kernel[d] == 1) &&
                 !c->pad[d] && c->out[d] == c->in[d] * c->stride[d];
    return apart;
}

// Sums by taps are added to 0, so that a sum of -0 becomes +0. A bias does that unless it is -0
// itself, which the epilogue handles; a product without a bias gets a bias of 0.
static void begin_at_zero(qdq_gemm *g) {
    static const float zero = 0;
    if (!g->order.by_taps || g->bias.port != SIZE_MAX) return;
    g->bias = (qdq_gemm_along){.dtype = QDQ_FLOAT32, .known = &zero};
    memset(g->batches.bias, 0, sizeof g->batches.bias);
}

// Describes the convolution of a kernel of 1 whose output channels are the phases.
static bool set_phases(qdq_conv *c, qdq_mempool *mempool) {
    qdq_gemm *g = &c->gemm;
    qdq_conv_phases *phases = QDQ_MEMPOOL_NEW(mempool, qdq_conv_phases);
    size_t *offsets = qdq_mempool_array(mempool, c->group_inputs, sizeof *offsets);
    if (!phases || !offsets) return false;
    phases->count = c->taps;
    g->rows = 1;
    for (int d = 0; d < DIMS; d++) {
        phases->stride[d] = c->stride[d], phases->in[d] = c->in[d];
        g->rows *= c->in[d];
        c->out[d] = c->in[d];
        c->kernel[d] = c->stride[d] = c->dilation[d] = 1;
    }
    for (size_t i = 0; i < c->group_inputs; i++) offsets[i] = i * c->channel_stride;
    g->phases = phases, g->put_rows = put_phases;
    g->columns *= c->taps, g->depth = c->group_inputs;
    g->weights.column_stride = g->weights.taps = 1;
    g->shared = c->taps;
    begin_at_zero(g);
    c->group_outputs *= c->taps;
    c->taps = c->run = 1;
    c->transposed = false;
    c->offsets = offsets;
    return true;
}

bool qdq_conv_phases_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                           qdq_stage *stage, bool *done) {
    const qdq_gemm *g = &c->gemm;
    bool of_reals =
        g->epilogue == qdq_gemm_epilogue_float || g->epilogue == qdq_gemm_epilogue_scaled;
    // A tile begins with the first phase of the last dim.
    bool whole = QDQ_GEMM_ROWS % c->stride[LAST] == 0;
    bool in_order = g->weights.tap_stride == 1 && g->weights.column_stride == c->taps;
    *done = false;
    if (!is_apart(c) || !of_reals || !whole || !in_order || c->taps_first) return true;
    qdq_conv own = *c;
    if (!set_phases(&own, to->mempool)) return false;
    *done = qdq_conv_has_panels(&own, ctx);
    return !*done || qdq_conv_panels_stage(&own, ctx, to, stage);
}
