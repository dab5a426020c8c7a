// SPDX-License-Identifier: Apache-2.0
// Packs rows of A of a product, and B in panels of 32 columns, as the kernels take them.
#include "ops/gemm/gemm_read.h"
#include "ops/kernels/transpose_block.h"
#include "ops/operand.h"
#include "runtime/numerics/dtype.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_DEPTH };

//---- Elements ---------------------------------------------------------------

void qdq_gemm_gather(qdq_dtype dtype, const void *x, size_t stride, size_t n, void *out) {
    size_t size = qdq_dtype_size(dtype);
    if (stride == 1) {
        memcpy(out, x, n * size);
    } else if (size == 4) {
        for (size_t i = 0; i < n; i++) ((uint32_t *)out)[i] = ((const uint32_t *)x)[i * stride];
    } else if (size == 2) {
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = ((const uint16_t *)x)[i * stride];
    } else {
        for (size_t i = 0; i < n; i++) ((uint8_t *)out)[i] = ((const uint8_t *)x)[i * stride];
    }
}

void qdq_gemm_less(qdq_dtype dtype, const void *x, int32_t zero_point, int16_t *out, size_t n) {
    if (dtype == QDQ_INT8)
        for (size_t i = 0; i < n; i++) out[i] = (int16_t)(((const int8_t *)x)[i] - zero_point);
    else
        for (size_t i = 0; i < n; i++) out[i] = (int16_t)(((const uint8_t *)x)[i] - zero_point);
}

int32_t qdq_gemm_integer_at(qdq_dtype dtype, const void *x, size_t at) {
    int32_t value;
    qdq_decode_int(dtype, (const char *)x + at * qdq_dtype_size(dtype), &value, 1);
    return value;
}

//---- A ----------------------------------------------------------------------

// Adds 128 to the codes of int8, so that they are unsigned.
static void unsign(qdq_dtype dtype, const void *x, uint8_t *out, size_t n) {
    memcpy(out, x, n);
    for (size_t i = 0; dtype == QDQ_INT8 && i < n; i++) out[i] ^= 0x80;
}

void qdq_gemm_pack_row(const qdq_gemm *g, int32_t zero, const void *raw, size_t n, size_t row,
                       void *a) {
    char *to = (char *)a + row * QDQ_GEMM_ROW_BYTES;
    size_t used = n * qdq_gemm_size(g->kind);
    if (g->kind == QDQ_GEMM_BYTES)
        unsign(g->a_dtype, raw, (uint8_t *)to, n);
    else if (g->kind == QDQ_GEMM_BFLOATS || qdq_gemm_saturates(g->kind))
        memcpy(to, raw, used);
    else if (g->kind == QDQ_GEMM_INTEGERS)
        qdq_gemm_less(g->a_dtype, raw, zero, (int16_t *)(void *)to, n);
    else
        g->kernel->widen(g->a_dtype, raw, (float *)(void *)to, n);
    memset(to + used, 0, qdq_gemm_steps(g->kind, n) * QDQ_GEMM_STEP_BYTES - used);
}

// Packs rows of float32, whose k are neighbours in memory.
static void copy_rows(const char *x, size_t stride, size_t rows, size_t n, char *a) {
    for (size_t r = 0; r < rows; r++)
        memcpy(a + r * QDQ_GEMM_ROW_BYTES, x + r * stride, n * sizeof(float));
}

// Returns the zero point of a row.
static int32_t row_zero(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                        size_t row) {
    if (g->a_zero.port == SIZE_MAX) return 0;
    size_t zeros = qdq_gemm_at(g, g->batches.a_zero, block->batch);
    return qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors),
                               zeros + row * g->a_zero.row_stride);
}

// Packs rows of an operand in tiles; `at`: element k of the first row.
static void pack_from_tiles(const qdq_gemm *g, const qdq_tensors *tensors,
                            const qdq_gemm_block *block, size_t at, size_t n, char *a) {
    enum { AT_ONCE = 4 };
    uint32_t raw[AT_ONCE][DEPTH];
    size_t size = qdq_dtype_size(g->a_dtype);
    qdq_operand_rows rows = {at, n, block->rows, g->a_row_stride};
    if (g->kind == QDQ_GEMM_BFLOATS || (g->kind == QDQ_GEMM_FLOATS && size == sizeof(float))) {
        size_t used = n * size, whole = qdq_gemm_steps(g->kind, n) * QDQ_GEMM_STEP_BYTES;
        qdq_operand_copy(tensors, g->a_port, size, &rows, a, QDQ_GEMM_ROW_BYTES);
        for (size_t r = 0; used < whole && r < block->rows; r++)
            memset(a + r * QDQ_GEMM_ROW_BYTES + used, 0, whole - used);
        return;
    }
    for (size_t r = 0; r < block->rows; r += rows.count) {
        rows.at = at + r * g->a_row_stride;
        rows.count = block->rows - r < AT_ONCE ? block->rows - r : AT_ONCE;
        qdq_operand_copy(tensors, g->a_port, size, &rows, raw, sizeof raw[0]);
        for (size_t i = 0; i < rows.count; i++)
            qdq_gemm_pack_row(g, row_zero(g, tensors, block, block->row + r + i), raw[i], n, r + i,
                              a);
    }
}

