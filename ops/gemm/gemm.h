// SPDX-License-Identifier: Apache-2.0
// Matrix products: MatMul, convolutions and their integer forms. A product is a batch of y = A * B.
// The rows of A are packed block by block (for a convolution: the elements under the window), B is
// packed in panels (once, if it is constant), and an epilogue turns the sums into y.
#ifndef QDQ_OPS_GEMM_GEMM_H
#define QDQ_OPS_GEMM_GEMM_H

#include "ops/gemm/order/gemm_order.h"
#include "ops/infer.h"
#include "ops/kernels/gemm/gemm_orders.h"

// The size of a block, which is one unit and lies on the stack. Tests take their sizes from these.
enum {
    QDQ_GEMM_BLOCK_ROWS = 4 * QDQ_GEMM_ROWS,
    // The last block has room for one more tile, which as a separate block would read all of B
    // again.
    QDQ_GEMM_MOST_ROWS = QDQ_GEMM_BLOCK_ROWS + QDQ_GEMM_ROWS,
    QDQ_GEMM_BLOCK_COLUMNS = 8 * QDQ_GEMM_COLUMNS,
    // The most rows of blocks that are joined, so that their columns of B are decoded once.
    QDQ_GEMM_JOINED_ROWS = 2 * QDQ_GEMM_BLOCK_ROWS + QDQ_GEMM_MOST_ROWS,
    QDQ_GEMM_K_BLOCKS = 8,                   // of a block of all rows that fit
    QDQ_GEMM_MOST_K_BLOCKS = 64,             // of a block of fewer rows that fit
    QDQ_GEMM_WIDE_ROWS = 2 * QDQ_GEMM_ROWS,  // for which B may take twice the bytes
    QDQ_GEMM_CACHE_BYTES = 1 << 20,          // of a core's cache that B may take
};

typedef struct qdq_gemm_block {
    size_t batch, row, rows, column, columns;
} qdq_gemm_block;

// Elements from one product of the batch to the next, for each dim of the batch.
typedef struct qdq_gemm_batches {
    int rank;
    size_t dims[QDQ_MAX_RANK];
    size_t a[QDQ_MAX_RANK], b[QDQ_MAX_RANK];  // b: matrices
    size_t y[QDQ_MAX_RANK], bias[QDQ_MAX_RANK];
    size_t a_zero[QDQ_MAX_RANK], a_scale[QDQ_MAX_RANK];
} qdq_gemm_batches;

// The place in memory of numbers per row and column: bias, scales, zero points, y itself. `port`
// SIZE_MAX: none.
typedef struct qdq_gemm_along {
    size_t port;
    qdq_dtype dtype;
    size_t row_stride, column_stride;
    const void *known;  // the numbers, if not the operand of the port itself
} qdq_gemm_along;

// Returns an operand of one number, which goes with every row and column.
static inline qdq_gemm_along qdq_gemm_one(const qdq_op_context *ctx, size_t port) {
    return (qdq_gemm_along){.port = port, .dtype = ctx->inputs[port].type.dtype};
}

static inline const void *qdq_gemm_numbers(const qdq_gemm_along *of, const qdq_tensors *tensors) {
    return of->known ? of->known : tensors->x[of->port];
}

// B: element k of column j is at k / taps * depth_stride + k % taps * tap_stride +
// j * column_stride of its matrix. If `block` is set, this holds within blocks of as many k; the
// last block, from k `whole` on, has other `taps`.
typedef struct qdq_gemm_weights {
    size_t port;
    qdq_dtype dtype;
    qdq_dtype codes;  // if set: elements are int8 or uint8 with the range of this dtype
    size_t taps, tap_stride, depth_stride, column_stride, matrix_stride, matrices;
    size_t block, block_stride, whole, last_taps;
    size_t zero_stride, scale_stride;  // of b_zero and b_scale, from one matrix to the next
} qdq_gemm_weights;

static inline size_t qdq_gemm_element(const qdq_gemm_weights *w, size_t matrix, size_t k,
                                      size_t column) {
    size_t at = matrix * w->matrix_stride + column * w->column_stride, taps = w->taps;
    if (w->block) {
        if (k >= w->whole) taps = w->last_taps;
        at += k / w->block * w->block_stride;
        k %= w->block;
    }
    return at + k / taps * w->depth_stride + k % taps * w->tap_stride;
}

typedef struct qdq_gemm qdq_gemm;

