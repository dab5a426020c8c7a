// SPDX-License-Identifier: Apache-2.0
// The epilogues, which turn the sums of a product into y.
#include <math.h>

#include "ops/gemm/gemm.h"
#include "ops/kernels/transpose_block.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fma.h"

enum { ROWS = QDQ_GEMM_MOST_ROWS, COLUMNS = QDQ_GEMM_BLOCK_COLUMNS, PANEL = QDQ_GEMM_COLUMNS };

// Some columns of a row.
typedef struct row_part {
    size_t batch, row, column, n;
} row_part;

static row_part row_of(const qdq_gemm_block *block, size_t r) {
    return (row_part){block->batch, block->row + r, block->column, block->columns};
}

//---- Numbers of columns -----------------------------------------------------

// Returns the numbers (bias, scales) of the columns at `at`, unchanged.
static const void *along(const qdq_gemm_along *of, const qdq_tensors *tensors, size_t base,
                         const row_part *at, void *out) {
    const char *from = (const char *)qdq_gemm_numbers(of, tensors) +
                       (base + at->row * of->row_stride + at->column * of->column_stride) *
                           qdq_dtype_size(of->dtype);
    if (of->column_stride == 1) return from;
    qdq_gemm_gather(of->dtype, from, of->column_stride, at->n, out);
    return out;
}

// The same as floats. Beyond n, to the end of a panel, they are 0.
static void own_floats(const qdq_gemm *g, const qdq_gemm_along *of, const qdq_tensors *tensors,
                       size_t base, const row_part *at, float *out) {
    uint32_t raw[COLUMNS];
    if (!of->column_stride) {
        row_part first = *at;
        first.n = 1;
        g->kernel->widen(of->dtype, along(of, tensors, base, &first, raw), out, 1);
        for (size_t j = 1; j < at->n; j++) out[j] = out[0];
    } else {
        g->kernel->widen(of->dtype, along(of, tensors, base, at, raw), out, at->n);
    }
    for (size_t j = at->n; j % PANEL; j++) out[j] = 0;
}

static void floats_along(const qdq_gemm *g, const qdq_gemm_along *of, const qdq_tensors *tensors,
                         size_t base, const row_part *at, float *out) {
    if (g->shared <= 1) {
        own_floats(g, of, tensors, base, at, out);
        return;
    }
    float numbers[COLUMNS];
    size_t first = at->column / g->shared, end = (at->column + at->n - 1) / g->shared + 1;
    own_floats(g, of, tensors, base, &(row_part){at->batch, at->row, first, end - first}, numbers);
    for (size_t j = 0; j < at->n; j++) out[j] = numbers[(at->column + j) / g->shared - first];
    for (size_t j = at->n; j % PANEL; j++) out[j] = 0;
}

//---- To y ---------------------------------------------------------------------

static size_t place_of(const qdq_gemm *g, const qdq_gemm_block *block) {
    return qdq_gemm_at(g, g->batches.y, block->batch) + block->row * g->y.row_stride +
           block->column * g->y.column_stride;
}

void qdq_gemm_put_chunk(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_chunk *chunk) {
    size_t size = qdq_dtype_size(qdq_gemm_result_dtype(g));
    if (tensors->sink) {
        tensors->sink(tensors->sink_self, chunk);
        return;
    }
    for (size_t i = 0; i < chunk->count; i++)
        memcpy((char *)tensors->y[0] + (chunk->at + i * chunk->stride) * size,
               (const char *)chunk->data + i * chunk->n * size, chunk->n * size);
}

// Hands a block of y on, whose rows lie one after the other.
static void put_rows(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                     const void *rows) {
    uint32_t out[ROWS * COLUMNS];
    size_t size = qdq_dtype_size(qdq_gemm_result_dtype(g)), n = block->columns;
    if (g->put_rows) {
        g->put_rows(g, tensors, block, rows);
        return;
    }
    size_t at = place_of(g, block);
    if (g->y.column_stride == 1 || n == 1) {
        qdq_gemm_put_chunk(g, tensors, &(qdq_chunk){at, n, block->rows, g->y.row_stride, rows});
        return;
    }
    const void *from[ROWS];
    for (size_t r = 0; r < block->rows; r++) from[r] = (const char *)rows + r * n * size;
    qdq_transpose_block(size, from, block->rows, n, out, block->rows);
    qdq_gemm_put_chunk(g, tensors, &(qdq_chunk){at, block->rows, n, g->y.column_stride, out});
}

