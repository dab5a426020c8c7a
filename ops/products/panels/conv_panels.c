// SPDX-License-Identifier: Apache-2.0
// Dense float32 convolutions whose positions are neighbours in memory. The product is transposed:
// constant weights are its rows, packed when the graph is compiled, and positions are its columns.
// A k of a panel is then a line of x, shifted by the tap, so that packing copies lines and results
// are stored as they lie. A mask for each tap says which positions have an element under it.
//
// Elements beyond the border are zeros in a panel, and conv_panels_border.c sees to it that this
// changes no sum.
#include "ops/products/panels/conv_panels.h"

#include <math.h>

#include "ops/products/gemm_read.h"
#include "runtime/numerics/dtype.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    COLUMNS = QDQ_GEMM_COLUMNS,
    ROWS = QDQ_CONV_PANELS_ROWS,            // most output channels of a unit
    POSITIONS = QDQ_CONV_PANELS_POSITIONS,  // of a unit
    TAPS = QDQ_CONV_PANELS_TAPS,
    GROUP = QDQ_GEMM_BLOCK_ROWS,  // rows whose k block stays in L1
    LAST_ROWS = 8,                // rows that the epilogue takes at a time
    DEPTH = QDQ_PANELS_DEPTH,
    STRIDE = QDQ_PANELS_STRIDE,
};

typedef qdq_panels_params panels_params;
typedef qdq_panels_weights packed_rows;
typedef qdq_panel panel;
typedef qdq_panels_job job;

typedef struct qdq_panels_workspace {
    _Alignas(64) float b[QDQ_PANELS][DEPTH * COLUMNS];
    _Alignas(64) float sums[ROWS * STRIDE];
    _Alignas(64) float chunk[GROUP * COLUMNS];  // sums of a chunk of k
    panel panels[QDQ_PANELS];
} workspace;

//---- Columns ----------------------------------------------------------------

// The element of dim d of x under tap t, modulo 2^64.
static size_t index_of(const qdq_conv *c, int d, size_t o, size_t t) {
    return o * c->stride[d] + t * c->dilation[d] - c->pad[d];
}

// For each tap of each dim, the columns that have an element there.
typedef struct dim_masks {
    uint32_t of[DIMS][TAPS];
} dim_masks;

static void set_dim_masks(const qdq_conv *c, size_t position, size_t n, panel *to,
                          dim_masks *masks) {
    size_t o[DIMS], row = position;
    for (int d = DIMS; d-- > 0; row /= c->out[d]) o[d] = row % c->out[d];
    for (int d = 0; d < DIMS; d++) memset(masks->of[d], 0, c->kernel[d] * sizeof masks->of[d][0]);
    to->base = 0;
    for (int d = 0; d < DIMS; d++) to->base += index_of(c, d, o[d], 0) * c->x_stride[d];
    memset(to->at, 0, sizeof to->at);
    for (size_t j = 0; j < n; j++) {
        size_t at = 0;
        for (int d = 0; d < DIMS; d++) {
            at += index_of(c, d, o[d], 0) * c->x_stride[d];
            for (size_t t = 0; t < c->kernel[d]; t++)
                masks->of[d][t] |= (uint32_t)(index_of(c, d, o[d], t) < c->in[d]) << j;
        }
        to->at[j] = (int32_t)(at - to->base);
        for (int d = DIMS; d-- > 0; o[d] = 0)
            if (++o[d] < c->out[d]) break;
    }
}

// The panel of n positions.
static void set_panel(const qdq_conv *c, size_t position, size_t n, panel *to) {
    dim_masks masks;
    uint32_t *mask = to->masks;
    set_dim_masks(c, position, n, to, &masks);
    to->inside = ~0U;
    for (size_t z = 0; z < c->kernel[0]; z++)
        for (size_t y = 0; y < c->kernel[1]; y++)
            for (size_t x = 0; x < c->kernel[LAST]; x++, mask++) {
                *mask = masks.of[0][z] & masks.of[1][y] & masks.of[LAST][x];
                to->inside &= *mask;
            }
}

