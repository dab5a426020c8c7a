// SPDX-License-Identifier: Apache-2.0
// Chooses saturating products, and removes zero points from their sums: with the codes a and b, the
// zero points za and zb, and S for the saturated sum of a * b,
//     sum = S - za * sum(b) - zb * sum(a) + K * za * zb
//         = S - za * (sum(b) - K * zb) - zb * sum(a), modulo 2^32.
#include "ops/gemm/pairs/pair_sums.h"

#include "runtime/numerics/pair_sum.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, BLOCK_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS };

//---- The choice -------------------------------------------------------------

void qdq_pair_sums_init(qdq_gemm *g, const qdq_lowering *to, bool swapped) {
    qdq_dtype a = swapped ? QDQ_INT8 : QDQ_UINT8, b = swapped ? QDQ_UINT8 : QDQ_INT8;
    g->pairs_saturate = to->numerics.pair_sums == QDQ_PAIR_SUMS_SATURATE && g->a_dtype == a &&
                        g->weights.dtype == b;
}

// Returns the pairs of k..k + n of a column that can saturate; k is even.
static size_t pairs_of(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k,
                       size_t n) {
    int16_t codes[QDQ_GEMM_DEPTH + 1];
    size_t pairs = 0;
    qdq_gemm_column(g, from, column, k, n, codes);
    codes[n] = 0;
    for (size_t i = 0; i < n; i += 2)
        pairs += qdq_pair_can_saturate(codes[i], codes[i + 1], g->weights.dtype == QDQ_UINT8);
    return pairs;
}

// The counts of pairs of all columns.
typedef struct counting {
    const qdq_gemm *gemm;
    uint32_t *of_columns;
} counting;

static void count_panel(void *self, const qdq_gemm_source *from, const qdq_gemm_part_of_b *part) {
    const counting *to = self;
    for (size_t j = 0; j < part->columns; j++)
        for (size_t done = 0; done < part->n; done += QDQ_GEMM_DEPTH) {
            size_t n = part->n - done < QDQ_GEMM_DEPTH ? part->n - done : QDQ_GEMM_DEPTH;
            size_t column = part->column + j;
            to->of_columns[part->matrix * to->gemm->columns + column] +=
                (uint32_t)pairs_of(to->gemm, from, column, part->k + done, n);
        }
}

static qdq_pair_count summed(const uint32_t *of_columns, size_t n) {
    qdq_pair_count count = {.of_columns = n};
    for (size_t j = 0; j < n; j++) {
        count.pairs += of_columns[j];
        count.columns += of_columns[j] != 0;
        if (of_columns[j] > count.most) count.most = of_columns[j], count.worst = j;
    }
    return count;
}

bool qdq_pair_sums_count(const qdq_gemm *g, const qdq_gemm_known *known, const qdq_mempool *mempool,
                         qdq_pair_count *count) {
    const qdq_gemm_known codes = {known->data, known->stored, NULL};
    size_t columns = g->weights.matrices * g->columns;
    uint32_t *of_columns = qdq_alloc_array(mempool->allocator, columns, sizeof *of_columns, 64);
    if (!of_columns) return false;
    memset(of_columns, 0, columns * sizeof *of_columns);
    bool done =
        qdq_gemm_each_panel(g, &codes, 1, mempool, NULL, count_panel, &(counting){g, of_columns});
    *count = summed(of_columns, columns);
    qdq_free_array(mempool->allocator, of_columns, columns, sizeof *of_columns);
    return done;
}

// The same for weights of an operand, whose strides are set.
static bool count_operand(const qdq_operand *of, qdq_gemm *g, const qdq_mempool *mempool,
                          qdq_pair_count *count) {
    const qdq_gemm_known known = {of->data, of->stored, NULL};
    *count = (qdq_pair_count){.of_columns = g->weights.matrices * g->columns};
    if (of->type.dtype != QDQ_INT8 || (!of->data && !of->stored)) return true;
    g->kind = QDQ_GEMM_SATURATED_BYTES;
    g->weights.dtype = QDQ_INT8;
    return qdq_pair_sums_count(g, &known, mempool, count);
}

bool qdq_pair_sums_count_matrix(const qdq_operand *b, bool transposed, const qdq_mempool *mempool,
                                qdq_pair_count *count) {
    const qdq_shape *s = &b->type.shape;
    size_t last = (size_t)s->dims[s->rank - 1];
    size_t other = s->rank > 1 ? (size_t)s->dims[s->rank - 2] : 1;
    if (s->rank == 1) transposed = true;
    qdq_gemm g = {.columns = transposed ? other : last, .depth = transposed ? last : other};
    g.weights = (qdq_gemm_weights){.taps = 1,
                                   .depth_stride = transposed ? 1 : last,
                                   .column_stride = transposed ? last : 1,
                                   .matrix_stride = last * other,
                                   .matrices = qdq_shape_count(*s) / (last * other)};
    return count_operand(b, &g, mempool, count);
}

bool qdq_pair_sums_none(size_t group_inputs, size_t group_outputs, const qdq_operand *zero) {
    size_t count = qdq_shape_count(zero->type.shape);
    const char *codes = zero->data;
    bool alike = count == 1 || codes;
    for (size_t i = 1; codes && i < count; i++) alike &= codes[i] == codes[0];
    return group_inputs == 1 && group_outputs == 1 && alike;
}

