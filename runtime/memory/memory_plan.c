// SPDX-License-Identifier: Apache-2.0
// Places values in the arena by their lifetimes. Tries five orders of placing and keeps the first
// that reaches the peak of live bytes, else the one that needs the fewest bytes.
#include "runtime/memory/memory_plan.h"

#include <stdlib.h>

#include "runtime/memory/gaps.h"

// Values made in place of each other share a slot: one offset, from the first step of the first
// value to the last step of the last one. In a step in which two of them meet, the slot counts
// once.
typedef struct slot {
    size_t first_step, last_step, bytes, offset;
    size_t first_moment, last_moment;  // steps in which no slot begins are not counted
    size_t order;  // number of its first value; breaks ties, so that the result is unique
} slot;

// An order in which slots are placed.
typedef int compare_fn(const void *a, const void *b);

static int by_number(size_t a, size_t b) { return a < b ? -1 : a > b; }

static int larger_first(const void *a, const void *b) {
    const slot *x = *(slot *const *)a, *y = *(slot *const *)b;
    if (x->bytes != y->bytes) return by_number(y->bytes, x->bytes);
    return by_number(x->order, y->order);
}

static int longer_first(const void *a, const void *b) {
    const slot *x = *(slot *const *)a, *y = *(slot *const *)b;
    size_t x_steps = x->last_step - x->first_step, y_steps = y->last_step - y->first_step;
    if (x_steps != y_steps) return by_number(y_steps, x_steps);
    return larger_first(a, b);
}

static int earlier_first(const void *a, const void *b) {
    const slot *x = *(slot *const *)a, *y = *(slot *const *)b;
    if (x->first_step != y->first_step) return by_number(x->first_step, y->first_step);
    return by_number(x->order, y->order);
}

static int later_end_first(const void *a, const void *b) {
    const slot *x = *(slot *const *)a, *y = *(slot *const *)b;
    if (x->last_step != y->last_step) return by_number(y->last_step, x->last_step);
    return by_number(x->order, y->order);
}

// A way to place slots: their order, and whether every other one goes to the upper end. Both ends
// suit a chain, where each value overlaps only its neighbours.
typedef struct strategy {
    compare_fn *compare;
    bool both_ends;
} strategy;

static size_t offset_of(qdq_gaps *gaps, const slot *s, bool upper_end, size_t cap) {
    if (upper_end) {
        size_t at = qdq_gaps_highest(gaps, s->first_moment, s->last_moment, s->bytes, cap);
        if (at != SIZE_MAX) return at;
    }
    return qdq_gaps_lowest(gaps, s->first_moment, s->last_moment, s->bytes);
}

// Places all slots. `cap` is the upper end; *end becomes the number of bytes used. False when
// memory runs out.
static bool place(slot **order, size_t count, const strategy *how, size_t cap, qdq_gaps *gaps,
                  size_t *end) {
    *end = 0;
    qdq_gaps_clear(gaps);
    qsort(order, count, sizeof(slot *), how->compare);
    for (size_t i = 0; i < count; i++) {
        slot *s = order[i];
        s->offset = offset_of(gaps, s, how->both_ends && i % 2, cap);
        if (!qdq_gaps_take(gaps, s->first_moment, s->last_moment, s->offset, s->bytes))
            return false;
        if (s->offset + s->bytes > *end) *end = s->offset + s->bytes;
    }
    return true;
}

static int earlier_end(const void *a, const void *b) {
    return by_number((*(slot *const *)a)->last_step, (*(slot *const *)b)->last_step);
}

static size_t peak_of(slot **starts, slot **ends, size_t count) {
    size_t live = 0, peak = 0, gone = 0;
    qsort(starts, count, sizeof(slot *), earlier_first);
    qsort(ends, count, sizeof(slot *), earlier_end);
    for (size_t i = 0; i < count; i++) {
        for (; ends[gone]->last_step < starts[i]->first_step; gone++) live -= ends[gone]->bytes;
        live += starts[i]->bytes;
        if (live > peak) peak = live;
    }
    return peak;
}

// Numbers the steps in which slots begin, and returns how many there are. `starts` and `ends` are
// sorted as peak_of leaves them.
static size_t count_moments(slot **starts, slot **ends, size_t count) {
    size_t moment = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && starts[i]->first_step != starts[i - 1]->first_step) moment++;
        starts[i]->first_moment = moment;
    }
    for (size_t i = 0, begun = 0; i < count; i++) {
        while (begun < count && starts[begun]->first_step <= ends[i]->last_step) begun++;
        ends[i]->last_moment = starts[begun - 1]->first_moment;
    }
    return moment + 1;
}

// Makes slots from lifetimes: slot_of[i] is the slot of value i. False if sizes overflow.
static bool collect(const qdq_lifetime *lifetimes, size_t count, slot *slots, size_t *slot_of,
                    size_t *slot_count) {
    size_t n = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        const qdq_lifetime *life = &lifetimes[i];
        if (life->in_place_of != QDQ_NOT_IN_PLACE) {
            slot_of[i] = slot_of[life->in_place_of];
            slots[slot_of[i]].last_step = life->last_step;
            continue;
        }
        size_t bytes;
        if (__builtin_add_overflow(life->bytes, (size_t)QDQ_ARENA_ALIGN - 1, &bytes)) return false;
        bytes = bytes / QDQ_ARENA_ALIGN * QDQ_ARENA_ALIGN;
        if (__builtin_add_overflow(all, bytes, &all)) return false;
        slots[n] = (slot){.first_step = life->first_step,
                          .last_step = life->last_step,
                          .bytes = bytes,
                          .order = i};
        slot_of[i] = n++;
    }
    *slot_count = n;
    return true;
}

// First fit, larger slots first, is nearly always good enough. The others follow if it misses the
// peak.
static const strategy strategies[] = {
    {larger_first, false},  {earlier_first, true},    {longer_first, false},
    {earlier_first, false}, {later_end_first, false},
};

bool qdq_plan_memory(qdq_lifetime *lifetimes, size_t count, qdq_mempool *mempool,
                     qdq_memory_plan *result) {
    *result = (qdq_memory_plan){0};
    if (count == 0) return true;
    slot *slots = qdq_mempool_array(mempool, count, sizeof *slots);
    size_t *slot_of = qdq_mempool_array(mempool, count, sizeof *slot_of);
    slot **order = qdq_mempool_array(mempool, count, sizeof(slot *));
    slot **ends = qdq_mempool_array(mempool, count, sizeof(slot *));
    qdq_gaps gaps;
    size_t n;
    if (!slots || !slot_of || !order || !ends) return false;
    if (!collect(lifetimes, count, slots, slot_of, &n)) return false;
    for (size_t i = 0; i < n; i++) order[i] = ends[i] = &slots[i];
    result->peak_live_bytes = peak_of(order, ends, n);
    if (!qdq_gaps_init(&gaps, mempool, count_moments(order, ends, n))) return false;

    const strategy *best = NULL, *last = NULL;
    size_t bytes;
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++) {
        last = &strategies[i];
        if (!place(order, n, last, result->peak_live_bytes, &gaps, &bytes)) return false;
        if (!best || bytes < result->arena_bytes) best = last, result->arena_bytes = bytes;
        if (result->arena_bytes == result->peak_live_bytes) break;
    }
    if (best != last && !place(order, n, best, result->peak_live_bytes, &gaps, &bytes))
        return false;
    result->looks = gaps.looks;
    for (size_t i = 0; i < count; i++) lifetimes[i].offset = slots[slot_of[i]].offset;
    return true;
}
