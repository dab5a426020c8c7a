// SPDX-License-Identifier: Apache-2.0
// Declarations that both sources of threads share.
#ifndef QDQ_RUNTIME_BASE_THREADS_THREAD_POOL_H
#define QDQ_RUNTIME_BASE_THREADS_THREAD_POOL_H

// Work on fewer elements is done before another thread has woken.
#define QDQ_PARALLEL_LEAST ((size_t)1 << 16)

// Returns how many threads OpenMP would take; without OpenMP, the processors.
int qdq_default_threads(void);

#endif
