// SPDX-License-Identifier: Apache-2.0
// The dims that a reduction reduces.
#ifndef QDQ_OPS_REDUCE_REDUCED_DIMS_H
#define QDQ_OPS_REDUCE_REDUCED_DIMS_H

#include "include/qdq/ops/reduce.h"

// Returns a bit 1 << dim for each reduced dim of an x of this rank.
static inline uint32_t qdq_reduced_dims(const qdq_reduce_attrs *attrs, int rank) {
    uint32_t dims = 0;
    for (size_t i = 0; i < attrs->axes.count; i++)
        dims |= 1u << (attrs->axes.data[i] < 0 ? attrs->axes.data[i] + rank : attrs->axes.data[i]);
    return dims;
}

#endif
