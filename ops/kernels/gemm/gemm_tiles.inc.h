// SPDX-License-Identifier: Apache-2.0
// Tiles of sums for matrix products, unrolled by hand: compilers do not keep them in registers by
// themselves. Vectors run over columns.
#ifndef QDQ_OPS_KERNELS_GEMM_GEMM_TILES_INC_H
#define QDQ_OPS_KERNELS_GEMM_GEMM_TILES_INC_H

#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/gemm/gemm_vectors.inc.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, ROW_WORDS = QDQ_GEMM_ROW_BYTES / QDQ_GEMM_STEP_BYTES };

#define UNROLLED _Pragma("GCC unroll 16")

// Returns the four bytes of A that a step takes, of any kind.
static inline int32_t word_of(const int32_t *a, size_t at) {
    int32_t word;
    memcpy(&word, a + at, sizeof word);
    return word;
}

// Steps that a tile of floats takes at once. With AVX2 a step has 12 multiply-adds, and counting
// steps was a fifth of its instructions. A core by itself hides them; where two threads shared it,
// tiles took 1.4 times as long. Integers have more instructions in a step, and too few registers
// for two.
#if defined(__AVX2__) && !defined(__AVX512F__)
enum { STEPS_AT_ONCE = 4 };
#else
enum { STEPS_AT_ONCE = 1 };
#endif

// Prefetches B for later steps: a panel lies in L2 at best when its first tile reads it.
static inline void ask_for(const int32_t *b, size_t columns) {
    enum { AHEAD = 512, LINE = 16 };
    UNROLLED for (size_t i = 0; i < columns; i += LINE) __builtin_prefetch(b + AHEAD + i);
}

// True if a tile prefetches B: with AVX2 only the first tile that reads its columns.
#define ASKS_FOR_B(first) (STEPS_AT_ONCE == 1 || (first))

//---- Tiles --------------------------------------------------------------------

// As `start_stride`: start[r] is the sum that all columns of row r start from. The kinds of
// multiply-add whose tiles may be asked for it:
#define BY_ROW SIZE_MAX
#define floats_by_row false
#define bfloats_by_row false
#define pairs_by_row false
#define fours_by_row false
#define saturated_by_row false
#define codes_by_row true
#define saturated_codes_by_row true

// How many steps they take at once.
#define floats_at_once STEPS_AT_ONCE
#define bfloats_at_once 1
#define pairs_at_once 1
#define fours_at_once 1
#define saturated_at_once 1
#define codes_at_once 1
#define saturated_codes_at_once 1

// The kinds whose tiles prefetch `ahead` of a part.
#define floats_look true
#define bfloats_look false
#define pairs_look false
#define fours_look false
#define saturated_look false
#define codes_look (LANES == 16)
#define saturated_codes_look false

// The bytes that later parts read. A tile prefetches a cache line every `step` bytes, one in each
// group of steps: many requests at once would delay the loads of the first steps. All tiles of a
// part prefetch as many lines: the first tile alone would wait for memory. A step of 0: none.
typedef struct tile_ahead {
    const char *at;
    size_t step;
} tile_ahead;

