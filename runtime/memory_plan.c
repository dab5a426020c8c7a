// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_plan.h"

#include <stdlib.h>

// Values made in place of each other are one slot: one offset, from the first step of the first to
// the last step of the last. They meet in a step, where they count once.
typedef struct slot {
    size_t first_step, last_step, bytes, offset;
    size_t order;  // of its first value; ties are broken by it so that the result is one
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

static int lower_first(const void *a, const void *b) {
    const slot *x = *(slot *const *)a, *y = *(slot *const *)b;
    if (x->offset != y->offset) return by_number(x->offset, y->offset);
    return by_number(x->order, y->order);
}

static int earlier_first(const void *a, const void *b) {
    const slot *x = *(slot *const *)a, *y = *(slot *const *)b;
    if (x->first_step != y->first_step) return by_number(x->first_step, y->first_step);
    return by_number(x->order, y->order);
}

static bool overlap_in_time(const slot *a, const slot *b) {
    return a->first_step <= b->last_step && b->first_step <= a->last_step;
}

// The lowest gap between `placed` slots (sorted by offset) that `wanted` fits into.
static size_t first_fit(slot *const *placed, size_t count, const slot *wanted) {
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const slot *other = placed[i];
        if (!overlap_in_time(wanted, other)) continue;
        if (other->offset >= at + wanted->bytes) break;
        if (other->offset + other->bytes > at) at = other->offset + other->bytes;
    }
    return at;
}

// The highest gap below `cap`; a place from the bottom if there is none.
static size_t last_fit(slot *const *placed, size_t count, const slot *wanted, size_t cap) {
    size_t at = cap;
    for (size_t i = count; i-- > 0 && at >= wanted->bytes;) {
        const slot *other = placed[i];
        if (!overlap_in_time(wanted, other)) continue;
        if (other->offset + other->bytes > at - wanted->bytes && other->offset < at)
            at = other->offset;
    }
    return at >= wanted->bytes ? at - wanted->bytes : first_fit(placed, count, wanted);
}

// A way to place slots: in which order, and whether every other one goes to the upper end, which is
// what a chain needs, where each value overlaps its neighbours only.
typedef struct strategy {
    compare_fn *compare;
    bool both_ends;
} strategy;

// Places all slots; returns the bytes used. `cap` is where the upper end is.
static size_t place(slot **order, slot **placed, size_t count, const strategy *how, size_t cap) {
    size_t end = 0;
    qsort(order, count, sizeof(slot *), how->compare);
    for (size_t i = 0; i < count; i++) {
        slot *s = order[i];
        s->offset = how->both_ends && i % 2 ? last_fit(placed, i, s, cap) : first_fit(placed, i, s);
        if (s->offset + s->bytes > end) end = s->offset + s->bytes;
        size_t k = i;
        for (; k > 0 && lower_first(&s, &placed[k - 1]) < 0; k--) placed[k] = placed[k - 1];
        placed[k] = s;
    }
    return end;
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

// Makes slots of lifetimes: slot_of[i] is the slot of value i. False if sizes overflow.
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
        slots[n] = (slot){life->first_step, life->last_step, bytes, 0, i};
        slot_of[i] = n++;
    }
    *slot_count = n;
    return true;
}

// First-fit by size is good nearly always. The first strategy that reaches the peak, or the best of
// them, is taken.
static const strategy strategies[] = {
    {larger_first, false}, {earlier_first, true}, {longer_first, false}, {earlier_first, false}};

bool qdq_plan_memory(qdq_lifetime *lifetimes, size_t count, qdq_pool *pool,
                     qdq_memory_plan *result) {
    *result = (qdq_memory_plan){0};
    if (count == 0) return true;
    slot *slots = qdq_pool_array(pool, count, sizeof *slots);
    size_t *slot_of = qdq_pool_array(pool, count, sizeof *slot_of);
    slot **order = qdq_pool_array(pool, count, sizeof(slot *));
    slot **placed = qdq_pool_array(pool, count, sizeof(slot *));
    size_t n;
    if (!slots || !slot_of || !order || !placed) return false;
    if (!collect(lifetimes, count, slots, slot_of, &n)) return false;
    for (size_t i = 0; i < n; i++) order[i] = placed[i] = &slots[i];
    result->peak_live_bytes = peak_of(order, placed, n);

    const strategy *best = NULL;
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++) {
        size_t bytes = place(order, placed, n, &strategies[i], result->peak_live_bytes);
        if (!best || bytes < result->arena_bytes)
            best = &strategies[i], result->arena_bytes = bytes;
        if (result->arena_bytes == result->peak_live_bytes) break;
    }
    (void)place(order, placed, n, best, result->peak_live_bytes);
    for (size_t i = 0; i < count; i++) lifetimes[i].offset = slots[slot_of[i]].offset;
    return true;
}
