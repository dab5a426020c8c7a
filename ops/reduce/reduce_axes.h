// SPDX-License-Identifier: Apache-2.0
// Walks the slices of a tensor: the sets of elements that a softmax, a norm or a reduction takes
// together. Whatever dims a slice spans, an op sees its elements in row-major order as parts of
// contiguous float32. An op is therefore a few short functions without strides and dtypes, and its
// sums have one order.
#ifndef QDQ_OPS_REDUCE_REDUCE_AXES_H
#define QDQ_OPS_REDUCE_REDUCE_AXES_H

#include "ops/kernels/reduce/reduce_kernels.h"
#include "ops/op.h"

//---- Which elements ---------------------------------------------------------

typedef struct qdq_slice_dim {
    size_t size, stride;
} qdq_slice_dim;

// The dims within a slice and the dims across slices, innermost first, without dims of size 1 and
// with neighbours merged. Slices are numbered in row-major order of the dims across them.
typedef struct qdq_reduce_axes {
    qdq_slice_dim within[QDQ_MAX_RANK], across[QDQ_MAX_RANK];
    int within_rank, across_rank;
    size_t n, count;  // elements of a slice; number of slices
} qdq_reduce_axes;

// `within`: a bit 1 << dim for each dim that slices span.
qdq_reduce_axes qdq_reduce_axes_of(qdq_shape shape, uint32_t within);

//---- Ops on slices ----------------------------------------------------------

enum {
    QDQ_SLICE_PART = 4096,    // elements in buffers at a time
    QDQ_SLICES_AT_ONCE = 16,  // slices side by side in memory that are walked together, at most
};

// The state of a slice that an op keeps from pass to pass.
typedef struct qdq_slice_state {
    qdq_lanes lanes;
    qdq_normal normal;                     // norms
    double max, sum;                       // softmax
    float floats[QDQ_RUNTIME_WIDE_LANES];  // sums of ONNX Runtime's softmax
    uint32_t dst;                          // a chip's accumulator
} qdq_slice_state;

// A part of a slice, as a pass sees it.
typedef struct qdq_part {
    const void *params;  // the op's own
    const qdq_slice_kernels *kernels;
    const qdq_tensors *tensors;
    qdq_slice_state *state;
    size_t slice, at, n;  // elements at .. at + n - 1 of a slice
    size_t slice_n;       // of all its elements
    const float *x;
    // n numbers. After the last pass of an op that maps, they are the elements of y. Before, they
    // are scratch of the op, which keeps its contents from pass to pass if a part is the whole
    // slice.
    double *work;
} qdq_part;

// One walk over the elements of a slice: `take` for each part in order, then `end` with the last
// part.
typedef struct qdq_slice_pass {
    void (*begin)(const qdq_part *part);
    void (*take)(const qdq_part *part);
    void (*end)(const qdq_part *part);  // or NULL
} qdq_slice_pass;

enum { QDQ_MAX_PASSES = 3 };

typedef void qdq_take_floats_fn(const qdq_part *part, float *y);

typedef struct qdq_slice_op {
    qdq_slice_pass passes[QDQ_MAX_PASSES];
    size_t pass_count;
    bool maps;  // the last pass computes y, which has the shape of x
    // Computes the floats of the last pass's `take` for a part, in place; or NULL.
    qdq_take_floats_fn *take_floats;
    // Computes y of a part that is a whole slice without passes, or returns false; or NULL. `work`
    // has room for QDQ_SUM_LANES more numbers.
    bool (*quick)(const qdq_part *part, float *y);
} qdq_slice_op;

// Writes the stage of an op on slices of its first input. `cost`: operations per element. False
// when memory runs out.
bool qdq_slice_stage(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_slice_op *op,
                     qdq_reduce_axes slices, const void *params, size_t cost, qdq_stage *stage);

// Stores one number as an element of an output, rounded once. Does nothing if the output is not
// needed.
void qdq_slice_store(const qdq_tensors *tensors, size_t output, qdq_dtype dtype, size_t index,
                     double value);

// Computes the elements of a part by `take` and widens them to `work`: the `take` of a pass whose
// op has `take_floats`.
void qdq_part_take_widened(const qdq_part *part, qdq_take_floats_fn *take);

// True if a part is its whole slice.
static inline bool qdq_part_is_all(const qdq_part *part) { return part->n == part->slice_n; }

#endif