//---- Reals --------------------------------------------------------------------

// The scale and bias of the columns of a row.
typedef struct reals {
    bool scaled, biased;
    float scale[COLUMNS], bias[COLUMNS];
} reals;

static void set_reals(const qdq_gemm *g, const qdq_tensors *tensors, const row_part *at,
                      reals *to) {
    size_t of_bias = qdq_gemm_at(g, g->batches.bias, at->batch);
    size_t of_scale = qdq_gemm_at(g, g->batches.b, at->batch) * g->weights.scale_stride;
    if (to->biased) floats_along(g, &g->bias, tensors, of_bias, at, to->bias);
    if (to->scaled) floats_along(g, &g->b_scale, tensors, of_scale, at, to->scale);
}

void qdq_gemm_begin_with_bias(const qdq_gemm *g, const qdq_tensors *tensors,
                              const qdq_gemm_block *block, float *sums, size_t stride) {
    size_t base = qdq_gemm_at(g, g->batches.bias, block->batch);
    for (size_t r = 0; r < block->rows; r++) {
        row_part at = row_of(block, r);
        floats_along(g, &g->bias, tensors, base, &at, sums + r * stride);
    }
}

// floats_along, for the rows of a block.
static void floats_of_rows(const qdq_gemm *g, const qdq_gemm_along *of, const qdq_tensors *tensors,
                           size_t base, const qdq_gemm_block *block, float *out) {
    qdq_gemm_along turned = *of;
    row_part rows = {block->batch, block->column, block->row, block->rows};
    turned.row_stride = of->column_stride, turned.column_stride = of->row_stride;
    floats_along(g, &turned, tensors, base, &rows, out);
}

void qdq_gemm_row_reals(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                        float *scale, float *bias) {
    size_t of_bias = qdq_gemm_at(g, g->batches.bias, block->batch);
    size_t of_scale = qdq_gemm_at(g, g->batches.b, block->batch) * g->weights.scale_stride;
    if (bias) floats_of_rows(g, &g->bias, tensors, of_bias, block, bias);
    if (scale) floats_of_rows(g, &g->b_scale, tensors, of_scale, block, scale);
    for (size_t r = 0; bias && g->order.by_taps && r < block->rows; r++)
        bias[r] += 0.0f;  // no sum of taps is -0
}

static void set_row_reals(const qdq_gemm *g, const qdq_tensors *tensors,
                          const qdq_gemm_block *block, reals *to) {
    qdq_gemm_row_reals(g, tensors, block, to->scaled ? to->scale : NULL,
                       to->biased ? to->bias : NULL);
}

// Converts sums with a scale and a bias per row, not per column.
static void rows_to_reals(const qdq_gemm *g, const qdq_tensors *tensors,
                          const qdq_gemm_block *block, void *sums, size_t stride, reals *of) {
    set_row_reals(g, tensors, block, of);
    g->kernel->real_rows(&(qdq_gemm_real_rows){.sums = sums,
                                               .stride = stride,
                                               .rows = block->rows,
                                               .n = block->columns,
                                               .scale = of->scaled ? of->scale : NULL,
                                               .bias = of->biased ? of->bias : NULL,
                                               .out = sums});
}

static void columns_to_reals(const qdq_gemm *g, const qdq_tensors *tensors,
                             const qdq_gemm_block *block, void *sums, size_t stride, reals *of) {
    size_t n = block->columns, whole = (n + PANEL - 1) / PANEL * PANEL;
    for (size_t r = 0; r < block->rows; r++) {
        row_part at = row_of(block, r);
        if (r == 0 || (of->biased && g->bias.row_stride)) set_reals(g, tensors, &at, of);
        g->kernel->reals((float *)sums + r * stride, of->scaled ? of->scale : NULL,
                         of->biased ? of->bias : NULL, (float *)sums + r * n, whole);
    }
}

