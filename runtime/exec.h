// SPDX-License-Identifier: Apache-2.0
// What an exec is: one block of memory with the arena, the row-major inputs and outputs, and
// scratch in it. exec.c makes and runs it, exec_io.c moves tensors in and out.
#ifndef QDQ_RUNTIME_EXEC_H
#define QDQ_RUNTIME_EXEC_H

#include "runtime/plan.h"

// Memory of an input or output. `bound` is the caller's, and goes before `own` where it is set.
typedef struct qdq_exec_io {
    char *own;
    char *bound;
    bool written;  // inputs: `own` holds something; until then it is not even touched
} qdq_exec_io;

struct qdq_exec {
    const qdq_plan *plan;
    const qdq_allocator *allocator;
    qdq_parallel parallel;
    bool poison;
    size_t bytes;  // of this block, struct included
    qdq_exec_io *inputs, *outputs;
    char *arena;
    char *scratch;  // fetched parameters, reduction states and results
    char *flat;     // operands of the whole step that runs, where they are tiles
};

static inline char *qdq_exec_io_memory(const qdq_exec_io *io) {
    return io->bound ? io->bound : io->own;
}

// The memory of a place; NULL for none.
char *qdq_exec_place(const qdq_exec *exec, qdq_place place);

// Runs a step on whole tensors.
void qdq_exec_run_whole(const qdq_exec *exec, const qdq_whole *whole);

#endif
