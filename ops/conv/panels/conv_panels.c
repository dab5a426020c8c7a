// SPDX-License-Identifier: Apache-2.0
// Dense convolutions whose positions are neighbours in memory, of float32 and of codes. The product
// is transposed: constant weights are its rows, packed when the graph is compiled, and positions
// are its columns. A k of a panel is then a line of x, shifted by the tap, so that packing copies
// lines and results are stored as they lie. A mask for each tap says which positions have an
// element under it. A form (conv_panels.h) packs the lines and weights of a kind of element;
// conv_panels_stage.c prepares all that is constant.
//
// Floats beyond the border are zeros in a panel, and conv_panels_border.c ensures that this
// changes no sum.
#include "ops/conv/panels/conv_panels.h"

#include "runtime/numerics/dtype.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    COLUMNS = QDQ_GEMM_COLUMNS,
    POSITIONS = QDQ_CONV_PANELS_POSITIONS,  // of a unit
    TAPS = QDQ_CONV_PANELS_TAPS,
    GROUP = QDQ_PANELS_GROUP,
    LAST_ROWS = 16,  // rows that the epilogue takes at a time
    ENDED = 2,       // panels whose sums become codes together
};

typedef qdq_panels_params panels_params;
typedef qdq_panels_workspace workspace;
typedef qdq_panel panel;
typedef qdq_panels_job job;

//---- Columns ----------------------------------------------------------------

// For each tap of each dim, the columns that have an element there.
typedef struct dim_masks {
    uint32_t of[DIMS][TAPS];
} dim_masks;

// Returns how far apart eight columns lie, if it is always 1 or 2; else 0.
static uint8_t step_of(const int32_t *at) {
    int32_t step = at[1] - at[0];
    for (size_t j = 1; j < QDQ_GEMM_STEPPED; j++)
        if (at[j] - at[j - 1] != step) return 0;
    return step == 1 || step == 2 ? (uint8_t)step : 0;
}

// Returns a bit for each number from `begin` to `end` below 32.
static inline uint32_t bits_of(size_t begin, size_t end) {
    uint64_t below = ((uint64_t)1 << (end < 32 ? end : 32)) - 1;
    return begin < 32 ? (uint32_t)(below >> begin << begin) : 0;
}

// Returns the place in x of position o, modulo 2^64.
static size_t place_of(const qdq_conv *c, const size_t *o) {
    size_t place = 0;
    for (int d = 0; d < DIMS; d++) place += qdq_panels_index(c, d, o[d], 0) * c->x_stride[d];
    return place;
}

// Adds the columns from `first` on that are positions of one row of the result, `o` the first of
// them.
static void add_run(const panels_params *p, const size_t *o, size_t first, size_t n, panel *to,
                    dim_masks *masks) {
    const qdq_conv *c = &p->conv;
    uint32_t all = bits_of(first, first + n);
    size_t at = place_of(c, o) - to->base, step = c->stride[LAST] * c->x_stride[LAST];
    for (size_t j = 0; j < n; j++) to->at[first + j] = (int32_t)(at + j * step);
    for (int d = 0; d < LAST; d++)
        for (size_t t = 0; t < c->kernel[d]; t++)
            if (qdq_panels_index(c, d, o[d], t) < c->in[d]) masks->of[d][t] |= all;
    for (size_t t = 0; t < c->kernel[LAST]; t++) {
        const qdq_panels_ends *ends = &p->ends[t];
        size_t begin = ends->begin > o[LAST] ? ends->begin - o[LAST] : 0;
        size_t end = ends->end > o[LAST] ? ends->end - o[LAST] : 0;
        if (begin < end) masks->of[LAST][t] |= bits_of(first + begin, first + end) & all;
    }
}

static void set_dim_masks(const panels_params *p, size_t position, size_t n, panel *to,
                          dim_masks *masks) {
    const qdq_conv *c = &p->conv;
    for (int d = 0; d < DIMS; d++) memset(masks->of[d], 0, c->kernel[d] * sizeof masks->of[d][0]);
    memset(to->at, 0, sizeof to->at);
    for (size_t j = 0, count; j < n; j += count) {
        size_t o[DIMS], row = position + j;
        for (int d = DIMS; d-- > 0; row /= c->out[d]) o[d] = row % c->out[d];
        if (!j) to->base = place_of(c, o);
        count = c->out[LAST] - o[LAST];
        if (count > n - j) count = n - j;
        add_run(p, o, j, count, to, masks);
    }
    for (size_t i = 0; i < COLUMNS / QDQ_GEMM_STEPPED; i++)
        to->steps[i] = step_of(to->at + i * QDQ_GEMM_STEPPED);
}

