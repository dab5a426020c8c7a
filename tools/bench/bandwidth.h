// SPDX-License-Identifier: Apache-2.0
// Passes over memory to hold a run against: they move the bytes that a graph takes in and gives
// out, and compute nothing.
#ifndef QDQ_TOOLS_BENCH_BANDWIDTH_H
#define QDQ_TOOLS_BENCH_BANDWIDTH_H

#include <qdq/qdq.h>

#include "tools/bench/kernels/bandwidth_passes.h"

typedef struct limit limit;
struct limit {
    const char *name;
    void (*run)(const limit *l);
    stream traffic;
    size_t bytes;  // read and written by a pass
    qdq_parallel parallel;
    void (*task)(void *context, size_t begin, size_t end);
};

enum { MAX_LIMITS = 3 };

// "memcpy" of half of the bytes to the other half, "stream" and, where there are such stores,
// "stream_nontemporal". All lie in one block of memory.
typedef struct limits {
    limit items[MAX_LIMITS];
    size_t count;
    void *memory;
} limits;

// False when memory runs out. Each limit runs on the threads of `parallel` or on one, whichever is
// faster.
bool limits_open(limits *out, size_t read_bytes, size_t write_bytes, qdq_parallel parallel);
void limits_close(limits *l);

#endif
