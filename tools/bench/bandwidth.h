// SPDX-License-Identifier: Apache-2.0
// Memory passes to compare a run with: they move as many bytes as a graph reads and writes, and
// compute nothing.
#ifndef QDQ_TOOLS_BENCH_BANDWIDTH_H
#define QDQ_TOOLS_BENCH_BANDWIDTH_H

#include <qdq/parallel.h>

#include "tools/bench/kernels/bandwidth_passes.h"

typedef struct limit limit;
struct limit {
    const char *name;
    void (*run)(const limit *l);
    stream traffic;
    size_t bytes;  // read and written by one pass
    qdq_parallel parallel;
    void (*task)(void *context, size_t begin, size_t end);
};

enum { MAX_LIMITS = 3 };

// "memcpy" of half of the bytes to the other half, "stream", and "stream_nontemporal" if the
// machine has nontemporal stores. All share a block of memory.
typedef struct limits {
    limit items[MAX_LIMITS];
    size_t count;
    void *memory;
} limits;

// Prepares the passes with the best available instruction set, at most `isa` (NULL: no cap). Each
// runs on the threads of `parallel` or on one thread, whichever is faster. False if memory runs
// out.
bool limits_open(limits *out, size_t read_bytes, size_t write_bytes, qdq_parallel parallel,
                 const char *isa);
void limits_close(limits *l);

// Measures the least seconds of the fastest of these passes; 0 without bytes. False if memory runs
// out.
bool limits_seconds(size_t read_bytes, size_t write_bytes, qdq_parallel parallel, const char *isa,
                    double *out);

// Returns the name of the smallest cache that holds so many bytes, or "memory"; "" if the system
// does not tell the sizes of its caches.
const char *memory_level(size_t bytes);

#endif
