// SPDX-License-Identifier: Apache-2.0
// The times that `qdq bench` measures and prints.
#ifndef QDQ_TOOLS_BENCH_BENCH_H
#define QDQ_TOOLS_BENCH_BENCH_H

#include "tools/bench/arithmetic.h"
#include "tools/bench/bandwidth.h"
#include "tools/bench/measure.h"
#include "tools/bench/slowest.h"
#include "tools/options.h"
#include "tools/options/bench.h"
#include "tools/session.h"

enum {
    RUN,
    STEPS,
    OTHER_MODE,
    LOAD_COMPILE,
    FIRST_LIMIT,
    FIRST_ARITHMETIC = FIRST_LIMIT + MAX_LIMITS,
    MEMBERS = FIRST_ARITHMETIC + MULTIPLY_KINDS
};
enum { LOAD, COMPILE, STAGES };
extern const char *const bench_stage_names[STAGES];

typedef struct bench {
    const options *opt;
    const bench_options *own;
    session session;
    session other;  // the other mode, fast or literal; without an exec if both are the same
    limits limits;  // empty without --vs-copy
    qdq_graph_options graph_options;
    qdq_compile_options compile_options;
    size_t repeat, step_count;
    size_t read_bytes, write_bytes, step_bytes;  // of inputs, of outputs, and moved by all steps
    double clock_cost;
    double *step_seconds;  // step_count x repeat
    spread *step_spreads;
    slowest slowest;               // empty without --steps
    arithmetic arithmetic;         // none without --steps
    double rates[MULTIPLY_KINDS];  // multiply-adds per second, of bytes by the faster of two ways
    double *stage_seconds;         // STAGES x repeat, of which the first stage_repeat are timed
    size_t stage_repeat;           // `repeat` with --compile, else a few
    spread stage_spreads[STAGES];
    qdq_error err;  // of a stage that succeeded at first and then failed
    member members[MEMBERS];
} bench;

void bench_print_text(const bench *b);
void bench_print_json(const bench *b);

// Shared by both: GB/s; the name of a mode; the number of the fastest limit of --vs-copy, and the
// rate of the run divided by its rate, both by minima; the fraction of its limit that a step
// reaches, whose name goes to *bound.
double bench_rate(size_t bytes, double seconds);
const char *bench_mode_name(bool fast);
size_t bench_best_limit(const bench *b);
double bench_ratio_to_best(const bench *b);
double bench_fraction_of_limit(const slow_step *step, const char **bound);

#endif