static void pack_panel(const job *j, const panel *of, size_t k_block, float *b) {
    const qdq_conv *c = &j->p->conv;
    size_t k = k_block * DEPTH;
    c->gemm.kernel->lines(&(qdq_gemm_lines){
        .x = j->x,
        .base = of->base,
        .offsets = c->offsets + k,
        .at = j->p->linear ? NULL : of->at,
        .masks = of->masks,
        .tap = k % c->taps,
        .taps = c->taps,
        .n = qdq_panels_k(c, k_block),
        .out = b,
    });
}

//---- Sums -------------------------------------------------------------------

static void add_group(const job *j, size_t p, size_t k_block, size_t row, size_t rows) {
    static const float zeros[COLUMNS];
    const qdq_gemm *g = &j->p->conv.gemm;
    workspace *w = j->w;
    float *sums = w->sums + row * STRIDE + p * COLUMNS;
    size_t columns = j->block.columns - p * COLUMNS;
    bool chunk = g->order.sums == QDQ_SUM_CHUNKS && k_block;
    qdq_gemm_part part = {
        .a = qdq_panels_row(j->p, j->matrix, k_block, j->block.row + row),
        .b = w->b[p],
        .start = chunk || !k_block ? zeros : NULL,
        .c = chunk ? w->chunk : sums,
        .c_stride = chunk ? COLUMNS : STRIDE,
        .rows = rows,
        .steps = qdq_panels_k(&j->p->conv, k_block),
        .half = columns <= COLUMNS / 2,
    };
    g->kernel->part[QDQ_GEMM_FLOATS](&part);
    if (chunk) g->orders->add(sums, STRIDE, w->chunk, rows);
}

// Tiles that share slots are not neighbours, and are added one by one.
static void add_tiles(const job *j, size_t p, size_t k_block, size_t row, size_t rows) {
    bool last = k_block + 1 == qdq_panels_k_blocks(&j->p->conv);
    size_t most = last && j->p->ways > 1 ? QDQ_GEMM_ROWS : rows;
    for (size_t r = 0; r < rows; r += most)
        add_group(j, p, k_block, row + r, rows - r < most ? rows - r : most);
}

// The rows of a block from `row` on whose k block stays in L1.
static size_t group_rows(const job *j, size_t row) {
    return j->block.rows - row < GROUP ? j->block.rows - row : GROUP;
}

// Asks for part p of the weights that follow a group.
static void ask_for_next(const job *j, size_t k_block, size_t next, size_t p, size_t panels) {
    enum { LINE = 64 / sizeof(float) };
    if (next == j->block.rows) next = 0, k_block++;
    if (k_block == qdq_panels_k_blocks(&j->p->conv)) return;
    const float *weights = qdq_panels_row(j->p, j->matrix, k_block, j->block.row + next);
    size_t lines = group_rows(j, next) * DEPTH / LINE;
    for (size_t i = lines * p / panels; i < lines * (p + 1) / panels; i++)
        __builtin_prefetch(weights + i * LINE, 0, 2);
}

static void add_k_block(const job *j, size_t k_block, size_t panels) {
    workspace *w = j->w;
    for (size_t p = 0; p < panels; p++) pack_panel(j, &w->panels[p], k_block, w->b[p]);
    for (size_t row = 0, rows; row < j->block.rows; row += rows) {
        rows = group_rows(j, row);
        for (size_t p = 0; p < panels; p++) {
            ask_for_next(j, k_block, row + rows, p, panels);
            add_tiles(j, p, k_block, row, rows);
        }
    }
}

//---- Units ------------------------------------------------------------------

static void end_block(const job *j) {
    const qdq_gemm_block *block = &j->block;
    for (size_t r = 0; r < block->rows; r += LAST_ROWS) {
        qdq_gemm_block rows = *block;
        rows.row += r;
        rows.rows = block->rows - r < LAST_ROWS ? block->rows - r : LAST_ROWS;
        j->p->conv.gemm.epilogue(&j->p->transposed_gemm, j->tensors, &rows, j->w->sums + r * STRIDE,
                                 STRIDE);
    }
}

