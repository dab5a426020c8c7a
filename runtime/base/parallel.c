// SPDX-License-Identifier: Apache-2.0
// Threads from OpenMP: a qdq_parallel that splits work into one range for each thread.
#include "include/qdq/parallel.h"

#ifdef _OPENMP
#include <omp.h>

// The pointer `self` is the thread count itself, because the hook has no memory of its own.
static int threads_of(void *self, size_t count) {
    size_t threads = (size_t)(uintptr_t)self;
    if (threads == 0) threads = (size_t)omp_get_max_threads();
    return (int)(threads < count ? threads : count);
}

static void run(void *self, size_t count, void (*task)(void *context, size_t begin, size_t end),
                void *context) {
    size_t threads = (size_t)threads_of(self, count);
    if (threads <= 1) {
        task(context, 0, count);
        return;
    }
#pragma omp parallel for num_threads((int)threads) schedule(static)
    for (size_t i = 0; i < threads; i++)
        task(context, count * i / threads, count * (i + 1) / threads);
}

qdq_parallel qdq_parallel_openmp(int threads) {
    if (threads == 1) return (qdq_parallel){0};
    // Waking a thread costs as much as tens of thousands of elements.
    return (qdq_parallel){run, (void *)(uintptr_t)(threads < 0 ? 0 : threads), (size_t)1 << 17};
}
#else
qdq_parallel qdq_parallel_openmp(int threads) {
    (void)threads;
    return (qdq_parallel){0};
}
#endif
