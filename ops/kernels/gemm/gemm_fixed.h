// SPDX-License-Identifier: Apache-2.0
// A row of A in fixed point times weight codes, whose sums are exact integers (`--fast`,
// docs/ops_neural_network.md, section 10). Float sums would take a conversion and a multiply-add
// for each weight; memory delivers codes faster.
//
// In each block of 128 k, a_k becomes q_k = rne(a_k / unit), where unit is the least power of two
// from 2^-149 on with |a_k| <= 8355711 * unit for all k of the block. q_k has three digits from
// -128 to 127: q_k = digit_0 + 256 * digit_1 + 65536 * digit_2. Codes and digits are bytes, so
// their products take the instructions for bytes.
#ifndef QDQ_OPS_KERNELS_GEMM_GEMM_FIXED_H
#define QDQ_OPS_KERNELS_GEMM_GEMM_FIXED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QDQ_GEMM_FIXED_DEPTH = 128,  // k of a block
    QDQ_GEMM_FIXED_MOST = 8355711,
    QDQ_GEMM_DIGITS = 3,
    QDQ_GEMM_EIGHTH = 8,  // k: groups begin at multiples
    QDQ_GEMM_FIXED_EIGHTHS = QDQ_GEMM_FIXED_DEPTH / QDQ_GEMM_EIGHTH,
    // Codes lie in lines of 4 bytes for each of 32 columns: a byte for each of 4 k or, with
    // `halves`, the low halves for 4 k and the high halves for the next 4.
    QDQ_GEMM_LINE_BYTES = 128,
};

typedef struct qdq_gemm_fixed_block {
    int8_t digits[QDQ_GEMM_DIGITS][QDQ_GEMM_FIXED_DEPTH];   // zeros beyond the depth
    int16_t sums[QDQ_GEMM_DIGITS][QDQ_GEMM_FIXED_EIGHTHS];  // of the digits of 8 k
    float unit;  // 0: an a_k is not finite, and the block has no digits
} qdq_gemm_fixed_block;

// Sets *block to n of at most 128 a_k.
typedef void qdq_gemm_fix_fn(const float *a, size_t n, qdq_gemm_fixed_block *block);

// Neighbouring k of a block that share scales and zero points.
typedef struct qdq_gemm_fixed_group {
    const qdq_gemm_fixed_block *block;
    uint32_t first, lines;          // the first k of the block; lines of codes
    uint32_t scale, zero;           // rows of parameters
    int32_t sums[QDQ_GEMM_DIGITS];  // of the digits
} qdq_gemm_fixed_group;

// Groups times a panel of codes. For each group, with exact integers t_i = sum of digit_i of q_k *
// (code_k - zero): value = fma(fl(t_2), 65536, fma(fl(t_1), 256, fl(t_0))), and
// sum = fma(scale, fl(value * unit), sum).
typedef struct qdq_gemm_fixed_row {
    const qdq_gemm_fixed_group *groups;
    size_t count;
    const uint8_t *codes;  // of the panel, from the first group on; unsigned
    bool halves;
    // Row r begins at r * columns. `columns` is 32, or 1 if all columns are alike. Zero points are
    // shifted to match unsigned codes.
    const float *scales;
    size_t scale_columns;
    const int16_t *zeros;
    size_t zero_columns;
    float *sums;  // 32
} qdq_gemm_fixed_row;

typedef void qdq_gemm_fixed_fn(const qdq_gemm_fixed_row *row);

#endif
