// SPDX-License-Identifier: Apache-2.0
// Sums of lines that are shifted against each other: what convolutions of few channels are where
// positions are neighbours in memory.
#ifndef QDQ_OPS_KERNELS_DEPTHWISE_DEPTHWISE_H
#define QDQ_OPS_KERNELS_DEPTHWISE_DEPTHWISE_H

#include "include/qdq/base.h"
#include "ops/kernels/best_row.h"

enum { QDQ_DEPTHWISE_ROOM = 32 };  // lines and sums are read up to a multiple of this

// A line, and what it is multiplied by. Only begin..end of it are wanted.
typedef struct qdq_depthwise_line {
    const float *x;
    float by;
    uint32_t begin, end;
} qdq_depthwise_line;

// sums[i] = fma(line[i], by, sums[i]) for n i, and for each of them line by line in order.
typedef void qdq_depthwise_fn(const qdq_depthwise_line *lines, size_t depth, float *sums, size_t n);

#define QDQ_DEPTHWISE_DECLARE(ISA, isa) extern qdq_depthwise_fn qdq_depthwise_##isa;
QDQ_KERNEL_ISAS(QDQ_DEPTHWISE_DECLARE)

// The best kernel for the instruction sets `isas`; all give the same bits.
qdq_depthwise_fn *qdq_depthwise_find(uint32_t isas);

#endif
