// SPDX-License-Identifier: Apache-2.0
// Tiles of floats whose sums become results in registers, included by the file of an instruction
// set.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_results_fn QDQ_ISA_NAME(gemm_results);

// The operands of a tile and of its results. Strides of operands that are NULL are not read.
typedef struct results_tile {
    const int32_t *a, *b;
    size_t b_step;
    const size_t *b_at;  // with b_step 0, or NULL
    ptrdiff_t b_ahead;   // elements from B to the address that a step prefetches
    bool first;          // of the tiles that read these columns of B
    size_t steps;
    const float *before, *bias, *addend;
    size_t before_stride, addend_stride;
    bool adds;
    const qdq_bounds *bounds;
    float *y;
    size_t y_stride;
} results_tile;

// Prefetches a row of a tile. The tile to the left asks for the line that the row begins in, unless
// the row also ends in it.
static inline void ask_for_row(const void *x, size_t columns) {
    enum { LINE = 16 };
    const float *row = x;
    UNROLLED for (size_t j = 0; j < columns; j += LINE)
        __builtin_prefetch(row + (columns - j < LINE ? columns : j + LINE) - 1);
}

// Prefetches the addend and the results of a tile, which may lie in no cache when its products
// begin.
static inline void ask_for_results(const results_tile *t, size_t row, size_t columns) {
    if (t->addend) ask_for_row(t->addend + row * t->addend_stride, columns);
    ask_for_row(t->y + row * t->y_stride, columns);
}

// With four steps at once gcc has too few registers.
enum { RESULTS_AT_ONCE = STEPS_AT_ONCE < 3 ? STEPS_AT_ONCE : 3 };

// Tiles of many rows ask for a row of results in each step: all at once would keep loads of the
// first steps waiting.
enum { ASKS_BY_STEP = STEPS_AT_ONCE == 1 };

// Runs over the R x VECS vectors of a tile.
#define EACH(R) UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++)

// Groups of steps, which prefetch their columns of B for later steps if `asks`.
#define RESULTS_GROUPS(TYPE, R, WIDTH, B_OF, B_STEP, asks)             \
    for (; left >= RESULTS_AT_ONCE; left -= RESULTS_AT_ONCE) {         \
        UNROLLED for (size_t i = 0; i < RESULTS_AT_ONCE; i++) {        \
            size_t k = (size_t)(a - t->a) + i;                         \
            if (asks) ask_for_row(B_OF(i) + b_ahead, WIDTH);           \
            if (ASKS_BY_STEP && k < (R)) ask_for_results(t, k, WIDTH); \
            TILE_STEP(TYPE, TYPE, R, sum, a + i, B_OF(i));             \
        }                                                              \
        a += RESULTS_AT_ONCE, b += RESULTS_AT_ONCE * (B_STEP);         \
    }

#define PANEL_B(i) (b + (i)*COLUMNS)
#define EVEN_B(i) (b + (i)*b_step)
#define ANY_B(i) (b + b_at[(size_t)(a - t->a) + (i)])

