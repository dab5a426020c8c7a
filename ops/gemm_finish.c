// SPDX-License-Identifier: Apache-2.0
// From the sums of a product to y.
#include <math.h>

#include "ops/gemm.h"
#include "runtime/dtype.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS };

// Up to 32 sums of a row: those of one panel.
typedef struct piece {
    size_t batch, row, column, n;
    const void *sums;
} piece;

typedef void piece_fn(const qdq_gemm *gemm, const qdq_tensors *tensors, const piece *at, void *y);

// Calls `fn` for each piece of a block, and puts what it makes in its place.
static void each_piece(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                       const void *sums, piece_fn *fn) {
    size_t size = qdq_dtype_size(g->y.dtype);
    char *y = (char *)tensors->y[0] + qdq_gemm_at(g, g->batches.y, block->batch) * size;
    for (size_t r = 0; r < block->rows; r++)
        for (size_t p = 0; p * COLUMNS < block->columns; p++) {
            size_t left = block->columns - p * COLUMNS;
            piece at = {block->batch, block->row + r, block->column + p * COLUMNS,
                        left < COLUMNS ? left : COLUMNS,
                        (const char *)sums + (p * QDQ_GEMM_BLOCK_ROWS + r) * COLUMNS * 4};
            char *to = y + (at.row * g->y.row_stride + at.column * g->y.column_stride) * size;
            uint32_t made[COLUMNS];
            if (g->y.column_stride == 1) {
                fn(g, tensors, &at, to);
                continue;
            }
            fn(g, tensors, &at, made);
            for (size_t j = 0; j < at.n; j++)
                memcpy(to + j * g->y.column_stride * size, (char *)made + j * size, size);
        }
}

// What goes with the n columns of a piece, as they are.
static const void *along(const qdq_gemm_along *of, const qdq_tensors *tensors, size_t base,
                         const piece *at, void *out) {
    const char *from = (const char *)qdq_gemm_numbers(of, tensors) +
                       (base + at->row * of->row_stride + at->column * of->column_stride) *
                           qdq_dtype_size(of->dtype);
    if (of->column_stride == 1) return from;
    qdq_gemm_gather(of->dtype, from, of->column_stride, at->n, out);
    return out;
}

// The same as floats: where they lie, or in `out`. All 32 may be read, which is what makes vectors
// of the loops over them.
static const float *floats_along(const qdq_gemm *g, const qdq_gemm_along *of,
                                 const qdq_tensors *tensors, size_t base, const piece *at,
                                 float *out) {
    uint32_t raw[COLUMNS];
    const void *numbers = along(of, tensors, base, at, raw);
    if (of->dtype == QDQ_FLOAT32 && numbers != raw && at->n == COLUMNS) return numbers;
    g->kernel->widen(of->dtype, numbers, out, at->n);
    for (size_t j = at->n; j < COLUMNS; j++) out[j] = 0;
    return out;
}

//---- Floats -----------------------------------------------------------------

static void add_floats(float *restrict v, const float *restrict more) {
    for (size_t j = 0; j < COLUMNS; j++) v[j] += more[j];
}

// `v` has 32 numbers, of which some may not be wanted.
static void finish_floats(const qdq_gemm *g, const qdq_tensors *tensors, const piece *at, float *v,
                          void *y) {
    if (g->bias.port != SIZE_MAX) {
        float room[COLUMNS];
        size_t first = qdq_gemm_at(g, g->batches.bias, at->batch);
        const float *bias = floats_along(g, &g->bias, tensors, first, at, room);
        add_floats(v, bias);
    }
    const float quiet = qdq_float_from_bits(0x7FC00000);
    for (size_t j = 0; j < COLUMNS; j++) v[j] = v[j] == v[j] ? v[j] : quiet;
    g->kernel->narrow(g->y.dtype, v, y, at->n);
}

static void piece_of_floats(const qdq_gemm *g, const qdq_tensors *tensors, const piece *at,
                            void *y) {
    float v[COLUMNS];
    memcpy(v, at->sums, sizeof v);
    finish_floats(g, tensors, at, v, y);
}

void qdq_gemm_finish_float(const qdq_gemm *g, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, const void *sums) {
    each_piece(g, tensors, block, sums, piece_of_floats);
}

