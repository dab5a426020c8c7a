// SPDX-License-Identifier: Apache-2.0
// Computes units of Winograd's convolution: tiles of an image and a block of output channels.
#include <math.h>

#include "ops/conv/winograd/conv_winograd.h"
#include "runtime/base/scratch.h"
#include "runtime/numerics/fma.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    POINTS = QDQ_WINOGRAD_POINTS,
    PANEL = QDQ_GEMM_COLUMNS,
    NARROW = QDQ_GEMM_NARROW,
    TILES = QDQ_WINOGRAD_TILES,
    GROUP = QDQ_WINOGRAD_GROUP,
    STEP = 2,  // results of a tile in each dim
    GAP = 16,  // floats between points: the same place of all points would be one set of a cache
    POINT = QDQ_WINOGRAD_AREA + GAP,
    LINE = STEP * TILES + QDQ_WINOGRAD_ROOM,  // a row of results of all tiles
};

typedef struct workspace {
    _Alignas(64) float points[POINTS * POINT];
    _Alignas(64) float sums[POINTS * POINT];
    _Alignas(64) float results[GROUP * STEP * LINE];
} workspace;

typedef struct job {
    const qdq_winograd *w;
    const qdq_tensors *tensors;
    size_t at;  // in x: of the plane, in the first channel of the group
    size_t batch, group, plane, row_block;
    size_t rows;                 // output channels
    size_t tile_row, tile_rows;  // of the unit
    size_t tile_column, tile_columns;
    bool is_packed;  // the unit before had the same points
    workspace *space;
} job;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }
static size_t panels(const job *j) { return j->w->columns / PANEL; }
static size_t panel_floats(const job *j) { return j->w->k * PANEL; }
static size_t point_floats(const job *j) { return panels(j) * panel_floats(j) + GAP; }
static size_t sum_floats(const job *j) { return j->w->block_rows * j->w->columns + GAP; }
static size_t tile_count(const job *j) { return j->tile_rows * j->tile_columns; }

//---- Points -----------------------------------------------------------------

static int16_t zero_of(const job *j) {
    const qdq_gemm_along *zero = &j->w->conv.gemm.a_zero;
    if (!j->w->of_codes || zero->port == SIZE_MAX) return 0;
    return (int16_t)qdq_gemm_integer_at(zero->dtype, qdq_gemm_numbers(zero, j->tensors), 0);
}

// Transforms a k block of all tiles. A run is the tiles of a row that lie in one panel.
static void set_points(const job *j, size_t k_block) {
    const qdq_winograd *w = j->w;
    const qdq_conv *c = &w->conv;
    const void *x = j->tensors->x[c->gemm.a_port];
    size_t at = j->at + k_block * w->k * qdq_winograd_step(w) * c->channel_stride;
    int16_t zero = zero_of(j);
    for (size_t first = 0, n; first < tile_count(j); first += n) {
        size_t row = first / j->tile_columns, column = first % j->tile_columns;
        n = least(j->tile_columns - column, PANEL - first % PANEL);
        float *panel = j->space->points + first / PANEL * panel_floats(j);
        w->kernels->begin(&(qdq_winograd_tiles){
            .x = w->of_codes ? x : (const float *)x + at,
            .size = w->x_count,
            .at = at,
            .zero = zero,
            .is_signed = c->gemm.a_dtype == QDQ_INT8,
            .channels = qdq_winograd_inputs(w, k_block),
            .channel_stride = c->channel_stride,
            .row_stride = c->x_stride[1],
            .rows = c->in[1],
            .columns = c->in[LAST],
            .row = (ptrdiff_t)((j->tile_row + row) * STEP) - (ptrdiff_t)c->pad[1],
            .column = (ptrdiff_t)((j->tile_column + column) * STEP) - (ptrdiff_t)c->pad[LAST],
            .n = n,
            .room = PANEL - first % PANEL,
            .points = panel + first % PANEL,
            .point_stride = point_floats(j),
        });
    }
}

// Returns the weights that are read after point p, if they lie in separate slots.
static const float *rows_after(const job *j, size_t k_block, size_t p) {
    const qdq_winograd *w = j->w;
    if ((p + 1) % w->ways) return NULL;
    if (p + 1 == POINTS) k_block++;
    if (k_block == w->k_blocks) return NULL;
    return w->rows + qdq_winograd_row(w, j->group, j->row_block, k_block, (p + 1) % POINTS, 0);
}

