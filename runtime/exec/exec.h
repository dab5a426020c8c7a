// SPDX-License-Identifier: Apache-2.0
// An exec: a plan that is ready to run. One block of memory holds the arena, the row-major inputs
// and outputs, and scratch. exec_create.c creates it, exec.c runs it, exec_io.c moves tensors in
// and out.
#ifndef QDQ_RUNTIME_EXEC_EXEC_H
#define QDQ_RUNTIME_EXEC_EXEC_H

#include "runtime/base/scratch.h"
#include "runtime/exec/plan.h"

// Memory of an input or output. `bound` is the caller's; if set, it is used instead of `own`.
typedef struct qdq_exec_io {
    char *own;
    char *bound;
    bool written;  // inputs: `own` holds data; before that its memory is not touched
} qdq_exec_io;

struct qdq_exec {
    const qdq_plan *plan;
    const qdq_allocator *allocator;
    qdq_parallel parallel;
    bool poison;
    size_t bytes;  // of this block, struct included
    qdq_exec_io *inputs, *outputs;
    char *arena;
    char *scratch;   // fetched parameters, reduction states and results
    char *flat;      // row-major copies of the running tensor op's operands that are tiles
    const void **x;  // these operands
};

// Returns the bytes of the memory block of an exec of `plan`; SIZE_MAX: more than an address
// can count.
size_t qdq_exec_measure(const qdq_plan *plan);

static inline char *qdq_exec_io_memory(const qdq_exec_io *io) {
    return io->bound ? io->bound : io->own;
}

// Returns the memory of a place; NULL for none.
char *qdq_exec_place(const qdq_exec *exec, qdq_place place);

// Returns a value as row-major memory: its own memory, or `flat` after its tiles are copied there.
const void *qdq_exec_rows(const qdq_exec *exec, const qdq_located *value, void *flat);

// Returns the numbers of a parameter, already known or fetched in this run.
qdq_grid_values qdq_exec_param(const qdq_exec *exec, const qdq_param *v);

// Returns the kept value of this name; NULL: there is none.
const qdq_kept *qdq_exec_find_kept(const qdq_plan *plan, const char *name);
// Copies a kept value row-major to `data`, as float32 if `widen`.
void qdq_exec_copy_kept(const qdq_exec *exec, const qdq_kept *kept, bool widen, void *data);
// True if the graph has a value of this name.
bool qdq_exec_has_value(const qdq_plan *plan, const char *name);
// Fails because no kept value has this name: the value is not kept, or no `what` has the name.
qdq_status qdq_exec_not_kept(const qdq_plan *plan, const char *what, const char *name,
                             qdq_error *err);

// The parts of a reduction: the states of partial number `partial`; accumulate elements or a block
// into states; merge all partials and store the results.
char *qdq_exec_states(const qdq_exec *exec, const qdq_reduce *reduce, size_t partial);
void qdq_exec_accumulate(const qdq_reduce *reduce, char *states, size_t first, const char *x,
                         size_t size, size_t n);
void qdq_exec_reduce_block(const qdq_step *step, char *states, size_t block, const char *x,
                           size_t elements);
// Accumulates likewise the elements of a rectangle, in row-major order.
void qdq_exec_reduce_rectangle(const qdq_step *step, char *states, qdq_tile_at at, const char *x);
// Accumulates all elements of tiles, or of rows, in row-major order.
void qdq_exec_reduce_rows(const qdq_exec *exec, const qdq_step *step, char *states);
void qdq_exec_finish_reduction(const qdq_exec *exec, const qdq_reduce *reduce, size_t partials);

// Runs a tensor op and its links, whose parameters have been fetched already.
void qdq_exec_run_tensor_op(const qdq_exec *exec, const qdq_step *step);

#endif
