// SPDX-License-Identifier: Apache-2.0
// Threads: the caller lends its threads to the library through a function.
#ifndef QDQ_PARALLEL_H
#define QDQ_PARALLEL_H

#include <qdq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// `run` calls task(context, begin, end) for disjoint ranges that cover [0, count), possibly on
// several threads at the same time, and returns when all are done. Results never depend on the
// ranges. A task needs at most 512 KiB of stack, and so does the thread that calls qdq_exec_run.
typedef struct qdq_parallel {
    void (*run)(void *self, size_t count, void (*task)(void *context, size_t begin, size_t end),
                void *context);
    void *self;
    size_t least;  // work on fewer elements stays on the calling thread; 0: no work does
} qdq_parallel;

// Runs work on 2^17 elements or more on OpenMP's threads, at most `threads` of them (0 or less:
// OpenMP chooses). Serial if `threads` is 1 or the library is built without OpenMP.
QDQ_API qdq_parallel qdq_parallel_openmp(int threads);

#ifdef __cplusplus
}
#endif
#endif