//---- Codes ------------------------------------------------------------------

// A sum of floats that is zero is +0, whatever the signs of the scales: so it is here.
static void scale_sums(float *restrict v, const int32_t *restrict sums,
                       const float *restrict scale) {
    for (size_t j = 0; j < COLUMNS; j++) v[j] = (float)sums[j] * scale[j] + 0.0f;
}

static void piece_scaled(const qdq_gemm *g, const qdq_tensors *tensors, const piece *at, void *y) {
    float v[COLUMNS], room[COLUMNS];
    size_t first = qdq_gemm_at(g, g->batches.b, at->batch) * g->weights.scale_stride;
    const float *scale = floats_along(g, &g->b_scale, tensors, first, at, room);
    scale_sums(v, at->sums, scale);
    finish_floats(g, tensors, at, v, y);
}

void qdq_gemm_finish_scaled(const qdq_gemm *g, const qdq_tensors *tensors,
                            const qdq_gemm_block *block, const void *sums) {
    each_piece(g, tensors, block, sums, piece_scaled);
}

//---- Integers ---------------------------------------------------------------

static void piece_of_int32(const qdq_gemm *g, const qdq_tensors *tensors, const piece *at,
                           void *y) {
    (void)g, (void)tensors;
    memcpy(y, at->sums, at->n * sizeof(int32_t));
}

void qdq_gemm_finish_int32(const qdq_gemm *g, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, const void *sums) {
    each_piece(g, tensors, block, sums, piece_of_int32);
}

static void add_bias(const qdq_gemm *g, const qdq_tensors *tensors, const piece *at, int32_t *v) {
    if (g->bias.port == SIZE_MAX) return;
    int32_t raw[COLUMNS];
    const int32_t *bias =
        along(&g->bias, tensors, qdq_gemm_at(g, g->batches.bias, at->batch), at, raw);
    for (size_t j = 0; j < at->n; j++) v[j] = (int32_t)((uint32_t)v[j] + (uint32_t)bias[j]);
}

// fl(fl(a_scale * b_scale) / y_scale) for each column.
static void multipliers(const qdq_gemm *g, const qdq_tensors *tensors, const piece *at,
                        float *out) {
    float rooms[3][COLUMNS];
    size_t of_a = qdq_gemm_at(g, g->batches.a_scale, at->batch);
    size_t of_b = qdq_gemm_at(g, g->batches.b, at->batch) * g->weights.scale_stride;
    const float *a = floats_along(g, &g->a_scale, tensors, of_a, at, rooms[0]);
    const float *b = floats_along(g, &g->b_scale, tensors, of_b, at, rooms[1]);
    const float *y = floats_along(g, &g->y_scale, tensors, 0, at, rooms[2]);
    for (size_t j = 0; j < at->n; j++) out[j] = a[j] * b[j] / y[j];
}

// Bounds less the zero point are applied before rounding, which is the same as they are whole. NaN
// becomes the lower one.
static void piece_requantized(const qdq_gemm *g, const qdq_tensors *tensors, const piece *at,
                              void *y) {
    int32_t v[COLUMNS];
    float m[COLUMNS];
    int32_t zero = qdq_gemm_integer_at(g->y_zero.dtype, tensors->x[g->y_zero.port], 0);
    const qdq_dtype_info *info = qdq_dtype_get(g->y.dtype);
    float low = (float)(info->least - zero), high = (float)(info->greatest - zero);
    memcpy(v, at->sums, at->n * sizeof *v);
    add_bias(g, tensors, at, v);
    multipliers(g, tensors, at, m);
    for (size_t j = 0; j < at->n; j++) {
        float x = (float)v[j] * m[j];
        x = x > low ? x : low;
        x = x < high ? x : high;
        v[j] = (int32_t)rintf(x) + zero;
    }
    qdq_encode_int(g->y.dtype, v, y, at->n);
}

void qdq_gemm_finish_requantized(const qdq_gemm *g, const qdq_tensors *tensors,
                                 const qdq_gemm_block *block, const void *sums) {
    each_piece(g, tensors, block, sums, piece_requantized);
}