static void run_block(const job *j) {
    const panels_params *p = j->p;
    size_t panels = (j->block.columns + COLUMNS - 1) / COLUMNS;
    qdq_scratch_drop(j->tensors->poison, j->w, sizeof *j->w);
    for (size_t i = 0; i < panels; i++) {
        size_t left = j->block.columns - i * COLUMNS;
        set_panel(&p->conv, j->block.column + i * COLUMNS, left < COLUMNS ? left : COLUMNS,
                  &j->w->panels[i]);
    }
    for (size_t k_block = 0; k_block < qdq_panels_k_blocks(&p->conv); k_block++)
        add_k_block(j, k_block, panels);
    if (p->leaves_out) qdq_panels_mend_zeros(j, panels);
    end_block(j);
}

// Row blocks of the same positions follow each other.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const panels_params *p = params;
    const qdq_gemm *g = &p->conv.gemm;
    workspace w;
    for (size_t unit = begin; unit < end; unit++) {
        size_t row = unit % p->row_blocks * p->block_rows, rest = unit / p->row_blocks;
        size_t column = rest % p->position_blocks * POSITIONS, batch = rest / p->position_blocks;
        job j = {.p = p, .tensors = tensors, .w = &w, .panels = w.panels, .sums = w.sums};
        j.x = (const float *)tensors->x[g->a_port] + qdq_gemm_at(g, g->batches.a, batch);
        j.matrix = qdq_gemm_at(g, g->batches.b, batch);
        j.block = (qdq_gemm_block){
            .batch = batch,
            .row = row,
            .rows = g->columns - row < p->block_rows ? g->columns - row : p->block_rows,
            .column = column,
            .columns = g->rows - column < POSITIONS ? g->rows - column : POSITIONS,
        };
        run_block(&j);
    }
}

//---- Laying out -------------------------------------------------------------

enum { FLT_MAX_BITS = 0x7F7FFFFF };

// Magnitudes of weights as bits, which compare like the numbers.
typedef struct magnitudes {
    uint32_t most, least;  // least: that is not 0, less 1
} magnitudes;

static void see(magnitudes *m, const float *weights, size_t n) {
    uint32_t most = m->most, least = m->least;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = qdq_float_bits(weights[i]) & 0x7FFFFFFF, less = bits - 1;
        most = bits > most ? bits : most;
        least = less < least ? less : least;
    }
    *m = (magnitudes){most, least};
}

static bool pack(panels_params *p, const qdq_gemm_known *known, qdq_mempool *mempool) {
    const qdq_conv *c = &p->conv;
    const qdq_gemm *g = &c->gemm;
    size_t count = g->weights.matrices * g->columns;
    packed_rows *to = QDQ_MEMPOOL_NEW(mempool, packed_rows);
    float *rows = qdq_mempool_array(mempool, g->weights.matrices * p->slots, DEPTH * sizeof *rows);
    if (!to || !rows) return false;
    *to = (packed_rows){.rows = rows};
    p->weights = to;
    magnitudes all = {0, UINT32_MAX};
    qdq_gemm_reader w = qdq_gemm_reader_of(known, qdq_dtype_size(g->weights.dtype), mempool);
    bool done = qdq_gemm_reader_read_all(&w, count * g->depth);
    for (size_t i = 0; done && i < count; i++) {
        qdq_gemm_source from = {w.data, NULL, i / g->columns, 0, 0};
        for (size_t b = 0; b < qdq_panels_k_blocks(c); b++) {
            float *row = qdq_panels_row(p, i / g->columns, b, i % g->columns);
            qdq_gemm_column(g, &from, i % g->columns, b * DEPTH, qdq_panels_k(c, b), row);
            see(&all, row, qdq_panels_k(c, b));
        }
    }
    to->finite = all.most <= FLT_MAX_BITS;
    to->least =
        all.least == UINT32_MAX ? (double)INFINITY : (double)qdq_float_from_bits(all.least + 1);
    qdq_gemm_reader_close(&w);
    return done;
}

// Whether position i begins i elements after the first.
static bool is_linear(const qdq_conv *c) {
    size_t stride = 1;
    for (int d = DIMS; d-- > 0; stride *= c->out[d])
        if (c->out[d] > 1 && c->stride[d] * c->x_stride[d] != stride) return false;
    return true;
}

