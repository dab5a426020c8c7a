// SPDX-License-Identifier: Apache-2.0
// The kernel of depthwise convolutions: adds lines of x, shifted against each other and each
// multiplied by a weight, to a line of sums. It serves convolutions with few output channels in a
// group where positions are neighbours in memory.
#ifndef QDQ_OPS_KERNELS_DEPTHWISE_DEPTHWISE_H
#define QDQ_OPS_KERNELS_DEPTHWISE_DEPTHWISE_H

#include "include/qdq/base.h"
#include "ops/kernels/best_row.h"

enum { QDQ_DEPTHWISE_ROOM = 32 };  // lines and sums are read up to a multiple of this

// A line of x and its weight. Only elements begin..end have a product.
typedef struct qdq_depthwise_line {
    const float *x;
    float by;
    uint32_t begin, end;
} qdq_depthwise_line;

// sums[i] = fma(line[i], by, sums[i]) for each of n sums, with the lines in order.
typedef void qdq_depthwise_fn(const qdq_depthwise_line *lines, size_t depth, float *sums, size_t n);

// depthwise_fours: the same with rounded products, added in fours as ops/kernels/gemm/gemm_orders.h
// says. Elements outside of begin..end count as 0, and `depth` is a multiple of 4 but for the last
// lines.

#define QDQ_DEPTHWISE_DECLARE(ISA, isa) \
    extern qdq_depthwise_fn qdq_depthwise_##isa, qdq_depthwise_fours_##isa;
QDQ_KERNEL_ISAS(QDQ_DEPTHWISE_DECLARE)

// The best kernel for the instruction sets `isas`; all give the same bits.
qdq_depthwise_fn *qdq_depthwise_find(uint32_t isas, bool fours);

#endif
