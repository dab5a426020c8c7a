// SPDX-License-Identifier: Apache-2.0
// Chooses and prepares convolutions with positions as columns (conv_panels.c): form, units, slots,
// and the packed weights.
#include <math.h>
#include <string.h>

#include "ops/conv/panels/conv_panels.h"
#include "ops/gemm/gemm_read.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    COLUMNS = QDQ_GEMM_COLUMNS,
    POSITIONS = QDQ_CONV_PANELS_POSITIONS,  // of a unit
    TAPS = QDQ_CONV_PANELS_TAPS,
    GROUP = QDQ_PANELS_GROUP,
    CHANNELS = 32,      // whose weights are packed together
    PICKED_STRIDE = 4,  // most stride with which a panel may lie in two stretches of 64 bytes
};

typedef qdq_panels_params panels_params;
typedef qdq_panels_weights packed_rows;

//---- Weights ----------------------------------------------------------------

// The rows of weights that are packed.
typedef struct packing {
    const panels_params *p;
    const qdq_gemm_known *known;
    const qdq_gemm_reader *reader;
    qdq_panels_seen *seen;  // of each row
} packing;

// Packs up to CHANNELS channels of a matrix from number i on, counted through all matrices.
static void pack_channels(const packing *of, size_t i, size_t count) {
    const panels_params *p = of->p;
    const qdq_conv *c = &p->conv;
    const qdq_gemm *g = &c->gemm;
    size_t matrix = i / g->columns, channel = i % g->columns, k = 0;
    qdq_gemm_source from = qdq_gemm_reader_source(of->reader, g, of->known, matrix);
    char *rows[CHANNELS];
    for (size_t b = 0; b < qdq_panels_k_blocks(c); b++, k += qdq_gemm_depth(g)) {
        for (size_t r = 0; r < count; r++) rows[r] = qdq_panels_row(p, matrix, b, channel + r);
        p->form->pack_rows(g, &(qdq_gemm_part_of_b){matrix, channel, count, k, qdq_panels_k(c, b)},
                           &from, rows, of->seen + i);
    }
}

static void pack_rows(void *self, size_t begin, size_t end) {
    const packing *of = self;
    size_t columns = of->p->conv.gemm.columns;
    for (size_t i = begin, count; i < end; i += count) {
        count = columns - i % columns;
        if (count > end - i) count = end - i;
        if (count > CHANNELS) count = CHANNELS;
        pack_channels(of, i, count);
    }
}

static void keep_seen(packed_rows *to, const qdq_panels_seen *seen, size_t count) {
    to->finite = true;
    to->least = (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (to->first_sums) to->first_sums[i] = seen[i].first_sum;
        to->finite &= seen[i].finite;
        if (seen[i].least < to->least) to->least = seen[i].least;
    }
}

// Returns memory for the packed rows, cleared where packing writes nothing: after the last k, and
// in slots of no channel. Clearing all of it would read it into the cache once more.
static char *rows_of(const panels_params *p, bool of_codes, qdq_mempool *mempool) {
    const qdq_conv *c = &p->conv;
    const qdq_gemm *g = &c->gemm;
    size_t count = g->weights.matrices * p->slots, blocks = qdq_panels_k_blocks(c);
    if (of_codes) return qdq_mempool_array(mempool, count, p->row_bytes);
    char *rows = qdq_mempool_uncleared(mempool, count, p->row_bytes);
    size_t filled = (blocks - 1) * c->group_outputs;
    if (qdq_panels_k(c, blocks - 1) == qdq_gemm_depth(g)) filled += c->group_outputs;
    for (size_t m = 0; rows && m < g->weights.matrices; m++)
        memset(rows + (m * p->slots + filled) * p->row_bytes, 0,
               (p->slots - filled) * p->row_bytes);
    return rows;
}

