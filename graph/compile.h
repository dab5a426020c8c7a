// SPDX-License-Identifier: Apache-2.0
// What compiling a graph works on: the draft of graph/lower.c, and where its values go.
#ifndef QDQ_GRAPH_COMPILE_H
#define QDQ_GRAPH_COMPILE_H

#include "graph/lower.h"
#include "runtime/memory_plan.h"

typedef struct qdq_compiler {
    qdq_pool scratch;  // what is not part of the plan
    qdq_draft draft;
    qdq_plan *plan;
    qdq_located *located;     // per graph value
    qdq_lifetime *lifetimes;  // per arena value
    size_t *slot_of;          // graph value -> arena value
    qdq_error *err;
} qdq_compiler;

static inline qdq_status qdq_compile_no_memory(const qdq_compiler *c) {
    return qdq_fail(c->err, QDQ_ERR_MEMORY, "out of memory while compiling the graph");
}

static inline size_t qdq_arena_aligned(size_t bytes) {
    return (bytes + QDQ_ARENA_ALIGN - 1) / QDQ_ARENA_ALIGN * QDQ_ARENA_ALIGN;
}

// The steps of the plan. Every value has its place; `from` has those of before there was an arena.
qdq_status qdq_compile_steps(qdq_compiler *c, const qdq_located *from);

#endif
