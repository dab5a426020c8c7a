// SPDX-License-Identifier: Apache-2.0
// Dense convolutions whose positions are neighbours in memory, of float32 and of codes. The product
// is transposed: constant weights are its rows, packed when the graph is compiled, and positions
// are its columns. A k of a panel is then a line of x, shifted by the tap, so that packing copies
// lines and results are stored as they lie. A mask for each tap says which positions have an
// element under it. A form (conv_panels.h) packs the lines and weights of a kind of element.
//
// Floats beyond the border are zeros in a panel, and conv_panels_border.c sees to it that this
// changes no sum.
#include "ops/products/panels/conv_panels.h"

#include <math.h>

#include "ops/products/gemm_read.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/threads/parallel_run.h"
#include "runtime/numerics/dtype.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    COLUMNS = QDQ_GEMM_COLUMNS,
    POSITIONS = QDQ_CONV_PANELS_POSITIONS,  // of a unit
    TAPS = QDQ_CONV_PANELS_TAPS,
    GROUP = QDQ_GEMM_BLOCK_ROWS,  // rows whose k block stays in L1
    LAST_ROWS = 16,               // rows that the epilogue takes at a time
    ENDED = 2,                    // panels whose sums become codes together
};

typedef qdq_panels_params panels_params;
typedef qdq_panels_weights packed_rows;
typedef qdq_panels_workspace workspace;
typedef qdq_panel panel;
typedef qdq_panels_job job;

//---- Columns ----------------------------------------------------------------

// For each tap of each dim, the columns that have an element there.
typedef struct dim_masks {
    uint32_t of[DIMS][TAPS];
} dim_masks;

// How far apart eight columns lie, if it is always 1 or 2; else 0.
static uint8_t step_of(const int32_t *at) {
    int32_t step = at[1] - at[0];
    for (size_t j = 1; j < QDQ_GEMM_STEPPED; j++)
        if (at[j] - at[j - 1] != step) return 0;
    return step == 1 || step == 2 ? (uint8_t)step : 0;
}

static void set_dim_masks(const qdq_conv *c, size_t position, size_t n, panel *to,
                          dim_masks *masks) {
    size_t o[DIMS], row = position;
    for (int d = DIMS; d-- > 0; row /= c->out[d]) o[d] = row % c->out[d];
    for (int d = 0; d < DIMS; d++) memset(masks->of[d], 0, c->kernel[d] * sizeof masks->of[d][0]);
    to->base = 0;
    for (int d = 0; d < DIMS; d++) to->base += qdq_panels_index(c, d, o[d], 0) * c->x_stride[d];
    memset(to->at, 0, sizeof to->at);
    for (size_t j = 0; j < n; j++) {
        size_t at = 0;
        for (int d = 0; d < DIMS; d++) {
            at += qdq_panels_index(c, d, o[d], 0) * c->x_stride[d];
            for (size_t t = 0; t < c->kernel[d]; t++)
                masks->of[d][t] |= (uint32_t)(qdq_panels_index(c, d, o[d], t) < c->in[d]) << j;
        }
        to->at[j] = (int32_t)(at - to->base);
        for (int d = DIMS; d-- > 0; o[d] = 0)
            if (++o[d] < c->out[d]) break;
    }
    for (size_t i = 0; i < COLUMNS / QDQ_GEMM_STEPPED; i++)
        to->steps[i] = step_of(to->at + i * QDQ_GEMM_STEPPED);
}

// The panel of n positions.
static void set_panel(const panels_params *p, size_t position, size_t n, panel *to) {
    const qdq_conv *c = &p->conv;
    dim_masks masks;
    uint32_t *mask = to->masks;
    if (p->linear && !p->bordered) {
        to->base = position;
        to->inside = ~0U >> (COLUMNS - n);
        for (size_t t = 0; t < c->taps; t++) mask[t] = to->inside;
        return;
    }
    set_dim_masks(c, position, n, to, &masks);
    to->inside = ~0U;
    for (size_t z = 0; z < c->kernel[0]; z++)
        for (size_t y = 0; y < c->kernel[1]; y++)
            for (size_t x = 0; x < c->kernel[LAST]; x++, mask++) {
                *mask = masks.of[0][z] & masks.of[1][y] & masks.of[LAST][x];
                to->inside &= *mask;
            }
}

//---- Sums -------------------------------------------------------------------

