// SPDX-License-Identifier: Apache-2.0
// Finds the slowest steps and their limits.
#include "tools/bench/slowest.h"

#include <qdq/inspect.h>

#include "tools/bench/arithmetic.h"
#include "tools/bench/bandwidth.h"

// Sets the numbers that a step multiplies, and the least time. Without an instruction for
// bfloat16 its products take as long as float32.
static void find_arithmetic(slow_step *out, const qdq_plan_step *step, const double *rates) {
    bool bytes = step->operand == QDQ_INT8 || step->operand == QDQ_UINT8;
    bool halves = step->operand == QDQ_BFLOAT16 && rates[MULTIPLY_BFLOATS] > rates[MULTIPLY_FLOATS];
    int kind = bytes ? MULTIPLY_BYTES : halves ? MULTIPLY_BFLOATS : MULTIPLY_FLOATS;
    out->arithmetic = arithmetic_names[kind];
    out->arithmetic_seconds = rates[kind] > 0 ? (double)out->operations / rates[kind] : 0;
}

// Inserts `step` into the sorted list, which keeps the slowest steps.
static void insert(slowest *s, slow_step step) {
    size_t at = s->count < SLOWEST ? s->count++ : SLOWEST;
    for (; at > 0 && s->items[at - 1].seconds.least < step.seconds.least; at--)
        if (at < SLOWEST) s->items[at] = s->items[at - 1];
    if (at < SLOWEST) s->items[at] = step;
}

bool slowest_find(slowest *out, const qdq_plan *plan, const spread *seconds, qdq_parallel parallel,
                  const char *isa, const double *rates) {
    size_t count = qdq_plan_get_stats(plan).step_count;
    double all = 0;
    *out = (slowest){.count = 0};
    for (size_t i = 0; i < count; i++) {
        const qdq_plan_step *step = qdq_plan_get_step(plan, i);
        all += seconds[i].least;
        insert(out, (slow_step){.index = i,
                                .seconds = seconds[i],
                                .bytes = step->read_bytes + step->write_bytes,
                                .operations = step->operations});
    }
    for (size_t i = 0; i < out->count; i++) {
        slow_step *slow = &out->items[i];
        const qdq_plan_step *step = qdq_plan_get_step(plan, slow->index);
        slow->share = all > 0 ? slow->seconds.least / all : 0;
        slow->level = memory_level(slow->bytes);
        find_arithmetic(slow, step, rates);
        if (!limits_seconds(step->read_bytes, step->write_bytes, parallel, isa,
                            &slow->memory_seconds))
            return false;
    }
    return true;
}

double slow_step_limit(const slow_step *step, const char **name) {
    bool memory = step->memory_seconds >= step->arithmetic_seconds;
    *name = memory ? "memory" : "arithmetic";
    return memory ? step->memory_seconds : step->arithmetic_seconds;
}