// Adds the products of words of codes, likewise.
static void add_codes(const job *j, size_t k_block, const qdq_gemm_results *of) {
    static const int32_t zeros[PANEL];
    enum { LINE_FLOATS = 16 };
    const float *ahead = of->ahead;
    for (size_t i = 0; i < of->ahead_bytes / sizeof *ahead; i += LINE_FLOATS)
        __builtin_prefetch(ahead + i, 0, 2);
    j->w->conv.gemm.kernel->part[QDQ_GEMM_INTEGERS](&(qdq_gemm_part){
        .a = of->a,
        .b = of->b,
        .start = k_block ? NULL : zeros,
        .c = of->y,
        .c_stride = of->y_stride,
        .rows = of->rows,
        .steps = of->steps,
        .half = of->columns <= PANEL / 2,
        .columns = of->columns,
    });
}

// Adds the products of a k block to the sums of a point, of a panel of tiles.
static void add_panel(const job *j, size_t k_block, size_t p, size_t panel) {
    const qdq_winograd *w = j->w;
    float *sums = j->space->sums + p * sum_floats(j) + panel * PANEL;
    size_t columns = least(tile_count(j) - panel * PANEL, PANEL);
    qdq_gemm_results part = {
        .a = w->rows + qdq_winograd_row(w, j->group, j->row_block, k_block, p, 0),
        .b = j->space->points + p * point_floats(j) + panel * panel_floats(j),
        .b_step = PANEL,
        .rows = j->rows,
        .columns = (columns + NARROW - 1) / NARROW * NARROW,
        .steps = parts(qdq_winograd_inputs(w, k_block), qdq_winograd_step(w)),
        .before = k_block ? sums : NULL,
        .before_stride = w->columns,
        .y = sums,
        .y_stride = w->columns,
    };
    const float *ahead = rows_after(j, k_block, p);
    size_t floats = j->rows * QDQ_WINOGRAD_DEPTH / panels(j);
    if (ahead) part.ahead = ahead + panel * floats, part.ahead_bytes = floats * sizeof *ahead;
    if (w->of_codes)
        add_codes(j, k_block, &part);
    else
        w->conv.gemm.kernel->results(&part);
}

static void add_k_block(const job *j, size_t k_block) {
    if (!j->is_packed) set_points(j, k_block);
    for (size_t p = 0; p < POINTS; p++)
        for (size_t i = 0; i * PANEL < tile_count(j); i++) add_panel(j, k_block, p, i);
}

//---- Results that are not finite ----------------------------------------------

// Returns the result of an output channel at a position, as a chain of fma.
static float chain_of(const job *j, size_t channel, const size_t at[DIMS]) {
    const qdq_conv *c = &j->w->conv;
    const qdq_gemm *g = &c->gemm;
    const float *weights = j->tensors->x[g->weights.port];
    const float *x0 = (const float *)j->tensors->x[g->a_port] + j->at;
    float sum = 0;
    for (size_t k = 0; k < g->depth; k++) {
        size_t tap = k % c->taps;
        size_t row = at[1] + tap / c->kernel[LAST] - c->pad[1];
        size_t column = at[LAST] + tap % c->kernel[LAST] - c->pad[LAST];
        if (row >= c->in[1] || column >= c->in[LAST]) continue;
        float x = x0[k / c->taps * c->channel_stride + row * c->x_stride[1] + column];
        sum = qdq_fmaf(x, weights[qdq_gemm_element(&g->weights, j->group, k, channel)], sum);
    }
    return sum;
}

// Recomputes the results of an output channel of the block that are not finite: upper and lower
// results of all tiles.
static void mend(const job *j, size_t row, float *upper, float *lower) {
    const qdq_winograd *w = j->w;
    size_t channel = j->row_block * w->block_rows + row;
    for (size_t i = 0; i < tile_count(j) * STEP * STEP; i++) {
        size_t tile = i / STEP % tile_count(j), down = i / STEP / tile_count(j);
        float *y = (down ? lower : upper) + tile * STEP + i % STEP;
        size_t at[DIMS] = {j->plane, (j->tile_row + tile / j->tile_columns) * STEP + down,
                           (j->tile_column + tile % j->tile_columns) * STEP + i % STEP};
        if (!isfinite(*y) && at[1] < w->conv.out[1] && at[LAST] < w->conv.out[LAST])
            *y = chain_of(j, channel, at);
    }
}

//---- Results ------------------------------------------------------------------

// Positions of the unit in a row of the image, and how many rows.
static size_t width_of(const job *j) {
    return least(j->tile_columns * STEP, j->w->conv.out[LAST] - j->tile_column * STEP);
}

