// SPDX-License-Identifier: Apache-2.0
// The loop of Slice, Pad, Expand, Tile and Concat: y is filled in row-major order, and a
// table for each dim of y says where in x its indices lie.
//
// A table is a list of runs. A run is a range of indices that lie `step` elements apart in x: -1
// reads backwards, 0 repeats an element. The offset of an element of y is the sum of the
// contributions of its indices. A run may also take its elements from another input, as Concat
// does, or be filled with one number, as in Pad.
#ifndef QDQ_OPS_MOVEMENT_RUNS_H
#define QDQ_OPS_MOVEMENT_RUNS_H

#include "ops/movement/movement.h"

enum {
    QDQ_RUN_DIMS = 2 * QDQ_MAX_RANK,  // Tile splits a dim into two
    QDQ_RUN_FILL = -1,                // in place of an input
};

typedef struct qdq_run {
    size_t begin;  // the first index; the run ends where the next begins
    ptrdiff_t from, step;
    // For runs of the last dim. The offset that the other dims contribute is multiplied by `scale`:
    // 1, or in Concat the elements of this input per index of the other dims. Runs of other dims
    // belong to input 0 or to QDQ_RUN_FILL.
    int input;
    ptrdiff_t scale;
} qdq_run;

typedef struct qdq_run_dim {
    size_t size;
    qdq_run *runs;
    size_t run_count;
} qdq_run_dim;

typedef struct qdq_runs {
    int rank;
    qdq_run_dim dims[QDQ_RUN_DIMS];
    size_t count;        // elements of y
    qdq_dtype *x_dtype;  // of each input
    qdq_dtype y_dtype;
    size_t fill_input;  // has one element, the number to fill with; SIZE_MAX: `fill`
    uint64_t fill;      // the bits of an element of input 0
    qdq_run whole;      // of a scalar
} qdq_runs;

// Starts a table without dims, in the mempool; NULL if memory runs out.
qdq_runs *qdq_runs_new(const qdq_op_context *ctx, const qdq_lowering *to);

// Appends a dim of y; the runs are copied. qdq_runs_add_one: a dim that is one run of input 0.
bool qdq_runs_add(qdq_runs *table, qdq_mempool *mempool, size_t size, const qdq_run *runs,
                  size_t run_count);
bool qdq_runs_add_one(qdq_runs *table, qdq_mempool *mempool, size_t size, ptrdiff_t from,
                      ptrdiff_t step);

// Implements `lower` of an op whose dims have all been added.
size_t qdq_lower_runs(qdq_runs *table, qdq_stage *stages);

// Sets the distance in x from an index of each dim to the next.
void qdq_strides_of(qdq_shape shape, ptrdiff_t *strides);

// Implements the hook passes_quantized of an op whose y has the dims of x as its last dims: exact
// unless the length of a dim with parameters per entry changes.
bool qdq_runs_quantized(const qdq_op_context *ctx, qdq_quantized *quantized);

#endif
