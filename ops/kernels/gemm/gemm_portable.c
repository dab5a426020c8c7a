// SPDX-License-Identifier: Apache-2.0
// Matrix products on any machine: the definition that other kernels equal.
#include "ops/kernels/gemm/gemm_portable.h"

#include <math.h>

#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fma.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS };

void qdq_gemm_floats_portable(const qdq_gemm_part *p) {
    const float *b = p->b;
    for (size_t r = 0; r < p->rows; r++) {
        const float *a = qdq_gemm_row(p, r);
        float *c = qdq_gemm_sums(p, r);
        for (size_t k = 0; k < p->steps; k++) {
            if (p->keep && !(p->keep[k] >> r & 1)) continue;
            for (size_t j = 0; j < COLUMNS; j++) c[j] = qdq_fmaf(a[k], b[k * COLUMNS + j], c[j]);
        }
    }
}

// Returns the result of a sum, of element [r, j].
static float result_of(const qdq_gemm_results *p, size_t r, size_t j, float sum) {
    if (p->before && p->adds) sum = p->before[r * p->before_stride + j] + sum;
    if (p->bias) sum += p->bias[r];
    if (p->addend) sum += p->addend[r * p->addend_stride + j];
    if (isnan(sum)) return qdq_float_from_bits(0x7FC00000);
    if (!p->bounds) return sum;
    if (sum < p->bounds->least) sum = p->bounds->least;
    if (sum > p->bounds->most) sum = p->bounds->most;
    return p->bounds->no_minus ? sum + 0.0f : sum;
}

static const float *row_of_a(const qdq_gemm_results *p, size_t r) {
    size_t ways = p->ways ? p->ways : 1, tile = p->way + r / QDQ_GEMM_ROWS;
    size_t row = tile / ways * QDQ_GEMM_ROWS + r % QDQ_GEMM_ROWS;
    const char *at = (const char *)p->a + row * QDQ_GEMM_ROW_BYTES;
    return (const float *)(const void *)(at + tile % ways * (QDQ_GEMM_ROW_BYTES / ways));
}

// Makes up to 32 results of a row, from column j on.
static void make_results(const qdq_gemm_results *p, const float *a, size_t r, size_t j) {
    size_t n = p->columns - j < COLUMNS ? p->columns - j : COLUMNS;
    float sums[COLUMNS] = {0};
    for (size_t i = 0; p->before && !p->adds && i < n; i++)
        sums[i] = p->before[r * p->before_stride + j + i];
    for (size_t k = 0; k < p->steps; k++) {
        const float *b = (const float *)p->b + (p->b_at ? p->b_at[k] : k * p->b_step);
        b += j / COLUMNS * p->b_panel;
        for (size_t i = 0; i < n; i++) sums[i] = qdq_fmaf(a[k], b[i], sums[i]);
    }
    for (size_t i = 0; i < n; i++) p->y[r * p->y_stride + j + i] = result_of(p, r, j + i, sums[i]);
}

void qdq_gemm_results_portable(const qdq_gemm_results *p) {
    for (size_t r = 0; r < p->rows; r++) {
        const float *a = row_of_a(p, r);
        for (size_t j = 0; j < p->columns; j += COLUMNS) make_results(p, a, r, j);
    }
}

// Unsigned, because sums wrap around.
static void add_to(int32_t *sum, int32_t product) {
    *sum = (int32_t)((uint32_t)*sum + (uint32_t)product);
}

void qdq_gemm_integers_portable(const qdq_gemm_part *p) {
    const int16_t *b = p->b;
    for (size_t r = 0; r < p->rows; r++) {
        const int16_t *a = qdq_gemm_row(p, r);
        int32_t *c = qdq_gemm_sums(p, r);
        for (size_t k = 0; k < p->steps; k++) {
            int32_t x0 = a[k * 2], x1 = a[k * 2 + 1];
            const int16_t *pairs = b + k * COLUMNS * 2;
            for (size_t j = 0; j < COLUMNS; j++)
                add_to(&c[j], x0 * pairs[2 * j] + x1 * pairs[2 * j + 1]);
        }
    }
}

void qdq_gemm_lanes_portable(const float *a, const float *b, float *c, size_t depth) {
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < COLUMNS; j++)
            c[j] = qdq_fmaf(a[k * COLUMNS + j], b[k * COLUMNS + j], c[j]);
}

