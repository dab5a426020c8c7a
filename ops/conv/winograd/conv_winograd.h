// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution F(2x2, 3x3), with `fast`: a convolution of float32 with a 3x3 window that
// takes 4 multiplications for each result and input channel instead of 9. A. Lavin and S. Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2015, section 4.1.
//
// A tile d of 4x4 elements gives 2x2 results y of an output channel, with the weights g:
//
//   y = A' [sum over input channels of (G g G') * (B' d B)] A
//
// where * multiplies element by element, and A', G, B' stand for the sums
//
//   B'  t0 = d0 - d2        G  u0 = g0                    A'  y0 = (m0 + m1) + m2
//       t1 = d1 + d2           u1 = (g0 + g1 + g2) / 2        y1 = (m1 - m2) - m3
//       t2 = d2 - d1           u2 = (g0 - g1 + g2) / 2
//       t3 = d1 - d3           u3 = g2
//
// of rows, then of columns. G g G' is computed in double and rounded to float32 once; the sum over
// input channels is a chain of fma in their order, from 0; every other operation is rounded to
// float32 as written. A result that is not finite is computed again from x and the weights, as a
// chain of fma: an infinite element would turn all results of its tile into NaN.
//
// Codes are convolved so in integers, in every mode, where no instruction multiplies bytes exactly:
// G is doubled, so that all points are int16_t, and a sum is a quarter of A' [..] A, without a
// rest. That is exact modulo 2^30, so the sum of |x * weight| must fit (QDQ_WINOGRAD_MOST_CODES).
#ifndef QDQ_OPS_CONV_WINOGRAD_CONV_WINOGRAD_H
#define QDQ_OPS_CONV_WINOGRAD_CONV_WINOGRAD_H

#include "ops/conv/conv_lowering.h"
#include "ops/kernels/winograd/winograd.h"

// Sizes of units, whose buffers lie on the stack. Tests take their sizes from these.
enum {
    QDQ_WINOGRAD_LEAST_TILES = 20,     // of an image
    QDQ_WINOGRAD_LEAST_CHANNELS = 16,  // input and output channels of a group
    QDQ_WINOGRAD_TILES = 64,           // of a unit
    QDQ_WINOGRAD_AREA = 4096,          // most tiles times steps, and tiles times output channels
    QDQ_WINOGRAD_DEPTH = QDQ_GEMM_ROW_BYTES / QDQ_GEMM_STEP_BYTES,  // most steps of a k block
    QDQ_WINOGRAD_MOST_CODES = 1024,  // input channels: 2^10 * 9 * 255 * 128 < 2^29
    QDQ_WINOGRAD_OUTPUTS = 128,      // most output channels of a unit
    QDQ_WINOGRAD_GROUP = 24,         // output channels whose results are computed together
};

typedef struct qdq_winograd {
    qdq_conv conv;             // first
    qdq_gemm transposed_gemm;  // rows are output channels, columns positions
    const qdq_winograd_kernels *kernels;
    // G g G', in slots of a row of A: of each group, row block, k block, `ways` points at a time,
    // and output channel of the block. The points of a slot lie in it one after the other. They are
    // floats, or words of two int16_t.
    const float *rows;
    bool of_codes;
    size_t x_count;            // elements of x
    size_t k_blocks, k, ways;  // k: steps of a k block, an input channel or two of codes
    size_t row_blocks, block_rows;
    size_t tile_rows, tile_columns;  // of an image
    size_t unit_rows, unit_columns;  // tiles of a unit: whole rows, or a part of one
    size_t row_units, column_units;  // of an image
    size_t columns;                  // tiles of a unit, in whole panels
} qdq_winograd;

// Returns the row of a channel of a row block with a point of a k block. The rows after it follow.
static inline size_t qdq_winograd_row(const qdq_winograd *w, size_t group, size_t row_block,
                                      size_t k_block, size_t point, size_t row) {
    size_t blocks = (group * w->row_blocks + row_block) * w->k_blocks + k_block;
    size_t slots = (blocks * (QDQ_WINOGRAD_POINTS / w->ways) + point / w->ways) * w->block_rows;
    return (slots + row) * QDQ_WINOGRAD_DEPTH + point % w->ways * (QDQ_WINOGRAD_DEPTH / w->ways);
}

// Return the number of input channels in a step, and in a k block.
static inline size_t qdq_winograd_step(const qdq_winograd *w) { return w->of_codes ? 2 : 1; }
static inline size_t qdq_winograd_inputs(const qdq_winograd *w, size_t k_block) {
    size_t most = w->k * qdq_winograd_step(w), left = w->conv.group_inputs - k_block * most;
    return left < most ? left : most;
}

// Runs units.
qdq_tensor_op_fn qdq_winograd_run;

#endif