// Describes the panel of n positions.
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
    set_dim_masks(p, position, n, to, &masks);
    to->inside = ~0U;
    for (size_t z = 0; z < c->kernel[0]; z++)
        for (size_t y = 0; y < c->kernel[1]; y++)
            for (size_t x = 0; x < c->kernel[LAST]; x++, mask++) {
                *mask = masks.of[0][z] & masks.of[1][y] & masks.of[LAST][x];
                to->inside &= *mask;
            }
}

//---- Sums -------------------------------------------------------------------

// Starts the sums of a part with the products that its split rows leave out.
static void add_rest(const job *j, size_t k_block, size_t row, qdq_gemm_part *part) {
    const qdq_gemm *g = &j->p->conv.gemm;
    size_t k_blocks = qdq_panels_k_blocks(&j->p->conv);
    size_t channel = j->matrix * g->columns + j->block.row + row;
    g->kernel->rest(
        &(qdq_gemm_rest){.steps = j->p->weights->rest,
                         .ends = j->p->weights->rest_ends + channel * k_blocks + k_block + 1,
                         .ends_stride = k_blocks,
                         .b = part->b,
                         .row_start = part->row_start,
                         .c = part->c,
                         .c_stride = part->c_stride,
                         .rows = part->rows});
    part->row_start = NULL;
}

// Returns how many last columns of a panel are dot products, because a tile would compute 16 for
// them.
static size_t few_of(const job *j, size_t p) {
    const qdq_gemm *g = &j->p->conv.gemm;
    size_t few = qdq_panels_columns(j, p) % (COLUMNS / 2);
    bool dots = g->kind == QDQ_GEMM_CODES && g->kernel->code_columns;
    return dots && few <= QDQ_PANELS_FEW ? few : 0;
}

static void add_group(const job *j, size_t p, size_t k_block, size_t row, size_t rows,
                      qdq_panels_ahead ahead) {
    static const int32_t zeros[COLUMNS];
    const qdq_gemm *g = &j->p->conv.gemm;
    size_t columns = qdq_panels_columns(j, p) - few_of(j, p);
    const uint32_t *first_sums = k_block ? NULL : j->p->weights->first_sums;
    if (first_sums) first_sums += j->matrix * g->columns + j->block.row + row;
    qdq_gemm_part part = {
        .a = qdq_panels_row(j->p, j->matrix, k_block, j->block.row + row),
        .b = j->w->b[p],
        .start = !k_block && !first_sums ? zeros : NULL,
        .c = j->w->sums + row * j->p->stride + p * COLUMNS,
        .c_stride = j->p->stride,
        .rows = rows,
        .steps = qdq_gemm_steps(g->kind, qdq_panels_k(&j->p->conv, k_block)),
        .half = columns <= COLUMNS / 2,
        .columns = columns,
        .row_start = (const int32_t *)first_sums,
        .ahead = ahead.at,
        .ahead_bytes = ahead.bytes,
    };
    if (g->kind == QDQ_GEMM_SPLIT_CODES) add_rest(j, k_block, row, &part);
    if (j->codes.out && k_block + 1 == qdq_panels_k_blocks(&j->p->conv))
        qdq_panels_add_codes(j, p, row, columns, &part);
    else
        g->kernel->part[g->kind](&part);
}

// Takes the last columns of a packed panel apart.
static void take_columns(const job *j, size_t p, size_t k_block) {
    enum { LINE = 64 / QDQ_GEMM_STEP_BYTES };
    const qdq_conv *c = &j->p->conv;
    size_t steps = qdq_gemm_steps(c->gemm.kind, qdq_panels_k(c, k_block)), few = few_of(j, p);
    size_t first = qdq_panels_columns(j, p) - few;
    const uint32_t *words = (const uint32_t *)(const void *)j->w->b[p];
    for (size_t i = 0; i < few; i++) {
        for (size_t k = 0; k < steps; k++) j->w->few[i][k] = words[k * COLUMNS + first + i];
        for (size_t k = steps; k % LINE; k++) j->w->few[i][k] = 0;
    }
}

