// SPDX-License-Identifier: Apache-2.0
// Float convolutions with few output channels in a group, such as depthwise ones, whose positions
// are neighbours in memory. They are computed channel by channel; each k is a line of x, shifted
// against the others. The order of k is the same as in products of matrices, and elements beyond
// the border are left out.
#include "ops/kernels/depthwise/depthwise.h"
#include "ops/products/conv_lowering.h"
#include "ops/products/gemm_read.h"
#include "runtime/numerics/dtype.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    CHANNELS = QDQ_CONV_LINES_CHANNELS,  // of a unit
    POSITIONS = QDQ_GEMM_BLOCK_COLUMNS,  // of a unit
    DEPTH = QDQ_CONV_LINES_DEPTH,        // k at a time
    MOST_K = QDQ_CONV_LINES_MOST,        // of weights that are not constant
};

typedef struct lines_params {
    qdq_conv conv;             // first
    qdq_gemm transposed_gemm;  // rows are output channels, columns positions
    qdq_depthwise_fn *add;
    bool all;                     // elements beyond the border are zeros, and have products
    const float *weights;         // of all channels; NULL: not constant
    const size_t *begins, *ends;  // of each tap of the last dim: positions with an element in x
    size_t elements;              // of x, the batch too
} lines_params;

// One output channel of a unit.
typedef struct channel {
    const lines_params *params;
    const float *x;  // all of it
    size_t at;       // where the group begins
    const float *weights;
} channel;

// The weights of an output channel, as the kernel takes them.
static void weights_of(const qdq_conv *c, const void *data, size_t output, float *out) {
    const qdq_gemm *g = &c->gemm;
    qdq_gemm_source from = {data, NULL, output / c->group_outputs, 0, 0};
    for (size_t at = 0, part; at < g->depth; at += part) {
        part = g->depth - at < QDQ_GEMM_DEPTH ? g->depth - at : QDQ_GEMM_DEPTH;
        qdq_gemm_column(g, &from, output % c->group_outputs, at, part, out + at);
    }
}

//---- Lines ------------------------------------------------------------------

enum { LINE = POSITIONS + QDQ_DEPTHWISE_ROOM };

// The lines of some k at n positions from `o` on.
typedef struct lines {
    size_t o, n, depth;
    qdq_depthwise_line of_k[DEPTH];
    float made[DEPTH * LINE];  // copies of lines at the ends of x, beyond which nothing is read
} lines;

// Adds a k: tap `t` of the line that begins at `line`.
static void add_line(const channel *ch, size_t line, size_t t, float by, lines *l) {
    const lines_params *p = ch->params;
    const qdq_conv *c = &p->conv;
    size_t begin = p->begins[t] > l->o ? p->begins[t] - l->o : 0;
    size_t end = p->ends[t] > l->o ? p->ends[t] - l->o : 0;
    if (end > l->n) end = l->n;
    if (begin >= end && !p->all) return;
    if (begin >= end) begin = end = 0;
    size_t before = l->o + t * c->dilation[LAST], shift = c->pad[LAST];
    qdq_depthwise_line *made = &l->of_k[l->depth];
    *made = (qdq_depthwise_line){NULL, by, (uint32_t)begin, (uint32_t)end};
    if (end && line + before >= shift && line + before - shift + LINE <= p->elements) {
        made->x = ch->x + (line + before - shift);
    } else {
        float *own = l->made + l->depth * LINE;
        memset(own, 0, LINE * sizeof *own);
        if (end)
            memcpy(own + begin, ch->x + (line + before + begin - shift),
                   (end - begin) * sizeof *own);
        made->x = own;
    }
    l->depth++;
}

// Adds a k whose line lies beyond the border.
static void add_zeros(float by, lines *l) {
    float *own = l->made + l->depth * LINE;
    memset(own, 0, LINE * sizeof *own);
    l->of_k[l->depth++] = (qdq_depthwise_line){own, by, 0, 0};
}

// Computes n positions of a line from `o` on.
static void add_positions(const channel *ch, const size_t *o, size_t n, float *sums) {
    const qdq_conv *c = &ch->params->conv;
    size_t tap[DIMS] = {0}, depth = c->gemm.depth, at = ch->at;
    lines l;
    l.o = o[LAST], l.n = n;
    for (size_t k = 0; k < depth;) {
        for (l.depth = 0; k < depth && l.depth < DEPTH; k++) {
            size_t y = o[0] * c->stride[0] + tap[0] * c->dilation[0] - c->pad[0];
            size_t z = o[1] * c->stride[1] + tap[1] * c->dilation[1] - c->pad[1];
            if (y < c->in[0] && z < c->in[1])
                add_line(ch, at + y * c->x_stride[0] + z * c->x_stride[1], tap[LAST],
                         ch->weights[k], &l);
            else if (ch->params->all)
                add_zeros(ch->weights[k], &l);
            if (++tap[LAST] < c->kernel[LAST]) continue;
            tap[LAST] = 0;
            if (++tap[1] < c->kernel[1]) continue;
            tap[1] = 0;
            if (++tap[0] < c->kernel[0]) continue;
            tap[0] = 0, at += c->channel_stride;
        }
        ch->params->add(l.of_k, l.depth, sums, n);
    }
}

// Computes the positions of a unit, line by line.
static void add_channel(const channel *ch, const qdq_gemm_block *block, float *sums) {
    const qdq_conv *c = &ch->params->conv;
    size_t o[DIMS], row = block->column;
    for (int d = DIMS; d-- > 0; row /= c->out[d]) o[d] = row % c->out[d];
    for (size_t at = 0, n; at < block->columns; at += n) {
        n = c->out[LAST] - o[LAST];
        if (n > block->columns - at) n = block->columns - at;
        memset(sums + at, 0, (n + QDQ_DEPTHWISE_ROOM) * sizeof *sums);
        add_positions(ch, o, n, sums + at);
        o[LAST] += n;
        for (int d = LAST; d > 0 && o[d] == c->out[d]; d--) o[d] = 0, o[d - 1]++;
    }
}

