// SPDX-License-Identifier: Apache-2.0
// Sizes of the parts that ops cut their work into. No interface needs them, but the tests of large
// shapes do: they derive their shapes from these constants and from the constants in reduce_axes.h,
// movement.h, chunks.h and runtime/exec/plan.h.
#ifndef QDQ_OPS_BLOCKING_H
#define QDQ_OPS_BLOCKING_H

enum {
    QDQ_ELEMENTS_PART = 256,      // elements of an operand that are widened at a time
    QDQ_ELEMENTS_UNIT = 4096,     // elements of y in a unit, if both operands are broadcast
    QDQ_POOL_LANES = 512,         // elements of a row of y whose windows are joined together
    QDQ_POOL_CHANNELS = 256,      // channels among them, if they are neighbours
    QDQ_POOL_TAPS = 16,           // elements of a window that are joined together, in each dim
    QDQ_POOL_PACKED = 4096,       // elements of x packed at a time
    QDQ_POOL_JOINED = 2048,       // windows of a block, with a margin at the end of each row
    QDQ_POOL_ROWS = 8,            // rows of y whose small windows are computed together
    QDQ_INTERPOLATE_LANES = 256,  // elements of a row of y computed together
    QDQ_INTERPOLATE_ROWS = 16,    // rows of y in a unit
    QDQ_TRANSPOSE_BLOCK = 64,     // rows and columns of a block that is transposed in cache
    QDQ_NORM_PART = 1024,         // elements of gamma and beta that are widened at a time
    QDQ_SLICE_ROWS = 64,          // elements of neighbouring slices that are transposed at a time
    QDQ_MOVE_PART = 256,          // elements whose dtype is converted at a time
    QDQ_MOVE_LONG = 1024,         // from this length on a run is not worth gathering
    QDQ_CUM_SUM_LANES = 64,       // neighbouring sums, or elements of one, added at a time
    QDQ_DROPOUT_PART = 256,       // elements that are decoded at a time
    QDQ_DROPOUT_UNIT = 16 * QDQ_DROPOUT_PART,  // elements in a unit
};

#endif
