// SPDX-License-Identifier: Apache-2.0
// Prints the times of `qdq bench` as text.
#include <qdq/inspect.h>
#include <stdio.h>
#include <string.h>

#include "tools/bench/bench.h"
#include "tools/common.h"

const char *const bench_stage_names[STAGES] = {"load", "compile"};

double bench_rate(size_t bytes, double seconds) {
    return seconds > 0 ? (double)bytes / seconds * 1e-9 : 0;
}

// Of the fastest pass.
static double limit_rate(const bench *b, size_t i) {
    return bench_rate(b->limits.items[i].bytes, b->members[FIRST_LIMIT + i].spread.least);
}

size_t bench_best_limit(const bench *b) {
    size_t best = 0;
    for (size_t i = 1; i < b->limits.count; i++)
        if (limit_rate(b, i) > limit_rate(b, best)) best = i;
    return best;
}

double bench_ratio_to_best(const bench *b) {
    double best = limit_rate(b, bench_best_limit(b));
    double run = bench_rate(b->read_bytes + b->write_bytes, b->members[RUN].spread.least);
    return best > 0 ? run / best : 0;
}

static void print_spread(const spread *s) {
    printf("median %.3f us (minimum %.3f, quartiles %.3f to %.3f)", s->median * 1e6, s->least * 1e6,
           s->low * 1e6, s->high * 1e6);
}

static void print_rate(size_t bytes, double seconds) {
    printf(", %zu bytes, %.2f GB/s", bytes, bench_rate(bytes, seconds));
}

const char *bench_mode_name(bool fast) { return fast ? "fast" : "literal"; }

static void print_steps(const bench *b) {
    for (size_t i = 0; i < b->step_count; i++) {
        const qdq_plan_step *step = qdq_plan_get_step(b->session.plan, i);
        printf("  step %zu: ", i);
        print_spread(&b->step_spreads[i]);
        print_rate(step->read_bytes + step->write_bytes, b->step_spreads[i].median);
        printf("  %s\n", step->text);
    }
}

double bench_fraction_of_limit(const slow_step *step, const char **bound) {
    double least = slow_step_limit(step, bound);
    return step->seconds.least > 0 ? least / step->seconds.least : 0;
}

static void print_slowest(const bench *b) {
    for (size_t i = 0; i < b->slowest.count; i++) {
        const slow_step *step = &b->slowest.items[i];
        const char *bound;
        double fraction = bench_fraction_of_limit(step, &bound);
        const char *of = strcmp(bound, "memory") == 0 ? step->level : step->arithmetic;
        printf("  step %zu: %.1f %%, ", step->index, step->share * 100);
        print_spread(&step->seconds);
        printf(", %zu bytes, %zu operations, %.2f of the limit of %s%s%s  %s\n", step->bytes,
               step->operations, fraction, bound, *of ? ", " : "", of,
               qdq_plan_get_step(b->session.plan, step->index)->text);
    }
    if (b->step_count > b->slowest.count)
        printf("  %zu more steps are faster\n", b->step_count - b->slowest.count);
    printf("  limits of arithmetic, %s, multiply-adds in a nanosecond:", b->arithmetic.isa);
    for (size_t i = 0, shown = 0; i < MULTIPLY_KINDS; i++)
        if (arithmetic_names[i] && b->rates[i] > 0)
            printf("%s %s %.1f", shown++ ? "," : "", arithmetic_names[i], b->rates[i] * 1e-9);
    printf("\n");
}

void bench_print_text(const bench *b) {
    const member *run = &b->members[RUN];
    printf("%s: ", b->opt->operands.items[0]);
    print_spread(&run->spread);
    print_rate(b->read_bytes + b->write_bytes, run->spread.median);
    printf(" in and out; all steps move %zu bytes, %.2f GB/s, %.2f times the necessary %zu\n",
           b->step_bytes, bench_rate(b->step_bytes, run->spread.median),
           moved_over_necessary(b->session.plan),
           qdq_plan_get_stats(b->session.plan).necessary_bytes);
    if (b->own->steps)
        print_slowest(b);
    else
        print_steps(b);
    if (b->other.exec) {
        printf("  other mode, %s: ", bench_mode_name(!b->opt->compile.fast));
        print_spread(&b->members[OTHER_MODE].spread);
        printf("\n");
    }
    for (size_t i = 0; i < STAGES; i++) {
        printf("  %s: ", bench_stage_names[i]);
        print_spread(&b->stage_spreads[i]);
        printf("\n");
    }
    for (size_t i = 0; i < b->limits.count; i++) {
        const member *m = &b->members[FIRST_LIMIT + i];
        printf("  %s: ", b->limits.items[i].name);
        print_spread(&m->spread);
        print_rate(b->limits.items[i].bytes, m->spread.median);
        printf("\n");
    }
    if (b->limits.count)
        printf("  the run has %.2f of the rate of the fastest, %s\n", bench_ratio_to_best(b),
               b->limits.items[bench_best_limit(b)].name);
}
