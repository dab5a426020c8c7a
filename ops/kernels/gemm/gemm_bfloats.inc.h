// SPDX-License-Identifier: Apache-2.0
// Matrix products of bfloat16, included by the file of an instruction set. VDPBF16PS is the
// definition. Without it, two fused multiply-adds compute a pair while the control register flushes
// denormals. On x86 it flushes as VDPBF16PS does. On aarch64 it flushes before rounding and reports
// it; the portable kernel then computes the tile again.
#include "ops/kernels/gemm/gemm_tiles.inc.h"
#include "runtime/base/fp_environment.h"

qdq_gemm_part_fn QDQ_ISA_NAME(gemm_bfloats);

//---- Pairs --------------------------------------------------------------------

#if defined(__AVX512BF16__)

static inline gemm_floats bfloats_madd(gemm_floats sum, gemm_floats x, gemm_floats b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_castps_si512(x),
                            (__m512bh)_mm512_castps_si512(b));
}

#else

// The first and the second element of each pair, widened to float32.
#if defined(__AVX512F__)
static inline gemm_floats first_of(gemm_floats x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 16));
}
static inline gemm_floats second_of(gemm_floats x) {
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(x), ints_all((int32_t)0xFFFF0000)));
}
#elif defined(__AVX2__)
static inline gemm_floats first_of(gemm_floats x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 16));
}
static inline gemm_floats second_of(gemm_floats x) {
    return _mm256_and_ps(x, floats_all((int32_t)0xFFFF0000));
}
#elif defined(__aarch64__)
static inline gemm_floats first_of(gemm_floats x) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(x), 16));
}
static inline gemm_floats second_of(gemm_floats x) {
    return vreinterpretq_f32_s32(
        vandq_s32(vreinterpretq_s32_f32(x), ints_all((int32_t)0xFFFF0000)));
}
#endif

static inline gemm_floats bfloats_madd(gemm_floats sum, gemm_floats x, gemm_floats b) {
    return floats_madd(floats_madd(sum, second_of(x), second_of(b)), first_of(x), first_of(b));
}

#endif

//---- With products that are left out ----------------------------------------------

// Adds the products of a pair to the sums of a row: the first product if `first`, the second if
// `second`.
#if defined(__AVX512BF16__)

// A product that is left out becomes -0 * 0 = -0, which changes no sum.
#define ADD_KEPT(sum, word, b, first, second)                                             \
    do {                                                                                  \
        int32_t kept = (int32_t)(((first) ? 0xFFFFu : 0) | ((second) ? 0xFFFF0000u : 0)); \
        gemm_floats x = floats_all(((word)&kept) | (~kept & (int32_t)0x80008000));        \
        UNROLLED for (size_t v = 0; v < VECS; v++)(sum)[v] =                              \
            bfloats_madd((sum)[v], x, _mm512_and_ps((b)[v], floats_all(kept)));           \
    } while (0)

#else

#define ADD_KEPT(sum, word, b, first, second)                           \
    do {                                                                \
        gemm_floats x = floats_all(word);                               \
        if (second)                                                     \
            UNROLLED for (size_t v = 0; v < VECS; v++)(sum)[v] =        \
                floats_madd((sum)[v], second_of(x), second_of((b)[v])); \
        if (first)                                                      \
            UNROLLED for (size_t v = 0; v < VECS; v++)(sum)[v] =        \
                floats_madd((sum)[v], first_of(x), first_of((b)[v]));   \
    } while (0)

#endif

// Bit row + r of keep[k] is set if row r has a product k.
static void bfloats_kept(const int32_t *a, const int32_t *b, const int32_t *start,
                         size_t start_stride, int32_t *c, size_t c_stride, size_t steps,
                         const uint16_t *keep, size_t row, size_t rows) {
    enum { VECS = TILE_COLUMNS / LANES };
    gemm_floats sum[TILE_ROWS][VECS], of_b[VECS];
    UNROLLED for (size_t r = 0; r < TILE_ROWS; r++) UNROLLED for (size_t v = 0; v < VECS; v++)
        sum[r][v] = r < rows ? floats_load(start + r * start_stride + v * LANES) : floats_all(0);
    for (size_t k = 0; k < steps; k++) {
        unsigned first = (unsigned)keep[k * 2] >> row, second = (unsigned)keep[k * 2 + 1] >> row;
        UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =
            floats_load(b + k * COLUMNS + v * LANES);
        UNROLLED for (size_t r = 0; r < TILE_ROWS; r++) {
            if (r < rows && (first | second) >> r & 1)
                ADD_KEPT(sum[r], word_of(a, r * ROW_WORDS + k), of_b, first >> r & 1,
                         second >> r & 1);
        }
    }
    UNROLLED for (size_t r = 0; r < TILE_ROWS; r++)
        UNROLLED for (size_t v = 0; v < VECS; v++) if (r < rows)
            floats_store(c + r * c_stride + v * LANES, sum[r][v]);
}

