// SPDX-License-Identifier: Apache-2.0
// Runs a product block by block: rows of A, panels of B, sums.
//
// A unit is a block of 48 rows (the last up to 60) and 256 columns; up to three blocks of the same
// columns are joined if B is decoded, or packed for each block again. The rows of A are packed once
// for all columns, in k blocks of 512 bytes that stay in L1. B is in panels of 32 columns, packed
// when the graph is compiled if B is known by then; else each unit packs them, or takes the panels
// of the unit before. For every kind of element (qdq_gemm_kind: float32, pairs of bfloat16, pairs
// of int16, groups of four bytes) one iteration of a kernel takes four bytes of each row and
// column, so kinds differ in the multiply-add only (gemm_vectors.inc.h, gemm_tiles.inc.h). Columns
// are the inner loop unless B is larger than the cache. An epilogue turns the sums into y and hands
// rows to the links; without links, tiles of floats store their results into y
// (results/gemm_results.c). AMX multiplies bytes in tiles of 16 rows and 64 k; the sums are exact,
// so the result is the same.
#include "ops/gemm/gemm_ahead.h"
#include "ops/gemm/gemm_read.h"
#include "ops/gemm/pairs/pair_sums.h"
#include "ops/gemm/results/gemm_results.h"
#include "ops/gemm/weight_codes/gemm_fixed.h"
#include "ops/operand.h"

enum {
    ROWS = QDQ_GEMM_ROWS,
    COLUMNS = QDQ_GEMM_COLUMNS,
    MOST_ROWS = QDQ_GEMM_MOST_ROWS,
    JOINED_ROWS = QDQ_GEMM_JOINED_ROWS,
    BLOCK_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS,
};

//---- A block ----------------------------------------------------------------

// Rows of sums are not a power of two apart, which would put them in few lines of the cache.
enum {
    K_BLOCKS = QDQ_GEMM_K_BLOCKS,
    MOST_K_BLOCKS = QDQ_GEMM_MOST_K_BLOCKS,
    K_BLOCK_BYTES = MOST_ROWS * QDQ_GEMM_ROW_BYTES,
    SUMS_STRIDE = BLOCK_COLUMNS + COLUMNS,
    PANELS = BLOCK_COLUMNS / COLUMNS,
    PANEL_BYTES = QDQ_GEMM_ROW_BYTES * COLUMNS,  // of a k block
    SUM_ROW_BYTES = SUMS_STRIDE * (int)sizeof(int32_t),
    KEEPS = K_BLOCKS * (MOST_ROWS / ROWS + 1),  // tiles of the k blocks that `a` has room for
};

// The memory of a block: rows of A (with all of their depth if it fits, then for all columns), a
// panel of B or all of its columns, sums. Joined blocks have one panel, and sums follow it.
typedef struct workspace {
    _Alignas(64) char a[K_BLOCKS * K_BLOCK_BYTES];
    _Alignas(64) char b[PANELS * PANEL_BYTES + MOST_ROWS * SUM_ROW_BYTES];
    _Alignas(64) float chunk[JOINED_ROWS * COLUMNS];  // sums of a chunk of k
    uint16_t keep[KEEPS][QDQ_GEMM_KEEP];
    unsigned skips[MOST_K_BLOCKS];
    qdq_gemm_block rows;  // the rows that `a` and `fixed` hold; none at first
    // The panels that `b` holds, of a matrix from a column on, if blocks keep panels.
    size_t panels, matrix, column;
    qdq_gemm_fixed fixed;
    qdq_pair_zeros zeros;
} workspace;
_Static_assert(PANEL_BYTES + JOINED_ROWS * SUM_ROW_BYTES <= sizeof(((workspace *)NULL)->b), "room");

typedef struct job {
    const qdq_gemm *g;
    const qdq_tensors *tensors;
    const qdq_gemm_block *block;
    qdq_gemm_source from;
    size_t matrix;
    workspace *w;
    int32_t *sums;
    qdq_gemm_results results;  // of the block, unless an epilogue computes them
    bool last_makes_results;
    const qdq_gemm_block *next;  // the block after this one; no rows: none
    size_t panels, k_blocks;     // of the block
    size_t together;             // k blocks of a panel that are added one after the other
} job;