// A step of R rows of A, which adds to a set of sums. KIND names the multiply-add, TYPE the
// vectors.
#define TILE_STEP(KIND, TYPE, R, SET, A, B)                                                     \
    do {                                                                                        \
        enum { STEP_LANES = sizeof(gemm_##TYPE) / QDQ_GEMM_STEP_BYTES };                        \
        UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] = TYPE##_load((B) + v * STEP_LANES); \
        UNROLLED for (size_t r = 0; r < (R); r++) {                                             \
            gemm_##TYPE x = TYPE##_all(word_of(A, r * ROW_WORDS));                              \
            UNROLLED for (size_t v = 0; v < VECS; v++)(SET)[r][v] =                             \
                KIND##_madd((SET)[r][v], x, of_b[v]);                                           \
        }                                                                                       \
    } while (0)

// Groups of steps, which prefetch B for later steps if `asks`, and a part of `ahead` if `looks`.
#define TILE_GROUPS(KIND, TYPE, R, SETS, WIDTH, asks, looks)                   \
    for (; left >= GROUP; left -= GROUP, a += GROUP, b += GROUP * COLUMNS)     \
        UNROLLED for (size_t s = 0; s < GROUP; s++) {                          \
            if ((looks) && s % STEPS_AT_ONCE == 0)                             \
                __builtin_prefetch(ahead.at, 0, 2), ahead.at += ahead.step;    \
            if (asks) ask_for(b + s * COLUMNS, WIDTH);                         \
            TILE_STEP(KIND, TYPE, R, sum[s % (SETS)], a + s, b + s * COLUMNS); \
        }

// R rows of WIDTH columns. A small tile has too few chains of additions to hide their latency, so
// integers, whose order is free, are added to SETS sets of sums. `first`: no tile has read these
// columns of B before.
#define TILE_OF(NAME, KIND, TYPE, R, SETS, WIDTH)                                                  \
    static void NAME##_##R(const int32_t *restrict a, const int32_t *restrict b,                   \
                           const int32_t *start, size_t start_stride, int32_t *c, size_t c_stride, \
                           size_t steps, bool first, tile_ahead ahead) {                           \
        enum { VECS = (WIDTH) / LANES };                                                           \
        enum { GROUP = (SETS) > KIND##_at_once ? (SETS) : KIND##_at_once };                        \
        gemm_##TYPE sum[SETS][R][VECS], of_b[VECS];                                                \
        if (KIND##_by_row && start_stride == BY_ROW)                                               \
            UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++)   \
                sum[0][r][v] = TYPE##_all(start[r]);                                               \
        else                                                                                       \
            UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++)   \
                sum[0][r][v] = TYPE##_load(start + r * start_stride + v * LANES);                  \
        UNROLLED for (size_t s = 1; s < (SETS); s++) UNROLLED for (size_t r = 0; r < (R); r++)     \
            UNROLLED for (size_t v = 0; v < VECS; v++) sum[s][r][v] = TYPE##_all(0);               \
        size_t left = steps;                                                                       \
        if (KIND##_look && ahead.step)                                                             \
            TILE_GROUPS(KIND, TYPE, R, SETS, WIDTH, ASKS_FOR_B(false), true)                       \
        else if (ASKS_FOR_B(first))                                                                \
            TILE_GROUPS(KIND, TYPE, R, SETS, WIDTH, true, false)                                   \
        else                                                                                       \
            TILE_GROUPS(KIND, TYPE, R, SETS, WIDTH, false, false)                                  \
        for (; GROUP > 1 && left; left--, a++, b += COLUMNS)                                       \
            TILE_STEP(KIND, TYPE, R, sum[0], a, b);                                                \
        UNROLLED for (size_t r = 0; r < (R); r++) UNROLLED for (size_t v = 0; v < VECS; v++) {     \
            UNROLLED for (size_t s = 1; s < (SETS); s++) sum[0][r][v] =                            \
                TYPE##_add(sum[0][r][v], sum[s][r][v]);                                            \
            TYPE##_store(c + r * c_stride + v * LANES, sum[0][r][v]);                              \
        }                                                                                          \
    }

#define TILE(KIND, TYPE, R, SETS) TILE_OF(KIND##_tile, KIND, TYPE, R, SETS, TILE_COLUMNS)

// Tiles for each count of rows, and run_tiles, which cuts a part into tiles of nearly the same
// count.
typedef void tile_fn(const int32_t *a, const int32_t *b, const int32_t *start, size_t start_stride,
                     int32_t *c, size_t c_stride, size_t steps, bool first, tile_ahead ahead);

// With 16 registers, 4 rows and more have no room for a second set.
#if defined(__AVX2__) && !defined(__AVX512F__)
#define SETS_THAT_FIT(sets) 1
#else
#define SETS_THAT_FIT(sets) (sets)
#endif

// Tiles of one to six rows, with one set of sums.
#define SIX_ROWS(NAME, KIND, TYPE, WIDTH)  \
    TILE_OF(NAME, KIND, TYPE, 1, 1, WIDTH) \
    TILE_OF(NAME, KIND, TYPE, 2, 1, WIDTH) \
    TILE_OF(NAME, KIND, TYPE, 3, 1, WIDTH) \
    TILE_OF(NAME, KIND, TYPE, 4, 1, WIDTH) \
    TILE_OF(NAME, KIND, TYPE, 5, 1, WIDTH) \
    TILE_OF(NAME, KIND, TYPE, 6, 1, WIDTH)

#define FEW_ROWS(KIND, TYPE, SETS_1, SETS_2, SETS_4) \
    TILE(KIND, TYPE, 1, SETS_1)                      \
    TILE(KIND, TYPE, 2, SETS_2)                      \
    TILE(KIND, TYPE, 3, SETS_4)                      \
    TILE(KIND, TYPE, 4, SETS_THAT_FIT(SETS_4))       \
    TILE(KIND, TYPE, 5, SETS_THAT_FIT(SETS_4))       \
    TILE(KIND, TYPE, 6, 1)
#define FEW_NAMES(KIND) \
    NULL, KIND##_tile_1, KIND##_tile_2, KIND##_tile_3, KIND##_tile_4, KIND##_tile_5, KIND##_tile_6
#if defined(__AVX512F__)
#define MORE_ROWS(KIND, TYPE) \
    TILE(KIND, TYPE, 7, 1)    \
    TILE(KIND, TYPE, 8, 1)    \
    TILE(KIND, TYPE, 9, 1)    \
    TILE(KIND, TYPE, 10, 1)   \
    TILE(KIND, TYPE, 11, 1)   \
    TILE(KIND, TYPE, 12, 1)
#define MORE_NAMES(KIND) \
    , KIND##_tile_7, KIND##_tile_8, KIND##_tile_9, KIND##_tile_10, KIND##_tile_11, KIND##_tile_12
// Tiles of the first 16 columns of a panel.
#define HALF_ROWS(KIND, TYPE)                                                        \
    SIX_ROWS(KIND##_half, KIND, TYPE, COLUMNS / 2)                                   \
    TILE_OF(KIND##_half, KIND, TYPE, 7, 1, COLUMNS / 2)                              \
    TILE_OF(KIND##_half, KIND, TYPE, 8, 1, COLUMNS / 2)                              \
    TILE_OF(KIND##_half, KIND, TYPE, 9, 1, COLUMNS / 2)                              \
    TILE_OF(KIND##_half, KIND, TYPE, 10, 1, COLUMNS / 2)                             \
    TILE_OF(KIND##_half, KIND, TYPE, 11, 1, COLUMNS / 2)                             \
    TILE_OF(KIND##_half, KIND, TYPE, 12, 1, COLUMNS / 2)                             \
    static tile_fn *const KIND##_halves[] = {                                        \
        NULL,           KIND##_half_1,  KIND##_half_2, KIND##_half_3, KIND##_half_4, \
        KIND##_half_5,  KIND##_half_6,  KIND##_half_7, KIND##_half_8, KIND##_half_9, \
        KIND##_half_10, KIND##_half_11, KIND##_half_12};
#else
#define MORE_ROWS(KIND, TYPE)
#define MORE_NAMES(KIND)
// A tile has 16 columns anyway.
#define HALF_ROWS(KIND, TYPE) static tile_fn *const *const KIND##_halves = NULL;
#endif

// Tiles of half the columns of a tile.
#if defined(__AVX2__) && !defined(__AVX512F__)
#define NARROW_ROWS(KIND, TYPE)                                \
    SIX_ROWS(KIND##_narrow, KIND, TYPE, TILE_COLUMNS / 2)      \
    static tile_fn *const KIND##_narrows[] = {NULL,            \
                                              KIND##_narrow_1, \
                                              KIND##_narrow_2, \
                                              KIND##_narrow_3, \
                                              KIND##_narrow_4, \
                                              KIND##_narrow_5, \
                                              KIND##_narrow_6};
#else
#define NARROW_ROWS(KIND, TYPE) static tile_fn *const *const KIND##_narrows = NULL;
#endif

// Runs tiles; `halves`: tiles of half a panel, `narrows`: tiles of half the columns of a tile, or
// NULL.
static inline void run_all_tiles(tile_fn *const *tiles, tile_fn *const *halves,
                                 tile_fn *const *narrows, const qdq_gemm_part *p) {
    size_t columns = p->half ? COLUMNS / 2 : COLUMNS;
    if (p->half && halves) tiles = halves;
    if (narrows && p->columns) columns = p->columns;
    size_t left = (p->rows + TILE_ROWS - 1) / TILE_ROWS, groups = p->steps / STEPS_AT_ONCE;
    size_t asks = left * ((columns + TILE_COLUMNS - 1) / TILE_COLUMNS) * groups;
    tile_ahead ahead = {p->ahead, asks ? (p->ahead_bytes + asks - 1) / asks : 0};
    for (size_t row = 0, rows; row < p->rows; row += rows, left--) {
        rows = (p->rows - row + left - 1) / left;
        const int32_t *a = (const int32_t *)p->a + row * ROW_WORDS;
        for (size_t j = 0; j < columns; j += TILE_COLUMNS) {
            int32_t *c = (int32_t *)p->c + row * p->c_stride + j;
            const int32_t *start = p->start ? (const int32_t *)p->start + j : c;
            size_t start_stride = p->start ? 0 : p->c_stride;
            if (p->row_start) start = p->row_start + row, start_stride = BY_ROW;
            tile_fn *const *some = narrows && columns - j <= TILE_COLUMNS / 2 ? narrows : tiles;
            some[rows](a, (const int32_t *)p->b + j, start, start_stride, c, p->c_stride, p->steps,
                       row == 0, ahead);
            if (ahead.step) ahead.at += groups * ahead.step;
        }
    }
}

static inline void run_tiles(tile_fn *const *tiles, tile_fn *const *halves,
                             const qdq_gemm_part *p) {
    run_all_tiles(tiles, halves, NULL, p);
}

#endif