// weight_codes: NULL if weights are not kept as codes.
static bool pack(panels_params *p, const qdq_gemm_known *known,
                 const qdq_weight_codes *weight_codes, const qdq_lowering *lowering,
                 size_t *bytes) {
    const qdq_gemm *g = &p->conv.gemm;
    qdq_mempool *mempool = lowering->mempool;
    size_t count = g->weights.matrices * g->columns;
    packed_rows *to = QDQ_MEMPOOL_NEW(mempool, packed_rows);
    char *rows = rows_of(p, weight_codes, mempool);
    uint32_t *sums = NULL;
    bool of_bytes = qdq_gemm_size(g->kind) == 1;
    if (of_bytes) sums = qdq_mempool_array(mempool, count, sizeof *sums);
    if (!to || !rows || (of_bytes && !sums)) return false;
    *bytes = g->weights.matrices * p->slots * p->row_bytes;
    *to = (packed_rows){.rows = rows, .first_sums = sums};
    p->weights = to;
    qdq_panels_seen *seen = qdq_alloc_array(mempool->allocator, count, sizeof *seen, 64);
    qdq_gemm_reader w = qdq_gemm_reader_of(known, qdq_dtype_size(g->weights.dtype), mempool);
    for (size_t i = 0; seen && i < count; i++)
        seen[i] = (qdq_panels_seen){.finite = true, .least = (double)INFINITY};
    packing of = {p, known, &w, seen};
    bool done =
        seen && (weight_codes ? qdq_panels_pack_codes(p, weight_codes, lowering, to, seen, bytes)
                              : qdq_gemm_each_column(g, &w, lowering->parallel, pack_rows, &of));
    if (done) keep_seen(to, seen, count);
    qdq_gemm_reader_close(&w);
    qdq_free_array(mempool->allocator, seen, count, sizeof *seen);
    if (done && g->kind == QDQ_GEMM_SPLIT_CODES) done = qdq_panels_split(p, to, mempool, bytes);
    return done;
}

//---- Laying out -------------------------------------------------------------

// True if position i begins i elements after the first.
static bool is_linear(const qdq_conv *c) {
    size_t stride = 1;
    for (int d = DIMS; d-- > 0; stride *= c->out[d])
        if (c->out[d] > 1 && c->stride[d] * c->x_stride[d] != stride) return false;
    return true;
}

// Sets how many tiles share the slots of the last k block. Rows of weight codes are decoded as a
// whole.
static void set_slots(panels_params *p, bool of_codes) {
    const qdq_conv *c = &p->conv;
    size_t blocks = qdq_panels_k_blocks(c), most = qdq_gemm_depth(&c->gemm);
    size_t last = qdq_panels_k(c, blocks - 1);
    size_t tiles = (c->group_outputs + QDQ_GEMM_ROWS - 1) / QDQ_GEMM_ROWS;
    p->ways = 1;
    p->row_bytes = of_codes ? QDQ_PANELS_CODE_ROW_BYTES : QDQ_GEMM_ROW_BYTES;
    while (!of_codes && p->ways < QDQ_CONV_PANELS_WAYS && last * 2 * p->ways <= most) p->ways *= 2;
    p->slots = (blocks - 1) * c->group_outputs + (tiles + p->ways - 1) / p->ways * QDQ_GEMM_ROWS;
}

static bool has_border(const qdq_conv *c) {
    for (int d = 0; d < DIMS; d++)
        if (c->pad[d] || qdq_panels_index(c, d, c->out[d] - 1, c->kernel[d] - 1) >= c->in[d])
            return true;
    return false;
}

static void set_ends(panels_params *p) {
    const qdq_conv *c = &p->conv;
    size_t pad = c->pad[LAST], stride = c->stride[LAST];
    for (size_t t = 0; t < c->kernel[LAST]; t++) {
        size_t reach = t * c->dilation[LAST], all = c->in[LAST] + pad;
        p->ends[t].begin = pad > reach ? (pad - reach + stride - 1) / stride : 0;
        p->ends[t].end = all > reach ? (all - reach - 1) / stride + 1 : 0;
    }
}

// Sets the rows of a unit and how far apart their sums are: not a power of two. A few units more
// let threads share a small image.
static void set_row_blocks(panels_params *p) {
    const qdq_gemm *g = &p->conv.gemm;
    size_t panels = (g->rows + COLUMNS - 1) / COLUMNS, others = g->batch * p->position_blocks;
    p->stride = ((panels < QDQ_PANELS ? panels + 1 : QDQ_PANELS) | 1) * COLUMNS;  // odd panels
    size_t most = QDQ_PANELS_SUMS / p->stride / QDQ_GEMM_ROWS * QDQ_GEMM_ROWS;
    size_t count = (g->columns + most - 1) / most;
    while (count * others < QDQ_CONV_PANELS_UNITS && g->columns / (count + 1) >= GROUP) count++;
    size_t tiles = (g->columns + count * QDQ_GEMM_ROWS - 1) / (count * QDQ_GEMM_ROWS);
    p->block_rows = tiles * QDQ_GEMM_ROWS < most ? tiles * QDQ_GEMM_ROWS : most;
    p->together = most / p->block_rows;
    p->row_blocks = (g->columns + p->block_rows - 1) / p->block_rows;
}