// True if the full depth of a block fits.
static bool fits(const qdq_gemm *g, const qdq_gemm_block *block) {
    if (qdq_gemm_k_blocks(g) * block->rows > K_BLOCKS * MOST_ROWS) return false;
    return qdq_gemm_k_blocks(g) <= K_BLOCKS ||
           (qdq_gemm_k_blocks(g) <= MOST_K_BLOCKS && g->pack_a == qdq_gemm_pack_rows);
}

static size_t b_bytes(const qdq_gemm *g) {
    return qdq_gemm_packs_again(g) ? PANEL_BYTES : PANELS * PANEL_BYTES;
}

static size_t tiles(const job *j) { return (j->block->rows + ROWS - 1) / ROWS; }

static uint16_t (*keep_of(const job *j, size_t at))[QDQ_GEMM_KEEP] {
    return j->w->keep + at * tiles(j);
}

static char *k_block_of(const job *j, size_t at) {
    return j->w->a + at * j->block->rows * QDQ_GEMM_ROW_BYTES;
}

// Marks `a` as holding the rows of no block.
static void forget_rows(const qdq_tensors *tensors, workspace *w) {
    w->rows = (qdq_gemm_block){0};
    qdq_scratch_drop(tensors->poison, w->a, sizeof w->a);
    qdq_scratch_drop(tensors->poison, w->keep, sizeof w->keep);
    qdq_scratch_drop(tensors->poison, w->skips, sizeof w->skips);
    qdq_scratch_drop(tensors->poison, &w->fixed, sizeof w->fixed);
}

// Packs a k block of the rows in place number `at`.
static void pack_a(const job *j, size_t k_block, size_t at) {
    const qdq_gemm *g = j->g;
    workspace *w = j->w;
    bool skips = qdq_gemm_keeps(g->kind) && at < K_BLOCKS && !g->order.sums;
    qdq_scratch_drop(j->tensors->poison, k_block_of(j, at), j->block->rows * QDQ_GEMM_ROW_BYTES);
    if (skips) memset(keep_of(j, at), 0xFF, tiles(j) * sizeof *w->keep);
    w->skips[at] =
        g->pack_a(g, j->tensors, j->block, qdq_gemm_k_begin(g, k_block),
                  qdq_gemm_k_count(g, k_block), k_block_of(j, at), skips ? keep_of(j, at) : NULL);
    if (qdq_gemm_saturates(g->kind))
        qdq_pair_zeros_add_rows(g, j->block->rows, qdq_gemm_k_count(g, k_block), k_block == 0,
                                k_block_of(j, at), &w->zeros);
}

// True if the panels of a block stay for the next block of its columns: if B is packed by blocks
// and its depth is one k block.
static bool keeps_panels(const qdq_gemm *g) {
    return !g->packed && !g->weight_codes && !qdq_gemm_saturates(g->kind) &&
           qdq_gemm_k_blocks(g) == 1;
}

// Forgets panels of other columns.
static void begin_panels(const job *j) {
    workspace *w = j->w;
    if (keeps_panels(j->g) && w->matrix == j->matrix && w->column == j->block->column) return;
    w->panels = 0, w->matrix = j->matrix, w->column = j->block->column;
    qdq_scratch_drop(j->tensors->poison, w->b, b_bytes(j->g));
}

// Returns panel p of a block that keeps its panels.
static const char *kept_panel(const job *j, size_t p) {
    const qdq_gemm *g = j->g;
    char *panel = j->w->b + p * PANEL_BYTES;
    if (p < j->w->panels) return panel;
    qdq_gemm_pack(g, &j->from, j->block->column + p * COLUMNS, 0, g->depth, panel);
    j->w->panels = p + 1;
    return panel;
}

