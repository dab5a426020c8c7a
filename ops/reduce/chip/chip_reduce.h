// SPDX-License-Identifier: Apache-2.0
// Reductions of bfloat16 as the matrix unit of a Tenstorrent chip computes them in ttnn.max, min,
// sum and mean without a configuration (docs/device_arithmetic.md 10).
#ifndef QDQ_OPS_REDUCE_CHIP_CHIP_REDUCE_H
#define QDQ_OPS_REDUCE_CHIP_CHIP_REDUCE_H

#include "ops/reduce/reduce_axes.h"

typedef enum qdq_chip_reduction {
    QDQ_CHIP_NONE = 0,  // a reduction that no chip computes
    QDQ_CHIP_MAX,
    QDQ_CHIP_MIN,
    QDQ_CHIP_SUM,
    QDQ_CHIP_MEAN,
} qdq_chip_reduction;

// The order of the sum of a slice.
typedef enum qdq_chip_order {
    QDQ_CHIP_UNKNOWN = 0,
    QDQ_CHIP_ANY,      // the order does not matter
    QDQ_CHIP_ROWS,     // along the last dim, elements are SrcB: in each tile phase by phase
    QDQ_CHIP_COLUMNS,  // along another dim, elements are SrcA: in each half of a tile
} qdq_chip_order;

// Returns the order of a reduction of x over a bit 1 << dim for each reduced dim.
qdq_chip_order qdq_chip_order_of(qdq_chip_reduction reduction, qdq_type x, uint32_t dims);

// Writes the stage of a reduction with a known order. False when memory runs out.
bool qdq_chip_reduce_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                           qdq_chip_reduction reduction, uint32_t dims, qdq_stage *stage);

#endif
