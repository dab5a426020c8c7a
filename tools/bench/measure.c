// SPDX-License-Identifier: Apache-2.0
// Times several functions in turns and sorts the results.
#include "tools/bench/measure.h"

#include <stdlib.h>

#include "tools/common.h"
#include "tools/io/watch.h"

// Seconds: of warming up; of the shortest timing; of the longest run with an untimed run before
// each timing. Longer runs fill the caches themselves.
static const double warm_up = 10e-3, least_timing = 50e-6, short_run = 20e-3;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

spread spread_of(double *seconds, size_t count) {
    qsort(seconds, count, sizeof *seconds, by_value);
    return (spread){.least = seconds[0],
                    .low = seconds[count / 4],
                    .median = seconds[count / 2],
                    .high = seconds[count - 1 - count / 4]};
}

double clock_cost(void) {
    double seconds[31];
    for (int i = 0; i < 31; i++) {
        double start = now();
        seconds[i] = now() - start;
    }
    return spread_of(seconds, 31).median;
}

static double time_batch(member *m, size_t batch) {
    double start = now();
    for (size_t i = 0; i < batch; i++) m->run(m);
    return now() - start;
}

// Runs a member until caches, pages and threads are warm, and chooses its batch.
static void prepare(member *m) {
    double start = now();
    do m->run(m);
    while (now() - start < warm_up);
    if (m->batch) return;
    for (m->batch = 1; time_batch(m, m->batch) < least_timing;) m->batch *= 2;
}

bool measure(member *members, size_t count, size_t repeat, watch *w) {
    watch_tell(w, "warming up");
    for (size_t k = 0; k < count; k++) {
        members[k].seconds = calloc(repeat, sizeof(double));
        if (!members[k].seconds) return false;
        prepare(&members[k]);
    }
    double *last = calloc(count + 1, sizeof *last);
    if (!last) return false;
    for (size_t i = 0; i < repeat; i++) {
        watch_tell(w, "timing %zu of %zu", i + 1, repeat);
        for (size_t k = 0; k < count; k++) {
            member *m = &members[k];
            m->sample = i;
            // Warms the caches, which other members may have filled.
            if (last[k] < short_run) m->run(m);
            last[k] = time_batch(m, m->batch);
            m->seconds[i] = last[k] / (double)m->batch;
        }
    }
    free(last);
    watch_clear(w);
    for (size_t k = 0; k < count; k++) members[k].spread = spread_of(members[k].seconds, repeat);
    return true;
}