// Makes y of the sums of a block, float or int32_t. Rows are `stride` apart and whole panels wide.
// It may overwrite them.
typedef void qdq_gemm_epilogue_fn(const qdq_gemm *gemm, const qdq_tensors *tensors,
                                  const qdq_gemm_block *block, void *sums, size_t stride);

// Hands a block of results on whose rows lie one after the other.
typedef void qdq_gemm_put_fn(const qdq_gemm *gemm, const qdq_tensors *tensors,
                             const qdq_gemm_block *block, const void *rows);

// Packs k..k + n, at most a k block, of the rows of a block with qdq_gemm_pack_row. For reals it
// returns a bit for each tile of rows that leaves out products, and clears in `keep` of the tile,
// which has all bits set before, the bits of these products (ops/kernels/gemm/gemm.h). For integers
// `keep` is NULL.
typedef unsigned qdq_gemm_pack_a_fn(const qdq_gemm *gemm, const qdq_tensors *tensors,
                                    const qdq_gemm_block *block, size_t k, size_t n, void *a,
                                    uint16_t (*keep)[QDQ_GEMM_KEEP]);

struct qdq_gemm {
    const qdq_gemm_kernel *kernel;
    const qdq_gemm_orders *orders;  // the kernels of `order`, unless it is QDQ_SUM_CHAIN
    qdq_gemm_order order;
    qdq_gemm_kind kind;
    size_t batch, rows, columns, depth;  // batch: how many products
    qdq_gemm_batches batches;
    size_t a_port;
    qdq_dtype a_dtype;
    size_t a_row_stride, a_depth_stride;  // of a plain matrix A
    qdq_gemm_weights weights;
    const void *packed;  // all of B, or NULL: units pack it
    // All of B as weight codes (weight_codes/gemm_weight_codes.h), or NULL.
    const struct qdq_gemm_weight_codes *weight_codes;
    bool fast;                   // a row may add in QDQ_SUM_FIXED
    size_t packed_bytes;         // of either
    const int32_t *first_sums;   // of each column, in panels of 32; NULL: zeros (gemm_bytes.c)
    const int32_t *column_sums;  // likewise, of saturating products: the sums of the codes of B
    bool columns_outer;          // the order of blocks
    bool pairs_saturate;         // if any pair can (pairs/pair_sums.h)
    qdq_gemm_pack_a_fn *pack_a;
    qdq_gemm_epilogue_fn *epilogue;
    qdq_gemm_along y, bias, a_zero, b_zero;
    // NULL: rows of results are rows of y. Else hands them on, for columns that are phases of
    // output channels (conv_phases.c). `shared` neighbouring columns share a bias, scale, zero
    // point and stride of y; 0: one.
    qdq_gemm_put_fn *put_rows;
    const struct qdq_conv_phases *phases;
    size_t shared;
    // For epilogue_requantized and epilogue_multiplied; epilogue_scaled has b_scale only, the scale
    // of a times the scale of b.
    qdq_gemm_along a_scale, b_scale, y_scale, y_zero;
    const qdq_stage_quantize *quantize;  // of epilogue_float and epilogue_scaled; or NULL
    const qdq_stage_finish *finish;      // of a form that computes results in registers; or NULL
    float alpha;                         // a factor of a_scale
    bool fused_bias;                     // epilogue_multiplied rounds product and float32 bias once
};

// Sets the defaults of a lowering: one product, no bias, no zero points.
void qdq_gemm_init(qdq_gemm *gemm, const qdq_lowering *to, bool integer);

// Returns the same product with its columns for rows, for an epilogue of sums that are transposed.
qdq_gemm qdq_gemm_transposed(const qdq_gemm *gemm);

// Returns the offset of a product of the batch in elements, by strides of gemm->batches.
size_t qdq_gemm_at(const qdq_gemm *gemm, const size_t *strides, size_t batch);

// Units: the number of blocks of rows and of columns of a product, and the block of a unit.
size_t qdq_gemm_row_blocks(const qdq_gemm *gemm);
size_t qdq_gemm_column_blocks(const qdq_gemm *gemm);
qdq_gemm_block qdq_gemm_block_of(const qdq_gemm *gemm, size_t unit);

// Chooses the kind of the sums: bfloat16, pairs, or unchanged. False when memory runs out.
bool qdq_gemm_choose_kind(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to);

