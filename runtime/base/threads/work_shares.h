// SPDX-License-Identifier: Apache-2.0
// Work stealing: each thread owns a share, a range of neighbouring units, and takes chunks of it. A
// thread whose share is done takes chunks of other threads' shares, so that a late or slow thread
// does not hold up the others.
#ifndef QDQ_RUNTIME_BASE_THREADS_WORK_SHARES_H
#define QDQ_RUNTIME_BASE_THREADS_WORK_SHARES_H

#include <stdatomic.h>
#include <stddef.h>

enum {
    QDQ_MAX_SHARES = 64,  // threads beyond this number only take chunks of others
    QDQ_SHARE_CHUNKS = 8,
};

// Aligned to a cache line, because its thread writes it for every chunk.
typedef struct qdq_work_share {
    _Alignas(64) atomic_size_t next;
    size_t end;
} qdq_work_share;

typedef struct qdq_work_shares {
    qdq_work_share share[QDQ_MAX_SHARES];
    size_t count, chunk;
    void (*task)(void *context, size_t begin, size_t end);
    void *context;
} qdq_work_shares;

// Cuts [0, units) into `threads` shares. `threads` is not 0.
void qdq_work_shares_cut(qdq_work_shares *work, size_t threads, size_t units,
                         void (*task)(void *context, size_t begin, size_t end), void *context);

// Runs chunks until none is left to take, beginning with share number `thread`. Chunks that other
// threads took may still run when it returns.
void qdq_work_shares_run(qdq_work_shares *work, size_t thread);

#endif
