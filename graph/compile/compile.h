// SPDX-License-Identifier: Apache-2.0
// What compiling a graph works on: the draft of graph/compile/lower.c, and where its values go.
#ifndef QDQ_GRAPH_COMPILE_COMPILE_H
#define QDQ_GRAPH_COMPILE_COMPILE_H

#include "graph/compile/lower.h"
#include "runtime/memory/memory_plan.h"

// States of a reduction: tasks that have states of their own, and bytes of all of them.
enum { QDQ_REDUCE_PARTIALS = 64, QDQ_REDUCE_STATE_BYTES = 1 << 20 };

typedef struct qdq_compiler {
    qdq_budget budget;
    qdq_mempool scratch;  // what is not part of the plan
    qdq_draft draft;
    qdq_plan *plan;
    qdq_located *located;     // per graph value
    qdq_lifetime *lifetimes;  // per arena value
    size_t *slot_of;          // graph value -> arena value
    qdq_error *err;
} qdq_compiler;

static inline size_t qdq_arena_aligned(size_t bytes) {
    size_t more = qdq_size_add(bytes, QDQ_ARENA_ALIGN - 1);
    return more == SIZE_MAX ? SIZE_MAX : more / QDQ_ARENA_ALIGN * QDQ_ARENA_ALIGN;
}

// The steps of the plan. Every value has its place; `from` has those of before there was an arena.
qdq_status qdq_compile_steps(qdq_compiler *c, const qdq_located *from);

#endif