static const char *panel_part(const job *j, size_t p, size_t k_block) {
    const qdq_gemm *g = j->g;
    size_t column = j->block->column + p * COLUMNS, k = qdq_gemm_k_begin(g, k_block);
    if (g->packed)
        return (const char *)g->packed +
               (j->matrix * qdq_gemm_panels(g) + column / COLUMNS) * qdq_gemm_panel_bytes(g) +
               k * COLUMNS * qdq_gemm_size(g->kind);
    if (keeps_panels(g)) return kept_panel(j, p);
    qdq_scratch_drop(j->tensors->poison, j->w->b, b_bytes(g));
    if (g->weight_codes)
        qdq_gemm_decode(g, j->matrix * qdq_gemm_panels(g) + column / COLUMNS, k,
                        qdq_gemm_k_count(g, k_block), j->w->b);
    else if (qdq_gemm_saturates(g->kind))
        qdq_pair_zeros_pack(g, &j->from, column, k, qdq_gemm_k_count(g, k_block), j->w->b,
                            j->w->zeros.columns + p * COLUMNS);
    else
        qdq_gemm_pack(g, &j->from, column, k, qdq_gemm_k_count(g, k_block), j->w->b);
    return j->w->b;
}

// Returns the sums that the columns of a panel start from.
static const void *first_sums(const job *j, size_t p) {
    static const int32_t zeros[COLUMNS];
    const qdq_gemm *g = j->g;
    if (!g->first_sums) return zeros;
    return g->first_sums +
           (j->matrix * qdq_gemm_panels(g) + j->block->column / COLUMNS + p) * COLUMNS;
}

// Returns the packed floats that the part after this one reads, and sets their bytes. NULL: B is
// not packed, or the block ends.
static const char *next_floats(const job *j, size_t p, size_t k_block, size_t *bytes) {
    const qdq_gemm *g = j->g;
    size_t first = k_block - k_block % j->together;
    *bytes = 0;
    if (!g->packed || g->kind != QDQ_GEMM_FLOATS) return NULL;
    if (++k_block == first + j->together || k_block == j->k_blocks) k_block = first, p++;
    if (p == j->panels) k_block += j->together, p = 0;
    if (k_block >= j->k_blocks) return NULL;
    *bytes = PANEL_BYTES;
    return panel_part(j, p, k_block);
}

static qdq_gemm_part part_of(const job *j, size_t p, size_t k_block, size_t at) {
    const qdq_gemm *g = j->g;
    size_t bytes;
    const char *ahead = next_floats(j, p, k_block, &bytes);
    return (qdq_gemm_part){
        .a = k_block_of(j, at),
        .b = panel_part(j, p, k_block),
        .start = k_block ? NULL : first_sums(j, p),
        .c = j->sums + p * COLUMNS,
        .c_stride = SUMS_STRIDE,
        .rows = j->block->rows,
        .steps = qdq_gemm_steps(g->kind, qdq_gemm_k_count(g, k_block)),
        .ahead = ahead,
        .ahead_bytes = bytes,
    };
}

// The same in an order of ONNX Runtime. Every chunk but the first has separate sums, which are
// added once it is complete; so has the first chunk if the sums begin with the bias.
static void add_panel_in_order(const job *j, size_t p, qdq_gemm_part *part, size_t k_block) {
    const qdq_gemm *g = j->g;
    if (g->order.bias_first) part->start = NULL;
    if (g->order.sums == QDQ_SUM_FOURS) {
        g->orders->fours(part);
        return;
    }
    size_t chunk = qdq_gemm_chunk_blocks(g), in_chunk = k_block % chunk;
    bool apart = g->order.bias_first || k_block >= chunk;
    bool last = in_chunk == chunk - 1 || k_block == qdq_gemm_k_blocks(g) - 1;
    if (apart) part->c = j->w->chunk, part->c_stride = COLUMNS;
    if (!in_chunk) part->start = first_sums(j, p);
    g->kernel->part[g->kind](part);
    if (apart && last)
        g->orders->add((float *)(void *)j->sums + p * COLUMNS, SUMS_STRIDE, j->w->chunk,
                       part->rows);
}

