// SPDX-License-Identifier: Apache-2.0
// Tiles of floats whose sums become results in registers, included by the file of an instruction
// set.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_results_fn QDQ_ISA_NAME(gemm_results);

// The operands of a tile and of its results. Strides of operands that are NULL are not read.
typedef struct results_tile {
    const int32_t *a, *b;
    size_t steps;
    const float *before, *bias, *addend;
    size_t before_stride, addend_stride;
    bool adds;
    const qdq_bounds *bounds;
    float *y;
    size_t y_stride;
} results_tile;

// The addend and the results of a tile may lie in no cache when its products begin. A line in which
// rows begin but do not end is that of the tile to the left.
static inline void ask_for_rows(const float *x, size_t stride, size_t rows, size_t columns) {
    enum { LINE = 16 };
    for (size_t r = 0; r < rows; r++, x += stride) {
        for (size_t j = LINE; j <= columns; j += LINE) __builtin_prefetch(x + j - 1);
    }
}

// Runs over the R x VECS vectors of a tile.
#define EACH(R) UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++)

#define RESULTS_TILE(NAME, R, WIDTH)                                                               \
    static void NAME##_##R(const results_tile *t) {                                                \
        enum { VECS = (WIDTH) / LANES };                                                           \
        const int32_t *restrict a = t->a, *restrict b = t->b;                                      \
        const float *before = t->before, *addend = t->addend, *bias = t->bias;                     \
        gemm_floats sum[R][VECS], of_b[VECS];                                                      \
        if (addend) ask_for_rows(addend, t->addend_stride, R, WIDTH);                              \
        ask_for_rows(t->y, t->y_stride, R, WIDTH);                                                 \
        if (before && !t->adds)                                                                    \
            EACH(R) sum[r][v] = floats_load(before + r * t->before_stride + v * LANES);            \
        else                                                                                       \
            EACH(R) sum[r][v] = floats_all(0);                                                     \
        for (size_t k = 0, steps = t->steps; k < steps; k++) {                                     \
            ask_for(b + k * COLUMNS);                                                              \
            UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =                                   \
                floats_load(b + k * COLUMNS + v * LANES);                                          \
            UNROLLED for (size_t r = 0; r < (R); r++) {                                            \
                gemm_floats x = floats_all(word_of(a, r * ROW_WORDS + k));                         \
                UNROLLED for (size_t v = 0; v < VECS; v++) sum[r][v] =                             \
                    floats_madd(sum[r][v], x, of_b[v]);                                            \
            }                                                                                      \
        }                                                                                          \
        if (before && t->adds) EACH(R)                                                             \
        sum[r][v] = floats_add(floats_load(before + r * t->before_stride + v * LANES), sum[r][v]); \
        if (bias) EACH(R) sum[r][v] = floats_add(sum[r][v], floats_from(bias + r));                \
        if (addend) EACH(R)                                                                        \
        sum[r][v] = floats_add(sum[r][v], floats_load(addend + r * t->addend_stride + v * LANES)); \
        gemm_nans nans = nans_of(sum[0][0], sum[0][VECS - 1]);                                     \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v += 2)    \
            nans = nans_or(nans, nans_of(sum[r][v], sum[r][VECS - 1 - v]));                        \
        if (nans_any(nans)) EACH(R) sum[r][v] = floats_quiet(sum[r][v]);                           \
        if (t->bounds) {                                                                           \
            gemm_floats least = floats_from(&t->bounds->least);                                    \
            gemm_floats most = floats_from(&t->bounds->most);                                      \
            EACH(R) sum[r][v] = floats_at_most(floats_at_least(sum[r][v], least), most);           \
            if (t->bounds->no_minus) EACH(R) sum[r][v] = floats_add(sum[r][v], floats_all(0));     \
        }                                                                                          \
        EACH(R) floats_store(t->y + r * t->y_stride + v * LANES, sum[r][v]);                       \
    }