//---- Units ------------------------------------------------------------------

static void run_block(const lines_params *p, const qdq_tensors *tensors,
                      const qdq_gemm_block *block) {
    const qdq_conv *c = &p->conv;
    const qdq_gemm *g = &c->gemm;
    channel ch = {.params = p, .x = tensors->x[g->a_port]};
    size_t image = qdq_gemm_at(g, g->batches.a, block->batch);
    float all[CHANNELS * POSITIONS];
    qdq_scratch_drop(tensors->poison, all, sizeof all);
    for (size_t r = 0; r < block->rows; r++) {
        float sums[POSITIONS + QDQ_DEPTHWISE_ROOM] = {0}, room[MOST_K];
        size_t output = block->row + r, group = output / c->group_outputs;
        ch.at = image + group * c->group_inputs * c->channel_stride;
        ch.weights = room;
        if (p->weights)
            ch.weights = p->weights + output * g->depth;
        else
            weights_of(c, tensors->x[g->weights.port], output, room);
        add_channel(&ch, block, sums);
        memcpy(all + r * POSITIONS, sums, POSITIONS * sizeof *sums);
    }
    g->epilogue(&p->transposed_gemm, tensors, block, all, POSITIONS);
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const lines_params *p = params;
    size_t channels = p->transposed_gemm.rows, positions = p->transposed_gemm.columns;
    size_t channel_blocks = (channels + CHANNELS - 1) / CHANNELS;
    size_t position_blocks = (positions + POSITIONS - 1) / POSITIONS;
    for (size_t unit = begin; unit < end; unit++) {
        size_t column = unit % position_blocks * POSITIONS, rest = unit / position_blocks;
        size_t row = rest % channel_blocks * CHANNELS;
        qdq_gemm_block block = {
            .batch = rest / channel_blocks,
            .row = row,
            .rows = channels - row < CHANNELS ? channels - row : CHANNELS,
            .column = column,
            .columns = positions - column < POSITIONS ? positions - column : POSITIONS,
        };
        run_block(p, tensors, &block);
    }
}

//---- Laying out -------------------------------------------------------------

static bool pack(lines_params *p, const qdq_gemm_known *known, qdq_mempool *mempool) {
    const qdq_gemm *g = &p->conv.gemm;
    float *packed = qdq_mempool_array(mempool, g->columns * g->depth, sizeof *packed);
    qdq_gemm_reader w = qdq_gemm_reader_of(known, qdq_dtype_size(g->weights.dtype), mempool);
    bool done = packed && qdq_gemm_reader_read_all(&w, g->columns * g->depth);
    for (size_t j = 0; done && j < g->columns; j++)
        weights_of(&p->conv, w.data, j, packed + j * g->depth);
    qdq_gemm_reader_close(&w);
    p->weights = packed;
    return done;
}

bool qdq_conv_has_lines(const qdq_conv *c) {
    return c->positions && c->gemm.a_dtype == QDQ_FLOAT32 && c->gemm.depth <= MOST_K &&
           c->gemm.order.sums != QDQ_SUM_CHUNKS;
}

static bool set_ends(lines_params *p, qdq_mempool *mempool) {
    const qdq_conv *c = &p->conv;
    size_t taps = c->kernel[LAST], pad = c->pad[LAST];
    size_t *ends = qdq_mempool_array(mempool, 2 * taps, sizeof *ends);
    if (!ends) return false;
    for (size_t t = 0; t < taps; t++) {
        size_t at = t * c->dilation[LAST], in = c->in[LAST];
        ends[t] = at < pad ? pad - at : 0;
        ends[taps + t] = in + pad > at ? in + pad - at : 0;
    }
    p->begins = ends, p->ends = ends + taps;
    return true;
}

bool qdq_conv_lines_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                          qdq_stage *stage) {
    lines_params *p = QDQ_MEMPOOL_NEW(to->mempool, lines_params);
    qdq_gemm_known known;
    if (!p) return false;
    p->conv = *c;
    p->transposed_gemm = qdq_gemm_transposed(&c->gemm);
    p->all = c->gemm.order.sums == QDQ_SUM_FOURS;
    p->add = qdq_depthwise_find(to->isas, p->all);
    p->elements = qdq_shape_count(ctx->inputs[c->gemm.a_port].type.shape);
    if (!set_ends(p, to->mempool)) return false;
    size_t blocks = (c->gemm.columns + CHANNELS - 1) / CHANNELS;
    size_t weights = c->gemm.columns * c->gemm.depth, packed_bytes = 0;
    if (qdq_gemm_constant_weights(&c->gemm, ctx, &known)) {
        p->weights = qdq_gemm_find_packed(&c->gemm, ctx, to, &known, QDQ_PACKED_LINES);
        if (!p->weights) {
            packed_bytes = weights * sizeof *p->weights;
            if (!pack(p, &known, to->mempool) ||
                !qdq_gemm_add_packed(&c->gemm, ctx, to, &known, QDQ_PACKED_LINES, p->weights))
                return false;
        }
    }
    *stage =
        (qdq_stage){.params = p,
                    .tensor_op = run,
                    .chunks = true,
                    .units = c->gemm.batch * blocks * ((c->gemm.rows + POSITIONS - 1) / POSITIONS),
                    .cost = c->gemm.batch * c->gemm.rows * weights,
                    .packed = (uint64_t)(p->weights != NULL) << c->gemm.weights.port,
                    .packed_bytes = packed_bytes};
    return true;
}