//---- Codes ----------------------------------------------------------------------

qdq_stage_quantize *qdq_gemm_offer_quantize(qdq_gemm *g, qdq_mempool *mempool) {
    bool of_reals =
        g->epilogue == qdq_gemm_epilogue_float || g->epilogue == qdq_gemm_epilogue_scaled;
    if (!of_reals || g->y.dtype != QDQ_FLOAT32) return NULL;
    qdq_stage_quantize *quantize = QDQ_MEMPOOL_NEW(mempool, qdq_stage_quantize);
    g->quantize = quantize;
    return quantize;
}

qdq_stage_finish *qdq_gemm_offer_finish(qdq_gemm *g, qdq_mempool *mempool) {
    if (g->epilogue != qdq_gemm_epilogue_float || g->y.dtype != QDQ_FLOAT32 || g->put_rows)
        return NULL;
    qdq_stage_finish *finish = QDQ_MEMPOOL_NEW(mempool, qdq_stage_finish);
    g->finish = finish;
    return finish;
}

// Describes the rows that the kernel turns into codes by the Quantize of a product.
static qdq_gemm_code_rows code_rows_of(const qdq_gemm *g) {
    const qdq_stage_quantize *by = g->quantize;
    return (qdq_gemm_code_rows){.fn = by->fn, .params = by->params, .views = by->views};
}

bool qdq_gemm_quantizes_sums(const qdq_gemm *g) {
    if (!qdq_gemm_quantizes(g) || !g->kernel->code_rows) return false;
    qdq_gemm_code_rows none = code_rows_of(g);
    return !g->bias.column_stride && !g->b_scale.column_stride && g->kernel->code_rows(&none);
}

// Turns sums into codes in registers, without a float in memory. False if the kernel cannot.
static bool sums_to_codes(const qdq_gemm *g, const qdq_tensors *tensors,
                          const qdq_gemm_block *block, const void *sums, size_t stride,
                          bool by_column, reals *of, void *out, size_t out_stride) {
    row_part first = row_of(block, 0);
    qdq_gemm_code_rows rows = code_rows_of(g);
    if (!g->kernel->code_rows || (by_column && of->biased && g->bias.row_stride)) return false;
    if (by_column)
        set_reals(g, tensors, &first, of);
    else
        set_row_reals(g, tensors, block, of);
    rows.sums = sums, rows.stride = stride;
    rows.rows = block->rows, rows.n = block->columns;
    rows.scale = of->scaled ? of->scale : NULL;
    rows.bias = of->biased ? of->bias : NULL;
    rows.by_column = by_column;
    rows.out = out, rows.out_stride = out_stride;
    return g->kernel->code_rows(&rows);
}

// Writes codes into y itself if the rows of y have the layout of the block.
static void epilogue_codes(const qdq_gemm *g, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, void *sums, size_t stride, bool by_column,
                           reals *of) {
    const qdq_stage_quantize *by = g->quantize;
    char codes[ROWS * COLUMNS];
    bool in_place = !tensors->sink && g->y.column_stride == 1 && !g->put_rows;
    void *out = in_place ? (char *)tensors->y[0] + place_of(g, block) : codes;
    size_t n = block->columns;
    if (!sums_to_codes(g, tensors, block, sums, stride, by_column, of, out,
                       in_place ? g->y.row_stride : n)) {
        (by_column ? columns_to_reals : rows_to_reals)(g, tensors, block, sums, stride, of);
        by->fn(by->params, by->views, sums, codes, block->rows * n);
        in_place = false;
    }
    if (!in_place) put_rows(g, tensors, block, codes);
}