unsigned qdq_gemm_pack_rows(const qdq_gemm *g, const qdq_tensors *tensors,
                            const qdq_gemm_block *block, size_t k, size_t n, void *a,
                            uint16_t (*keep)[QDQ_GEMM_KEEP]) {
    (void)keep;
    size_t size = qdq_dtype_size(g->a_dtype);
    size_t at = qdq_gemm_at(g, g->batches.a, block->batch) + k * g->a_depth_stride;
    if (qdq_operand_tiling(tensors, g->a_port)) {
        pack_from_tiles(g, tensors, block, at + block->row * g->a_row_stride, n, a);
        return 0;
    }
    const char *x = (const char *)tensors->x[g->a_port] + at * size;
    if (g->kind == QDQ_GEMM_FLOATS && g->a_dtype == QDQ_FLOAT32 && g->a_depth_stride == 1) {
        copy_rows(x + block->row * g->a_row_stride * size, g->a_row_stride * size, block->rows, n,
                  a);
        return 0;
    }
    for (size_t r = 0; r < block->rows; r++) {
        size_t row = block->row + r;
        const void *from = x + row * g->a_row_stride * size;
        uint32_t raw[DEPTH];
        if (g->a_depth_stride != 1) {
            qdq_gemm_gather(g->a_dtype, from, g->a_depth_stride, n, raw);
            from = raw;
        }
        qdq_gemm_pack_row(g, row_zero(g, tensors, block, row), from, n, r, a);
    }
    return 0;
}

//---- B ----------------------------------------------------------------------

// Packs k..k + n of a column, copied in runs of elements at an even distance.
static void gather_column(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k,
                          size_t n, void *out) {
    const qdq_gemm_weights *w = &g->weights;
    size_t size = qdq_dtype_size(w->dtype);
    bool even = w->depth_stride == w->taps * w->tap_stride && !w->block;
    for (size_t done = 0; done < n;) {
        size_t at = k + done, taps = w->taps;
        if (w->block && at >= w->whole) taps = w->last_taps;
        size_t left = taps - (w->block ? at % w->block : at) % taps;
        size_t run = even || left > n - done ? n - done : left;
        size_t stride = w->tap_stride;
        if (w->taps == 1 && !w->block) run = n - done, stride = w->depth_stride;
        qdq_gemm_gather(w->dtype, qdq_gemm_source_at(g, from, at, column), stride, run,
                        (char *)out + done * size);
        done += run;
    }
}

int32_t qdq_gemm_column_zero(const qdq_gemm *g, const qdq_gemm_source *from, size_t column) {
    if (!from->zeros) return 0;
    return qdq_gemm_integer_at(g->b_zero.dtype, from->zeros,
                               from->zero_at +
                                   column / (g->shared ? g->shared : 1) * g->b_zero.column_stride);
}

void qdq_gemm_column(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k,
                     size_t n, void *out) {
    uint32_t raw[DEPTH];
    bool as_it_is = g->kind == QDQ_GEMM_BFLOATS ||
                    (g->kind == QDQ_GEMM_FLOATS && g->weights.dtype == QDQ_FLOAT32);
    gather_column(g, from, column, k, n, as_it_is ? out : raw);
    if (as_it_is) return;
    if (g->kind != QDQ_GEMM_FLOATS)
        qdq_gemm_less(g->weights.dtype, raw, qdq_gemm_column_zero(g, from, column), out, n);
    else
        g->kernel->widen(g->weights.dtype, raw, out, n);
}

// Packs the codes of columns that are neighbours in memory, minus the zero point of each.
static void subtract_zeros(qdq_dtype dtype, const void *x, const int16_t *zeros, size_t n,
                           int16_t *out) {
    const int8_t *signs = x;
    const uint8_t *codes = x;
    if (dtype == QDQ_INT8)
        for (size_t j = 0; j < n; j++) out[j] = (int16_t)(signs[j] - zeros[j]);
    else
        for (size_t j = 0; j < n; j++) out[j] = (int16_t)(codes[j] - zeros[j]);
}

