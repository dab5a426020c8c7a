// SPDX-License-Identifier: Apache-2.0
// Matrix products of integers and of bytes, included by the file of an instruction set.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_part_fn QDQ_ISA_NAME(gemm_integers);
qdq_gemm_part_fn QDQ_ISA_NAME(gemm_bytes);

FEW_ROWS(pairs, ints, 4, 2, 2)
MORE_ROWS(pairs, ints)
NARROW_ROWS(pairs, ints)

void QDQ_ISA_NAME(gemm_integers)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(pairs) MORE_NAMES(pairs)};
    run_all_tiles(tiles, NULL, pairs_narrows, p);
}

FEW_ROWS(fours, ints, 4, 2, 2)
MORE_ROWS(fours, ints)

#if defined(__ARM_FEATURE_DOTPROD)

// Adds the part that tiles leave out, because they multiply A - 128: 128 times the column sums of
// B.
static void add_missing(const qdq_gemm_part *p, int32_t *start) {
    enum { VECS = COLUMNS / LANES };
    gemm_ints sum[VECS];
    for (size_t v = 0; v < VECS; v++) sum[v] = ints_all(0);
    for (size_t k = 0; k < p->steps; k++) UNROLLED for (size_t v = 0; v < VECS; v++) {
            gemm_ints b = ints_load((const int32_t *)p->b + k * COLUMNS + v * LANES);
            sum[v] = vdotq_s32(sum[v], vreinterpretq_s8_s32(b), vdupq_n_s8(1));
        }
    for (size_t v = 0; v < VECS; v++) sum[v] = vshlq_n_s32(sum[v], 7);
    for (size_t r = 0; r < (start ? 1 : p->rows); r++) {
        const int32_t *from = start ? p->start : (int32_t *)p->c + r * p->c_stride;
        int32_t *to = start ? start : (int32_t *)p->c + r * p->c_stride;
        for (size_t v = 0; v < VECS; v++)
            ints_store(to + v * LANES, ints_add(ints_load(from + v * LANES), sum[v]));
    }
}

void QDQ_ISA_NAME(gemm_bytes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(fours) MORE_NAMES(fours)};
    int32_t start[COLUMNS];
    qdq_gemm_part part = *p;
    add_missing(p, p->start ? start : NULL);
    if (p->start) part.start = start;
    run_tiles(tiles, NULL, &part);
}

#else

void QDQ_ISA_NAME(gemm_bytes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(fours) MORE_NAMES(fours)};
    run_tiles(tiles, NULL, p);
}

#endif

#if defined(CODES_MADD)

qdq_gemm_part_fn QDQ_ISA_NAME(gemm_codes);

FEW_ROWS(codes, ints, 4, 2, 2)
MORE_ROWS(codes, ints)
HALF_ROWS(codes, ints)

void QDQ_ISA_NAME(gemm_codes)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(codes) MORE_NAMES(codes)};
    run_tiles(tiles, codes_halves, p);
}

#if defined(__AVX512F__)

qdq_gemm_code_columns_fn QDQ_ISA_NAME(gemm_code_columns);

enum { DOT_ROWS = 4, DOT_COLUMNS = 4 };  // whose dot products are added up together

// Returns the sums of the lanes of four vectors.
static inline __m128i sums_of_lanes(gemm_ints w, gemm_ints x, gemm_ints y, gemm_ints z) {
    gemm_ints low = ints_add(_mm512_unpacklo_epi32(w, x), _mm512_unpackhi_epi32(w, x));
    gemm_ints high = ints_add(_mm512_unpacklo_epi32(y, z), _mm512_unpackhi_epi32(y, z));
    gemm_ints all = ints_add(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

// The sum that row r of a column starts from.
static inline uint32_t start_of(const qdq_gemm_code_columns *p, size_t r, size_t column) {
    return (uint32_t)(p->row_start ? p->row_start[r] : p->c[r * p->c_stride + column]);
}

// Computes the sums of COLS columns, row by row from `row` on. Rows beyond the last repeat it.
#define DOTS(NAME, COLS)                                                                 \
    static void NAME(const qdq_gemm_code_columns *p, size_t row, const char *const *b,   \
                     int32_t *to) {                                                      \
        size_t depth = p->steps * QDQ_GEMM_STEP_BYTES;                                   \
        const char *a[DOT_ROWS];                                                         \
        gemm_ints sum[DOT_ROWS * (COLS)];                                                \
        UNROLLED for (size_t r = 0; r < DOT_ROWS; r++) {                                 \
            size_t own = row + r < p->rows ? row + r : p->rows - 1;                      \
            a[r] = (const char *)p->a + own * QDQ_GEMM_ROW_BYTES;                        \
        }                                                                                \
        UNROLLED for (size_t i = 0; i < DOT_ROWS * (COLS); i++) sum[i] = ints_all(0);    \
        for (size_t k = 0; k < depth; k += LANES * QDQ_GEMM_STEP_BYTES)                  \
            UNROLLED for (size_t j = 0; j < (COLS); j++) {                               \
                gemm_ints x = ints_load(b[j] + k);                                       \
                UNROLLED for (size_t r = 0; r < DOT_ROWS; r++) sum[r * (COLS) + j] =     \
                    codes_madd(sum[r * (COLS) + j], ints_load(a[r] + k), x);             \
            }                                                                            \
        UNROLLED for (size_t i = 0; i < DOT_ROWS * (COLS); i += 4)                       \
            _mm_storeu_si128((__m128i *)(void *)(to + i),                                \
                             sums_of_lanes(sum[i], sum[i + 1], sum[i + 2], sum[i + 3])); \
    }

DOTS(dots_of_column, 1)
DOTS(dots_of_columns, DOT_COLUMNS)

// Two columns and three are computed as four.
static void add_columns(const qdq_gemm_code_columns *p, size_t first, size_t columns) {
    const char *b[DOT_COLUMNS];
    size_t step = columns > 1 ? DOT_COLUMNS : 1;
    for (size_t j = 0; j < DOT_COLUMNS; j++)
        b[j] = (const char *)p->b + (first + (j < columns ? j : 0)) * QDQ_GEMM_ROW_BYTES;
    for (size_t row = 0; row < p->rows; row += DOT_ROWS) {
        int32_t sums[DOT_ROWS * DOT_COLUMNS], *at = sums;
        (columns > 1 ? dots_of_columns : dots_of_column)(p, row, b, sums);
        for (size_t r = row; r < p->rows && r < row + DOT_ROWS; r++, at += step)
            for (size_t j = 0; j < columns; j++)
                p->c[r * p->c_stride + first + j] =
                    (int32_t)(start_of(p, r, first + j) + (uint32_t)at[j]);
    }
}

void QDQ_ISA_NAME(gemm_code_columns)(const qdq_gemm_code_columns *p) {
    for (size_t j = 0; j < p->columns; j += DOT_COLUMNS)
        add_columns(p, j, p->columns - j < DOT_COLUMNS ? p->columns - j : DOT_COLUMNS);
}

#endif

#endif
