// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include "ops/kernels/gemm/gemm_bfloats.inc.h"
#include "ops/kernels/gemm/gemm_code_lines.inc.h"
#include "ops/kernels/gemm/gemm_integers.inc.h"
#include "ops/kernels/gemm/gemm_lines.inc.h"
#include "ops/kernels/gemm/gemm_results.inc.h"
#include "ops/kernels/gemm/gemm_saturated.inc.h"
#include "ops/kernels/gemm/gemm_tiles.inc.h"
#include "ops/kernels/quantize/halves.inc.h"
#include "ops/kernels/quantize/lanes.inc.h"

qdq_gemm_part_fn QDQ_ISA_NAME(gemm_floats);
qdq_gemm_lanes_fn QDQ_ISA_NAME(gemm_lanes), QDQ_ISA_NAME(gemm_bfloat_lanes);
qdq_gemm_integer_lanes_fn QDQ_ISA_NAME(gemm_integer_lanes);
qdq_gemm_reals_fn QDQ_ISA_NAME(gemm_reals);
qdq_gemm_real_rows_fn QDQ_ISA_NAME(gemm_real_rows);
qdq_gemm_widen_fn QDQ_ISA_NAME(gemm_widen);
qdq_gemm_narrow_fn QDQ_ISA_NAME(gemm_narrow);

//---- Floats -------------------------------------------------------------------

// Computes rows without the products that p->keep leaves out.
static void run_kept(const qdq_gemm_part *p, size_t row, size_t j) {
    enum { VECS = TILE_COLUMNS / LANES, ROWS = TILE_ROWS };
    const int32_t *a = (const int32_t *)p->a + row * ROW_WORDS, *b = (const int32_t *)p->b + j;
    size_t rows = p->rows - row < ROWS ? p->rows - row : ROWS;
    int32_t *c = (int32_t *)p->c + row * p->c_stride + j;
    gemm_floats sum[ROWS][VECS], of_b[VECS];
    UNROLLED for (size_t r = 0; r < ROWS; r++) UNROLLED for (size_t v = 0; v < VECS; v++) {
        const int32_t *start = p->start ? (const int32_t *)p->start + j : c + r * p->c_stride;
        sum[r][v] = r < rows ? floats_load(start + v * LANES) : floats_all(0);
    }
    unsigned here = (1u << rows) - 1;
    for (size_t k = 0; k < p->steps; k++) {
        unsigned kept = (unsigned)p->keep[k] >> row & here;
        UNROLLED for (size_t v = 0; v < VECS; v++) of_b[v] =
            floats_load(b + k * COLUMNS + v * LANES);
        UNROLLED for (size_t r = 0; r < ROWS; r++) {
            if (!(kept >> r & 1)) continue;
            gemm_floats x = floats_all(word_of(a, r * ROW_WORDS + k));
            UNROLLED for (size_t v = 0; v < VECS; v++) sum[r][v] =
                floats_madd(sum[r][v], x, of_b[v]);
        }
    }
    UNROLLED for (size_t r = 0; r < ROWS; r++)
        UNROLLED for (size_t v = 0; v < VECS; v++) if (r < rows)
            floats_store(c + r * p->c_stride + v * LANES, sum[r][v]);
}

FEW_ROWS(floats, floats, 1, 1, 1)
MORE_ROWS(floats, floats)
HALF_ROWS(floats, floats)

void QDQ_ISA_NAME(gemm_floats)(const qdq_gemm_part *p) {
    static tile_fn *const tiles[] = {FEW_NAMES(floats) MORE_NAMES(floats)};
    if (!p->keep) {
        run_tiles(tiles, floats_halves, p);
        return;
    }
    for (size_t row = 0; row < p->rows; row += TILE_ROWS)
        for (size_t j = 0; j < COLUMNS; j += TILE_COLUMNS) run_kept(p, row, j);
}

//---- Lanes --------------------------------------------------------------------

static QDQ_APART void lanes_apart(const float *restrict a, const float *restrict b,
                                  float *restrict c, size_t depth) {
    gemm_floats sum[COLUMNS / LANES];
    UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) sum[v] = floats_load(c + v * LANES);
    for (size_t k = 0; k < depth; k++)
        UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) sum[v] =
            floats_madd(sum[v], floats_load(a + k * COLUMNS + v * LANES),
                        floats_load(b + k * COLUMNS + v * LANES));
    UNROLLED for (size_t v = 0; v < COLUMNS / LANES; v++) floats_store(c + v * LANES, sum[v]);
}