// The same for a single row, whose weight codes become floats in registers.
static void add_codes(const job *j, size_t p, size_t k_block, size_t at) {
    const qdq_gemm *g = j->g;
    size_t panel = j->matrix * qdq_gemm_panels(g) + j->block->column / COLUMNS + p;
    float *sums = (float *)(void *)j->sums + p * COLUMNS;
    if (!k_block && !g->order.bias_first) memcpy(sums, first_sums(j, p), COLUMNS * sizeof *sums);
    qdq_gemm_multiply_codes(g, panel, qdq_gemm_k_begin(g, k_block), qdq_gemm_k_count(g, k_block),
                            (const float *)(const void *)k_block_of(j, at), sums);
}

// Multiplies the last k block of A, in place number `at`, by a panel, and stores the results.
static void add_results(const job *j, size_t p, size_t k_block, size_t at) {
    qdq_gemm_part part = part_of(j, p, k_block, at);
    qdq_gemm_store_results(j->g, j->tensors, &j->results, j->block, p, k_block, &part);
}

// Stores the results of sums that are complete.
static void finish_results(const job *j, size_t panels) {
    qdq_gemm_part part = {.a = j->w->a, .b = j->w->b, .c_stride = SUMS_STRIDE};
    for (size_t p = 0; p < panels; p++) {
        part.c = j->sums + p * COLUMNS;
        qdq_gemm_store_results(j->g, j->tensors, &j->results, j->block, p, qdq_gemm_k_blocks(j->g),
                               &part);
    }
}

// Multiplies the k block of A in place number `at` by the same k of a panel.
static void add_panel(const job *j, size_t p, size_t k_block, size_t at) {
    const qdq_gemm *g = j->g;
    workspace *w = j->w;
    unsigned skips = w->skips[at];
    if (j->block->rows == 1 && !skips && qdq_gemm_multiplies_codes(g)) {
        add_codes(j, p, k_block, at);
        return;
    }
    if (j->last_makes_results && k_block + 1 == qdq_gemm_k_blocks(g)) {
        add_results(j, p, k_block, at);
        return;
    }
    qdq_gemm_part part = part_of(j, p, k_block, at);
    if (g->order.sums) {
        add_panel_in_order(j, p, &part, k_block);
        return;
    }
    if (!skips) {
        g->kernel->part[g->kind](&part);
        return;
    }
    for (size_t t = 0; t * ROWS < j->block->rows; t++) {
        size_t left = j->block->rows - t * ROWS;
        part.a = k_block_of(j, at) + t * ROWS * QDQ_GEMM_ROW_BYTES;
        part.c = j->sums + t * ROWS * SUMS_STRIDE + p * COLUMNS;
        part.rows = left < ROWS ? left : ROWS;
        part.keep = skips >> t & 1 ? keep_of(j, at)[t] : NULL;
        g->kernel->part[g->kind](&part);
    }
}

// Adds all products in eights. The lanes of a panel have no room in the workspace.
static void add_eights(const job *j, size_t panels) {
    enum { ROW = QDQ_GEMM_EIGHTS * COLUMNS };
    const qdq_gemm *g = j->g;
    float lanes[MOST_ROWS * ROW], *sums = (float *)(void *)j->sums;
    for (size_t p = 0; p < panels; p++) {
        memset(lanes, 0, j->block->rows * ROW * sizeof *lanes);
        for (size_t c = 0; c < qdq_gemm_k_blocks(g); c++) {
            pack_a(j, c, 0);
            qdq_gemm_part part = part_of(j, p, c, 0);
            part.c = lanes, part.c_stride = ROW;
            g->orders->eights(&part);
        }
        for (size_t r = 0; r < j->block->rows; r++)
            for (size_t i = 0; i < COLUMNS; i++) {
                size_t number = j->block->column + p * COLUMNS + i;
                if (g->order.by_rows) number = j->block->row + r;
                float sum =
                    qdq_gemm_fold_eights(lanes + r * ROW + i, COLUMNS, number, g->order.count);
                float *to = &sums[r * SUMS_STRIDE + p * COLUMNS + i];
                *to = g->order.bias_first ? *to + sum : sum;
            }
    }
}

static bool same_rows(const qdq_gemm_block *a, const qdq_gemm_block *b) {
    return a->batch == b->batch && a->row == b->row && a->rows == b->rows;
}