// Sets how many tiles share the slots of the last k block.
static void set_slots(panels_params *p) {
    const qdq_conv *c = &p->conv;
    size_t blocks = qdq_panels_k_blocks(c), last = qdq_panels_k(c, blocks - 1);
    size_t tiles = (c->group_outputs + QDQ_GEMM_ROWS - 1) / QDQ_GEMM_ROWS;
    p->ways = 1;
    while (p->ways < QDQ_CONV_PANELS_WAYS && last * 2 * p->ways <= DEPTH) p->ways *= 2;
    p->slots = (blocks - 1) * c->group_outputs + (tiles + p->ways - 1) / p->ways * QDQ_GEMM_ROWS;
}

static bool has_border(const qdq_conv *c) {
    for (int d = 0; d < DIMS; d++)
        if (c->pad[d] || index_of(c, d, c->out[d] - 1, c->kernel[d] - 1) >= c->in[d]) return true;
    return false;
}

// Sets the rows of a unit. A few units more let threads share a small image.
static void set_row_blocks(panels_params *p) {
    const qdq_gemm *g = &p->conv.gemm;
    size_t others = g->batch * p->position_blocks, count = (g->columns + ROWS - 1) / ROWS;
    while (count * others < QDQ_CONV_PANELS_UNITS && g->columns / (count + 1) >= GROUP) count++;
    size_t tiles = (g->columns + count * QDQ_GEMM_ROWS - 1) / (count * QDQ_GEMM_ROWS);
    p->block_rows = tiles * QDQ_GEMM_ROWS < ROWS ? tiles * QDQ_GEMM_ROWS : ROWS;
    p->row_blocks = (g->columns + p->block_rows - 1) / p->block_rows;
}

bool qdq_conv_has_panels(const qdq_conv *c, const qdq_op_context *ctx) {
    const qdq_gemm *g = &c->gemm;
    qdq_gemm_known known;
    bool ordered = g->order.sums == QDQ_SUM_CHAIN ||
                   (g->order.sums == QDQ_SUM_CHUNKS && g->order.chunk == DEPTH);
    return ordered && !c->transposed && g->kind == QDQ_GEMM_FLOATS && g->a_dtype == QDQ_FLOAT32 &&
           !g->order.bias_first && g->y.row_stride == 1 && c->x_stride[LAST] == 1 &&
           c->taps <= TAPS && g->rows >= QDQ_CONV_PANELS_LEAST && c->channel_stride <= INT32_MAX &&
           !ctx->inputs[g->weights.port].weight_codes && qdq_gemm_constant_weights(g, ctx, &known);
}

bool qdq_conv_panels_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                           qdq_stage *stage) {
    qdq_gemm *g = &c->gemm;
    panels_params *p = QDQ_MEMPOOL_NEW(to->mempool, panels_params);
    qdq_gemm_known known;
    size_t packed_bytes = 0;
    if (!p || !qdq_gemm_constant_weights(g, ctx, &known)) return false;
    p->conv = *c;
    p->transposed_gemm = qdq_gemm_transposed(g);
    p->linear = is_linear(c);
    p->leaves_out = g->order.sums == QDQ_SUM_CHAIN && has_border(c);
    p->position_blocks = (g->rows + POSITIONS - 1) / POSITIONS;
    set_row_blocks(p);
    set_slots(p);
    p->weights = qdq_gemm_find_packed(g, ctx, to, &known, QDQ_PACKED_ROWS);
    if (!p->weights) {
        packed_bytes = g->weights.matrices * p->slots * QDQ_GEMM_ROW_BYTES;
        if (!pack(p, &known, to->mempool) ||
            !qdq_gemm_add_packed(g, ctx, to, &known, QDQ_PACKED_ROWS, p->weights))
            return false;
    }
    *stage = (qdq_stage){.params = p,
                         .tensor_op = run,
                         .chunks = true,
                         .units = g->batch * p->row_blocks * p->position_blocks,
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)1 << g->weights.port,
                         .packed_bytes = packed_bytes};
    return true;
}
