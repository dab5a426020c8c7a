// SPDX-License-Identifier: Apache-2.0
// The public thread functions of a build without threads: the caller's thread does all work.
#include "include/qdq/parallel.h"
#include "runtime/base/error.h"
#include "runtime/base/threads/thread_pool.h"

int qdq_default_threads(void) { return 1; }

qdq_parallel qdq_parallel_openmp(int threads) {
    (void)threads;
    return (qdq_parallel){0};
}

qdq_threads *qdq_threads_create(int threads, const qdq_allocator *allocator, qdq_error *err) {
    (void)threads, (void)allocator;
    qdq_fail(err, QDQ_ERR_UNSUPPORTED, "this build of qdq has no threads");
    return NULL;
}

void qdq_threads_destroy(qdq_threads *threads) { (void)threads; }

qdq_parallel qdq_parallel_threads(qdq_threads *threads) {
    (void)threads;
    return (qdq_parallel){0};
}