// Writes the stage of a product whose kind is chosen. B is packed if `data` and `zero_points` (if
// the op has the operand) are constant. False when memory runs out. The params of the stage begin
// with a qdq_gemm.
bool qdq_gemm_stage(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to,
                    qdq_stage *stage);

// Runs the blocks of a product.
qdq_tensor_op_fn qdq_gemm_run_units;

// True if A and B have the dtypes of products of bfloat16.
bool qdq_gemm_takes_bfloats(const qdq_gemm *gemm);

// One matrix of B and the place of its zero points. `data` begins with element `first` of B.
typedef struct qdq_gemm_source {
    const void *data, *zeros;  // zeros NULL: none
    size_t matrix, zero_at, first;
    const qdq_tensors *tensors;  // set if B is an operand in tiles, for qdq_gemm_pack; else NULL
} qdq_gemm_source;

static inline const void *qdq_gemm_source_at(const qdq_gemm *gemm, const qdq_gemm_source *from,
                                             size_t k, size_t column) {
    size_t element = qdq_gemm_element(&gemm->weights, from->matrix, k, column) - from->first;
    return (const char *)from->data + element * qdq_dtype_size(gemm->weights.dtype);
}

// Returns the greatest depth of a k block.
static inline size_t qdq_gemm_depth(const qdq_gemm *gemm) {
    return QDQ_GEMM_ROW_BYTES / qdq_gemm_size(gemm->kind);
}

// Returns the number of k blocks of a product and of a chunk, the first k of a k block, and its
// depth. Chunks begin with a k block.
size_t qdq_gemm_k_blocks(const qdq_gemm *gemm);
size_t qdq_gemm_chunk_blocks(const qdq_gemm *gemm);
size_t qdq_gemm_k_begin(const qdq_gemm *gemm, size_t k_block);
size_t qdq_gemm_k_count(const qdq_gemm *gemm, size_t k_block);

// True if each block decodes its columns of B, or packs them: one panel of a k block at a time.
static inline bool qdq_gemm_packs_again(const qdq_gemm *gemm) {
    return gemm->weight_codes || (!gemm->packed && !qdq_gemm_saturates(gemm->kind) &&
                                  qdq_gemm_k_blocks(gemm) > 1);
}

// k..k + n of a column, at most QDQ_GEMM_DEPTH: as float, unchanged if BFLOATS, or as int16_t minus
// its zero point.
void qdq_gemm_column(const qdq_gemm *gemm, const qdq_gemm_source *from, size_t column, size_t k,
                     size_t n, void *out);

// Returns the zero point of a column.
int32_t qdq_gemm_column_zero(const qdq_gemm *gemm, const qdq_gemm_source *from, size_t column);

// k..k + n of 32 columns, as a kernel takes them. Missing columns are zeros.
void qdq_gemm_pack(const qdq_gemm *gemm, const qdq_gemm_source *from, size_t column, size_t k,
                   size_t n, void *panel);

// Returns the number of panels (32 columns) of a matrix of B, and the bytes of a panel of full
// depth.
size_t qdq_gemm_panels(const qdq_gemm *gemm);
size_t qdq_gemm_panel_bytes(const qdq_gemm *gemm);

//---- Integer execution ------------------------------------------------------

// True if sums of `depth` products of the codes of two operands fit in int32 and can be scaled
// afterwards. `axis`: the dim of b that holds its columns, -1 if it has none.
bool qdq_gemm_takes_quantized(const qdq_operand *a, const qdq_operand *b, size_t depth, int axis);

// Takes the codes of A and B instead of their reals: y = sum * scale + bias. `matrix_stride`:
// parameters from one matrix of B to the next, if columns have their own. False when memory runs
// out.
bool qdq_gemm_use_quantized(qdq_gemm *gemm, const qdq_op_context *ctx, size_t matrix_stride,
                            qdq_mempool *mempool);

//---- Weight codes -----------------------------------------------------------

// True if B takes less memory as codes than as floats. The shape and strides of B are set before.
bool qdq_gemm_takes_weight_codes(const qdq_gemm *gemm, const qdq_weight_codes *weight_codes);
// True if codes are bytes, and each column has one scale and one zero point.
bool qdq_gemm_has_byte_columns(const qdq_gemm *gemm, const qdq_weight_codes *weight_codes);
// Packs all of B as codes. False when memory runs out.
bool qdq_gemm_pack_weight_codes(qdq_gemm *gemm, const qdq_weight_codes *weight_codes,
                                const qdq_lowering *to);
