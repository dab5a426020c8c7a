// SPDX-License-Identifier: Apache-2.0
// Sums of lines that are shifted against each other: what convolutions of few channels are where
// positions are neighbours in memory.
#ifndef QDQ_OPS_KERNELS_DEPTHWISE_DEPTHWISE_H
#define QDQ_OPS_KERNELS_DEPTHWISE_DEPTHWISE_H

#include "include/qdq/base.h"
#include "runtime/base/cpu.h"

enum { QDQ_DEPTHWISE_ROOM = 32 };  // lines and sums are read up to a multiple of this

// A line, and what it is multiplied by. Only begin..end of it are wanted.
typedef struct qdq_depthwise_line {
    const float *x;
    float by;
    uint32_t begin, end;
} qdq_depthwise_line;

typedef struct qdq_depthwise_kernel {
    qdq_isa isa;
    // sums[i] = fma(line[i], by, sums[i]) for n i, and for each of them line by line in order.
    void (*add)(const qdq_depthwise_line *lines, size_t depth, float *sums, size_t n);
} qdq_depthwise_kernel;

extern const qdq_depthwise_kernel qdq_depthwise_portable;
extern const qdq_depthwise_kernel qdq_depthwise_avx2;
extern const qdq_depthwise_kernel qdq_depthwise_avx512;
extern const qdq_depthwise_kernel qdq_depthwise_neon;

// The kernels of this build, from the plainest to the best.
const qdq_depthwise_kernel *const *qdq_depthwise_kernels(size_t *count);
// The best one of these instruction sets.
const qdq_depthwise_kernel *qdq_depthwise_kernel_find(uint32_t isas);

#endif
