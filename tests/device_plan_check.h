// SPDX-License-Identifier: Apache-2.0
// Replays the events of a device plan: the invariants of an allocator, from the public numbers
// alone.
#ifndef QDQ_TESTS_DEVICE_PLAN_CHECK_H
#define QDQ_TESTS_DEVICE_PLAN_CHECK_H

#include <qdq/qdq.h>
#include <stdlib.h>
#include <string.h>

typedef struct device_range {
    uint64_t address, bytes;
} device_range;

// The ranges that are taken in each pool.
typedef struct device_replay {
    device_range *taken[QDQ_POOLS];
    size_t count[QDQ_POOLS];
    uint64_t allocated[QDQ_POOLS], peak[QDQ_POOLS];
    size_t peak_step[QDQ_POOLS];
} device_replay;

static inline int compare_ranges(const void *a, const void *b) {
    uint64_t x = ((const device_range *)a)->address, y = ((const device_range *)b)->address;
    return x < y ? -1 : x > y;
}

static inline uint64_t largest_gap(device_replay *r, const qdq_device_plan *p, int pool) {
    uint64_t at = p->pools[pool].base, largest = 0;
    qsort(r->taken[pool], r->count[pool], sizeof *r->taken[pool], compare_ranges);
    for (size_t i = 0; i < r->count[pool]; i++) {
        uint64_t gap = r->taken[pool][i].address - at;
        if (gap > largest) largest = gap;
        at = r->taken[pool][i].address + r->taken[pool][i].bytes;
    }
    uint64_t rest = p->pools[pool].base + p->pools[pool].bytes - at;
    return rest > largest ? rest : largest;
}

static inline const char *take_range(device_replay *r, const qdq_device_plan *p,
                                     const qdq_device_event *e, int pool) {
    const qdq_pool_info *info = &p->pools[pool];
    if (e->bytes == 0) return NULL;
    if (e->address < info->base || e->address + e->bytes > info->base + info->bytes)
        return "a buffer lies outside its pool";
    for (size_t i = 0; i < r->count[pool]; i++) {
        const device_range *other = &r->taken[pool][i];
        if (e->address < other->address + other->bytes && other->address < e->address + e->bytes)
            return "two live buffers overlap";
    }
    r->taken[pool][r->count[pool]++] = (device_range){e->address, e->bytes};
    r->allocated[pool] += e->bytes;
    if (r->allocated[pool] > r->peak[pool]) r->peak_step[pool] = e->step;
    if (r->allocated[pool] > r->peak[pool]) r->peak[pool] = r->allocated[pool];
    return NULL;
}

static inline const char *give_range(device_replay *r, const qdq_device_event *e, int pool) {
    if (e->bytes == 0) return NULL;
    for (size_t i = 0; i < r->count[pool]; i++) {
        if (r->taken[pool][i].address != e->address || r->taken[pool][i].bytes != e->bytes)
            continue;
        r->taken[pool][i] = r->taken[pool][--r->count[pool]];
        r->allocated[pool] -= e->bytes;
        return NULL;
    }
    return "a free does not match an allocation";
}

// The state of the pools that a program saw: all of its allocations, none of its frees.
static inline const char *check_state(device_replay *r, const qdq_device_plan *p, size_t step) {
    for (int pool = 0; pool < QDQ_POOLS; pool++) {
        const qdq_pool_state *state = &p->steps[step].pools[pool];
        if (state->allocated != r->allocated[pool] ||
            state->free != p->pools[pool].bytes - r->allocated[pool] ||
            (p->pools[pool].bytes && state->largest_free != largest_gap(r, p, pool)))
            return "a program's pools are not those of the events";
    }
    return NULL;
}

static inline const char *check_pages(const qdq_plan *plan, const qdq_device_plan *p,
                                      size_t buffer) {
    const qdq_device_buffer *b = &p->buffers[buffer];
    qdq_page page;
    uint64_t step = b->pages / 7 + 1;
    for (uint64_t i = 0; i < b->pages; i += step)
        if (!qdq_plan_buffer_page(plan, buffer, i, &page) || page.bank >= b->banks ||
            page.address < b->address ||
            page.address + b->page_bytes > b->address + b->bytes_per_bank)
            return "a page lies outside its buffer";
    if (qdq_plan_buffer_page(plan, buffer, b->pages, &page)) return "there is a page too many";
    return b->bytes_per_bank <= b->taken ? NULL : "a buffer takes less than its pages";
}

static inline const char *check_end(const device_replay *r, const qdq_device_plan *p) {
    uint64_t live[QDQ_POOLS] = {0};
    for (size_t i = 0; i < p->buffer_count; i++) {
        const qdq_device_buffer *b = &p->buffers[i];
        bool owns = b->view_of == SIZE_MAX || !p->buffers[b->view_of].lives_on;
        if (b->lives_on && owns) live[b->pool] += b->taken;
        if (b->last_step < b->first_step || b->last_use > b->last_step)
            return "a buffer is read after it is freed";
    }
    for (int pool = 0; pool < QDQ_POOLS; pool++) {
        if (r->allocated[pool] > live[pool]) return "after the run more than outputs is allocated";
        if (r->allocated[pool] != p->pools[pool].end.allocated) return "the end is another one";
        if (r->peak[pool] != p->pools[pool].peak) return "the peak is another one";
        if (r->peak[pool] && r->peak_step[pool] != p->pools[pool].peak_step)
            return "the peak is in another step";
    }
    return NULL;
}

static inline const char *replay_events(device_replay *r, const qdq_device_plan *p) {
    size_t seen = 0;  // steps whose state was compared
    const char *why = NULL;
    for (size_t i = 0; i < p->event_count && !why; i++) {
        const qdq_device_event *e = &p->events[i];
        int pool = e->buffer == SIZE_MAX ? 0 : (int)p->buffers[e->buffer].pool;
        for (; seen < p->step_count && seen < e->step + (e->kind == QDQ_EVENT_FREE) && !why; seen++)
            why = check_state(r, p, seen);
        if (why || e->kind == QDQ_EVENT_CIRCULAR_BUFFER) continue;
        why = e->kind == QDQ_EVENT_ALLOCATE ? take_range(r, p, e, pool) : give_range(r, e, pool);
    }
    return why;
}

// NULL, or what is wrong with the device plan of a plan that has one.
static inline const char *device_plan_broken(const qdq_plan *plan) {
    const qdq_device_plan *p = qdq_plan_device(plan);
    device_replay r = {0};
    if (!p) return "there is no device plan";
    for (int pool = 0; pool < QDQ_POOLS; pool++)
        r.taken[pool] = malloc((p->buffer_count + 1) * sizeof *r.taken[pool]);
    const char *why = replay_events(&r, p);
    if (!why) why = check_end(&r, p);
    for (size_t i = 0; i < p->buffer_count && !why; i++) why = check_pages(plan, p, i);
    for (int pool = 0; pool < QDQ_POOLS; pool++) free(r.taken[pool]);
    return why;
}

#endif
