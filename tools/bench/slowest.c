// SPDX-License-Identifier: Apache-2.0
// Finds the slowest steps, and times a memory pass and multiply-adds for each.
#include "tools/bench/slowest.h"

#include <qdq/inspect.h>
#include <string.h>

#include "tools/bench/bandwidth.h"
#include "tools/bench/kernels/multiply_adds.h"
#include "tools/common.h"

//---- Arithmetic -------------------------------------------------------------

typedef struct arithmetic_row {
    const char *isa;
    multiply_adds_fn *const *kinds;
} arithmetic_row;

// Sorted from best to worst. avx_vnni has the float32 function of avx2.
static const arithmetic_row rows[] = {
#ifdef QDQ_SIMD_X86
    {"avx512", multiply_adds_avx512},
    {"avx_vnni", multiply_adds_avx_vnni},
    {"avx2", multiply_adds_avx2},
#endif
    {"portable", multiply_adds_portable},
};

static size_t isa_number(const char *name) {
    size_t i = 0;
    while (qdq_isa_get(i).name && strcmp(qdq_isa_get(i).name, name) != 0) i++;
    return i;
}

static multiply_adds_fn *const *best_kinds(const char *cap) {
    size_t i = 0, last = sizeof rows / sizeof rows[0] - 1;
    for (; i < last; i++) {
        size_t number = isa_number(rows[i].isa);
        if (qdq_isa_get(number).available && (!cap || number <= isa_number(cap))) break;
    }
    return rows[i].kinds;
}

enum { ROUNDS = 1 << 13, PARTS = 16, TIMINGS = 9 };

static void multiply_task(void *context, size_t begin, size_t end) {
    multiply_adds_fn *const *fn = context;
    for (size_t i = begin; i < end; i++) (void)(*fn)(ROUNDS);
}

// Measures multiply-adds per second on the threads of `parallel`.
static double arithmetic_rate(multiply_adds_fn *fn, qdq_parallel parallel) {
    double least = 0, work = (double)fn(1) * ROUNDS * PARTS;
    for (int i = 0; i < TIMINGS; i++) {
        double start = now();
        if (parallel.run)
            parallel.run(parallel.self, PARTS, multiply_task, &fn);
        else
            multiply_task(&fn, 0, PARTS);
        double seconds = now() - start;
        if (i == 0 || seconds < least) least = seconds;
    }
    return least > 0 ? work / least : 0;
}

//---- Steps ------------------------------------------------------------------

// Inserts `step` into the sorted list, which keeps the slowest steps.
static void insert(slowest *s, slow_step step) {
    size_t at = s->count < SLOWEST ? s->count++ : SLOWEST;
    for (; at > 0 && s->items[at - 1].seconds < step.seconds; at--)
        if (at < SLOWEST) s->items[at] = s->items[at - 1];
    if (at < SLOWEST) s->items[at] = step;
}

bool slowest_find(slowest *out, const qdq_plan *plan, const double *seconds, qdq_parallel parallel,
                  const char *isa) {
    size_t count = qdq_plan_get_stats(plan).step_count;
    double all = 0, rates[MULTIPLY_KINDS] = {0};
    *out = (slowest){.count = 0};
    for (size_t i = 0; i < count; i++) {
        const qdq_plan_step *step = qdq_plan_get_step(plan, i);
        all += seconds[i];
        insert(out, (slow_step){.index = i,
                                .seconds = seconds[i],
                                .bytes = step->read_bytes + step->write_bytes,
                                .operations = step->operations});
    }
    multiply_adds_fn *const *kinds = best_kinds(isa);
    for (size_t i = 0; i < out->count; i++) {
        slow_step *slow = &out->items[i];
        const qdq_plan_step *step = qdq_plan_get_step(plan, slow->index);
        int kind = step->on_integers ? MULTIPLY_BYTES : MULTIPLY_FLOATS;
        slow->share = all > 0 ? slow->seconds / all : 0;
        if (!limits_seconds(step->read_bytes, step->write_bytes, parallel, &slow->memory_seconds))
            return false;
        if (rates[kind] == 0) rates[kind] = arithmetic_rate(kinds[kind], parallel);
        slow->arithmetic_seconds = (double)slow->operations / rates[kind];
    }
    return true;
}

double slow_step_limit(const slow_step *step, const char **name) {
    bool memory = step->memory_seconds >= step->arithmetic_seconds;
    *name = memory ? "memory" : "arithmetic";
    return memory ? step->memory_seconds : step->arithmetic_seconds;
}