#define RESULTS_TILE(NAME, TYPE, R, WIDTH)                                                         \
    static void NAME##_##R(const results_tile *t) {                                                \
        enum { LANES_OF = sizeof(gemm_##TYPE) / sizeof(float), VECS = (WIDTH) / LANES_OF };        \
        const int32_t *restrict a = t->a, *restrict b = t->b;                                      \
        const float *before = t->before, *addend = t->addend, *bias = t->bias;                     \
        const size_t before_stride = t->before_stride, addend_stride = t->addend_stride;           \
        float *y = t->y;                                                                           \
        const size_t y_stride = t->y_stride;                                                       \
        const size_t *restrict b_at = t->b_at;                                                     \
        const size_t b_step = t->b_step;                                                           \
        const ptrdiff_t b_ahead = t->b_ahead;                                                      \
        gemm_##TYPE sum[R][VECS], of_b[VECS];                                                      \
        if (before && !t->adds)                                                                    \
            EACH(R) sum[r][v] = TYPE##_load(before + r * before_stride + v * LANES_OF);            \
        else                                                                                       \
            EACH(R) sum[r][v] = TYPE##_all(0);                                                     \
        size_t left = t->steps;                                                                    \
        UNROLLED for (size_t r = 0; !ASKS_BY_STEP && r < (R); r++) ask_for_results(t, r, WIDTH);   \
        if (b_at)                                                                                  \
            RESULTS_GROUPS(TYPE, R, WIDTH, ANY_B, 0, true)                                         \
        else if (b_step != COLUMNS)                                                                \
            RESULTS_GROUPS(TYPE, R, WIDTH, EVEN_B, b_step, true)                                   \
        else if (ASKS_FOR_B(t->first))                                                             \
            RESULTS_GROUPS(TYPE, R, WIDTH, PANEL_B, COLUMNS, true)                                 \
        else                                                                                       \
            RESULTS_GROUPS(TYPE, R, WIDTH, PANEL_B, COLUMNS, false)                                \
        for (; RESULTS_AT_ONCE > 1 && left; left--, a++, b += b_step)                              \
            TILE_STEP(TYPE, TYPE, R, sum, a, b_at ? ANY_B(0) : b);                                 \
        if (before && t->adds) EACH(R)                                                             \
        sum[r][v] = TYPE##_add(TYPE##_load(before + r * before_stride + v * LANES_OF), sum[r][v]); \
        if (bias) EACH(R) sum[r][v] = TYPE##_add(sum[r][v], TYPE##_from(bias + r));                \
        if (addend) EACH(R)                                                                        \
        sum[r][v] = TYPE##_add(sum[r][v], TYPE##_load(addend + r * addend_stride + v * LANES_OF)); \
        gemm_nans nans = TYPE##_nans(sum[0][0], sum[0][VECS - 1]);                                 \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v += 2)    \
            nans = nans_or(nans, TYPE##_nans(sum[r][v], sum[r][VECS - 1 - v]));                    \
        if (nans_any(nans)) EACH(R) sum[r][v] = TYPE##_quiet(sum[r][v]);                           \
        if (t->bounds) {                                                                           \
            gemm_##TYPE least = TYPE##_from(&t->bounds->least);                                    \
            gemm_##TYPE most = TYPE##_from(&t->bounds->most);                                      \
            EACH(R) sum[r][v] = TYPE##_at_most(TYPE##_at_least(sum[r][v], least), most);           \
            if (t->bounds->no_minus) EACH(R) sum[r][v] = TYPE##_add(sum[r][v], TYPE##_all(0));     \
        }                                                                                          \
        EACH(R) TYPE##_store(y + r * y_stride + v * LANES_OF, sum[r][v]);                          \
    }

// Tiles of each count of rows, and their list.
#define RESULTS_FEW(NAME, TYPE, WIDTH) \
    RESULTS_TILE(NAME, TYPE, 1, WIDTH) \
    RESULTS_TILE(NAME, TYPE, 2, WIDTH) \
    RESULTS_TILE(NAME, TYPE, 3, WIDTH) \
    RESULTS_TILE(NAME, TYPE, 4, WIDTH) \
    RESULTS_TILE(NAME, TYPE, 5, WIDTH) \
    RESULTS_TILE(NAME, TYPE, 6, WIDTH)
#define RESULTS_FEW_NAMES(NAME) NULL, NAME##_1, NAME##_2, NAME##_3, NAME##_4, NAME##_5, NAME##_6
#if defined(__AVX512F__)
#define RESULTS_TILES(NAME, TYPE, WIDTH)             \
    RESULTS_FEW(NAME, TYPE, WIDTH)                   \
    RESULTS_TILE(NAME, TYPE, 7, WIDTH)               \
    RESULTS_TILE(NAME, TYPE, 8, WIDTH)               \
    RESULTS_TILE(NAME, TYPE, 9, WIDTH)               \
    RESULTS_TILE(NAME, TYPE, 10, WIDTH)              \
    RESULTS_TILE(NAME, TYPE, 11, WIDTH)              \
    RESULTS_TILE(NAME, TYPE, 12, WIDTH)              \
    static results_tile_fn *const NAME##_tiles[] = { \
        RESULTS_FEW_NAMES(NAME), NAME##_7, NAME##_8, NAME##_9, NAME##_10, NAME##_11, NAME##_12};
#else
#define RESULTS_TILES(NAME, TYPE, WIDTH) \
    RESULTS_FEW(NAME, TYPE, WIDTH)       \
    static results_tile_fn *const NAME##_tiles[] = {RESULTS_FEW_NAMES(NAME)};
#endif

enum { AHEAD = 16, NARROW = QDQ_GEMM_NARROW };  // AHEAD: steps

typedef void results_tile_fn(const results_tile *tile);

RESULTS_TILES(results, floats, TILE_COLUMNS)
#if defined(__AVX512F__)
RESULTS_TILES(half_results, floats, TILE_COLUMNS / 2)
RESULTS_TILES(narrow_results, eights, NARROW)
#else
RESULTS_TILES(narrow_results, floats, NARROW)
#endif

// Runs a tile with only n columns: its addend and results are laid out apart.
static void run_narrow(results_tile_fn *fn, results_tile tile, size_t rows, size_t n) {
    float y[TILE_ROWS * TILE_COLUMNS], addend[TILE_ROWS * TILE_COLUMNS];
    float *to = tile.y;
    size_t stride = tile.y_stride;
    for (size_t r = 0; tile.addend && r < rows; r++) {
        memcpy(addend + r * TILE_COLUMNS, tile.addend + r * tile.addend_stride, n * sizeof *to);
        for (size_t j = n; j < TILE_COLUMNS; j++) addend[r * TILE_COLUMNS + j] = 0;
    }
    if (tile.addend) tile.addend = addend, tile.addend_stride = TILE_COLUMNS;
    tile.y = y, tile.y_stride = TILE_COLUMNS;
    fn(&tile);
    for (size_t r = 0; r < rows; r++) memcpy(to + r * stride, y + r * TILE_COLUMNS, n * sizeof *to);
}

// Returns the columns of the tile that takes the first of n columns.
static size_t width_of(size_t n) {
    if (n <= NARROW) return NARROW;
    bool halves = TILE_COLUMNS / 2 > NARROW && n <= TILE_COLUMNS / 2 + NARROW;
    return halves ? TILE_COLUMNS / 2 : TILE_COLUMNS;
}

static void run_results(const results_tile *tile, size_t rows, size_t width, size_t n) {
    results_tile_fn *fn = (width == NARROW ? narrow_results_tiles : results_tiles)[rows];
#if defined(__AVX512F__)
    if (width == TILE_COLUMNS / 2) fn = half_results_tiles[rows];
#endif
    if (n == width)
        fn(tile);
    else
        run_narrow(fn, *tile, rows, n);
}

// Prefetches the part of `ahead` that goes with some rows of p->rows.
static void ask_for_ahead(const qdq_gemm_results *p, size_t row, size_t rows) {
    enum { LINE = 64 };
    const char *ahead = p->ahead;
    size_t of_row = (p->ahead_bytes + p->rows - 1) / p->rows, end = (row + rows) * of_row;
    for (size_t i = row * of_row; i < end && i < p->ahead_bytes; i += LINE)
        __builtin_prefetch(ahead + i, 0, 2);
}

// Returns the distance to the steps of B to prefetch: later steps of the tile's panel. If it has
// few steps, and B is rows of x, the same steps of the next panel, which lies to the right.
static ptrdiff_t b_ahead_of(const qdq_gemm_results *p) {
    if ((p->b_at || p->b_step != COLUMNS) && p->steps <= 2 * AHEAD) return COLUMNS;
    if (p->steps <= AHEAD) return 0;
    return (ptrdiff_t)(p->b_at ? p->b_at[AHEAD] - p->b_at[0] : AHEAD * p->b_step);
}

// Sets the members that are equal in all tiles of a part, one by one: an initializer would clear
// every member first, which takes longer than some tiles do.
static void set_shared(const qdq_gemm_results *p, results_tile *t) {
    t->b_step = p->b_at ? 0 : p->b_step, t->b_at = p->b_at, t->b_ahead = b_ahead_of(p);
    t->steps = p->steps;
    t->before_stride = p->before_stride, t->addend_stride = p->addend_stride;
    t->adds = p->adds;
    t->bounds = p->bounds;
    t->y_stride = p->y_stride;
}

// Runs the tiles of some rows, from left to right.
static void run_row_of_tiles(const qdq_gemm_results *p, size_t row, size_t rows, results_tile *t) {
    t->first = row == 0;
    t->bias = p->bias ? p->bias + row : NULL;
    if (p->ahead_bytes) ask_for_ahead(p, row, rows);
    for (size_t j = 0, width; j < p->columns; j += width) {
        width = width_of(p->columns - j);
        t->b = (const int32_t *)p->b + j / COLUMNS * p->b_panel + j % COLUMNS;
        t->before = p->before ? p->before + row * p->before_stride + j : NULL;
        t->addend = p->addend ? p->addend + row * p->addend_stride + j : NULL;
        t->y = p->y + row * p->y_stride + j;
        run_results(t, rows, width, p->columns - j < width ? p->columns - j : width);
    }
}

// Cuts rows into tiles of nearly the same number of rows, as run_tiles does. `a`: of the first.
static void run_rows(const qdq_gemm_results *p, const int32_t *a, size_t first, size_t end,
                     results_tile *t) {
    size_t left = (end - first + TILE_ROWS - 1) / TILE_ROWS;
    for (size_t row = first, rows; row < end; row += rows, left--) {
        rows = (end - row + left - 1) / left;
        t->a = a + (row - first) * ROW_WORDS;
        run_row_of_tiles(p, row, rows, t);
    }
}

void QDQ_ISA_NAME(gemm_results)(const qdq_gemm_results *p) {
    const int32_t *a = p->a;
    results_tile t;
    set_shared(p, &t);
    if (p->ways <= 1) {
        run_rows(p, a, 0, p->rows, &t);
        return;
    }
    size_t part = ROW_WORDS / p->ways;
    for (size_t row = 0, way = p->way, end; row < p->rows; row = end) {
        end = p->rows - row < QDQ_GEMM_ROWS ? p->rows : row + QDQ_GEMM_ROWS;
        run_rows(p, a + way * part, row, end, &t);
        if (++way == p->ways) way = 0, a += (size_t)QDQ_GEMM_ROWS * ROW_WORDS;
    }
}