// Adds all products of a block whose chunks do not fit: each panel packs its k blocks.
static void add_long_chunks(const job *j, size_t panels) {
    for (size_t p = 0; p < panels; p++)
        for (size_t c = 0; c < qdq_gemm_k_blocks(j->g); c++) {
            pack_a(j, c, 0);
            add_panel(j, p, c, 0);
        }
}

// Prefetches a share of the rows that are packed after k block `end`: of the next k blocks, or the
// first of the next block.
static void ask_for_rows(const job *j, size_t end, size_t share, size_t shares) {
    const qdq_gemm *g = j->g;
    const qdq_gemm_block *block = end < j->k_blocks ? j->block : j->next;
    size_t first = end < j->k_blocks ? end : 0, last = first + j->together;
    if (!block->rows || (block == j->next && same_rows(&j->w->rows, block))) return;
    size_t k = qdq_gemm_k_begin(g, first);
    size_t k_end = last < j->k_blocks ? qdq_gemm_k_begin(g, last) : g->depth;
    qdq_gemm_ask_for_rows(g, j->tensors, block, k, k_end - k, share, shares);
}

// Adds all products of a block. If there is no room for its full depth, the first places hold one k
// block after the other, or the k blocks of a chunk.
static void add_k_blocks(const job *j, size_t panels) {
    workspace *w = j->w;
    bool deep = fits(j->g, j->block);
    if (j->together * j->block->rows > K_BLOCKS * MOST_ROWS) {
        add_long_chunks(j, panels);
        return;
    }
    for (size_t c = 0, n; c < j->k_blocks; c += n) {
        n = j->k_blocks - c < j->together ? j->k_blocks - c : j->together;
        for (size_t i = 0; i < n && !w->rows.rows; i++) pack_a(j, c + i, i);
        if (deep) w->rows = *j->block;
        for (size_t p = 0; p < panels; p++)
            for (size_t i = 0; i < n; i++) {
                ask_for_rows(j, c + n, p * n + i, panels * n);
                add_panel(j, p, c + i, i);
            }
    }
}

// The same for a row in fixed point, as many k blocks at a time as fit.
static void add_fixed(const job *j, size_t panels) {
    const qdq_gemm *g = j->g;
    workspace *w = j->w;
    size_t all = qdq_gemm_k_blocks(g),
           first = j->matrix * qdq_gemm_panels(g) + j->block->column / COLUMNS;
    float *sums = (float *)(void *)j->sums;
    const float *a = (const float *)(const void *)w->a;
    for (size_t p = 0; p < panels; p++)
        memcpy(sums + p * COLUMNS, first_sums(j, p), COLUMNS * sizeof *sums);
    for (size_t c = 0, n; c < all; c += n) {
        n = all - c < MOST_K_BLOCKS ? all - c : MOST_K_BLOCKS;
        size_t k = c * qdq_gemm_depth(g), end = g->depth;
        if (c + n < all) end = (c + n) * qdq_gemm_depth(g);
        if (!w->rows.rows || n < all) {
            for (size_t i = 0; i < n; i++) pack_a(j, c + i, i);
            qdq_gemm_fix(g, k, end - k, a, &w->fixed);
        }
        for (size_t p = 0; p < panels; p++)
            qdq_gemm_multiply_fixed(g, first + p, k, end - k, a, &w->fixed, sums + p * COLUMNS);
    }
    w->rows = *j->block;
}

// Adds the products of a block in the order of the sums.
static void add_products(const job *j, size_t panels) {
    if (j->g->order.sums == QDQ_SUM_EIGHTS)
        add_eights(j, panels);
    else if (j->g->order.sums == QDQ_SUM_FIXED)
        add_fixed(j, panels);
    else
        add_k_blocks(j, panels);
}

// Makes y of the sums of a block, or of the blocks that it was joined from.
static void finish_rows(const job *j) {
    qdq_gemm_block part = *j->block;
    size_t end = part.row + part.rows;
    for (; part.row < end; part.row += part.rows) {
        part.rows = end - part.row <= MOST_ROWS ? end - part.row : QDQ_GEMM_BLOCK_ROWS;
        j->g->epilogue(j->g, j->tensors, &part, j->sums + (part.row - j->block->row) * SUMS_STRIDE,
                       SUMS_STRIDE);
    }
}

