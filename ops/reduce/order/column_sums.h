// SPDX-License-Identifier: Apache-2.0
// Sums, or means, of the columns of a float32 matrix: the elements of a column are added in order,
// as in the last order of sum_order.h. Neighbouring columns are the lanes of a vector, so that
// nothing is transposed.
#ifndef QDQ_OPS_REDUCE_ORDER_COLUMN_SUMS_H
#define QDQ_OPS_REDUCE_ORDER_COLUMN_SUMS_H

#include "ops/reduce/reduce_axes.h"

enum { QDQ_COLUMN_SUMS = 512 };  // columns of a unit

// True if the slices are the columns of a matrix.
bool qdq_column_sums_fit(const qdq_reduce_axes *slices);

// Writes the stage: each sum is divided by `divisor`, and stored as `dtype`. False when memory runs
// out.
bool qdq_column_sums_stage(const qdq_lowering *to, const qdq_reduce_axes *slices, float divisor,
                           qdq_dtype dtype, qdq_stage *stage);

#endif