// Decodes k..k + n of a panel; panels of all matrices are counted.
void qdq_gemm_decode(const qdq_gemm *gemm, size_t panel, size_t k, size_t n, void *b);
// True if a row of A can be multiplied by weight codes without decoding them to memory.
bool qdq_gemm_multiplies_codes(const qdq_gemm *gemm);
// The first: true if a row of A may add in QDQ_SUM_FIXED. The second: true if B is packed for it,
// that is, if each group of k that shares parameters begins with a multiple of eight.
bool qdq_gemm_row_is_fixed(const qdq_gemm *gemm);
bool qdq_gemm_sums_fixed(const qdq_gemm *gemm);
// Multiplies k..k + n of a row and a panel, and adds the products to 32 sums.
void qdq_gemm_multiply_codes(const qdq_gemm *gemm, size_t panel, size_t k, size_t n, const float *a,
                             float *sums);

//---- Rows and elements ------------------------------------------------------

// Packs rows of a plain matrix.
qdq_gemm_pack_a_fn qdq_gemm_pack_rows;

// Packs n elements of a row of A as the kernel takes them, minus a zero point if INTEGERS.
void qdq_gemm_pack_row(const qdq_gemm *gemm, int32_t zero_point, const void *raw, size_t n,
                       size_t row, void *a);
// Copies n elements that are `stride` apart.
void qdq_gemm_gather(qdq_dtype dtype, const void *x, size_t stride, size_t n, void *out);
// n int8 or uint8 minus a zero point.
void qdq_gemm_less(qdq_dtype dtype, const void *x, int32_t zero_point, int16_t *out, size_t n);
// Returns an element of int8, uint8 or int32.
int32_t qdq_gemm_integer_at(qdq_dtype dtype, const void *x, size_t at);

// Makes the bias of a block its sums.
void qdq_gemm_begin_with_bias(const qdq_gemm *gemm, const qdq_tensors *tensors,
                              const qdq_gemm_block *block, float *sums, size_t stride);

//---- Epilogues --------------------------------------------------------------

// Finds the scales and biases of the rows of a block, to the end of a panel; NULL: not wanted.
void qdq_gemm_row_reals(const qdq_gemm *gemm, const qdq_tensors *tensors,
                        const qdq_gemm_block *block, float *scale, float *bias);

// Lets the compiler fold a Quantize into the epilogue: the result goes into the stage, and
// `quantize` points to it. NULL: the epilogue cannot, or memory runs out.
qdq_stage_quantize *qdq_gemm_offer_quantize(qdq_gemm *gemm, qdq_mempool *mempool);

// Likewise lets the compiler fold links into a form that computes results in registers.
qdq_stage_finish *qdq_gemm_offer_finish(qdq_gemm *gemm, qdq_mempool *mempool);

// The first: true if the epilogue quantizes reals to codes. The second: true if it does so without
// changing the sums.
static inline bool qdq_gemm_quantizes(const qdq_gemm *gemm) {
    return gemm->quantize && gemm->quantize->fn;
}
bool qdq_gemm_quantizes_sums(const qdq_gemm *gemm);

// Returns the dtype of the results that an epilogue of reals hands on.
static inline qdq_dtype qdq_gemm_result_dtype(const qdq_gemm *gemm) {
    return qdq_gemm_quantizes(gemm) ? gemm->quantize->dtype : gemm->y.dtype;
}

// Hands results to the sink, or writes them into y.
void qdq_gemm_put_chunk(const qdq_gemm *gemm, const qdq_tensors *tensors, const qdq_chunk *chunk);

// y = round(sum + bias); a NaN becomes the quiet NaN without a sign.
qdq_gemm_epilogue_fn qdq_gemm_epilogue_float;
// The same with fl(sum) * b_scale instead of the sum, which is int32.
qdq_gemm_epilogue_fn qdq_gemm_epilogue_scaled;
// y = sum, int32.
qdq_gemm_epilogue_fn qdq_gemm_epilogue_int32;
// y = clamp(rne((sum + bias) * (alpha * a_scale * b_scale / y_scale)) + y_zero), bias int32.
qdq_gemm_epilogue_fn qdq_gemm_epilogue_requantized;
// y = (sum + bias) * (alpha * a_scale * b_scale), float32; a float32 bias is added to the product.
qdq_gemm_epilogue_fn qdq_gemm_epilogue_multiplied;

#endif