static void run_block(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                      const qdq_gemm_block *next, workspace *w) {
    float bias[JOINED_ROWS + COLUMNS];
    size_t count = (block->columns + COLUMNS - 1) / COLUMNS;
    bool has_zeros = g->b_zero.port != SIZE_MAX;
    size_t matrix = qdq_gemm_at(g, g->batches.b, block->batch);
    job j = {.g = g, .tensors = tensors, .block = block, .next = next, .matrix = matrix, .w = w};
    j.sums = (int32_t *)(void *)(w->b + b_bytes(g));
    j.panels = count, j.k_blocks = qdq_gemm_k_blocks(g);
    j.together = fits(g, block) ? j.k_blocks : qdq_gemm_chunk_blocks(g);
    if (!j.together) j.together = 1;
    j.from = (qdq_gemm_source){tensors->x[g->weights.port],
                               has_zeros ? qdq_gemm_numbers(&g->b_zero, tensors) : NULL,
                               matrix,
                               matrix * g->weights.zero_stride,
                               0,
                               qdq_operand_tiling(tensors, g->weights.port) ? tensors : NULL};
    qdq_scratch_drop(tensors->poison, j.sums, block->rows * SUM_ROW_BYTES);
    if (!same_rows(&w->rows, block)) forget_rows(tensors, w);
    begin_panels(&j);
    if (g->order.bias_first)
        qdq_gemm_begin_with_bias(g, tensors, block, (float *)(void *)j.sums, SUMS_STRIDE);
    if (qdq_gemm_stores_results(g, tensors)) {
        j.results = qdq_gemm_results_of_block(g, tensors, block, bias);
        j.last_makes_results = qdq_gemm_last_makes_results(g);
        add_products(&j, count);
        if (!j.last_makes_results) finish_results(&j, count);
        return;
    }
    add_products(&j, count);
    if (qdq_gemm_saturates(g->kind))
        qdq_pair_zeros_remove(g, tensors, block, &w->zeros, j.sums, SUMS_STRIDE);
    finish_rows(&j);
}

//---- Units ------------------------------------------------------------------

// Returns the most rows of joined blocks whose k blocks of a chunk fit; 0: blocks are not joined.
static size_t most_joined(const qdq_gemm *g) {
    bool in_turn = g->columns_outer || qdq_gemm_column_blocks(g) == 1;
    if (!qdq_gemm_packs_again(g) || !in_turn || g->order.sums == QDQ_SUM_EIGHTS) return 0;
    size_t room = K_BLOCKS * MOST_ROWS / (g->order.chunk ? qdq_gemm_chunk_blocks(g) : 1);
    return room < JOINED_ROWS ? room : JOINED_ROWS;
}

// Adds the rows of the next block if it lies above or below in the same columns.
static bool join(qdq_gemm_block *block, qdq_gemm_block next, size_t most) {
    bool above = next.row + next.rows == block->row, below = block->row + block->rows == next.row;
    if (next.batch != block->batch || next.column != block->column || (!above && !below) ||
        block->rows + next.rows > most)
        return false;
    if (above) block->row = next.row;
    block->rows += next.rows;
    return true;
}

void qdq_gemm_run_units(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_gemm *g = params;
    bool enters = g->kind == QDQ_GEMM_BYTES && g->kernel->enter;
    workspace w;
    forget_rows(tensors, &w);
    w.panels = w.matrix = w.column = 0;
    if (enters) g->kernel->enter();
    size_t most = most_joined(g);
    for (size_t unit = begin; unit < end;) {
        qdq_gemm_block block = qdq_gemm_block_of(g, unit++);
        while (unit < end && join(&block, qdq_gemm_block_of(g, unit), most)) unit++;
        qdq_gemm_block next = {0};
        if (unit < end) next = qdq_gemm_block_of(g, unit);
        run_block(g, tensors, &block, &next, &w);
    }
    if (enters) g->kernel->leave();
}
