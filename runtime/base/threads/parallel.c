// SPDX-License-Identifier: Apache-2.0
// Threads from OpenMP: a qdq_parallel whose threads share the work by chunks.
#include "include/qdq/parallel.h"

#include "runtime/base/threads/thread_pool.h"

#ifdef _OPENMP
#include <omp.h>

#include "runtime/base/threads/work_shares.h"

int qdq_default_threads(void) { return omp_get_max_threads(); }

// The pointer `self` is the thread count itself, because the hook has no memory.
static int threads_of(void *self, size_t count) {
    size_t threads = (size_t)(uintptr_t)self;
    if (threads == 0) threads = (size_t)omp_get_max_threads();
    return (int)(threads < count ? threads : count);
}

static void run(void *self, size_t count, void (*task)(void *context, size_t begin, size_t end),
                void *context) {
    int threads = threads_of(self, count);
    qdq_work_shares work;
    if (threads <= 1) {
        if (count) task(context, 0, count);
        return;
    }
    qdq_work_shares_cut(&work, (size_t)threads, count, task, context);
#pragma omp parallel num_threads(threads)
    qdq_work_shares_run(&work, (size_t)omp_get_thread_num());
}

qdq_parallel qdq_parallel_openmp(int threads) {
    if (threads == 1) return (qdq_parallel){0};
    return (qdq_parallel){run, (void *)(uintptr_t)(threads < 0 ? 0 : threads), QDQ_PARALLEL_LEAST};
}
#else
#include <unistd.h>

int qdq_default_threads(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT16_MAX ? (int)online : 1;
}

qdq_parallel qdq_parallel_openmp(int threads) {
    (void)threads;
    return (qdq_parallel){0};
}
#endif