bool qdq_pair_sums_count_window(const qdq_operand *w, const qdq_operand *zero, size_t groups,
                                const qdq_mempool *mempool, qdq_pair_count *count) {
    const qdq_shape *s = &w->type.shape;
    size_t outputs = (size_t)s->dims[0] / groups, inputs = (size_t)s->dims[1];
    size_t depth = qdq_shape_count(*s) / (size_t)s->dims[0];
    qdq_gemm g = {.columns = outputs, .depth = depth};
    g.weights = (qdq_gemm_weights){.taps = inputs,
                                   .tap_stride = depth / inputs,
                                   .depth_stride = 1,
                                   .column_stride = depth,
                                   .matrix_stride = depth * outputs,
                                   .matrices = groups};
    *count = (qdq_pair_count){.of_columns = groups * outputs};
    return qdq_pair_sums_none(inputs, outputs, zero) || count_operand(w, &g, mempool, count);
}

bool qdq_pair_sums_choose(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to) {
    qdq_gemm_known known;
    qdq_pair_count count = {.pairs = 1};
    if (!g->pairs_saturate) return true;
    if (qdq_gemm_constant_weights(g, ctx, &known) &&
        !qdq_pair_sums_count(g, &known, to->mempool, &count))
        return false;
    g->pairs_saturate = false;  // is decided
    if (!count.pairs) return true;
    g->kind = g->a_dtype == QDQ_UINT8 ? QDQ_GEMM_SATURATED_BYTES : QDQ_GEMM_SATURATED_CODES;
    return true;
}

//---- Sums of codes ----------------------------------------------------------

static uint32_t sum_of(const void *row, size_t n, bool is_signed) {
    int32_t sum = 0;
    if (is_signed)
        for (size_t i = 0; i < n; i++) sum += ((const int8_t *)row)[i];
    else
        for (size_t i = 0; i < n; i++) sum += ((const uint8_t *)row)[i];
    return (uint32_t)sum;
}

void qdq_pair_zeros_add_rows(const qdq_gemm *g, size_t rows, size_t n, bool first, const void *a,
                             qdq_pair_zeros *zeros) {
    if (g->b_zero.port == SIZE_MAX) return;
    for (size_t r = 0; r < rows; r++) {
        uint32_t own = sum_of((const char *)a + r * QDQ_GEMM_ROW_BYTES, n, g->a_dtype == QDQ_INT8);
        zeros->rows[r] = first ? own : zeros->rows[r] + own;
    }
}

void qdq_pair_zeros_pack(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k,
                         size_t n, void *panel, uint32_t *sums) {
    qdq_gemm_source codes = *from;
    uint32_t own[COLUMNS];
    size_t left = g->columns - column, columns = left < COLUMNS ? left : COLUMNS;
    codes.zeros = NULL;
    if (columns < COLUMNS)
        memset(panel, 0, qdq_gemm_steps(g->kind, n) * COLUMNS * QDQ_GEMM_STEP_BYTES);
    qdq_gemm_pack_byte_panel(g, &codes, &(qdq_gemm_part_of_b){from->matrix, column, columns, k, n},
                             panel, own);
    for (size_t j = 0; j < COLUMNS; j++) sums[j] = k ? sums[j] + own[j] : own[j];
}

//---- Removing zero points ---------------------------------------------------

// Returns the zero point of a row of the product.
static uint32_t zero_of_row(const qdq_gemm *g, const qdq_tensors *tensors, size_t base,
                            size_t row) {
    if (g->a_zero.port == SIZE_MAX) return 0;
    return (uint32_t)qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors),
                                         base + row * g->a_zero.row_stride);
}

// The terms of each column: zb, and sum(b) - K * zb.
typedef struct terms {
    uint32_t zero[BLOCK_COLUMNS], sum[BLOCK_COLUMNS];
} terms;

static void set_terms(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                      const qdq_pair_zeros *zeros, terms *of) {
    size_t matrix = qdq_gemm_at(g, g->batches.b, block->batch);
    bool has = g->b_zero.port != SIZE_MAX;
    qdq_gemm_source from = {NULL, has ? qdq_gemm_numbers(&g->b_zero, tensors) : NULL, matrix,
                            matrix * g->weights.zero_stride, 0, NULL};
    size_t first = matrix * qdq_gemm_panels(g) * COLUMNS + block->column;
    for (size_t j = 0; j < block->columns; j++) {
        uint32_t sum = g->packed ? (uint32_t)g->column_sums[first + j] : zeros->columns[j];
        of->zero[j] = (uint32_t)qdq_gemm_column_zero(g, &from, block->column + j);
        of->sum[j] = sum - (uint32_t)g->depth * of->zero[j];
    }
}

void qdq_pair_zeros_remove(const qdq_gemm *g, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, const qdq_pair_zeros *zeros, int32_t *sums,
                           size_t stride) {
    terms of;
    bool has_b = g->b_zero.port != SIZE_MAX;
    size_t base = qdq_gemm_at(g, g->batches.a_zero, block->batch);
    if (!has_b && g->a_zero.port == SIZE_MAX) return;
    set_terms(g, tensors, block, zeros, &of);
    for (size_t r = 0; r < block->rows; r++) {
        uint32_t zero = zero_of_row(g, tensors, base, block->row + r);
        uint32_t sum = has_b ? zeros->rows[r] : 0;
        int32_t *row = sums + r * stride;
        for (size_t j = 0; j < block->columns; j++)
            row[j] = (int32_t)((uint32_t)row[j] - zero * of.sum[j] - sum * of.zero[j]);
    }
}
