// SPDX-License-Identifier: Apache-2.0
// Times several functions in turns, so that a disturbance affects all of them alike.
#ifndef QDQ_TOOLS_BENCH_MEASURE_H
#define QDQ_TOOLS_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/io/watch.h"

// Seconds per run: the least, the median, and the quartiles around it. Other work on the machine
// only adds time: the least is the first that can be trusted, the lower quartile the next.
typedef struct spread {
    double least, low, median, high;
} spread;

// A function to time.
typedef struct member member;
struct member {
    void (*run)(member *self);
    void *context;
    size_t batch;     // runs per timing; 0: as many as the clock's resolution needs
    size_t sample;    // index of the current timing
    double *seconds;  // seconds per run, for each timing
    spread spread;
};

// Times each member `repeat` times in turns and reports progress to the watch. False if memory runs
// out.
bool measure(member *members, size_t count, size_t repeat, watch *w);

// Sorts the numbers, at least one, and returns their spread.
spread spread_of(double *seconds, size_t count);

// Returns the seconds that reading the clock twice adds to a measurement.
double clock_cost(void);

#endif