// Adds what the rows of a part leave out.
static void add_rest(const job *j, size_t k_block, size_t row, const qdq_gemm_part *part) {
    const qdq_gemm *g = &j->p->conv.gemm;
    size_t k_blocks = qdq_panels_k_blocks(&j->p->conv);
    size_t channel = j->matrix * g->columns + j->block.row + row;
    g->kernel->rest(
        &(qdq_gemm_rest){.steps = j->p->weights->rest,
                         .ends = j->p->weights->rest_ends + channel * k_blocks + k_block + 1,
                         .ends_stride = k_blocks,
                         .b = part->b,
                         .c = part->c,
                         .c_stride = part->c_stride,
                         .rows = part->rows});
}

static void add_group(const job *j, size_t p, size_t k_block, size_t row, size_t rows) {
    static const float zeros[COLUMNS];
    const qdq_gemm *g = &j->p->conv.gemm;
    workspace *w = j->w;
    float *sums = w->sums + row * j->p->stride + p * COLUMNS;
    size_t columns = j->block.columns - p * COLUMNS;
    bool chunk = g->order.sums == QDQ_SUM_CHUNKS && k_block;
    const uint32_t *first_sums = k_block ? NULL : j->p->weights->first_sums;
    if (first_sums) first_sums += j->matrix * g->columns + j->block.row + row;
    qdq_gemm_part part = {
        .a = qdq_panels_row(j->p, j->matrix, k_block, j->block.row + row),
        .b = w->b[p],
        .start = chunk || (!k_block && !first_sums) ? zeros : NULL,
        .c = chunk ? w->chunk : sums,
        .c_stride = chunk ? COLUMNS : j->p->stride,
        .rows = rows,
        .steps = qdq_gemm_steps(g->kind, qdq_panels_k(&j->p->conv, k_block)),
        .half = columns <= COLUMNS / 2,
        .row_start = (const int32_t *)first_sums,
    };
    g->kernel->part[g->kind](&part);
    if (g->kind == QDQ_GEMM_SPLIT_CODES) add_rest(j, k_block, row, &part);
    if (chunk) g->orders->add(sums, j->p->stride, w->chunk, rows);
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
    enum { LINE = 64 };
    if (next == j->block.rows) next = 0, k_block++;
    if (k_block == qdq_panels_k_blocks(&j->p->conv)) return;
    const char *weights = qdq_panels_row(j->p, j->matrix, k_block, j->block.row + next);
    bool last = k_block + 1 == qdq_panels_k_blocks(&j->p->conv);
    size_t lines = group_rows(j, next) * QDQ_GEMM_ROW_BYTES / LINE / (last ? j->p->ways : 1);
    for (size_t i = lines * p / panels; i < lines * (p + 1) / panels; i++)
        __builtin_prefetch(weights + i * LINE, 0, 2);
}

// Makes codes of a group of rows while their sums are in the cache: of the last `count` panels up
// to number p.
static void end_group(const job *j, size_t row, size_t rows, size_t p, size_t count) {
    qdq_gemm_block part = j->block;
    size_t first = (p + 1 - count) * COLUMNS, left = j->block.columns - first;
    part.row += row, part.rows = rows;
    part.column += first, part.columns = left < count * COLUMNS ? left : count * COLUMNS;
    j->p->conv.gemm.epilogue(&j->p->transposed_gemm, j->tensors, &part,
                             j->w->sums + row * j->p->stride + first, j->p->stride);
}

// Whether rows of a group become codes as soon as their sums are complete. Links would get runs
// that are too short.
static bool ends_groups(const job *j) {
    return !j->tensors->sink && !j->p->leaves_out &&
           qdq_gemm_quantizes_sums(&j->p->transposed_gemm);
}