// Converts rows to the dtype of y and moves them together in place: none is longer than its sums. A
// row that ends within a panel writes to the end of the panel, which the next row then overwrites.
static void epilogue_reals(const qdq_gemm *g, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, void *sums, size_t stride, bool scaled) {
    bool biased = g->bias.port != SIZE_MAX && !g->order.bias_first;
    reals of = {.scaled = scaled, .biased = biased};
    bool by_column = (biased && g->bias.column_stride) || (scaled && g->b_scale.column_stride);
    size_t n = block->columns, size = qdq_dtype_size(g->y.dtype);
    if (qdq_gemm_quantizes(g)) {
        epilogue_codes(g, tensors, block, sums, stride, by_column, &of);
        return;
    }
    (by_column ? columns_to_reals : rows_to_reals)(g, tensors, block, sums, stride, &of);
    for (size_t r = 0; r < block->rows && g->y.dtype != QDQ_FLOAT32; r++) {
        uint16_t made[COLUMNS];
        g->kernel->narrow(g->y.dtype, (float *)sums + r * n, made, n);
        memcpy((char *)sums + r * n * size, made, n * size);
    }
    put_rows(g, tensors, block, sums);
}

void qdq_gemm_epilogue_float(const qdq_gemm *g, const qdq_tensors *tensors,
                             const qdq_gemm_block *block, void *sums, size_t stride) {
    epilogue_reals(g, tensors, block, sums, stride, false);
}

void qdq_gemm_epilogue_scaled(const qdq_gemm *g, const qdq_tensors *tensors,
                              const qdq_gemm_block *block, void *sums, size_t stride) {
    epilogue_reals(g, tensors, block, sums, stride, true);
}

//---- Integers ---------------------------------------------------------------

void qdq_gemm_epilogue_int32(const qdq_gemm *g, const qdq_tensors *tensors,
                             const qdq_gemm_block *block, void *sums, size_t stride) {
    size_t n = block->columns;
    for (size_t r = 0; r < block->rows; r++)
        memmove((int32_t *)sums + r * n, (int32_t *)sums + r * stride, n * sizeof(int32_t));
    put_rows(g, tensors, block, sums);
}

// The numbers that scale a row: for each column the bias of the sum, fl(fl(fl(alpha * a_scale) *
// b_scale) / y_scale), without the quotient if there is no y_scale, and the bias of the product.
typedef struct requantized {
    int32_t bias[COLUMNS];
    float multiplier[COLUMNS], real_bias[COLUMNS];
} requantized;

static void set_columns(const qdq_gemm *g, const qdq_tensors *tensors, const row_part *at,
                        requantized *to) {
    float a[COLUMNS] = {0}, b[COLUMNS] = {0}, y[COLUMNS] = {0};
    size_t of_a = qdq_gemm_at(g, g->batches.a_scale, at->batch);
    size_t of_b = qdq_gemm_at(g, g->batches.b, at->batch) * g->weights.scale_stride;
    floats_along(g, &g->a_scale, tensors, of_a, at, a);
    floats_along(g, &g->b_scale, tensors, of_b, at, b);
    bool divided = g->y_scale.port != SIZE_MAX;
    if (divided) floats_along(g, &g->y_scale, tensors, 0, at, y);
    for (size_t j = 0; j < at->n; j++) {
        float product = g->alpha * a[j] * b[j];
        to->multiplier[j] = divided ? product / y[j] : product;
    }
    memset(to->bias, 0, sizeof to->bias);
    if (g->bias.port == SIZE_MAX) return;
    if (g->bias.dtype != QDQ_INT32) {
        floats_along(g, &g->bias, tensors, qdq_gemm_at(g, g->batches.bias, at->batch), at,
                     to->real_bias);
        return;
    }
    int32_t raw[COLUMNS];
    size_t of_bias = qdq_gemm_at(g, g->batches.bias, at->batch);
    memcpy(to->bias, along(&g->bias, tensors, of_bias, at, raw), at->n * sizeof to->bias[0]);
}

