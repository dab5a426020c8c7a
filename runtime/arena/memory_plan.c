// SPDX-License-Identifier: Apache-2.0
// Places values in the arena by their lifetimes. Tries several ways and keeps the first that
// reaches the peak of live bytes, else the one that needs the fewest bytes.
#include "runtime/arena/memory_plan.h"

#include <stdlib.h>

#include "runtime/arena/gaps.h"
#include "runtime/arena/sweep.h"

typedef qdq_slot slot;

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

// A way to place slots: their order, and if every second slot goes to the upper end. Both ends suit
// a chain, where each value overlaps only its neighbours.
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

// Places all slots. `cap` is the upper end; *end becomes the number of bytes used, or SIZE_MAX if
// it would cost more than `most_looks`. False when memory runs out.
static bool place(slot **order, size_t count, const strategy *how, size_t cap, size_t most_looks,
                  qdq_gaps *gaps, size_t *end) {
    *end = 0;
    most_looks += gaps->looks;
    qdq_gaps_clear(gaps);
    qsort(order, count, sizeof(slot *), how->compare);
    for (size_t i = 0; i < count; i++) {
        slot *s = order[i];
        s->offset = offset_of(gaps, s, how->both_ends && i % 2, cap);
        if (!qdq_gaps_take(gaps, s->first_moment, s->last_moment, s->offset, s->bytes))
            return false;
        if (s->offset + s->bytes > *end) *end = s->offset + s->bytes;
        if (gaps->looks > most_looks) {
            *end = SIZE_MAX;
            return true;
        }
    }
    return true;
}

static int earlier_end(const void *a, const void *b) {
    return by_number((*(slot *const *)a)->last_step, (*(slot *const *)b)->last_step);
}

// Returns the greatest sum of bytes alive at once; *at becomes a slot with which it is reached.
static size_t peak_of(slot **starts, slot **ends, size_t count, const slot **at) {
    size_t live = 0, peak = 0, gone = 0;
    *at = starts[0];
    qsort(starts, count, sizeof(slot *), earlier_first);
    qsort(ends, count, sizeof(slot *), earlier_end);
    for (size_t i = 0; i < count; i++) {
        for (; ends[gone]->last_step < starts[i]->first_step; gone++) live -= ends[gone]->bytes;
        live += starts[i]->bytes;
        if (live > peak) peak = live, *at = starts[i];
    }
    return peak;
}

// Numbers the steps in which slots begin, and returns their count. `starts` and `ends` are sorted
// as peak_of leaves them.
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

static const strategy strategies[] = {
    {larger_first, false},  {earlier_first, true},    {longer_first, false},
    {earlier_first, false}, {later_end_first, false},
};
enum { STRATEGIES = sizeof strategies / sizeof strategies[0] };

// The ways to place slots, in the order in which they are tried: a strategy, or STRATEGIES and the
// order of a sweep. First fit with larger slots first nearly always reaches the peak of a network.
// Strategies cost n^2 if many slots live long, so many slots begin with the strategy that suits a
// chain, and then are swept, which is n log n and best where many slots live at once.
static const unsigned char ways_of_few[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const unsigned char ways_of_many[] = {1, 5, 6, 7, 8, 0};
enum { MANY = 4096 };

// Looks that a strategy may take: at all, and for each slot and doubling of slots. One that takes
// more is given up.
enum { LOOKS = 1 << 20, LOOKS_EACH = 4 };

typedef struct planner {
    slot *slots, **order, **ends;
    size_t count, peak, peak_moment;
    qdq_gaps gaps;
    qdq_sweep sweep;
} planner;

static bool init(planner *p, slot *slots, size_t count, qdq_mempool *mempool) {
    const slot *at;
    *p = (planner){.slots = slots, .count = count};
    p->order = qdq_mempool_array(mempool, count, sizeof(slot *));
    p->ends = qdq_mempool_array(mempool, count, sizeof(slot *));
    if (!p->order || !p->ends) return false;
    for (size_t i = 0; i < count; i++) p->order[i] = p->ends[i] = &slots[i];
    p->peak = peak_of(p->order, p->ends, count, &at);
    size_t moments = count_moments(p->order, p->ends, count);
    p->peak_moment = at->first_moment;
    return qdq_gaps_init(&p->gaps, mempool, moments) && qdq_sweep_init(&p->sweep, mempool, count);
}

// Places the slots by one of the ways. *bytes: the bytes they need; SIZE_MAX if the way gave up.
static bool try_way(planner *p, size_t way, size_t *bytes) {
    size_t log = 1;
    while (p->count >> log) log++;
    if (way < STRATEGIES)
        return place(p->order, p->count, &strategies[way], p->peak,
                     LOOKS + LOOKS_EACH * p->count * log, &p->gaps, bytes);
    *bytes = qdq_sweep_place(&p->sweep, p->slots, p->count, p->peak_moment,
                             (qdq_sweep_order)(way - STRATEGIES));
    return true;
}

// Returns the bytes at which no further way is tried: the peak for few slots; for many, 1.05 times
// the peak, and 1.10 times before the last way, which is slow.
static size_t enough(const planner *p, bool is_last) {
    if (p->count <= MANY) return p->peak;
    return p->peak + p->peak / (is_last ? 10 : 20);
}

// Places the slots in the best of the ways. False when memory runs out.
static bool place_best(planner *p, size_t *bytes) {
    const unsigned char *ways = p->count > MANY ? ways_of_many : ways_of_few;
    size_t count = p->count > MANY ? sizeof ways_of_many : sizeof ways_of_few;
    size_t best = 0, last = 0, needed;
    *bytes = SIZE_MAX;
    for (size_t i = 0; i<count && * bytes> enough(p, i + 1 == count); i++) {
        last = ways[i];
        if (!try_way(p, last, &needed)) return false;
        if (needed < *bytes) best = last, *bytes = needed;
    }
    return best == last || try_way(p, best, &needed);
}

bool qdq_plan_memory(qdq_lifetime *lifetimes, size_t count, qdq_mempool *mempool,
                     qdq_memory_plan *result) {
    *result = (qdq_memory_plan){0};
    if (count == 0) return true;
    slot *slots = qdq_mempool_array(mempool, count, sizeof *slots);
    size_t *slot_of = qdq_mempool_array(mempool, count, sizeof *slot_of);
    planner p;
    size_t n;
    if (!slots || !slot_of) return false;
    if (!collect(lifetimes, count, slots, slot_of, &n)) return false;
    if (!init(&p, slots, n, mempool) || !place_best(&p, &result->arena_bytes)) return false;
    result->peak_live_bytes = p.peak;
    result->looks = p.gaps.looks;
    for (size_t i = 0; i < count; i++) lifetimes[i].offset = slots[slot_of[i]].offset;
    return true;
}
