// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution on rows of x where they lie, without planes. A strip is a vector of
// neighbouring columns of y. It walks down the image: each row of x is loaded once and goes into
// all rows of y that its windows belong to, whose sums wait in registers. Loads beyond the border
// are masked and give zeros.
#ifndef QDQ_OPS_KERNELS_DIRECT_DEPTHWISE_H
#define QDQ_OPS_KERNELS_DIRECT_DEPTHWISE_H

#include "include/qdq/base.h"
#include "runtime/numerics/dtype.h"

// X(size, stride) of a square window: shapes that have kernels.
#define QDQ_DEPTHWISE_SHAPES(X) X(3, 1) X(3, 2) X(5, 1) X(5, 2)

enum {
    QDQ_DEPTHWISE_3_1,
    QDQ_DEPTHWISE_3_2,
    QDQ_DEPTHWISE_5_1,
    QDQ_DEPTHWISE_5_2,
    QDQ_DEPTHWISE_COUNT,
};

// Channels one after the other, and the same part of the rows and columns of each.
typedef struct qdq_depthwise {
    size_t count;
    qdq_dtype dtype;  // float32, or int8 or uint8 minus zero_point
    int32_t zero_point;
    const void *x;              // the first element of the first channel
    size_t x_next, x_stride;    // elements from a channel and a row to the next
    size_t x_rows, x_columns;   // of the image
    ptrdiff_t top, left;        // the place in x of the first window; < 0: beyond the border
    float *plane;               // room for the rows of codes under all windows
    const float *weights;       // one after the other, also of the channels
    const float *scale, *bias;  // NULL: none
    size_t scale_next;          // bias: 1
    float *y;                   // nothing beyond its rows is written
    size_t y_next, y_stride;    // elements
    size_t rows, columns;       // of y
    bool fours;                 // the order of sums, as qdq_direct_fn says
    const bool *odd;            // of channels; NULL: sums are not tested
} qdq_depthwise;

// y = sum * scale + 0 + bias as qdq_direct_finish_fn says, from channel `first` on. Returns the
// first channel that is odd or has a sum that may be 0, whose y may be wrong; `count` if there is
// none.
typedef size_t qdq_depthwise_fn(const qdq_depthwise *depthwise, size_t first);

#endif