#define RESULTS_FEW(NAME, WIDTH) \
    RESULTS_TILE(NAME, 1, WIDTH) \
    RESULTS_TILE(NAME, 2, WIDTH) \
    RESULTS_TILE(NAME, 3, WIDTH) \
    RESULTS_TILE(NAME, 4, WIDTH) \
    RESULTS_TILE(NAME, 5, WIDTH) \
    RESULTS_TILE(NAME, 6, WIDTH)
#if defined(__AVX512F__)
#define RESULTS_MORE(NAME, WIDTH) \
    RESULTS_TILE(NAME, 7, WIDTH)  \
    RESULTS_TILE(NAME, 8, WIDTH)  \
    RESULTS_TILE(NAME, 9, WIDTH)  \
    RESULTS_TILE(NAME, 10, WIDTH) \
    RESULTS_TILE(NAME, 11, WIDTH) \
    RESULTS_TILE(NAME, 12, WIDTH)
#else
#define RESULTS_MORE(NAME, WIDTH)
#endif

RESULTS_FEW(results, TILE_COLUMNS)
RESULTS_MORE(results, TILE_COLUMNS)
#if defined(__AVX512F__)
RESULTS_FEW(half_results, TILE_COLUMNS / 2)
RESULTS_MORE(half_results, TILE_COLUMNS / 2)
#endif

typedef void results_tile_fn(const results_tile *tile);

#define RESULTS_NAMES(NAME) \
    NULL, NAME##_1, NAME##_2, NAME##_3, NAME##_4, NAME##_5, NAME##_6 RESULTS_MORE_NAMES(NAME)
#if defined(__AVX512F__)
#define RESULTS_MORE_NAMES(NAME) , NAME##_7, NAME##_8, NAME##_9, NAME##_10, NAME##_11, NAME##_12
#else
#define RESULTS_MORE_NAMES(NAME)
#endif

// Runs a tile of which only n columns are there: its addend and results are laid out apart.
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

static void run_results(const results_tile *tile, size_t rows, size_t n) {
    static results_tile_fn *const tiles[] = {RESULTS_NAMES(results)};
#if defined(__AVX512F__)
    static results_tile_fn *const halves[] = {RESULTS_NAMES(half_results)};
    results_tile_fn *fn = (n <= TILE_COLUMNS / 2 ? halves : tiles)[rows];
    bool whole = n == TILE_COLUMNS || n == TILE_COLUMNS / 2;
#else
    results_tile_fn *fn = tiles[rows];
    bool whole = n == TILE_COLUMNS;
#endif
    if (whole)
        fn(tile);
    else
        run_narrow(fn, *tile, rows, n);
}

// Cuts a part into tiles of nearly the same number of rows, as run_tiles does.
void QDQ_ISA_NAME(gemm_results)(const qdq_gemm_results *p) {
    size_t left = (p->rows + TILE_ROWS - 1) / TILE_ROWS;
    for (size_t row = 0, rows; row < p->rows; row += rows, left--) {
        rows = (p->rows - row + left - 1) / left;
        results_tile t = {.a = (const int32_t *)p->a + row * ROW_WORDS,
                          .steps = p->steps,
                          .before_stride = p->before_stride,
                          .addend_stride = p->addend_stride,
                          .adds = p->adds,
                          .bias = p->bias ? p->bias + row : NULL,
                          .bounds = p->bounds,
                          .y_stride = p->y_stride};
        for (size_t j = 0; j < p->columns; j += TILE_COLUMNS) {
            size_t n = p->columns - j < TILE_COLUMNS ? p->columns - j : TILE_COLUMNS;
            t.b = (const int32_t *)p->b + j;
            t.before = p->before ? p->before + row * p->before_stride + j : NULL;
            t.addend = p->addend ? p->addend + row * p->addend_stride + j : NULL;
            t.y = p->y + row * p->y_stride + j;
            run_results(&t, rows, n);
        }
    }
}
