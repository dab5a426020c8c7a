// SPDX-License-Identifier: Apache-2.0
// Runs work on the caller's threads if there is enough of it.
#ifndef QDQ_RUNTIME_BASE_THREADS_PARALLEL_RUN_H
#define QDQ_RUNTIME_BASE_THREADS_PARALLEL_RUN_H

#include "include/qdq/parallel.h"

typedef struct qdq_parallel_task {
    void (*task)(void *context, size_t begin, size_t end);
    void *context;
} qdq_parallel_task;

// Skips empty ranges. A caller may give empty ranges, even beyond the last unit. No task sees them.
static inline void qdq_parallel_skip_empty(void *self, size_t begin, size_t end) {
    const qdq_parallel_task *t = self;
    if (begin < end) t->task(t->context, begin, end);
}

// Calls task on the caller's threads, for ranges that are not empty and cover [0, count).
static inline void qdq_parallel_share(const qdq_parallel *parallel, size_t count,
                                      void (*task)(void *context, size_t begin, size_t end),
                                      void *context) {
    qdq_parallel_task t = {task, context};
    parallel->run(parallel->self, count, qdq_parallel_skip_empty, &t);
}

// Calls task for ranges that cover [0, count): on several threads if `elements` reach
// parallel->least, else for the whole range here. `parallel` may be NULL.
static inline void qdq_parallel_run(const qdq_parallel *parallel, size_t elements, size_t count,
                                    void (*task)(void *context, size_t begin, size_t end),
                                    void *context) {
    if (parallel && parallel->run && count > 1 && elements >= parallel->least)
        qdq_parallel_share(parallel, count, task, context);
    else
        task(context, 0, count);
}

#endif
