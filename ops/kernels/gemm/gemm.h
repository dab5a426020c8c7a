// SPDX-License-Identifier: Apache-2.0
// Kernels of matrix products: tiles of up to 12 rows and 32 columns whose sums stay in registers.
//
// A float sum is fma(a_k, b_k, sum) in float32 for k ascending. Vectors run over columns, so each
// sum is one chain, the same on every instruction set. A k block continues the sums of the block
// before from memory. Integer sums are exact in int32, and wrap around.
//
// Products of bfloat16 are added in pairs of k, as VDPBF16PS does: sum = fused(a_1, b_1, sum), then
// sum = fused(a_0, b_0, sum), with 0 for a k beyond the depth. fused is a float32 fma that reads
// denormals as zeros of their sign. Its result is flushed to a zero of its sign if its magnitude,
// rounded to 24 bits with unbounded exponent, is below 2^-126.
#ifndef QDQ_OPS_KERNELS_GEMM_GEMM_H
#define QDQ_OPS_KERNELS_GEMM_GEMM_H

#include "include/qdq/base.h"
#include "ops/kernels/best_row.h"
#include "ops/kernels/bounds.h"
#include "ops/kernels/gemm/gemm_fixed.h"
#include "runtime/exec/plan.h"

enum {
    QDQ_GEMM_ROWS = 12,        // most rows of a tile
    QDQ_GEMM_COLUMNS = 32,     // of a panel of B, padded with zeros
    QDQ_GEMM_NARROW = 8,       // columns of the narrowest tiles of floats
    QDQ_GEMM_ROW_BYTES = 512,  // from one row of A to the next: a k block
    QDQ_GEMM_DEPTH = 512,      // most k of a k block, of any kind
    QDQ_GEMM_KEEP = 256,       // most k of a k block that may leave out products
    QDQ_GEMM_STEP_BYTES = 4,   // of a row of A that a step takes
    QDQ_GEMM_STEPPED = 8,      // columns of lines that may lie evenly apart
};

// The elements of A and B in memory. A step takes 4 bytes of a row of A, and 4 of each column of B.
typedef enum qdq_gemm_kind {
    QDQ_GEMM_FLOATS,    // float32
    QDQ_GEMM_INTEGERS,  // int16_t of at most 9 bits
    QDQ_GEMM_BYTES,     // uint8_t and int8_t
    QDQ_GEMM_BFLOATS,   // bfloat16
    QDQ_GEMM_CODES,     // int8_t and codes of a byte (qdq_gemm_code_lines); not in every kernel
    // uint8_t and int8_t, or int8_t and uint8_t: each half of a step saturates to int16
    // (runtime/numerics/pair_sum.h).
    QDQ_GEMM_SATURATED_BYTES,
    QDQ_GEMM_SATURATED_CODES,
    // The same, with int8_t whose pairs cannot saturate: qdq_gemm_rest adds the products that they
    // leave out. Not in every kernel.
    QDQ_GEMM_SPLIT_CODES,
    QDQ_GEMM_KINDS,
} qdq_gemm_kind;

// Return the bytes of an element, and the number of k that a step takes.
static inline size_t qdq_gemm_size(qdq_gemm_kind kind) {
    return kind == QDQ_GEMM_FLOATS                                 ? 4
           : kind == QDQ_GEMM_INTEGERS || kind == QDQ_GEMM_BFLOATS ? 2
                                                                   : 1;
}
static inline size_t qdq_gemm_step(qdq_gemm_kind kind) {
    return QDQ_GEMM_STEP_BYTES / qdq_gemm_size(kind);
}

// True if a kernel may leave out products (`keep` below).
static inline bool qdq_gemm_keeps(qdq_gemm_kind kind) {
    return kind == QDQ_GEMM_FLOATS || kind == QDQ_GEMM_BFLOATS;
}

static inline bool qdq_gemm_saturates(qdq_gemm_kind kind) {
    return kind == QDQ_GEMM_SATURATED_BYTES || kind == QDQ_GEMM_SATURATED_CODES;
}

