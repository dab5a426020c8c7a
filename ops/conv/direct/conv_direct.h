// SPDX-License-Identifier: Apache-2.0
// Direct convolution: sums over planes of x that lie padded in L1, without a matrix A. It serves
// transposed convolutions and convolutions with few output channels per group. Codes take it with
// more output channels than floats, because a product of codes would pack rows of A for few
// columns.
//
// Phases. A stride cuts each spatial dim into phases. A convolution reads x in phases: plane p of a
// stride s has elements p, s + p, 2 s + p, ... of x. A transposed convolution writes y in phases,
// and each phase of y is a small convolution with the taps that meet it. Within phases every stride
// is 1, so that the positions of a row, and of one row after the other, are neighbours in a plane
// under each tap.
//
// Flat planes. Narrow rows follow each other without padding if y is as wide as x and no stride is
// above 1, so that vectors cross rows. Each tap of the last dim then has separate planes, in which
// elements from the end of another row are zeros.
//
// Borders. Planes have zeros beyond the border. The product with a zero changes no sum, with two
// exceptions: the weight may be infinite or a NaN, and the sum may be -0 after an underflow. Orders
// of the core leave these products out, so the affected sums are computed again, without vectors.
//
// Codes are computed as floats if no sum can exceed 2^24, up to which floats hold all whole
// numbers. Magnitudes of constant weights decide, phase by phase, or the depth alone.
#ifndef QDQ_OPS_CONV_DIRECT_CONV_DIRECT_H
#define QDQ_OPS_CONV_DIRECT_CONV_DIRECT_H

#include "ops/conv/conv_lowering.h"
#include "ops/kernels/direct/depthwise_codes.h"
#include "ops/kernels/direct/direct.h"

// Floats on the stack of a unit, and other limits. Tests take their sizes from these.
enum {
    QDQ_DIRECT_PLANES = 16384,
    QDQ_DIRECT_SUMS = 4096,
    QDQ_DIRECT_GAP = 32,  // after the sums of an output
    QDQ_DIRECT_RESULTS = 8192,
    QDQ_DIRECT_WEIGHTS = 4096,  // that are not constant
    QDQ_DIRECT_K = 2048,        // k at a time
    QDQ_DIRECT_OUTPUTS = 16,    // of a group, computed together
    QDQ_DIRECT_CHANNELS = 64,   // of a unit
    // In a group of codes; with this many or more it is a product.
    QDQ_DIRECT_CODES_OUTPUTS = 33,
    QDQ_DIRECT_TRANSPOSED_OUTPUTS = 65,
    QDQ_DIRECT_SLOTS = 64,       // planes of a channel, for one place in the first dim
    QDQ_DIRECT_FLAT_WIDTH = 16,  // widest rows of flat planes
    QDQ_DIRECT_FLAT_ROOM = 16,   // zeros after a flat plane, and their unit
};

// A tap of a dim: output position `out_step` * q + `out_phase` takes element
// `in_step` * (q + shift) + `in_phase` of x.
typedef struct qdq_direct_tap {
    size_t out_phase, in_phase, slot;
    ptrdiff_t shift;
} qdq_direct_tap;

typedef struct qdq_direct_axis {
    size_t in_step, out_step;
    qdq_direct_tap *taps;
    const size_t *in_phases;  // that taps read, one for each slot
    size_t slots;
    ptrdiff_t low, high;  // least and greatest shift
    size_t reach;         // high - low
    size_t count;         // q of all positions
    size_t band;          // q of a unit
} qdq_direct_axis;

typedef struct qdq_direct {
    qdq_conv conv;             // first
    qdq_gemm transposed_gemm;  // rows are output channels, columns positions
    const qdq_direct_kernels *kernels;
    qdq_direct_axis axes[QDQ_MAX_SPATIAL];
    bool keeps_all;        // products beyond the border
    bool leaves_out;       // them, and weights are not finite for certain
    bool of_reals;         // the epilogue is y = sum * scale + bias
    const float *weights;  // [group][k][output]; NULL: not constant
    const bool *odd;       // of constant weights: a channel has one that is infinite or a NaN
    bool alone;            // each channel is a group, with constant weights
    qdq_depthwise_fn *depthwise;    // of channels that are alone; NULL: planes
    qdq_depthwise_windows windows;  // of code_weights
    const int32_t *code_weights;    // of channels that are alone, for codes of results; NULL: none
    bool flat;
    const uint32_t *masks;      // of flat planes: the elements of rows that each tap keeps
    size_t start;               // floats of a flat plane before its padding, which align its rows
    size_t plane_width, plane;  // floats
    size_t slices;              // most planes of the first dim under a window
    size_t inputs;              // channels whose planes lie in L1 together
    size_t inputs_wanted;       // the least of them that bands leave room for
    size_t outputs;             // of a group, computed together
    size_t unit_channels;       // output channels
    size_t channel_blocks, bands[2];  // units
} qdq_direct;

// Packs the weights of a group as kernels take them: [k][output].
void qdq_direct_pack(const qdq_conv *conv, const void *data, const void *zeros, size_t group,
                     float *out);

// Packs the weights of channels that are alone for kernels from codes to codes, if they are int8.
// False: no memory. Adds to `bytes`.
bool qdq_direct_pack_codes(qdq_direct *direct, qdq_mempool *mempool, size_t *bytes);

// Runs units.
void qdq_direct_run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end);

#endif