static size_t height_of(const job *j) {
    return least(j->tile_rows * STEP, j->w->conv.out[1] - j->tile_row * STEP);
}

// Computes the results of an output channel: the upper and the lower results of all tiles.
static void set_lines(const job *j, size_t row, float *upper, float *lower) {
    const float *sums = j->space->sums + row * j->w->columns;
    if (!j->w->kernels->end(&(qdq_winograd_sums){sums, sum_floats(j), tile_count(j), upper, lower}))
        mend(j, row, upper, lower);
}

// Makes the results of an output channel, in tile order, and copies them to `rows` in the order of
// positions.
static void set_rows(const job *j, size_t row, float *rows) {
    float lines[STEP][LINE];
    size_t width = width_of(j), height = height_of(j);
    set_lines(j, row, lines[0], lines[1]);
    for (size_t r = 0; r < height; r++)
        memcpy(rows + r * width, lines[r % STEP] + r / STEP * j->tile_columns * STEP,
               width * sizeof *rows);
}

// Hands on `height` rows of positions of some output channels, from row r of the unit on.
static void put_rows(const job *j, size_t row, size_t count, size_t r, size_t height, float *rows,
                     size_t stride) {
    const qdq_winograd *w = j->w;
    const qdq_conv *c = &w->conv;
    size_t line = j->plane * c->out[1] + j->tile_row * STEP + r;
    qdq_gemm_block block = {
        .batch = j->batch,
        .row = j->row_block * w->block_rows + row,
        .rows = count,
        .column = line * c->out[LAST] + j->tile_column * STEP,
        .columns = height * width_of(j),
    };
    c->gemm.epilogue(&w->transposed_gemm, j->tensors, &block, rows, stride);
}

// Computes the results of some output channels. The results of one row of tiles are two rows of
// positions, of the whole image or a part; the results of several rows of tiles are neighbours in
// the image.
static void end_group(const job *j, size_t row, size_t count) {
    float *upper = j->space->results, *lower = upper + GROUP * LINE;
    size_t height = height_of(j);
    for (size_t i = 0; i < count; i++)
        if (j->tile_rows == 1)
            set_lines(j, row + i, upper + i * LINE, lower + i * LINE);
        else
            set_rows(j, row + i, upper + i * STEP * LINE);
    if (j->tile_rows > 1) {
        put_rows(j, row, count, 0, height, upper, STEP * LINE);
        return;
    }
    put_rows(j, row, count, 0, 1, upper, LINE);
    if (height > 1) put_rows(j, row, count, 1, 1, lower, LINE);
}

//---- Units ------------------------------------------------------------------

static void drop(const job *j) {
    bool poison = j->tensors->poison;
    qdq_scratch_drop(poison, j->space->sums, sizeof j->space->sums);
    qdq_scratch_drop(poison, j->space->results, sizeof j->space->results);
    if (!j->is_packed) qdq_scratch_drop(poison, j->space->points, sizeof j->space->points);
}

static void run_unit(const job *j) {
    drop(j);
    for (size_t k_block = 0; k_block < j->w->k_blocks; k_block++) add_k_block(j, k_block);
    for (size_t row = 0, count; row < j->rows; row += count) {
        count = least(j->rows - row, GROUP);
        end_group(j, row, count);
    }
}

// Row blocks of the same tiles follow each other and share points that hold all k.
void qdq_winograd_run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_winograd *w = params;
    const qdq_conv *c = &w->conv;
    const qdq_gemm *g = &c->gemm;
    workspace space;
    for (size_t unit = begin; unit < end; unit++) {
        job j = {.w = w, .tensors = tensors, .space = &space};
        size_t rest = unit / w->row_blocks;
        j.row_block = unit % w->row_blocks;
        j.is_packed = j.row_block && unit > begin && w->k_blocks == 1;
        j.rows = least(w->block_rows, c->group_outputs - j.row_block * w->block_rows);
        j.tile_column = rest % w->column_units * w->unit_columns, rest /= w->column_units;
        j.tile_row = rest % w->row_units * w->unit_rows, rest /= w->row_units;
        j.tile_columns = least(w->unit_columns, w->tile_columns - j.tile_column);
        j.tile_rows = least(w->unit_rows, w->tile_rows - j.tile_row);
        j.plane = rest % c->out[0], j.batch = rest / c->out[0];
        j.group = qdq_gemm_at(g, g->batches.b, j.batch);
        j.at = qdq_gemm_at(g, g->batches.a, j.batch) + j.plane * c->x_stride[0];
        run_unit(&j);
    }
}