// Returns the number of steps that n elements take.
static inline size_t qdq_gemm_steps(qdq_gemm_kind kind, size_t n) {
    return (n + qdq_gemm_step(kind) - 1) / qdq_gemm_step(kind);
}

// A part of a product: c = start + a * b.
typedef struct qdq_gemm_part {
    const void *a;      // rows, QDQ_GEMM_ROW_BYTES apart
    const void *b;      // for each step 32 columns, each with the k of the step
    const void *start;  // 32 sums that every row starts from; NULL: the sums in c
    void *c;            // rows of 32 float or int32_t
    size_t c_stride;    // sums from one row to the next
    size_t rows, steps;
    // For floats and bfloats bit r of keep[k] is set if row r has a product k; other products are
    // left out, and a part has at most 12 rows. NULL: all rows have all products.
    const uint16_t *keep;
    bool half;       // without `keep`: the last 16 columns may be left out, with any sums
    size_t columns;  // the same of columns from here on, for pairs and codes; 0: of none
    // For codes, instead of `start`: a sum for each row, which all of its columns start from; or
    // NULL.
    const int32_t *row_start;
    // Bytes that later parts read, which come into the L2 cache meanwhile, if the kernel does this
    // for the kind: for floats, and for codes if it asks_ahead. NULL: none.
    const void *ahead;
    size_t ahead_bytes;
} qdq_gemm_part;

typedef void qdq_gemm_part_fn(const qdq_gemm_part *part);

// A part of a product of floats, as qdq_gemm_part has it, but of any number of columns. The chain
// of a sum starts from its element of `before`, or with `adds` from 0 and is then added to it.
// Afterwards come + bias and + addend, each rounded, and the bounds. Operands that are NULL are
// left out, but a chain without `before` starts from 0. A NaN becomes 0x7FC00000.
typedef struct qdq_gemm_results {
    const void *a, *b;
    // Tiles of QDQ_GEMM_ROWS rows that share their rows of A, one after the other: the first tile
    // is number `way` of them. At most 1: none share.
    size_t ways, way;
    size_t b_step;       // elements from a step of b to the next
    size_t b_panel;      // from the first 32 columns to the next 32, if b has more
    const size_t *b_at;  // or from b to each step, if they lie unevenly; else NULL
    size_t rows, columns, steps;
    const float *before;
    size_t before_stride;  // from one row to the next, in elements; whole panels may be read
    bool adds;
    const float *bias;    // of each row
    const float *addend;  // of each result
    size_t addend_stride;
    const qdq_bounds *bounds;
    float *y;
    size_t y_stride;
    const void *ahead;  // bytes that later parts read, which come into the L2 cache meanwhile
    size_t ahead_bytes;
} qdq_gemm_results;

typedef void qdq_gemm_results_fn(const qdq_gemm_results *results);

// A part of codes with few columns, each of whose k are neighbours: c[r][j] = start + a * b, by dot
// products along k. Columns are QDQ_GEMM_ROW_BYTES apart, with zeros from the last k to a multiple
// of 64.
typedef struct qdq_gemm_code_columns {
    const void *a, *b;
    const int32_t *row_start;  // of each row; NULL: the sums in c
    int32_t *c;
    size_t c_stride, rows, columns, steps;
} qdq_gemm_code_columns;

typedef void qdq_gemm_code_columns_fn(const qdq_gemm_code_columns *part);

// Four int8_t that a step of a row of A leaves out.
typedef struct qdq_gemm_rest_step {
    uint32_t step;
    int32_t word;
} qdq_gemm_rest_step;

// The rest of the rows of A: c = start + rest * b. Row r has the steps ends[r * ends_stride - 1] to
// ends[r * ends_stride].
typedef struct qdq_gemm_rest {
    const qdq_gemm_rest_step *steps;
    const uint32_t *ends;
    size_t ends_stride;
    const void *b;
    const int32_t *row_start;  // of each row; NULL: the sums in c
    int32_t *c;
    size_t c_stride, rows;
} qdq_gemm_rest;

typedef void qdq_gemm_rest_fn(const qdq_gemm_rest *rest);

