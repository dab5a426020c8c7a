// SPDX-License-Identifier: Apache-2.0
// Sizes that ops cut their work by and that no interface needs. Tests of large shapes read them
// here, as they read those of slices.h, movement.h, pieces.h and runtime/exec/plan.h, so that a
// changed size moves the shapes that cross it.
#ifndef QDQ_OPS_BLOCKING_H
#define QDQ_OPS_BLOCKING_H

enum {
    QDQ_ELEMENTS_PART = 256,     // elements of an operand that are widened at a time
    QDQ_ELEMENTS_UNIT = 4096,    // elements of y of one unit, where both operands are broadcast
    QDQ_POOL_LANES = 256,        // elements of y that a window is passed over for together
    QDQ_POOL_SPAN = 1024,        // elements of a row of x that these lanes may spread over
    QDQ_INTERPOLATE_LANES = 64,  // elements of y that are made together
    QDQ_TRANSPOSE_BLOCK = 64,    // rows, and columns, of a block that is turned in the cache
    QDQ_NORM_PART = 1024,        // elements that gamma and beta are widened for at a time
    QDQ_SLICE_ROWS = 64,         // elements of neighbouring slices that are turned at a time
    QDQ_MOVE_PART = 256,         // elements whose dtype is converted at a time
    QDQ_MOVE_LONG = 1024,        // elements of a run that is not worth gathering
    QDQ_DROPOUT_PART = 256,      // elements that are decoded at a time
    QDQ_DROPOUT_UNIT = 16 * QDQ_DROPOUT_PART,  // of one unit
};

#endif