void qdq_gemm_integer_lanes_portable(const int16_t *a, const int16_t *b, int32_t *c, size_t depth) {
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < COLUMNS; j++) add_to(&c[j], a[k * COLUMNS + j] * b[k * COLUMNS + j]);
}

void qdq_gemm_lines_portable(const qdq_gemm_lines *l) {
    size_t tap = l->tap;
    for (size_t k = 0; k < l->n; k++) {
        for (const qdq_gemm_lines_panel *p = l->panels; p < l->panels + l->count; p++)
            for (size_t j = 0; j < COLUMNS; j++) {
                size_t at = p->base + l->offsets[k] + (p->at ? (size_t)p->at[j] : j);
                p->out[k * COLUMNS + j] = p->masks[tap] >> j & 1 ? l->x[at] : 0;
            }
        if (++tap == l->taps) tap = 0;
    }
}

// Returns element j of line k.
static uint8_t code_at(const qdq_gemm_code_lines *l, size_t k, size_t j) {
    bool there = k < l->n && l->masks[(l->tap + k) % l->taps] >> j & 1;
    return (there ? l->x[l->base + l->offsets[k] + j] : l->pad) ^ l->flip;
}

void qdq_gemm_byte_lines_portable(const qdq_gemm_code_lines *l) {
    uint8_t *out = l->out;
    for (size_t k = 0; k < l->n; k += 4)
        for (size_t j = 0; j < COLUMNS; j++)
            for (size_t i = 0; i < 4; i++) *out++ = code_at(l, k + i, j);
}

void qdq_gemm_pair_lines_portable(const qdq_gemm_code_lines *l) {
    int16_t *out = l->out;
    for (size_t k = 0; k < l->n; k += 2)
        for (size_t j = 0; j < COLUMNS; j++)
            for (size_t i = 0; i < 2; i++) *out++ = (int16_t)(code_at(l, k + i, j) - l->zero);
}

void qdq_gemm_code_runs_portable(const qdq_gemm_code_runs *r) {
    for (const qdq_gemm_run *run = r->runs; run < r->runs + r->count; run++)
        for (size_t i = 0; i < run->n; i++) {
            size_t position = run->first + i, at = r->offset + run->at + position * r->stride;
            bool there = position >= r->begin && position < r->end &&
                         run->index[0] + r->step[0] < r->in[0] &&
                         run->index[1] + r->step[1] < r->in[1];
            r->out[run->column + i] = there ? r->x[at] : r->pad;
        }
}

static float real_of(const char *sum, const float *scale, const float *bias) {
    float v;
    int32_t integer;
    memcpy(&v, sum, sizeof v);
    memcpy(&integer, sum, sizeof integer);
    if (scale) v = (float)integer * *scale + 0.0f;
    if (bias) v += *bias;
    return isnan(v) ? qdq_float_from_bits(0x7FC00000) : v;
}

void qdq_gemm_reals_portable(const void *sums, const float *scale, const float *bias, void *out,
                             size_t n) {
    for (size_t j = 0; j < n; j++) {
        float v = real_of((const char *)sums + j * sizeof v, scale ? scale + j : NULL,
                          bias ? bias + j : NULL);
        memcpy((char *)out + j * sizeof v, &v, sizeof v);
    }
}

void qdq_gemm_real_rows_portable(const qdq_gemm_real_rows *rows) {
    for (size_t r = 0; r < rows->rows; r++)
        for (size_t j = 0; j < rows->n; j++) {
            float v =
                real_of((const char *)rows->sums + (r * rows->stride + j) * sizeof v,
                        rows->scale ? rows->scale + r : NULL, rows->bias ? rows->bias + r : NULL);
            memcpy((char *)rows->out + (r * rows->n + j) * sizeof v, &v, sizeof v);
        }
}

void qdq_gemm_widen_portable(qdq_dtype dtype, const void *x, float *out, size_t n) {
    qdq_decode_float(dtype, x, out, n);
}

void qdq_gemm_narrow_portable(qdq_dtype dtype, const float *x, void *out, size_t n) {
    qdq_encode_float(dtype, x, out, n, NULL);
}