static void add_few(const job *j, size_t p, size_t k_block, size_t row, size_t rows) {
    const qdq_conv *c = &j->p->conv;
    const uint32_t *first_sums = k_block ? NULL : j->p->weights->first_sums;
    size_t few = few_of(j, p), column = p * COLUMNS + qdq_panels_columns(j, p) - few;
    if (first_sums) first_sums += j->matrix * c->gemm.columns + j->block.row + row;
    c->gemm.kernel->code_columns(
        &(qdq_gemm_code_columns){.a = qdq_panels_row(j->p, j->matrix, k_block, j->block.row + row),
                                 .b = j->w->few,
                                 .row_start = (const int32_t *)first_sums,
                                 .c = (int32_t *)(void *)(j->w->sums + row * j->p->stride + column),
                                 .c_stride = j->p->stride,
                                 .rows = rows,
                                 .columns = few,
                                 .steps = qdq_gemm_steps(c->gemm.kind, qdq_panels_k(c, k_block))});
}

static void ask_for(qdq_panels_ahead ahead) {
    enum { LINE = 64 };
    for (size_t i = 0; i < ahead.bytes; i += LINE) __builtin_prefetch(ahead.at + i, 0, 2);
}

// True if tiles ask for the next weights step by step.
static bool asks_by_step(const job *j, size_t p) {
    const qdq_gemm *g = &j->p->conv.gemm;
    return g->kind == QDQ_GEMM_CODES && g->kernel->asks_ahead &&
           few_of(j, p) < qdq_panels_columns(j, p);
}

// Tiles of codes that share slots are not neighbours, and are added one by one. Tiles of floats may
// take several panels.
static void add_tiles(const job *j, size_t p, size_t count, size_t k_block, size_t row, size_t rows,
                      qdq_panels_ahead ahead) {
    if (j->p->conv.gemm.kind == QDQ_GEMM_FLOATS) {
        qdq_panels_add_floats(j, p, count, k_block, row, rows, ahead);
        return;
    }
    bool last = k_block + 1 == qdq_panels_k_blocks(&j->p->conv);
    size_t most = last && j->p->ways > 1 ? QDQ_GEMM_ROWS : rows;
    size_t few = few_of(j, p);
    if (!asks_by_step(j, p)) ask_for(ahead), ahead.bytes = 0;
    for (size_t r = 0; r < rows; r += most) {
        size_t n = rows - r < most ? rows - r : most;
        qdq_panels_ahead part = {ahead.at, ahead.bytes * n / rows};
        if (few < qdq_panels_columns(j, p)) add_group(j, p, k_block, row + r, n, part);
        if (few) add_few(j, p, k_block, row + r, n);
        if (part.bytes) ahead.at += part.bytes;
    }
}

// Returns the number of rows of a block from `row` on whose k block stays in L1.
static size_t group_rows(const job *j, size_t row) {
    return j->block.rows - row < GROUP ? j->block.rows - row : GROUP;
}