static void set_requantized(const qdq_gemm *g, const qdq_tensors *tensors, const row_part *at,
                            requantized *to) {
    row_part own = *at;
    bool differ = g->bias.column_stride || g->a_scale.column_stride || g->b_scale.column_stride;
    if (!differ) own.n = 1;
    set_columns(g, tensors, &own, to);
    for (size_t j = own.n; j < at->n; j++)
        to->bias[j] = to->bias[0], to->multiplier[j] = to->multiplier[0],
        to->real_bias[j] = to->real_bias[0];
}

// Applying the bounds minus the zero point before rounding gives the same, because they are
// integers. NaN becomes the lower bound.
static void requantize(const requantized *with, const qdq_dtype_info *info, int32_t zero,
                       int32_t *v, size_t n) {
    float low = (float)(info->least - zero), high = (float)(info->greatest - zero);
    for (size_t j = 0; j < n; j++) {
        float x = (float)(int32_t)((uint32_t)v[j] + (uint32_t)with->bias[j]) * with->multiplier[j];
        x = x > low ? x : low;
        x = x < high ? x : high;
        v[j] = (int32_t)rintf(x) + zero;
    }
}

void qdq_gemm_epilogue_requantized(const qdq_gemm *g, const qdq_tensors *tensors,
                                   const qdq_gemm_block *block, void *sums, size_t stride) {
    requantized with;
    int32_t zero = 0;
    if (g->y_zero.port != SIZE_MAX)
        zero = qdq_gemm_integer_at(g->y_zero.dtype, tensors->x[g->y_zero.port], 0);
    const qdq_dtype_info *info = qdq_dtype_get(g->y.dtype);
    size_t n = block->columns;
    bool rows_differ = g->a_scale.row_stride || g->b_scale.row_stride || g->bias.row_stride;
    for (size_t r = 0; r < block->rows; r++) {
        row_part at = row_of(block, r);
        if (r == 0 || rows_differ) set_requantized(g, tensors, &at, &with);
        int32_t *row = (int32_t *)sums + r * stride;
        char made[COLUMNS];
        requantize(&with, info, zero, row, n);
        qdq_encode_int(g->y.dtype, row, made, n);
        memcpy((char *)sums + r * n, made, n);
    }
    put_rows(g, tensors, block, sums);
}

// Multiplies sums, and adds the biases of the products.
static void multiply(const qdq_gemm *g, const requantized *with, bool biased, float *v, size_t n) {
    if (biased && g->fused_bias) {
        for (size_t j = 0; j < n; j++)
            v[j] = qdq_fmaf(v[j], with->multiplier[j], with->real_bias[j]);
    } else {
        for (size_t j = 0; j < n; j++) v[j] *= with->multiplier[j];
        for (size_t j = 0; biased && j < n; j++) v[j] += with->real_bias[j];
    }
    for (size_t j = 0; j < n; j++)
        if (isnan(v[j])) v[j] = qdq_float_from_bits(0x7FC00000);
}

void qdq_gemm_epilogue_multiplied(const qdq_gemm *g, const qdq_tensors *tensors,
                                  const qdq_gemm_block *block, void *sums, size_t stride) {
    requantized with;
    size_t n = block->columns, size = qdq_dtype_size(g->y.dtype);
    bool biased = g->bias.port != SIZE_MAX && g->bias.dtype != QDQ_INT32;
    bool rows_differ = g->a_scale.row_stride || g->b_scale.row_stride || g->bias.row_stride;
    for (size_t r = 0; r < block->rows; r++) {
        row_part at = row_of(block, r);
        const int32_t *row = (int32_t *)sums + r * stride;
        float made[COLUMNS];
        if (r == 0 || rows_differ) set_requantized(g, tensors, &at, &with);
        for (size_t j = 0; j < n; j++)
            made[j] = (float)(int32_t)((uint32_t)row[j] + (uint32_t)with.bias[j]);
        multiply(g, &with, biased, made, n);
        g->kernel->narrow(g->y.dtype, made, (char *)sums + r * n * size, n);
    }
    put_rows(g, tensors, block, sums);
}
