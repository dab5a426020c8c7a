// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution from codes to the codes of a Quantize. Bytes of x are copied next to rows
// of padding, products are added as int32, and sums become codes in registers: no float is stored.
//
// Columns beyond the border are not in the copy: masks replace their bytes by the zero point. With
// a stride of 1, and rows of y as long as rows of x, vectors run over all rows as if they were one,
// so that narrow images fill them.
#ifndef QDQ_OPS_KERNELS_DIRECT_DEPTHWISE_CODES_H
#define QDQ_OPS_KERNELS_DIRECT_DEPTHWISE_CODES_H

#include "runtime/exec/plan.h"

enum {
    QDQ_DEPTHWISE_GROUP = 64,    // codes that are computed together
    QDQ_DEPTHWISE_LANES = 16,    // sums of a vector
    QDQ_DEPTHWISE_WORD = 4,      // taps of a row of a window that are multiplied together
    QDQ_DEPTHWISE_ROOM = 32768,  // bytes
};

// The windows of an image and the masks of its columns.
typedef struct qdq_depthwise_windows {
    size_t size, stride;       // of a square window
    size_t x_rows, x_columns;  // of the image
    size_t columns, lead;      // columns of y; columns of x before the first that windows read
    bool flat;                 // the rows of y are one
    size_t lanes;              // of a row in a vector of codes: 16, 32 or 64
    // For each group of a row, word of a window and vector: the bytes that are not padding. With
    // fewer lanes than a vector of codes has, more rows follow in it.
    const uint64_t *masks;
} qdq_depthwise_windows;

// Channels one after the other, and some rows of each.
typedef struct qdq_depthwise_codes {
    const qdq_depthwise_windows *windows;
    size_t count;
    const uint8_t *x;         // uint8, or int8 with `flip`
    size_t x_next, x_stride;  // elements from a channel and a row to the next
    ptrdiff_t top;            // row of x under the first window; < 0: beyond the border
    uint8_t flip;             // the bits that turn a code into uint8
    uint8_t padding;          // the zero point as uint8
    // For each channel the rows of its window in whole words, with zeros after the taps, then the
    // negated sum of its weights.
    const int32_t *weights;
    const float *scale, *bias;  // bias NULL: none
    size_t scale_next;          // bias: 1
    uint8_t *y;                 // rows follow each other
    size_t y_next, rows;        // rows: of y
    qdq_tile_fn *quantize;
    const void *params;
    const qdq_view *views;
    uint8_t *room;
} qdq_depthwise_codes;

// y = the Quantize of sum * scale + bias, each rounded. False: the kernel does not support the
// arithmetic of the Quantize or images of this size, and nothing is done.
typedef bool qdq_depthwise_codes_fn(const qdq_depthwise_codes *depthwise);

// Returns the kernel whose instruction set has this function of a Quantize; NULL: none.
qdq_depthwise_codes_fn *qdq_depthwise_codes_find(qdq_tile_fn *quantize);

// True if a kernel of the instruction sets `isas` supports a window.
bool qdq_depthwise_codes_has(uint32_t isas, size_t size, size_t stride);

// Returns the number of words of a row of a window.
static inline size_t qdq_depthwise_words(size_t size) {
    return (size + QDQ_DEPTHWISE_WORD - 1) / QDQ_DEPTHWISE_WORD;
}

// Returns the number of words of the weights of a channel.
static inline size_t qdq_depthwise_weights(size_t size) {
    return size * qdq_depthwise_words(size) + 1;
}

#endif