//---- Parts --------------------------------------------------------------------

FEW_ROWS(bfloats, floats, 1, 1, 1)
MORE_ROWS(bfloats, floats)

// Computes `rows` rows of a part from row `row` on, no more than a tile has, into `c`.
static void bfloat_rows(const qdq_gemm_part *p, size_t row, size_t rows, int32_t *c,
                        size_t c_stride) {
    static tile_fn *const tiles[] = {FEW_NAMES(bfloats) MORE_NAMES(bfloats)};
    const int32_t *a = (const int32_t *)p->a + row * ROW_WORDS, *b = p->b;
    const int32_t *start = p->start ? p->start : (const int32_t *)p->c + row * p->c_stride;
    size_t stride = p->start ? 0 : p->c_stride;
    for (size_t j = 0; j < COLUMNS; j += TILE_COLUMNS) {
        if (p->keep)
            bfloats_kept(a, b + j, start + j, stride, c + j, c_stride, p->steps, p->keep, row,
                         rows);
        else
            tiles[rows](a, b + j, start + j, stride, c + j, c_stride, p->steps, row == 0,
                        (tile_ahead){0});
    }
}

#if defined(__aarch64__)

static QDQ_APART void bfloat_rows_apart(const qdq_gemm_part *p, size_t row, size_t rows,
                                        int32_t *c) {
    bfloat_rows(p, row, rows, c, COLUMNS);
}

// Computes the rows again with the portable kernel, which flushes as x86 does.
static void bfloat_rows_again(const qdq_gemm_part *p, size_t row, size_t rows) {
    uint16_t keep[QDQ_GEMM_KEEP];
    qdq_gemm_part part = *p;
    part.a = (const int32_t *)p->a + row * ROW_WORDS;
    part.c = (int32_t *)p->c + row * p->c_stride;
    part.rows = rows;
    if (p->keep) part.keep = keep;
    for (size_t k = 0; p->keep && k < p->steps * 2; k++) keep[k] = (uint16_t)(p->keep[k] >> row);
    qdq_gemm_bfloats_portable(&part);
}

void QDQ_ISA_NAME(gemm_bfloats)(const qdq_gemm_part *p) {
    int32_t sums[TILE_ROWS * COLUMNS];
    for (size_t row = 0, rows; row < p->rows; row += rows) {
        rows = p->rows - row < TILE_ROWS ? p->rows - row : TILE_ROWS;
        qdq_flushing before = qdq_flushing_enter();
        bfloat_rows_apart(p, row, rows, sums);
        if (qdq_flushing_leave(before)) {
            bfloat_rows_again(p, row, rows);
            continue;
        }
        for (size_t r = 0; r < rows; r++)
            memcpy((int32_t *)p->c + (row + r) * p->c_stride, sums + r * COLUMNS,
                   COLUMNS * sizeof *sums);
    }
}

#else

static QDQ_APART void bfloats_apart(const qdq_gemm_part *p) {
    size_t left = (p->rows + TILE_ROWS - 1) / TILE_ROWS;
    for (size_t row = 0, rows; row < p->rows; row += rows, left--) {
        rows = (p->rows - row + left - 1) / left;
        bfloat_rows(p, row, rows, (int32_t *)p->c + row * p->c_stride, p->c_stride);
    }
}

void QDQ_ISA_NAME(gemm_bfloats)(const qdq_gemm_part *p) {
#if defined(__AVX512BF16__)
    bfloats_apart(p);
#else
    qdq_flushing before = qdq_flushing_enter();
    bfloats_apart(p);
    qdq_flushing_leave(before);
#endif
}

#endif
