// SPDX-License-Identifier: Apache-2.0
// The kernels of direct convolution (ops/conv/direct/conv_direct.c). Elements of x lie in
// planes, with their padding, as floats. Each k of a sum is a place in the planes; vectors run over
// neighbouring positions, and the sums of a vector stay in registers for all k.
#ifndef QDQ_OPS_KERNELS_DIRECT_DIRECT_H
#define QDQ_OPS_KERNELS_DIRECT_DIRECT_H

#include "include/qdq/base.h"
#include "ops/kernels/best_row.h"
#include "ops/kernels/direct/depthwise.h"
#include "runtime/numerics/dtype.h"

// Kernels read and write up to this many elements beyond the end of planes, sums and rows, and up
// to half of it beyond the sums of each output if a part has several outputs.
enum { QDQ_DIRECT_ROOM = 64 };

// A k: its place in the planes of the first position, and the number of its row of weights.
typedef struct qdq_direct_k {
    uint32_t x, w;
} qdq_direct_k;

// sums[o * stride + i] = the sum over k of x[k.x + i] * weights[k.w * w_stride + o].
typedef struct qdq_direct_part {
    const float *x, *weights;
    const qdq_direct_k *k;
    size_t depth, w_stride;
    float *sums;
    size_t stride, outputs, n;
    bool more;  // sums continue from memory, not from 0
} qdq_direct_part;

// A chain of fma for each sum. `fours`: rounded products, added in fours as
// ops/kernels/gemm/gemm_orders.h says; a part ends at a multiple of 4 k, or at the last.
typedef void qdq_direct_fn(const qdq_direct_part *part);

// Rows of x that become rows of a plane: float32, or int8 or uint8 minus a zero point.
typedef struct qdq_direct_rows {
    qdq_dtype dtype;
    int32_t zero_point;
    const void *x;
    size_t row_stride, step;  // elements from one row and from one element to the next
    size_t rows, n;
    float *plane;
    size_t plane_stride;
} qdq_direct_rows;

// May write zeros after each row. Rows are written in order.
typedef void qdq_direct_fill_fn(const qdq_direct_rows *rows);

// n elements of x that become `taps` planes, each with the elements that its masks keep (all bits
// set) and zeros. Writes up to a vector of zeros after each plane.
typedef struct qdq_direct_flat {
    qdq_dtype dtype;
    int32_t zero_point;
    const void *x;
    size_t n, taps;
    const uint32_t *masks;
    float *planes;
    size_t plane_stride;  // and of masks
} qdq_direct_flat;

typedef void qdq_direct_flat_fn(const qdq_direct_flat *flat);

// Rows of sums that become rows of y.
typedef struct qdq_direct_results {
    const float *sums;
    const float *scale, *bias;  // NULL: none
    float *y;
    size_t sums_stride, y_stride, rows, n;
    size_t step;  // from one element of y to the next
} qdq_direct_results;

// y = sum * scale + 0 + bias, each rounded (without a scale: sum + bias); a NaN becomes the quiet
// NaN without a sign. Returns true if a sum may be 0. May write beyond the end of a row if `step`
// is 1; rows are written in order.
typedef bool qdq_direct_finish_fn(const qdq_direct_results *results);

// Rows of sums that are added to rows of results: n elements of each.
typedef struct qdq_direct_row_sums {
    const float *sums;
    float *results;
    size_t sums_stride, results_stride, rows, n;
} qdq_direct_row_sums;

typedef void qdq_direct_add_rows_fn(const qdq_direct_row_sums *rows);

// Channels that are separate groups, one after the other through the same planes and sums: planes
// are filled, sums added and finished. Pointers point to the first channel.
typedef struct qdq_direct_channels {
    size_t count;
    const qdq_direct_flat *flat;  // NULL: rows
    const qdq_direct_rows *rows;
    size_t slots;   // of rows
    size_t x_next;  // bytes from one channel to the next
    qdq_direct_part part;
    bool fours;
    const bool *odd;  // of channels; NULL: sums are not tested
    qdq_direct_results results;
    size_t w_next, y_next, scale_next;
} qdq_direct_channels;

// Begins with channel `first`. Returns the first channel that is odd or has a sum that may be 0,
// which it has finished as well; `count` if there is none.
typedef size_t qdq_direct_channels_fn(const qdq_direct_channels *channels, size_t first);

// The least magnitude of n elements that is not 0; infinity or a NaN if there is none.
typedef float qdq_direct_least_fn(const float *x, size_t n);

typedef struct qdq_direct_kernels {
    qdq_direct_fn *chain, *fours;
    qdq_direct_fill_fn *fill;
    qdq_direct_flat_fn *flat;
    qdq_direct_finish_fn *finish;
    qdq_direct_add_rows_fn *add_rows;
    qdq_direct_channels_fn *channels;
    qdq_direct_least_fn *least;
    qdq_depthwise_fn *depthwise[QDQ_DEPTHWISE_COUNT];  // NULL: none
    size_t lanes;                                      // of a vector
} qdq_direct_kernels;

#define QDQ_DIRECT_DECLARE(ISA, isa) extern const qdq_direct_kernels qdq_direct_kernels_##isa;
QDQ_KERNEL_ISAS(QDQ_DIRECT_DECLARE)

// Returns the best kernels for the instruction sets `isas`; all give the same bits.
const qdq_direct_kernels *qdq_direct_find(uint32_t isas);

// Returns the best kernel of a depthwise convolution with `columns` in a row; NULL: none.
qdq_depthwise_fn *qdq_depthwise_find(uint32_t isas, size_t size, size_t stride, size_t columns);

#endif