// A product for each column: c[j] += a[k][j] * b[k][j]; panels of 32 columns.
typedef void qdq_gemm_lanes_fn(const float *a, const float *b, float *c, size_t depth);
typedef void qdq_gemm_integer_lanes_fn(const int16_t *a, const int16_t *b, int32_t *c,
                                       size_t depth);

// bfloat_lanes: the same for bfloat16 that were widened, with fused in place of fma.

// A panel whose columns are lines of x: column j lies at[j] elements after `base`.
typedef struct qdq_gemm_lines_panel {
    size_t base;        // modulo 2^64
    const int32_t *at;  // NULL: at[j] = j
    // How far apart each QDQ_GEMM_STEPPED columns lie, if it is always 1 or 2; else 0. Not read if
    // `at` is NULL.
    const uint8_t *steps;
    const uint32_t *masks;  // of each tap
    float *out;
} qdq_gemm_lines_panel;

// Lines of x as the columns of panels: for each of n k and each panel,
// out[k * 32 + j] = x[base + offsets[k] + at[j]] if bit j of the mask of its tap is set, else 0.
typedef struct qdq_gemm_lines {
    const float *x;
    const size_t *offsets;  // with `base` modulo 2^64
    size_t tap, taps;       // the tap of the first k, and the number of taps
    size_t n;
    const qdq_gemm_lines_panel *panels;
    size_t count;
} qdq_gemm_lines;

typedef void qdq_gemm_lines_fn(const qdq_gemm_lines *lines);

// Lines of codes as the columns of a panel: for each of n k the 32 codes from x[base + offsets[k]]
// on, or `pad` where the mask of its tap has no bit. `byte_lines` stores code ^ flip for 4 k of
// each column, then of the next column; `pair_lines` stores (code ^ flip) - zero for 2 k, as
// int16_t.
typedef struct qdq_gemm_code_lines {
    const uint8_t *x;
    size_t size;  // bytes from x on that may be read
    size_t base;
    const size_t *offsets;  // with `base` modulo 2^64
    const uint32_t *masks;  // of each tap
    size_t tap, taps;       // the tap of the first k, and the number of taps
    size_t n;
    uint8_t pad, flip;
    int16_t zero;
    void *out;
    // For `picked_lines`: column j is not byte j of the line, but byte from[j] of the 64 bytes from
    // there on or, from 64 on, of the 64 bytes `second` after them.
    const uint8_t *from;
    size_t second;
} qdq_gemm_code_lines;

typedef void qdq_gemm_code_lines_fn(const qdq_gemm_code_lines *lines);

// Neighbouring positions of a row of the result.
typedef struct qdq_gemm_run {
    size_t at;        // the place in x of position 0 of the row under the first tap, modulo 2^64
    size_t index[2];  // the dims 0 and 1 of x there, modulo 2^64
    size_t first, n;  // positions of the row
    size_t column;    // of the first
} qdq_gemm_run;

// Copies the codes of a k to the columns of all runs: position i of a row takes x[offset + at + i *
// stride] if begin <= i < end and index + step < in in both dims, else `pad`. `out` has room for 32
// columns more than the runs have, and the last code may be read with the 64 that follow it if they
// are among the `size`.
typedef struct qdq_gemm_code_runs {
    const uint8_t *x;
    size_t size, offset, stride;
    const qdq_gemm_run *runs;
    size_t count, begin, end, step[2], in[2];
    uint8_t pad, *out;
} qdq_gemm_code_runs;

typedef void qdq_gemm_code_runs_fn(const qdq_gemm_code_runs *runs);

// Sums to reals: v = fl(int32 sum) * scale + 0, or the float sum if `scale` is NULL; then + bias,
// unless `bias` is NULL. A NaN becomes 0x7FC00000. n is a multiple of 32; `out` may begin at the
// sums or before them.
typedef void qdq_gemm_reals_fn(const void *sums, const float *scale, const float *bias, void *out,
                               size_t n);