// Packs two k whose columns are neighbours in memory. `zeros`: of each column.
static void pack_pair(const qdq_gemm *g, const qdq_gemm_source *from, const qdq_gemm_block *part,
                      size_t k, size_t rows, const int16_t *zeros, int16_t *pairs) {
    int16_t row[2][COLUMNS] = {{0}};
    for (size_t i = 0; i < rows; i++) {
        const void *of_k = qdq_gemm_source_at(g, from, k + i, part->column);
        if (g->kind == QDQ_GEMM_BFLOATS)
            memcpy(row[i], of_k, part->columns * sizeof row[i][0]);
        else
            subtract_zeros(g->weights.dtype, of_k, zeros, part->columns, row[i]);
    }
    for (size_t j = 0; j < COLUMNS; j++) pairs[j * 2] = row[0][j], pairs[j * 2 + 1] = row[1][j];
}

// Packs pairs of int16_t or bfloat16.
static void pack_pairs(const qdq_gemm *g, const qdq_gemm_source *from, const qdq_gemm_block *part,
                       size_t k, size_t n, int16_t *panel) {
    if (g->weights.column_stride == 1 && part->columns > 1) {
        int16_t zeros[COLUMNS];
        for (size_t j = 0; j < part->columns; j++)
            zeros[j] = (int16_t)qdq_gemm_column_zero(g, from, part->column + j);
        for (size_t i = 0; i < n; i += 2)
            pack_pair(g, from, part, k + i, n - i < 2 ? 1 : 2, zeros, panel + i * COLUMNS);
        return;
    }
    int16_t column[DEPTH + 1];
    for (size_t j = 0; j < part->columns; j++) {
        qdq_gemm_column(g, from, part->column + j, k, n, column);
        column[n] = 0;
        for (size_t i = 0; i < n; i += 2) {
            panel[i * COLUMNS + j * 2] = column[i];
            panel[i * COLUMNS + j * 2 + 1] = column[i + 1];
        }
    }
}

// True if k + 1 of a column lies behind k.
static bool has_dense_columns(const qdq_gemm_weights *w) {
    if (w->block) return false;
    return w->taps == 1 ? w->depth_stride == 1 : w->tap_stride == 1 && w->depth_stride == w->taps;
}

// float32 whose columns or k are neighbours in memory. Rows of a whole panel have a known length.
static bool copy_floats(const qdq_gemm *g, const qdq_gemm_source *from, const qdq_gemm_block *part,
                        size_t k, size_t n, float *panel) {
    const qdq_gemm_weights *w = &g->weights;
    const float *x = qdq_gemm_source_at(g, from, k, part->column);
    const void *columns[COLUMNS];
    if (w->dtype != QDQ_FLOAT32) return false;
    if (w->taps == 1 && !w->block && w->column_stride == 1 && part->columns == COLUMNS) {
        for (size_t i = 0; i < n; i++)
            memcpy(panel + i * COLUMNS, x + i * w->depth_stride, COLUMNS * sizeof *panel);
        return true;
    }
    if (!has_dense_columns(w)) return false;
    for (size_t j = 0; j < part->columns; j++)
        columns[j] = qdq_gemm_source_at(g, from, k, part->column + j);
    qdq_transpose_block(sizeof *panel, columns, part->columns, n, panel, COLUMNS);
    return true;
}

static void pack_floats(const qdq_gemm *g, const qdq_gemm_source *from, const qdq_gemm_block *part,
                        size_t k, size_t n, float *panel) {
    const qdq_gemm_weights *w = &g->weights;
    if (copy_floats(g, from, part, k, n, panel)) return;
    if (w->column_stride == 1 && part->columns > 1) {
        for (size_t i = 0; i < n; i++)
            g->kernel->widen(w->dtype, qdq_gemm_source_at(g, from, k + i, part->column),
                             panel + i * COLUMNS, part->columns);
        return;
    }
    float column[DEPTH] = {0};
    for (size_t j = 0; j < part->columns; j++) {
        qdq_gemm_column(g, from, part->column + j, k, n, column);
        for (size_t i = 0; i < n; i++) panel[i * COLUMNS + j] = column[i];
    }
}

