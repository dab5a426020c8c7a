// SPDX-License-Identifier: Apache-2.0
// Timing several things side by side, so that what disturbs one disturbs the others as well.
#ifndef QDQ_TOOLS_BENCH_MEASURE_H
#define QDQ_TOOLS_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/watch.h"

// Seconds of one run: the median and the quartiles around it.
typedef struct spread {
    double median, low, high;
} spread;

// Something that is timed.
typedef struct member member;
struct member {
    void (*run)(member *self);
    void *context;
    size_t batch;     // runs that are timed as one; 0: as many as the clock needs
    size_t sample;    // the number of the timing that is going on
    double *seconds;  // of one run, for each timing
    spread spread;
};

// Times each member `repeat` times, taking turns, and tells the watch. False when memory runs out.
bool measure(member *members, size_t count, size_t repeat, watch *w);

// Sorts the numbers; the count is at least 1.
spread spread_of(double *seconds, size_t count);

// What reading the clock twice adds to what lies in between.
double clock_cost(void);

#endif
