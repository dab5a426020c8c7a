// SPDX-License-Identifier: Apache-2.0
// Threads: who has them lends them with a function.
#ifndef QDQ_PARALLEL_H
#define QDQ_PARALLEL_H

#include <qdq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// Calls task(context, begin, end) for disjoint ranges that cover [0, count), possibly at the same
// time on several threads, and returns when all are done. Results never depend on the ranges. A
// task takes at most 512 KiB of stack, as the calling thread of a run does.
typedef struct qdq_parallel {
    void (*run)(void *self, size_t count, void (*task)(void *context, size_t begin, size_t end),
                void *context);
    void *self;
    size_t least;  // work on fewer elements runs on the calling thread; 0: none does
} qdq_parallel;

// Runs on OpenMP's threads, at most `threads` of them (0 or less: as many as OpenMP likes), work on
// 2^17 elements or more. One thread, or a library built without OpenMP: serial.
QDQ_API qdq_parallel qdq_parallel_openmp(int threads);

#ifdef __cplusplus
}
#endif
#endif
