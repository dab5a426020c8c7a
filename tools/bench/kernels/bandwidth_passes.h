// SPDX-License-Identifier: Apache-2.0
// A memory pass: reads and writes without computing.
#ifndef QDQ_TOOLS_BENCH_KERNELS_BANDWIDTH_PASSES_H
#define QDQ_TOOLS_BENCH_KERNELS_BANDWIDTH_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { STREAM_LINE = 64 };

typedef struct stream {
    const void *in;  // 64-byte aligned, as is `out`
    void *out;
    size_t read_lines, write_lines;  // of 64 bytes; each is read or written once
    bool nontemporal;                // stores bypass the caches
} stream;

// Returns the number of parts for threads. Each part has reads and writes in the same proportion as
// the whole pass.
static inline size_t stream_parts(const stream *s) {
    size_t few = s->read_lines < s->write_lines ? s->read_lines : s->write_lines;
    size_t many = s->read_lines < s->write_lines ? s->write_lines : s->read_lines;
    return few ? few : many ? many : 1;
}

// Runs parts begin..end of a pass; `context` is the stream.
void stream_task_portable(void *context, size_t begin, size_t end);
void stream_task_avx2(void *context, size_t begin, size_t end);
void stream_task_avx512(void *context, size_t begin, size_t end);
// True if the compiler has nontemporal stores; otherwise a pass uses regular stores.
bool stream_has_nontemporal_portable(void);
bool stream_has_nontemporal_avx2(void);
bool stream_has_nontemporal_avx512(void);

#endif
