// SPDX-License-Identifier: Apache-2.0
// Creates an exec in a single allocation, and destroys it.
#include <string.h>

#include "runtime/arena/memory_plan.h"
#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/threads/parallel_run.h"
#include "runtime/exec/exec.h"

// The same code lays out the memory block twice: without memory to measure it, then for good.
typedef struct layout {
    char *base;
    size_t at;
    bool overflow;
} layout;

static char *lay(layout *l, size_t count, size_t size) {
    size_t bytes, at = l->at;
    l->overflow |= __builtin_mul_overflow(count, size, &bytes) ||
                   __builtin_add_overflow(at, bytes, &l->at) ||
                   __builtin_add_overflow(l->at, (size_t)QDQ_ARENA_ALIGN - 1, &l->at);
    l->at = l->at / QDQ_ARENA_ALIGN * QDQ_ARENA_ALIGN;
    return l->base ? l->base + at : NULL;
}

static void lay_out(layout *l, const qdq_plan *plan, qdq_exec *exec) {
    (void)lay(l, 1, sizeof *exec);
    exec->inputs = (qdq_exec_io *)(void *)lay(l, plan->input_count, sizeof(qdq_exec_io));
    exec->outputs = (qdq_exec_io *)(void *)lay(l, plan->output_count, sizeof(qdq_exec_io));
    exec->arena = lay(l, plan->stats.arena_bytes, 1);
    exec->scratch = lay(l, plan->param_bytes, 1);
    exec->flat = lay(l, plan->flat_bytes, 1);
    exec->x = (const void **)(void *)lay(l, plan->operand_count, sizeof(void *));
    for (size_t i = 0; i < plan->input_count; i++) {
        char *own = lay(l, plan->inputs[i].bytes, 1);
        if (l->base) exec->inputs[i] = (qdq_exec_io){.own = own};
    }
    for (size_t i = 0; i < plan->output_count; i++) {
        char *own = lay(l, plan->outputs[i].bytes, 1);
        if (l->base) exec->outputs[i] = (qdq_exec_io){.own = own};
    }
}

size_t qdq_exec_measure(const qdq_plan *plan) {
    layout l = {0};
    qdq_exec measured;
    lay_out(&l, plan, &measured);
    return l.overflow ? SIZE_MAX : l.at;
}

enum { ZEROED = 1 << 16 };  // bytes at a time

// Clears the arena of an exec, on the caller's threads.
static void zero_arena(void *context, size_t begin, size_t end) {
    const qdq_exec *exec = context;
    size_t bytes = exec->plan->stats.arena_bytes, first = begin * ZEROED, last = end * ZEROED;
    memset(exec->arena + first, 0, (last < bytes ? last : bytes) - first);
}

qdq_exec *qdq_exec_create(const qdq_plan *plan, const qdq_exec_options *options, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    if (!plan) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "qdq_exec_create: there is no plan");
        return NULL;
    }
    qdq_exec_options opt = options ? *options : (qdq_exec_options){0};
    const qdq_allocator *allocator = qdq_allocator_or_default(opt.allocator);
    size_t bytes = qdq_exec_measure(plan);
    char *memory = bytes < SIZE_MAX ? qdq_alloc_array(allocator, bytes, 1, QDQ_ARENA_ALIGN) : NULL;
    if (!memory) {
        qdq_fail_memory(err, bytes);
        return NULL;
    }
    qdq_exec *exec = (qdq_exec *)(void *)memory;
    *exec = (qdq_exec){.plan = plan,
                       .allocator = allocator,
                       .parallel = opt.parallel,
                       .poison = opt.poison,
                       .bytes = bytes};
#ifndef NDEBUG
    exec->poison = true;
#endif
    layout l = {.base = memory};
    lay_out(&l, plan, exec);
    for (size_t i = 0; i < plan->output_count; i++)
        memset(exec->outputs[i].own, 0, plan->outputs[i].bytes);
    size_t arena = plan->kept_count ? plan->stats.arena_bytes : 0;
    qdq_parallel_run(&exec->parallel, arena, (arena + ZEROED - 1) / ZEROED, zero_arena, exec);
    return exec;
}

void qdq_exec_destroy(qdq_exec *exec) {
    if (exec) qdq_free_array(exec->allocator, exec, exec->bytes, 1);
}