static void pack(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k, size_t n,
                 void *panel) {
    size_t left = g->columns - column;
    qdq_gemm_block part = {.column = column, .columns = left < COLUMNS ? left : COLUMNS};
    if (part.columns < COLUMNS)
        memset(panel, 0, qdq_gemm_steps(g->kind, n) * COLUMNS * QDQ_GEMM_STEP_BYTES);
    if (g->kind == QDQ_GEMM_INTEGERS || g->kind == QDQ_GEMM_BFLOATS)
        pack_pairs(g, from, &part, k, n, panel);
    else
        pack_floats(g, from, &part, k, n, panel);
}

// Packs columns of an operand in tiles: whole panels of float32 at once, others after a copy to
// rows of the same direction.
static void pack_tiles(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k,
                       size_t n, void *panel) {
    _Alignas(64) char raw[QDQ_GEMM_ROW_BYTES * COLUMNS];
    const qdq_gemm_weights *w = &g->weights;
    size_t size = qdq_dtype_size(w->dtype), left = g->columns - column;
    size_t at = qdq_gemm_element(w, from->matrix, k, column);
    size_t columns = left < COLUMNS ? left : COLUMNS;
    bool by_rows = w->column_stride == 1, whole = columns == COLUMNS && w->dtype == QDQ_FLOAT32;
    qdq_operand_rows of_k = {at, columns, n, w->depth_stride};
    qdq_operand_rows of_columns = {at, n, columns, w->column_stride};
    size_t pitch = by_rows ? COLUMNS : n;
    qdq_operand_copy(from->tensors, w->port, size, by_rows ? &of_k : &of_columns,
                     by_rows && whole ? panel : raw, pitch * size);
    if (by_rows && whole) return;
    qdq_gemm apart = *g;
    apart.weights.depth_stride = by_rows ? pitch : 1;
    apart.weights.column_stride = by_rows ? 1 : pitch;
    apart.weights.matrix_stride = 0;
    qdq_gemm_source of_raw = *from;
    of_raw.data = raw;
    of_raw.first = qdq_gemm_element(&apart.weights, from->matrix, k, column);
    pack(&apart, &of_raw, column, k, n, panel);
}

void qdq_gemm_pack(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k,
                   size_t n, void *panel) {
    (from->tensors ? pack_tiles : pack)(g, from, column, k, n, panel);
}

size_t qdq_gemm_panels(const qdq_gemm *g) { return (g->columns + COLUMNS - 1) / COLUMNS; }

size_t qdq_gemm_panel_bytes(const qdq_gemm *g) {
    return qdq_gemm_steps(g->kind, g->depth) * COLUMNS * QDQ_GEMM_STEP_BYTES;
}

// Panels that are packed.
typedef struct packing {
    const qdq_gemm *gemm;
    char *packed;
} packing;

static void pack_panel(void *self, const qdq_gemm_source *from, const qdq_gemm_part_of_b *part) {
    const packing *to = self;
    const qdq_gemm *g = to->gemm;
    size_t number = part->matrix * qdq_gemm_panels(g) + part->column / COLUMNS;
    qdq_gemm_pack(g, from, part->column, part->k, part->n,
                  to->packed + number * qdq_gemm_panel_bytes(g) +
                      part->k * COLUMNS * qdq_gemm_size(g->kind));
}

bool qdq_gemm_pack_all(qdq_gemm *g, const qdq_gemm_known *known, const qdq_lowering *to) {
    size_t count = g->weights.matrices * qdq_gemm_panels(g), bytes = qdq_gemm_panel_bytes(g);
    char *packed = qdq_mempool_uncleared(to->mempool, count, bytes);
    if (!packed) return false;
    g->packed = packed;
    g->packed_bytes = count * bytes;
    return qdq_gemm_each_panel(g, known, qdq_dtype_size(g->weights.dtype), to->mempool,
                               to->parallel, pack_panel, &(packing){g, packed});
}

bool qdq_gemm_constant_weights(const qdq_gemm *g, const qdq_op_context *ctx,
                               qdq_gemm_known *known) {
    const qdq_operand *b = &ctx->inputs[g->weights.port];
    bool has_zeros = g->b_zero.port != SIZE_MAX;
    known->data = b->quantized ? b->quantized->data : b->data;
    known->stored = b->quantized ? b->quantized->stored : b->stored;
    known->zeros = g->b_zero.known;
    if (has_zeros && !known->zeros) known->zeros = ctx->inputs[g->b_zero.port].data;
    return (known->data || known->stored) && (known->zeros || !has_zeros);
}

bool qdq_gemm_takes_bfloats(const qdq_gemm *g) {
    return g->kind == QDQ_GEMM_FLOATS && g->a_dtype == QDQ_BFLOAT16 &&
           g->weights.dtype == QDQ_BFLOAT16;
}
