// SPDX-License-Identifier: Apache-2.0
// The elements that vectors of the optimized kernels compute, where they round otherwise than the
// rest.
#ifndef QDQ_GRAPH_TARGETS_LITERT_LITERT_VECTORS_H
#define QDQ_GRAPH_TARGETS_LITERT_LITERT_VECTORS_H

#include "graph/targets/litert/litert.h"

// The elements that vectors of the optimized ADD compute: in each run, those before `split`.
typedef struct litert_blocks {
    int64_t run, split;
    bool floors;  // they scale operands of 8 bits down without rounding
} litert_blocks;

litert_blocks litert_blocks_of_sum(const qdq_rewriter *r, const litert_unit *u,
                                   litert_engine engine);
// Joins two results: in each run of elements, one before index `split` and the other from there.
qdq_value litert_join_blocks(const qdq_rewriter *r, const char *name, qdq_value blocks,
                             qdq_value rest, int64_t run, int64_t split);

// True if the built-in kernel of aarch64 for windows of 3 by 3 takes a depthwise convolution.
bool litert_is_3x3_kernel(const qdq_rewriter *r, const litert_unit *u);

#endif
