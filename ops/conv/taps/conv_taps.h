// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions in the order of ONNX Runtime, which multiplies x by the weights of all
// taps and then adds these products where windows meet (col2im). A result is 0 plus a sum over
// input channels for each tap that meets x there, in the order of taps, and then the bias.
//
// A unit is a band of y, which has some rows and columns, and some output channels of a group. It
// computes the sums of one tap after the other at the positions of x that the tap takes to the
// band, and adds them to results. The stride of the last dim cuts rows of results into phases, so
// that neighbours in x are neighbours there.
#ifndef QDQ_OPS_CONV_TAPS_CONV_TAPS_H
#define QDQ_OPS_CONV_TAPS_CONV_TAPS_H

#include "ops/conv/conv_lowering.h"
#include "ops/kernels/direct/direct.h"

// Sizes of a unit. Tests take their sizes from these.
enum {
    QDQ_TAPS_RESULTS = 8192,
    QDQ_TAPS_OUTPUTS = 16,  // at most; panels of weights have a multiple of them
    QDQ_TAPS_PHASES = 8,    // with a greater stride, rows of results lie as in y
    QDQ_TAPS_DEPTH = 128,   // most k of a call, a multiple of 8 that chunks are multiples of
    QDQ_TAPS_COPIED = 16384,
    QDQ_TAPS_ROWS = 16384,     // elements of x that all taps of a band read, if a tap has at
    QDQ_TAPS_POSITIONS = 128,  // least these positions
};

typedef struct qdq_conv_taps {
    qdq_conv conv;  // first; k is taps, then input channels
    const qdq_direct_kernels *kernels;
    size_t x_count;      // elements of x
    size_t outputs;      // of a unit
    size_t phases;       // of a row of results
    size_t rows, lines;  // of a band, and results of a phase of a row
    size_t row_bands, column_bands, output_blocks;
    size_t room;  // results of an output
} qdq_conv_taps;

// Runs units.
void qdq_conv_taps_run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end);

#endif