static void add_k_block(const job *j, size_t k_block, size_t panels) {
    bool ends = ends_groups(j) && k_block + 1 == qdq_panels_k_blocks(&j->p->conv);
    if (!j->is_packed) j->p->form->pack(j, k_block, panels);
    for (size_t row = 0, rows; row < j->block.rows; row += rows) {
        rows = group_rows(j, row);
        for (size_t p = 0; p < panels; p++) {
            ask_for_next(j, k_block, row + rows, p, panels);
            add_tiles(j, p, k_block, row, rows);
            if (ends && (p % ENDED == ENDED - 1 || p == panels - 1))
                end_group(j, row, rows, p, p % ENDED + 1);
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
        j->p->conv.gemm.epilogue(&j->p->transposed_gemm, j->tensors, &rows,
                                 j->w->sums + r * j->p->stride, j->p->stride);
    }
}

// Drops what earlier units left, but not the panels that this one uses again.
static void drop(const job *j) {
    bool poison = j->tensors->poison;
    qdq_scratch_drop(poison, j->w->sums, sizeof j->w->sums);
    qdq_scratch_drop(poison, j->w->chunk, sizeof j->w->chunk);
    if (j->is_packed) return;
    qdq_scratch_drop(poison, j->w->b, sizeof j->w->b);
    qdq_scratch_drop(poison, j->w->panels, sizeof j->w->panels);
}

static void run_block(const job *j) {
    const panels_params *p = j->p;
    size_t panels = (j->block.columns + COLUMNS - 1) / COLUMNS;
    drop(j);
    bool read = !j->is_packed && (p->linear || !p->form->stages);
    for (size_t i = 0; read && i < panels; i++) {
        size_t left = j->block.columns - i * COLUMNS;
        set_panel(p, j->block.column + i * COLUMNS, left < COLUMNS ? left : COLUMNS,
                  &j->w->panels[i]);
    }
    for (size_t k_block = 0; k_block < qdq_panels_k_blocks(&p->conv); k_block++)
        add_k_block(j, k_block, panels);
    if (p->leaves_out) qdq_panels_mend_zeros(j, panels);
    if (!ends_groups(j)) end_block(j);
}

// How many of the units from `unit` to `end` are row blocks of the same positions that run as one.
static size_t units_together(const panels_params *p, size_t unit, size_t end) {
    size_t left = p->row_blocks - unit % p->row_blocks;
    if (left > end - unit) left = end - unit;
    return left < p->together ? left : p->together;
}

// Row blocks of the same positions follow each other, and those that one thread runs share panels:
// all of them if panels hold all k, else as many as there is room for.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const panels_params *p = params;
    const qdq_gemm *g = &p->conv.gemm;
    workspace w;
    for (size_t unit = begin, count; unit < end; unit += count) {
        size_t row = unit % p->row_blocks * p->block_rows, rest = unit / p->row_blocks;
        size_t column = rest % p->position_blocks * POSITIONS, batch = rest / p->position_blocks;
        size_t size = qdq_dtype_size(g->a_dtype), first = qdq_gemm_at(g, g->batches.a, batch);
        count = units_together(p, unit, end);
        size_t rows = count * p->block_rows, left = g->columns - row;
        job j = {.p = p, .tensors = tensors, .w = &w};
        j.is_packed = row && unit > begin && qdq_panels_k_blocks(&p->conv) == 1;
        j.x = (const char *)tensors->x[g->a_port] + first * size;
        j.x_bytes = (p->x_count - first) * size;
        j.matrix = qdq_gemm_at(g, g->batches.b, batch);
        j.block = (qdq_gemm_block){
            .batch = batch,
            .row = row,
            .rows = left < rows ? left : rows,
            .column = column,
            .columns = g->rows - column < POSITIONS ? g->rows - column : POSITIONS,
        };
        run_block(&j);
    }
}

//---- Laying out -------------------------------------------------------------

// The rows of weights that are packed.
typedef struct packing {
    const panels_params *p;
    const qdq_gemm_known *known;
    const qdq_gemm_reader *reader;
    qdq_panels_seen *seen;  // of each row
} packing;