// The same for rows of n sums that are `stride` apart, with a scale and a bias for each row. The
// rows of `out` are n apart. One that ends within 32 columns may write to their end, which the next
// row overwrites.
typedef struct qdq_gemm_real_rows {
    const void *sums;
    size_t stride, rows, n;
    const float *scale, *bias;
    void *out;
} qdq_gemm_real_rows;

typedef void qdq_gemm_real_rows_fn(const qdq_gemm_real_rows *rows);

// Sums to reals, as qdq_gemm_reals_fn has them, and reals to bytes: a Quantize by one scale and
// zero point. Rows of n codes are out_stride apart.
typedef struct qdq_gemm_code_rows {
    const void *sums;
    size_t stride, rows, n;
    const float *scale, *bias;  // of each row or column; NULL: as there
    bool by_column;
    qdq_tile_fn *fn;  // of Quantize, its parameters, and the views of scale and zero point
    const void *params;
    const qdq_view *views;
    void *out;
    size_t out_stride;
} qdq_gemm_code_rows;

// False: it has not the arithmetic of this function, and does nothing.
typedef bool qdq_gemm_code_rows_fn(const qdq_gemm_code_rows *rows);

// Facts about a Quantize that a kernel finds once for all parts.
typedef struct qdq_gemm_code_factors {
    _Alignas(64) char of[1024];
} qdq_gemm_code_factors;

typedef void qdq_gemm_code_factors_fn(const qdq_gemm_code_rows *codes, qdq_gemm_code_factors *to);

// A part of QDQ_GEMM_SPLIT_CODES whose sums become codes in registers. The sums in part.c are read
// and not written. `codes` has a scale and a bias for each row, and at most 32 columns of a panel;
// the kernel supports the arithmetic if code_rows returns true for it.
typedef struct qdq_gemm_code_results {
    qdq_gemm_part part;
    qdq_gemm_code_rows codes;
    const qdq_gemm_code_factors *factors;
} qdq_gemm_code_results;

typedef void qdq_gemm_code_results_fn(const qdq_gemm_code_results *results);

// n elements of float32, float16 or bfloat16 as float32. A NaN stays a NaN.
typedef void qdq_gemm_widen_fn(qdq_dtype dtype, const void *x, float *out, size_t n);

// Narrows n float32 to one of these dtypes, rounded half to even. The only NaN in x is 0x7FC00000.
typedef void qdq_gemm_narrow_fn(qdq_dtype dtype, const float *x, void *out, size_t n);

// The order in which a row adds its products with weight codes.
typedef enum qdq_gemm_code_order {
    QDQ_CODES_CHAIN,  // one chain of fma
    QDQ_CODES_FOURS,  // four rounded products, then the sum
} qdq_gemm_code_order;

// A part of B as weight codes, and the floats that they stand for: rows x 32 of (code - zero) *
// scale, rounded to the dtype. Codes are unsigned, and zero points are integers shifted to match
// them.
typedef struct qdq_gemm_weight_part {
    const uint8_t *codes;  // rows x 32
    bool halves;  // rows x 16 codes: columns j and j + 16 are the low and the high half of byte j
    // Scale and zero point of each column or, with by_row, of each row. The only NaN is 0x7FC00000.
    bool by_row;
    const float *scale, *zero;
    qdq_dtype dtype;  // float32, float16 or bfloat16
    size_t rows;
    float *b;
    // multiply_codes does not store the floats. It multiplies them, as float32, by as many elements
    // of a row of A and adds the products to the 32 sums.
    const float *a;
    float *sums;
    qdq_gemm_code_order order;
} qdq_gemm_weight_part;

typedef void qdq_gemm_decode_fn(const qdq_gemm_weight_part *part);

