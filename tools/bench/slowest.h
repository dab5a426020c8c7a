// SPDX-License-Identifier: Apache-2.0
// The slowest steps of a plan, each compared with the least time in which the machine moves its
// bytes and computes its multiply-adds.
#ifndef QDQ_TOOLS_BENCH_SLOWEST_H
#define QDQ_TOOLS_BENCH_SLOWEST_H

#include <qdq/exec.h>

#include "tools/bench/kernels/multiply_adds.h"
#include "tools/bench/measure.h"

enum { SLOWEST = 10 };

typedef struct slow_step {
    size_t index;
    spread seconds;
    double share;  // of the sum of all steps, by minima, 0 to 1
    size_t bytes, operations;
    const char *arithmetic, *level;  // "int8", the numbers that are multiplied; "L2", for memory
    double memory_seconds;           // of the fastest pass that reads and writes as many bytes
    double arithmetic_seconds;       // of as many multiply-adds on registers
} slow_step;

typedef struct slowest {
    slow_step items[SLOWEST];
    size_t count;
} slowest;

// Finds the slowest steps by the minima in `seconds`, one for each step, and times passes over
// memory for each on the threads of `parallel` or on one, whichever is faster. `isa` caps the
// instruction set of the passes; NULL: no cap. `rates` are multiply-adds per second of each kind; 0
// without one. False if memory runs out.
bool slowest_find(slowest *out, const qdq_plan *plan, const spread *seconds, qdq_parallel parallel,
                  const char *isa, const double *rates);

// Returns the least time that the machine needs. Sets `name` to "memory" or "arithmetic", the limit
// that applies.
double slow_step_limit(const slow_step *step, const char **name);

#endif
