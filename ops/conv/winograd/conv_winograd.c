// SPDX-License-Identifier: Apache-2.0
// Chooses and prepares Winograd's convolution: units, and the transformed weights.
#include "ops/conv/winograd/conv_winograd.h"

#include "ops/gemm/gemm_read.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    POINTS = QDQ_WINOGRAD_POINTS,
    TILES = QDQ_WINOGRAD_TILES,
    WINDOW = QDQ_WINOGRAD_WINDOW,
    HALF = QDQ_GEMM_COLUMNS / 2,
};

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }

//---- Weights ----------------------------------------------------------------

typedef struct packing {
    const qdq_winograd *w;
    const qdq_gemm_known *known;
    const qdq_gemm_reader *reader;
    float *rows;
} packing;

static void pack_channel(const packing *of, size_t group, size_t channel) {
    const qdq_winograd *w = of->w;
    const qdq_gemm *g = &w->conv.gemm;
    qdq_gemm_source from = qdq_gemm_reader_source(of->reader, g, of->known, group);
    size_t row_block = channel / w->block_rows, row = channel % w->block_rows;
    size_t step = qdq_winograd_step(w), most = w->k * step;
    for (size_t i = 0, n; i < w->conv.group_inputs; i += n) {
        // An even number of channels is whole steps.
        enum { ELEMENTS = WINDOW * WINDOW, TOGETHER = QDQ_GEMM_DEPTH / ELEMENTS / 2 * 2 };
        size_t k_block = i / most, k = i % most / step;
        float weights[TOGETHER * ELEMENTS];
        void *points[POINTS];
        n = least(qdq_winograd_inputs(w, k_block) - i % most, TOGETHER);
        qdq_gemm_column(g, &from, channel, i * ELEMENTS, n * ELEMENTS, weights);
        for (size_t p = 0; p < POINTS; p++)
            points[p] = of->rows + qdq_winograd_row(w, group, row_block, k_block, p, row) + k;
        w->kernels->weights(weights, n, points);
    }
}

static void pack_channels(void *self, size_t begin, size_t end) {
    const packing *of = self;
    size_t outputs = of->w->conv.group_outputs;
    for (size_t i = begin; i < end; i++) pack_channel(of, i / outputs, i % outputs);
}

static bool pack(qdq_winograd *w, const qdq_gemm_known *known, const qdq_lowering *to,
                 size_t *bytes) {
    const qdq_conv *c = &w->conv;
    size_t floats = qdq_winograd_row(w, c->groups, 0, 0, 0, 0);
    float *rows = qdq_mempool_uncleared(to->mempool, floats, sizeof *rows);
    qdq_gemm_reader reader =
        qdq_gemm_reader_of(known, qdq_dtype_size(c->gemm.weights.dtype), to->mempool);
    bool done = rows && qdq_gemm_each_column(&c->gemm, &reader, to->parallel, pack_channels,
                                             &(packing){w, known, &reader, rows});
    qdq_gemm_reader_close(&reader);
    *bytes = floats * sizeof *rows;
    w->rows = rows;
    return done;
}

//---- Units ------------------------------------------------------------------

// Returns the relative time of a unit of n tiles. Vectors of transforms take 16 tiles at a time,
// and the more tiles a unit has, the fewer output channels share their transforms.
static size_t cost_of(size_t n) {
    enum { WHOLE = 1024 };
    return parts(n, HALF) * HALF * (WHOLE + n);
}

// Chooses the tiles of a unit: whole rows, or a part of a row that is too long.
static void set_tiles(qdq_winograd *w) {
    size_t rows = w->tile_rows, columns = w->tile_columns, best = SIZE_MAX;
    w->unit_rows = 1;
    w->unit_columns =
        columns <= TILES ? columns : parts(columns, parts(columns, TILES) * HALF) * HALF;
    for (size_t n = 1; n <= rows && n * columns <= TILES; n++) {
        size_t cost = rows / n * cost_of(n * columns) + cost_of(rows % n * columns);
        if (cost < best) best = cost, w->unit_rows = n;
    }
    w->row_units = parts(rows, w->unit_rows);
    w->column_units = parts(columns, w->unit_columns);
    size_t tiles = w->unit_rows * w->unit_columns;
    w->columns = parts(tiles, QDQ_GEMM_COLUMNS) * QDQ_GEMM_COLUMNS;
}

