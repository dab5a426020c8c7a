// SPDX-License-Identifier: Apache-2.0
// Runs work on the caller's threads if there is enough of it.
#ifndef QDQ_RUNTIME_BASE_THREADS_PARALLEL_RUN_H
#define QDQ_RUNTIME_BASE_THREADS_PARALLEL_RUN_H

#include "include/qdq/parallel.h"

// Calls task for ranges that cover [0, count): on several threads if `elements` reach
// parallel->least, else for the whole range here. `parallel` may be NULL.
static inline void qdq_parallel_run(const qdq_parallel *parallel, size_t elements, size_t count,
                                    void (*task)(void *context, size_t begin, size_t end),
                                    void *context) {
    if (parallel && parallel->run && count > 1 && elements >= parallel->least)
        parallel->run(parallel->self, count, task, context);
    else
        task(context, 0, count);
}

#endif