typedef struct qdq_gemm_kernel {
    qdq_isa isa;
    bool widens_bytes;  // in every tile, so that many rows are faster as int16_t
    bool signs_codes;   // codes are int8_t, not uint8_t
    bool asks_ahead;    // parts of codes ask for the bytes ahead of them
    const char *name;
    qdq_gemm_part_fn *part[QDQ_GEMM_KINDS];
    qdq_gemm_results_fn *results;
    qdq_gemm_rest_fn *rest;                  // with QDQ_GEMM_SPLIT_CODES; else NULL
    qdq_gemm_code_columns_fn *code_columns;  // NULL: tiles are as fast
    qdq_gemm_lanes_fn *lanes, *bfloat_lanes;
    qdq_gemm_integer_lanes_fn *integer_lanes;
    qdq_gemm_lines_fn *lines;
    qdq_gemm_code_lines_fn *byte_lines, *pair_lines;
    qdq_gemm_code_lines_fn *picked_lines;  // as byte_lines; or NULL
    qdq_gemm_code_runs_fn *code_runs;
    qdq_gemm_reals_fn *reals;
    qdq_gemm_real_rows_fn *real_rows;
    qdq_gemm_code_rows_fn *code_rows;        // NULL: none
    qdq_gemm_code_factors_fn *code_factors;  // of code_results
    qdq_gemm_code_results_fn *code_results;  // with QDQ_GEMM_SPLIT_CODES; else NULL
    qdq_gemm_widen_fn *widen;
    qdq_gemm_narrow_fn *narrow;
    qdq_gemm_decode_fn *decode, *multiply_codes;
    qdq_gemm_fix_fn *fix;
    qdq_gemm_fixed_fn *fixed;
    // Called before the first part of bytes that a thread multiplies and after the last; or NULL.
    void (*enter)(void), (*leave)(void);
} qdq_gemm_kernel;

// Returns the kernels of this build, from the plainest to the best.
const qdq_gemm_kernel *qdq_gemm_kernels(size_t *count);
// Returns the best kernel for the instruction sets `isas`.
const qdq_gemm_kernel *qdq_gemm_kernel_find(uint32_t isas);

#define QDQ_GEMM_DECLARE_INTEGERS(isa)               \
    extern qdq_gemm_part_fn qdq_gemm_integers_##isa; \
    extern qdq_gemm_part_fn qdq_gemm_bytes_##isa;    \
    extern qdq_gemm_fix_fn qdq_gemm_fix_##isa;       \
    extern qdq_gemm_fixed_fn qdq_gemm_fixed_##isa;
#define QDQ_GEMM_DECLARE(isa)                                      \
    extern qdq_gemm_part_fn qdq_gemm_floats_##isa;                 \
    extern qdq_gemm_results_fn qdq_gemm_results_##isa;             \
    QDQ_GEMM_DECLARE_INTEGERS(isa)                                 \
    extern qdq_gemm_part_fn qdq_gemm_saturated_bytes_##isa;        \
    extern qdq_gemm_part_fn qdq_gemm_saturated_codes_##isa;        \
    extern qdq_gemm_part_fn qdq_gemm_bfloats_##isa;                \
    extern qdq_gemm_lanes_fn qdq_gemm_bfloat_lanes_##isa;          \
    extern qdq_gemm_lanes_fn qdq_gemm_lanes_##isa;                 \
    extern qdq_gemm_integer_lanes_fn qdq_gemm_integer_lanes_##isa; \
    extern qdq_gemm_lines_fn qdq_gemm_lines_##isa;                 \
    extern qdq_gemm_code_lines_fn qdq_gemm_byte_lines_##isa;       \
    extern qdq_gemm_code_lines_fn qdq_gemm_pair_lines_##isa;       \
    extern qdq_gemm_code_runs_fn qdq_gemm_code_runs_##isa;         \
    extern qdq_gemm_reals_fn qdq_gemm_reals_##isa;                 \
    extern qdq_gemm_real_rows_fn qdq_gemm_real_rows_##isa;         \
    extern qdq_gemm_widen_fn qdq_gemm_widen_##isa;                 \
    extern qdq_gemm_narrow_fn qdq_gemm_narrow_##isa;               \
    extern qdq_gemm_decode_fn qdq_gemm_decode_##isa;               \
    extern qdq_gemm_decode_fn qdq_gemm_multiply_codes_##isa;

QDQ_GEMM_DECLARE(portable)
extern qdq_gemm_part_fn qdq_gemm_bytes_avx512, qdq_gemm_bytes_amx;
void qdq_gemm_enter_amx(void);
void qdq_gemm_leave_amx(void);

#endif