static void set_blocks(qdq_winograd *w) {
    const qdq_conv *c = &w->conv;
    size_t most = QDQ_WINOGRAD_AREA / w->columns;
    size_t steps = parts(c->group_inputs, qdq_winograd_step(w));
    w->k_blocks = parts(steps, least(most, QDQ_WINOGRAD_DEPTH));
    w->k = parts(steps, w->k_blocks);
    w->ways = 1;
    while (w->ways < POINTS && 2 * w->ways * w->k <= QDQ_WINOGRAD_DEPTH) w->ways *= 2;
    w->row_blocks = parts(c->group_outputs, least(most, QDQ_WINOGRAD_OUTPUTS));
    w->block_rows = parts(c->group_outputs, w->row_blocks);
}

//---- The stage --------------------------------------------------------------

// True if the shape is faster with tiles of 4x4. qdq_conv_has_panels also requires
// QDQ_CONV_PANELS_LEAST results.
static bool suits(const qdq_conv *c, const qdq_op_context *ctx) {
    const qdq_gemm *g = &c->gemm;
    bool flat = c->kernel[0] == 1 && c->stride[0] == 1 && !c->pad[0] && c->out[0] == c->in[0];
    for (int d = 1; d < DIMS; d++)
        flat &= c->kernel[d] == WINDOW && c->stride[d] == 1 && c->dilation[d] == 1;
    size_t tiles = parts(c->out[1], 2) * parts(c->out[LAST], 2);
    return flat && !ctx->inputs[g->weights.port].weight_codes &&
           tiles >= QDQ_WINOGRAD_LEAST_TILES && c->group_inputs >= QDQ_WINOGRAD_LEAST_CHANNELS &&
           c->group_outputs >= QDQ_WINOGRAD_LEAST_CHANNELS && qdq_conv_has_panels(c, ctx);
}

// Returns the kernels for the elements of a convolution. NULL: it is computed in another way.
static const qdq_winograd_kernels *kernels_of(const qdq_conv *c, const qdq_lowering *to,
                                              const qdq_gemm_known *known) {
    const qdq_gemm *g = &c->gemm;
    if (g->kind == QDQ_GEMM_INTEGERS)
        return c->group_inputs <= QDQ_WINOGRAD_MOST_CODES && qdq_gemm_fits_bytes(g, known->zeros)
                   ? qdq_winograd_find_codes(to->isas)
                   : NULL;
    bool floats = g->kind == QDQ_GEMM_FLOATS && g->a_dtype == QDQ_FLOAT32 &&
                  g->weights.dtype == QDQ_FLOAT32 && g->y.dtype == QDQ_FLOAT32;
    return to->fast && floats ? qdq_winograd_find(to->isas) : NULL;
}

bool qdq_conv_winograd_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_stage *stage, bool *done) {
    const qdq_gemm *g = &c->gemm;
    const qdq_winograd_kernels *kernels = NULL;
    qdq_gemm_known known;
    size_t packed_bytes = 0;
    if (suits(c, ctx) && qdq_gemm_constant_weights(g, ctx, &known))
        kernels = kernels_of(c, to, &known);
    *done = kernels != NULL;
    if (!*done) return true;
    qdq_winograd *w = QDQ_MEMPOOL_NEW(to->mempool, qdq_winograd);
    if (!w) return false;
    w->conv = *c;
    w->kernels = kernels;
    w->of_codes = g->kind == QDQ_GEMM_INTEGERS;
    w->x_count = qdq_shape_count(ctx->inputs[g->a_port].type.shape);
    w->tile_rows = parts(c->out[1], 2), w->tile_columns = parts(c->out[LAST], 2);
    set_tiles(w);
    set_blocks(w);
    qdq_stage_quantize *quantize = qdq_gemm_offer_quantize(&w->conv.gemm, to->mempool);
    w->transposed_gemm = qdq_gemm_transposed(&w->conv.gemm);
    w->rows = qdq_gemm_find_packed(g, ctx, to, &known, QDQ_PACKED_WINOGRAD + w->columns);
    if (!w->rows &&
        (!pack(w, &known, to, &packed_bytes) ||
         !qdq_gemm_add_packed(g, ctx, to, &known, QDQ_PACKED_WINOGRAD + w->columns, w->rows)))
        return false;
    size_t planes = g->batch * c->out[0];
    *stage = (qdq_stage){.params = w,
                         .tensor_op = qdq_winograd_run,
                         .quantize = quantize,
                         .chunks = true,
                         .winograd = !w->of_codes,
                         .units = planes * w->row_units * w->column_units * w->row_blocks,
                         .cost = planes * w->tile_rows * w->tile_columns * POINTS *
                                 c->group_inputs * c->group_outputs,
                         .packed_bytes = packed_bytes};
    return true;
}