static void pack_rows(void *context, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const packing *of = context;
    const panels_params *p = of->p;
    const qdq_conv *c = &p->conv;
    const qdq_gemm *g = &c->gemm;
    for (size_t i = begin; i < end; i++) {
        size_t matrix = i / g->columns, channel = i % g->columns, k = 0;
        qdq_gemm_source from = qdq_gemm_reader_source(of->reader, g, of->known, matrix);
        of->seen[i] = (qdq_panels_seen){.finite = true, .least = (double)INFINITY};
        for (size_t b = 0; b < qdq_panels_k_blocks(c); b++, k += qdq_gemm_depth(g))
            p->form->pack_row(g, &from, channel, k, qdq_panels_k(c, b),
                              qdq_panels_row(p, matrix, b, channel), &of->seen[i]);
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

static bool pack(panels_params *p, const qdq_gemm_known *known, const qdq_lowering *lowering,
                 size_t *bytes) {
    const qdq_gemm *g = &p->conv.gemm;
    qdq_mempool *mempool = lowering->mempool;
    size_t count = g->weights.matrices * g->columns;
    packed_rows *to = QDQ_MEMPOOL_NEW(mempool, packed_rows);
    char *rows = qdq_mempool_array(mempool, g->weights.matrices * p->slots, QDQ_GEMM_ROW_BYTES);
    uint32_t *sums = NULL;
    bool of_bytes = qdq_gemm_size(g->kind) == 1;
    if (of_bytes) sums = qdq_mempool_array(mempool, count, sizeof *sums);
    if (!to || !rows || (of_bytes && !sums)) return false;
    *bytes = g->weights.matrices * p->slots * QDQ_GEMM_ROW_BYTES;
    *to = (packed_rows){.rows = rows, .first_sums = sums};
    p->weights = to;
    qdq_panels_seen *seen = qdq_alloc_array(mempool->allocator, count, sizeof *seen, 64);
    qdq_gemm_reader w = qdq_gemm_reader_of(known, qdq_dtype_size(g->weights.dtype), mempool);
    bool done = seen && qdq_gemm_reader_read_all(&w, count * g->depth);
    if (done) {
        qdq_parallel_run(lowering->parallel, count * g->depth, count, pack_rows,
                         &(packing){p, known, &w, seen});
        keep_seen(to, seen, count);
    }
    qdq_gemm_reader_close(&w);
    qdq_free_array(mempool->allocator, seen, count, sizeof *seen);
    if (done && g->kind == QDQ_GEMM_SPLIT_CODES) done = qdq_panels_split(p, to, mempool, bytes);
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
    size_t blocks = qdq_panels_k_blocks(c), most = qdq_gemm_depth(&c->gemm);
    size_t last = qdq_panels_k(c, blocks - 1);
    size_t tiles = (c->group_outputs + QDQ_GEMM_ROWS - 1) / QDQ_GEMM_ROWS;
    p->ways = 1;
    while (p->ways < QDQ_CONV_PANELS_WAYS && last * 2 * p->ways <= most) p->ways *= 2;
    p->slots = (blocks - 1) * c->group_outputs + (tiles + p->ways - 1) / p->ways * QDQ_GEMM_ROWS;
}

static bool has_border(const qdq_conv *c) {
    for (int d = 0; d < DIMS; d++)
        if (c->pad[d] || qdq_panels_index(c, d, c->out[d] - 1, c->kernel[d] - 1) >= c->in[d])
            return true;
    return false;
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
    return floats && ordered && !g->order.bias_first ? &qdq_panels_floats : NULL;
}

bool qdq_conv_has_panels(const qdq_conv *c, const qdq_op_context *ctx) {
    const qdq_gemm *g = &c->gemm;
    const qdq_panels_form *form = form_of(g);
    qdq_gemm_known known;
    return form && !c->transposed && g->y.row_stride == 1 && c->x_stride[LAST] == 1 &&
           !c->taps_first && c->taps <= TAPS && g->rows >= form->least_positions &&
           c->channel_stride <= INT32_MAX && !ctx->inputs[g->weights.port].weight_codes &&
           qdq_gemm_constant_weights(g, ctx, &known);
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
    qdq_gemm_known known;
    size_t packed_bytes = 0;
    if (!p || !qdq_gemm_constant_weights(g, ctx, &known)) return false;
    p->form = form_of(g);
    g->kind = kind_of(g, &known);
    qdq_stage_quantize *quantize = qdq_gemm_offer_quantize(g, to->mempool);
    p->conv = *c;
    p->transposed_gemm = qdq_gemm_transposed(g);
    p->x_count = qdq_shape_count(ctx->inputs[g->a_port].type.shape);
    p->linear = is_linear(c);
    p->bordered = has_border(c);
    p->leaves_out = g->kind == QDQ_GEMM_FLOATS && g->order.sums == QDQ_SUM_CHAIN && p->bordered;
    p->position_blocks = (g->rows + POSITIONS - 1) / POSITIONS;
    set_row_blocks(p);
    set_slots(p);
    p->weights = qdq_gemm_find_packed(g, ctx, to, &known, QDQ_PACKED_ROWS);
    if (!p->weights) {
        if (!pack(p, &known, to, &packed_bytes) ||
            !qdq_gemm_add_packed(g, ctx, to, &known, QDQ_PACKED_ROWS, p->weights))
            return false;
    }
    *stage = (qdq_stage){.params = p,
                         .tensor_op = run,
                         .quantize = quantize,
                         .chunks = true,
                         .units = g->batch * p->row_blocks * p->position_blocks,
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)1 << g->weights.port,
                         .packed_bytes = packed_bytes};
    return true;
}
