// SPDX-License-Identifier: Apache-2.0
// Threads: the caller lends its threads to the library through a function.
#ifndef QDQ_PARALLEL_H
#define QDQ_PARALLEL_H

#include <qdq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// `run` calls task(context, begin, end) for disjoint ranges that cover [0, count), possibly on
// several threads at the same time, and returns when all are done. A range with begin >= end is
// empty and does nothing, as the last ranges of a schedule by ceil(count / threads) may be. Results
// never depend on the ranges. A task needs at most 768 KiB of stack, and so does the thread that
// calls qdq_exec_run.
typedef struct qdq_parallel {
    void (*run)(void *self, size_t count, void (*task)(void *context, size_t begin, size_t end),
                void *context);
    void *self;
    size_t least;  // work on fewer elements stays on the calling thread; 0: no work does
} qdq_parallel;

// Runs work on 2^16 elements or more on OpenMP's threads, at most `threads` of them (0 or less:
// OpenMP chooses). Serial if `threads` is 1 or the library is built without OpenMP. Threads that
// wait for work spin as OMP_WAIT_POLICY says, by default for milliseconds.
QDQ_API qdq_parallel qdq_parallel_openmp(int threads);

// Threads of the library, for callers that have none to lend. A thread that waits for work yields
// the processor for about 100 us and then sleeps.
typedef struct qdq_threads qdq_threads;

// Starts threads - 1 threads, or fewer if the system refuses, as the thread that runs an exec works
// too. `threads` is at most 1024; 0 or less means as many as OpenMP would take, or without OpenMP
// one for each processor. NULL with `err` set when memory runs out.
QDQ_API qdq_threads *qdq_threads_create(int threads, const qdq_allocator *allocator,
                                        qdq_error *err);
// Ends the threads. No exec that uses them may be running. NULL is fine.
QDQ_API void qdq_threads_destroy(qdq_threads *threads);

// Runs work on 2^16 elements or more on these threads, and alone on the calling thread if they are
// at work for another caller. `threads` must outlive its users. NULL: serial.
QDQ_API qdq_parallel qdq_parallel_threads(qdq_threads *threads);

#ifdef __cplusplus
}
#endif
#endif