// NULL: neither form takes the elements.
static const qdq_panels_form *form_of(const qdq_gemm *g) {
    bool ordered = g->order.sums == QDQ_SUM_CHAIN ||
                   (g->order.sums == QDQ_SUM_CHUNKS && g->order.chunk == qdq_gemm_depth(g));
    if (g->kind == QDQ_GEMM_INTEGERS) return &qdq_panels_codes;
    bool floats = g->kind == QDQ_GEMM_FLOATS && g->a_dtype == QDQ_FLOAT32;
    return floats && ordered && !g->order.bias_first && !g->order.block ? &qdq_panels_floats : NULL;
}

// Sets *known to the weights. False unless they are constant. Weight codes, for which it is empty,
// must be bytes that stand for float32.
static bool find_weights(const qdq_gemm *g, const qdq_op_context *ctx, qdq_gemm_known *known) {
    *known = (qdq_gemm_known){0};
    const qdq_weight_codes *codes = ctx->inputs[g->weights.port].weight_codes;
    if (codes) return g->weights.dtype == QDQ_FLOAT32 && qdq_gemm_has_byte_columns(g, codes);
    return qdq_gemm_constant_weights(g, ctx, known);
}

bool qdq_conv_has_panels(const qdq_conv *c, const qdq_op_context *ctx) {
    const qdq_gemm *g = &c->gemm;
    const qdq_panels_form *form = form_of(g);
    qdq_gemm_known known;
    return form && !c->transposed && g->y.row_stride == 1 && c->x_stride[LAST] == 1 &&
           !c->taps_first && c->taps <= TAPS && g->rows >= form->least_positions &&
           c->channel_stride <= INT32_MAX && find_weights(g, ctx, &known);
}

// Codes are multiplied as bytes if the weights fit and an instruction does it, exactly or for
// weights that are split.
static qdq_gemm_kind kind_of(const qdq_gemm *g, const qdq_gemm_known *known) {
    if (!qdq_gemm_fits_bytes(g, known->zeros)) return g->kind;
    return g->kernel->part[QDQ_GEMM_CODES] ? QDQ_GEMM_CODES
           : g->kernel->rest               ? QDQ_GEMM_SPLIT_CODES
                                           : g->kind;
}

bool qdq_conv_panels_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                           qdq_stage *stage) {
    qdq_gemm *g = &c->gemm;
    panels_params *p = QDQ_MEMPOOL_NEW(to->mempool, panels_params);
    const qdq_weight_codes *weight_codes = ctx->inputs[g->weights.port].weight_codes;
    qdq_gemm_known known;
    size_t packed_bytes = 0;
    if (!p || !find_weights(g, ctx, &known)) return false;
    p->form = c->offsets ? form_of(g) : &qdq_panels_code_rows;
    g->kind = kind_of(g, &known);
    qdq_stage_quantize *quantize = qdq_gemm_offer_quantize(g, to->mempool);
    qdq_stage_finish *finish =
        g->kind == QDQ_GEMM_FLOATS ? qdq_gemm_offer_finish(g, to->mempool) : NULL;
    p->conv = *c;
    p->transposed_gemm = qdq_gemm_transposed(g);
    p->x_count = qdq_shape_count(ctx->inputs[g->a_port].type.shape);
    p->linear = is_linear(c);
    p->bordered = has_border(c);
    p->picks = p->form == &qdq_panels_codes && g->kind == QDQ_GEMM_CODES &&
               g->kernel->picked_lines && !p->linear && c->stride[LAST] <= PICKED_STRIDE;
    p->in_place = g->kind == QDQ_GEMM_FLOATS && p->linear && !p->bordered && c->taps == 1 &&
                  g->columns <= QDQ_CONV_PANELS_IN_PLACE;
    p->leaves_out = g->kind == QDQ_GEMM_FLOATS && g->order.sums == QDQ_SUM_CHAIN && p->bordered;
    p->position_blocks = (g->rows + POSITIONS - 1) / POSITIONS;
    set_ends(p);
    set_row_blocks(p);
    if (!qdq_panels_set_planes(p, to)) return false;
    set_slots(p, weight_codes);
    p->weights = qdq_gemm_find_packed(g, ctx, to, &known, QDQ_PACKED_ROWS);
    if (!p->weights) {
        if (!pack(p, &known, weight_codes, to, &packed_bytes) ||
            !qdq_gemm_add_packed(g, ctx, to, &known, QDQ_PACKED_ROWS, p->weights))
            return false;
    }
    *stage = (qdq_stage){.params = p,
                         .tensor_op = qdq_panels_run,
                         .quantize = quantize,
                         .finish = finish,
                         .chunks = true,
                         .units = g->batch * p->row_blocks * p->position_blocks,
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)1 << g->weights.port,
                         .packed_bytes = packed_bytes};
    return true;
}