// Returns the part of the weights that follow a group, which ends before row `next`, for `count`
// panels.
static qdq_panels_ahead part_of_next(const job *j, size_t k_block, size_t next, size_t p,
                                     size_t count, size_t panels) {
    if (next == j->block.rows) next = 0, k_block++;
    if (k_block == qdq_panels_k_blocks(&j->p->conv)) return (qdq_panels_ahead){0};
    const char *weights = qdq_panels_row(j->p, j->matrix, k_block, j->block.row + next);
    bool last = k_block + 1 == qdq_panels_k_blocks(&j->p->conv);
    size_t bytes = group_rows(j, next) * j->p->row_bytes / (last ? j->p->ways : 1);
    size_t first = bytes * p / panels, end = bytes * (p + count) / panels;
    return (qdq_panels_ahead){weights + first, end - first};
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

// True if rows of a group become codes as soon as their sums are complete. Links would get runs
// that are too short.
static bool ends_groups(const job *j) {
    return !j->tensors->sink && !j->p->leaves_out &&
           qdq_gemm_quantizes_sums(&j->p->transposed_gemm);
}

static void add_k_block(const job *j, size_t k_block, size_t panels) {
    bool floats = j->p->conv.gemm.kind == QDQ_GEMM_FLOATS;
    bool ends = ends_groups(j) && !j->codes.out && k_block + 1 == qdq_panels_k_blocks(&j->p->conv);
    if (!j->is_packed) j->p->form->pack(j, k_block, panels);
    take_columns(j, panels - 1, k_block);
    for (size_t row = 0, rows; row < j->block.rows; row += rows) {
        rows = group_rows(j, row);
        if (j->p->weights->scales)
            qdq_panels_decode(j->p, j->matrix, k_block, j->block.row + row, rows, j->w->decoded);
        for (size_t p = 0, count; p < panels; p += count) {
            count = floats && !ends ? qdq_panels_at_once(j, p, k_block, panels) : 1;
            qdq_panels_ahead ahead = part_of_next(j, k_block, row + rows, p, count, panels);
            add_tiles(j, p, count, k_block, row, rows, ahead);
            if (ends && (p % ENDED == ENDED - 1 || p == panels - 1))
                end_group(j, row, rows, p, p % ENDED + 1);
        }
    }
}

//---- Units ------------------------------------------------------------------

// Results whose channels are neighbours are transposed, in longer runs.
static void end_block(const job *j) {
    const qdq_gemm_block *block = &j->block;
    const qdq_gemm *g = &j->p->transposed_gemm;
    size_t most = g->y.column_stride == 1 && !g->phases ? LAST_ROWS : GROUP;
    for (size_t r = 0; r < block->rows; r += most) {
        qdq_gemm_block rows = *block;
        rows.row += r;
        rows.rows = block->rows - r < most ? block->rows - r : most;
        g->epilogue(g, j->tensors, &rows, j->w->sums + r * j->p->stride, j->p->stride);
    }
}

// Drops the scratch of earlier units, but not the panels that this unit uses again.
static void drop(const job *j) {
    bool poison = j->tensors->poison;
    qdq_scratch_drop(poison, j->w->sums, sizeof j->w->sums);
    qdq_scratch_drop(poison, j->w->bias, sizeof j->w->bias);
    qdq_scratch_drop(poison, j->w->decoded, sizeof j->w->decoded);
    qdq_scratch_drop(poison, j->w->scale, sizeof j->w->scale);
    qdq_scratch_drop(poison, j->w->few, sizeof j->w->few);
    if (j->is_packed) return;
    qdq_scratch_drop(poison, j->w->b, sizeof j->w->b);
    qdq_scratch_drop(poison, j->w->panels, sizeof j->w->panels);
}

static void run_block(job *j) {
    const panels_params *p = j->p;
    size_t panels = (j->block.columns + COLUMNS - 1) / COLUMNS;
    drop(j);
    if (qdq_panels_run_few(j)) return;
    bool planes = p->planes.at && !p->leaves_out;  // need no places of elements
    bool read = !j->is_packed && !planes && (p->linear || p->picks || !p->form->stages);
    for (size_t i = 0; read && i < panels; i++) {
        size_t left = j->block.columns - i * COLUMNS;
        set_panel(p, j->block.column + i * COLUMNS, left < COLUMNS ? left : COLUMNS,
                  &j->w->panels[i]);
    }
    bool results = qdq_panels_makes_results(j);
    if (results) qdq_panels_set_results(j);
    if (qdq_panels_makes_codes(j)) qdq_panels_set_codes(j);
    for (size_t k_block = 0; k_block < qdq_panels_k_blocks(&p->conv); k_block++)
        add_k_block(j, k_block, panels);
    if (p->leaves_out) qdq_panels_mend_zeros(j, panels);
    if (results && p->leaves_out) qdq_panels_finish(j, panels);
    if (!results && !ends_groups(j)) end_block(j);
}

// Returns how many of the units from `unit` to `end` are row blocks of the same positions that run
// as one.
static size_t units_together(const panels_params *p, size_t unit, size_t end) {
    size_t left = p->row_blocks - unit % p->row_blocks;
    if (left > end - unit) left = end - unit;
    return left < p->together ? left : p->together;
}

// Row blocks of the same positions follow each other, and share panels if they run on one thread:
// all of them if panels hold all k, else as many as fit.
void qdq_panels_run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
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
