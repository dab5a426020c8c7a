// SPDX-License-Identifier: Apache-2.0
// Shares of work. A share is a range of neighbouring units, because neighbours read the same memory
// and later steps find this thread's results in its cache.
#include "runtime/base/threads/work_shares.h"

void qdq_work_shares_cut(qdq_work_shares *work, size_t threads, size_t units,
                         void (*task)(void *context, size_t begin, size_t end), void *context) {
    size_t count = threads < QDQ_MAX_SHARES ? threads : QDQ_MAX_SHARES;
    size_t whole = units / count, left = units % count;  // the first shares have one unit more
    work->count = count;
    work->chunk = whole / QDQ_SHARE_CHUNKS + 1;
    work->task = task;
    work->context = context;
    for (size_t i = 0, at = 0; i < count; i++) {
        atomic_init(&work->share[i].next, at);
        at += whole + (i < left);
        work->share[i].end = at;
    }
}

void qdq_work_shares_run(qdq_work_shares *work, size_t thread) {
    for (size_t i = 0; i < work->count; i++) {
        qdq_work_share *share = &work->share[(thread + i) % work->count];
        size_t begin;
        while ((begin = atomic_fetch_add_explicit(&share->next, work->chunk,
                                                  memory_order_relaxed)) < share->end) {
            size_t left = share->end - begin;
            work->task(work->context, begin, begin + (left < work->chunk ? left : work->chunk));
        }
    }
}