void QDQ_ISA_NAME(gemm_lanes)(const float *a, const float *b, float *c, size_t depth) {
    lanes_apart(a, b, c, depth);
}

void QDQ_ISA_NAME(gemm_bfloat_lanes)(const float *a, const float *b, float *c, size_t depth) {
#if defined(__aarch64__)
    float sums[COLUMNS];
    memcpy(sums, c, sizeof sums);
    qdq_flushing before = qdq_flushing_enter();
    lanes_apart(a, b, sums, depth);
    if (qdq_flushing_leave(before))
        qdq_gemm_bfloat_lanes_portable(a, b, c, depth);
    else
        memcpy(c, sums, sizeof sums);
#else
    qdq_flushing before = qdq_flushing_enter();
    lanes_apart(a, b, c, depth);
    qdq_flushing_leave(before);
#endif
}

void QDQ_ISA_NAME(gemm_integer_lanes)(const int16_t *restrict a, const int16_t *restrict b,
                                      int32_t *restrict c, size_t depth) {
    uint32_t sum[COLUMNS];
    for (size_t j = 0; j < COLUMNS; j++) sum[j] = (uint32_t)c[j];
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < COLUMNS; j++)
            sum[j] += (uint32_t)(a[k * COLUMNS + j] * b[k * COLUMNS + j]);
    for (size_t j = 0; j < COLUMNS; j++) c[j] = (int32_t)sum[j];
}

//---- After the sums ------------------------------------------------------------

static inline gemm_floats real_of(const int32_t *sum, const gemm_floats *scale,
                                  const gemm_floats *bias) {
    gemm_floats v = floats_load(sum);
    if (scale) v = floats_add(floats_mul(floats_of(ints_load(sum)), *scale), floats_all(0));
    if (bias) v = floats_add(v, *bias);
    return floats_quiet(v);
}

void QDQ_ISA_NAME(gemm_reals)(const void *sums, const float *scale, const float *bias, void *out,
                              size_t n) {
    for (size_t j = 0; j < n; j += LANES) {
        gemm_floats of_scale = floats_load(scale ? scale + j : sums);
        gemm_floats of_bias = floats_load(bias ? bias + j : sums);
        floats_store((float *)out + j, real_of((const int32_t *)sums + j, scale ? &of_scale : NULL,
                                               bias ? &of_bias : NULL));
    }
}

void QDQ_ISA_NAME(gemm_real_rows)(const qdq_gemm_real_rows *rows) {
    for (size_t r = 0; r < rows->rows; r++) {
        const int32_t *sums = (const int32_t *)rows->sums + r * rows->stride;
        float *out = (float *)rows->out + r * rows->n;
        gemm_floats scale = floats_from(rows->scale ? rows->scale + r : rows->sums);
        gemm_floats bias = floats_from(rows->bias ? rows->bias + r : rows->sums);
        for (size_t j = 0; j < rows->n; j += LANES)
            floats_store(out + j,
                         real_of(sums + j, rows->scale ? &scale : NULL, rows->bias ? &bias : NULL));
    }
}

//---- Elements ------------------------------------------------------------------

void QDQ_ISA_NAME(gemm_widen)(qdq_dtype dtype, const void *x, float *out, size_t n) {
    if (dtype == QDQ_BFLOAT16)
        for (size_t i = 0; i < n; i++) out[i] = load_bfloat16(x, i);
    else if (dtype == QDQ_FLOAT16)
        body_from_halves(x, n, out);
    else
        memcpy(out, x, n * sizeof *out);
}

// Rounding to bfloat16 adds to the bits of 0x7FC00000 without reaching its upper half, so a NaN
// stays.
void QDQ_ISA_NAME(gemm_narrow)(qdq_dtype dtype, const float *x, void *out, size_t n) {
    if (dtype == QDQ_BFLOAT16)
        for (size_t i = 0; i < n; i++) finite_bfloat16(out, i, x[i]);
    else if (dtype == QDQ_FLOAT16)
        body_to_halves(x, n, out);
    else
        memcpy(out, x, n * sizeof *x);
}
