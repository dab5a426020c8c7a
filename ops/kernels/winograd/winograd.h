// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's convolution F(2x2, 3x3); ops/conv/winograd/conv_winograd.h has
// the formula. A tile is 4x4 elements of x, shares two columns with the next tile, and gives 2x2
// results. Its transform has 16 points, row by row.
//
// Vectors run over tiles. Each kernel computes the same sums in the same order.
//
// Kernels of codes take bytes of x and give differences from the zero point, int16_t in words of
// two channels; their weights are 4 G g G', and their sums and results are int32_t. All of it is
// exact, modulo 2^30 in the results.
#ifndef QDQ_OPS_KERNELS_WINOGRAD_WINOGRAD_H
#define QDQ_OPS_KERNELS_WINOGRAD_WINOGRAD_H

#include "include/qdq/base.h"
#include "ops/kernels/best_row.h"

enum {
    QDQ_WINOGRAD_SIDE = 4,  // of a tile
    QDQ_WINOGRAD_POINTS = QDQ_WINOGRAD_SIDE * QDQ_WINOGRAD_SIDE,
    QDQ_WINOGRAD_WINDOW = 3,
    QDQ_WINOGRAD_RUN = 32,    // most tiles that are transformed together
    QDQ_WINOGRAD_PITCH = 32,  // points of a channel: a row of a panel of ops/kernels/gemm/gemm.h
    QDQ_WINOGRAD_ROOM = 32,   // floats that `end` may write after the last result
};

// Neighbouring tiles of a plane, in each of `channels` planes.
typedef struct qdq_winograd_tiles {
    const void *x;  // float: the first element of the first plane; or all codes
    // Of codes: how many there are, the place of the first element of the first plane, the zero
    // point, and true if they are int8_t.
    size_t size, at;
    int16_t zero;
    bool is_signed;
    size_t channels, channel_stride, row_stride;
    size_t rows, columns;   // of a plane
    ptrdiff_t row, column;  // of the first tile's first element; beyond the plane x counts as 0
    size_t n, room;         // tiles, and up to how many may be written; at most QDQ_WINOGRAD_RUN
    // Point p of tile j of channel k, or word k of codes, is
    // points[p * point_stride + k * QDQ_WINOGRAD_PITCH + j].
    float *points;
    size_t point_stride;
} qdq_winograd_tiles;

// t0 = d0 - d2, t1 = d1 + d2, t2 = d2 - d1, t3 = d1 - d3 of the rows of each tile, then of the
// columns.
typedef void qdq_winograd_begin_fn(const qdq_winograd_tiles *tiles);

// Sums of the points of n tiles: point p of tile j is sums[p * point_stride + j].
typedef struct qdq_winograd_sums {
    const float *sums;  // or int32_t, and so are the results
    size_t point_stride, n;
    float *upper, *lower;  // 2 n results: the first and the second row of all tiles
} qdq_winograd_sums;

// y0 = (m0 + m1) + m2, y1 = (m1 - m2) - m3 of the rows of each tile, then of the columns. Reads
// whole vectors of sums. Returns true if all results are finite.
typedef bool qdq_winograd_end_fn(const qdq_winograd_sums *sums);

// G g G' of the 3x3 weights g of n input channels, which follow each other: point p of channel i is
// points[p][i]. Computed in double, and rounded once. Of codes both are int16_t, and a last word
// ends with 0.
typedef void qdq_winograd_weights_fn(const void *weights, size_t n,
                                     void *const points[QDQ_WINOGRAD_POINTS]);

typedef struct qdq_winograd_kernels {
    qdq_winograd_begin_fn *begin;
    qdq_winograd_end_fn *end;
    qdq_winograd_weights_fn *weights;
} qdq_winograd_kernels;

#define QDQ_WINOGRAD_DECLARE(ISA, isa) extern const qdq_winograd_kernels qdq_winograd_##isa;
QDQ_KERNEL_ISAS(QDQ_WINOGRAD_DECLARE)

// Returns the best kernels for the instruction sets `isas`; all give the same bits.
const qdq_winograd_kernels *qdq_winograd_find(uint32_t isas);

// Returns the kernels of codes. NULL where an instruction multiplies bytes, which takes no longer.
const qdq_winograd_kernels *qdq_winograd_find_codes(uint32_t isas);

#endif
